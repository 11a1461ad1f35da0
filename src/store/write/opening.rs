//! The list of openings, written once.

use rusqlite::params;

use crate::opening::OpeningBook;
use crate::store::error::Result;
use crate::store::write::bulk::BulkLoader;

impl BulkLoader<'_> {
    /// Writes a list of openings, under the numbers that rows of `game` refer to; call it once.
    ///
    /// # Errors
    /// What SQLite says, such as [`Error::DiskFull`](crate::store::Error::DiskFull).
    pub fn add_openings(&mut self, book: &OpeningBook) -> Result<()> {
        book.iter().try_for_each(|(id, opening, position)| {
            self.execute(
                "write table opening",
                "INSERT INTO opening (opening_id, eco, name, key, fen) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id.0, opening.eco, opening.name, position.key().as_i64(), position.canonical_fen()],
            )
        })
    }
}
