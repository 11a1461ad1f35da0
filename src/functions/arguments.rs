//! Registers scalar functions, reads their arguments and converts their errors.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use rusqlite::functions::{ConnectionRef, Context, FunctionFlags};
use rusqlite::types::{Type, Value, ValueRef};
use rusqlite::{Connection, ErrorCode};

use crate::board::{MoveCode, Position, SetupError, Square};

/// Why a function fails.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("{0}")]
    Text(String),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

impl Problem {
    pub(super) fn from_error(error: impl Display) -> Self {
        Self::Text(error.to_string())
    }

    /// Converts the problem into the error that SQLite reports. An interrupt stays an interrupt, so that the
    /// caller recognizes it.
    pub(super) fn of(self, function: &'static str) -> rusqlite::Error {
        match self {
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                return error;
            }
            _ => {}
        }
        // SQLite does not accept a message that contains a NUL character.
        let message = format!("{function}: {self}").replace('\0', "\\0");
        rusqlite::Error::UserFunctionError(message.into())
    }
}

/// The flags of functions that depend only on their arguments.
pub(super) const PURE: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

/// Adds a function to a connection. If an argument is NULL, the function returns NULL without calling `body`.
pub(super) fn add(
    connection: &Connection,
    name: &'static str,
    arity: i32,
    flags: FunctionFlags,
    body: impl Fn(&Arguments<'_, '_>) -> Result<Value, Problem> + Send + 'static,
) -> rusqlite::Result<()> {
    connection.create_scalar_function(name, arity, flags, move |context| {
        let arguments = Arguments(context);
        match arguments.has_null() {
            true => Ok(Value::Null),
            false => body(&arguments).map_err(|problem| problem.of(name)),
        }
    })
}

/// The arguments of a call. In the body of a function that [`add`] registered, none of them is NULL.
pub(super) struct Arguments<'a, 'c>(pub(super) &'a Context<'c>);

impl Arguments<'_, '_> {
    pub(super) fn get(&self, index: usize) -> ValueRef<'_> {
        self.0.get_raw(index)
    }

    fn has_null(&self) -> bool {
        (0..self.count()).any(|index| self.get(index) == ValueRef::Null)
    }

    pub(super) fn text(&self, index: usize) -> Result<&[u8], Problem> {
        text(self.get(index), index)
    }

    /// The argument as text, converted as SQLite converts values to text.
    pub(super) fn as_text(&self, index: usize) -> Result<Cow<'_, str>, Problem> {
        Ok(match self.get(index) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
            ValueRef::Null => "".into(),
            ValueRef::Integer(number) => number.to_string().into(),
            ValueRef::Real(number) => {
                let sql = "SELECT CAST(?1 AS TEXT)";
                self.connection()?.query_row(sql, [number], |row| row.get::<_, String>(0))?.into()
            }
        })
    }

    pub(super) fn integer(&self, index: usize) -> Result<i64, Problem> {
        match self.get(index) {
            ValueRef::Integer(number) => Ok(number),
            other => Err(wrong_type(index, "an integer", other.data_type())),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The argument as a number, whether integer or real; `None` for NULL.
    pub(super) fn number(&self, index: usize) -> Result<Option<f64>, Problem> {
        match self.get(index) {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number as f64)),
            ValueRef::Real(number) => Ok(Some(number)),
            other => Err(wrong_type(index, "a number", other.data_type())),
        }
    }

    /// Parses a FEN as a legal position.
    pub(super) fn position(&self, index: usize) -> Result<Position, Problem> {
        position(self.text(index)?)
    }

    pub(super) fn square(&self, index: usize) -> Result<Square, Problem> {
        let text = self.text(index)?;
        Square::parse(text)
            .ok_or_else(|| Problem::Text(format!("{:?} is not a square; squares are a1 to h8", lossy(text))))
    }

    pub(super) fn code(&self, index: usize) -> Result<MoveCode, Problem> {
        let number = self.integer(index)?;
        let bits = u32::try_from(number).ok();
        bits.and_then(MoveCode::from_bits)
            .ok_or_else(|| Problem::Text(format!("{number} is not a move code")))
    }

    /// The value that `parse` compiles from a text argument. An argument that is constant in a statement is
    /// compiled only once.
    pub(super) fn compiled<T: Send + Sync + 'static, E: Display>(
        &self,
        index: usize,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Arc<T>, Problem> {
        let number = index as i32;
        if let Some(compiled) = self.0.get_aux(number)? {
            return Ok(compiled);
        }
        let text = String::from_utf8_lossy(self.text(index)?);
        Ok(self.0.set_aux(number, parse(&text).map_err(Problem::from_error)?)?)
    }

    /// Returns an error if the statement was interrupted: SQLite itself does not check this between function
    /// calls within one row. Does nothing without the feature `bundled`: the extension can be loaded into an
    /// older SQLite, which cannot report an interrupt.
    #[cfg_attr(not(feature = "bundled"), allow(clippy::unused_self, clippy::unnecessary_wraps))]
    pub(super) fn check_interrupt(&self) -> Result<(), Problem> {
        #[cfg(feature = "bundled")]
        if self.connection()?.is_interrupted() {
            let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
            return Err(rusqlite::Error::SqliteFailure(interrupted, None).into());
        }
        Ok(())
    }

    /// The connection that the statement runs on.
    #[allow(unsafe_code)]
    pub(super) fn connection(&self) -> Result<ConnectionRef<'_>, Problem> {
        // SAFETY: the reference cannot outlive the call, which SQLite makes on the thread that uses the
        // connection.
        Ok(unsafe { self.0.get_connection() }?)
    }
}

/// The text in a value; an error if the value has another type.
pub(super) fn text(value: ValueRef<'_>, index: usize) -> Result<&[u8], Problem> {
    match value {
        ValueRef::Text(text) => Ok(text),
        other => Err(wrong_type(index, "a string", other.data_type())),
    }
}

/// Parses a FEN as a legal position.
pub(super) fn position(fen: &[u8]) -> Result<Position, Problem> {
    Position::from_fen(fen).map(|(position, _)| position).map_err(|source| no_position(fen, source))
}

pub(super) fn no_position(fen: &[u8], source: SetupError) -> Problem {
    Problem::Text(format!("{:?} is not a position: {source}", lossy(fen)))
}

fn wrong_type(index: usize, expected: &'static str, found: Type) -> Problem {
    let found = match found {
        Type::Null => "NULL",
        Type::Integer => "an integer",
        Type::Real => "a real number",
        Type::Text => "a string",
        Type::Blob => "a blob",
    };
    Problem::Text(format!("argument {} must be {expected}, not {found}", index + 1))
}

/// Converts bytes to text. Invalid UTF-8 becomes U+FFFD.
pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
