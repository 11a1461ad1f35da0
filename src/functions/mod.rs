//! SQL functions for positions, moves and games.
//!
//! [`register`] registers them on a connection. [`Database`](crate::store::Database) does this for its own
//! connections, and the loadable extension for the connections of other programs. `docs/sql.md` describes
//! each function.
//!
//! If any argument is NULL, the result is NULL, except in `winning_chances`; `fen_legal_moves` then has no
//! rows. An argument that has the wrong type or is invalid is an error; the message contains the function's
//! name and the reason. All scalar functions except `game_pgn` are deterministic and innocuous: they can be
//! used in expression indexes, generated columns and views.

mod arguments;
mod connection;
mod evaluation;
mod fen;
mod game;
mod general;
mod legal_moves;
mod moves;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ToSql;

use crate::store::provide_exp;
use arguments::{Arguments, Problem};

/// Registers the functions on a connection.
///
/// # Errors
/// Errors of SQLite.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let pure = Registrar { connection, flags: pure() };
    pure.add("fen_key", 1, fen::key)?;
    pure.add("fen_normal", 1, fen::normal)?;
    pure.add("fen_board", 1, fen::board)?;
    pure.add("fen_piece", 2, fen::piece)?;
    pure.add("fen_material", 1, fen::material)?;
    pure.add("fen_has_material", 2, fen::has_material)?;
    pure.add("fen_balance", 1, fen::balance)?;
    pure.add("fen_phase", 1, fen::phase)?;
    pure.add("fen_matches", 2, fen::matches)?;
    pure.add("fen_after", 2, fen::after)?;
    pure.add("key_hex", 1, fen::hex)?;
    pure.add("move_uci", 1, moves::uci)?;
    pure.add("move_uci", 2, moves::uci_in)?;
    pure.add("move_san", 2, moves::san)?;
    pure.add("move_from", 1, moves::from)?;
    pure.add("move_to", 1, moves::to)?;
    pure.add("move_piece", 1, moves::piece)?;
    pure.add("move_captured", 1, moves::captured)?;
    pure.add("move_special", 1, moves::special)?;
    pure.add("move_promotion", 1, moves::promotion)?;
    provide_exp(connection)?;
    pure.add_for_nulls("winning_chances", 1, evaluation::chances)?;
    pure.add_for_nulls("winning_chances", 2, evaluation::chances)?;
    Registrar { connection, flags: FunctionFlags::SQLITE_UTF8 }.add("game_pgn", 1, game::pgn)?;
    legal_moves::register(connection)
}

/// The flags of functions that depend only on their arguments.
fn pure() -> FunctionFlags {
    FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS
}

/// Registers functions that have the same flags.
struct Registrar<'c> {
    connection: &'c Connection,
    flags: FunctionFlags,
}

impl Registrar<'_> {
    /// Adds a function that returns NULL if an argument is NULL.
    fn add<T: ToSql + 'static>(
        &self,
        name: &'static str,
        arity: i32,
        body: fn(&Arguments<'_, '_>) -> Result<T, Problem>,
    ) -> rusqlite::Result<()> {
        self.connection.create_scalar_function(name, arity, self.flags, move |context| {
            let arguments = Arguments::new(context);
            if arguments.has_null() {
                return Ok(None);
            }
            body(&arguments).map(Some).map_err(|problem| problem.of(name))
        })
    }

    /// Adds a function that is also called if an argument is NULL.
    fn add_for_nulls<T: ToSql + 'static>(
        &self,
        name: &'static str,
        arity: i32,
        body: fn(&Arguments<'_, '_>) -> Result<Option<T>, Problem>,
    ) -> rusqlite::Result<()> {
        self.connection.create_scalar_function(name, arity, self.flags, move |context| {
            body(&Arguments::new(context)).map_err(|problem| problem.of(name))
        })
    }
}
