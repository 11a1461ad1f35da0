//! Errors in reading and building B-trees.

use std::io;
use std::path::{Path, PathBuf};

use super::number::PageNumber;

/// Why a B-tree could not be read or built. If a new database was being built, its file is not a valid
/// database and must be discarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtreeError {
    /// A file could not be opened, read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// Tables cannot be built in this file.
    #[error("cannot build tables in {}: {reason}", path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },

    /// The page is not the root page of an empty table or index of the expected kind.
    #[error(
        "page {root} cannot be filled: it is not the root of an empty table or index of the expected kind"
    )]
    Root {
        /// The page.
        root: PageNumber,
    },

    /// A row is too short, or so long that it needs an overflow page.
    #[error(
        "a row of {length} bytes: rows must have 3 to {max} bytes; a larger page size allows longer rows"
    )]
    RowLength {
        /// The row's length in bytes.
        length: usize,
        /// The maximum length of a row on a page of this size, in bytes.
        max: usize,
    },

    /// The contents of a page are not valid.
    #[error("page {page} of the database is damaged; `pgndex verify` shows more")]
    Damaged {
        /// The page.
        page: PageNumber,
    },

    /// More pages are needed than were reserved: a bug in the program.
    #[error(
        "a table needs more pages than were reserved for it; nothing was changed; this is a bug in pgndex, please report it"
    )]
    Room,

    /// No page numbers are left.
    #[error(
        "the database would have more than {max} pages, the maximum for its page size; index the files into several databases"
    )]
    Full {
        /// The maximum number of pages of a database.
        max: u32,
    },
}

impl BtreeError {
    /// The file that the error is about; `None` for errors without a path.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } | Self::Unsuitable { path, .. } => Some(path),
            _ => None,
        }
    }
}
