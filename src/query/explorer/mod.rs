//! Answers in the form that clients of Lichess's opening explorer read.
//!
//! The form is that of [`PositionStatistics`](crate::query::PositionStatistics), except for what these
//! clients require: names and ratings are never null, ids consist of eight letters or digits, and castling is
//! written as the king taking the rook.

mod answer;
mod game_code;

pub use answer::{ExplorerAnswer, ExplorerGame, ExplorerListedGame, ExplorerMove, ExplorerPlayer};
pub use game_code::{game_code, game_of_code};
