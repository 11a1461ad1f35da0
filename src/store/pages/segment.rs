//! What a worker hands over: the leaves of one key range.

use super::page::cell_length;
use super::{PageNumber, PageRun};

/// The rows of one contiguous key range: leaf pages in the file, and the rows that stand between them.
///
/// In key order: a leaf, its divider, a leaf, its divider and so on to the last divider, behind which the next segment's
/// first leaf is to stand. A segment whose rows all fit on one page has no leaf but only rows.
#[derive(Clone, Debug, Default)]
#[must_use = "a segment that is not assembled leaves its pages out of the tree"]
pub struct Segment {
    pub(super) leaves: Vec<PageRun>,
    /// As many rows as there are leaves, or all rows if there are none.
    pub(super) rows: Cells,
}

impl Segment {
    /// Whether the segment has no rows at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.bytes.is_empty()
    }

    /// Bytes of memory that the segment keeps.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.rows.bytes.len() + self.leaves.len() * size_of::<PageRun>()
    }

    /// Where its leaves stand.
    #[must_use]
    pub fn runs(&self) -> &[PageRun] {
        &self.leaves
    }

    /// The leaves, each with its divider's cell.
    pub(super) fn leaves(&self) -> impl Iterator<Item = (PageNumber, &[u8])> {
        self.leaves.iter().flat_map(|run| run.pages()).zip(self.rows.iter())
    }
}

/// Rows as leaf cells (each behind its length), one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub(super) bytes: Box<[u8]>,
}

impl Cells {
    /// The cells in key order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.bytes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (cell, behind) = rest.split_at(cell_length(rest));
            rest = behind;
            Some(cell)
        })
    }
}
