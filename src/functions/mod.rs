//! SQL functions for positions, moves and games.
//!
//! [`register`] registers them on a connection. [`Database`] does this for its own
//! connections, and the loadable extension for the connections of other programs. `docs/sql.md` describes
//! each function.
//!
//! If any argument is NULL, the result is NULL, except in `winning_chances`; `fen_legal_moves` then has no
//! rows. An argument that has the wrong type or is invalid is an error; the message contains the function's
//! name and the reason. All scalar functions except `game_pgn` are deterministic and innocuous: they can be
//! used in expression indexes, generated columns and views.

mod arguments;
mod chess;
mod general;
mod legal_moves;

use std::path::Path;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::store::{Database, Result, provide_exp};
use arguments::{Arguments, PURE, add};

/// Registers the functions on a connection.
///
/// # Errors
/// Errors of SQLite.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    for (name, arity, body) in chess::FUNCTIONS {
        add(connection, name, arity, PURE, body)?;
    }
    provide_exp(connection)?;
    for arity in [1, 2] {
        // Called for NULL too.
        connection.create_scalar_function("winning_chances", arity, PURE, |context| {
            chess::chances(&Arguments(context)).map_err(|problem| problem.of("winning_chances"))
        })?;
    }
    add(connection, "game_pgn", 1, FunctionFlags::SQLITE_UTF8, chess::game_pgn)?;
    legal_moves::register(connection)
}

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
