//! The rules of chess on a 0x88 board.
//!
//! A [`Position`] is a legal position on which moves are played; a [`Setup`] is the contents of a FEN that is
//! not yet validated. Moves are [`MoveCode`]s; [`Position::resolve`] finds the move for a SAN text, and
//! [`Position::make`] plays it.
//!
//! ```
//! use pgndex::board::Position;
//!
//! let mut position = Position::start();
//! for san in ["e4", "c5", "Nf3"] {
//!     let code = position.resolve(san.as_bytes())?;
//!     position.make(code)?;
//! }
//! assert_eq!(position.canonical_fen(), "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq -");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod describe;
mod explain;
mod fen;
mod generate;
mod key;
mod move_code;
mod piece;
mod polyglot;
mod position;
mod result;
mod san;
mod setup;
mod short_move;
mod square;
mod tables;
mod variants;

pub(crate) use describe::pieces;
pub use describe::{
    Description, Ending, Endings, Material, MaterialError, MaterialSignature, MovePattern, MovePatternError,
    Pattern, PatternError, PatternPart, PawnStructure, Phase, PositionDistance,
};
pub use explain::MoveRefusal;
pub use fen::{FenText, MAX_CANONICAL_FEN};
pub(crate) use key::polyglot_constants;
pub use key::{KeyMap, KeySet, PositionKey};
pub use move_code::{MoveCode, Special, Uci};
pub use piece::{Color, Piece, PieceKind};
pub use position::{IllegalMove, Position};
pub use result::GameResult;
pub use san::SanError;
pub(crate) use setup::fields;
pub use setup::{Castling, FenChange, Setup, SetupError};
pub use short_move::ShortMove;
pub use square::{Square, SquareSet, TO_X88};
pub use tables::{ALL_MOVES, BLACK_PAWN_FROM, WHITE_PAWN_FROM, kind_index};
