//! Databases opened so that every statement can use the SQL functions.

use std::path::Path;

use super::register;
use crate::store::{Database, Result};

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
        Self::open_read_only_with(path, register)
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
        Self::open_with(path, register)
    }
}
