//! What was played from a position, in the form that clients of Lichess's opening explorer read.
//!
//! It is that of [`Explored`](crate::query::Explored) but for what these clients cannot do without: names and ratings are never null, ids
//! have eight letters and digits, a king that castles takes its rook.

mod answer;
mod game_code;

pub use answer::{ExplorerAnswer, ExplorerGame, ExplorerListedGame, ExplorerMove, ExplorerPlayer};
pub use game_code::{game_code, game_of_code};
