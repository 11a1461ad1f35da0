//! Writes the table `player_alias`: other spellings of players' names.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::lock::WriterLock;
use crate::store::read::player::matcher::PlayerAlias;
use crate::store::write::build::Build;

const ACTION: &str = "write table player_alias";

impl Database {
    /// Replaces all rows of `player_alias` in one transaction. The caller must acquire the lock of this
    /// database before it reads the old rows. Otherwise changes by others could be lost.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn replace_player_aliases(&self, _lock: &WriterLock, aliases: &[PlayerAlias]) -> Result<()> {
        replace(self.connection(), aliases).map_err(|source| Error::sqlite(self.path(), ACTION, source))
    }
}

impl Build {
    /// Writes other spellings of players' names to a new database.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn write_player_aliases(&self, aliases: &[PlayerAlias]) -> Result<()> {
        match aliases {
            [] => Ok(()),
            _ => replace(self.connection(), aliases)
                .map_err(|source| Error::sqlite(self.path(), ACTION, source)),
        }
    }
}

fn replace(connection: &Connection, aliases: &[PlayerAlias]) -> rusqlite::Result<()> {
    let step = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    step.execute("DELETE FROM player_alias", [])?;
    let mut insert = step.prepare("INSERT INTO player_alias (alias, name, fide_id) VALUES (?1, ?2, ?3)")?;
    for PlayerAlias { alias, name, fide_id } in aliases {
        insert.execute(params![alias, name, fide_id])?;
    }
    drop(insert);
    step.commit()
}
