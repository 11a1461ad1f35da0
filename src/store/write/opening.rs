//! Writes the list of openings.

use rusqlite::params;

use crate::opening::{NamedPosition, OpeningBook};
use crate::store::error::Result;
use crate::store::write::bulk::BulkLoader;

impl BulkLoader<'_> {
    /// Writes a list of openings, with the numbers that rows of `game` refer to. Call it once.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`](crate::store::Error::DiskFull).
    pub fn add_openings(&mut self, book: &OpeningBook) -> Result<()> {
        const ACTION: &str = "write table opening";
        let sql = "INSERT INTO opening (opening_id, eco, name, key, fen) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut statement = self.connection().prepare(sql).map_err(|source| self.failed(ACTION, source))?;
        for (id, NamedPosition { opening, key, fen, .. }) in book.iter() {
            let done = statement.execute(params![id.0, opening.eco, opening.name, key.as_i64(), fen]);
            done.map_err(|source| self.failed(ACTION, source))?;
        }
        Ok(())
    }
}
