//! The commands. Each module contains one command or several similar commands.

use std::path::Path;

use pgndex::store::{Database, WriterLock};

pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod game;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod key;
pub(crate) mod maintenance;
pub(crate) mod player;
pub(crate) mod players;
pub(crate) mod remove;
pub(crate) mod repertoire;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod verify;
pub(crate) mod watch;

/// Locks a database, so that no other program can write it meanwhile, and opens it for writing. The database must
/// be closed before the lock is released.
fn open_to_write(path: &Path) -> anyhow::Result<(WriterLock, Database)> {
    // If there is no database, this fails. The lock alone would only create a lock file.
    drop(Database::open_read_only(path)?);
    let lock = WriterLock::acquire(path)?;
    Ok((lock, Database::open(path)?))
}
