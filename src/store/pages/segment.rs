//! A worker's result: the leaves of one key range.

use super::page::cell_length;
use super::{PageNumber, PageRun};

/// The rows of one contiguous key range: leaf pages in the file, and the rows between them.
///
/// Leaves and rows alternate in key order: each leaf is followed by its divider, so that the segment ends
/// with a divider. In the tree, another leaf must follow this divider. A segment whose rows all fit on one
/// page has no leaves, only rows.
#[derive(Clone, Debug, Default)]
#[must_use = "a segment that is not assembled leaves its pages out of the tree"]
pub struct Segment {
    pub(super) leaves: Vec<PageRun>,
    /// One row per leaf, or all rows if there are no leaves.
    pub(super) rows: Cells,
}

impl Segment {
    /// Whether the segment has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.bytes.is_empty()
    }

    /// The memory that the segment uses, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.rows.bytes.len() + self.leaves.len() * size_of::<PageRun>()
    }

    /// The pages of the segment's leaves.
    #[must_use]
    pub fn runs(&self) -> &[PageRun] {
        &self.leaves
    }

    /// The leaves, each with the cell of its divider.
    pub(super) fn leaves(&self) -> impl Iterator<Item = (PageNumber, &[u8])> {
        self.leaves.iter().flat_map(|run| run.pages()).zip(self.rows.iter())
    }
}

/// Concatenated rows as leaf cells (each preceded by its length).
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
