//! Existing trees: their pages, and their rows in order.

use std::cell::OnceCell;
use std::ops::Range;

use super::page::{CHILD, INTERIOR_HEADER, LEAF_HEADER, POINTER, PageView};
use super::record_reader::is_before;
use super::{BtreeError, PageFile, PageNumber, PageSize};
use crate::store::partition_point::partition_point;
use crate::store::row::OccurrenceRow;

/// The maximum number of levels of a tree. SQLite cannot read deeper trees either.
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

/// The page numbers of a tree, and the rows on its interior pages.
#[derive(Debug)]
pub struct Tree {
    root: PageNumber,
    /// The interior pages. They include the root page, unless it is a leaf.
    interior: Vec<PageNumber>,
    /// The leaves in key order; there is at least one.
    leaves: Vec<PageNumber>,
    /// The rows between the leaves (the dividers), as concatenated cells.
    dividers: Vec<u8>,
    /// The end of each divider in `dividers`.
    ends: Vec<u32>,
    /// The number of levels, including the level of the leaves.
    depth: usize,
}

impl Tree {
    /// Reads all pages of a tree except its leaves.
    ///
    /// # Errors
    /// [`BtreeError::Damaged`] if the tree is invalid, or if a row above its leaves continues on an overflow
    /// page; an I/O error if a page cannot be read.
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

    /// The maximum number of bytes that some rows take on pages of this size: the rows on the leaf with the
    /// index `leaf`, and all later rows.
    #[must_use]
    pub fn bytes(&self, leaf: usize, page_size: PageSize) -> u64 {
        let leaves = self.leaves.len().saturating_sub(leaf);
        (leaves * page_size.bytes() + self.dividers.len() + self.ends.len() * POINTER) as u64
    }

    /// The number of leaves whose divider, the row after the leaf, comes before `row`. The tree must be that
    /// of `occurrence`.
    pub(super) fn leaves_before(&self, row: OccurrenceRow) -> Result<usize, BtreeError> {
        partition_point(0..self.divider_count(), |leaf| {
            let is_before = self.divider(leaf).and_then(|cell| is_before(cell, row));
            is_before.ok_or_else(|| self.damaged(leaf))
        })
    }

    pub(super) fn damaged(&self, leaf: usize) -> BtreeError {
        BtreeError::Damaged { page: self.leaves[leaf] }
    }

    /// The maximum number of interior pages that a changed tree needs above the leaves that it keeps from
    /// this tree. Interior pages above new leaves are not included.
    #[must_use]
    pub fn max_interior_pages(&self) -> u32 {
        // Each level of interior pages, and one additional level, can end with two pages that are not full.
        u32::try_from(self.interior.len() + 2 * self.depth).unwrap_or(u32::MAX)
    }

    /// The maximum number of pages of a tree, without its root page. The tree's rows take `bytes` bytes,
    /// including cell pointers, and are in `segments` segments. Pages must have at least 1024 bytes, and the
    /// cell of a row must not be longer than `longest` bytes.
    #[must_use]
    pub fn max_pages_for(bytes: u64, page_size: PageSize, longest: usize, segments: usize) -> u32 {
        let (size, longest) = (page_size.bytes() as u64, (longest + POINTER) as u64);
        // A leaf is full if the next row does not fit. At the end of a segment with leaves, up to two leaves
        // are not full. Rows of segments without leaves are packed together.
        let full = bytes / (size - LEAF_HEADER as u64 - longest);
        let leaves = full + 2 * full.min(segments as u64) + 3;
        // An interior page passes at most one child to the next page. The last page of each level can have as
        // few as two children.
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

    /// The row after the leaf with this index; `None` for the last leaf.
    pub(super) fn divider(&self, leaf: usize) -> Option<&[u8]> {
        let end = *self.ends.get(leaf)? as usize;
        let start = if leaf == 0 { 0 } else { self.ends[leaf - 1] as usize };
        Some(&self.dividers[start..end])
    }
}

pub(super) fn read_page(file: &PageFile, number: PageNumber) -> Result<Vec<u8>, BtreeError> {
    if number.0 == 0 || number.0 > file.page_count() {
        return Err(BtreeError::Damaged { page: number });
    }
    let mut page = vec![0; file.page_size().bytes()];
    file.read_page(number, &mut page)?;
    Ok(page)
}

/// A cursor at a row of a tree. It moves only forwards. It caches leaves that are adjacent in the file.
#[derive(Debug)]
pub(super) struct Place<'t> {
    file: &'t PageFile,
    tree: &'t Tree,
    pages: Vec<u8>,
    /// The indexes of the leaves in `pages`.
    loaded: Range<usize>,
    /// The number of leaves to read together.
    at_once: usize,
    /// Whether the current leaf is [packed](PageView::is_packed). Computed when first needed.
    is_packed: OnceCell<bool>,
    leaf: usize,
    /// The index of the current row on the leaf. If this is the number of rows on the leaf, the current row
    /// is the row after the leaf.
    pub(super) cell: usize,
}

impl<'t> Place<'t> {
    /// The maximum number of pages read together.
    const READ: usize = 64;

    /// If a cursor skips fewer leaves than this, it is assumed to read most leaves.
    const NEAR: usize = 8;

    /// A cursor at the first row of a leaf.
    pub(super) fn new(file: &'t PageFile, tree: &'t Tree, leaf: usize) -> Result<Self, BtreeError> {
        let (pages, is_packed) = (Vec::new(), OnceCell::new());
        let mut place = Self { file, tree, pages, loaded: 0..0, at_once: 1, is_packed, leaf, cell: 0 };
        place.go_to_leaf(leaf)?;
        Ok(place)
    }

    /// Moves to the first row of a leaf.
    fn go_to_leaf(&mut self, leaf: usize) -> Result<(), BtreeError> {
        if !self.loaded.contains(&leaf) {
            self.read(leaf)?;
        }
        (self.leaf, self.cell) = (leaf, 0);
        self.is_packed = OnceCell::new();
        self.page().map(|_| ())
    }

    /// Reads a leaf and some leaves after it.
    fn read(&mut self, leaf: usize) -> Result<(), BtreeError> {
        // If the caller reads most leaves, many leaves are read at once. If it searches for a few rows that
        // are far apart, only one leaf is read.
        let is_sequential = (self.loaded.end..self.loaded.end + Self::NEAR).contains(&leaf);
        self.at_once = if is_sequential { Self::READ.min(2 * self.at_once) } else { 1 };
        let leaves = &self.tree.leaves[leaf..];
        let first = leaves[0];
        let in_order = leaves.iter().zip(first.0..).take(self.at_once);
        let count = in_order.take_while(|(leaf, number)| leaf.0 == *number).count();
        self.pages.resize(count * self.file.page_size().bytes(), 0);
        self.file.read_page(first, &mut self.pages)?;
        self.loaded = leaf..leaf + count;
        Ok(())
    }

    /// The current leaf.
    pub(super) fn page(&self) -> Result<PageView<'_>, BtreeError> {
        let size = self.file.page_size().bytes();
        let at = (self.leaf - self.loaded.start) * size;
        let page = PageView::new(&self.pages[at..at + size]).filter(|page| page.is_leaf());
        page.ok_or_else(|| self.damaged())
    }

    /// Whether the current leaf is [packed](PageView::is_packed).
    pub(super) fn is_packed(&self) -> Result<bool, BtreeError> {
        let page = self.page()?;
        Ok(*self.is_packed.get_or_init(|| page.is_packed()))
    }

    /// The row after the current leaf; `None` if this leaf is the last one.
    pub(super) fn divider(&self) -> Option<&'t [u8]> {
        self.tree.divider(self.leaf)
    }

    /// The current row; `None` at the end, or if the row is not completely on its page.
    pub(super) fn row(&self) -> Result<Option<&[u8]>, BtreeError> {
        let page = self.page()?;
        Ok(if self.cell < page.count() { page.row(self.cell) } else { self.divider() })
    }

    /// Whether there are no more rows.
    pub(super) fn is_at_end(&self) -> Result<bool, BtreeError> {
        Ok(self.divider().is_none() && self.cell >= self.page()?.count())
    }

    /// Moves to the next row, if there is one.
    pub(super) fn advance(&mut self) -> Result<(), BtreeError> {
        if self.cell < self.page()?.count() {
            self.cell += 1;
        } else if self.divider().is_some() {
            self.go_to_leaf(self.leaf + 1)?;
        }
        Ok(())
    }

    pub(super) fn damaged(&self) -> BtreeError {
        self.tree.damaged(self.leaf)
    }
}
