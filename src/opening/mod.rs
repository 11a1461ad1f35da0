//! Opening names: reads lists of named positions from files, and looks up the name of a position.
//!
//! An opening is a position, not a sequence of moves, so transpositions are recognized. An [`OpeningBook`] is
//! read from a file or a directory of files in any of these formats, which are detected by content:
//!
//! | format | each opening is |
//! |---|---|
//! | TSV with the columns `eco`, `name` and `pgn`, such as Lichess's `chess-openings` | a line |
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
mod error;
mod read;

pub use book::{NamedPosition, Opening, OpeningBook};
pub use error::{Error, LineError, Result};
