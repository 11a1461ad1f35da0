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
            let connection = self.connection();
            // A stored column has each distinct value only once per block.
            if connection.prepare_cached("SELECT 1 FROM game_column WHERE name = 'variant'")?.exists([])? {
                let sql = format!(
                    "SELECT 1 FROM game_column, json_each(cells) WHERE name = 'variant' AND value {OTHER}"
                );
                return connection.prepare_cached(&sql)?.exists([]);
            }
            let sql = format!("SELECT 1 FROM (SELECT variant AS value FROM game) WHERE value {OTHER}");
            connection.prepare_cached(&sql)?.exists([])
        };
        look().map_err(|source| Error::sqlite(self.path(), "look for variants", source))
    }
}
