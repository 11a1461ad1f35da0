//! The Lichess id and the speed class of a game, and a search for variants.

use rusqlite::{OptionalExtension as _, Row};

use crate::id::GameId;
use crate::store::cell::{Cells, GAME};
use crate::store::database::Database;
use crate::store::error::{Error, Result};

/// The Lichess id of a game, and its speed class, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameMarks {
    /// The id on Lichess: eight letters or digits.
    pub lichess_id: Option<String>,
    /// The speed class, as on Lichess.
    pub speed: Option<String>,
}

impl Database {
    /// The Lichess id and the speed class of a game; both `None` if the game does not exist.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_marks(&self, game: GameId) -> Result<GameMarks> {
        let look = || {
            let sql = "SELECT game_id, lichess_id, speed FROM game WHERE game_id = ?1";
            let read = |row: &Row<'_>| {
                let cells = Cells::new(row, GAME);
                Ok(GameMarks { lichess_id: cells.get("lichess_id")?, speed: cells.get("speed")? })
            };
            let found = self.connection().prepare_cached(sql)?.query_row([game.0], read).optional()?;
            Ok(found.unwrap_or_default())
        };
        look().map_err(|source| Error::sqlite(self.path(), "look up a game", source))
    }

    /// The first game with this Lichess id. Reads the rows of all games up to it.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_of_lichess_id(&self, id: &str) -> Result<Option<GameId>> {
        let look = || {
            let sql = "SELECT game_id FROM game WHERE lichess_id = ?1 LIMIT 1";
            let read = |row: &Row<'_>| Cells::new(row, GAME).get("game_id").map(GameId);
            self.connection().prepare_cached(sql)?.query_row([id], read).optional()
        };
        look().map_err(|source| Error::sqlite(self.path(), "look up a game of Lichess", source))
    }
}

impl Database {
    /// Whether a game has a variant other than standard chess.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_variants(&self) -> Result<bool> {
        const OTHER: &str = "IS NOT NULL AND lower(value) <> 'standard'";
        let look = || {
            // A stored column has each distinct value only once per block. Only in blocks without the column,
            // all games are read.
            let sql = format!(
                "WITH RECURSIVE block (number) AS (
                     SELECT 0 UNION ALL
                     SELECT number + 1 FROM block WHERE number < (SELECT max(game_id) >> 16 FROM game))
                 SELECT 1 FROM game_column, json_each(cells) WHERE name = 'variant' AND value {OTHER}
                 UNION ALL
                 SELECT 1 FROM (
                     SELECT game.variant AS value FROM block CROSS JOIN game
                     ON game_id BETWEEN number << 16 AND (number << 16) + 65535
                     WHERE number NOT IN (SELECT block FROM game_column WHERE name = 'variant'))
                 WHERE value {OTHER}"
            );
            self.connection().prepare_cached(&sql)?.exists([])
        };
        look().map_err(|source| Error::sqlite(self.path(), "look for variants", source))
    }
}
