//! A B-tree page. Cell pointers grow upwards from the page header, and cells grow downwards from the end of
//! the page.

use std::convert::Infallible;
use std::ops::Range;

use super::record_reader::read_varint;
use super::{PageNumber, PageSize};
use crate::store::partition_point::partition_point;

/// The first byte of an interior page of an index B-tree.
pub(super) const INTERIOR: u8 = 2;
/// The first byte of a leaf page of an index B-tree.
pub(super) const LEAF: u8 = 10;
/// The first byte of an interior page of a table B-tree (a table with rowids).
pub(super) const TABLE_INTERIOR: u8 = 5;
/// The first byte of a leaf page of a table B-tree.
pub(super) const TABLE_LEAF: u8 = 13;
/// The length of a leaf's page header, in bytes.
pub(super) const LEAF_HEADER: usize = 8;
/// The length of an interior page's header, in bytes. The header ends with the number of the right-most
/// child.
pub(super) const INTERIOR_HEADER: usize = 12;
/// The length of a cell pointer, in bytes.
pub(super) const POINTER: usize = 2;
/// The length, in bytes, of the child pointer that precedes the row in an interior cell.
pub(super) const CHILD: usize = 4;

/// How far a page is filled ([page format](https://www.sqlite.org/fileformat2.html#b_tree_pages)). The caller
/// owns the page's bytes, so that adjacent leaves can be built in one buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBuilder {
    /// The offset of the next cell pointer.
    pointers_end: usize,
    /// The offset of the cell added last, which is the lowest offset of a cell. In an empty page, the page
    /// size.
    cells_start: usize,
    header: usize,
}

impl PageBuilder {
    /// An empty leaf.
    pub(super) const fn leaf(size: PageSize) -> Self {
        Self { pointers_end: LEAF_HEADER, cells_start: size.bytes(), header: LEAF_HEADER }
    }

    /// An empty interior page.
    pub(super) const fn interior(size: PageSize) -> Self {
        Self { pointers_end: INTERIOR_HEADER, cells_start: size.bytes(), header: INTERIOR_HEADER }
    }

    /// The fill state of the finished leaf in `page`, so that more rows can be added; `None` if the page is
    /// not a leaf of an index, or its header is invalid.
    pub(super) fn from_leaf(page: &[u8]) -> Option<Self> {
        let count = word(page, 3);
        let cells_start = if count == 0 { page.len() } else { word(page, 5) };
        let fill = Self { pointers_end: LEAF_HEADER + count * POINTER, cells_start, header: LEAF_HEADER };
        (page[0] == LEAF && fill.pointers_end <= cells_start && cells_start <= page.len()).then_some(fill)
    }

    pub(super) const fn count(&self) -> usize {
        (self.pointers_end - self.header) / POINTER
    }

    /// Whether a cell of `length` bytes fits.
    pub(super) const fn fits(&self, length: usize) -> bool {
        length + POINTER <= self.cells_start - self.pointers_end
    }

    /// The free space for the next cell. The caller writes the cell to the end of this space.
    #[inline]
    pub(super) fn free_space<'p>(&self, page: &'p mut [u8]) -> &'p mut [u8] {
        &mut page[self.pointers_end + POINTER..self.cells_start]
    }

    /// Accepts the last `length` bytes of the free space as the next cell.
    #[inline]
    pub(super) fn accept(&mut self, page: &mut [u8], length: usize) {
        self.cells_start -= length;
        // `cells_start` is less than 65536, because the cell has at least one byte.
        let pointer = (self.cells_start as u16).to_be_bytes();
        *page[self.pointers_end..].first_chunk_mut().expect("room for a cell pointer") = pointer;
        self.pointers_end += POINTER;
    }

    /// Adds a cell given as consecutive `parts`. The cell must fit on the page.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, page: &mut [u8], parts: [&[u8]; N]) {
        let mut length = 0;
        for part in parts.into_iter().rev() {
            length += part.len();
            let start = self.cells_start - length;
            page[start..start + part.len()].copy_from_slice(part);
        }
        self.accept(page, length);
    }

    /// Adds rows of the [packed](PageView::is_packed) leaf `from`, in order, until the next one does not fit.
    /// `rows` are the indexes of the rows to add. Returns the number of added rows.
    pub(super) fn push_packed(&mut self, page: &mut [u8], from: PageView<'_>, rows: Range<usize>) -> usize {
        let end = if rows.start == 0 { from.page.len() } else { from.start(rows.start - 1) };
        let free = self.cells_start - self.pointers_end;
        let Ok(count) = partition_point(0..rows.len(), |others| {
            Ok::<_, Infallible>(end - from.start(rows.start + others) + (others + 1) * POINTER <= free)
        });
        if count == 0 {
            return 0;
        }
        let start = from.start(rows.start + count - 1);
        let shift = self.cells_start.wrapping_sub(end);
        self.cells_start -= end - start;
        page[self.cells_start..][..end - start].copy_from_slice(&from.page[start..end]);
        let pointers = &mut page[self.pointers_end..][..count * POINTER];
        let old = &from.page[LEAF_HEADER + rows.start * POINTER..][..count * POINTER];
        for (new, old) in pointers.as_chunks_mut().0.iter_mut().zip(old.as_chunks().0) {
            *new = u16::from_be_bytes(*old).wrapping_add(shift as u16).to_be_bytes();
        }
        self.pointers_end += count * POINTER;
        count
    }

    /// Removes and returns the last cell.
    pub(super) fn pop<'p>(&mut self, page: &'p [u8]) -> &'p [u8] {
        self.pointers_end -= POINTER;
        let start = self.cells_start;
        debug_assert_eq!(start, word(page, self.pointers_end), "cells are in the order of arrival");
        let prefix = self.header - LEAF_HEADER;
        self.cells_start = start + prefix + cell_length(&page[start + prefix..]);
        &page[start..self.cells_start]
    }

    /// The cells in key order.
    pub(super) fn cells<'p>(&self, page: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        let prefix = self.header - LEAF_HEADER;
        let pointers = page[self.header..self.pointers_end].chunks_exact(POINTER);
        pointers.map(move |pointer| {
            let cell = &page[word(pointer, 0)..];
            &cell[..prefix + cell_length(&cell[prefix..])]
        })
    }

    /// Completes an interior page of the type `kind`. `right` is its last child.
    pub(super) fn seal_interior(&self, page: &mut [u8], kind: u8, right: PageNumber) {
        self.seal(page, kind);
        page[8..12].copy_from_slice(&right.0.to_be_bytes());
    }

    /// The last child of a completed interior page.
    pub(super) fn right_child(page: &[u8]) -> PageNumber {
        child_of(&page[8..])
    }

    /// Writes the page header for a page of the type `kind`, and clears the free space. This completes a
    /// leaf; the header of an interior page still lacks the last child.
    pub(super) fn seal(&self, page: &mut [u8], kind: u8) {
        debug_assert_eq!(self.header == LEAF_HEADER, matches!(kind, LEAF | TABLE_LEAF));
        let count = (self.count() as u16).to_be_bytes();
        // In an empty page of 65536 bytes the start is 65536, which is stored as 0.
        let start = (self.cells_start as u16).to_be_bytes();
        page[..8].copy_from_slice(&[kind, 0, 0, count[0], count[1], start[0], start[1], 0]);
        // The buffer is reused. Bytes that an earlier page left between pointers and cells are cleared.
        page[self.pointers_end..self.cells_start].fill(0);
    }
}

/// Whether a page is an empty leaf of a table with rowids.
pub(super) fn is_empty_table(page: &[u8]) -> bool {
    page[0] == TABLE_LEAF && word(page, 3) == 0
}

/// The child pointer at the start of an interior cell.
pub(super) fn child_of(cell: &[u8]) -> PageNumber {
    PageNumber(u32::from_be_bytes(*cell.first_chunk().expect("an interior cell has a child")))
}

/// The length of the leaf cell (a row preceded by its length) at the start of `bytes`.
pub(super) fn cell_length(bytes: &[u8]) -> usize {
    let (payload, rest) = read_varint(bytes).expect("a cell begins with its length");
    bytes.len() - rest.len() + payload
}

/// A page of an existing tree. Its contents can be damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageView<'p> {
    page: &'p [u8],
    is_leaf: bool,
    count: usize,
}

impl<'p> PageView<'p> {
    /// A view of a page; `None` if the page does not belong to an index B-tree, or its cell pointers do not
    /// fit on it.
    pub(super) fn new(page: &'p [u8]) -> Option<Self> {
        let (is_leaf, header) = match *page.first()? {
            LEAF => (true, LEAF_HEADER),
            INTERIOR => (false, INTERIOR_HEADER),
            _ => return None,
        };
        let count = word(page, 3);
        (header + count * POINTER <= page.len()).then_some(Self { page, is_leaf, count })
    }

    pub(super) const fn is_leaf(self) -> bool {
        self.is_leaf
    }

    pub(super) const fn count(self) -> usize {
        self.count
    }

    /// The row with this index, as a leaf cell; `None` if the row is not completely on the page.
    #[inline]
    pub(super) fn row(self, index: usize) -> Option<&'p [u8]> {
        let (header, child) = if self.is_leaf { (LEAF_HEADER, 0) } else { (INTERIOR_HEADER, CHILD) };
        let start = word(self.page, header + index * POINTER) + child;
        let cell = self.page.get(start..)?;
        let (payload, rest) = read_varint(cell)?;
        // A row longer than `max_payload` continues on an overflow page.
        let fits = PageSize::new(self.page.len() as u32).is_some_and(|size| payload <= size.max_payload());
        if fits { cell.get(..cell.len() - rest.len() + payload) } else { None }
    }

    /// Whether the page is a packed leaf: its rows are stored without gaps, from the end of the page
    /// backwards, and no row is longer than 127 bytes. [`PageBuilder`] stores rows without gaps.
    pub(super) fn is_packed(self) -> bool {
        let mut end = self.page.len();
        self.is_leaf
            && (0..self.count).all(|index| {
                let start = self.start(index);
                // The length prefix of a row longer than 127 bytes takes more than one byte.
                let is_next = start < end
                    && matches!(self.page[start], 3..0x80)
                    && usize::from(self.page[start]) == end - start - 1;
                end = start;
                is_next && start >= LEAF_HEADER + self.count * POINTER
            })
    }

    /// The offset of a row of a leaf.
    fn start(self, index: usize) -> usize {
        word(self.page, LEAF_HEADER + index * POINTER)
    }

    /// The rows in key order. The iterator ends before the first row that is not completely on the page.
    pub(super) fn rows(self) -> impl Iterator<Item = &'p [u8]> {
        (0..self.count).map_while(move |index| self.row(index))
    }

    /// On an interior page, the child before the row with this index; the right-most child if `index` is the
    /// number of rows.
    pub(super) fn child(self, index: usize) -> Option<PageNumber> {
        let at = if index < self.count { word(self.page, INTERIOR_HEADER + index * POINTER) } else { 8 };
        self.page.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| PageNumber(u32::from_be_bytes(*bytes)))
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_in_order() {
        let size = PageSize::new(512).unwrap();
        let mut page = vec![0xAA; 512];
        let mut fill = PageBuilder::leaf(size);
        let cells: Vec<Vec<u8>> = (3..60).map(|n| [vec![n], vec![n ^ 0x55; n.into()]].concat()).collect();
        let fitting: Vec<&[u8]> = cells
            .iter()
            .map(Vec::as_slice)
            .take_while(|cell| {
                let fits = fill.fits(cell.len());
                if fits {
                    fill.push(&mut page, [&cell[..1], &cell[1..]]);
                }
                fits
            })
            .collect();
        fill.seal(&mut page, LEAF);
        let mut fill = PageBuilder::from_leaf(&page).unwrap();
        assert_eq!(fill.count(), fitting.len());
        assert_eq!(fill.cells(&page).collect::<Vec<_>>(), fitting);
        for cell in fitting.iter().rev() {
            assert_eq!(fill.pop(&page), *cell);
        }
        assert_eq!(fill.count(), 0);
        assert_eq!(fill.cells_start, 512);
    }

    #[test]
    fn largest_rows_leave_room_for_three() {
        for bytes in [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536] {
            let size = PageSize::new(bytes).unwrap();
            let mut fill = PageBuilder::interior(size);
            let mut page = vec![0; size.bytes()];
            let cell = vec![0; CHILD + 3 + size.max_payload()];
            for _ in 0..3 {
                assert!(fill.fits(cell.len()), "page size {bytes}");
                fill.push(&mut page, [&cell]);
            }
        }
    }

    #[test]
    fn other_pages_are_not_leaves() {
        assert!(PageBuilder::from_leaf(&[0; 512]).is_none());
        let mut page = vec![0; 512];
        PageBuilder::interior(PageSize::new(512).unwrap()).seal_interior(&mut page, INTERIOR, PageNumber(7));
        assert!(PageBuilder::from_leaf(&page).is_none());
        assert_eq!(PageBuilder::right_child(&page), PageNumber(7));
    }
}
