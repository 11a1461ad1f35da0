//! Runs queries, and reads their rows.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Params, Rows, ToSql};

use crate::store::cell::{Cells, Table};
use crate::store::{Database, Error, Result};

/// Queries that return rows of this table. If a cell has an invalid value, the message names the table and
/// the row.
impl Table {
    /// Passes rows to `see` until `see` returns `false`.
    pub(crate) fn walk(
        self,
        mut rows: Rows<'_>,
        see: &mut dyn FnMut(Cells<'_>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        while let Some(row) = rows.next()? {
            if !see(Cells::new(row, self))? {
                break;
            }
        }
        Ok(())
    }

    /// Passes all rows of a query to `see`.
    pub(crate) fn each(
        self,
        connection: &Connection,
        sql: &str,
        params: impl Params,
        mut see: impl FnMut(Cells<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.walk(connection.prepare_cached(sql)?.query(params)?, &mut |cells| see(cells).map(|()| true))
    }

    /// All rows of a query.
    pub(crate) fn all<T>(
        self,
        connection: &Connection,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(Cells<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(connection, sql, params, |cells| {
            all.push(read(cells)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// The first row of a query.
    pub(crate) fn first<T>(
        self,
        connection: &Connection,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(Cells<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        connection.prepare_cached(sql)?.query_row(params, |row| read(Cells::new(row, self))).optional()
    }
}

/// Prepares a query, and binds each of the named values for which the query has a parameter.
pub(super) fn prepare<'c, 'v>(
    connection: &'c Connection,
    sql: &str,
    params: impl IntoIterator<Item = (&'v str, &'v dyn ToSql)>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = connection.prepare_cached(sql)?;
    for (name, value) in params {
        if let Some(index) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    Ok(statement)
}

impl Database {
    /// Returns a function that adds the path of the database and the action to an error of SQLite.
    pub(super) fn failed(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> Error + Copy {
        move |source| Error::sqlite(self.path(), action, source)
    }

    /// All rows of a query. The message of an error mentions `action`.
    pub(super) fn all<T>(
        &self,
        action: &'static str,
        table: Table,
        sql: &str,
        params: impl Params,
        read: impl FnMut(Cells<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        table.all(self.connection(), sql, params, read).map_err(self.failed(action))
    }
}
