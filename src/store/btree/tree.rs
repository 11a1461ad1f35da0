//! Trees that are there already: their pages, and their rows in order.

use super::page::PageView;
use super::{BtreeError, PageFile, PageNumber};

/// SQLite opens no deeper tree either.
const MOST_LEVELS: usize = 20;

/// The pages on the way from a tree's root to its last leaf.
#[derive(Debug)]
pub(super) struct Spine {
    pub(super) numbers: Vec<PageNumber>,
    pub(super) pages: Vec<Vec<u8>>,
}

impl Spine {
    pub(super) fn read(file: &PageFile, root: PageNumber) -> Result<Self, BtreeError> {
        let mut spine = Self { numbers: Vec::new(), pages: Vec::new() };
        let mut number = root;
        while spine.pages.len() < MOST_LEVELS {
            let bytes = read_page(file, number)?;
            let view = PageView::new(&bytes).ok_or(BtreeError::Damaged { page: number })?;
            let last_child = if view.is_leaf() { None } else { view.child(view.count()) };
            spine.numbers.push(number);
            spine.pages.push(bytes);
            match last_child {
                Some(child) => number = child,
                None => return Ok(spine),
            }
        }
        Err(BtreeError::Damaged { page: root })
    }
}

/// The pages of a tree, and the rows above its leaves.
#[derive(Debug)]
pub struct Tree {
    root: PageNumber,
    /// Interior pages, the root included unless it is a leaf.
    interior: Vec<PageNumber>,
    /// In key order, at least one.
    leaves: Vec<PageNumber>,
    /// The rows between the leaves, as cells, one after the other.
    dividers: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl Tree {
    /// Reads all pages of a tree but its leaves.
    ///
    /// # Errors
    /// [`BtreeError::Damaged`] if something is wrong with it; when a page cannot be read.
    pub fn read(file: &PageFile, root: PageNumber) -> Result<Self, BtreeError> {
        let mut tree =
            Self { root, interior: Vec::new(), leaves: Vec::new(), dividers: Vec::new(), ends: Vec::new() };
        let depth = Spine::read(file, root)?.pages.len();
        if depth == 1 {
            tree.leaves.push(root);
            return Ok(tree);
        }
        tree.descend(file, root, depth - 1)?;
        Ok(tree)
    }

    /// Takes up an interior page that stands so many levels above the leaves.
    fn descend(&mut self, file: &PageFile, number: PageNumber, height: usize) -> Result<(), BtreeError> {
        let damaged = || BtreeError::Damaged { page: number };
        if self.leaves.len() + self.interior.len() >= file.page_count() as usize {
            return Err(damaged());
        }
        let bytes = read_page(file, number)?;
        let view = PageView::new(&bytes).filter(|view| !view.is_leaf()).ok_or_else(damaged)?;
        self.interior.push(number);
        for index in 0..=view.count() {
            let child = view.child(index).filter(|child| child.0 > 1).ok_or_else(damaged)?;
            if height == 1 {
                self.leaves.push(child);
            } else {
                self.descend(file, child, height - 1)?;
            }
            if index < view.count() {
                self.dividers.extend_from_slice(view.row(index).ok_or_else(damaged)?);
                self.ends.push(u32::try_from(self.dividers.len()).map_err(|_| damaged())?);
            }
        }
        Ok(())
    }

    /// All its pages but the root.
    pub fn pages(&self) -> impl Iterator<Item = PageNumber> {
        let pages = self.interior.iter().chain(&self.leaves).copied();
        pages.filter(|&page| page != self.root)
    }

    /// The leaves in key order.
    pub(super) fn leaves(&self) -> &[PageNumber] {
        &self.leaves
    }

    /// How many rows stand between leaves.
    pub(super) fn divider_count(&self) -> usize {
        self.ends.len()
    }

    /// The row behind a leaf.
    pub(super) fn divider(&self, leaf: usize) -> Option<&[u8]> {
        let end = *self.ends.get(leaf)? as usize;
        let start = if leaf == 0 { 0 } else { self.ends[leaf - 1] as usize };
        Some(&self.dividers[start..end])
    }
}

fn read_page(file: &PageFile, number: PageNumber) -> Result<Vec<u8>, BtreeError> {
    if number.0 == 0 || number.0 > file.page_count() {
        return Err(BtreeError::Damaged { page: number });
    }
    let mut page = vec![0; file.page_size().bytes()];
    file.read_page(number, &mut page)?;
    Ok(page)
}
