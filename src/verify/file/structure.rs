//! Checks the database as a whole: pages, schema, links between tables, numbers, totals.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::board::Position;
use crate::id::{ImportId, OpeningId, SourceId};
use crate::index::options::{Annotations, Duplicates};
use crate::sorted::SortedMap;
use crate::source::TextEncoding;
use crate::store::row::{HeaderBatch, SideTable, StoredId};
use crate::store::{self, Cells, Database, OPENING, schema_of, version_of};
use crate::verify::check::MissingIds;
use crate::verify::file::definition::is_extension;
use crate::verify::finding::{Collector, FindingKind, Id, RowId};
use crate::verify::rows::games::Sums;
use crate::verify::rows::problems::ProblemCounts;
use crate::verify::rows::stored::{format_value, shown};

/// A column that refers to a row of another table, with the primary key of its own table.
type Link = (&'static str, &'static [&'static str], &'static str, &'static str, &'static str);

/// All links in the schema, except those of side tables of `game`, which [`all_links`] adds, and that of
/// `game_position`, which the scan of games checks.
const LINKS: [Link; 17] = [
    ("source", &["source_id"], "import_id", "import", "import_id"),
    ("game", &["game_id"], "source_id", "source", "source_id"),
    ("game", &["game_id"], "event_id", "event", "event_id"),
    ("game", &["game_id"], "site_id", "site", "site_id"),
    ("game", &["game_id"], "white_id", "player", "player_id"),
    ("game", &["game_id"], "black_id", "player", "player_id"),
    ("game", &["game_id"], "opening_id", "opening", "opening_id"),
    ("game", &["game_id"], "import_id", "import", "import_id"),
    ("continuation", &["key", "move_code"], "key", "visited_position", "key"),
    ("visit_set", &["key", "block"], "key", "visited_position", "key"),
    ("problem", &["problem_id"], "source_id", "source", "source_id"),
    ("problem", &["problem_id"], "game_id", "game", "game_id"),
    ("duplicate", &["source_id", "byte_offset"], "source_id", "source", "source_id"),
    ("removed_game", &["source_id", "byte_offset"], "source_id", "source", "source_id"),
    ("duplicate", &["source_id", "byte_offset"], "game_id", "game", "game_id"),
    ("duplicate", &["source_id", "byte_offset"], "original_id", "game", "game_id"),
    ("duplicate", &["source_id", "byte_offset"], "import_id", "import", "import_id"),
];

/// Tables whose rows are numbered 1, 2, 3 ...
const NUMBERED: [(&str, &str); 5] = [
    ("source", "source_id"),
    ("player", "player_id"),
    ("event", "event_id"),
    ("site", "site_id"),
    ("game", "game_id"),
];

/// Runs SQLite's check of all pages and rows.
pub(crate) fn integrity(connection: &Connection, path: &Path, findings: &Collector) -> rusqlite::Result<()> {
    // If a page is cut off, SQLite assumes that the rest is zeros.
    let told: i64 = connection.query_row(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get(0),
    )?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // Data in a write-ahead log may not be in the file yet.
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if let Ok(metadata) = std::fs::metadata(path)
        && !has_log
        && metadata.len() < told.cast_unsigned()
    {
        let message = format!("the file has {} bytes, but its header says {told}", metadata.len());
        findings.about(FindingKind::Integrity, "file", RowId::default(), &message);
    }
    // At most 1,000 messages.
    let mut statement = connection.prepare("PRAGMA integrity_check(1000)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        // SQLite's messages about pages follow a heading.
        let is_finding = |line: &&str| *line != "ok" && !line.starts_with("*** in database");
        for line in message.lines().filter(is_finding) {
            findings.about(FindingKind::Integrity, "file", RowId::default(), line);
        }
    }
    Ok(())
}

/// Compares the schema with that of a new database. Additional tables, indexes and columns are allowed.
pub(crate) fn schema(connection: &Connection, findings: &Collector) -> store::Result<()> {
    let failed = |source| store::Error::sqlite(Path::new(":memory:"), "create the schema", source);
    let fresh = version_of(connection).and_then(schema_of).map_err(failed)?;
    let read = |connection: &Connection| -> rusqlite::Result<SortedMap<(String, String), String>> {
        let mut statement =
            connection.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
        let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        rows.collect()
    };
    let (expected, found) = (read(&fresh).map_err(failed)?, read(connection).map_err(failed)?);
    for ((kind, name), sql) in expected {
        let row = || RowId(vec![("type", Id::Text(kind.clone())), ("name", Id::Text(name.clone()))]);
        match found.get(&(kind.clone(), name.clone())) {
            Some(other) if is_extension(&sql, other) => {}
            Some(_) => findings.about(FindingKind::Schema, "sqlite_schema", row(), "is defined differently"),
            None => findings.about(FindingKind::Schema, "sqlite_schema", row(), "is missing"),
        }
    }
    Ok(())
}

/// [`LINKS`], and the links of side tables.
fn all_links() -> impl Iterator<Item = Link> {
    let side_tables = HeaderBatch::SIDE_TABLES.iter();
    let of_game = |table: &SideTable| (table.name, &table.columns[..table.key], "game_id", "game", "game_id");
    LINKS.into_iter().chain(side_tables.map(of_game))
}

/// Checks all links.
pub(crate) fn links(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    for (table, key, column, parent, parent_column) in all_links() {
        let sql = format!(
            "SELECT {column}, {} FROM {table} WHERE {column} IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM {parent} WHERE {parent}.{parent_column} = {table}.{column})",
            key.join(", ")
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = RowId::read(row, 1, key)?;
            let (expected, found) = (format!("a row of {parent}"), format_value(row.get_ref(0)?));
            findings.wrong(FindingKind::DanglingLink, table, id, column, expected, found);
        }
    }
    Ok(())
}

/// Reports gaps in columns that are numbered 1, 2, 3 ..., except where rows may have been removed.
pub(crate) fn numbers(
    connection: &Connection,
    findings: &Collector,
    gone: MissingIds,
) -> rusqlite::Result<()> {
    let has_gaps = |table| gone == MissingIds::All || gone == MissingIds::Games && table != "source";
    for (table, column) in NUMBERED.into_iter().filter(|(table, _)| !has_gaps(*table)) {
        let sql = format!("SELECT count(*), ifnull(max({column}), 0), ifnull(min({column}), 1) FROM {table}");
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (count, most, least): (i64, i64, i64) = connection.query_row(&sql, [], read)?;
        if count == most && least == 1 {
            continue;
        }
        let mut next = 1;
        let mut statement = connection.prepare(&format!("SELECT {column} FROM {table} ORDER BY {column}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if id < 1 {
                findings.about(
                    FindingKind::SurplusRow,
                    table,
                    RowId::new([(column, id)]),
                    "numbers begin with 1",
                );
                continue;
            }
            if id != next {
                let found = match id - next {
                    1 => "the row is missing".to_owned(),
                    _ => format!("the rows up to {} are missing", id - 1),
                };
                findings.about(FindingKind::MissingRow, table, RowId::new([(column, next)]), found);
            }
            next = id.saturating_add(1);
        }
    }
    Ok(())
}

/// Reads the minimum number of games that a position needs for a row in `visited_position`. Reports a missing
/// or invalid setting.
pub(crate) fn threshold(connection: &Connection, findings: &Collector) -> rusqlite::Result<Option<i64>> {
    const NAME: &str = "continuation_threshold";
    let row = || RowId(vec![("name", Id::Text(NAME.to_owned()))]);
    let sql = "SELECT value FROM setting WHERE name = ?1";
    let value =
        connection.query_row(sql, [NAME], |row| row.get::<_, rusqlite::types::Value>(0)).optional()?;
    match value {
        Some(rusqlite::types::Value::Integer(threshold)) if threshold > 0 => return Ok(Some(threshold)),
        Some(other) => {
            let found = format_value((&other).into());
            findings.wrong(FindingKind::WrongValue, "setting", row(), "value", "a number of games", found);
        }
        None => findings.about(FindingKind::MissingRow, "setting", row(), "the row is missing"),
    }
    Ok(None)
}

/// Checks that settings whose values are words have known values.
pub(crate) fn words(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    let duplicates: fn(&str) -> bool = |word| Duplicates::parse(word).is_some();
    let annotations: fn(&str) -> bool = |word| Annotations::parse(word).is_some();
    let encoding: fn(&str) -> bool = |word| word == TextEncoding::AUTO || TextEncoding::parse(word).is_some();
    for (name, is_known, expected) in [
        (Duplicates::SETTING, duplicates, "keep, skip or moves"),
        (Annotations::SETTING, annotations, "all, numbers or none"),
        (TextEncoding::SETTING, encoding, "auto or the name of an encoding"),
    ] {
        let row = || RowId(vec![("name", Id::Text(name.to_owned()))]);
        let sql = "SELECT value FROM setting WHERE name = ?1";
        let value =
            connection.query_row(sql, [name], |row| row.get::<_, rusqlite::types::Value>(0)).optional()?;
        match value {
            Some(rusqlite::types::Value::Text(word)) if is_known(&word) => {}
            Some(other) => {
                let found = format_value((&other).into());
                findings.wrong(FindingKind::WrongValue, "setting", row(), "value", expected, found);
            }
            None => findings.about(FindingKind::MissingRow, "setting", row(), "the row is missing"),
        }
    }
    Ok(())
}

/// Compares the list of openings with its digest, and the keys of openings with their positions.
pub(crate) fn openings(database: &Database, findings: &Collector) -> rusqlite::Result<()> {
    const NAME: &str = "openings";
    let connection = database.connection();
    let mut statement = connection.prepare("SELECT opening_id, key, fen FROM opening ORDER BY opening_id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let cells = Cells::new(row, OPENING);
        let (id, key, fen): (StoredId<OpeningId>, i64, String) =
            (cells.get(0)?, cells.get(1)?, cells.get(2)?);
        let id = || RowId::new([("opening_id", id)]);
        match Position::from_fen(fen.as_bytes()) {
            Ok((position, _)) if position.canonical_fen() != fen => {
                findings.wrong(
                    FindingKind::WrongValue,
                    "opening",
                    id(),
                    "fen",
                    position.canonical_fen(),
                    fen,
                );
            }
            Ok((position, _)) if position.key().as_i64() != key => {
                findings.wrong(FindingKind::WrongValue, "opening", id(), "key", position.key().as_i64(), key);
            }
            Ok(_) => {}
            // With an illegal position, the list as a whole cannot be read.
            Err(error) => {
                let expected = format!("a legal position ({error})");
                findings.wrong(FindingKind::WrongValue, "opening", id(), "fen", expected, fen);
                return Ok(());
            }
        }
    }
    let row = || RowId(vec![("name", Id::Text(NAME.to_owned()))]);
    match (database.setting::<String>(NAME), database.opening_book()) {
        (Ok(found), Ok(book)) if found != book.digest() => {
            findings.wrong(FindingKind::WrongValue, "setting", row(), "value", book.digest(), found);
        }
        (Err(error), _) => findings.about(FindingKind::MissingRow, "setting", row(), error),
        (_, Err(error)) => findings.about(FindingKind::Unreadable, "opening", RowId::default(), error),
        _ => {}
    }
    Ok(())
}

/// Compares the totals of sources and imports with the counted rows.
pub(crate) fn totals(
    connection: &Connection,
    findings: &Collector,
    sums: &Sums,
    distinct: u64,
    problems: &ProblemCounts,
) -> rusqlite::Result<()> {
    let compare = |table, row: &RowId, name, expected: Option<i64>, found: Option<i64>| {
        if expected.is_some() && expected != found {
            let row = row.clone();
            findings.wrong(FindingKind::WrongCount, table, row, name, shown(expected), shown(found));
        }
    };
    let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
    let mut statement = connection.prepare(
        "SELECT source_id, games, plies, problems, last_game FROM source WHERE indexed_at IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: StoredId<SourceId> = row.get(0)?;
        let source = sums.sources.get(&id).copied().unwrap_or_default();
        let place = RowId::new([("source_id", id)]);
        compare("source", &place, "games", number(source.games), row.get(1)?);
        compare("source", &place, "plies", number(source.plies), row.get(2)?);
        let problems = problems.get(&id).copied().unwrap_or(0);
        compare("source", &place, "problems", Some(problems), row.get(3)?);
        let last_game: Option<i64> = row.get(4)?;
        // `last_game` may be greater, because later games may have been ignored or skipped.
        if let Some(least) = source.last_game.filter(|_| source.last_game > last_game) {
            let (row, expected) = (place, format!("at least {least}"));
            findings.wrong(FindingKind::WrongValue, "source", row, "last_game", expected, shown(last_game));
        }
    }
    let imports: i64 = connection.query_row("SELECT count(*) FROM import", [], |row| row.get(0))?;
    // Distinct positions and problems are not counted per import, so they can be compared only if there is a
    // single import.
    let only = |number: u64| (imports == 1).then(|| i64::try_from(number).unwrap_or(i64::MAX));
    let mut statement = connection.prepare(
        "SELECT import_id, games, plies, positions, distinct_positions, problems FROM import
         WHERE finished_at IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: StoredId<ImportId> = row.get(0)?;
        let import = sums.imports.get(&id).copied().unwrap_or_default();
        let place = RowId::new([("import_id", id)]);
        compare("import", &place, "games", number(import.games), row.get(1)?);
        compare("import", &place, "plies", number(import.plies), row.get(2)?);
        compare("import", &place, "positions", number(import.positions), row.get(3)?);
        compare("import", &place, "distinct_positions", only(distinct), row.get(4)?);
        let problems = problems.values().sum::<i64>().cast_unsigned();
        compare("import", &place, "problems", only(problems), row.get(5)?);
    }
    duplicate_totals(connection, findings)
}

/// Compares the numbers of skipped games of sources and imports with the rows of `duplicate`.
fn duplicate_totals(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    for (table, column) in [("source", "source_id"), ("import", "import_id")] {
        let sql = format!(
            "SELECT {column}, duplicates, ifnull(counted, 0) FROM {table} LEFT JOIN
                 (SELECT {column}, count(*) AS counted FROM duplicate WHERE game_id IS NULL GROUP BY 1) USING ({column})
             WHERE duplicates <> ifnull(counted, 0) ORDER BY 1"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (id, found, expected): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let row = RowId::new([(column, id)]);
            findings.wrong(FindingKind::WrongCount, table, row, "duplicates", expected, found);
        }
    }
    Ok(())
}

/// Reports names that no game uses.
pub(crate) fn unused_names(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    const UNUSED: [(&str, &str, &str); 3] = [
        (
            "player",
            "player_id",
            "SELECT player_id FROM player EXCEPT SELECT white_id FROM game EXCEPT SELECT black_id FROM game",
        ),
        ("event", "event_id", "SELECT event_id FROM event EXCEPT SELECT event_id FROM game"),
        ("site", "site_id", "SELECT site_id FROM site EXCEPT SELECT site_id FROM game"),
    ];
    for (table, column, sql) in UNUSED {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row = RowId::new([(column, row.get::<_, i64>(0)?)]);
            findings.about(FindingKind::SurplusRow, table, row, "no game has this name");
        }
    }
    Ok(())
}

/// Reports rows of `removed_game` at the place of a row of `game` or `duplicate`.
pub(crate) fn removed_games(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    if !connection.query_row("SELECT EXISTS (SELECT 1 FROM removed_game)", [], |row| row.get(0))? {
        return Ok(());
    }
    let mut statement = connection.prepare(
        "SELECT source_id, byte_offset FROM removed_game INTERSECT
         SELECT * FROM (SELECT source_id, byte_offset FROM game
                        UNION ALL SELECT source_id, byte_offset FROM duplicate)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = RowId::new([("source_id", row.get::<_, i64>(0)?), ("byte_offset", row.get(1)?)]);
        findings.about(FindingKind::SurplusRow, "removed_game", row, "the game still exists");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_links_of_the_schema_are_followed() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::store::migrate(&mut connection, Path::new(":memory:")).unwrap();
        let mut statement = connection
            .prepare(
                "SELECT t.name, f.\"from\", f.\"table\" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
                 WHERE t.type = 'table'",
            )
            .unwrap();
        let rows = statement
            .query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
            .unwrap();
        let mut declared: Vec<_> = rows.collect::<Result<_, _>>().unwrap();
        let ours = all_links().chain([("game_position", &[][..], "game_id", "game", "game_id")]);
        let mut followed: Vec<_> = ours
            .map(|(table, _, column, parent, _)| (table.to_string(), column.to_string(), parent.to_string()))
            .collect();
        declared.sort();
        followed.sort();
        assert_eq!(declared, followed);
    }
}
