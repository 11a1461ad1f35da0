//! Names of openings: the table `opening`.

use rusqlite::{OptionalExtension as _, params};

use crate::board::{Position, PositionKey};
use crate::opening::{Opening, OpeningBook};
use crate::store::cell::{Cells, OPENING};
use crate::store::database::Database;
use crate::store::error::{Error, Result};

impl Database {
    /// The list of openings that the database was built with.
    ///
    /// # Errors
    /// Errors of SQLite, or an invalid FEN in a row.
    pub fn opening_book(&self) -> Result<OpeningBook> {
        let failed = |source| Error::sqlite(self.path(), "read table opening", source);
        let sql = "SELECT opening_id, eco, name, fen FROM opening ORDER BY opening_id";
        let mut query = self.connection().prepare(sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut openings = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let cells = Cells::new(row, OPENING);
            let read = || {
                let position = cells.read("fen", "the FEN of a legal position", |value| {
                    Position::from_fen(value.as_bytes().ok()?).ok().map(|(position, _)| position)
                })?;
                Ok((opening(cells)?, position))
            };
            openings.push(read().map_err(failed)?);
        }
        Ok(OpeningBook::from_positions(openings))
    }

    /// The opening with this position, from the list that the database was built with. `fen` is the canonical
    /// FEN.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn opening_of(&self, key: PositionKey, fen: &str) -> Result<Option<Opening>> {
        let failed = |source| Error::sqlite(self.path(), "look up an opening", source);
        let sql = "SELECT eco, name FROM opening WHERE key = ?1 AND fen = ?2";
        let mut statement = self.connection().prepare_cached(sql).map_err(failed)?;
        let opening =
            statement.query_row(params![key.as_i64(), fen], |row| opening(Cells::new(row, OPENING)));
        opening.optional().map_err(failed)
    }

    /// The openings of many positions, in the order of the positions. Takes a few microseconds per position.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn openings_of<'p>(
        &self,
        positions: impl IntoIterator<Item = (PositionKey, &'p str)>,
    ) -> Result<Vec<Option<Opening>>> {
        positions.into_iter().map(|(key, fen)| self.opening_of(key, fen)).collect()
    }
}

fn opening(cells: Cells<'_>) -> rusqlite::Result<Opening> {
    Ok(Opening { eco: cells.get("eco")?, name: cells.get("name")? })
}
