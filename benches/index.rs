//! A complete import, from the PGN file to the finished database. The baseline writes only the rows of `game_position`,
//! with a prepared `INSERT` for each row, and runs `CREATE INDEX` at the end.

mod common;

use std::path::Path;

use common::{Corpus, standard_corpora};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use pgndex::index::{IndexOptions, Progress, index};
use rusqlite::{Connection, params};
use tempfile::TempDir;

fn main() {
    divan::main();
}

fn database(directory: &TempDir) -> std::path::PathBuf {
    directory.path().join("bench.db")
}

fn run(corpus: &Corpus, target: &Path, threads: usize) {
    let options = IndexOptions { overwrite: true, threads, ..IndexOptions::default() };
    let summary =
        index(target, &[&corpus.path], &options, &Progress::default()).expect("the corpus is indexed");
    assert_eq!((summary.games, summary.plies), (corpus.games, corpus.plies));
}

fn measure(bencher: Bencher, corpus: &Corpus, work: impl Fn(&Path)) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let target = database(&directory);
    let counted = bencher.counter(ItemsCount::new(corpus.plies)).counter(BytesCount::new(corpus.text.len()));
    counted.bench_local(|| work(&target));
}

#[divan::bench(args = standard_corpora(), consts = [1, 2], sample_count = 5)]
fn whole_job<const THREADS: usize>(bencher: Bencher, corpus: &Corpus) {
    measure(bencher, corpus, |target| run(corpus, target, THREADS));
}

/// The straightforward way to write the rows, without parsing and without the small tables.
#[divan::bench(args = standard_corpora(), sample_count = 1)]
fn baseline_insert_and_create_index(bencher: Bencher, corpus: &Corpus) {
    let made = tempfile::tempdir().expect("a temporary directory");
    run(corpus, &database(&made), 2);
    let rows = Connection::open(database(&made)).expect("the rows");
    measure(bencher, corpus, |target| {
        let _ = std::fs::remove_file(target);
        insert_all(&rows, target).expect("the rows are inserted");
    });
}

fn insert_all(rows: &Connection, target: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(target)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
         CREATE TABLE game_position (game_id INTEGER NOT NULL, ply INTEGER NOT NULL, key INTEGER NOT NULL,
             halfmove_clock INTEGER NOT NULL, move_code INTEGER, fen TEXT NOT NULL,
             PRIMARY KEY (game_id, ply)) WITHOUT ROWID;",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        let mut query =
            rows.prepare("SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position")?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let number = |column| row.get::<_, Option<i64>>(column);
            let fen = row.get_ref(5)?.as_str()?;
            insert.execute(params![number(0)?, number(1)?, number(2)?, number(3)?, number(4)?, fen])?;
        }
    }
    transaction.execute_batch("CREATE INDEX position_game ON game_position (key)")?;
    transaction.commit()
}
