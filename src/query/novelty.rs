//! The first move of a game that no earlier game had.

use serde::Serialize;

use crate::board::{MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::query::error::Result;
use crate::query::position::number_before;
use crate::query::replay::replay;
use crate::store::{Database, DatePrefix, GameFilter, GameRecord, ListLengths};

/// What is new in a game: where it first came to a position that no game of an earlier day had reached, whatever moves led there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Novelty {
    /// A move.
    Move(NewMove),
    /// Its start position.
    Start,
    /// Nothing: earlier games had reached all of its positions.
    Nothing,
    /// Nobody can tell: the year of the game is not known.
    NoDate,
}

/// The first new move of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewMove {
    /// How many half-moves were played before it.
    pub ply: Ply,
    /// The move's number as it stands before it: `12.`, or `12...` for Black's.
    pub number: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// How many earlier games had the position before it.
    pub games: u64,
    /// The latest of these that has a result.
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
