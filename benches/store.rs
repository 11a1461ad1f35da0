//! The small tables, and look-ups, on synthetic rows.

use std::path::Path;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pgndex::board::PositionKey;
use pgndex::store::row::{GameId, GameRow, HeaderBatch, NameId, SourceId, TagRow};
use pgndex::store::{Build, BuildOptions, BulkLoader, Database, ImportId, NewImport};
use rusqlite::params;

const FEN: &str = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1 w - -";

fn main() {
    divan::main();
}

/// Mixes a number as `splitmix64` does: the results look random, but are the same in each run.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn build(directory: &Path) -> Build {
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    Build::create(&directory.join("bench.db"), options).expect("a database")
}

/// The small tables of 100,000 games like those of Lichess. Each game has 6 tags and its own site, and one game in ten
/// has a new player.
#[divan::bench(sample_count = 3)]
fn headers_of_100_000_games(bencher: Bencher<'_, '_>) {
    const HEADERS: u32 = 100_000;
    let directory = tempfile::tempdir().expect("a directory");
    let batches: Vec<_> = (0..HEADERS / 1000).map(|batch| header_batch(batch * 1000 + 1)).collect();
    bencher.counter(ItemsCount::new(HEADERS)).with_inputs(|| build(directory.path())).bench_values(|build| {
        let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
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

/// Look-ups of a position that occurs in each of 200,000 games.
mod lookup {
    use super::*;

    const HITS: u32 = 200_000;
    const KEY: PositionKey = PositionKey(0x463b_9618_1691_fc9c);

    fn database() -> (tempfile::TempDir, Database) {
        let directory = tempfile::tempdir().expect("a directory");
        let build = build(directory.path());
        let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
        loader
            .add_import(&NewImport { id: ImportId(1), program_version: "0", options: "{}" })
            .expect("a row");
        loader.add_source(SourceId(1), "x", 0).expect("a row");
        let prepare = |sql| build.connection().prepare(sql).expect("SQL");
        let mut position = prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, 0, NULL, ?4)");
        let mut occurrence = prepare("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)");
        for first in (1..HITS).step_by(1000) {
            loader.append_headers(&header_batch(first)).expect("rows");
            for game in first..first + 1000 {
                for ply in 0..10 {
                    let key = if ply == 0 { KEY } else { PositionKey(mix(u64::from(game << 4 | ply))) };
                    position.execute(params![game, ply, key.as_i64(), FEN]).expect("a row");
                    occurrence.execute(params![key.as_i64(), game, ply]).expect("a row");
                }
            }
        }
        drop((position, occurrence));
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
            let count = database.count_position(KEY, FEN, u32::MAX).expect("a count");
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
