//! Databases opened so that every statement can use the SQL functions.

use std::path::Path;

use rusqlite::Connection;

use super::{general, register};
use crate::store::{Database, Result};

/// With those too that the SQLite of other programs has of itself.
fn register_all(connection: &Connection) -> rusqlite::Result<()> {
    register(connection)?;
    general::register(connection)
}

impl Database {
    /// Opens an existing database for reading; nothing can be changed through it.
    ///
    /// A database of an older version of the schema is read as it is: [`open`](Self::open) brings it up to date.
    ///
    /// If the last writer crashed, the database is first put back to its last commit, as SQLite does for every writer.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::store::Error::Missing), [`Error::NotADatabase`](crate::store::Error::NotADatabase),
    /// [`Error::OtherProgram`](crate::store::Error::OtherProgram), [`Error::TooNew`](crate::store::Error::TooNew),
    /// [`Error::NeedsWriting`](crate::store::Error::NeedsWriting), or what SQLite says.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::open_read_only_with(path, register_all)
    }

    /// Opens an existing database for reading and writing, and brings its schema up to date.
    ///
    /// Take the [`WriterLock`](crate::store::WriterLock) first.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::store::Error::Missing), [`Error::NotADatabase`](crate::store::Error::NotADatabase),
    /// [`Error::OtherProgram`](crate::store::Error::OtherProgram), [`Error::TooNew`](crate::store::Error::TooNew),
    /// [`Error::Migration`](crate::store::Error::Migration), or what SQLite says.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, register_all)
    }
}
