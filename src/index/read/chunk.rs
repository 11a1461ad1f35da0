//! Chunks: consecutive whole games of a source.

use std::ops::Range;
use std::sync::Arc;

use crate::index::problem::ProblemKind;
use crate::source::{Mapped, MemoryLimitGuard};

/// A problem of a whole source.
#[derive(Debug)]
pub(crate) struct SourceProblem {
    pub(crate) kind: ProblemKind,
    /// The place in the text of the source.
    pub(crate) offset: u64,
    pub(crate) message: String,
}

/// Consecutive whole games of a source.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) text: Text,
    /// The offset in the text of its source.
    pub(crate) offset: u64,
    /// Beyond this many bytes from its start, no game of the chunk begins.
    pub(crate) size: usize,
    /// The number of bytes of the source from which the chunk was read, compressed if the source is, for
    /// reporting progress.
    pub(crate) input: u64,
}

#[derive(Debug)]
pub(crate) enum Text {
    /// A part of a plain file, or decoded text that was so long that it was written to a temporary file.
    Mapped(Arc<Mapped>, Range<usize>),
    Owned(Vec<u8>),
}

impl Chunk {
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
        let chunk = |length, input| Chunk { text: Text::Owned(vec![0; length]), offset: 0, size: 1, input };
        for (length, input) in [(10, 3), (3, 10), (1, 0), (7, 7)] {
            let chunk = chunk(length, input);
            let shares: u64 = (0..length).map(|at| chunk.input_share(at..at + 1)).sum();
            assert_eq!(shares, input);
        }
        assert_eq!(chunk(0, 5).input_share(0..0), 0);
    }
}
