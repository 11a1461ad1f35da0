//! Compares rows with the CHECK constraints of their tables. SQLite's own check ignores these constraints on
//! a connection that can only read.

use rusqlite::Connection;

use crate::store::row::{HeaderBatch, SideTable};
use crate::store::{GAME_COLUMN, GAME_SET, VISIT_SET};
use crate::verify::FindingKind::WrongValue;
use crate::verify::RowId;
use crate::verify::rows::{Reader, for_each_row};

/// A table and its primary key.
pub(crate) type Table = (&'static str, &'static [&'static str]);

/// All tables with constraints, except `game_position`, whose rows are compared with the moves.
pub(crate) fn tables() -> impl Iterator<Item = Table> {
    const TABLES: [Table; 14] = [
        ("import", &["import_id"]),
        ("source", &["source_id"]),
        ("removed_game", &["source_id", "byte_offset"]),
        ("problem", &["problem_id"]),
        ("setting", &["name"]),
        ("occurrence_level", &["level"]),
        ("deleted_game", &["game_id"]),
        ("duplicate", &["source_id", "byte_offset"]),
        ("player_alias", &["alias"]),
        ("game", &["game_id"]),
        ("game_moves", &["game_id"]),
        ("game_column", GAME_COLUMN.key),
        ("visit_set", VISIT_SET.key),
        ("game_set", GAME_SET.key),
    ];
    let side_tables = HeaderBatch::SIDE_TABLES.iter();
    TABLES.into_iter().chain(side_tables.map(|table: &SideTable| (table.name, &table.columns[..table.key])))
}

/// The conditions of the CHECK constraints in a table's definition in this program, which has each on a line of
/// its own.
fn conditions(sql: &str) -> Vec<&str> {
    let lines = sql.lines().map(|line| line.trim().trim_end_matches(','));
    lines.filter_map(|line| line.strip_prefix("CHECK (")?.strip_suffix(')')).collect()
}

/// Reports the rows of a table that violate a constraint of the table in `schema`.
pub(crate) fn check(reader: Reader<'_>, schema: &Connection, (table, key): Table) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let sql: String =
        schema.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [table], |row| row.get(0))?;
    let conditions = conditions(&sql);
    if conditions.is_empty() {
        return Ok(());
    }
    let values = conditions.iter().map(|condition| format!("({condition}) IS FALSE"));
    let columns: Vec<String> = key.iter().map(|&column| column.to_owned()).chain(values).collect();
    let sql =
        format!("SELECT {} FROM {table} WHERE NOT (({}))", columns.join(", "), conditions.join(") AND ("));
    for_each_row(connection, &sql, [], &mut |row| {
        for (index, condition) in conditions.iter().enumerate() {
            if row.get(key.len() + index)? {
                let found = format!("the row violates CHECK ({condition})");
                findings.about(WrongValue, table, RowId::read(row, 0, key)?, found);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_constraints_of_the_schema_are_checked() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::store::migrate(&mut connection, std::path::Path::new(":memory:")).unwrap();
        let mut statement =
            connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").unwrap();
        let rows =
            statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
        let constrained = rows.map(Result::unwrap).filter(|(_, sql)| sql.contains("CHECK"));
        let tables: Vec<String> = tables().map(|(name, _)| name.to_owned()).collect();
        for (name, sql) in constrained.filter(|(name, _)| name != "game_position") {
            assert!(tables.contains(&name), "{name}");
            assert_eq!(conditions(&sql).len(), sql.matches("CHECK").count(), "{name}");
        }
    }
}
