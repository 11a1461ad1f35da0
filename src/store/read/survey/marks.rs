//! What tells a game of Lichess: its id there, and how fast it was.

use rusqlite::{OptionalExtension as _, Row};

use crate::id::GameId;
use crate::store::cell::{Cells, GAME};
use crate::store::database::Database;
use crate::store::error::{Error, Result};

/// What tells a game of Lichess, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameMarks {
    /// Its id there: eight letters and digits.
    pub lichess_id: Option<String>,
    /// How fast it was, in the classes of Lichess.
    pub speed: Option<String>,
}

impl Database {
    /// What tells a game of Lichess; nothing if the game is not there.
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

    /// The first game with an id of Lichess. Looks at the rows of all games.
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
    /// Whether some game says that it is of another variant than standard chess.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_variants(&self) -> Result<bool> {
        const OTHER: &str = "IS NOT NULL AND lower(value) <> 'standard'";
        let look = || {
            let connection = self.connection();
            // The values of a column stand together, those of many thousand games each once.
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
