//! A log of keys and their numbers.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::positioned_io::{read_at, write_at};

/// A list of records: the later records are in memory, the earlier ones in a temporary file. The place of a
/// record never changes.
#[derive(Debug)]
pub(crate) struct Log {
    memory: usize,
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    tail: Vec<u8>,
}

impl Log {
    /// The size of the number and of the length of the key, in bytes.
    const HEADER: usize = 8;

    pub(crate) const fn new(memory: usize) -> Self {
        Self { memory, file: None, written: 0, tail: Vec::new() }
    }

    /// Adds a record. Returns its place.
    pub(crate) fn append(&mut self, value: u32, key: &[u8], directory: &Path) -> io::Result<u64> {
        let length = u32::try_from(key.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let needed = self.tail.len() + Self::HEADER + key.len();
        if needed > self.memory && !self.tail.is_empty() {
            self.write_tail(directory)?;
        }
        let room = self.tail.capacity();
        if needed > room {
            // By itself, the vector could allocate up to twice the memory limit.
            let wanted = needed.max((2 * room).min(self.memory));
            self.tail.reserve_exact(wanted - self.tail.len());
        }
        let place = self.written + self.tail.len() as u64;
        self.tail.extend_from_slice(&value.to_le_bytes());
        self.tail.extend_from_slice(&length.to_le_bytes());
        self.tail.extend_from_slice(key);
        Ok(place)
    }

    fn write_tail(&mut self, directory: &Path) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(directory)?),
        };
        write_at(file, &self.tail, self.written)?;
        self.written += self.tail.len() as u64;
        self.tail.clear();
        // The memory for one very long key must not be kept.
        self.tail.shrink_to(self.memory);
        Ok(())
    }

    /// The number of the record at a place.
    pub(crate) fn value(&self, place: u64) -> io::Result<u32> {
        let mut value = [0; 4];
        match (place.checked_sub(self.written), &self.file) {
            (Some(at), _) => value.copy_from_slice(&self.tail[at as usize..][..4]),
            (None, Some(file)) => read_at(file, &mut value, place)?,
            (None, None) => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(u32::from_le_bytes(value))
    }

    /// Whether the record at a place has this key; `space` is a read buffer.
    pub(crate) fn has_key(&self, place: u64, key: &[u8], space: &mut Vec<u8>) -> io::Result<bool> {
        let same = |record: &[u8]| {
            let (length, found) = record.split_at(4);
            length == (key.len() as u32).to_le_bytes() && &found[..key.len()] == key
        };
        let length = 4 + key.len();
        let place = place + 4;
        match (place.checked_sub(self.written), &self.file) {
            (Some(at), _) => {
                let rest = &self.tail[at as usize..];
                Ok(rest.len() >= length && same(&rest[..length]))
            }
            // The last record of the file may be shorter than the key.
            (None, _) if self.written - place < length as u64 => Ok(false),
            (None, Some(file)) => {
                space.resize(length, 0);
                read_at(file, space, place)?;
                let same = same(space);
                space.clear();
                space.shrink_to(self.memory);
                Ok(same)
            }
            (None, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
