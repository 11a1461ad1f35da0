//! Reads the leaves of a tree in order.

use std::cell::OnceCell;
use std::ops::Range;

use crate::store::pages::page::PageView;
use crate::store::pages::{BtreeError, PageFile, PageNumber, Tree};

/// The leaves of a tree. Some leaves that are adjacent in the file are in memory.
#[derive(Debug)]
pub(in crate::store::pages) struct Leaves<'t> {
    file: &'t PageFile,
    tree: &'t Tree,
    pages: Vec<u8>,
    /// The leaves in `pages`.
    loaded: Range<usize>,
    /// The number of leaves to read together.
    at_once: usize,
    /// Whether the rows of the last loaded leaf are packed, cached once computed.
    is_packed: OnceCell<bool>,
}

impl<'t> Leaves<'t> {
    /// The maximum number of pages read together.
    const READ: usize = 64;

    /// Skipping at least this many pages is faster than reading them.
    const NEAR: usize = 8;

    pub(in crate::store::pages) const fn new(file: &'t PageFile, tree: &'t Tree) -> Self {
        Self { file, tree, pages: Vec::new(), loaded: 0..0, at_once: 1, is_packed: OnceCell::new() }
    }

    /// Loads a leaf, if it is not in memory, and some leaves after it.
    pub(in crate::store::pages) fn load(&mut self, leaf: usize) -> Result<(), BtreeError> {
        if !self.loaded.contains(&leaf) {
            self.read(leaf)?;
        }
        self.is_packed = OnceCell::new();
        self.get(leaf).map(|_| ())
    }

    fn read(&mut self, leaf: usize) -> Result<(), BtreeError> {
        // For callers that read most leaves, many leaves are read at once. For callers that look for few
        // rows, far apart, only one leaf is read.
        let goes_on = (self.loaded.end..self.loaded.end + Self::NEAR).contains(&leaf);
        self.at_once = if goes_on { Self::READ.min(2 * self.at_once) } else { 1 };
        let leaves = &self.tree.leaves()[leaf..];
        let first = leaves[0];
        let in_order = leaves.iter().zip(first.0..).take(self.at_once);
        let count = in_order.take_while(|(leaf, number)| leaf.0 == *number).count();
        self.pages.resize(count * self.file.page_size().bytes(), 0);
        self.file.read_page(first, &mut self.pages)?;
        self.loaded = leaf..leaf + count;
        Ok(())
    }

    /// Whether the rows of a leaf are packed. This leaf must be the last loaded one.
    pub(in crate::store::pages) fn is_packed(&self, leaf: usize) -> Result<bool, BtreeError> {
        let page = self.get(leaf)?;
        Ok(*self.is_packed.get_or_init(|| page.is_packed()))
    }

    /// A loaded leaf.
    pub(in crate::store::pages) fn get(&self, leaf: usize) -> Result<PageView<'_>, BtreeError> {
        let size = self.file.page_size().bytes();
        let at = (leaf - self.loaded.start) * size;
        let page = PageView::new(&self.pages[at..at + size]).filter(|page| page.is_leaf());
        page.ok_or_else(|| self.damaged(leaf))
    }

    pub(in crate::store::pages) fn damaged(&self, leaf: usize) -> BtreeError {
        let leaves: &[PageNumber] = self.tree.leaves();
        BtreeError::Damaged { page: leaves[leaf.min(leaves.len() - 1)] }
    }
}
