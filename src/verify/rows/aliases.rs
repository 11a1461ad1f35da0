//! The table `player_alias`: one name for each spelling, and one FIDE number for each name.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::store::format_value;
use crate::verify::finding::{Collector, FindingKind, Id, RowId};

const TABLE: &str = "player_alias";

/// Queries for wrong rows: the expected value, the column, and the SQL, which selects the alias and the value
/// found.
const WRONG: [(&str, &str, &str); 4] = [
    ("a string", "alias", "SELECT alias, alias FROM player_alias WHERE typeof(alias) <> 'text'"),
    ("a string", "name", "SELECT alias, name FROM player_alias WHERE typeof(name) <> 'text'"),
    (
        "a name that is not itself another spelling",
        "name",
        "SELECT alias, name FROM player_alias WHERE name IN (SELECT alias FROM player_alias)",
    ),
    (
        "NULL, or the same number from 1 for all spellings of the name",
        "fide_id",
        "SELECT alias, fide_id FROM player_alias AS row WHERE fide_id IS NOT NULL
             AND (typeof(fide_id) <> 'integer' OR fide_id NOT BETWEEN 1 AND 4294967295
                 OR EXISTS (SELECT 1 FROM player_alias AS other WHERE other.name = row.name AND other.fide_id < row.fide_id))",
    ),
];

/// Compares the spellings of players' names with each other.
pub(crate) fn check(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    for (expected, column, sql) in WRONG {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let alias = match row.get_ref(0)? {
                ValueRef::Text(alias) => Id::Text(String::from_utf8_lossy(alias).into_owned()),
                other => Id::Text(format_value(other)),
            };
            let row_id = RowId::default().and("alias", alias);
            findings.wrong(
                FindingKind::WrongValue,
                TABLE,
                row_id,
                column,
                expected,
                format_value(row.get_ref(1)?),
            );
        }
    }
    Ok(())
}
