//! One worker's leaves: rows in, full pages out.

use std::mem;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use super::buffer::AlignedBuffer;
use super::page::{PageFill, PageView};
use super::record::write_varint;
use super::segment::Cells;
use super::{BtreeError, PageFile, PageRun, Record, Segment};

/// Builds the leaf pages of segments, one segment after the other.
///
/// Owned by one thread and reused: it allocates when it is made and per segment, never per row. Full pages gather in a
/// buffer that is written at once. The segments of a writer may be of different tables. After an error the segment is lost,
/// and the writer with it.
#[derive(Debug)]
pub struct LeafWriter {
    file: Arc<PageFile>,
    max_payload: usize,
    /// Pages side by side: `complete` ones, then the one being filled.
    buffer: AlignedBuffer,
    complete: usize,
    fill: PageFill,
    leaves: Vec<PageRun>,
    /// The cells that stand between the leaves so far.
    dividers: Vec<u8>,
    /// Where the last divider begins.
    last_divider: usize,
    /// For rows that meet the end of a page.
    scratch: Vec<u8>,
}

/// Bytes a cell needs beside its record: a pointer and at most three bytes of length (2^21 is beyond any page).
const CELL_OVERHEAD: usize = 5;
/// Bytes of a record's length in front of it, at most.
const LENGTH_PREFIX: usize = 3;
/// The shortest row: SQLite takes each cell for at least four bytes long.
const MIN_PAYLOAD: usize = 3;

impl LeafWriter {
    /// Bytes of pages written at once.
    const BUFFER: usize = 512 << 10;

    /// A writer that gathers half a megabyte of pages before it writes.
    #[must_use]
    pub fn new(file: Arc<PageFile>) -> Self {
        let pages = NonZeroUsize::new(Self::BUFFER / file.page_size().bytes()).expect("at least eight");
        Self::with_buffer(file, pages)
    }

    /// A writer that gathers `pages` full pages before it writes.
    #[must_use]
    pub fn with_buffer(file: Arc<PageFile>, pages: NonZeroUsize) -> Self {
        let size = file.page_size();
        Self {
            max_payload: size.max_payload(),
            // One more: the last full page is kept back, as the segment's end may take a row from it.
            buffer: AlignedBuffer::new((pages.get() + 1) * size.bytes()),
            complete: 0,
            fill: PageFill::leaf(size),
            leaves: Vec::new(),
            dividers: Vec::new(),
            last_divider: 0,
            scratch: Vec::new(),
            file,
        }
    }

    /// Adds a row, whose key must be greater than that of the row before (which is not checked).
    ///
    /// # Errors
    /// When a buffer of full pages cannot be written, or the row is too long for a page of this size.
    #[inline]
    pub fn push(&mut self, row: &impl Record) -> Result<(), BtreeError> {
        let room = row.room();
        if room <= self.max_payload && self.fill.fits(room + CELL_OVERHEAD) {
            // `current` would borrow all of `self`.
            let size = self.file.page_size().bytes();
            let page = &mut self.buffer[self.complete * size..][..size];
            let space = self.fill.room(page);
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
    /// As [`push`](Self::push); also when the row has less than 3 bytes.
    pub fn push_payload(&mut self, payload: &[u8]) -> Result<(), BtreeError> {
        self.check_length(payload.len())?;
        let mut prefix = [0; LENGTH_PREFIX];
        let mut start = LENGTH_PREFIX;
        write_varint(&mut prefix, &mut start, payload.len() as u64);
        self.push_parts(&prefix[start..], payload)
    }

    /// Adds a row given as a leaf cell of a page of this size.
    pub(super) fn push_cell(&mut self, cell: &[u8]) -> Result<(), BtreeError> {
        self.push_parts(cell, &[])
    }

    /// Adds rows of a [packed](PageView::is_packed) leaf of a page of this size.
    pub(super) fn push_packed(
        &mut self,
        leaf: PageView<'_>,
        mut rows: Range<usize>,
    ) -> Result<(), BtreeError> {
        while !rows.is_empty() {
            let page = self.current();
            rows.start += self.fill.push_packed(&mut self.buffer[page], leaf, rows.clone());
            // The next one stands at the page's end.
            if let Some(index) = rows.next() {
                self.push_cell(leaf.row(index).expect("a packed leaf has its rows whole"))?;
            }
        }
        Ok(())
    }

    /// Ends the segment and writes its last pages. The writer is then ready for the next segment.
    ///
    /// # Errors
    /// When the pages cannot be written.
    pub fn finish_segment(&mut self) -> Result<Segment, BtreeError> {
        if self.complete == 0 && self.leaves.is_empty() {
            let rows = self.fill.cells(&self.buffer[self.current()]).flatten().copied().collect();
            self.fill = PageFill::leaf(self.file.page_size());
            return Ok(Segment { leaves: Vec::new(), rows: Cells { bytes: rows } });
        }
        if self.fill.count() == 1 {
            self.give_last_page_a_second_row();
        }
        // A page without cells: the row before it is a divider and the last row, as it must be.
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

    /// Where the page that is being filled stands in the buffer.
    fn current(&self) -> Range<usize> {
        let size = self.file.page_size().bytes();
        self.complete * size..(self.complete + 1) * size
    }

    #[cold]
    #[inline(never)]
    fn push_at_page_end(&mut self, row: &impl Record) -> Result<(), BtreeError> {
        let mut scratch = mem::take(&mut self.scratch);
        scratch.resize(row.room(), 0);
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

    /// Seals the page that is being filled and begins the next.
    fn complete_page(&mut self, page: Range<usize>) {
        self.fill.seal_leaf(&mut self.buffer[page]);
        self.fill = PageFill::leaf(self.file.page_size());
        self.complete += 1;
    }

    /// Once the buffer is full, writes all pages but the last.
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

    /// Writes the first `pages` complete pages; the buffer is then empty.
    fn write_complete(&mut self, pages: usize) -> Result<(), BtreeError> {
        let bytes = &self.buffer[..pages * self.file.page_size().bytes()];
        self.complete = 0;
        self.file.append_pages(bytes, |run| match self.leaves.last_mut() {
            Some(last) if last.first.0 + last.count == run.first.0 => last.count += run.count,
            _ => self.leaves.push(run),
        })
    }

    /// Moves the last row of the page being filled to the dividers.
    fn add_divider_from_page(&mut self, page: Range<usize>) {
        let cell = self.fill.pop(&self.buffer[page]);
        self.last_divider = self.dividers.len();
        self.dividers.extend_from_slice(cell);
    }

    /// The page has one row, which the next segment needs as its divider: the last divider takes its place, and the
    /// last row of the page before that of the divider.
    fn give_last_page_a_second_row(&mut self) {
        let page = self.current();
        let row = self.fill.pop(&self.buffer[page.clone()]).to_vec();
        let divider = self.dividers.split_off(self.last_divider);
        self.fill.push(&mut self.buffer[page.clone()], [&divider]);
        self.fill.push(&mut self.buffer[page.clone()], [&row]);

        let before = &mut self.buffer[page.start - page.len()..page.start];
        let mut fill = PageFill::of_leaf(before).expect("a page of the buffer is a leaf");
        self.dividers.extend_from_slice(fill.pop(before));
        fill.seal_leaf(before);
    }
}
