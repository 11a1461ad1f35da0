//! Queries by the user.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Params, Rows, Statement};

use super::database::Database;
use super::error::{Error, Result};

/// One read-only statement by the user, ready to run.
#[derive(Debug)]
pub struct Query<'db> {
    statement: Statement<'db>,
}

/// The rows of a [`Query`], one at a time.
pub struct QueryRows<'q> {
    rows: Rows<'q>,
}

impl Database {
    /// Prepares one read-only SQL statement.
    ///
    /// # Errors
    /// [`Error::Query`] if it is no valid SQL, [`Error::EmptyQuery`], [`Error::MultipleStatements`],
    /// [`Error::NotReadOnly`].
    pub fn query<'db>(&'db self, sql: &str) -> Result<Query<'db>> {
        let failed = |source| Error::Query { source };
        let mut statements = Batch::new(self.connection(), sql);
        let statement = statements.next().map_err(failed)?.ok_or(Error::EmptyQuery)?;
        // A second statement need not be valid to be one too many.
        if !matches!(statements.next(), Ok(None)) {
            return Err(Error::MultipleStatements);
        }
        if !statement.readonly() {
            return Err(Error::NotReadOnly);
        }
        Ok(Query { statement })
    }
}

impl Query<'_> {
    /// The names of the columns.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        self.statement.column_names()
    }

    /// Runs the query; parameters are bound, never pasted into SQL.
    ///
    /// # Errors
    /// [`Error::Query`], also if the number of parameters is wrong.
    pub fn rows(&mut self, params: impl Params) -> Result<QueryRows<'_>> {
        let rows = self.statement.query(params).map_err(|source| Error::Query { source })?;
        Ok(QueryRows { rows })
    }
}

impl QueryRows<'_> {
    /// The next row, if any; its values are read with `get_ref`.
    ///
    /// # Errors
    /// [`Error::Query`].
    pub fn next_row(&mut self) -> Result<Option<&rusqlite::Row<'_>>> {
        self.rows.next().map_err(|source| Error::Query { source })
    }
}
