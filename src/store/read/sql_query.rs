//! SQL statements of the user.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, ErrorCode, Params, Rows, Statement, ffi};

#[cfg(feature = "bundled")]
use crate::store::SqlLocation;
use crate::store::sql::words;
use crate::store::{Database, Error, Result};

/// A prepared statement of the user.
#[derive(Debug)]
pub struct Query<'db> {
    database: &'db Database,
    statement: Statement<'db>,
}

/// The rows of a [`Query`], one at a time.
pub struct QueryRows<'q> {
    database: &'q Database,
    is_attaching: bool,
    rows: Rows<'q>,
}

/// Whether a statement attaches another database.
fn is_attaching(statement: &Statement<'_>) -> bool {
    let sql = statement.expanded_sql().unwrap_or_default();
    words(&sql).first().is_some_and(|word| word.eq_ignore_ascii_case("ATTACH"))
}

/// The statements of an SQL text, one after the other.
///
/// Each statement is prepared when it is requested. Run it before requesting the next one, which may depend
/// on its changes.
pub struct Statements<'db, 'sql> {
    database: &'db Database,
    sql: &'sql str,
    batch: Batch<'db, 'sql>,
}

impl Database {
    /// Prepares one read-only SQL statement.
    ///
    /// # Errors
    /// [`Error::Query`] if it is not valid SQL, [`Error::EmptyQuery`], [`Error::MultipleStatements`],
    /// [`Error::NotReadOnly`].
    pub fn query<'db>(&'db self, sql: &str) -> Result<Query<'db>> {
        let mut statements = self.statements(sql);
        let query = statements.next_statement()?.ok_or(Error::EmptyQuery)?;
        // A second statement is an error even if it is invalid.
        if !matches!(statements.batch.next(), Ok(None)) {
            return Err(Error::MultipleStatements);
        }
        if query.is_read_only() { Ok(query) } else { Err(Error::NotReadOnly) }
    }

    /// The statements of an SQL text.
    #[must_use]
    pub fn statements<'db, 'sql>(&'db self, sql: &'sql str) -> Statements<'db, 'sql> {
        Statements { database: self, sql, batch: Batch::new(self.connection(), sql) }
    }

    /// The number of rows that statements have inserted, updated or deleted since the database was opened.
    #[must_use]
    pub fn total_changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// Whether a statement started a transaction that is still open.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        !self.connection().is_autocommit()
    }
}

impl<'db> Statements<'db, '_> {
    /// Prepares the next statement; `None` at the end of the text.
    ///
    /// # Errors
    /// [`Error::Query`] if it is not valid SQL, [`Error::NotReadOnly`] if it would change a database that is
    /// open for reading only.
    pub fn next_statement(&mut self) -> Result<Option<Query<'db>>> {
        let database = self.database;
        let failed = |source| Error::query(database, self.sql, source);
        let Some(statement) = self.batch.next().map_err(failed)? else { return Ok(None) };
        let query = Query { database, statement };
        let is_allowed =
            query.is_read_only() || !database.connection().is_readonly("main").map_err(failed)?;
        if is_allowed { Ok(Some(query)) } else { Err(Error::NotReadOnly) }
    }
}

impl Query<'_> {
    /// The names of the columns; empty if the statement returns no rows.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        self.statement.column_names()
    }

    /// Whether the statement does not change the contents of a database.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.statement.readonly() || reads_journal_mode(&self.statement)
    }

    /// The parameters in order, with their prefix: `:name`, `@name`, `$name`, `?2`; `?` for a parameter
    /// without a name.
    #[must_use]
    pub fn parameters(&self) -> Vec<&str> {
        let name = |index| self.statement.parameter_name(index).unwrap_or("?");
        (1..=self.statement.parameter_count()).map(name).collect()
    }

    /// Starts the query. Parameters are bound, never inserted into the SQL text.
    ///
    /// # Errors
    /// [`Error::Query`] if the parameters do not fit the statement.
    pub fn rows(&mut self, params: impl Params) -> Result<QueryRows<'_>> {
        let database = self.database;
        let is_attaching = is_attaching(&self.statement);
        let failed = |source| Error::run(database, is_attaching, source);
        let rows = self.statement.query(params).map_err(failed)?;
        Ok(QueryRows { database, is_attaching, rows })
    }
}

impl QueryRows<'_> {
    /// The next row, if any; read its values with `get_ref`.
    ///
    /// # Errors
    /// [`Error::Query`], [`Error::Interrupted`], or errors of SQLite about the file.
    pub fn next_row(&mut self) -> Result<Option<&rusqlite::Row<'_>>> {
        let database = self.database;
        let is_attaching = self.is_attaching;
        self.rows.next().map_err(|source| Error::run(database, is_attaching, source))
    }
}

impl Error {
    /// Converts an error of SQLite from running a statement.
    fn run(database: &Database, is_attaching: bool, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(code) if is_attaching && is_of_file(code) => {
                let message = format!("cannot attach that file: {source}");
                Self::Query { message, place: None, source }
            }
            _ => Self::query(database, "", source),
        }
    }

    /// Converts an error of SQLite about a statement in a text.
    fn query(database: &Database, sql: &str, source: rusqlite::Error) -> Self {
        #[cfg(not(feature = "bundled"))]
        let _ = sql;
        match source {
            // An older SQLite, into which the extension may be loaded, does not report the place of an error.
            #[cfg(feature = "bundled")]
            rusqlite::Error::SqlInputError { error, msg, sql: rest, offset } => {
                let start = sql.len().saturating_sub(rest.len());
                let place = SqlLocation::at(sql, start + usize::try_from(offset).unwrap_or(0));
                let source = rusqlite::Error::SqliteFailure(error, Some(msg.clone()));
                Self::Query { message: msg, place: Some(Box::new(place)), source }
            }
            rusqlite::Error::SqliteFailure(ffi::Error { code: ErrorCode::OperationInterrupted, .. }, _) => {
                Self::Interrupted
            }
            // SQLite does not report which file it means.
            rusqlite::Error::SqliteFailure(error, _) if is_of_file(error.code) && has_attached(database) => {
                let message = format!("{source}, in the database or in one that is attached");
                Self::Query { message, place: None, source }
            }
            rusqlite::Error::SqliteFailure(error, _) if is_of_file(error.code) => {
                Self::sqlite(database.path(), "run the statement", source)
            }
            rusqlite::Error::InvalidParameterCount(given, needed) => {
                let rest = match given {
                    0 => "; write the values into the query".to_owned(),
                    given => format!(", but {given} are given"),
                };
                let message = format!("the query needs {needed} value(s) for its parameters{rest}");
                Self::Query { message, place: None, source }
            }
            source => Self::Query { message: source.to_string(), place: None, source },
        }
    }
}

/// Whether the statement is `PRAGMA journal_mode` without a new value. SQLite reports it as a statement that
/// writes.
fn reads_journal_mode(statement: &Statement<'_>) -> bool {
    let sql = statement.expanded_sql().unwrap_or_default().to_ascii_lowercase();
    let mut words = sql.trim_end_matches([';', ' ', '\n']).split_ascii_whitespace();
    words.next() == Some("pragma")
        && words.next().is_some_and(|name| matches!(name, "journal_mode" | "main.journal_mode"))
        && words.next().is_none()
}

/// Whether an error is about a file, not a statement.
const fn is_of_file(code: ErrorCode) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, SystemIoFailure};
    matches!(
        code,
        DatabaseBusy | DatabaseCorrupt | DatabaseLocked | DiskFull | NotADatabase | SystemIoFailure
    )
}

/// Whether another database is attached.
fn has_attached(database: &Database) -> bool {
    let others = "SELECT count(*) FROM pragma_database_list WHERE name NOT IN ('main', 'temp')";
    database.connection().query_row(others, [], |row| row.get(0)).is_ok_and(|others: i64| others > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_word_makes_a_statement_attach() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let is_attaching = |sql| is_attaching(&connection.prepare(sql).unwrap());
        assert!(is_attaching("/* a */ -- b\n attach 'c' AS d"));
        assert!(!["DETACH a", "COMMIT -- ATTACH", "SELECT 'ATTACH'"].into_iter().any(is_attaching));
    }
}
