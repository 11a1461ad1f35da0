//! Hides ordinary indexes from SQLite for a part of a transaction. Meanwhile SQLite adds rows without
//! updating these indexes, which other code updates.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// An index's row of `sqlite_schema`: its rowid, name, table, root page and statement.
pub(crate) type SchemaRow = [Value; 5];

/// Removes indexes from the schema, and returns their rows, from which [`restore`] restores them.
pub(crate) fn remove(connection: &Connection, names: &[&str]) -> rusqlite::Result<Vec<SchemaRow>> {
    let mut query = connection.prepare(
        "SELECT rowid, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'index' AND name = ?1",
    )?;
    let read =
        |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
    let rows =
        names.iter().map(|name| query.query_row([name], read)).collect::<rusqlite::Result<Vec<_>>>()?;
    change_schema(connection, || {
        let mut delete = connection.prepare("DELETE FROM sqlite_schema WHERE rowid = ?1")?;
        rows.iter().try_for_each(|row| delete.execute([&row[0]]).map(drop))
    })?;
    Ok(rows)
}

/// Restores indexes that [`remove`] removed.
pub(crate) fn restore(connection: &Connection, rows: &[SchemaRow]) -> rusqlite::Result<()> {
    change_schema(connection, || {
        let mut insert = connection.prepare(
            "INSERT INTO sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) VALUES (?1, 'index', ?2, ?3, ?4, ?5)",
        )?;
        rows.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))
    })
}

/// Makes SQLite reread the schema after `change`.
fn change_schema(
    connection: &Connection,
    change: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = ON")?;
    let changed = change();
    let reset = connection.execute_batch("PRAGMA writable_schema = RESET");
    changed.and(reset)
}
