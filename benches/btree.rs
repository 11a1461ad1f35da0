//! Rows per second written to `occurrence` and `game_position`: pages that are built directly, compared with a prepared
//! `INSERT`.
//!
//! The rows are synthetic: random keys in order, games of 80 plies, FENs of 53 bytes on average.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::pages::{LeafWriter, PageFile, PageNumber, PositionRecord, Record, assemble};
use pgndex::store::row::{GameId, Level, Occurrence, OccurrenceRow, Ply};
use rusqlite::{Connection, params};
use tempfile::TempDir;

const SCHEMA: &str = "
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -1000000;
    CREATE TABLE game_position(
        game_id INTEGER NOT NULL, ply INTEGER NOT NULL, key INTEGER NOT NULL, halfmove_clock INTEGER NOT NULL,
        move_code INTEGER, fen TEXT NOT NULL, PRIMARY KEY(game_id, ply)) WITHOUT ROWID;
    CREATE TABLE occurrence(
        level INTEGER NOT NULL, key INTEGER NOT NULL, game_id INTEGER NOT NULL, ply INTEGER NOT NULL,
        PRIMARY KEY(level, key, game_id, ply)) WITHOUT ROWID;";

const OCCURRENCES: u32 = 5_000_000;
const POSITIONS: u32 = 2_000_000;
const PLIES: u32 = 80;

const fn level_row(occurrence: Occurrence) -> OccurrenceRow {
    OccurrenceRow { level: Level::FIRST, occurrence }
}

fn main() {
    divan::main();
}

/// A directory with an empty database, created by SQLite.
fn empty() -> (TempDir, PathBuf) {
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("bench.db");
    connect(&path).execute_batch(SCHEMA).expect("the schema");
    (directory, path)
}

fn connect(path: &Path) -> Connection {
    Connection::open(path).expect("a database")
}

fn root(path: &Path, table: &str) -> PageNumber {
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    PageNumber(connect(path).query_row(query, [table], |row| row.get(0)).expect("the table"))
}

/// Checks the number of rows and some of their values.
fn check(path: &Path, query: &str, expected: (i64, i64)) {
    let found = connect(path).query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("the rows");
    assert_eq!(expected, found);
}

fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

fn occurrences() -> Vec<Occurrence> {
    let rows = (0..OCCURRENCES)
        .zip(numbers())
        .map(|(row, key)| Occurrence::new(PositionKey(key), GameId(1 + row / PLIES), Ply(row % PLIES)));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

type Row = PositionRecord<&'static [u8]>;

fn positions() -> Vec<Row> {
    let row = |(row, number): (u32, u64)| {
        let placement = "r1bqkb1r/pp1n1ppp/2p1pn2/3p4/2PP4/2N1PN2/PP3PPP/R1BQKB1R";
        PositionRecord {
            game: GameId(1 + row / PLIES),
            ply: Ply(row % PLIES),
            key: PositionKey(number),
            halfmove_clock: (number >> 20) as u32 % 8,
            move_code: (row % PLIES != PLIES - 1)
                .then_some(MoveCode::from_stored((number >> 32) as u32 & 0x7ff_ffff)),
            fen: &*format!("{} w KQ -", &placement[number as usize % 16..]).into_bytes().leak(),
        }
    };
    (0..POSITIONS).zip(numbers()).map(row).collect()
}

/// Builds one table on `threads` threads.
fn build<'r, T: Sync, R: Record>(
    path: &Path,
    table: &str,
    threads: usize,
    rows: &'r [T],
    record: impl Fn(&'r T) -> R + Sync,
) {
    let root = root(path, table);
    let file = Arc::new(PageFile::open(path).expect("a database"));
    let worker = |rows: &'r [T]| {
        let mut writer = LeafWriter::new(Arc::clone(&file));
        rows.iter().try_for_each(|row| writer.push(&record(row))).expect("rows");
        writer.finish_segment().expect("the last pages")
    };
    let segments: Vec<_> = std::thread::scope(|scope| {
        let parts = rows.chunks(rows.len().div_ceil(threads));
        let workers: Vec<_> = parts.map(|rows| scope.spawn(move || worker(rows))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a segment")).collect()
    });
    assemble(&file, root, segments).expect("a tree");
    file.finish().expect("the header");
}

/// Times `fill`, which fills an empty database with `rows` rows, and checks the result.
fn measure(bencher: Bencher<'_, '_>, rows: u32, query: &str, expected: i64, fill: impl Fn(&Path) + Sync) {
    let (directory, path) = empty();
    fill(&path);
    check(&path, query, (rows.into(), expected));
    let bytes = std::fs::metadata(&path).expect("the database").len();
    drop(directory);
    let bencher = bencher.counter(ItemsCount::new(rows)).counter(BytesCount::new(bytes));
    bencher.with_inputs(empty).bench_local_values(|(directory, path)| {
        fill(&path);
        directory
    });
}

#[divan::bench_group(sample_count = 5, sample_size = 1)]
mod occurrence {
    use super::*;

    const QUERY: &str = "SELECT count(*), sum(game_id * 100 + ply) FROM occurrence";

    fn expected(rows: &[Occurrence]) -> i64 {
        rows.iter().map(|row| i64::from(row.game().0) * 100 + i64::from(row.ply().0)).sum()
    }

    #[divan::bench(args = [1, 2])]
    fn direct(bencher: Bencher<'_, '_>, threads: usize) {
        let rows = occurrences();
        measure(bencher, OCCURRENCES, QUERY, expected(&rows), |path| {
            build(path, "occurrence", threads, black_box(&rows), |&row| level_row(row));
        });
    }

    #[divan::bench]
    fn insert(bencher: Bencher<'_, '_>) {
        let rows = occurrences();
        measure(bencher, OCCURRENCES, QUERY, expected(&rows), |path| {
            let connection = connect(path);
            connection.execute_batch(PRAGMAS).expect("pragmas");
            let mut insert =
                connection.prepare("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)").expect("a statement");
            for row in &rows {
                insert.execute(params![row.key().as_i64(), row.game().0, row.ply().0]).expect("a row");
            }
            connection.execute_batch("COMMIT").expect("a commit");
        });
    }

    /// Encodes each row into the same small buffer, without pages and files: the cost of the records alone.
    #[divan::bench]
    fn encode(bencher: Bencher<'_, '_>) {
        let rows = occurrences();
        let mut space = [0; 64];
        let bencher = bencher.counter(ItemsCount::new(rows.len()));
        bencher.bench_local(|| {
            rows.iter().map(|&row| level_row(row).write_at_end(black_box(&mut space))).sum::<usize>()
        });
    }
}

/// Sets the options of a connection that inserts. They apply to this connection only.
const PRAGMAS: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -1000000;
    BEGIN;";

#[divan::bench_group(sample_count = 5, sample_size = 1)]
mod game_position {
    use super::*;

    const QUERY: &str = "SELECT count(*), sum(halfmove_clock + length(fen)) FROM game_position";

    fn expected(rows: &[Row]) -> i64 {
        rows.iter().map(|row| i64::from(row.halfmove_clock) + row.fen.len() as i64).sum()
    }

    #[divan::bench(args = [1, 2])]
    fn direct(bencher: Bencher<'_, '_>, threads: usize) {
        let rows = positions();
        measure(bencher, POSITIONS, QUERY, expected(&rows), |path| {
            build(path, "game_position", threads, black_box(&rows), |row: &Row| *row);
        });
    }

    #[divan::bench]
    fn insert(bencher: Bencher<'_, '_>) {
        let rows = positions();
        measure(bencher, POSITIONS, QUERY, expected(&rows), |path| {
            let connection = connect(path);
            connection.execute_batch(PRAGMAS).expect("pragmas");
            let mut insert = connection
                .prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
                .expect("a statement");
            for row in &rows {
                let move_code = row.move_code.map(MoveCode::bits);
                let fen = std::str::from_utf8(row.fen).expect("a FEN");
                let values =
                    params![row.game.0, row.ply.0, row.key.as_i64(), row.halfmove_clock, move_code, fen];
                insert.execute(values).expect("a row");
            }
            connection.execute_batch("COMMIT").expect("a commit");
        });
    }

    /// Encodes each row into the same small buffer, without pages and files: the cost of the records alone.
    #[divan::bench]
    fn encode(bencher: Bencher<'_, '_>) {
        let rows = positions();
        let mut space = [0; 256];
        let bencher = bencher.counter(ItemsCount::new(rows.len()));
        bencher.bench_local(|| {
            let records = rows.iter().copied();
            records.map(|record| record.write_at_end(black_box(&mut space))).sum::<usize>()
        });
    }
}
