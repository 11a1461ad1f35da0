//! The leaves of a tree, read in their order.

use std::ops::Range;

use super::page::PageView;
use super::{BtreeError, PageFile, PageNumber, Tree};

/// The leaves of a tree, of which some that stand side by side in the file are in memory.
#[derive(Debug)]
pub(super) struct Leaves<'t> {
    file: &'t PageFile,
    tree: &'t Tree,
    pages: Vec<u8>,
    /// The leaves of the tree that `pages` are.
    loaded: Range<usize>,
    /// Whether the rows of the leaf that was made ready last can be copied side by side.
    is_packed: bool,
}

impl<'t> Leaves<'t> {
    /// Pages read at once.
    const READ: usize = 64;

    pub(super) const fn new(file: &'t PageFile, tree: &'t Tree) -> Self {
        Self { file, tree, pages: Vec::new(), loaded: 0..0, is_packed: false }
    }

    /// Makes a leaf ready, if need be by reading it and those behind it.
    pub(super) fn load(&mut self, leaf: usize) -> Result<(), BtreeError> {
        if !self.loaded.contains(&leaf) {
            self.read(leaf)?;
        }
        self.is_packed = self.get(leaf)?.is_packed();
        Ok(())
    }

    fn read(&mut self, leaf: usize) -> Result<(), BtreeError> {
        let leaves = &self.tree.leaves()[leaf..];
        let first = leaves[0];
        let in_order = leaves.iter().zip(first.0..).take(Self::READ);
        let count = in_order.take_while(|(leaf, number)| leaf.0 == *number).count();
        self.pages.resize(count * self.file.page_size().bytes(), 0);
        self.file.read_page(first, &mut self.pages)?;
        self.loaded = leaf..leaf + count;
        Ok(())
    }

    /// Whether the rows of the leaf that was made ready last stand side by side.
    pub(super) const fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// A leaf that is ready.
    pub(super) fn get(&self, leaf: usize) -> Result<PageView<'_>, BtreeError> {
        let size = self.file.page_size().bytes();
        let at = (leaf - self.loaded.start) * size;
        let page = PageView::new(&self.pages[at..at + size]).filter(|page| page.is_leaf());
        page.ok_or_else(|| self.damaged(leaf))
    }

    pub(super) fn damaged(&self, leaf: usize) -> BtreeError {
        let leaves: &[PageNumber] = self.tree.leaves();
        BtreeError::Damaged { page: leaves[leaf.min(leaves.len() - 1)] }
    }
}

/// The first number of a range of which `is_before`, which holds for all up to there, does not hold.
#[inline]
pub(super) fn partition_point<E>(
    range: Range<usize>,
    is_before: impl Fn(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
