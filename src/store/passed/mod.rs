//! What games pass at some time in what was played, as sets of games: the table `game_set`.
//!
//! A game passes some material, some pieces on some squares, some captures … These change little from ply to ply, and few games pass the
//! rare ones. So a question for a position that is described is first one for the games that can have such a position, and only the rows
//! of these are read.

mod block;
mod feature;
mod games;
mod kind;
mod question;
mod set_row;

pub(crate) use block::{BlockSets, PassedBlock};
#[cfg(feature = "index")]
pub(crate) use feature::Feature;
pub(crate) use feature::piece_square;
pub use games::PassedGames;
pub(crate) use games::PassedRows;
#[cfg(feature = "index")]
pub(crate) use games::{PieceSquares, features_of, set};
pub(crate) use kind::PassedKind;
pub use question::PassedQuestion;
pub(crate) use set_row::{SetRows, each_set};
