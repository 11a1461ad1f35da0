//! A map from byte strings to numbers that uses temporary files beyond its memory limit.

mod table;

use std::fs::File;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use table::Table;

use crate::index::error::{Error, Result};
use crate::positioned_io::{read_at, write_at};

/// Keys of any length, each with a number. Data beyond the memory limit is stored in unnamed files, which the
/// system removes when the process ends.
///
/// A hash only selects candidates: keys are compared completely.
#[derive(Debug)]
pub(crate) struct SpillMap {
    log: Log,
    table: Table,
    directory: PathBuf,
}

impl SpillMap {
    /// The part of a run's memory that one map may use, in bytes.
    pub(crate) fn share_of(memory: u64) -> u64 {
        // With less memory, nearly each new key would be searched for in a file.
        const LEAST: u64 = 16 << 20;
        (memory / 16).max(LEAST)
    }

    /// An empty map for about `memory` bytes, with its files in `directory`.
    pub(crate) fn new(memory: u64, directory: PathBuf) -> Self {
        let half = usize::try_from(memory / 2).unwrap_or(usize::MAX);
        let log = Log { memory: half, file: None, written: 0, tail: Vec::new(), space: Vec::new() };
        Self { log, table: Table::new(half), directory }
    }

    /// The number of a key.
    pub(crate) fn find(&mut self, hash: u64, key: &[u8]) -> Result<Option<u32>> {
        self.find_where(hash, key, |_| true)
    }

    /// The number of a key, if `wanted` accepts this number. Keys with other numbers are not compared.
    pub(crate) fn find_where(
        &mut self,
        hash: u64,
        key: &[u8],
        mut wanted: impl FnMut(u32) -> bool,
    ) -> Result<Option<u32>> {
        let Self { log, table, .. } = self;
        let found = table.find(hash, |place| log.find(place, key, &mut wanted));
        found.map_err(|source| self.failed(source))
    }

    /// Adds a key that is not in the map.
    pub(crate) fn insert(&mut self, hash: u64, key: &[u8], value: u32) -> Result<()> {
        let added = self.log.append(value, key, &self.directory);
        let added = added.and_then(|place| self.table.insert(hash, place, &self.directory));
        added.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spill { directory: self.directory.clone(), need: None, source }
    }
}

/// A list of records: the later records are in memory, the earlier ones in a temporary file. The place of a
/// record never changes.
#[derive(Debug)]
struct Log {
    memory: usize,
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    tail: Vec<u8>,
    /// A buffer for reading the file.
    space: Vec<u8>,
}

impl Log {
    /// The size of the number and of the length of the key, in bytes.
    const HEADER: usize = 8;

    /// Adds a record. Returns its place.
    fn append(&mut self, value: u32, key: &[u8], directory: &Path) -> io::Result<u64> {
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

    /// The number of the record at a place, if `wanted` accepts this number and the record has this key.
    fn find(
        &mut self,
        place: u64,
        key: &[u8],
        wanted: &mut dyn FnMut(u32) -> bool,
    ) -> io::Result<Option<u32>> {
        let header = self.read(place, Self::HEADER)?.first_chunk::<{ Self::HEADER }>();
        let header = u64::from_le_bytes(*header.expect("as many bytes as were read"));
        let (value, length) = (header as u32, (header >> 32) as usize);
        let is_found =
            wanted(value) && length == key.len() && self.read(place + Self::HEADER as u64, length)? == key;
        Ok(is_found.then_some(value))
    }

    /// The bytes at a place.
    fn read(&mut self, place: u64, length: usize) -> io::Result<&[u8]> {
        if let Some(at) = place.checked_sub(self.written) {
            return Ok(&self.tail[at as usize..][..length]);
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        // The memory for one very long key must not be kept.
        self.space.clear();
        self.space.shrink_to(self.memory);
        self.space.resize(length, 0);
        read_at(file, &mut self.space, place)?;
        Ok(&self.space)
    }
}

/// A hash function for keys. It differs in each run, so that nobody can prepare an input in which many keys
/// have the same hash.
#[derive(Clone, Debug)]
pub(crate) struct KeyHash {
    state: RandomState,
    /// A mask of the bits used: all bits, except in tests of equal hashes.
    mask: u64,
}

impl KeyHash {
    pub(crate) const BITS: u32 = u64::BITS;

    /// A hash function with hashes of `bits` bits.
    pub(crate) fn new(bits: u32) -> Self {
        Self { state: RandomState::new(), mask: u64::MAX.checked_shr(Self::BITS - bits).unwrap_or(0) }
    }

    pub(crate) fn of(&self, key: &[u8]) -> u64 {
        let mut hasher = self.begin();
        hasher.write(key);
        self.end(&hasher)
    }

    /// A hasher for a key that is written in pieces.
    pub(crate) fn begin(&self) -> DefaultHasher {
        self.state.build_hasher()
    }

    /// The hash of the written bytes.
    pub(crate) fn end(&self, hasher: &DefaultHasher) -> u64 {
        self.narrow(hasher.finish())
    }

    /// The bits of a hash that are used.
    pub(crate) const fn narrow(&self, hash: u64) -> u64 {
        hash & self.mask
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::properties::cases;

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn every_key_keeps_its_number(
            lengths in proptest::collection::vec((0..60u32, prop_oneof![0..20usize, 0..600usize]), 0..400),
            memory in prop_oneof![Just(0), Just(1000), Just(40_000), Just(u64::MAX)],
            bits in prop_oneof![Just(0), Just(1), Just(8), Just(64)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut map = SpillMap::new(memory, directory.path().to_owned());
            let (hash, mut plain) = (KeyHash::new(bits), HashMap::new());
            // Keys with equal beginnings, and of few lengths.
            for (value, (seed, length)) in (7..).zip(lengths) {
                let mut key = vec![0; length];
                key.extend_from_slice(&seed.to_le_bytes());
                let found = map.find(hash.of(&key), &key).unwrap();
                prop_assert_eq!(found, plain.get(&key).copied());
                if found.is_none() {
                    map.insert(hash.of(&key), &key, value).unwrap();
                    plain.insert(key, value);
                }
            }
            for (key, value) in plain {
                prop_assert_eq!(map.find(hash.of(&key), &key).unwrap(), Some(value));
                prop_assert_eq!(map.find_where(hash.of(&key), &key, |found| found != value).unwrap(), None);
            }
        }
    }

    #[test]
    fn a_table_grows_from_memory_into_files() {
        let directory = tempfile::tempdir().unwrap();
        for memory in [0, 1 << 20, u64::MAX] {
            let mut map = SpillMap::new(memory, directory.path().to_owned());
            let hash = KeyHash::new(64);
            for value in 0..100_000_u32 {
                let key = value.to_be_bytes();
                map.insert(hash.of(&key), &key, value).unwrap();
            }
            for value in 0..200_000_u32 {
                let key = value.to_be_bytes();
                let found = map.find(hash.of(&key), &key).unwrap();
                assert_eq!(found, (value < 100_000).then_some(value), "{memory}");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_directory_is_reported_if_no_file_can_be_created() {
        let mut map = SpillMap::new(0, PathBuf::from("/nowhere"));
        let error = (0..2).find_map(|value| map.insert(1, b"key", value).err()).expect("no such directory");
        assert!(error.to_string().starts_with("/nowhere: cannot use a temporary file here"), "{error}");
    }
}
