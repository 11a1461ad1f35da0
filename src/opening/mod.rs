//! Opening names: reads lists of named positions from files, and looks up the name of a position.
//!
//! An opening is a position, not a sequence of moves, so transpositions are recognized. An [`OpeningBook`] is
//! read from a file or a directory of files in any of these formats, which are detected by content:
//!
//! | format | each opening is |
//! |---|---|
//! | TSV with the columns `eco`, `name` and `pgn`, such as Lichess's `chess-openings` | a row |
//! | Scid's `.eco` | code, name in double quotes, moves up to `*`; `#` begins a comment line |
//! | PGN, such as the `eco.pgn` of `pgn-extract` | a game with the tags `ECO`, `Opening`, and perhaps `Variation`, `SubVariation` |
//!
//! ```
//! use pgndex::board::Position;
//! use pgndex::opening::OpeningBook;
//!
//! let mut position = Position::start();
//! for san in ["Nf3", "d5", "d4", "Nf6", "c4", "e6", "Nc3"] {
//!     position.play_san(san.as_bytes())?;
//! }
//! let book = OpeningBook::built_in();
//! let opening = book.get(&position).expect("a well-known position");
//! assert_eq!(opening.to_string(), "D37 Queen's Gambit Declined: Three Knights Variation");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod book;
mod read;

pub use book::{NamedPosition, Opening, OpeningBook};

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
    /// A file in none of the supported formats.
    #[error(
        "{}: not a list of openings. Give a TSV file (columns eco, name, pgn), a Scid .eco file, or a PGN file with ECO \
         and Opening tags",
        path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// A file without openings.
    #[error("{}: no opening in this file; add openings to it, or choose another file", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// An invalid opening.
    #[error("{}:{line}: {reason}; correct or remove this entry, or choose another file", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: u64,
        /// Why the opening is invalid.
        reason: String,
    },
}
