//! Numbers and sizes of pages.

use std::fmt;

/// The number of a page in the database file. The first page has number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageNumber(pub u32);

impl fmt::Display for PageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Pages that are adjacent in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRun {
    /// The first page.
    pub first: PageNumber,
    /// The number of pages.
    pub count: u32,
}

impl PageRun {
    /// The pages in ascending order.
    pub fn pages(self) -> impl Iterator<Item = PageNumber> {
        (self.first.0..self.first.0 + self.count).map(PageNumber)
    }
}

/// The size of each page of a database, in bytes: a power of two from 512 to 65536.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageSize(u32);

impl PageSize {
    /// A page size of `bytes` bytes; `None` if SQLite does not support this size.
    #[must_use]
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes.is_power_of_two() && bytes >= 512 && bytes <= 65536 { Some(Self(bytes)) } else { None }
    }

    /// The size in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// In an index, the maximum length in bytes of a row that needs no overflow page (["B-tree
    /// Pages"](https://www.sqlite.org/fileformat2.html#b_tree_pages)). At least three such rows fit on a
    /// page, whether it is a leaf or an interior page.
    #[must_use]
    pub const fn max_payload(self) -> usize {
        (self.bytes() - 12) * 64 / 255 - 23
    }

    /// In a table with rowids, the maximum length in bytes of a row that needs no overflow page (["Cell
    /// Payload Overflow Pages"](https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages)).
    #[must_use]
    pub const fn max_table_payload(self) -> usize {
        self.bytes() - 35
    }

    /// In a table with rowids, the number of bytes of a row that are stored on its leaf. `length` is the
    /// row's total length in bytes. The other bytes are stored on overflow pages.
    pub(super) const fn table_payload_on_leaf(self, length: usize) -> usize {
        if length <= self.max_table_payload() {
            return length;
        }
        let least = (self.bytes() - 12) * 32 / 255 - 23;
        let with_full_pages = least + (length - least) % self.overflow_bytes();
        if with_full_pages <= self.max_table_payload() { with_full_pages } else { least }
    }

    /// The number of bytes of a row that fit on an overflow page. The first four bytes of the page are the
    /// number of the next overflow page.
    pub(super) const fn overflow_bytes(self) -> usize {
        self.bytes() - 4
    }

    /// The page that contains the byte at offset 2^30. SQLite locks this byte and stores nothing on this page
    /// (["The Lock-Byte Page"](https://www.sqlite.org/fileformat2.html#the_lock_byte_page)).
    #[must_use]
    pub const fn lock_page(self) -> PageNumber {
        PageNumber((1 << 30) / self.0 + 1)
    }
}
