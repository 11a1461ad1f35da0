//! Checks the database as a whole: pages, schema, links between tables, ids, totals.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _};

use crate::board::Position;
use crate::id::{ImportId, OpeningId, SourceId};
use crate::index::options::{Annotations, Duplicates};
use crate::sorted::SortedMap;
use crate::source::TextEncoding;
use crate::store::cell::{
    DUPLICATE, EVENT, GAME, IMPORT, OCCURRENCE_LEVEL, PLAYER, PROBLEM, REMOVED_GAME, SITE, SOURCE, Table,
};
use crate::store::row::{HeaderBatch, SideTable, StoredId};
use crate::store::sql::words;
use crate::store::write::repair::{LEAST_LAST_GAME, LEAST_REMOVED_GAMES};
use crate::store::{
    self, Cells, Database, LEVEL_CONTINUATION, LEVEL_POSITION, Layout, OPENING, VISIT_SET, schema_of,
    version_of,
};
use crate::verify::FindingKind::{
    DanglingLink, Integrity, MissingRow, Schema, SurplusRow, Unreadable, WrongCount, WrongValue,
};
use crate::verify::rows::{ProblemCounts, Reader, Sums, for_each_row, format_value, shown};
use crate::verify::{Collector, MissingIds, RowId};

/// A column that refers to a row of another table: the referring table, the column, and the other table. The
/// column contains values of the last column of the other table's key.
type Link = (Table, &'static str, Table);

/// All links in the schema, with two exceptions: [`all_links`] adds the links of the side tables of `game`,
/// and the scan of games checks the link of `game_position`.
const LINKS: [Link; 18] = [
    (SOURCE, "import_id", IMPORT),
    (GAME, "source_id", SOURCE),
    (GAME, "event_id", EVENT),
    (GAME, "site_id", SITE),
    (GAME, "white_id", PLAYER),
    (GAME, "black_id", PLAYER),
    (GAME, "opening_id", OPENING),
    (GAME, "import_id", IMPORT),
    (LEVEL_POSITION, "level", OCCURRENCE_LEVEL),
    // The rows of the two tables must also have the same level.
    (LEVEL_CONTINUATION, "key", LEVEL_POSITION),
    (VISIT_SET, "key", LEVEL_POSITION),
    (PROBLEM, "source_id", SOURCE),
    (PROBLEM, "game_id", GAME),
    (DUPLICATE, "source_id", SOURCE),
    (REMOVED_GAME, "source_id", SOURCE),
    (DUPLICATE, "game_id", GAME),
    (DUPLICATE, "original_id", GAME),
    (DUPLICATE, "import_id", IMPORT),
];

/// Tables whose rows are numbered 1, 2, 3 ...
const NUMBERED: [Table; 5] = [SOURCE, PLAYER, EVENT, SITE, GAME];

/// Checks that the file is not cut off, and runs SQLite's check of all pages and rows.
pub(crate) fn integrity(Reader { connection, findings }: Reader<'_>, path: &Path) -> rusqlite::Result<()> {
    // SQLite does not report a page that is cut off: it assumes that the rest of the page is zeros.
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let expected: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // Data in a write-ahead log need not be in the file yet.
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if let Ok(metadata) = std::fs::metadata(path)
        && !has_log
        && metadata.len() < expected.cast_unsigned()
    {
        let message = format!("the file has {} bytes, but its header says {expected}", metadata.len());
        findings.about(Integrity, "file", RowId::default(), &message);
    }
    // At most 1,000 messages.
    for_each_row(connection, "PRAGMA integrity_check(1000)", [], &mut |row| {
        // SQLite's messages about pages follow a heading.
        let is_finding = |line: &&str| *line != "ok" && !line.starts_with("*** in database");
        for line in row.get::<_, String>(0)?.lines().filter(is_finding) {
            findings.about(Integrity, "file", RowId::default(), line);
        }
        Ok(())
    })
}

/// Compares the schema with that of a new database of the same version. Additional tables, indexes and
/// columns are allowed. Returns the expected schema.
pub(crate) fn schema(Reader { connection, findings }: Reader<'_>) -> store::Result<Connection> {
    let failed = |source| store::Error::sqlite(Path::new(":memory:"), "create the schema", source);
    let layout = Layout::of(connection).map_err(failed)?;
    let fresh = version_of(connection).and_then(|version| schema_of(version, layout)).map_err(failed)?;
    let read = |connection: &Connection| -> rusqlite::Result<SortedMap<(String, String), String>> {
        let mut statement =
            connection.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
        let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        rows.collect()
    };
    let (expected, found) = (read(&fresh).map_err(failed)?, read(connection).map_err(failed)?);
    for ((kind, name), sql) in expected {
        let row = RowId::new([("type", &*kind), ("name", &*name)]);
        match found.get(&(kind, name)) {
            Some(other) if is_extension(&sql, other) => {}
            Some(_) => findings.about(Schema, "sqlite_schema", row, "is defined differently"),
            None => findings.about(Schema, "sqlite_schema", row, "is missing"),
        }
    }
    if layout == Layout::Compact {
        let constants = "SELECT group_concat(letter || place || '=' || value) FROM position_key";
        let read = |connection: &Connection| {
            connection.query_row(constants, [], |row| row.get::<_, Option<String>>(0))
        };
        if read(connection).ok().flatten() != read(&fresh).map_err(failed)? {
            let found = "the table does not contain the constants from which keys are computed";
            findings.about(WrongValue, "position_key", RowId::default(), found);
        }
    }
    Ok(fresh)
}

/// [`LINKS`], and the links of side tables.
fn all_links() -> impl Iterator<Item = Link> {
    let side_tables = HeaderBatch::SIDE_TABLES.iter();
    let of_game = |table: &SideTable| (Table::new(table.name, &table.columns[..table.key]), "game_id", GAME);
    LINKS.into_iter().chain(side_tables.map(of_game))
}

/// Checks all links.
pub(crate) fn links(Reader { connection, findings }: Reader<'_>) -> rusqlite::Result<()> {
    for (Table { name: table, key }, column, Table { name: parent, key: parent_key }) in all_links() {
        // A key of two columns begins with the level.
        let (id, level) = match *parent_key {
            [level, id] => (id, format!("{parent}.{level} = {table}.{level} AND ")),
            _ => (parent_key[0], String::new()),
        };
        let sql = format!(
            "SELECT {column}, {} FROM {table} WHERE {column} IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM {parent} WHERE {level}{parent}.{id} = {table}.{column})",
            key.join(", ")
        );
        for_each_row(connection, &sql, [], &mut |row| {
            let id = RowId::read(row, 1, key)?;
            let (expected, found) = (format!("a row of {parent}"), format_value(row.get_ref(0)?));
            findings.wrong(DanglingLink, table, id, column, expected, found);
            Ok(())
        })?;
    }
    Ok(())
}

/// Reports gaps in columns that are numbered 1, 2, 3 ..., except in tables from which rows can have been
/// removed.
pub(crate) fn numbers(Reader { connection, findings }: Reader<'_>, gone: MissingIds) -> rusqlite::Result<()> {
    let has_gaps = |table| gone == MissingIds::All || gone == MissingIds::Games && table != SOURCE.name;
    for Table { name: table, key } in NUMBERED.into_iter().filter(|table| !has_gaps(table.name)) {
        let column = key[0];
        let sql = format!("SELECT count(*), ifnull(max({column}), 0), ifnull(min({column}), 1) FROM {table}");
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (count, most, least): (i64, i64, i64) = connection.query_row(&sql, [], read)?;
        if count == most && least == 1 {
            continue;
        }
        let mut next = 1;
        let sql = format!("SELECT {column} FROM {table} ORDER BY {column}");
        for_each_row(connection, &sql, [], &mut |row| {
            let id: i64 = row.get(0)?;
            if id < 1 {
                findings.about(
                    SurplusRow,
                    table,
                    RowId::new([(column, id)]),
                    "ids begin with 1, so this row should not exist",
                );
                return Ok(());
            }
            if id != next {
                let found = match id - next {
                    1 => "the row is missing".to_owned(),
                    _ => format!("the rows from {next} to {} are missing", id - 1),
                };
                findings.about(MissingRow, table, RowId::new([(column, next)]), found);
            }
            next = id.saturating_add(1);
            Ok(())
        })?;
    }
    Ok(())
}

/// Reads a setting. Reports it if it is missing, or invalid according to `is_valid`.
fn setting(
    reader: Reader<'_>,
    name: &str,
    expected: &str,
    is_valid: &dyn Fn(&Value) -> bool,
) -> rusqlite::Result<Option<Value>> {
    let row = RowId::new([("name", name)]);
    let sql = "SELECT value FROM setting WHERE name = ?1";
    match reader.connection.query_row(sql, [name], |row| row.get(0)).optional()? {
        Some(value) if is_valid(&value) => return Ok(Some(value)),
        Some(value) => {
            let found = format_value((&value).into());
            reader.findings.wrong(WrongValue, "setting", row, "value", expected, found);
        }
        None => reader.findings.about(MissingRow, "setting", row, "the row is missing"),
    }
    Ok(None)
}

/// Reads the minimum number of games that a position needs for a row in `level_position`. Reports a missing
/// or invalid setting.
pub(crate) fn threshold(reader: Reader<'_>) -> rusqlite::Result<Option<i64>> {
    let is_valid = |value: &Value| matches!(value, Value::Integer(1..));
    let value = setting(reader, "continuation_threshold", "a number of games", &is_valid)?;
    Ok(if let Some(Value::Integer(threshold)) = value { Some(threshold) } else { None })
}

/// Checks that settings whose values are words have known values.
pub(crate) fn settings(reader: Reader<'_>) -> rusqlite::Result<()> {
    let check = |name, expected, is_known: fn(&str) -> bool| {
        let is_valid = |value: &Value| matches!(value, Value::Text(word) if is_known(word));
        setting(reader, name, expected, &is_valid).map(drop)
    };
    check(Duplicates::SETTING, "keep, skip or moves", |word| Duplicates::parse(word).is_some())?;
    check(Annotations::SETTING, "all, numbers or none", |word| Annotations::parse(word).is_some())?;
    let is_encoding = |word: &str| word == TextEncoding::AUTO || TextEncoding::parse(word).is_some();
    check(TextEncoding::SETTING, "auto or the name of an encoding", is_encoding)
}

/// Compares the list of openings with its digest. Checks that the FEN of each opening is canonical, and that
/// its key is the key of this FEN.
pub(crate) fn openings(database: &Database, findings: &Collector) -> rusqlite::Result<()> {
    const NAME: &str = "openings";
    let mut is_legal = true;
    let sql = "SELECT opening_id, key, fen FROM opening ORDER BY opening_id";
    for_each_row(database.connection(), sql, [], &mut |row| {
        // With an illegal position, the list as a whole cannot be read.
        if !is_legal {
            return Ok(());
        }
        let cells = Cells::new(row, OPENING);
        let (id, key, fen): (StoredId<OpeningId>, i64, String) =
            (cells.get(0)?, cells.get(1)?, cells.get(2)?);
        let id = RowId::new([("opening_id", id)]);
        match Position::from_fen(fen.as_bytes()) {
            Ok((position, _)) if position.canonical_fen() != fen => {
                findings.wrong(WrongValue, "opening", id, "fen", position.canonical_fen(), fen);
            }
            Ok((position, _)) if position.key().as_i64() != key => {
                findings.wrong(WrongValue, "opening", id, "key", position.key().as_i64(), key);
            }
            Ok(_) => {}
            Err(error) => {
                is_legal = false;
                let expected = format!("a legal position ({error})");
                findings.wrong(WrongValue, "opening", id, "fen", expected, fen);
            }
        }
        Ok(())
    })?;
    if !is_legal {
        return Ok(());
    }
    match (database.setting::<String>(NAME), database.opening_book()) {
        (Ok(found), Ok(book)) if found != book.digest() => {
            let found = "the rows do not match the checksum in `setting`, in the row 'openings'";
            findings.about(WrongValue, "opening", RowId::default(), found);
        }
        (Err(error), _) => findings.about(MissingRow, "setting", RowId::new([("name", NAME)]), error),
        (_, Err(error)) => findings.about(Unreadable, "opening", RowId::default(), error),
        _ => {}
    }
    Ok(())
}

/// Compares the totals of sources and imports with the counted rows.
pub(crate) fn totals(
    reader: Reader<'_>,
    sums: &Sums,
    distinct: Option<u64>,
    problems: &ProblemCounts,
) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let compare = |table, row: &RowId, name, expected: Option<i64>, found: Option<i64>| {
        if expected.is_some() && expected != found {
            let row = row.clone();
            findings.wrong(WrongCount, table, row, name, shown(expected), shown(found));
        }
    };
    let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
    let mut problems_of: HashMap<StoredId<ImportId>, i64> = HashMap::new();
    let sql =
        "SELECT source_id, games, plies, problems, last_game, indexed_at NOTNULL, import_id FROM source";
    for_each_row(connection, sql, [], &mut |row| {
        let id: StoredId<SourceId> = row.get(0)?;
        let source = sums.sources.get(&id).copied().unwrap_or_default();
        let place = RowId::new([("source_id", id)]);
        compare("source", &place, "games", number(source.games), row.get(1)?);
        compare("source", &place, "plies", number(source.plies), row.get(2)?);
        let problems = problems.get(&id).copied().unwrap_or(0);
        compare("source", &place, "problems", Some(problems), row.get(3)?);
        *problems_of.entry(row.get(6)?).or_default() += problems;
        let (last_game, is_indexed): (Option<i64>, bool) = (row.get(4)?, row.get(5)?);
        // `last_game` can be greater than the last stored offset, because later games can have been ignored
        // or skipped. A source that a repair added has none.
        if let Some(least) = source.last_game.filter(|_| is_indexed && source.last_game > last_game) {
            let (row, expected) = (place, format!("at least {least}"));
            findings.wrong(WrongValue, "source", row, "last_game", expected, shown(last_game));
        }
        Ok(())
    })?;
    let sql = "SELECT import_id, games, plies, positions, distinct_positions, problems FROM import";
    for_each_row(connection, sql, [], &mut |row| {
        let id: StoredId<ImportId> = row.get(0)?;
        let import = sums.imports.get(&id).copied().unwrap_or_default();
        let place = RowId::new([("import_id", id)]);
        compare("import", &place, "games", number(import.games), row.get(1)?);
        compare("import", &place, "plies", number(import.plies), row.get(2)?);
        compare("import", &place, "positions", number(import.positions), row.get(3)?);
        compare("import", &place, "distinct_positions", distinct.and_then(number), row.get(4)?);
        let problems = problems_of.get(&id).copied().unwrap_or(0);
        compare("import", &place, "problems", Some(problems), row.get(5)?);
        Ok(())
    })?;
    duplicate_totals(reader)
}

/// Compares the numbers of skipped games of sources and imports with the rows of `duplicate`.
fn duplicate_totals(Reader { connection, findings }: Reader<'_>) -> rusqlite::Result<()> {
    for Table { name: table, key } in [SOURCE, IMPORT] {
        let column = key[0];
        let sql = format!(
            "SELECT {column}, duplicates, ifnull(counted, 0) FROM {table} LEFT JOIN
                 (SELECT {column}, count(*) AS counted FROM duplicate WHERE game_id IS NULL GROUP BY 1) USING ({column})
             WHERE duplicates <> ifnull(counted, 0) ORDER BY 1"
        );
        for_each_row(connection, &sql, [], &mut |row| {
            let (id, found, expected): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            findings.wrong(WrongCount, table, RowId::new([(column, id)]), "duplicates", expected, found);
            Ok(())
        })?;
    }
    Ok(())
}

/// Reports names that no game uses.
pub(crate) fn unused_names(reader: Reader<'_>) -> rusqlite::Result<()> {
    for (table, used) in [
        (PLAYER, "white_id FROM game EXCEPT SELECT black_id FROM game"),
        (EVENT, "event_id FROM game"),
        (SITE, "site_id FROM game"),
    ] {
        let sql = format!("SELECT {} FROM {} EXCEPT SELECT {used}", table.key[0], table.name);
        reader.report_rows(SurplusRow, table, &sql, "no game has this name")?;
    }
    Ok(())
}

/// Reports rows of `removed_game` whose source and offset are also those of a row of `game` or `duplicate`.
pub(crate) fn removed_games(reader: Reader<'_>) -> rusqlite::Result<()> {
    if !reader.connection.query_row("SELECT EXISTS (SELECT 1 FROM removed_game)", [], |row| row.get(0))? {
        return Ok(());
    }
    let sql = "SELECT source_id, byte_offset FROM removed_game INTERSECT
               SELECT * FROM (SELECT source_id, byte_offset FROM game
                              UNION ALL SELECT source_id, byte_offset FROM duplicate)";
    reader.report_rows(SurplusRow, REMOVED_GAME, sql, "the game still exists")
}

/// Reports the rows `removed_games` and `last_game` of `setting` if their values are less than the minimum that
/// follows from other rows of the database.
pub(crate) fn removed_settings(
    Reader { connection, findings }: Reader<'_>,
    gone: MissingIds,
) -> rusqlite::Result<()> {
    let removed_games = match gone {
        MissingIds::All => LEAST_REMOVED_GAMES,
        // `numbers` reports missing ids.
        _ => "SELECT count(*) AS least FROM removed_game",
    };
    for (name, least) in [("removed_games", removed_games), ("last_game", LEAST_LAST_GAME)] {
        let sql = format!(
            "SELECT least, value FROM ({least}) LEFT JOIN setting ON name = ?1 WHERE least > ifnull(value, 0)"
        );
        for_each_row(connection, &sql, [name], &mut |row| {
            let (least, found): (i64, Value) = (row.get(0)?, row.get(1)?);
            let (expected, found) = (format!("at least {least}"), format_value((&found).into()));
            findings.wrong(WrongCount, "setting", RowId::new([("name", name)]), "value", expected, found);
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether `found` is the same definition as `expected`, or a table that has additional columns. The
/// additional columns can also be between the expected columns: a later version of the schema adds its
/// columns after columns that a user added.
fn is_extension(expected: &str, found: &str) -> bool {
    let (expected, found) = (words(expected), words(found));
    if expected == found {
        return true;
    }
    let (Some(expected), Some(found)) = (Parts::of(&expected), Parts::of(&found)) else { return false };
    let mut left = expected.items.iter().peekable();
    let has_only_more_columns =
        found.items.iter().all(|item| left.next_if_eq(&item).is_some() || !is_constraint(item));
    has_only_more_columns
        && left.next().is_none()
        && (expected.head, expected.tail) == (found.head, found.tail)
}

/// Whether an item of a table's definition is a constraint, not a column.
fn is_constraint(item: &[&str]) -> bool {
    const WORDS: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];
    item.first().is_some_and(|word| WORDS.iter().any(|constraint| word.eq_ignore_ascii_case(constraint)))
}

/// A `CREATE TABLE` statement.
struct Parts<'w, 's> {
    /// The words up to the first parenthesis.
    head: &'w [&'s str],
    /// The items between commas, each as its words.
    items: Vec<&'w [&'s str]>,
    /// The words from the closing parenthesis on.
    tail: &'w [&'s str],
}

impl<'w, 's> Parts<'w, 's> {
    fn of(words: &'w [&'s str]) -> Option<Self> {
        let is_table = words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("TABLE"));
        let open = words.iter().position(|word| *word == "(").filter(|_| is_table)?;
        let (mut depth, mut items, mut first) = (0_u32, Vec::new(), open + 1);
        for (index, word) in words.iter().enumerate().skip(open) {
            match *word {
                "(" => depth += 1,
                ")" if depth == 1 => {
                    items.push(&words[first..index]);
                    return Some(Self { head: &words[..open], items, tail: &words[index..] });
                }
                ")" => depth -= 1,
                "," if depth == 1 => {
                    items.push(&words[first..index]);
                    first = index + 1;
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::cell::GAME_POSITION;

    #[test]
    fn all_links_of_the_schema_are_followed() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::store::migrate(&mut connection, Path::new(":memory:")).unwrap();
        let mut statement = connection
            .prepare(
                "SELECT t.name, f.\"from\", f.\"table\" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
                 WHERE t.type = 'table' AND NOT (f.\"from\" = 'level' AND f.\"table\" = 'level_position')",
            )
            .unwrap();
        let rows = statement
            .query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
            .unwrap();
        let mut declared: Vec<_> = rows.collect::<Result<_, _>>().unwrap();
        let ours = all_links().chain([(GAME_POSITION, "game_id", GAME)]);
        let mut followed: Vec<_> = ours
            .map(|(table, column, parent)| (table.name.to_owned(), column.to_owned(), parent.name.to_owned()))
            .collect();
        declared.sort();
        followed.sort();
        assert_eq!(declared, followed);
    }

    const TABLE: &str = "CREATE TABLE t (\n    a INTEGER NOT NULL, -- the first, of two\n    b TEXT DEFAULT 'x, (y',\n    \
                         PRIMARY KEY (a, b)\n) WITHOUT ROWID";

    #[test]
    fn a_table_may_have_more_columns() {
        for found in [
            TABLE,
            "CREATE TABLE t (a INTEGER NOT NULL, note, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', note, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', c DEFAULT '), --', \"d e\" CHECK (\"d e\" IN (1, 2)), \
             PRIMARY KEY (a, b)) WITHOUT ROWID",
        ] {
            assert!(is_extension(TABLE, found), "{found}");
        }
    }

    #[test]
    fn other_differences_are_reported() {
        for found in [
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b))",
            "CREATE TABLE t (b TEXT DEFAULT 'x, (y', a INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, c TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'x, (y', PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', CHECK (a > b), PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE t (a INTEGER NOT NULL, b TEXT DEFAULT 'x, (y', note",
            "CREATE TABLE t",
            "",
        ] {
            assert!(!is_extension(TABLE, found), "{found}");
        }
        assert!(!is_extension("CREATE INDEX i ON t (a)", "CREATE INDEX i ON t (a, b)"));
        assert!(!is_extension("CREATE VIEW v AS SELECT f(a)", "CREATE VIEW v AS SELECT f(a, b)"));
    }
}
