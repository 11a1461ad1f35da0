//! Finds a game's novelty: its first position that no game of an earlier day had reached, and the move that led
//! to it.

use serde::Serialize;

use crate::board::{MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::query::error::Result;
use crate::query::position::number_before;
use crate::query::replay::replay;
use crate::store::{Database, DatePrefix, GameFilter, GameRecord, ListLengths};

/// The first position of a game that no game of an earlier day had reached, in any move order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Novelty {
    /// A move led to it: the first new move of the game.
    Move(NewMove),
    /// It is the start position of the game.
    Start,
    /// There is none: earlier games had reached all positions of the game.
    Nothing,
    /// Not determined, because the year of the game is unknown.
    NoDate,
}

/// The first new move of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewMove {
    /// Number of half-moves before the move.
    pub ply: Ply,
    /// Number of the move, as written before it: `12.`, or `12...` for Black's move.
    pub number: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Number of earlier games that had the position before the move.
    pub games: u64,
    /// Number of the latest of these games that has a result; `null` if none has one.
    pub last_game: Option<GameId>,
}

/// Finds the first new move of a game, compared with all games of earlier days. Unknown parts of their dates
/// count as early.
///
/// # Errors
/// [`Error::Damaged`](crate::query::Error::Damaged); errors of SQLite.
pub fn novelty(database: &Database, record: &GameRecord) -> Result<Novelty> {
    let Some(until) = record.summary.date.as_deref().and_then(DatePrefix::before) else {
        return Ok(Novelty::NoDate);
    };
    let selection = database.select(&GameFilter { until: Some(until), ..GameFilter::default() })?;
    let mut positions: Vec<(Position, Ply, Option<MoveCode>)> = Vec::new();
    replay(record, |position, stored| positions.push((position.clone(), stored.ply, stored.move_code)))?;
    let mut before = None;
    for (position, ply, code) in positions {
        let (key, fen) = (position.key(), position.canonical_fen());
        let found = database.explore(key, &fen, &selection, ListLengths { top: 0, recent: 1 }.into())?;
        let games = found.results.games() + found.unfinished;
        if games == 0 {
            return Ok(before.map_or(Novelty::Start, Novelty::Move));
        }
        let Some(code) = code else { break };
        before = Some(NewMove {
            ply,
            number: number_before(position.fullmove_number(), position.side()),
            san: position.san(code),
            uci: position.uci(code).to_string(),
            games,
            last_game: found.recent_games.first().map(|hit| hit.game.game),
        });
    }
    Ok(Novelty::Nothing)
}
