//! Replays stored games.

use crate::board::{IllegalMove, Position, SetupError};
use crate::query::text::brief;
use crate::store::row::{GameId, Ply};
use crate::store::{GameRecord, StoredPosition};

/// Why a stored game cannot be replayed: the database is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamagedGame {
    /// The start position of the game is not legal.
    #[error("game {}: start_fen {fen:?} is not a legal position; `pgndex verify` lists everything that is wrong",
        game.0
    )]
    Start {
        /// The game.
        game: GameId,
        /// The stored FEN; shortened if it is long.
        fen: String,
        /// Why.
        source: SetupError,
    },
    /// A stored position differs from the one that the moves lead to.
    #[error("game {}, ply {}: the stored position is not the one that the moves lead to; `pgndex verify` lists everything that is wrong",
        game.0,
        ply.0
    )]
    Position {
        /// The game.
        game: GameId,
        /// The ply.
        ply: Ply,
    },
    /// A stored move is not legal.
    #[error("game {}, ply {}: the stored move_code is not a legal move; `pgndex verify` lists everything that is wrong",
        game.0,
        ply.0
    )]
    Move {
        /// The game.
        game: GameId,
        /// The ply.
        ply: Ply,
        /// Why.
        source: IllegalMove,
    },
    /// A move of a stored variation is not legal.
    #[error("variation_move game_id {}, line {line}, ply {}: move_code is not a legal move; `pgndex verify` lists everything that is wrong",
        game.0,
        ply.0
    )]
    VariationMove {
        /// The game.
        game: GameId,
        /// The variation.
        line: u32,
        /// The ply of the position after the move.
        ply: Ply,
        /// Why.
        source: IllegalMove,
    },
}

/// Replays a game. `visit` is called with each position and its row, whose move, if any, is legal.
///
/// # Errors
/// If a stored position or move is invalid. `visit` is not called with the position at which the error was
/// found.
pub fn replay(
    record: &GameRecord,
    mut visit: impl FnMut(&Position, &StoredPosition),
) -> Result<(), DamagedGame> {
    replay_each(record, &mut visit)
}

fn replay_each(
    record: &GameRecord,
    visit: &mut dyn FnMut(&Position, &StoredPosition),
) -> Result<(), DamagedGame> {
    let game = record.summary.game;
    let mut position = match &record.start_fen {
        None => Position::start(),
        Some(fen) => match Position::from_fen(fen.as_bytes()) {
            Ok((position, _)) => position,
            Err(source) => return Err(DamagedGame::Start { game, fen: brief(fen).into_owned(), source }),
        },
    };
    for (index, stored) in record.positions.iter().enumerate() {
        let ply = stored.ply;
        if ply.0 as usize != index || stored.key != position.key() {
            return Err(DamagedGame::Position { game, ply });
        }
        let mut next = position.clone();
        if let Some(code) = stored.move_code {
            next.make(code).map_err(|source| DamagedGame::Move { game, ply, source })?;
        }
        visit(&position, stored);
        position = next;
    }
    Ok(())
}
