//! Compares rows with the CHECK constraints of their tables. SQLite's own check ignores these constraints on
//! a connection that can only read.

use rusqlite::Connection;

use crate::store::cell::{
    COMMAND, COMMENT, DELETED_GAME, DUPLICATE, GAME, GAME_COLUMN, GAME_MOVES, GAME_SET, IMPORT, MOVE_EVAL,
    NAG, OCCURRENCE_LEVEL, PLAYER_ALIAS, PROBLEM, REMOVED_GAME, SETTING, SOURCE, Table, VARIATION, VISIT_SET,
};
use crate::verify::FindingKind::WrongValue;
use crate::verify::RowId;
use crate::verify::rows::{Reader, for_each_row};

/// All tables with constraints, except `game_position`, whose rows are compared with the moves.
pub(crate) const CONSTRAINED: [Table; 19] = [
    IMPORT,
    SOURCE,
    REMOVED_GAME,
    PROBLEM,
    SETTING,
    OCCURRENCE_LEVEL,
    DELETED_GAME,
    DUPLICATE,
    PLAYER_ALIAS,
    GAME,
    GAME_MOVES,
    GAME_COLUMN,
    VISIT_SET,
    GAME_SET,
    MOVE_EVAL,
    COMMENT,
    NAG,
    COMMAND,
    VARIATION,
];

/// The conditions of the CHECK constraints in `sql`, the definition of a table in this program. The definition
/// has each constraint on a separate line.
fn conditions(sql: &str) -> Vec<&str> {
    let lines = sql.lines().map(|line| line.trim().trim_end_matches(','));
    lines.filter_map(|line| line.strip_prefix("CHECK (")?.strip_suffix(')')).collect()
}

/// Reports the rows of a table that violate a constraint of the table in `schema`.
pub(crate) fn check(reader: Reader<'_>, schema: &Connection, table: Table) -> rusqlite::Result<()> {
    let (Reader { connection, findings }, Table { name, key }) = (reader, table);
    let sql: String =
        schema.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))?;
    let conditions = conditions(&sql);
    let values = conditions.iter().map(|condition| format!("({condition}) IS FALSE"));
    let columns: Vec<String> = key.iter().map(|&column| column.to_owned()).chain(values).collect();
    let sql =
        format!("SELECT {} FROM {name} WHERE NOT (({}))", columns.join(", "), conditions.join(") AND ("));
    for_each_row(connection, &sql, [], &mut |row| {
        for (index, condition) in conditions.iter().enumerate() {
            if row.get(key.len() + index)? {
                let found = format!("the row violates CHECK ({condition})");
                findings.about(WrongValue, name, RowId::read(row, 0, key)?, found);
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
        let tables = CONSTRAINED.map(|table| table.name);
        let mut found = 0;
        for (name, sql) in constrained.filter(|(name, _)| name != "game_position") {
            assert!(tables.contains(&&*name), "{name}");
            found += 1;
            assert_eq!(conditions(&sql).len(), sql.matches("CHECK").count(), "{name}");
        }
        assert_eq!(found, tables.len());
    }
}
