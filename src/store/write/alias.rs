//! Writes the table `player_alias`: other spellings of players' names.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::lock::WriterLock;
use crate::store::read::player::matcher::PlayerAlias;

impl Database {
    /// Replaces all rows of `player_alias` in one transaction. The caller must acquire the lock of this
    /// database before it reads the old rows. Otherwise changes by others could be lost.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn replace_player_aliases(&self, _lock: &WriterLock, aliases: &[PlayerAlias]) -> Result<()> {
        write_player_aliases(self.connection(), self.path(), aliases)
    }
}

/// Replaces all rows of `player_alias` of the database at `path` in one transaction.
pub(crate) fn write_player_aliases(
    connection: &Connection,
    path: &Path,
    aliases: &[PlayerAlias],
) -> Result<()> {
    let write = || {
        let step = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        step.execute("DELETE FROM player_alias", [])?;
        let mut insert =
            step.prepare("INSERT INTO player_alias (alias, name, fide_id) VALUES (?1, ?2, ?3)")?;
        for PlayerAlias { alias, name, fide_id } in aliases {
            insert.execute(params![alias, name, fide_id])?;
        }
        drop(insert);
        step.commit()
    };
    write().map_err(|source| Error::sqlite(path, "write table player_alias", source))
}
