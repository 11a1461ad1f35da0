//! Reads the bytes of an archive for a decoder.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Mapped;
use super::form::Form;

/// The read position in an archive, in bytes from its start.
#[derive(Clone, Debug, Default)]
pub(super) struct Position(Arc<AtomicU64>);

impl Position {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// Bytes from a file or a stream. With a clone of `position`, other code can follow the progress of reading.
pub(super) struct Input {
    bytes: Bytes,
    position: Position,
}

enum Bytes {
    Mapped { map: Arc<Mapped>, range: Range<usize>, released: usize },
    Stream(Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + Send>>>),
}

impl Input {
    /// Reads a part of a file.
    pub(super) fn mapped(map: Arc<Mapped>, range: Range<usize>, position: Position) -> Self {
        position.set(range.start as u64);
        let released = range.start;
        Self { bytes: Bytes::Mapped { map, range, released }, position }
    }

    /// Reads from a stream. Also returns the format of the stream.
    pub(super) fn stream(mut reader: Box<dyn Read + Send>, position: Position) -> io::Result<(Self, Form)> {
        const BUFFER: usize = 256 << 10;
        let (head, error) = read_head(&mut reader);
        error.map_or(Ok(()), Err)?;
        let form = Form::of(&head);
        let bytes = Bytes::Stream(Cursor::new(head).chain(BufReader::with_capacity(BUFFER, reader)));
        Ok((Self { bytes, position }, form))
    }
}

/// The first bytes of a stream, enough to detect its format, and the error that ended reading, if there was
/// one.
pub(super) fn read_head(reader: &mut dyn Read) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::with_capacity(Form::HEAD);
    let error = reader.take(Form::HEAD as u64).read_to_end(&mut head).err();
    (head, error)
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        const AT_ONCE: usize = 256 << 10;
        match &mut self.bytes {
            Bytes::Mapped { map, range, .. } => {
                Ok(&map.bytes()[range.start..range.end.min(range.start + AT_ONCE)])
            }
            Bytes::Stream(stream) => stream.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        const RELEASED: usize = 4 << 20;
        match &mut self.bytes {
            Bytes::Mapped { map, range, released } => {
                range.start += amount;
                if range.start - *released >= RELEASED || range.start == range.end {
                    map.release(*released..range.start);
                    *released = range.start;
                }
            }
            Bytes::Stream(stream) => stream.consume(amount),
        }
        self.position.0.fetch_add(amount as u64, Ordering::Relaxed);
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
