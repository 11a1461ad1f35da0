//! Rows per second into the two big tables: batches through the virtual table, and for comparison a prepared `INSERT`
//! per row followed by `CREATE INDEX`.
//!
//! The rows are synthetic: 1.2 million positions of 15,000 games of 80 plies, FENs of 53 bytes (the average of
//! over-the-board games), keys from a generator of well-mixed numbers.

use std::path::Path;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pgndex::board::{MoveCode, PositionKey};
use pgndex::store::row::{
    GameId, GameRow, HeaderBatch, NameId, Occurrence, Ply, PositionBatch, PositionRow, SourceId, TagRow, Text,
};
use pgndex::store::{Build, BuildOptions, BulkLoader, Database, ImportId, LoadMode, NewImport};
use rusqlite::{Connection, params};

const GAMES: u32 = 15_000;
const PLIES: u32 = 80;
const ROWS: usize = GAMES as usize * PLIES as usize;
const BATCH: usize = 16_384;
const FEN: &str = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1 w - -";

fn main() {
    divan::main();
}

/// `splitmix64`: well-mixed numbers, the same in each run.
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

/// Checks the last row written; quick compared with the measured work.
fn check(connection: &Connection, sql: &str) {
    assert!(connection.prepare(sql).and_then(|mut query| query.exists([GAMES, PLIES - 1])).expect("a query"));
}

const LAST_POSITION: &str = "SELECT fen FROM game_position WHERE game_id = ?1 AND ply = ?2";

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
        check(build.connection(), LAST_POSITION);
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
                let code = row.move_code.map(MoveCode::bits);
                insert
                    .execute(params![row.game.0, row.ply.0, key, row.halfmove_clock, code, fen])
                    .expect("a row");
            }
        }
        drop(insert);
        connection.execute_batch("COMMIT").expect("a commit");
        check(connection, LAST_POSITION);
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
        let rows = build.connection().query_row("SELECT count(*) FROM position_game", [], |row| row.get(0));
        assert_eq!(rows, Ok(ROWS as i64));
        build
    });
}

/// The alternative to the clustered table: an index over rows in game order.
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

/// The small tables of 100,000 games as Lichess writes them: 6 tags and a separate site each, one new player in ten games.
#[divan::bench(sample_count = 3)]
fn headers_of_100_000_games(bencher: Bencher<'_, '_>) {
    const HEADERS: u32 = 100_000;
    let directory = tempfile::tempdir().expect("a directory");
    let batches: Vec<_> = (0..HEADERS / 1000).map(|batch| header_batch(batch * 1000 + 1)).collect();
    bencher.counter(ItemsCount::new(HEADERS)).with_inputs(|| build(directory.path())).bench_values(|build| {
        let mut loader =
            BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh).expect("a loader");
        loader
            .add_import(&NewImport { id: ImportId(1), program_version: "0", options: "{}" })
            .expect("a row");
        loader.add_source(SourceId(1), "x", 0).expect("a row");
        for batch in &batches {
            loader.append_headers(black_box(batch)).expect("rows");
        }
        loader.finish().expect("a commit");
        build
    });
}

fn header_batch(first: u32) -> HeaderBatch {
    let mut batch = HeaderBatch::default();
    for id in first..first + 1000 {
        let site = batch.push_text(&format!("https://lichess.org/{:016x}", mix(id.into())));
        batch.sites.push((NameId(id), site));
        if id % 10 == 1 {
            let player = batch.push_text(&format!("player{:016x}", mix(id.into())));
            batch.players.push((NameId(id / 10 + 1), player));
        }
        let player = Some(NameId(id.div_ceil(10)));
        let date = Some(batch.push_text("2013.01.31"));
        let eco = Some(batch.push_text(["A00", "B01", "C20"][id as usize % 3]));
        batch.games.push(GameRow {
            game: GameId(id),
            source: SourceId(1),
            site: Some(NameId(id)),
            white: player,
            black: player,
            date,
            eco,
            white_elo: Some(1500),
            moves_hash: mix(id.into()),
            ..GameRow::default()
        });
        let names = ["BlackRatingDiff", "Opening", "Termination", "UTCDate", "UTCTime", "WhiteRatingDiff"];
        for name in names {
            let tag =
                TagRow { game: GameId(id), name: batch.push_text(name), value: batch.push_text("Normal") };
            batch.tags.push(tag);
        }
    }
    batch
}

/// Look-ups of a position that every one of 200,000 games has.
mod lookup {
    use super::*;

    const HITS: u32 = 200_000;
    const KEY: PositionKey = PositionKey(0x463b_9618_1691_fc9c);

    fn database() -> (tempfile::TempDir, Database) {
        let directory = tempfile::tempdir().expect("a directory");
        let build = build(directory.path());
        let mut loader =
            BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh).expect("a loader");
        loader
            .add_import(&NewImport { id: ImportId(1), program_version: "0", options: "{}" })
            .expect("a row");
        loader.add_source(SourceId(1), "x", 0).expect("a row");
        let mut occurrences = Vec::new();
        for first in (1..HITS).step_by(1000) {
            loader.append_headers(&header_batch(first)).expect("rows");
            let mut positions = PositionBatch { text: FEN.to_owned(), ..PositionBatch::default() };
            let fen = Text { start: 0, len: FEN.len() as u32 };
            for game in (first..first + 1000).map(GameId) {
                for ply in (0..10).map(Ply) {
                    let key = if ply.0 == 0 { KEY } else { PositionKey(mix(u64::from(game.0 << 4 | ply.0))) };
                    positions.rows.push(PositionRow {
                        game,
                        ply,
                        key,
                        halfmove_clock: 0,
                        move_code: None,
                        fen,
                    });
                    occurrences.push(Occurrence::new(key, game, ply));
                }
            }
            loader.append_positions(&positions).expect("rows");
        }
        occurrences.sort_unstable();
        loader.append_occurrences(&occurrences).expect("rows");
        loader.finish().expect("a commit");
        let path = build.target().to_owned();
        build.finish().expect("a database");
        let database = Database::open_read_only(&path).expect("a database");
        (directory, database)
    }

    #[divan::bench(sample_count = 5)]
    fn count_all(bencher: Bencher<'_, '_>) {
        let (_directory, database) = database();
        bencher.counter(ItemsCount::new(HITS)).bench_local(|| {
            let count = database.count_position(KEY, FEN, None).expect("a count");
            assert_eq!(count.games, u64::from(HITS));
        });
    }

    #[divan::bench(sample_count = 5)]
    fn view_positions(bencher: Bencher<'_, '_>) {
        let (_directory, database) = database();
        bencher.counter(ItemsCount::new(HITS)).bench_local(|| {
            let mut query = database.query("SELECT occurrences FROM positions WHERE key = ?1").expect("SQL");
            let mut rows = query.rows([KEY.as_i64()]).expect("rows");
            assert!(rows.next_row().expect("a row").is_some());
        });
    }
}
