//! Pages that are built directly, compared with the same rows inserted by SQL.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::properties::cases;
use crate::support::directory_for;
use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::pages::{
    BtreeError, Combined, LONGEST_COMBINED, LeafWriter, PageFile, PageNumber, PositionRecord, RebuiltTree,
    Record, Segment, Tree, assemble, combine, count_unchanged_leaves,
};
use pgndex::store::row::{GameId, Level, Occurrence, OccurrenceRow, Ply};
use proptest::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use tempfile::TempDir;

const SCHEMA: &str = "
    CREATE TABLE game_position(
        game_id INTEGER NOT NULL, ply INTEGER NOT NULL, key INTEGER NOT NULL, halfmove_clock INTEGER NOT NULL,
        move_code INTEGER, fen TEXT NOT NULL, PRIMARY KEY(game_id, ply)) WITHOUT ROWID;
    CREATE TABLE occurrence(
        level INTEGER NOT NULL, key INTEGER NOT NULL, game_id INTEGER NOT NULL, ply INTEGER NOT NULL,
        PRIMARY KEY(level, key, game_id, ply)) WITHOUT ROWID;";

/// A directory with an empty database, created by SQLite.
struct Database {
    directory: TempDir,
}

impl Database {
    fn new(page_size: u32) -> Self {
        let database = Self { directory: directory_for(0) };
        let connection = database.connect();
        connection.pragma_update(None, "page_size", page_size).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection.close().unwrap();
        database
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("test.db")
    }

    fn connect(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;").unwrap();
        connection
    }

    fn root(&self, table: &str) -> PageNumber {
        let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        PageNumber(self.connect().query_row(query, [table], |row| row.get(0)).unwrap())
    }
}

/// The rows of a table, and both ways to write them to a database.
trait Table {
    const NAME: &'static str;
    type Row: Clone + PartialEq + std::fmt::Debug + Sync;
    type Record<'r>: Record;

    fn record(row: &Self::Row) -> Self::Record<'_>;
    fn insert(connection: &Connection, row: &Self::Row);
    fn all(connection: &Connection) -> Vec<Self::Row>;
    /// Finds a row by its whole key.
    fn look_up(connection: &Connection, row: &Self::Row) -> Vec<Self::Row>;
    /// All rows with the same first key column.
    fn range(connection: &Connection, row: &Self::Row) -> Vec<Self::Row>;
}

struct Occurrences;

const fn level_row(occurrence: Occurrence) -> OccurrenceRow {
    OccurrenceRow { level: Level::FIRST, occurrence }
}

fn read_occurrence(row: &rusqlite::Row<'_>) -> rusqlite::Result<Occurrence> {
    Ok(Occurrence::new(PositionKey::from_i64(row.get(0)?), GameId(row.get(1)?), Ply(row.get(2)?)))
}

impl Table for Occurrences {
    const NAME: &'static str = "occurrence";
    type Row = Occurrence;
    type Record<'r> = OccurrenceRow;

    fn record(row: &Occurrence) -> OccurrenceRow {
        level_row(*row)
    }

    fn insert(connection: &Connection, row: &Occurrence) {
        let mut insert = connection.prepare_cached("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)").unwrap();
        insert.execute(params![row.key().as_i64(), row.game().0, row.ply().0]).unwrap();
    }

    fn all(connection: &Connection) -> Vec<Occurrence> {
        select(connection, "SELECT key, game_id, ply FROM occurrence", [], read_occurrence)
    }

    fn look_up(connection: &Connection, row: &Occurrence) -> Vec<Occurrence> {
        let query = "SELECT key, game_id, ply FROM occurrence WHERE level = 1 AND key = ?1 AND game_id = ?2 AND ply = ?3";
        select(connection, query, params![row.key().as_i64(), row.game().0, row.ply().0], read_occurrence)
    }

    fn range(connection: &Connection, row: &Occurrence) -> Vec<Occurrence> {
        let query = "SELECT key, game_id, ply FROM occurrence WHERE level = 1 AND key = ?1 ORDER BY key, game_id, ply";
        select(connection, query, [row.key().as_i64()], read_occurrence)
    }
}

struct Positions;

#[derive(Clone, Debug, PartialEq)]
struct Position {
    game: u32,
    ply: u32,
    key: i64,
    halfmove_clock: u32,
    move_code: Option<u32>,
    fen: String,
}

fn read_position(row: &rusqlite::Row<'_>) -> rusqlite::Result<Position> {
    Ok(Position {
        game: row.get(0)?,
        ply: row.get(1)?,
        key: row.get(2)?,
        halfmove_clock: row.get(3)?,
        move_code: row.get(4)?,
        fen: row.get(5)?,
    })
}

impl Table for Positions {
    const NAME: &'static str = "game_position";
    type Row = Position;
    type Record<'r> = PositionRecord<&'r [u8]>;

    fn record(row: &Position) -> PositionRecord<&[u8]> {
        PositionRecord {
            game: GameId(row.game),
            ply: Ply(row.ply),
            key: PositionKey::from_i64(row.key),
            halfmove_clock: row.halfmove_clock,
            move_code: row.move_code.map(MoveCode::from_stored),
            fen: row.fen.as_bytes(),
        }
    }

    fn insert(connection: &Connection, row: &Position) {
        let mut insert =
            connection.prepare_cached("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)").unwrap();
        let values = params![row.game, row.ply, row.key, row.halfmove_clock, row.move_code, row.fen];
        insert.execute(values).unwrap();
    }

    fn all(connection: &Connection) -> Vec<Position> {
        select(connection, "SELECT * FROM game_position", [], read_position)
    }

    fn look_up(connection: &Connection, row: &Position) -> Vec<Position> {
        let query = "SELECT * FROM game_position WHERE game_id = ?1 AND ply = ?2";
        select(connection, query, [row.game, row.ply], read_position)
    }

    fn range(connection: &Connection, row: &Position) -> Vec<Position> {
        select(connection, "SELECT * FROM game_position WHERE game_id = ?1", [row.game], read_position)
    }
}

fn select<T>(
    connection: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
    read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut select = connection.prepare_cached(query).unwrap();
    let rows = select.query_map(parameters, read).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn check_integrity(connection: &Connection) {
    let problems = select(connection, "PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(problems, ["ok"]);
}

/// Builds `segments`, given as slices of the table's rows, on `threads` threads.
fn build<T: Table>(path: &Path, root: PageNumber, segments: &[&[T::Row]], buffer: usize, threads: usize) {
    let file = Arc::new(PageFile::open(path).unwrap());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let worker = || {
        let mut writer = LeafWriter::with_buffer(Arc::clone(&file), NonZeroUsize::new(buffer).unwrap());
        let mut done = Vec::new();
        while let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            && let Some(rows) = segments.get(number)
        {
            rows.iter().try_for_each(|row| writer.push(&T::record(row))).unwrap();
            done.push((number, writer.finish_segment().unwrap()));
        }
        done
    };
    let mut built: Vec<(usize, Segment)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    built.sort_by_key(|(number, _)| *number);
    assemble(&file, root, built.into_iter().map(|(_, segment)| segment)).unwrap();
    file.finish().unwrap();
}

/// Divides `rows` into segments of the given lengths; the rest is the last segment.
fn cut<'r, R>(mut rows: &'r [R], lengths: &[usize]) -> Vec<&'r [R]> {
    let mut segments = Vec::new();
    for &length in lengths {
        let (segment, rest) = rows.split_at(length.min(rows.len()));
        segments.push(segment);
        rows = rest;
    }
    segments.push(rows);
    segments
}

/// The parameters for building a database.
#[derive(Clone, Copy, Debug)]
struct Case<'c> {
    page_size: u32,
    segments: &'c [usize],
    buffer: usize,
    threads: usize,
}

impl Case<'_> {
    /// Builds a database of `rows`, and checks that it is sound and has exactly these rows.
    fn build<T: Table>(self, rows: &[T::Row]) -> Database {
        let database = Database::new(self.page_size);
        let segments = cut(rows, self.segments);
        build::<T>(&database.path(), database.root(T::NAME), &segments, self.buffer, self.threads);
        let connection = database.connect();
        check_integrity(&connection);
        assert!(T::all(&connection) == rows, "{} rows, {self:?}", rows.len());
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0)).unwrap();
        let length = std::fs::metadata(database.path()).unwrap().len();
        assert_eq!(u64::from(pragma("page_count")) * u64::from(self.page_size), length);
        assert_eq!(pragma("freelist_count"), 0);
        database
    }

    /// Builds a database of `rows`, and compares it with one that is filled by SQL.
    fn check<T: Table>(self, rows: &[T::Row]) {
        let databases = [self.build::<T>(rows), Database::new(4096)];
        let [built, oracle] = &databases.each_ref().map(Database::connect);
        oracle.execute_batch("BEGIN").unwrap();
        rows.iter().for_each(|row| T::insert(oracle, row));
        oracle.execute_batch("COMMIT").unwrap();
        assert!(T::all(built) == T::all(oracle));
        let count = format!("SELECT count(*) FROM {}", T::NAME);
        let count = |connection: &Connection| select(connection, &count, [], |row| row.get::<_, i64>(0));
        assert_eq!(count(built), count(oracle));
        for row in rows.iter().step_by(1 + rows.len() / 500) {
            assert_eq!(T::look_up(built, row), std::slice::from_ref(row));
            assert_eq!(T::range(built, row), T::range(oracle, row));
        }
        check_changes::<T>(built, rows);
    }
}

/// Deletes and inserts rows through SQL, so that SQLite splits, merges and frees the built pages.
fn check_changes<T: Table>(connection: &Connection, rows: &[T::Row]) {
    connection.execute_batch("BEGIN").unwrap();
    let column = if T::NAME == "occurrence" { "game_id" } else { "key" };
    connection.execute(&format!("DELETE FROM {} WHERE {column} % 3 = 0", T::NAME), []).unwrap();
    connection.execute_batch("COMMIT").unwrap();
    check_integrity(connection);
    let kept = T::all(connection).len();
    let mut missing = rows.iter().filter(|row| T::look_up(connection, row).is_empty()).collect::<Vec<_>>();
    assert_eq!(kept + missing.len(), rows.len());
    connection.execute_batch("BEGIN").unwrap();
    missing.reverse();
    missing.iter().for_each(|row| T::insert(connection, row));
    connection.execute_batch("COMMIT").unwrap();
    check_integrity(connection);
    assert!(T::all(connection) == rows);
    connection.execute_batch(&format!("DELETE FROM {}; VACUUM;", T::NAME)).unwrap();
    check_integrity(connection);
}

/// The number of levels of a table's B-tree.
fn height<T: Table>(database: &Database) -> u32 {
    // A path is `/` for the root, followed by three digits and `/` for each level.
    let query = "SELECT max(length(path) / 4 + 1) FROM dbstat WHERE name = ?1";
    database.connect().query_row(query, [T::NAME], |row| row.get(0)).unwrap()
}

/// A fixed pseudo-random sequence (splitmix64).
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

/// `count` sorted occurrences; some keys are repeated, as those of openings are.
fn occurrences(count: usize) -> Vec<Occurrence> {
    let mut numbers = numbers();
    let mut number = || numbers.next().unwrap();
    let rows = std::iter::repeat_with(|| {
        let key = if number() % 4 == 0 { number() % 16 } else { number() };
        let game = (number() as u32) >> (number() % 32);
        Occurrence::new(PositionKey(key), GameId(game), Ply(number() as u32 % 300))
    });
    let mut rows: Vec<_> = rows.take(count).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// `count` positions in order; `fen` is the maximum length of a FEN.
fn positions(count: usize, fen: usize) -> Vec<Position> {
    let mut numbers = numbers();
    let mut number = || numbers.next().unwrap();
    let (mut game, mut ply) = (0, 0);
    let row = || {
        let last = number() % 40 == 0;
        let row = Position {
            game,
            ply,
            key: number() as i64,
            halfmove_clock: (number() % 100) as u32 >> (number() % 8),
            move_code: (!last).then_some(number() as u32),
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
                .chars()
                .cycle()
                .take(fen - number() as usize % (fen / 2))
                .collect(),
        };
        (game, ply) = if last { (game + 1 + number() as u32 % 1000, 0) } else { (game, ply + 1) };
        row
    };
    std::iter::repeat_with(row).take(count).collect()
}

#[test]
fn every_small_count() {
    // With 512-byte pages, a leaf has about 22 rows, and the tree has 1 to 3 levels. There is one segment, or several.
    let rows = occurrences(1_000);
    let mut heights = BTreeSet::new();
    for count in 0..rows.len() {
        let segments: &[&[usize]] =
            &[&[], &[0, 1], &[count / 2, 1, 1], &[count.saturating_sub(1)], &[25; 20]];
        let segments = segments[count % segments.len()];
        let buffer = 1 + count % 3;
        let case = Case { page_size: 512, segments, buffer, threads: 1 };
        heights.insert(height::<Occurrences>(&case.build::<Occurrences>(&rows[..count])));
    }
    assert_eq!(heights, [1, 2, 3].into());
}

#[test]
fn segments_ending_near_the_end_of_a_page() {
    // Segments that end close to the end of a page, where a row moves up, moves back or gets its own page.
    let rows = occurrences(300);
    for first in 0..70 {
        for second in [0, 1, 2, 3, 24, 25, 26] {
            let segments = [first, second];
            Case { page_size: 512, segments: &segments, buffer: 1, threads: 1 }
                .build::<Occurrences>(&rows[..first + second + 70]);
            Case { page_size: 512, segments: &segments, buffer: 1, threads: 1 }
                .build::<Occurrences>(&rows[..first + second]);
        }
    }
}

#[test]
fn tiny_segments() {
    let rows = occurrences(2_000);
    for length in 0..4 {
        let segments = vec![length; 700];
        Case { page_size: 512, segments: &segments, buffer: 2, threads: 2 }.check::<Occurrences>(&rows);
        Case { page_size: 512, segments: &segments, buffer: 2, threads: 1 }
            .build::<Occurrences>(&rows[..(length * 700).min(rows.len())]);
    }
    // Long and tiny segments in turn.
    for tiny in 0..4 {
        let segments: Vec<usize> = [100, tiny].repeat(15);
        Case { page_size: 512, segments: &segments, buffer: 2, threads: 2 }.check::<Occurrences>(&rows);
        Case { page_size: 512, segments: &segments[1..], buffer: 2, threads: 2 }.check::<Occurrences>(&rows);
    }
}

fn check_page_sizes(sizes: &[u32], rows: usize) {
    for &page_size in sizes {
        let segments = [0, rows / 6, 1, rows / 4];
        let case = Case { page_size, segments: &segments, buffer: 5, threads: 2 };
        case.check::<Occurrences>(&occurrences(rows));
        case.check::<Positions>(&positions(rows * 3 / 4, if page_size == 512 { 60 } else { 90 }));
    }
}

#[test]
fn the_smallest_the_default_and_the_largest_pages() {
    check_page_sizes(&[512, 4096, 65536], 13_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn many_rows_on_pages_of_all_sizes() {
    check_page_sizes(&[512, 1024, 2048, 4096, 8192, 16384, 32768, 65536], 40_000);
}

#[test]
fn high_trees() {
    // Rows of about 95 bytes on 512-byte pages give a fan-out of about 5.
    let rows = positions(9_000, 70);
    let mut heights = BTreeSet::new();
    let powers = (8..13).flat_map(|bit| (1 << bit) - 3..(1 << bit) + 4);
    for count in (0..200).chain(powers).chain(rows.len() - 40..=rows.len()) {
        let segments = [count / 3, 2, count / 3, 1];
        let case = Case { page_size: 512, segments: &segments, buffer: 3, threads: 2 };
        heights.insert(height::<Positions>(&case.build::<Positions>(&rows[..count])));
    }
    assert_eq!(heights, [1, 2, 3, 4, 5].into());
}

#[test]
#[ignore = "writes 1.1 GB"]
fn the_lock_page_stays_empty() {
    const PAGE_SIZE: u32 = 65536;
    const LOCK_PAGE: PageNumber = PageNumber((1 << 30) / PAGE_SIZE + 1);
    let (database, fen) = (Database::new(PAGE_SIZE), "x".repeat(4_000));
    let root = database.root(Positions::NAME);
    let file = Arc::new(PageFile::open(&database.path()).unwrap());
    let mut writer = LeafWriter::new(Arc::clone(&file));
    for ply in 0..280_000 {
        let row = Position { game: 1, ply, key: 2, halfmove_clock: 3, move_code: None, fen: String::new() };
        writer.push(&PositionRecord { fen: fen.as_bytes(), ..Positions::record(&row) }).unwrap();
    }
    assemble(&file, root, [writer.finish_segment().unwrap()]).unwrap();
    file.finish().unwrap();
    assert!(file.page_count() > LOCK_PAGE.0 + 100);
    let mut page = vec![1; PAGE_SIZE as usize];
    file.read_page(LOCK_PAGE, &mut page).unwrap();
    assert!(page.iter().all(|&byte| byte == 0));
    let connection = database.connect();
    check_integrity(&connection);
    let query = "SELECT count(*), sum(ply), min(length(fen)) FROM game_position";
    let row = |row: &rusqlite::Row<'_>| Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?]);
    assert_eq!(select(&connection, query, [], row), [[280_000, 280_000 * 279_999 / 2, 4_000]]);
}

#[test]
fn many_threads() {
    let rows = occurrences(50_000);
    Case { page_size: 1024, segments: &vec![499; 90], buffer: 4, threads: 8 }.check::<Occurrences>(&rows);
}

#[test]
fn two_tables_at_once() {
    let database = Database::new(1024);
    let (occurrences, positions) = (occurrences(20_000), positions(20_000, 80));
    let file = Arc::new(PageFile::open(&database.path()).unwrap());
    let roots = (database.root("occurrence"), database.root("game_position"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = LeafWriter::new(Arc::clone(&file));
            occurrences.iter().for_each(|row| writer.push(&Occurrences::record(row)).unwrap());
            let segment = writer.finish_segment().unwrap();
            assert!(!segment.is_empty() && segment.memory() > 0);
            assemble(&file, roots.0, [segment]).unwrap();
        });
        scope.spawn(|| {
            let mut writer = LeafWriter::new(Arc::clone(&file));
            positions.iter().for_each(|row| writer.push(&Positions::record(row)).unwrap());
            assemble(&file, roots.1, [writer.finish_segment().unwrap()]).unwrap();
        });
    });
    file.finish().unwrap();
    let connection = database.connect();
    check_integrity(&connection);
    assert!(Occurrences::all(&connection) == occurrences);
    assert!(Positions::all(&connection) == positions);
}

#[test]
fn encoded_rows_give_the_same_pages() {
    let rows = positions(5_000, 80);
    let build = |push: fn(&mut LeafWriter, &Position)| {
        let database = Database::new(1024);
        let root = database.root("game_position");
        let file = Arc::new(PageFile::open(&database.path()).unwrap());
        let mut writer = LeafWriter::new(Arc::clone(&file));
        rows.iter().for_each(|row| push(&mut writer, row));
        assemble(&file, root, [writer.finish_segment().unwrap()]).unwrap();
        file.finish().unwrap();
        std::fs::read(database.path()).unwrap()
    };
    let direct = build(|writer, row| writer.push(&Positions::record(row)).unwrap());
    let encoded = build(|writer, row| {
        let record = Positions::record(row);
        let mut space = vec![0; record.max_length()];
        let length = record.write_at_end(&mut space);
        writer.push_payload(&space[space.len() - length..]).unwrap();
    });
    assert!(direct == encoded);
}

#[test]
fn long_rows_are_refused() {
    let database = Database::new(512);
    let file = Arc::new(PageFile::open(&database.path()).unwrap());
    let mut writer = LeafWriter::new(file);
    let row = |fen| Position { game: 1, ply: 2, key: i64::MAX, halfmove_clock: 7, move_code: None, fen };
    let longest = row("x".repeat(84));
    assert!(writer.push(&Positions::record(&longest)).is_ok(), "a row of 102 bytes");
    let error = writer.push(&Positions::record(&row("x".repeat(85)))).unwrap_err();
    assert!(matches!(error, BtreeError::RowLength { length: 103, max: 102 }), "{error}");
    assert!(writer.push_payload(&[2, 8]).is_err());
    let error = writer.push(&Positions::record(&row("x".repeat(1 << 21)))).unwrap_err();
    assert!(matches!(error, BtreeError::RowLength { .. }), "{error}");
}

#[test]
fn longest_rows() {
    // The minimum number of rows on a page: 4, or 3 on the largest pages.
    for (page_size, fen) in [(512, 76), (1024, 200), (4096, 975), (65536, 16_390)] {
        let mut rows = positions(300, fen);
        rows.iter_mut().for_each(|row| row.fen = "x".repeat(fen));
        for count in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 25, 100, 299, 300] {
            for segments in [&[][..], &[1], &[4, 1, 4], &[3, 4, 5, 6, 7]] {
                Case { page_size, segments, buffer: 1, threads: 1 }.build::<Positions>(&rows[..count]);
            }
        }
    }
}

#[test]
fn unsuitable_files() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("other.db");
    let reason = |path: &Path| match PageFile::open(path).unwrap_err() {
        BtreeError::Unsuitable { reason, .. } => reason,
        error => panic!("{error}"),
    };
    assert!(matches!(PageFile::open(&path), Err(BtreeError::Io { action: "open", .. })));
    std::fs::write(&path, "short").unwrap();
    assert_eq!(reason(&path), "it is not an SQLite database");
    std::fs::write(&path, [b'x'; 5000]).unwrap();
    assert_eq!(reason(&path), "it is not an SQLite database");
    std::fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA auto_vacuum = FULL; CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID")
        .unwrap();
    drop(connection);
    assert_eq!(reason(&path), "it has pointer-map pages (auto_vacuum)");
    let database = Database::new(1024);
    let path = database.path();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.pop();
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(reason(&path), "its length does not match the page count in its header");
}

#[test]
fn unsuitable_roots() {
    let database = Database::new(1024);
    let connection = database.connect();
    connection.execute_batch("CREATE TABLE t(a INTEGER PRIMARY KEY)").unwrap();
    Occurrences::insert(&connection, &Occurrence::default());
    drop(connection);
    let file = Arc::new(PageFile::open(&database.path()).unwrap());
    for root in
        [PageNumber(0), PageNumber(1), database.root("t"), database.root("occurrence"), PageNumber(99)]
    {
        let error = assemble(&file, root, []).unwrap_err();
        assert!(matches!(error, BtreeError::Root { root: other } if other == root), "{error}");
    }
    assemble(&file, database.root("game_position"), []).unwrap();
    file.finish().unwrap();
    check_integrity(&database.connect());
}

#[test]
fn unwritten_pages_are_detected() {
    let database = Database::new(1024);
    let file = PageFile::open(&database.path()).unwrap();
    file.allocate(1).unwrap();
    assert!(matches!(file.finish(), Err(BtreeError::Unsuitable { .. })));
}

/// Numbers near the limits at which the stored length of integers changes.
fn number() -> impl Strategy<Value = u32> {
    const EDGES: [u32; 10] = [0, 127, 128, 255, 256, 32_767, 32_768, 1 << 23, 1 << 31, u32::MAX];
    prop_oneof![
        any::<u32>(),
        0..200_u32,
        (0..EDGES.len(), -2..=2_i64)
            .prop_map(|(at, by)| (i64::from(EDGES[at]) + by).clamp(0, u32::MAX.into()) as u32),
    ]
}

fn key() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -3..3_i64,
        (0..64_u32, -2..=2_i64).prop_map(|(bit, by): (u32, i64)| (1_i64 << bit).wrapping_add(by))
    ]
}

fn occurrence() -> impl Strategy<Value = Occurrence> {
    (key(), number(), number())
        .prop_map(|(key, game, ply)| Occurrence::new(PositionKey::from_i64(key), GameId(game), Ply(ply)))
}

fn position() -> impl Strategy<Value = Position> {
    let fields = (number(), number(), key(), number(), proptest::option::of(number()), "[ -~]{0,62}");
    fields.prop_map(|(game, ply, key, halfmove_clock, move_code, fen)| Position {
        game,
        ply,
        key,
        halfmove_clock,
        move_code,
        fen,
    })
}

fn segments() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![0..3_usize, 0..60_usize, 0..600_usize], 0..12)
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn any_occurrences(
        rows in proptest::collection::btree_set(occurrence(), 0..1_500),
        segments in segments(),
        page_size in proptest::sample::select(vec![512, 1024, 4096, 8192]),
        buffer in 1..6_usize,
        threads in 1..4_usize,
    ) {
        let rows: Vec<_> = rows.into_iter().collect();
        Case { page_size, segments: &segments, buffer, threads }.check::<Occurrences>(&rows);
    }

    #[test]
    fn any_positions(
        mut rows in proptest::collection::vec(position(), 0..800),
        segments in segments(),
        page_size in proptest::sample::select(vec![512, 1024, 4096, 65536]),
        buffer in 1..6_usize,
        threads in 1..4_usize,
    ) {
        rows.sort_by_key(|row| (row.game, row.ply));
        rows.dedup_by_key(|row| (row.game, row.ply));
        Case { page_size, segments: &segments, buffer, threads }.check::<Positions>(&rows);
    }
}

/// An index with rows of any kind, in a database whose pages SQLite filled in any order.
fn index_of(path: &Path, page_size: u32, rows: &[(Value, Value)], first_id: i64) -> PageNumber {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "page_size", page_size).unwrap();
    connection
        .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (a, b); BEGIN")
        .unwrap();
    for (id, (a, b)) in (first_id..).zip(rows) {
        connection.execute("INSERT INTO t VALUES (?1, ?2, ?3)", params![id, a, b]).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'i'";
    connection.query_row(root, [], |row| row.get(0).map(PageNumber)).unwrap()
}

/// Leaves before the first new row are kept.
#[test]
fn rows_at_the_end_keep_the_first_leaves_of_an_index() {
    let row = |block: i64, value: i64| (Value::Integer(block), Value::Integer(value));
    let rows = |block, count| (0..count).map(|value| row(block, value)).collect::<Vec<_>>();
    let first = rows(0, 20_000);
    for (old, new, most) in [
        (first.clone(), rows(1, 5_000), 6),
        (first.clone(), rows(1, 1), 6),
        ([first.clone(), rows(1, 10_000)].concat(), rows(1, 10_000), 150),
        ([first.clone(), rows(1, 10_000)].concat(), rows(2, 3), 8),
        (first, rows(-1, 5), usize::MAX),
    ] {
        let (stay, leaves) = check_combined(1024, &old, &new).unwrap();
        let is_right = if most == usize::MAX { stay == 0 } else { leaves - stay <= most };
        assert!(is_right, "{stay} of {leaves} leaves stay");
    }
}

/// Combines two indexes, with ids from 1 and from 100,000. Returns how many leaves were kept, and how many leaves there
/// were before. `None` if the indexes cannot be combined.
fn check_combined(page_size: u32, old: &[(Value, Value)], new: &[(Value, Value)]) -> Option<(usize, usize)> {
    let directory = TempDir::new().unwrap();
    let [old_path, new_path, all_path] =
        ["old.db", "new.db", "all.db"].map(|name| directory.path().join(name));
    let root = index_of(&old_path, page_size, old, 1);
    let new_root = index_of(&new_path, 8192, new, 100_000);
    let file = Arc::new(PageFile::open(&old_path).unwrap());
    let new_file = PageFile::open(&new_path).unwrap();
    let old_tree = Tree::read(&file, root).unwrap();
    let new_tree = Tree::read(&new_file, new_root).unwrap();
    let stay = count_unchanged_leaves(&old_tree, (&new_file, &new_tree)).unwrap();
    let leaves = usize::try_from(old_tree.bytes(0, file.page_size()) / u64::from(page_size)).unwrap();
    let bytes = old_tree.bytes(stay, file.page_size()) + new_tree.bytes(0, new_file.page_size());
    let max_pages =
        Tree::max_pages_for(bytes, file.page_size(), LONGEST_COMBINED, 1) + old_tree.max_interior_pages();
    let before = file.page_count();
    let combined = combine(&file, (&old_tree, stay), (&new_file, &new_tree)).unwrap();
    let Combined::Tree(RebuiltTree { root: page, freed }) = combined else { return None };
    let taken = file.page_count() - before;
    // `max_pages` can be too large, because leaves that SQLite wrote may be half empty, or larger than `page_size`, and
    // are packed.
    assert!(taken <= max_pages && max_pages <= 2 * taken + 32, "{taken} pages, {max_pages} expected");
    assert_eq!(freed, old_tree.pages().filter(|page| freed.contains(page)).collect::<Vec<_>>());
    file.write_pages(root, &page).unwrap();
    let rebuilt = Tree::read(&file, root).unwrap();
    assert!(rebuilt.pages().all(|page| !freed.contains(&page)));
    let stayed = rebuilt.pages().filter(|page| page.0 <= before).count();
    assert_eq!(stayed, stay);
    file.finish().unwrap();
    index_of(&all_path, 4096, old, 1);
    let all = Connection::open(&all_path).unwrap();
    all.execute_batch("BEGIN").unwrap();
    for (id, (a, b)) in (100_000_i64..).zip(new) {
        all.execute("INSERT INTO t VALUES (?1, ?2, ?3)", params![id, a, b]).unwrap();
    }
    all.execute_batch("COMMIT").unwrap();
    // All rows of the index. They are read by the index alone, because the table of the combined database has only the
    // old rows.
    let rows = |connection: &Connection| -> Vec<(Value, Value, i64)> {
        let mut query = connection
            .prepare(
                "SELECT a, b, id FROM t INDEXED BY i WHERE a IS NULL
            UNION ALL SELECT a, b, id FROM t INDEXED BY i WHERE a >= -9223372036854775808",
            )
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let combined = rows(&Connection::open(&old_path).unwrap());
    assert_eq!(combined.len(), old.len() + new.len());
    assert_eq!(combined, rows(&all));
    Some((stay, leaves))
}

#[test]
fn two_indexes_are_combined() {
    let mut numbers = numbers();
    let mut value = |longest: u64| {
        let number = numbers.next().unwrap();
        let bytes = vec![b'a' + (number >> 20) as u8 % 3; (number >> 24) as usize % (longest as usize + 1)];
        match number % 8 {
            0 => Value::Null,
            1 => Value::Integer((number >> 8) as i64 % 3),
            2 => Value::Integer(number.cast_signed() >> ((number >> 3) % 64)),
            3 => Value::Integer(-((number >> 8) as i64 % 40_000)),
            4 => Value::Blob(bytes),
            _ => Value::Text(String::from_utf8(bytes).unwrap()),
        }
    };
    let mut rows =
        |count: usize, longest| -> Vec<_> { (0..count).map(|_| (value(longest), value(longest))).collect() };
    for (page_size, old, new, longest) in [
        (1024, 0, 0, 5),
        (1024, 0, 300, 40),
        (1024, 300, 0, 40),
        (1024, 1, 1, 50),
        (1024, 9_000, 700, 20),
        (4096, 700, 9_000, 10),
        (8192, 20_000, 3_000, 50),
        (1024, 3_000, 3_000, 2),
    ] {
        let (old, new) = (rows(old, longest), rows(new, longest));
        assert!(check_combined(page_size, &old, &new).is_some(), "{} and {} rows", old.len(), new.len());
        if old.len().max(new.len()) > 1000 {
            continue;
        }
        for unknown in [Value::Real(0.5), Value::Text("b".repeat(130)), Value::Blob(vec![b'b'; 5000])] {
            let row = [(unknown.clone(), Value::Null)];
            let in_old = check_combined(page_size, &[old.as_slice(), &row].concat(), &new).is_some();
            let in_new = check_combined(page_size, &old, &[new.as_slice(), &row].concat()).is_some();
            // A fractional number is accepted if it is not compared with any value.
            assert!(matches!(unknown, Value::Real(_)) || !in_old && !in_new, "{unknown:?}");
            assert!(!in_new || old.is_empty(), "{unknown:?}");
        }
    }
}
