//! Rows per second into the two big tables: batches through the virtual table, and for comparison a prepared `INSERT`
//! per row followed by `CREATE INDEX`.
//!
//! The rows are synthetic: 1.2 million positions of 15,000 games of 80 plies, FENs of 53 bytes (the average of
//! over-the-board games), keys from a generator of well-mixed numbers.

use std::path::Path;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::row::{GameId, Occurrence, Ply, PositionBatch, PositionRow, Text};
use pgndex::store::{Build, BuildOptions, BulkLoader, LoadMode};
use rusqlite::{Connection, params};

const GAMES: u32 = 15_000;
const PLIES: u32 = 80;
const ROWS: usize = GAMES as usize * PLIES as usize;
const BATCH: usize = 16_384;
const FEN: &str = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1 w - -";

fn main() {
    divan::main();
}

/// `splitmix64`: well-mixed numbers, the same each time.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn rows() -> impl Iterator<Item = (GameId, Ply, PositionKey)> {
    (1..=GAMES).flat_map(|game| {
        (0..PLIES).map(move |ply| {
            (GameId(game), Ply(ply), PositionKey(mix(u64::from(game) << 32 | u64::from(ply))))
        })
    })
}

fn position_batches() -> Vec<PositionBatch> {
    let mut batches = vec![PositionBatch::default()];
    for (game, ply, key) in rows() {
        if batches.last().is_none_or(|batch| batch.rows.len() == BATCH) {
            batches.push(PositionBatch::default());
        }
        let batch = batches.last_mut().expect("just pushed");
        let start = batch.text.len() as u32;
        batch.text.push_str(FEN);
        let move_code =
            (ply.0 + 1 < PLIES).then_some(MoveCode::from_stored(0x0314_3420 ^ key.0 as u32 & 0x0077_7700));
        let fen = Text { start, len: FEN.len() as u32 };
        batch.rows.push(PositionRow { game, ply, key, halfmove_clock: ply.0 % 10, move_code, fen });
    }
    batches
}

fn occurrences() -> Vec<Occurrence> {
    let mut occurrences: Vec<_> = rows().map(|(game, ply, key)| Occurrence::new(key, game, ply)).collect();
    occurrences.sort_unstable();
    occurrences
}

fn build(directory: &Path) -> Build {
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    Build::create(&directory.join("bench.db"), options).expect("a database")
}

fn check(connection: &Connection, table: &str) {
    let count: i64 = connection
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
        .expect("a count");
    assert_eq!(count, ROWS as i64);
}

#[divan::bench(sample_count = 5)]
fn game_position_batches(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a directory");
    let batches = position_batches();
    bencher.counter(ItemsCount::new(ROWS)).with_inputs(|| build(directory.path())).bench_values(|build| {
        let mut loader =
            BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh).expect("a loader");
        for batch in &batches {
            loader.append_positions(black_box(batch)).expect("rows");
        }
        loader.finish().expect("a commit");
        build
    });
}

#[divan::bench(sample_count = 5)]
fn game_position_prepared(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a directory");
    let batches = position_batches();
    bencher.counter(ItemsCount::new(ROWS)).with_inputs(|| build(directory.path())).bench_values(|build| {
        let connection = build.connection();
        connection.execute_batch("BEGIN").expect("a transaction");
        let mut insert =
            connection.prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)").expect("SQL");
        for batch in &batches {
            for row in &batch.rows {
                let (key, fen) = (row.key.as_i64(), row.fen.of(&batch.text));
                let code = row.move_code.map(|code| code.0);
                insert
                    .execute(params![row.game.0, row.ply.0, key, row.halfmove_clock, code, fen])
                    .expect("a row");
            }
        }
        drop(insert);
        connection.execute_batch("COMMIT").expect("a commit");
        build
    });
}

#[divan::bench(sample_count = 5)]
fn position_game_batches(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a directory");
    let rows = occurrences();
    bencher.counter(ItemsCount::new(ROWS)).with_inputs(|| build(directory.path())).bench_values(|build| {
        let mut loader =
            BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh).expect("a loader");
        for batch in rows.chunks(BATCH) {
            loader.append_occurrences(black_box(batch)).expect("rows");
        }
        loader.finish().expect("a commit");
        check(build.connection(), "position_game");
        build
    });
}

/// What the clustered table replaces: an index over rows that stand in game order.
#[divan::bench(sample_count = 3)]
fn position_game_create_index(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a directory");
    bencher
        .counter(ItemsCount::new(ROWS))
        .with_inputs(|| {
            let build = build(directory.path());
            let connection = build.connection();
            connection.execute_batch("BEGIN; CREATE TABLE unsorted (game_id, ply, key)").expect("a table");
            let mut insert = connection.prepare("INSERT INTO unsorted VALUES (?1, ?2, ?3)").expect("SQL");
            for (game, ply, key) in rows() {
                insert.execute(params![game.0, ply.0, key.as_i64()]).expect("a row");
            }
            drop(insert);
            connection.execute_batch("COMMIT").expect("a commit");
            build
        })
        .bench_values(|build| {
            build
                .connection()
                .execute_batch("CREATE INDEX unsorted_key ON unsorted (key)")
                .expect("an index");
            build
        });
}
