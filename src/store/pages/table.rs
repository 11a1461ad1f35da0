//! Builds the B-tree of a table with rowids.

use std::mem;
use std::sync::Arc;

use super::leaf_writer::PageBuffer;
use super::page::{CHILD, INTERIOR_HEADER, POINTER, PageBuilder, TABLE_INTERIOR, TABLE_LEAF, is_empty_table};
use super::record::push_varint;
use super::{BtreeError, PageFile, PageNumber};

/// Builds the B-tree of a table with rowids, row by row.
///
/// After an error, the table cannot be used. If the page size is at most 8 KiB, the pages are written through
/// the page cache of the operating system. This is useful, because their rows are soon read again.
#[derive(Debug)]
pub struct TableWriter {
    pages: PageBuffer,
    /// The last rowid of each complete leaf, including leaves that are already written.
    last_rowids: Vec<u32>,
    last_rowid: u32,
    /// A buffer for the bytes that precede a row on its leaf: the length of the row and its rowid.
    prefix: Vec<u8>,
}

/// A page, and the greatest rowid on this page and the pages below it.
type Child = (PageNumber, u32);

impl TableWriter {
    /// The number of pages written together. If a page has at most 8 KiB, such a write is too small to bypass
    /// the page cache.
    const PAGES: usize = 7;
    /// The length, in bytes, of the longest cell of an interior page and its cell pointer. A 32-bit rowid
    /// takes at most five bytes.
    const LONGEST_INTERIOR: usize = CHILD + 5 + POINTER;

    /// A writer of one table.
    #[must_use]
    pub fn new(file: Arc<PageFile>) -> Self {
        Self {
            pages: PageBuffer::new(file, Self::PAGES),
            last_rowids: Vec::new(),
            last_rowid: 0,
            prefix: Vec::new(),
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
        let on_leaf = self.pages.file.page_size().table_payload_on_leaf(record.len());
        let overflow = match &record[on_leaf..] {
            [] => Vec::new(),
            rest => self.write_overflow(rest)?.0.to_be_bytes().to_vec(),
        };
        if !self.pages.fill.fits(prefix.len() + on_leaf + overflow.len()) {
            self.complete_page()?;
        }
        let page = self.pages.current();
        self.pages.fill.push(&mut self.pages.bytes[page], [&prefix, &record[..on_leaf], &overflow]);
        self.prefix = prefix;
        self.last_rowid = rowid;
        Ok(())
    }

    /// Completes the tree. `root` is the root page of an empty table with rowids, as stored in
    /// `sqlite_schema`.
    ///
    /// # Errors
    /// If `root` is not the root page of an empty table with rowids, or pages cannot be read or written.
    pub fn finish(mut self, root: PageNumber) -> Result<(), BtreeError> {
        self.pages.file.check_root(root, is_empty_table)?;
        let current = self.pages.current();
        if self.last_rowids.is_empty() {
            self.pages.fill.seal(&mut self.pages.bytes[current.clone()], TABLE_LEAF);
            return self.pages.file.write_pages(root, &self.pages.bytes[current]);
        }
        // The current page has at least one row, because a page is started only when a row needs it.
        self.complete_page()?;
        self.pages.write(self.pages.complete)?;
        let leaves = self.pages.runs.iter().flat_map(|run| run.pages()).zip(self.last_rowids).collect();
        let page = write_interior(&self.pages.file, leaves)?;
        self.pages.file.write_pages(root, &page)
    }

    /// Completes the current page and starts the next.
    fn complete_page(&mut self) -> Result<(), BtreeError> {
        self.pages.seal(TABLE_LEAF);
        self.last_rowids.push(self.last_rowid);
        if self.pages.complete == Self::PAGES { self.pages.write(Self::PAGES) } else { Ok(()) }
    }

    /// Writes the end of a row to overflow pages, and returns the number of the first of them.
    fn write_overflow(&self, bytes: &[u8]) -> Result<PageNumber, BtreeError> {
        let size = self.pages.file.page_size();
        let mut page = vec![0; size.bytes()];
        let mut next = PageNumber(0);
        // Writes from the last page to the first, because each page contains the number of the next.
        for part in bytes.chunks(size.overflow_bytes()).rev() {
            page.fill(0);
            page[..CHILD].copy_from_slice(&next.0.to_be_bytes());
            page[CHILD..CHILD + part.len()].copy_from_slice(part);
            next = self.pages.file.append_page(&page)?;
        }
        Ok(next)
    }
}

/// Writes the pages above the pages in `level`, which must not be empty. Returns the contents of the topmost
/// page, which is not written.
fn write_interior(file: &PageFile, mut level: Vec<Child>) -> Result<Vec<u8>, BtreeError> {
    let size = file.page_size();
    // The maximum number of children of a page. The last child has no cell.
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
            fill.seal_interior(&mut bytes, TABLE_INTERIOR, right);
            if pages == 1 {
                return Ok(bytes);
            }
            above.push((file.append_page(&bytes)?, last_rowid));
        }
        level = above;
    }
}
