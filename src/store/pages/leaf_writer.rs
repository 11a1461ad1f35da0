//! Builds the leaves of one worker: packs rows into pages.

use std::mem;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use super::buffer::AlignedBuffer;
use super::page::{PageBuilder, PageView};
use super::record::write_varint;
use super::segment::Cells;
use super::{BtreeError, PageFile, PageRun, Record, Segment};

/// Builds the leaf pages of segments, one segment after the other.
///
/// Owned by one thread and reused: it allocates when created and per segment, never per row. Full pages are
/// collected in a buffer and written together. The segments of a writer may belong to different tables. After
/// an error, neither the segment nor the writer can be used.
#[derive(Debug)]
pub struct LeafWriter {
    file: Arc<PageFile>,
    max_payload: usize,
    /// Adjacent pages: first the complete pages (`complete` is their number), then the current page.
    buffer: AlignedBuffer,
    complete: usize,
    fill: PageBuilder,
    leaves: Vec<PageRun>,
    /// The cells of the rows between the leaves so far.
    dividers: Vec<u8>,
    /// The start of the last divider in `dividers`.
    last_divider: usize,
    /// A buffer for rows that may not fit on the current page.
    scratch: Vec<u8>,
}

/// Bytes that a cell needs in addition to its record: a pointer and at most three bytes of length (2^21 is
/// larger than any page).
const CELL_OVERHEAD: usize = 5;
/// The maximum length, in bytes, of a record's length prefix.
const LENGTH_PREFIX: usize = 3;
/// The minimum length of a row, in bytes: SQLite assumes that a cell has at least four bytes.
const MIN_PAYLOAD: usize = 3;

impl LeafWriter {
    /// The number of bytes that are written together.
    const BUFFER: usize = 512 << 10;

    /// A writer that buffers half a megabyte of pages.
    #[must_use]
    pub fn new(file: Arc<PageFile>) -> Self {
        let pages = NonZeroUsize::new(Self::BUFFER / file.page_size().bytes()).expect("at least eight");
        Self::with_buffer(file, pages)
    }

    /// A writer that buffers `pages` full pages.
    #[must_use]
    pub fn with_buffer(file: Arc<PageFile>, pages: NonZeroUsize) -> Self {
        let size = file.page_size();
        Self {
            max_payload: size.max_payload(),
            // One page more: the last full page is held back, because the end of the segment may take a row
            // from it.
            buffer: AlignedBuffer::new((pages.get() + 1) * size.bytes()),
            complete: 0,
            fill: PageBuilder::leaf(size),
            leaves: Vec::new(),
            dividers: Vec::new(),
            last_divider: 0,
            scratch: Vec::new(),
            file,
        }
    }

    /// Adds a row, whose key must be greater than that of the row before (this is not checked).
    ///
    /// # Errors
    /// If a buffer of full pages cannot be written, or the row is too long for a page of this size.
    #[inline]
    pub fn push(&mut self, row: &impl Record) -> Result<(), BtreeError> {
        let room = row.max_length();
        if room <= self.max_payload && self.fill.fits(room + CELL_OVERHEAD) {
            // Calling `current` would borrow all of `self`.
            let size = self.file.page_size().bytes();
            let page = &mut self.buffer[self.complete * size..][..size];
            let space = self.fill.free_space(page);
            let length = row.write_at_end(space);
            let mut start = space.len() - length;
            write_varint(space, &mut start, length as u64);
            let length = space.len() - start;
            self.fill.accept(page, length);
            return Ok(());
        }
        self.push_at_page_end(row)
    }

    /// Adds a row given as an encoded record.
    ///
    /// # Errors
    /// As [`push`](Self::push); also if the row has fewer than 3 bytes.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), BtreeError> {
        self.check_length(payload.len())?;
        let mut prefix = [0; LENGTH_PREFIX];
        let mut start = LENGTH_PREFIX;
        write_varint(&mut prefix, &mut start, payload.len() as u64);
        self.push_parts(&prefix[start..], payload)
    }

    /// Adds a row given as a leaf cell of another page, which must have the same size.
    pub(super) fn push_cell(&mut self, cell: &[u8]) -> Result<(), BtreeError> {
        self.push_parts(cell, &[])
    }

    /// Adds rows of a [packed](PageView::is_packed) leaf, which must have the same page size.
    pub(super) fn push_packed(
        &mut self,
        leaf: PageView<'_>,
        mut rows: Range<usize>,
    ) -> Result<(), BtreeError> {
        while !rows.is_empty() {
            let page = self.current();
            rows.start += self.fill.push_packed(&mut self.buffer[page], leaf, rows.clone());
            // The next row does not fit on the page, and becomes a divider.
            if let Some(index) = rows.next() {
                self.push_cell(leaf.row(index).expect("a packed leaf has its rows whole"))?;
            }
        }
        Ok(())
    }

    /// Ends the segment and writes its last pages. The writer can then start the next segment.
    ///
    /// # Errors
    /// If the pages cannot be written.
    pub fn finish_segment(&mut self) -> Result<Segment, BtreeError> {
        if self.complete == 0 && self.leaves.is_empty() {
            let rows = self.fill.cells(&self.buffer[self.current()]).flatten().copied().collect();
            self.fill = PageBuilder::leaf(self.file.page_size());
            return Ok(Segment { leaves: Vec::new(), rows: Cells { bytes: rows } });
        }
        if self.fill.count() == 1 {
            self.give_last_page_a_second_row();
        }
        // A segment must end with a divider. If the current page has no cells, the last row is already a
        // divider.
        if self.fill.count() > 0 {
            let page = self.current();
            self.add_divider_from_page(page.clone());
            self.complete_page(page);
        }
        self.write_complete(self.complete)?;
        let rows = Cells { bytes: self.dividers.as_slice().into() };
        self.dividers.clear();
        Ok(Segment { leaves: mem::take(&mut self.leaves), rows })
    }

    /// The place of the current page in the buffer.
    fn current(&self) -> Range<usize> {
        let size = self.file.page_size().bytes();
        self.complete * size..(self.complete + 1) * size
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

    fn check_length(&self, length: usize) -> Result<(), BtreeError> {
        if (MIN_PAYLOAD..=self.max_payload).contains(&length) {
            Ok(())
        } else {
            Err(BtreeError::RowLength { length, max: self.max_payload })
        }
    }

    #[inline]
    fn push_parts(&mut self, prefix: &[u8], rest: &[u8]) -> Result<(), BtreeError> {
        let page = self.current();
        if self.fill.fits(prefix.len() + rest.len()) {
            self.fill.push(&mut self.buffer[page], [prefix, rest]);
            return Ok(());
        }
        self.last_divider = self.dividers.len();
        self.dividers.extend_from_slice(prefix);
        self.dividers.extend_from_slice(rest);
        self.complete_page(page);
        self.keep_last_page()
    }

    /// Seals the current page and starts the next.
    fn complete_page(&mut self, page: Range<usize>) {
        self.fill.seal_leaf(&mut self.buffer[page]);
        self.fill = PageBuilder::leaf(self.file.page_size());
        self.complete += 1;
    }

    /// If the buffer is full, writes all pages but the last.
    fn keep_last_page(&mut self) -> Result<(), BtreeError> {
        if self.current().end <= self.buffer.len() {
            return Ok(());
        }
        self.write_complete(self.complete - 1)?;
        let last = self.buffer.len() - self.file.page_size().bytes()..;
        self.buffer.copy_within(last, 0);
        self.complete = 1;
        Ok(())
    }

    /// Writes the first `pages` complete pages and clears the buffer.
    fn write_complete(&mut self, pages: usize) -> Result<(), BtreeError> {
        let bytes = &self.buffer[..pages * self.file.page_size().bytes()];
        self.complete = 0;
        self.file.append_pages(bytes, |run| match self.leaves.last_mut() {
            Some(last) if last.first.0 + last.count == run.first.0 => last.count += run.count,
            _ => self.leaves.push(run),
        })
    }

    /// Moves the last row of the current page to the dividers.
    fn add_divider_from_page(&mut self, page: Range<usize>) {
        let cell = self.fill.pop(&self.buffer[page]);
        self.last_divider = self.dividers.len();
        self.dividers.extend_from_slice(cell);
    }

    /// Called if the current page has only one row, which must become the divider at the end of the segment.
    /// The last divider moves to this page, and the last row of the page before becomes the divider between
    /// the two pages.
    fn give_last_page_a_second_row(&mut self) {
        let page = self.current();
        let row = self.fill.pop(&self.buffer[page.clone()]).to_vec();
        let divider = self.dividers.split_off(self.last_divider);
        self.fill.push(&mut self.buffer[page.clone()], [&divider]);
        self.fill.push(&mut self.buffer[page.clone()], [&row]);

        let before = &mut self.buffer[page.start - page.len()..page.start];
        let mut fill = PageBuilder::from_leaf(before).expect("a page of the buffer is a leaf");
        self.dividers.extend_from_slice(fill.pop(before));
        fill.seal_leaf(before);
    }
}
