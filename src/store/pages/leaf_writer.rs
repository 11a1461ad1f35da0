//! Packs the rows of one worker into leaf pages. The leaves of each key range are a segment.

use std::mem;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use super::file::AlignedBuffer;
use super::page::{LEAF, PageBuilder, PageView, cell_length};
use super::record::write_varint;
use super::{BtreeError, PageFile, PageNumber, PageRun, Record};

/// Builds the leaf pages of segments, one segment after the other.
///
/// One thread owns the writer and reuses it for many segments. Memory is allocated when the writer is created
/// and for each segment, but not for each row. Full pages are collected in a buffer and written together. The
/// segments of a writer can belong to different tables. After an error, neither the segment nor the writer
/// can be used.
#[derive(Debug)]
pub struct LeafWriter {
    max_payload: usize,
    pages: PageBuffer,
    /// The dividers of the segment, as concatenated cells.
    dividers: Vec<u8>,
    /// The offset of the last divider in `dividers`.
    last_divider: usize,
    /// A buffer for rows that possibly do not fit on the current page.
    scratch: Vec<u8>,
}

/// The number of bytes that a cell needs in addition to its record: a cell pointer (2) and the record's
/// length as a varint (at most 3, because no record has 2^21 bytes or more).
const CELL_OVERHEAD: usize = 5;
/// The maximum length, in bytes, of a record's length prefix.
const LENGTH_PREFIX: usize = 3;
/// The minimum length of a record, in bytes. SQLite assumes that a cell, which also contains the record's
/// length, has at least four bytes.
const MIN_PAYLOAD: usize = 3;

impl LeafWriter {
    /// The number of bytes to write at once.
    const BUFFER: usize = 512 << 10;

    /// A writer that writes half a megabyte of full pages at once.
    #[must_use]
    pub fn new(file: Arc<PageFile>) -> Self {
        let pages = NonZeroUsize::new(Self::BUFFER / file.page_size().bytes()).expect("at least eight");
        Self::with_buffer(file, pages)
    }

    /// A writer that writes `pages` full pages at once.
    #[must_use]
    pub fn with_buffer(file: Arc<PageFile>, pages: NonZeroUsize) -> Self {
        Self {
            max_payload: file.page_size().max_payload(),
            // The buffer has room for one more page. The last full page stays in the buffer, because the last
            // page of the segment can need a row from it.
            pages: PageBuffer::new(file, pages.get() + 1),
            dividers: Vec::new(),
            last_divider: 0,
            scratch: Vec::new(),
        }
    }

    /// Adds a row. Its key must be greater than the key of the row before (this is not checked).
    ///
    /// # Errors
    /// If a buffer of full pages cannot be written, or the row is too long for a page of this size.
    #[inline]
    pub fn push(&mut self, row: &impl Record) -> Result<(), BtreeError> {
        let max_length = row.max_length();
        if max_length <= self.max_payload && self.pages.fill.fits(max_length + CELL_OVERHEAD) {
            // Calling `current` would borrow all of `pages`.
            let size = self.pages.file.page_size().bytes();
            let page = &mut self.pages.bytes[self.pages.complete * size..][..size];
            let space = self.pages.fill.free_space(page);
            let length = row.write_at_end(space);
            let mut start = space.len() - length;
            write_varint(space, &mut start, length as u64);
            let length = space.len() - start;
            self.pages.fill.accept(page, length);
            return Ok(());
        }
        self.push_at_page_end(row)
    }

    /// Adds a row given as an encoded record.
    ///
    /// # Errors
    /// As [`push`](Self::push); also if the row has fewer than 3 bytes.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), BtreeError> {
        let (length, max) = (payload.len(), self.max_payload);
        if !(MIN_PAYLOAD..=max).contains(&length) {
            return Err(BtreeError::RowLength { length, max });
        }
        let mut prefix = [0; LENGTH_PREFIX];
        let mut start = LENGTH_PREFIX;
        write_varint(&mut prefix, &mut start, payload.len() as u64);
        self.push_parts(&prefix[start..], payload)
    }

    /// Adds a row that is given as a leaf cell of another page. That page must have the same size.
    pub(super) fn push_cell(&mut self, cell: &[u8]) -> Result<(), BtreeError> {
        self.push_parts(cell, &[])
    }

    /// Adds the rows with the indexes `rows` of a [packed](PageView::is_packed) leaf. The page size of the
    /// leaf must be that of this writer.
    pub(super) fn push_packed(
        &mut self,
        leaf: PageView<'_>,
        mut rows: Range<usize>,
    ) -> Result<(), BtreeError> {
        while !rows.is_empty() {
            let page = self.pages.current();
            rows.start += self.pages.fill.push_packed(&mut self.pages.bytes[page], leaf, rows.clone());
            // The next row does not fit on the page, and becomes a divider.
            if let Some(index) = rows.next() {
                self.push_cell(leaf.row(index).expect("rows of a packed leaf are completely on it"))?;
            }
        }
        Ok(())
    }

    /// Ends the segment and writes its remaining pages. If all rows fit on one page, nothing is written. The
    /// writer can then start the next segment.
    ///
    /// # Errors
    /// If the pages cannot be written.
    pub fn finish_segment(&mut self) -> Result<Segment, BtreeError> {
        if self.pages.complete == 0 && self.pages.runs.is_empty() {
            let rows =
                self.pages.fill.cells(&self.pages.bytes[self.pages.current()]).flatten().copied().collect();
            self.pages.fill = PageBuilder::leaf(self.pages.file.page_size());
            return Ok(Segment { leaves: Vec::new(), rows: Cells { bytes: rows } });
        }
        if self.pages.fill.count() == 1 {
            self.give_last_page_a_second_row();
        }
        // A segment must end with a divider. If the current page has no cells, the last row is already a
        // divider.
        if self.pages.fill.count() > 0 {
            let page = self.pages.current();
            self.last_divider = self.dividers.len();
            self.dividers.extend_from_slice(self.pages.fill.pop(&self.pages.bytes[page.clone()]));
            self.pages.seal(LEAF);
        }
        self.pages.write(self.pages.complete)?;
        let rows = Cells { bytes: self.dividers.as_slice().into() };
        self.dividers.clear();
        Ok(Segment { leaves: mem::take(&mut self.pages.runs), rows })
    }

    #[cold]
    #[inline(never)]
    fn push_at_page_end(&mut self, row: &impl Record) -> Result<(), BtreeError> {
        let mut scratch = mem::take(&mut self.scratch);
        scratch.resize(row.max_length(), 0);
        let length = row.write_at_end(&mut scratch);
        let result = self.push_payload(&scratch[scratch.len() - length..]);
        self.scratch = scratch;
        result
    }

    #[inline]
    fn push_parts(&mut self, prefix: &[u8], rest: &[u8]) -> Result<(), BtreeError> {
        let page = self.pages.current();
        if self.pages.fill.fits(prefix.len() + rest.len()) {
            self.pages.fill.push(&mut self.pages.bytes[page], [prefix, rest]);
            return Ok(());
        }
        self.last_divider = self.dividers.len();
        self.dividers.extend_from_slice(prefix);
        self.dividers.extend_from_slice(rest);
        self.pages.seal(LEAF);
        self.keep_last_page()
    }

    /// If the buffer is full, writes all pages except the last, which becomes the first page of the buffer.
    fn keep_last_page(&mut self) -> Result<(), BtreeError> {
        if self.pages.current().end <= self.pages.bytes.len() {
            return Ok(());
        }
        self.pages.write(self.pages.complete - 1)?;
        let last = self.pages.bytes.len() - self.pages.file.page_size().bytes()..;
        self.pages.bytes.copy_within(last, 0);
        self.pages.complete = 1;
        Ok(())
    }

    /// Moves the last divider to the current page. Called if this page has only one row: that row becomes the
    /// divider at the end of the segment, which would leave the page empty. The last row of the previous page
    /// replaces the moved divider.
    fn give_last_page_a_second_row(&mut self) {
        let page = self.pages.current();
        let row = self.pages.fill.pop(&self.pages.bytes[page.clone()]).to_vec();
        let divider = self.dividers.split_off(self.last_divider);
        self.pages.fill.push(&mut self.pages.bytes[page.clone()], [&divider]);
        self.pages.fill.push(&mut self.pages.bytes[page.clone()], [&row]);

        let before = &mut self.pages.bytes[page.start - page.len()..page.start];
        let mut fill = PageBuilder::from_leaf(before).expect("a page of the buffer is a leaf");
        self.dividers.extend_from_slice(fill.pop(before));
        fill.seal(before, LEAF);
    }
}

/// A buffer of pages to write: the complete pages, followed by the current page.
#[derive(Debug)]
pub(super) struct PageBuffer {
    pub(super) file: Arc<PageFile>,
    pub(super) bytes: AlignedBuffer,
    /// The number of complete pages.
    pub(super) complete: usize,
    /// The fill state of the current page.
    pub(super) fill: PageBuilder,
    /// The pages written since `runs` was last emptied.
    pub(super) runs: Vec<PageRun>,
}

impl PageBuffer {
    /// A buffer for this number of pages. The current page is a leaf.
    pub(super) fn new(file: Arc<PageFile>, pages: usize) -> Self {
        let size = file.page_size();
        let (bytes, fill) = (AlignedBuffer::new(pages * size.bytes()), PageBuilder::leaf(size));
        Self { file, bytes, complete: 0, fill, runs: Vec::new() }
    }

    /// The byte range of the current page in the buffer.
    pub(super) fn current(&self) -> Range<usize> {
        let size = self.file.page_size().bytes();
        self.complete * size..(self.complete + 1) * size
    }

    /// Completes the current page, a leaf of the type `kind`, and starts the next page.
    pub(super) fn seal(&mut self, kind: u8) {
        let page = self.current();
        self.fill.seal(&mut self.bytes[page], kind);
        self.fill = PageBuilder::leaf(self.file.page_size());
        self.complete += 1;
    }

    /// Writes the first `pages` complete pages to the file, and empties the buffer.
    pub(super) fn write(&mut self, pages: usize) -> Result<(), BtreeError> {
        let bytes = &self.bytes[..pages * self.file.page_size().bytes()];
        self.complete = 0;
        self.file.append_pages(bytes, &mut self.runs)
    }
}

/// The rows of one contiguous key range: leaf pages in the file, and the rows between them.
///
/// Leaves and rows alternate in key order: each leaf is followed by its divider, so that the segment ends
/// with a divider. In the tree, another leaf must follow this divider. A segment whose rows all fit on one
/// page has no leaves, only rows.
#[derive(Clone, Debug, Default)]
#[must_use = "the rows of a segment are not in the tree until it is assembled"]
pub struct Segment {
    pub(super) leaves: Vec<PageRun>,
    /// The divider after each leaf, or all rows if there are no leaves.
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

/// Rows as concatenated leaf cells (each row is preceded by its length).
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
