//! Why a question has no answer.

use crate::board::SetupError;
use crate::id::{GameId, Ply};
use crate::query::replay::DamagedGame;
use crate::store;

/// The result of a question.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stored game cannot be played through.
    #[error(transparent)]
    Damaged(#[from] DamagedGame),
    /// A query that is to choose games gives something else.
    #[error("the first column must be numbers of games (game_id), and here it is {found}")]
    NotAGame {
        /// What it gives.
        found: String,
    },
    /// A stored position is none.
    #[error("game_position game_id {}, ply {}: fen is no legal position; `pgndex verify` tells all that is wrong", game.0, ply.0)]
    Fen {
        /// The game.
        game: GameId,
        /// The ply.
        ply: Ply,
        /// Why.
        source: SetupError,
    },
}
