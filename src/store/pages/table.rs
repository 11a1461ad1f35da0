//! Builds the B-tree of a table with rowids.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use super::buffer::AlignedBuffer;
use super::page::{CHILD, INTERIOR_HEADER, POINTER, PageBuilder, is_empty_table};
use super::row_record::push_varint;
use super::{BtreeError, PageFile, PageNumber, PageRun};

/// Builds the B-tree of a table with rowids, row by row.
///
/// After an error the table cannot be used. The pages go through the page cache, because the rows of such a
/// table are soon looked up.
#[derive(Debug)]
pub struct TableWriter {
    file: Arc<PageFile>,
    /// Adjacent pages: first the complete pages (`complete` is their number), then the current page.
    buffer: AlignedBuffer,
    complete: usize,
    fill: PageBuilder,
    /// The leaves written so far.
    leaves: Vec<PageRun>,
    /// The last rowid of each complete leaf, including those written.
    last_rowids: Vec<u32>,
    last_rowid: u32,
    /// A buffer for the bytes before a row on its leaf: the row's length and its rowid.
    prefix: Vec<u8>,
}

/// A page of a level, and the greatest rowid on it or on the pages below it.
type Child = (PageNumber, u32);

impl TableWriter {
    /// The number of pages written together. With pages of up to 8 KiB, these are too few to bypass the page
    /// cache.
    const PAGES: usize = 7;
    /// Bytes of the longest cell of an interior page, with its pointer: a 32-bit rowid takes at most five
    /// bytes.
    const LONGEST_INTERIOR: usize = CHILD + 5 + POINTER;

    /// A writer of one table.
    #[must_use]
    pub fn new(file: Arc<PageFile>) -> Self {
        let size = file.page_size();
        Self {
            buffer: AlignedBuffer::new(Self::PAGES * size.bytes()),
            complete: 0,
            fill: PageBuilder::leaf(size),
            leaves: Vec::new(),
            last_rowids: Vec::new(),
            last_rowid: 0,
            prefix: Vec::new(),
            file,
        }
    }

    /// Adds a row, given as an encoded record. Its rowid must be greater than that of the row before (this is
    /// not checked).
    ///
    /// # Errors
    /// If pages cannot be written.
    pub fn push(&mut self, rowid: u32, record: &[u8]) -> Result<(), BtreeError> {
        let mut prefix = mem::take(&mut self.prefix);
        prefix.clear();
        push_varint(&mut prefix, record.len() as u64);
        push_varint(&mut prefix, rowid.into());
        let on_leaf = self.file.page_size().table_payload_on_leaf(record.len());
        let overflow = if on_leaf < record.len() {
            Some(self.write_overflow(&record[on_leaf..])?.0.to_be_bytes())
        } else {
            None
        };
        let overflow = overflow.as_ref().map_or(&[][..], |number| &number[..]);
        if !self.fill.fits(prefix.len() + on_leaf + overflow.len()) {
            self.complete_page()?;
        }
        let page = self.current();
        self.fill.push(&mut self.buffer[page], [&prefix, &record[..on_leaf], overflow]);
        self.prefix = prefix;
        self.last_rowid = rowid;
        Ok(())
    }

    /// Completes the tree. `root` is the root page of an empty table with rowids, from `sqlite_schema`.
    ///
    /// # Errors
    /// If `root` is not the root page of an empty table with rowids, or pages cannot be read or written.
    pub fn finish(mut self, root: PageNumber) -> Result<(), BtreeError> {
        let mut page = vec![0; self.file.page_size().bytes()];
        if root.0 < 2 || root.0 > self.file.page_count() {
            return Err(BtreeError::Root { root });
        }
        self.file.read_page(root, &mut page)?;
        if !is_empty_table(&page) {
            return Err(BtreeError::Root { root });
        }
        let current = self.current();
        if self.last_rowids.is_empty() {
            self.fill.seal_table_leaf(&mut self.buffer[current.clone()]);
            return self.file.write_pages(root, &self.buffer[current]);
        }
        // The current page has a row, because it was started for one.
        self.complete_page()?;
        self.write_complete()?;
        let leaves = self.leaves.iter().flat_map(|run| run.pages()).zip(self.last_rowids).collect();
        let page = write_interior(&self.file, leaves)?;
        self.file.write_pages(root, &page)
    }

    /// The place of the current page in the buffer.
    fn current(&self) -> Range<usize> {
        let size = self.file.page_size().bytes();
        self.complete * size..(self.complete + 1) * size
    }

    /// Completes the current page and starts the next.
    fn complete_page(&mut self) -> Result<(), BtreeError> {
        let page = self.current();
        self.fill.seal_table_leaf(&mut self.buffer[page]);
        self.fill = PageBuilder::leaf(self.file.page_size());
        self.last_rowids.push(self.last_rowid);
        self.complete += 1;
        if self.complete == Self::PAGES { self.write_complete() } else { Ok(()) }
    }

    fn write_complete(&mut self) -> Result<(), BtreeError> {
        let bytes = &self.buffer[..self.complete * self.file.page_size().bytes()];
        self.complete = 0;
        self.file.append_pages(bytes, |run| match self.leaves.last_mut() {
            Some(last) if last.first.0 + last.count == run.first.0 => last.count += run.count,
            _ => self.leaves.push(run),
        })
    }

    /// Writes the end of a row to overflow pages and returns the first of them.
    fn write_overflow(&self, bytes: &[u8]) -> Result<PageNumber, BtreeError> {
        let size = self.file.page_size();
        let mut page = vec![0; size.bytes()];
        let mut next = PageNumber(0);
        // Writes from the last page to the first, because each page contains the number of the next.
        for part in bytes.chunks(size.overflow_bytes()).rev() {
            page.fill(0);
            page[..CHILD].copy_from_slice(&next.0.to_be_bytes());
            page[CHILD..CHILD + part.len()].copy_from_slice(part);
            next = self.file.append_page(&page)?;
        }
        Ok(next)
    }
}

/// Writes the levels above `level`, which must have at least one page. Returns the contents of the topmost
/// page, which is not written.
fn write_interior(file: &PageFile, mut level: Vec<Child>) -> Result<Vec<u8>, BtreeError> {
    let size = file.page_size();
    // The last child has no cell.
    let most = (size.bytes() - INTERIOR_HEADER) / TableWriter::LONGEST_INTERIOR + 1;
    loop {
        let pages = level.len().div_ceil(most);
        let mut above = Vec::with_capacity(pages);
        let mut bytes = vec![0; size.bytes()];
        for number in 0..pages {
            // Distributes the children evenly, so that no page has only one child.
            let children = &level[level.len() * number / pages..level.len() * (number + 1) / pages];
            let (&(right, last_rowid), others) = children.split_last().expect("fewer pages than children");
            let mut fill = PageBuilder::interior(size);
            let mut cell = Vec::new();
            for &(child, rowid) in others {
                cell.clear();
                cell.extend_from_slice(&child.0.to_be_bytes());
                push_varint(&mut cell, rowid.into());
                fill.push(&mut bytes, [&cell]);
            }
            fill.seal_table_interior(&mut bytes, right);
            if pages == 1 {
                return Ok(bytes);
            }
            above.push((file.append_page(&bytes)?, last_rowid));
        }
        level = above;
    }
}
