//! Existing trees: their pages, and their rows in order.

pub(super) mod cursor;
pub(super) mod leaves;
pub(super) mod position;

use super::page::{CHILD, INTERIOR_HEADER, LEAF_HEADER, POINTER, PageView};
use super::record_reader::is_before;
use super::{BtreeError, PageFile, PageNumber, PageSize};
use crate::store::partition_point::partition_point;
use crate::store::row::OccurrenceRow;

/// The maximum number of levels of a tree. SQLite does not read deeper trees either.
const MOST_LEVELS: usize = 20;

/// The pages on the path from a tree's root to its last leaf.
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
    /// Interior pages, including the root unless it is a leaf.
    interior: Vec<PageNumber>,
    /// The leaves in key order; there is at least one.
    leaves: Vec<PageNumber>,
    /// The rows between the leaves, as concatenated cells.
    dividers: Vec<u8>,
    /// The end of each divider in `dividers`.
    ends: Vec<u32>,
    /// The number of levels, including that of the leaves.
    depth: usize,
}

impl Tree {
    /// Reads all pages of a tree except its leaves.
    ///
    /// # Errors
    /// [`BtreeError::Damaged`] if the tree is invalid, or an I/O error if a page cannot be read.
    pub fn read(file: &PageFile, root: PageNumber) -> Result<Self, BtreeError> {
        let depth = Spine::read(file, root)?.pages.len();
        let (interior, leaves) = (Vec::new(), Vec::new());
        let mut tree = Self { root, interior, leaves, dividers: Vec::new(), ends: Vec::new(), depth };
        if depth == 1 {
            tree.leaves.push(root);
            return Ok(tree);
        }
        tree.descend(file, root, depth - 1)?;
        Ok(tree)
    }

    /// Reads an interior page that is `height` levels above the leaves, and all interior pages below it.
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

    /// The maximum number of bytes that the rows of leaf number `leaf` and all later rows take on pages of
    /// this size.
    #[must_use]
    pub fn bytes(&self, leaf: usize, page_size: PageSize) -> u64 {
        let leaves = self.leaves.len().saturating_sub(leaf);
        (leaves * page_size.bytes() + self.dividers.len() + self.ends.len() * POINTER) as u64
    }

    /// The maximum number of bytes that the rows of `occurrence` from `row` on, and the rows before `row` on
    /// the same leaves, take on pages of this size.
    #[must_use]
    pub fn bytes_from(&self, row: OccurrenceRow, page_size: PageSize) -> u64 {
        let before = self.leaves_before(row).unwrap_or(0);
        let leaves = self.leaves.len() - before.saturating_sub(1);
        (leaves * (page_size.bytes() + OccurrenceRow::LONGEST_CELL + POINTER)) as u64
    }

    /// The number of leaves whose rows all come before `row`. The tree must be that of `occurrence`.
    pub(super) fn leaves_before(&self, row: OccurrenceRow) -> Result<usize, BtreeError> {
        partition_point(0..self.divider_count(), |leaf| {
            let is_before = self.divider(leaf).and_then(|cell| is_before(cell, row));
            is_before.ok_or(BtreeError::Damaged { page: self.leaves[leaf] })
        })
    }

    /// The maximum number of pages above those leaves of this tree that a changed tree keeps. The pages above
    /// its new leaves are not included.
    #[must_use]
    pub fn max_interior_pages(&self) -> u32 {
        // Each level, plus one more, may end with two pages that are not full.
        u32::try_from(self.interior.len() + 2 * self.depth).unwrap_or(u32::MAX)
    }

    /// The maximum number of pages, without the root, for rows of `bytes` bytes in `segments` segments. Pages
    /// must have at least 1024 bytes, and no row may be longer than `longest` bytes as a cell.
    #[must_use]
    pub fn max_pages_for(bytes: u64, page_size: PageSize, longest: usize, segments: usize) -> u32 {
        let (size, longest) = (page_size.bytes() as u64, (longest + POINTER) as u64);
        // A leaf is full if the next row does not fit. At the end of a segment with leaves, up to two leaves
        // are not full. Rows of segments without leaves are packed together.
        let full = bytes / (size - LEAF_HEADER as u64 - longest);
        let leaves = full + 2 * full.min(segments as u64) + 3;
        // An interior page gives away at most one child, and the last page of each level may have only two
        // children.
        let children = ((size - INTERIOR_HEADER as u64) / (CHILD as u64 + longest) - 1).max(4);
        let (mut pages, mut level) = (leaves + 2, leaves);
        while level > children {
            level = level / children + 2;
            pages += level;
        }
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// All pages except the root.
    pub fn pages(&self) -> impl Iterator<Item = PageNumber> {
        self.pages_without(0)
    }

    /// All pages except the root and the first `leaves` leaves.
    pub(super) fn pages_without(&self, leaves: usize) -> impl Iterator<Item = PageNumber> {
        let pages = self.interior.iter().chain(&self.leaves[leaves..]).copied();
        pages.filter(|&page| page != self.root)
    }

    pub(super) const fn root(&self) -> PageNumber {
        self.root
    }

    /// The leaves in key order.
    pub(super) fn leaves(&self) -> &[PageNumber] {
        &self.leaves
    }

    /// The number of rows between leaves.
    pub(super) fn divider_count(&self) -> usize {
        self.ends.len()
    }

    /// The row after a leaf; `None` for the last leaf.
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
