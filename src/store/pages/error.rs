//! What can go wrong while B-trees are built.

use std::io;
use std::path::PathBuf;

use super::number::PageNumber;

/// Why a B-tree could not be built. The file is then no valid database and must be thrown away.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtreeError {
    /// The operating system refused to open, read or write.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// The file is not one that rows can be built into.
    #[error("cannot build tables in {}: {reason}", path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// The root page is not that of an empty table or index.
    #[error("page {root} is not the root of an empty table or index of the right kind")]
    Root {
        /// The page.
        root: PageNumber,
    },

    /// A row cannot stand on a page of this size without an overflow page.
    #[error(
        "a row of {length} bytes: rows must have 3 to {max} bytes; a larger page size allows longer rows"
    )]
    RowLength {
        /// The row's length in bytes.
        length: usize,
        /// The most a row may have on a page of this size.
        max: usize,
    },

    /// A page does not read as it was written.
    #[error("page {page} of the database is damaged; `pgndex verify` tells more")]
    Damaged {
        /// The page.
        page: PageNumber,
    },

    /// More pages are wanted than were set apart: a fault of the program.
    #[error(
        "a table needs more pages than were reserved for it; nothing was changed; this is a bug in pgndex, please report it"
    )]
    Room,

    /// No page numbers are left.
    #[error("the database would have more than {max} pages; a larger page size allows a larger database")]
    Full {
        /// The most pages a database may have.
        max: u32,
    },
}
