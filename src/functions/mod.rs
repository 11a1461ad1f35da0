//! SQL functions for positions, moves and games.
//!
//! [`register`] registers these functions on a connection. [`Database`] calls it for its own connections, and
//! the loadable extension calls it for the connections of other programs. `docs/sql.md` describes each
//! function.
//!
//! If any argument is NULL, `fen_legal_moves` returns no rows, and every scalar function except
//! `winning_chances` returns NULL. An argument that has the wrong type or is invalid causes an error; the
//! message contains the function's name and the reason. All scalar functions except `game_pgn` are
//! deterministic and innocuous: they can be used in expression indexes, generated columns and views.

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
        // Not registered with `add`, because one argument can be NULL if the other is not.
        connection.create_scalar_function("winning_chances", arity, PURE, |context| {
            chess::chances(&Arguments(context)).map_err(|problem| problem.of("winning_chances"))
        })?;
    }
    add(connection, "game_pgn", 1, FunctionFlags::SQLITE_UTF8, chess::game_pgn)?;
    legal_moves::register(connection)
}

/// Registers all functions, including the general functions that other builds of SQLite contain.
fn register_all(connection: &Connection) -> rusqlite::Result<()> {
    register(connection)?;
    general::register(connection)
}

impl Database {
    /// Opens an existing database for reading only.
    ///
    /// A database with an older schema version is read as it is; only [`open`](Self::open) migrates it.
    ///
    /// If the last writer crashed, the database is first rolled back to its last commit. This needs
    /// permission to write.
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
