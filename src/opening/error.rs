//! Errors of lists of openings.

use std::io;
use std::path::PathBuf;

/// The result of reading a list of openings.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a list of openings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file or directory cannot be read.
    #[error("{}: cannot be read; check the path and the permissions", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A directory without lists of openings.
    #[error("{}: no list of openings in this directory; files must end in .tsv, .eco or .pgn", path.display())]
    NoFile {
        /// The directory.
        path: PathBuf,
    },
    /// A file too large to be a list of openings.
    #[error("{}: more than {} MiB, too much for a list of openings; is this the right file?", path.display(), most >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The maximum size, in bytes.
        most: u64,
    },
    /// A file in none of the formats.
    #[error(
        "{}: not a list of openings. Give a TSV file with the columns eco, name and pgn, an .eco file of Scid, or a PGN file \
         with the tags ECO and Opening",
        path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// A file without openings.
    #[error("{}: no opening in this file", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// An invalid opening.
    #[error("{}:{line}: {source}; correct it, or leave this opening out", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The error.
        #[source]
        source: LineError,
    },
}

/// Why an opening is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LineError(pub(super) String);

impl From<&str> for LineError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}
