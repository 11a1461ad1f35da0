//! Functions that run an import and check the database.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use pgndex::board::{MoveCode, Position};
use pgndex::index::{Duplicates, Error, IndexOptions, Progress, Summary, index};
use pgndex::opening::OpeningBook;
use pgndex::store::{Database, Layout};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

pub(crate) const GAMES: &str = include_str!("../../examples/famous-games.pgn");
/// Two games with every kind of annotation.
pub(crate) const ANNOTATED: &str = include_str!("../data/annotated.pgn");
pub(crate) const MIB: u64 = 1 << 20;

/// The two annotated games, repeated this many times with different players.
pub(crate) fn annotated(times: usize) -> String {
    (0..times).map(|time| ANNOTATED.replace("[White \"", &format!("[White \"{time}th "))).collect()
}

/// The first games, at most 999, of the synthetic collection.
pub(crate) fn synthetic(games: usize) -> &'static [u8] {
    let text = include_bytes!("../../examples/synthetic.pgn");
    let end = memchr::memmem::find_iter(text, b"\n\n[Event ").nth(games - 1).expect("a game");
    &text[..end + 2]
}

/// SQL that makes the tables in a writable schema accept values of any type.
pub(crate) const WITHOUT_STRICT: &str = "UPDATE sqlite_schema SET sql = replace(replace(sql, ', STRICT', ''), ') STRICT', ')') WHERE type = 'table'";

/// Makes a change that the constraints and column types of the database forbid. A hex editor could make such a change.
pub(crate) fn execute_without_constraints(database: &Connection, sql: &str) -> rusqlite::Result<()> {
    database.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
         CREATE TEMP TABLE strict AS SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '% STRICT';
         {WITHOUT_STRICT}; PRAGMA writable_schema = RESET"
    ))?;
    database.execute_batch(sql)?;
    database.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = sql || iif(sql LIKE '% WITHOUT ROWID', ', STRICT', ' STRICT')
         WHERE name IN (SELECT name FROM strict);
         PRAGMA writable_schema = RESET; DROP TABLE strict",
    )
}

pub(crate) fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// A temporary directory for the database of a text of this many bytes. Small databases are created in memory: tests
/// that create many of them would spend most of their time waiting for a disk.
pub(crate) fn directory_for(text: usize) -> TempDir {
    const LITTLE: usize = 200_000;
    if text <= LITTLE { directory_in_memory() } else { directory() }
}

/// A temporary directory in memory, if there is enough space. Thousands of files are created faster there.
pub(crate) fn directory_in_memory() -> TempDir {
    const MUCH: u64 = 1 << 30;
    let memory = Path::new("/dev/shm");
    let has_space = rustix::fs::statvfs(memory).is_ok_and(|stats| stats.f_bavail * stats.f_frsize > MUCH);
    has_space.then(|| tempfile::tempdir_in(memory).ok()).flatten().unwrap_or_else(directory)
}

/// A short list of openings. In a small database, the built-in list would be most of what is written and checked.
pub(crate) const OPENINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/openings.tsv");

/// The default options, with the short list of openings.
pub(crate) fn defaults() -> IndexOptions {
    static FEW: LazyLock<Arc<OpeningBook>> =
        LazyLock::new(|| Arc::new(OpeningBook::read(OPENINGS.as_ref()).expect("a list")));
    IndexOptions { openings: Arc::clone(&FEW), ..IndexOptions::default() }
}

/// Options with two threads and little memory that keep duplicates.
pub(crate) fn options() -> IndexOptions {
    let duplicates = Duplicates::Keep;
    // A few games are enough for several levels.
    let small_level = 2;
    IndexOptions { threads: 2, memory: 64 * MIB, duplicates, small_level, ..defaults() }
}

pub(crate) fn run<P: AsRef<Path>>(
    target: &Path,
    paths: &[P],
    options: &IndexOptions,
) -> Result<Summary, Error> {
    index(target, paths, options, &Progress::default())
}

/// Writes each text to its own file in a new directory, in the given order.
pub(crate) fn write_all(directory: &Path, texts: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    fs::create_dir(directory).expect("created");
    for (number, text) in texts.into_iter().enumerate() {
        fs::write(directory.join(format!("{number:06}.pgn")), text).expect("written");
    }
}

/// A file of PGN text and the database made of it.
pub(crate) struct Indexed {
    pub(crate) directory: TempDir,
    pub(crate) summary: Summary,
}

impl Indexed {
    pub(crate) fn new(text: impl AsRef<[u8]>) -> Self {
        let directory = directory_for(text.as_ref().len());
        let input = directory.path().join("in.pgn");
        fs::write(&input, text).expect("written");
        let summary = run(&directory.path().join("out.db"), &[input], &options()).expect("indexed");
        Self { directory, summary }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.path().join("out.db")
    }

    pub(crate) fn open(&self) -> Connection {
        open(&self.database())
    }

    /// The number of plies of each game.
    pub(crate) fn plies(&self) -> Vec<u32> {
        column(&self.open(), "SELECT ply_count FROM game ORDER BY game_id")
    }
}

pub(crate) fn open(path: &Path) -> Connection {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database");
    // A process has only one SQLite directory for temporary files, and another test may have set it to a full disk.
    database.pragma_update(None, "temp_store", "MEMORY").expect("set");
    // 64 MiB, because a connection often runs many queries over all rows.
    database.pragma_update(None, "cache_size", -65_536).expect("set");
    database
}

/// The first column of all rows.
pub(crate) fn column<T: rusqlite::types::FromSql>(database: &Connection, query: &str) -> Vec<T> {
    let mut query = database.prepare(query).expect("a query");
    query
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect)
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn number(database: &Connection, query: &str) -> u64 {
    database
        .query_row(query, [], |row| row.get::<_, i64>(0))
        .unwrap_or_else(|error| panic!("{query}: {error}"))
        .cast_unsigned()
}

/// All rows of a query, columns joined by `|`.
pub(crate) fn lines(database: &Connection, query: &str) -> Vec<String> {
    let mut query = database.prepare(query).expect("a query");
    query.query_map([], |row| Ok(line(row))).and_then(Iterator::collect).expect("rows")
}

/// A row's columns, joined by `|`.
fn line(row: &rusqlite::Row<'_>) -> String {
    let mut line = String::new();
    for column in 0..row.as_ref().column_count() {
        let separator = if column == 0 { "" } else { "|" };
        let written = match row.get_ref_unwrap(column) {
            ValueRef::Null => write!(line, "{separator}-"),
            ValueRef::Integer(number) => write!(line, "{separator}{number}"),
            ValueRef::Real(number) => write!(line, "{separator}{number}"),
            ValueRef::Text(text) => write!(line, "{separator}{}", std::str::from_utf8(text).expect("UTF-8")),
            ValueRef::Blob(bytes) => write!(line, "{separator}{}", bytes.escape_ascii()),
        };
        written.expect("written");
    }
    line
}

/// Checks that a query gives the same rows in two databases.
#[track_caller]
pub(crate) fn assert_same_rows(left: &Connection, right: &Connection, query: &str, what: &str) {
    let prepare = |database| Connection::prepare(database, query).expect("a query");
    let (mut left, mut right) = (prepare(left), prepare(right));
    let columns = left.column_count();
    let (mut left, mut right) = (left.query([]).expect("rows"), right.query([]).expect("rows"));
    for number in 1.. {
        let (left, right) = (left.next().expect("a row"), right.next().expect("a row"));
        let is_same = match (left, right) {
            (None, None) => return,
            (Some(left), Some(right)) => {
                (0..columns).all(|column| left.get_ref_unwrap(column) == right.get_ref_unwrap(column))
            }
            _ => false,
        };
        assert!(is_same, "{what}: row {number} of {query}:\n{:?}\n{:?}", left.map(line), right.map(line));
    }
}

/// Like [`assert_same_rows`]. But `left` can lack rows of visited positions if it has several levels: such a position has
/// no row if few games of each level reached it.
pub(crate) fn assert_same_answers(left: &Connection, right: &Connection, query: &str, what: &str) {
    let has_levels = number(left, "SELECT count(*) > 1 FROM occurrence_level") == 1;
    if !has_levels || !(query.contains("visited_position") || query.contains("FROM continuation")) {
        return assert_same_rows(left, right, query, what);
    }
    let all = lines(right, query);
    let found = lines(left, query);
    let missing = found.iter().find(|row| all.binary_search(row).is_err() && !all.contains(row));
    assert_eq!(missing, None, "{what}: {query}");
}

/// The sorted names of the files in a directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The message of an error with the messages of its causes.
pub(crate) fn message(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

/// The names of the tables of a database.
fn tables(database: &Connection) -> Vec<String> {
    column(
        database,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
}

/// A query for all columns of a table that are compared: not times, and not the options of an import.
fn contents(database: &Connection, table: &str) -> String {
    const TIMES: [&str; 4] = ["started_at", "finished_at", "seconds", "indexed_at"];
    let columns: Vec<String> =
        column(database, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"));
    let columns: Vec<String> = columns
        .into_iter()
        // The time columns of `game` come from its tags.
        .filter(|name| table == "game" || !TIMES.contains(&name.as_str()))
        .filter(|name| (table, name.as_str()) != ("import", "options"))
        .collect();
    let keys: Vec<String> =
        column(database, &format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"));
    format!("SELECT {} FROM {table} ORDER BY {}", columns.join(", "), keys.join(", "))
}

/// Asserts that two databases are the same: settings, schemas and all rows.
pub(crate) fn assert_same(left: &Path, right: &Path, what: &str) {
    let (left, right) = (open(left), open(right));
    for query in [
        "PRAGMA user_version",
        "PRAGMA application_id",
        "PRAGMA page_size",
        "PRAGMA encoding",
        "PRAGMA journal_mode",
        "PRAGMA auto_vacuum",
    ] {
        assert_eq!(lines(&left, query), lines(&right, query), "{what}: {query}");
    }
    assert_same_tables(&left, &right, what);
}

/// Asserts that two databases have the same schema and the same rows.
pub(crate) fn assert_same_tables(left: &Connection, right: &Connection, what: &str) {
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    assert_eq!(lines(left, schema), lines(right, schema), "{what}: {schema}");
    for table in tables(left) {
        assert_same_rows(left, right, &contents(left, &table), what);
    }
}

/// Asserts that a database with the open layout, and one with the compact layout that `run` makes of the same files, have the
/// same rows in all tables.
pub(crate) fn assert_compact_is_same(open_layout: &Path, paths: &[PathBuf], options: &IndexOptions) {
    let compact = open_layout.with_extension("compact.db");
    let options = IndexOptions { layout: Some(Layout::Compact), overwrite: true, ..options.clone() };
    run(&compact, paths, &options).expect("indexed");
    let open_database = |path: &Path| Database::open_read_only(path).expect("a database");
    let (left, right) = (open_database(open_layout), open_database(&compact));
    for table in tables(left.connection()).iter().filter(|table| *table != "game_moves") {
        assert_same_rows(
            left.connection(),
            right.connection(),
            &contents(left.connection(), table),
            "compact",
        );
    }
    fs::remove_file(compact).expect("removed");
}

/// Asserts that a database is sound, and that its tables agree with each other and with the summary of the run.
pub(crate) fn assert_sound(path: &Path, summary: &Summary) {
    let database = open(path);
    let is = |query: &str, expected: u64| assert_eq!(number(&database, query), expected, "{query}");
    assert_eq!(lines(&database, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(lines(&database, "PRAGMA foreign_key_check"), Vec::<String>::new());
    is("PRAGMA freelist_count", 0);
    let rows = number(&database, "SELECT count(*) FROM game_position");
    is("SELECT count(*) FROM position_game", rows);
    is(
        "SELECT count(*) FROM game_position AS p CROSS JOIN position_game AS o
         ON o.key = p.key AND o.game_id = p.game_id AND o.ply = p.ply",
        rows,
    );
    assert_eq!(summary.positions, rows);
    let skipped = number(&database, "SELECT count(*) FROM game WHERE status = 'skipped'");
    is("SELECT count(*) FROM game", summary.games);
    is("SELECT ifnull(sum(ply_count), 0) FROM game", summary.plies);
    assert_eq!(summary.plies + summary.games - skipped, rows);
    is("SELECT count(DISTINCT key) FROM position_game", summary.distinct_positions);
    is(
        "SELECT count(*) FROM game AS g WHERE (SELECT count(*) FROM game_position AS p WHERE p.game_id = g.game_id)
             <> CASE status WHEN 'skipped' THEN 0 ELSE ply_count + 1 END",
        0,
    );
    is(
        "SELECT count(*) FROM game_position AS p JOIN game AS g ON g.game_id = p.game_id
         WHERE (p.move_code IS NULL) <> (p.ply = g.ply_count)",
        0,
    );
    is(
        "SELECT count(*) FROM game AS g WHERE opening_id IS NOT (
             SELECT o.opening_id FROM game_position AS p CROSS JOIN opening AS o ON o.key = p.key AND o.fen = p.fen
             WHERE p.game_id = g.game_id ORDER BY p.ply DESC LIMIT 1)",
        0,
    );
    let import =
        "SELECT games, plies, positions, distinct_positions FROM import WHERE finished_at IS NOT NULL";
    let Summary { games, plies, positions, distinct_positions, .. } = summary;
    assert_eq!(lines(&database, import), [format!("{games}|{plies}|{positions}|{distinct_positions}")]);
    assert_counts_agree(&database, summary);
    assert_ids_ascend(&database);
    assert_positions_follow(&database);
    assert_eq!(summary.file_bytes, fs::metadata(path).expect("a file").len());
}

/// Asserts that the stored counts of sources and problems agree with the rows.
fn assert_counts_agree(database: &Connection, summary: &Summary) {
    let counted = "WITH
        games AS (SELECT source_id, count(*) AS games, sum(ply_count) AS plies FROM game GROUP BY 1),
        problems AS (SELECT source_id, count(*) AS problems FROM problem GROUP BY 1),
        duplicates AS (SELECT source_id, count(*) AS duplicates FROM duplicate WHERE game_id IS NULL GROUP BY 1)
        SELECT source_id, ifnull(games.games, 0), ifnull(games.plies, 0), ifnull(problems.problems, 0),
            ifnull(duplicates.duplicates, 0)
        FROM source LEFT JOIN games USING (source_id) LEFT JOIN problems USING (source_id)
            LEFT JOIN duplicates USING (source_id)
        ORDER BY 1";
    let stored = "SELECT source_id, games, plies, problems, duplicates FROM source ORDER BY 1";
    assert_eq!(lines(database, stored), lines(database, counted));
    assert_eq!(
        number(database, "SELECT sum(problems) FROM import"),
        number(database, "SELECT count(*) FROM problem")
    );
    let stored: Vec<String> = summary
        .duplicates
        .iter()
        .filter(|&(_, count)| count > 0)
        .map(|(kind, count)| format!("{kind}|{count}"))
        .collect();
    let counted = "SELECT kind, count(*) FROM duplicate GROUP BY 1 ORDER BY kind <> 'same', kind";
    assert_eq!(stored, lines(database, counted));
    let mut stored: Vec<String> = summary
        .problems
        .iter()
        .map(|(severity, kind, count)| format!("{}|{kind}|{count}", severity.as_str()))
        .collect();
    stored.sort();
    let counted = "SELECT severity, kind, count(*) FROM problem GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(stored, lines(database, counted));
}

/// Asserts that ids are 1, 2, 3 … and follow the order of the input, and that each player has a game.
fn assert_ids_ascend(database: &Connection) {
    for table in ["game", "player", "event", "site", "source", "problem", "opening"] {
        let rows = number(database, &format!("SELECT count(*) FROM {table}"));
        let last = number(database, &format!("SELECT ifnull(max({table}_id), 0) FROM {table}"));
        assert_eq!(rows, last, "{table}");
    }
    let out_of_order = "SELECT count(*) FROM game AS a JOIN game AS b ON b.game_id = a.game_id + 1
        WHERE (b.source_id, b.byte_offset) < (a.source_id, a.byte_offset + a.byte_length)";
    assert_eq!(number(database, out_of_order), 0, "games overlap or are out of order");
    let unused = "SELECT count(*) FROM player WHERE player_id NOT IN
        (SELECT white_id FROM game WHERE white_id IS NOT NULL UNION SELECT black_id FROM game WHERE black_id IS NOT NULL)";
    assert_eq!(number(database, unused), 0, "a player without games");
}

/// Combinations of options that must not change what is stored; the first one is the simplest.
pub(crate) fn variants() -> impl Iterator<Item = IndexOptions> {
    let base = IndexOptions { threads: 1, memory: 256 * MIB, chunk_size: 64 << 20, ..options() };
    let chunks = [64 << 20, 64 << 10, 4 << 10];
    let memories = [256 * MIB, MIB, 0];
    [1, 2, 4].into_iter().flat_map(move |threads| {
        let base = base.clone();
        (0..3).map(move |step| IndexOptions {
            threads,
            chunk_size: chunks[step],
            memory: memories[(step + threads) % 3],
            ..base.clone()
        })
    })
}

/// Adds a trigger to a database. From then on, the program adds and removes games through SQL.
pub(crate) fn write_through_sql(path: &Path) {
    let trigger = "CREATE TRIGGER own AFTER INSERT ON import BEGIN SELECT 1; END";
    Connection::open(path).and_then(|database| database.execute_batch(trigger)).expect("a trigger");
}

/// Asserts that the positions match their FENs, and that each position follows from the previous one by its move.
fn assert_positions_follow(database: &Connection) {
    // The first games of each source are checked, about this many plies of each. The more sources, the fewer plies.
    let most =
        (60_000 / number(database, "SELECT max(1, count(*)) FROM source")).clamp(200, 3000).cast_signed();
    let query = "WITH games AS (SELECT game_id, ply_count, sum(ply_count) OVER (PARTITION BY source_id ORDER BY game_id) AS plies FROM game)
        SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position
        WHERE game_id IN (SELECT game_id FROM games WHERE plies - ply_count < ?1) ORDER BY game_id, ply";
    let mut query = database.prepare(query).expect("a query");
    let mut rows = query.query([most]).expect("rows");
    let mut next: Option<Position> = None;
    while let Some(row) = rows.next().expect("a row") {
        let (game, ply): (u32, u32) = (row.get_unwrap(0), row.get_unwrap(1));
        let (key, clock): (i64, u32) = (row.get_unwrap(2), row.get_unwrap(3));
        let (code, fen): (Option<u32>, String) = (row.get_unwrap(4), row.get_unwrap(5));
        let (mut position, _) = Position::from_fen(format!("{fen} {clock} 1").as_bytes()).expect("a FEN");
        let what = format!("game {game}, ply {ply}");
        assert_eq!((position.canonical_fen(), position.key().as_i64()), (fen.clone(), key), "{what}");
        match next.take() {
            Some(next) => assert_eq!((next.canonical_fen(), next.halfmove_clock()), (fen, clock), "{what}"),
            None => assert_eq!(ply, 0, "{what}"),
        }
        let Some(code) = code else { continue };
        let code = MoveCode::from_bits(code).expect("a move code");
        let made = position.make(code).expect("a legal move");
        let mates = position.is_check() && !position.has_legal_move();
        assert_eq!(if mates { made.with_mate() } else { made }, code, "{what}");
        next = Some(position);
    }
}

/// A file system that is unmounted on drop.
pub(crate) struct Mount(pub(crate) PathBuf);

impl Mount {
    /// Mounts a file system of a given size in memory. `None`, with a message, if nothing can be mounted.
    pub(crate) fn new(path: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&path).expect("created");
        let options = format!("size={size}");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&path)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        // Even root may lack the capability to mount, as in most containers.
        let may_mount = fs::read_to_string("/proc/self/status").is_ok_and(|status| {
            let given = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
            given
                .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
                .is_some_and(|set| set >> 21 & 1 == 1)
        });
        match may_mount {
            true => crate::needs::skip("mount fails"),
            false => println!("skipped: mounting is not permitted"),
        }
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}
