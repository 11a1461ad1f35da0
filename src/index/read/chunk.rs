//! Chunks: consecutive whole games of a source.

use std::ops::Range;
use std::sync::Arc;

use crate::source::{Mapped, MemoryLimitGuard};

/// Consecutive whole games of a source.
#[derive(Debug)]
pub(crate) struct Chunk {
    text: Text,
    /// The offset in the text of its source.
    pub(crate) offset: u64,
    /// Beyond this many bytes from its start, no game of the chunk begins.
    pub(crate) size: usize,
    /// The number of bytes of the source from which the chunk was read, compressed if the source is, for
    /// reporting progress.
    input: u64,
}

#[derive(Debug)]
enum Text {
    Mapped(Arc<Mapped>, Range<usize>),
    Owned(Vec<u8>),
}

impl Chunk {
    /// A part of a plain file.
    pub(crate) const fn from_file(map: Arc<Mapped>, range: Range<usize>, size: usize) -> Self {
        let (offset, input) = (range.start as u64, (range.end - range.start) as u64);
        Self { text: Text::Mapped(map, range), offset, size, input }
    }

    /// Decoded text.
    pub(crate) const fn from_text(text: Vec<u8>, offset: u64, size: usize, input: u64) -> Self {
        Self { text: Text::Owned(text), offset, size, input }
    }

    /// Decoded text that was so long that it was written to a temporary file.
    pub(crate) fn from_spilled(map: Mapped, offset: u64, size: usize, input: u64) -> Self {
        let range = 0..map.bytes().len();
        Self { text: Text::Mapped(Arc::new(map), range), offset, size, input }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Mapped(map, range) => &map.bytes()[range.clone()],
            Text::Owned(text) => text,
        }
    }

    /// How many bytes of the source correspond to a part of the chunk.
    pub(crate) fn input_share(&self, range: Range<usize>) -> u64 {
        let length = self.bytes().len().max(1) as u128;
        let upto = |end: usize| (u128::from(self.input) * end as u128 / length) as u64;
        upto(range.end) - upto(range.start)
    }

    /// Releases the memory of a part that has been read, if the chunk is memory-mapped.
    pub(crate) fn release(&self, piece: Range<usize>) {
        if let Text::Mapped(map, range) = &self.text {
            map.release(range.start + piece.start..range.start + piece.end);
        }
    }

    /// Prevents a long chunk from accumulating in memory while the returned value exists.
    pub(crate) fn keep_small(&self) -> Option<MemoryLimitGuard> {
        match &self.text {
            Text::Mapped(map, range) => map.keep_small(range.clone()),
            Text::Owned(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        for (length, input) in [(10, 3), (3, 10), (1, 0), (7, 7)] {
            let chunk = Chunk::from_text(vec![0; length], 0, 1, input);
            let shares: u64 = (0..length).map(|at| chunk.input_share(at..at + 1)).sum();
            assert_eq!(shares, input);
        }
        assert_eq!(Chunk::from_text(Vec::new(), 0, 1, 5).input_share(0..0), 0);
    }
}
