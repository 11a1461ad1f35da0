//! Errors of lists of openings.

use std::io;
use std::path::PathBuf;

use crate::board::SanError;

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
#[non_exhaustive]
pub enum LineError {
    /// A line of a TSV file has fewer columns than its header.
    #[error("{found} columns, fewer than the header's {expected}")]
    Columns {
        /// The number of columns.
        found: usize,
        /// The number of columns of the header.
        expected: usize,
    },
    /// There is no ECO code.
    #[error("no ECO code")]
    NoCode,
    /// The ECO code is invalid.
    #[error("\"{0}\" is not an ECO code; write B90 (or B90a, as Scid does)")]
    Code(String),
    /// A game of a PGN file has no opening name.
    #[error("this game has no tag Opening, so this may not be a list of openings")]
    NoOpening,
    /// There is no name.
    #[error("no name")]
    NoName,
    /// A part of a Scid entry is missing: its name, the closing quote, or the `*` at its end.
    #[error("no {0} before the end of the file")]
    Unclosed(&'static str),
    /// Text outside entries.
    #[error("text that belongs to no opening")]
    Outside,
    /// A tag pair is not closed, or its value is not quoted.
    #[error("a tag pair without its closing quote and bracket")]
    UnclosedTag,
    /// A game has a tag `FEN`, although openings must begin at the standard start position.
    #[error("openings must begin at the standard start position; this one has a FEN tag")]
    StartPosition,
    /// A move that cannot be played.
    #[error("{number}{token}: {error} in {fen}")]
    Move {
        /// The move number with its dots.
        number: String,
        /// The move as written.
        token: String,
        /// The reason.
        error: SanError,
        /// The position, as a FEN.
        fen: String,
    },
    /// Text among the moves that is not a move.
    #[error("{0} among the moves")]
    Token(String),
}
