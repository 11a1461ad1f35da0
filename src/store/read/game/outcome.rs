//! The outcome of a game.

use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::board::GameResult;
use crate::id::GameId;
use crate::store::cell::{Cells, GAME};

/// A game's result, both ratings, and date `YYYY.MM.DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOutcome {
    /// The result.
    pub result: GameResult,
    /// White's rating and Black's.
    pub elos: [Option<u16>; 2],
    /// The date.
    pub date: Option<String>,
}

impl GameOutcome {
    /// The outcome of a game; `None` if there is no such game.
    pub(crate) fn read(connection: &Connection, game: GameId) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT result, white_elo, black_elo, date, game_id FROM game WHERE game_id = ?1";
        let read = |row: &Row<'_>| {
            let cells = Cells::new(row, GAME);
            let elos = [cells.get("white_elo")?, cells.get("black_elo")?];
            Ok(Self { result: cells.get("result")?, elos, date: cells.get("date")? })
        };
        connection.prepare_cached(sql)?.query_row([game.0], read).optional()
    }
}
