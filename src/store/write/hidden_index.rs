//! Hides indexes from SQLite during a part of a transaction. Meanwhile, SQLite adds rows without updating
//! these indexes. The caller must update them in another way. Only indexes created with `CREATE INDEX` can be
//! hidden.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// The row of an index in `sqlite_schema`: its rowid, and the name, table, root page and statement of the
/// index.
pub(crate) type SchemaRow = [Value; 5];

/// Removes indexes from the schema. Returns their rows in `sqlite_schema`, which [`restore`] needs.
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

/// Calls `change`, which writes to `sqlite_schema`. Then makes SQLite reread the schema.
fn change_schema(
    connection: &Connection,
    change: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = ON")?;
    let changed = change();
    let reset = connection.execute_batch("PRAGMA writable_schema = RESET");
    changed.and(reset)
}
