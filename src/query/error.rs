//! Errors of queries.

use crate::board::SetupError;
use crate::id::{GameId, Ply};
use crate::query::replay::DamagedGame;
use crate::store;

/// The result of a query.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A stored game cannot be replayed.
    #[error(transparent)]
    Damaged(#[from] DamagedGame),
    /// A query that should select games returns something else.
    #[error("the first column must be numbers of games (game_id), but it is {found}")]
    NotAGame {
        /// The value returned.
        found: String,
    },
    /// A stored position is invalid.
    #[error("game {}, ply {}: the stored fen is not a legal position; `pgndex verify` lists everything that is wrong", game.0, ply.0)]
    Fen {
        /// The game.
        game: GameId,
        /// The ply.
        ply: Ply,
        /// Why the position is invalid.
        source: SetupError,
    },
}
