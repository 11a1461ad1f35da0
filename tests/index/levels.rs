//! Added games get their own levels, which are merged from time to time.

use std::fs;
use std::path::Path;

use pgndex::board::PositionKey;
use pgndex::index::{IndexOptions, OptimizeSummary, Progress, optimize};
use pgndex::store::{Database, ListLengths, PositionCounts, Selection};
use pgndex::verify::{Sample, VerifyOptions, verify};

use crate::index::adding::{TABLES, assert_equal, assert_whole, parts};
use crate::support::*;

fn levels(path: &Path) -> u64 {
    number(&open(path), "SELECT count(*) FROM occurrence_level")
}

fn assert_sound(path: &Path) {
    assert_whole(path);
    let options = VerifyOptions { sample: Sample::All, threads: 2, ..VerifyOptions::default() };
    let report = verify(path, &options, &pgndex::verify::Progress::default()).expect("verified");
    assert!(report.is_sound(), "{report:#?}");
}

/// Queries as a user of plain SQL writes them.
const SHOWN: [&str; 3] = [
    "SELECT * FROM positions ORDER BY key, fen",
    "SELECT p.ply, count(*) FROM game_position AS p JOIN position_game AS o ON o.key = p.key
     WHERE p.game_id = 7 GROUP BY p.ply",
    "SELECT key, count(*) FROM position_game GROUP BY key ORDER BY 2 DESC, 1 LIMIT 100",
];

#[test]
fn thirty_additions_give_the_same_database_as_one() {
    let directory = directory();
    let files = parts(synthetic(200), 31, directory.path());
    let once = directory.path().join("once.db");
    let options = IndexOptions { continuation_threshold: 4, ..options() };
    run(&once, &files, &options).expect("indexed");
    for through_sql in [false, true] {
        let added = directory.path().join(format!("added {through_sql}.db"));
        let mut most = 0;
        for (number, file) in files.iter().enumerate() {
            run(&added, &[file], &options).expect("added");
            if through_sql && number == 0 {
                write_through_sql(&added);
            }
            most = most.max(levels(&added));
        }
        // Levels are merged, so that there are far fewer of them than additions.
        assert!((3..=6).contains(&most), "{most} levels");
        assert_sound(&added);
        assert_equal(&added, &once, &TABLES);
        assert_equal(&added, &once, &SHOWN);
        let before = levels(&added);
        let summary = optimize(&added, &options, &Progress::default()).expect("optimized");
        let OptimizeSummary { levels: merged, file_bytes, .. } = summary;
        assert_eq!((merged, levels(&added)), (before, 1));
        assert_sound(&added);
        assert_equal(&added, &once, &TABLES);
        let size = fs::metadata(&once).expect("a file").len();
        assert!(file_bytes <= size + size * 15 / 100, "{file_bytes} bytes, and {size} when indexed at once");
        let again = optimize(&added, &options, &Progress::default()).expect("nothing to do");
        assert_eq!((again.levels, again.file_bytes), (1, file_bytes));
    }
}

/// Additions that are small compared with the first level do not change its rows.
#[test]
fn small_additions_do_not_rewrite_existing_levels() {
    let directory = directory();
    let files = parts(include_bytes!("../../examples/synthetic.pgn"), 40, directory.path());
    let path = directory.path().join("games.db");
    run(&path, &files[..20], &options()).expect("indexed");
    let first = "SELECT count(*), total(key / 65536), total(game_id) FROM occurrence WHERE level = 1";
    let before = lines(&open(&path), first);
    for file in &files[20..24] {
        run(&path, &[file], &options()).expect("added");
        assert_eq!(lines(&open(&path), first), before);
    }
    // The games added after the first level are now as many as its own games, so all levels are merged.
    run(&path, &files[24..], &options()).expect("added");
    assert_eq!(levels(&path), 1);
    assert_sound(&path);
}

/// The results of `explore` for positions.
fn explored(path: &Path, keys: &[(i64, String)]) -> Vec<PositionCounts> {
    let database = Database::open_read_only(path).expect("a database");
    let selection = Selection::default();
    let explore = |(key, fen): &(i64, String)| {
        database
            .explore(PositionKey::from_i64(*key), fen, &selection, ListLengths::MAX.into())
            .expect("an answer")
    };
    keys.iter().map(explore).collect()
}

/// A position that few games of each level reached has no row, even if all levels together have enough games. `explore`
/// still counts its games, and `optimize` gives it a row.
#[test]
fn positions_without_a_row_are_answered_like_others() {
    const THRESHOLD: u32 = 16;
    let directory = directory();
    let files = parts(synthetic(250), 31, directory.path());
    let once = directory.path().join("once.db");
    let options = IndexOptions { continuation_threshold: THRESHOLD, ..options() };
    run(&once, &files, &options).expect("indexed");
    let rows = "SELECT * FROM visited_position ORDER BY key";
    let all = lines(&open(&once), rows);
    let mut existing = Vec::new();
    for through_sql in [false, true] {
        let added = directory.path().join(format!("added {through_sql}.db"));
        for (number, file) in files.iter().enumerate() {
            run(&added, &[file], &options).expect("added");
            if through_sql && number == 0 {
                write_through_sql(&added);
            }
        }
        assert_sound(&added);
        assert!(levels(&added) > 1);
        // The existing rows have complete counts, and are the same if games are added through SQL.
        let found = lines(&open(&added), rows);
        assert!(found.iter().all(|row| all.contains(row)));
        if through_sql {
            assert_eq!(found, existing);
        }
        existing = found;
        assert!(existing.len() < all.len(), "{} of {}", existing.len(), all.len());
        let without = format!(
            "SELECT count(*) FROM (SELECT 1 FROM occurrence WHERE key NOT IN (SELECT key FROM visited_position)
             GROUP BY key, level HAVING count(DISTINCT game_id) >= {THRESHOLD})"
        );
        assert_eq!(number(&open(&added), &without), 0);
        let database = open(&once);
        let mut keys = database.prepare("SELECT key, fen FROM visited_position").expect("keys");
        let keys = keys.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("keys");
        let keys: Vec<_> = keys.collect::<Result<_, _>>().expect("keys");
        assert_eq!(explored(&added, &keys), explored(&once, &keys));
        optimize(&added, &options, &Progress::default()).expect("optimized");
        assert_sound(&added);
        assert_equal(&added, &once, &TABLES);
    }
}
