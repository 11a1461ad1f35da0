//! The database file: allocates page numbers, writes pages in place and updates the header.

use std::cmp::Ordering;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering as Memory};

use super::BtreeError;
use super::number::{PageNumber, PageRun, PageSize};
use crate::parallel::lock;
use crate::positioned_io::{read_at, write_at};

/// The alignment, in bytes, of addresses, lengths and offsets for direct writes. No common file system
/// requires more.
const ALIGNMENT: usize = 4096;

/// The database file in which tables are built, shared by all threads.
///
/// Pages are appended; existing pages are overwritten only if their old contents are not needed. While pages
/// are written, no SQLite connection may write to the file.
#[derive(Debug)]
pub struct PageFile {
    file: File,
    /// The same file opened for writes that bypass the page cache; `None` if the system or the file system does
    /// not support this.
    direct: Option<File>,
    path: PathBuf,
    page_size: PageSize,
    pages: Allocator,
}

/// The header of a database file, at the start of page 1 (["The Database
/// Header"](https://www.sqlite.org/fileformat2.html#the_database_header)).
type Header = [u8; 100];

impl PageFile {
    /// Opens the database at `path`. SQLite must already have created the tables and closed the file.
    ///
    /// # Errors
    /// If the file cannot be opened or read, or pages cannot be appended to it.
    pub fn open(path: &Path) -> Result<Self, BtreeError> {
        let file = Self::open_longer(path)?;
        if file.real_length()? == file.length() {
            return Ok(file);
        }
        let reason = "its length does not match the page count in its header";
        Err(BtreeError::Unsuitable { path: path.to_owned(), reason })
    }

    /// Whether pages can be appended to a database that begins with the bytes `header`.
    #[must_use]
    pub fn is_supported(header: &[u8]) -> bool {
        header.first_chunk().is_some_and(|header| examine_header(header).is_ok())
    }

    /// Like [`open`](Self::open), but does not check the length of the file, which can have bytes after its last
    /// page.
    ///
    /// # Errors
    /// If the file cannot be opened or read, or pages cannot be appended to it.
    pub fn open_longer(path: &Path) -> Result<Self, BtreeError> {
        let io_error = |action, source| BtreeError::Io { action, path: path.to_owned(), source };
        let unsuitable = |reason| BtreeError::Unsuitable { path: path.to_owned(), reason };
        let file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| io_error("open", error))?;
        let mut header: Header = [0; 100];
        read_at(&file, &mut header, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => unsuitable("it is not an SQLite database"),
            _ => io_error("read the header of", error),
        })?;
        let (page_size, page_count) = examine_header(&header).map_err(unsuitable)?;
        let pages = Allocator::new(page_size.lock_page(), page_count);
        let direct = open_direct(path);
        Ok(Self { file, direct, path: path.to_owned(), page_size, pages })
    }

    /// Makes pages available for reuse. Their contents must no longer be needed. These pages are allocated
    /// before new pages at the end of the file.
    pub fn reuse(&self, pages: impl IntoIterator<Item = PageRun>) {
        lock(&self.pages.free).extend(pages);
    }

    /// Reserves `count` pages: first pages for [reuse](Self::reuse), then pages at the end of the file. From
    /// then on, [`allocate`](Self::allocate) returns only reserved pages and pages for reuse, because SQLite
    /// can append its own pages to the database. Also adds one page at the end of the file, which is neither
    /// reserved nor written, and returns its number.
    ///
    /// # Errors
    /// If no page numbers are left.
    pub fn reserve(&self, count: u32) -> Result<PageNumber, BtreeError> {
        self.pages.reserve(count)
    }

    /// Removes and returns all pages that can still be allocated: pages for [reuse](Self::reuse) and
    /// [reserved](Self::reserve) pages.
    #[must_use]
    pub fn unused(&self) -> Vec<PageRun> {
        std::mem::take(&mut lock(&self.pages.free))
    }

    /// Truncates the file to `count` pages.
    ///
    /// # Errors
    /// If the file cannot be truncated, or has fewer than `count` pages.
    pub fn truncate(&self, count: u32) -> Result<(), BtreeError> {
        let length = self.real_length()?;
        let wanted = u64::from(count) * self.page_size.bytes() as u64;
        match length.cmp(&wanted) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => self.file.set_len(wanted).map_err(|error| self.io_error("truncate", error)),
            Ordering::Less => {
                let reason = "it is shorter than its header says";
                Err(BtreeError::Unsuitable { path: self.path.clone(), reason })
            }
        }
    }

    /// Extends the file if it is shorter than the total length of its pages, including allocated pages that
    /// are not written yet.
    ///
    /// # Errors
    /// If the file cannot be extended.
    pub fn extend_file(&self) -> Result<(), BtreeError> {
        if self.real_length()? < self.length() {
            self.file.set_len(self.length()).map_err(|error| self.io_error("extend", error))?;
        }
        Ok(())
    }

    /// Waits until all written pages are on disk.
    ///
    /// # Errors
    /// If the system cannot write them.
    pub fn sync(&self) -> Result<(), BtreeError> {
        self.file.sync_data().map_err(|error| self.io_error("sync", error))
    }

    /// The current length of the file, in bytes.
    fn real_length(&self) -> Result<u64, BtreeError> {
        Ok(self.file.metadata().map_err(|error| self.io_error("read the size of", error))?.len())
    }

    /// The total length of all pages, in bytes, including allocated pages that are not written yet.
    fn length(&self) -> u64 {
        u64::from(self.page_count()) * self.page_size.bytes() as u64
    }

    /// The size of the database's pages.
    #[must_use]
    pub const fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// The number of pages, including the pages appended since the file was opened.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        self.pages.count()
    }

    /// Allocates adjacent pages: first pages for [reuse](Self::reuse), then pages at the end of the file.
    /// Returns `wanted` pages, or fewer (at least one) if the next run of available pages is shorter.
    ///
    /// Each allocated page must be written, and must become part of a table or be passed to
    /// [`reuse`](Self::reuse).
    ///
    /// # Errors
    /// If no page numbers are left; after a call of [`reserve`](Self::reserve), if no reserved pages and no
    /// pages for reuse are left.
    ///
    /// # Panics
    /// If `wanted` is 0.
    pub fn allocate(&self, wanted: u32) -> Result<PageRun, BtreeError> {
        self.pages.allocate(wanted)
    }

    /// Writes whole, adjacent pages, starting at page `first`.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If `first` is 0.
    pub fn write_pages(&self, first: PageNumber, pages: &[u8]) -> Result<(), BtreeError> {
        debug_assert_eq!(pages.len() % self.page_size.bytes(), 0);
        let offset = self.offset(first);
        let failed = |error| self.io_error("write pages of", error);
        if let Some(direct) = self.direct.as_ref().filter(|_| is_direct_write(pages, offset)) {
            match write_at(direct, pages, offset) {
                // The file system requires another alignment, or it wrote only a part of the pages and the
                // rest is not aligned. The write below is not direct, so it has no such limit.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                result => return result.map_err(failed),
            }
        }
        write_at(&self.file, pages, offset).map_err(failed)
    }

    /// Allocates pages, writes whole pages to them, and adds the allocated pages to `runs`.
    pub(super) fn append_pages(&self, mut pages: &[u8], runs: &mut Vec<PageRun>) -> Result<(), BtreeError> {
        let size = self.page_size.bytes();
        while !pages.is_empty() {
            let wanted = u32::try_from(pages.len() / size).unwrap_or(u32::MAX);
            let run = self.allocate(wanted)?;
            let (now, later) = pages.split_at(run.count as usize * size);
            self.write_pages(run.first, now)?;
            match runs.last_mut() {
                Some(last) if last.first.0 + last.count == run.first.0 => last.count += run.count,
                _ => runs.push(run),
            }
            pages = later;
        }
        Ok(())
    }

    /// Allocates a page, writes one page to it, and returns its number.
    pub(super) fn append_page(&self, page: &[u8]) -> Result<PageNumber, BtreeError> {
        let run = self.allocate(1)?;
        self.write_pages(run.first, page)?;
        Ok(run.first)
    }

    /// Reads page `number` into `page`, and as many of the following pages as fit.
    ///
    /// # Errors
    /// If the file cannot be read, or does not contain all of these pages.
    ///
    /// # Panics
    /// If `number` is 0.
    pub fn read_page(&self, number: PageNumber, page: &mut [u8]) -> Result<(), BtreeError> {
        debug_assert_eq!(page.len() % self.page_size.bytes(), 0);
        read_at(&self.file, page, self.offset(number)).map_err(|error| self.io_error("read a page of", error))
    }

    /// Fails if `root` cannot be the root page of a table, or if `is_empty` returns false for its contents.
    pub(super) fn check_root(
        &self,
        root: PageNumber,
        is_empty: impl FnOnce(&[u8]) -> bool,
    ) -> Result<(), BtreeError> {
        let mut page = vec![0; self.page_size.bytes()];
        if root.0 < 2 || root.0 > self.page_count() {
            return Err(BtreeError::Root { root });
        }
        self.read_page(root, &mut page)?;
        if is_empty(&page) { Ok(()) } else { Err(BtreeError::Root { root }) }
    }

    /// Writes the new page count into the database's header. The file is then a valid database again. It is
    /// not synced.
    ///
    /// # Errors
    /// If the header cannot be read or written, or the length of the file does not match the page count.
    pub fn finish(&self) -> Result<(), BtreeError> {
        if self.real_length()? != self.length() {
            let reason = "its length does not match its page count";
            return Err(BtreeError::Unsuitable { path: self.path.clone(), reason });
        }
        let mut header: Header = [0; 100];
        read_at(&self.file, &mut header, 0).map_err(|error| self.io_error("read the header of", error))?;
        header[28..32].copy_from_slice(&self.page_count().to_be_bytes());
        // SQLite ignores the page count unless the number "version valid for" equals the change counter.
        header.copy_within(24..28, 92);
        write_at(&self.file, &header, 0).map_err(|error| self.io_error("write the header of", error))
    }

    fn offset(&self, page: PageNumber) -> u64 {
        u64::from(page.0.checked_sub(1).expect("pages are numbered from 1")) * self.page_size.bytes() as u64
    }

    fn io_error(&self, action: &'static str, source: io::Error) -> BtreeError {
        BtreeError::Io { action, path: self.path.clone(), source }
    }
}

/// Opens a file for writes that bypass the page cache. A build writes gigabytes that it does not read again.
/// Without the page cache, writing takes only a quarter of the CPU time and does not evict other cached data.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path) -> Option<File> {
    None
}

/// Whether a write is aligned as a direct write requires, and so large that a direct write is faster.
fn is_direct_write(bytes: &[u8], offset: u64) -> bool {
    const WORTH: usize = 64 << 10;
    bytes.len() >= WORTH
        && bytes.len().is_multiple_of(ALIGNMENT)
        && offset.is_multiple_of(ALIGNMENT as u64)
        && bytes.as_ptr().align_offset(ALIGNMENT) == 0
}

/// The page size and the page count of a database file, or the reason why tables cannot be built in it.
fn examine_header(header: &Header) -> Result<(PageSize, u32), &'static str> {
    let word = |at: usize| u32::from_be_bytes(*header[at..].first_chunk().expect("inside the header"));
    if header[..16] != *b"SQLite format 3\0" {
        return Err("it is not an SQLite database");
    }
    let page_size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => PageSize::new(65536),
        bytes => PageSize::new(u32::from(bytes)),
    };
    let Some(page_size) = page_size else { return Err("its page size is damaged") };
    let reasons = [
        (word(24) != word(92), "the page count in its header is invalid"),
        (header[20] != 0, "its pages have reserved bytes"),
        (word(44) != 4, "its schema format is not 4"),
        (word(56) != 1, "its text is not UTF-8"),
        (word(52) != 0, "it has pointer-map pages (auto_vacuum)"),
    ];
    match reasons.into_iter().find(|(is_unsuitable, _)| *is_unsuitable) {
        Some((_, reason)) => Err(reason),
        None => Ok((page_size, word(28))),
    }
}

/// Bytes that are aligned to [`ALIGNMENT`] and initially zero.
#[derive(Debug)]
pub(super) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub(super) fn new(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, start, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// Allocates the pages in `free`, and then pages after the last page of the file. The pages after the last
/// page are allocated in ascending order, without the lock-byte page.
#[derive(Debug)]
struct Allocator {
    lock_page: u32,
    count: AtomicU32,
    /// Pages to allocate first, starting with the last run.
    free: Mutex<Vec<PageRun>>,
    /// Whether [`allocate`](Self::allocate) returns only pages in `free`.
    is_closed: AtomicBool,
}

impl Allocator {
    /// The maximum number of pages of a database (["Limits"](https://www.sqlite.org/limits.html), 2^32 - 2).
    const MAX: u32 = u32::MAX - 1;

    const fn new(lock_page: PageNumber, count: u32) -> Self {
        Self {
            lock_page: lock_page.0,
            count: AtomicU32::new(count),
            free: Mutex::new(Vec::new()),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Removes up to `wanted` pages from the last run in `free` and returns them; `None` if there is no run.
    fn take_free(&self, wanted: u32) -> Option<PageRun> {
        let mut free = lock(&self.free);
        let run = free.last_mut()?;
        if run.count <= wanted {
            return free.pop();
        }
        let taken = PageRun { first: run.first, count: wanted };
        *run = PageRun { first: PageNumber(run.first.0 + wanted), count: run.count - wanted };
        Some(taken)
    }

    fn count(&self) -> u32 {
        self.count.load(Memory::Acquire)
    }

    fn reserve(&self, count: u32) -> Result<PageNumber, BtreeError> {
        let mut free = lock(&self.free);
        let mut missing = count.saturating_sub(free.iter().map(|run| run.count).sum());
        while missing > 0 {
            let run = self.append(missing)?;
            free.insert(0, run);
            missing -= run.count;
        }
        self.is_closed.store(true, Memory::Release);
        Ok(self.append(1)?.first)
    }

    fn allocate(&self, wanted: u32) -> Result<PageRun, BtreeError> {
        assert!(wanted > 0, "at least one page wanted");
        match self.take_free(wanted) {
            Some(run) => Ok(run),
            None if self.is_closed.load(Memory::Acquire) => Err(BtreeError::Room),
            None => self.append(wanted),
        }
    }

    fn append(&self, wanted: u32) -> Result<PageRun, BtreeError> {
        let mut count = self.count();
        loop {
            let run = self.after(count, wanted).ok_or(BtreeError::Full { max: Self::MAX })?;
            let new = run.first.0 + run.count - 1;
            match self.count.compare_exchange_weak(count, new, Memory::AcqRel, Memory::Acquire) {
                Ok(_) => return Ok(run),
                Err(now) => count = now,
            }
        }
    }

    /// A run of at most `wanted` pages after the first `count` pages; `None` if no page numbers are left.
    fn after(&self, count: u32, wanted: u32) -> Option<PageRun> {
        let first = if count + 1 == self.lock_page { count + 2 } else { count + 1 };
        let end = if first < self.lock_page { self.lock_page } else { Self::MAX + 1 };
        (first < end).then(|| PageRun { first: PageNumber(first), count: wanted.min(end - first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32, count: u32) -> PageRun {
        PageRun { first: PageNumber(first), count }
    }

    #[test]
    fn sizes() {
        for bytes in [512, 1024, 4096, 65536] {
            assert_eq!(PageSize::new(bytes).unwrap().bytes(), bytes as usize);
        }
        for bytes in [0, 1, 256, 1000, 131_072] {
            assert_eq!(PageSize::new(bytes), None);
        }
        assert_eq!(PageSize::new(512).unwrap().max_payload(), 102);
        assert_eq!(PageSize::new(4096).unwrap().max_payload(), 1002);
        assert_eq!(PageSize::new(512).unwrap().lock_page(), PageNumber(2_097_153));
        assert_eq!(PageSize::new(65536).unwrap().lock_page(), PageNumber(16_385));
    }

    #[test]
    fn lock_page_is_skipped() {
        let lock = PageSize::new(65536).unwrap().lock_page();
        let pages = Allocator::new(lock, lock.0 - 6);
        assert_eq!(pages.allocate(2).unwrap(), run(lock.0 - 5, 2));
        assert_eq!(pages.allocate(64).unwrap(), run(lock.0 - 3, 3));
        assert_eq!(pages.count(), lock.0 - 1);
        assert_eq!(pages.allocate(64).unwrap(), run(lock.0 + 1, 64));
        assert_eq!(pages.allocate(1).unwrap(), run(lock.0 + 65, 1));
        assert_eq!(pages.count(), lock.0 + 65);
    }

    #[test]
    fn page_numbers_can_run_out() {
        let pages = Allocator::new(PageNumber(16_385), u32::MAX - 4);
        assert_eq!(pages.allocate(64).unwrap(), run(u32::MAX - 3, 3));
        assert_eq!(pages.count(), Allocator::MAX);
        assert!(matches!(pages.allocate(1), Err(BtreeError::Full { .. })));
    }

    #[test]
    fn reserved_pages_are_all_that_are_left() {
        let pages = Allocator::new(PageNumber(110), 100);
        lock(&pages.free).extend([run(20, 3), run(7, 2)]);
        // Page 110, the lock-byte page of this allocator, is not reserved.
        assert_eq!(pages.reserve(25).unwrap(), PageNumber(122));
        assert_eq!(pages.count(), 122);
        let taken: Vec<PageRun> = std::iter::from_fn(|| pages.allocate(8).ok()).collect();
        assert_eq!(taken, [run(7, 2), run(20, 3), run(101, 8), run(109, 1), run(111, 8), run(119, 3)]);
        assert!(matches!(pages.allocate(1), Err(BtreeError::Room)));
        let enough = Allocator::new(PageNumber(110), 100);
        lock(&enough.free).extend([run(20, 8)]);
        assert_eq!(enough.reserve(7).unwrap(), PageNumber(101));
        assert_eq!(enough.allocate(9).unwrap(), run(20, 8));
        assert!(enough.allocate(1).is_err());
    }

    #[test]
    fn threads_get_different_pages() {
        let pages = Allocator::new(PageNumber(5_000), 2);
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let worker = |_| scope.spawn(|| (0..1_000).map(|i| pages.allocate(1 + i % 7).unwrap()).collect());
            let workers: Vec<std::thread::ScopedJoinHandle<'_, Vec<PageRun>>> = (0..4).map(worker).collect();
            let runs = workers.into_iter().flat_map(|worker| worker.join().unwrap());
            runs.flat_map(PageRun::pages).map(|page| page.0).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (3..=pages.count()).filter(|&page| page != 5_000).collect::<Vec<_>>());
    }
}
