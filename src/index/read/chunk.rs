//! Whole games of a source, in a row.

use std::ops::Range;
use std::sync::Arc;

use crate::source::{KeptSmall, Mapped};

/// Whole games of a source, in a row.
#[derive(Debug)]
pub(crate) struct Chunk {
    text: Text,
    /// Where it begins in the text of its source.
    pub(crate) offset: u64,
    /// It was cut at the first boundary so many bytes or more from its start.
    pub(crate) size: usize,
    /// Bytes of the source, packed if it is, that it was made of: for telling progress.
    input: u64,
}

#[derive(Debug)]
enum Text {
    Mapped(Arc<Mapped>, Range<usize>),
    Owned(Vec<u8>),
}

impl Chunk {
    /// A piece of a plain file.
    pub(crate) const fn of_file(map: Arc<Mapped>, range: Range<usize>, size: usize) -> Self {
        let (offset, input) = (range.start as u64, (range.end - range.start) as u64);
        Self { text: Text::Mapped(map, range), offset, size, input }
    }

    /// Text that was decoded.
    pub(crate) const fn of_text(text: Vec<u8>, offset: u64, size: usize, input: u64) -> Self {
        Self { text: Text::Owned(text), offset, size, input }
    }

    /// Text that was decoded and was so long that it went into a temporary file.
    pub(crate) fn of_spilled(map: Mapped, offset: u64, size: usize, input: u64) -> Self {
        let range = 0..map.bytes().len();
        Self { text: Text::Mapped(Arc::new(map), range), offset, size, input }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Mapped(map, range) => &map.bytes()[range.clone()],
            Text::Owned(text) => text,
        }
    }

    /// How many bytes of the source a piece of the chunk stands for.
    pub(crate) fn input_share(&self, range: Range<usize>) -> u64 {
        let length = self.bytes().len().max(1) as u128;
        let upto = |end: usize| (u128::from(self.input) * end as u128 / length) as u64;
        upto(range.end) - upto(range.start)
    }

    /// Says that a piece has been read.
    pub(crate) fn release(&self, piece: Range<usize>) {
        if let Text::Mapped(map, range) = &self.text {
            map.release(range.start + piece.start..range.start + piece.end);
        }
    }

    /// Keeps a long chunk from piling up in memory while the value given back lives.
    pub(crate) fn keep_small(&self) -> Option<KeptSmall> {
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
            let chunk = Chunk::of_text(vec![0; length], 0, 1, input);
            let shares: u64 = (0..length).map(|at| chunk.input_share(at..at + 1)).sum();
            assert_eq!(shares, input);
        }
        assert_eq!(Chunk::of_text(Vec::new(), 0, 1, 5).input_share(0..0), 0);
    }
}
