//! Opens databases so that every statement can use the SQL functions.

use std::path::Path;

use rusqlite::Connection;

use super::{general, register};
use crate::store::{Database, Result};

/// Registers all functions, including general functions that are built into SQLite in other programs.
fn register_all(connection: &Connection) -> rusqlite::Result<()> {
    register(connection)?;
    general::register(connection)
}

impl Database {
    /// Opens an existing database for reading only.
    ///
    /// A database with an older schema version is read as it is; only [`open`](Self::open) migrates it.
    ///
    /// If the last writer crashed, the database is first rolled back to its last commit, as SQLite does
    /// whenever it opens a database for writing.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`](crate::store::ErrorKind::Missing),
    /// [`Error::NotADatabase`](crate::store::Error::NotADatabase),
    /// [`ErrorKind::OtherProgram`](crate::store::ErrorKind::OtherProgram),
    /// [`ErrorKind::TooNew`](crate::store::ErrorKind::TooNew),
    /// [`ErrorKind::Unreleased`](crate::store::ErrorKind::Unreleased),
    /// [`ErrorKind::NeedsWriting`](crate::store::ErrorKind::NeedsWriting), errors of the system or of SQLite.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::open_read_only_with(path, register_all)
    }

    /// Opens an existing database for reading and writing, and migrates its schema. An empty file becomes an
    /// empty database.
    ///
    /// Acquire the [`WriterLock`](crate::store::WriterLock) first.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`](crate::store::ErrorKind::Missing),
    /// [`Error::NotADatabase`](crate::store::Error::NotADatabase),
    /// [`ErrorKind::OtherProgram`](crate::store::ErrorKind::OtherProgram),
    /// [`ErrorKind::TooNew`](crate::store::ErrorKind::TooNew),
    /// [`ErrorKind::Unreleased`](crate::store::ErrorKind::Unreleased), errors of the system or of SQLite.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, register_all)
    }
}
