//! Adding games in several runs gives the same database as indexing them all at once.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{IndexOptions, Progress, optimize, repair};
use rusqlite::Connection;

use crate::needs::{corpus, part_of_corpus};
use crate::support::*;

/// Rows that must not depend on the number of runs; game ids follow the order of the games.
pub(crate) const TABLES: [&str; 16] = [
    "SELECT game_id, byte_offset, byte_length, event_id, site_id, date, round, white_id, black_id, result, white_elo,
        black_elo, white_title, black_title, eco, opening_id, time_control, variant, start_fen, ply_count, status,
        moves_hash, eval_count, clock_count FROM game ORDER BY 1",
    "SELECT * FROM game_position ORDER BY 1, 2",
    "SELECT * FROM position_game ORDER BY 1, 2, 3",
    "SELECT * FROM visited_position ORDER BY 1",
    "SELECT * FROM continuation ORDER BY 1, 2",
    "SELECT * FROM player ORDER BY 1",
    "SELECT * FROM event ORDER BY 1",
    "SELECT * FROM site ORDER BY 1",
    "SELECT * FROM tag ORDER BY 1, 2",
    "SELECT * FROM move_eval ORDER BY 1, 2",
    "SELECT * FROM comment ORDER BY 1, 2, 3, 4",
    "SELECT * FROM nag ORDER BY 1, 2, 3, 4",
    "SELECT * FROM command ORDER BY 1, 2, 3, 4",
    "SELECT * FROM variation ORDER BY 1, 2",
    "SELECT * FROM variation_move ORDER BY 1, 2, 3",
    "SELECT byte_offset, line, game_number, game_id, ply, token, kind, severity, message FROM problem ORDER BY problem_id",
];

/// The same rows, identified by the byte offset of the game instead of its id: the ids differ if a game was read twice.
pub(crate) const BY_OFFSET: [&str; 12] = [
    "SELECT byte_offset, byte_length, white, black, event, site, result, ply_count, status FROM games ORDER BY 1",
    "SELECT byte_offset, moves_hash, eval_count, clock_count FROM game ORDER BY 1",
    "SELECT byte_offset, e.ply, clock, elapsed, eval_cp, eval_mate, depth
     FROM move_eval AS e JOIN game USING (game_id) ORDER BY 1, 2",
    "SELECT byte_offset, line, ply, number, text FROM comment JOIN game USING (game_id) ORDER BY 1, 2, 3, 4",
    "SELECT byte_offset, line, ply, nag FROM nag JOIN game USING (game_id) ORDER BY 1, 2, 3, 4",
    "SELECT byte_offset, line, ply, number, name, value FROM command JOIN game USING (game_id) ORDER BY 1, 2, 3, 4",
    "SELECT byte_offset, line, parent_line, ply FROM variation JOIN game USING (game_id) ORDER BY 1, 2",
    "SELECT byte_offset, line, ply, key, halfmove_clock, move_code, fen
     FROM variation_move JOIN game USING (game_id) ORDER BY 1, 2, 3",
    "SELECT byte_offset, p.ply, p.key, halfmove_clock, move_code, fen
     FROM game_position AS p JOIN game USING (game_id) ORDER BY 1, 2",
    "SELECT key, byte_offset, ply FROM position_game JOIN game USING (game_id) ORDER BY 1, 2, 3",
    "SELECT key, fen, games, white_wins, draws, black_wins, unfinished, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games,
        (SELECT group_concat(byte_offset) FROM json_each(top_games) CROSS JOIN game ON game_id = value)
     FROM visited_position ORDER BY 1",
    "SELECT * FROM continuation ORDER BY 1, 2",
];

pub(crate) fn assert_equal(left: &Path, right: &Path, queries: &[&str]) {
    let (left, right) = (open(left), open(right));
    for query in queries {
        assert_same_answers(&left, &right, query, "rows");
    }
}

pub(crate) fn assert_whole(path: &Path) {
    let database = open(path);
    assert_eq!(lines(&database, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(lines(&database, "PRAGMA foreign_key_check"), Vec::<String>::new());
    assert_eq!(lines(&database, "PRAGMA journal_mode"), ["delete"]);
    for column in ["games", "plies", "problems"] {
        let sums = |table: &str| number(&database, &format!("SELECT ifnull(sum({column}), 0) FROM {table}"));
        assert_eq!(sums("source"), sums("import"), "{column}");
    }
    assert_eq!(
        number(&database, "SELECT ifnull(sum(games), 0) FROM source"),
        number(&database, "SELECT count(*) FROM game")
    );
    assert_eq!(
        number(&database, "SELECT ifnull(sum(problems), 0) FROM source"),
        number(&database, "SELECT count(*) FROM problem")
    );
}

/// The offsets at which the games of a text begin.
fn boundaries(text: &[u8]) -> Vec<usize> {
    let mut found = vec![0];
    loop {
        let next = pgndex::pgn::next_boundary(text, *found.last().expect("a boundary"));
        found.push(next);
        if next == text.len() {
            return found;
        }
    }
}

pub(crate) fn parts(text: &[u8], count: usize, directory: &Path) -> Vec<PathBuf> {
    let boundaries = boundaries(text);
    let at = |part: usize| boundaries[part * (boundaries.len() - 1) / count];
    (0..count)
        .map(|part| {
            let path = directory.join(format!("{part}.pgn"));
            fs::write(&path, &text[at(part)..at(part + 1)]).expect("written");
            path
        })
        .collect()
}

/// Indexes ten parts of a text at once and one after the other, and compares the databases.
fn check_parts(text: &[u8], threshold: u32) {
    for through_sql in [false, true] {
        check_parts_by(through_sql, text, threshold);
    }
}

fn check_parts_by(through_sql: bool, text: &[u8], threshold: u32) {
    let directory = directory();
    let files = parts(text, 10, directory.path());
    let (at_once, added) = (directory.path().join("once.db"), directory.path().join("added.db"));
    let options = IndexOptions { continuation_threshold: threshold, ..options() };
    let all = run(&at_once, &files, &options).expect("indexed");
    let mut games = 0;
    for file in &files {
        let summary = run(&added, &[file], &options).expect("added");
        assert_eq!(summary.known_sources, 0);
        let keys = "SELECT count(DISTINCT key) FROM position_game JOIN game USING (game_id)
            WHERE import_id = (SELECT max(import_id) FROM import)";
        assert_eq!(summary.distinct_positions, number(&open(&added), keys));
        if through_sql && games == 0 {
            write_through_sql(&added);
        }
        games += summary.games;
    }
    assert_eq!(games, all.games);
    // A position that few games of each level reached gets its row of `visited_position` from `optimize`.
    if threshold >= 16 {
        optimize(&added, &options, &Progress::default()).expect("optimized");
    }
    assert_whole(&added);
    assert_equal(&added, &at_once, &TABLES);
    assert_eq!(number(&open(&added), "SELECT count(*) FROM import"), 10);

    // Adding the same files again changes nothing.
    let before = fs::read(&added).expect("read");
    let summary = run(&added, &files, &options).expect("nothing new");
    assert_eq!((summary.games, summary.known_sources), (0, 10));
    assert_eq!(lines(&open(&added), "SELECT count(*) FROM import"), ["10"]);
    assert_eq!(fs::read(&added).expect("read").len(), before.len());
    assert_equal(&added, &at_once, &TABLES);
}

#[test]
fn the_shipped_games_in_ten_parts() {
    check_parts(GAMES.as_bytes(), 3);
}

#[test]
fn annotated_games_in_ten_parts() {
    check_parts(annotated(20).as_bytes(), 3);
}

#[test]
fn real_annotated_games_in_ten_parts() {
    let Some(text) = part_of_corpus("annotated_mixed", 1 << 18) else { return };
    check_parts(&text, 16);
}

#[test]
fn synthetic_games_in_ten_parts() {
    check_parts(synthetic(150), 4);
}

#[test]
fn real_games_in_ten_parts() {
    let Some(text) = part_of_corpus("otb-40k", 1 << 18) else { return };
    check_parts(&text, 16);
}

#[test]
#[ignore = "takes a minute"]
fn a_whole_corpus_and_many_annotated_games_in_ten_parts() {
    let Some(text) = corpus("otb-40k") else { return };
    check_parts(&text, 64);
    let Some(text) = part_of_corpus("annotated_mixed", 1 << 20) else { return };
    check_parts(&text, 24);
}

#[test]
fn few_games_added_to_many() {
    let directory = directory();
    let many = directory.path().join("many.pgn");
    fs::write(&many, include_bytes!("../../examples/synthetic.pgn")).expect("written");
    let (at_once, added) = (directory.path().join("once.db"), directory.path().join("added.db"));
    let options = IndexOptions { continuation_threshold: 4, ..options() };
    run(&added, &[&many], &options).expect("indexed");
    let mut files = vec![many];
    for (name, game) in [("a", "1. e4 *"), ("b", "1. e4 e5 1/2-1/2"), ("c", "1. a3 h6 2. a4 1-0")] {
        let few = directory.path().join(name);
        fs::write(&few, format!("[Event \"{name}\"]\n[White \"A\"]\n\n{game}\n")).expect("written");
        run(&added, &[&few], &options).expect("added");
        files.push(few);
        assert_whole(&added);
    }
    // There are so many rows that the rows of the added games are inserted one by one, not merged.
    assert!(number(&open(&added), "SELECT count(*) FROM game_position") > 5 * 10_000);
    run(&at_once, &files, &options).expect("indexed");
    assert_equal(&added, &at_once, &TABLES);
}

/// A change that a user makes to a database through SQL, and a condition that must be true after games have been added.
const CHANGES: [(&str, &str); 12] = [
    (
        "CREATE INDEX own ON occurrence (game_id)",
        "EXISTS (SELECT 1 FROM occurrence INDEXED BY own WHERE game_id > 20)",
    ),
    ("CREATE INDEX own ON game_position (halfmove_clock)", "TRUE"),
    ("CREATE INDEX own ON game (round COLLATE NOCASE DESC) WHERE round <> ''", "TRUE"),
    ("DROP INDEX game_eco; CREATE INDEX game_eco ON game (eco DESC)", "TRUE"),
    ("CREATE TABLE notes (x); CREATE TABLE \"we ird\" (x); INSERT INTO notes VALUES (7)", "x = 7 FROM notes"),
    (
        "ALTER TABLE game ADD COLUMN note TEXT; ALTER TABLE player ADD COLUMN born INTEGER DEFAULT 1900",
        "count(*) = 0 FROM game WHERE note IS NOT NULL",
    ),
    ("ALTER TABLE occurrence ADD COLUMN note TEXT; UPDATE occurrence SET note = 'x'", "TRUE"),
    ("ALTER TABLE game_position ADD COLUMN note TEXT", "TRUE"),
    ("ALTER TABLE problem ADD COLUMN note TEXT; ALTER TABLE level_continuation ADD COLUMN note TEXT", "TRUE"),
    (
        "DROP INDEX game_white; ANALYZE",
        "NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'game_white')
             AND EXISTS (SELECT 1 FROM sqlite_stat1 WHERE tbl = 'player')
             AND (SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'occurrence') = 1",
    ),
    (
        "UPDATE game SET eco = printf('%.*c', 150, 'x') WHERE game_id = 3",
        "EXISTS (SELECT 1 FROM game INDEXED BY game_eco WHERE eco LIKE '%xxx')",
    ),
    (
        "CREATE TABLE log (game_id); CREATE TRIGGER own AFTER INSERT ON game BEGIN INSERT INTO log VALUES (new.game_id); END",
        "(SELECT count(*) FROM log) = (SELECT games FROM import ORDER BY import_id DESC)",
    ),
];

/// Changes a database through SQL.
fn changed(database: &Path, change: &str) -> Connection {
    let changed = Connection::open(database).expect("a database");
    execute_without_constraints(&changed, change).expect("changed");
    changed
}

#[test]
fn nothing_is_added_if_the_counts_are_inconsistent() {
    let directory = directory();
    let files = parts(include_bytes!("../../examples/synthetic.pgn"), 2, directory.path());
    let options = IndexOptions { continuation_threshold: 4, ..options() };
    let added = directory.path().join("added.db");
    let delete = ["occurrence", "game_position", "tag", "game"]
        .map(|table| format!("DELETE FROM {table} WHERE game_id % 3 = 0;"));
    run(&added, &files[..1], &options).expect("indexed");
    let changed = changed(&added, &delete.concat());
    let before = number(&changed, "SELECT count(*) FROM game");
    drop(changed);
    let reported = message(&run(&added, &files[1..], &options).expect_err("refused"));
    assert!(reported.contains("`pgndex repair` makes the tables consistent again"), "{reported}");
    repair(&added, &options, &Progress::default()).expect("repaired");
    let summary = run(&added, &files[1..], &options).expect("added");
    let database = open(&added);
    assert_eq!(number(&database, "SELECT count(*) FROM game"), before + summary.games);
    assert_whole(&added);
    assert!(number(&database, "SELECT count(*) FROM visited_position") > 0);
}

/// Index rows that do not fit on their page as a whole, and others that are too long to be merged.
#[test]
fn long_tags_of_added_games() {
    let directory = directory();
    let text: String = (0..400)
        .map(|game| {
            let eco = "B".repeat([3, 100, 200, 3000][game % 4] + game);
            format!("[Event \"e\"]\n[White \"W\"]\n[Black \"B\"]\n[ECO \"{eco}\"]\n[Round \"{game}\"]\n\n1. e4 e5 1-0\n\n")
        })
        .collect();
    let files = parts(text.as_bytes(), 10, directory.path());
    let at_once = directory.path().join("once.db");
    run(&at_once, &files, &options()).expect("indexed");
    // The first run has one part, or five of the ten.
    for split in [1, 5] {
        let added = directory.path().join(format!("{split}.db"));
        for files in [&files[..split], &files[split..]] {
            run(&added, files, &options()).expect("added");
        }
        assert_whole(&added);
        assert_equal(&added, &at_once, &TABLES);
    }
}

#[test]
fn objects_added_by_users_are_maintained() {
    let directory = directory();
    let files = parts(synthetic(100), 2, directory.path());
    let options = IndexOptions { continuation_threshold: 4, ..options() };
    let at_once = directory.path().join("once.db");
    run(&at_once, &files, &options).expect("indexed");
    let first = directory.path().join("first.db");
    run(&first, &files[..1], &options).expect("indexed");
    for (index, (change, expected)) in CHANGES.into_iter().enumerate() {
        let added = directory.path().join(format!("{index}.db"));
        fs::copy(&first, &added).expect("copied");
        let changed = changed(&added, change);
        let schema = "SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY 1";
        let before = lines(&changed, schema);
        drop(changed);
        run(&added, &files[1..], &options).expect("added");
        let database = open(&added);
        assert_eq!(lines(&database, "PRAGMA integrity_check"), ["ok"], "{change}");
        assert_eq!(lines(&database, schema), before, "{change}");
        assert_eq!(number(&database, &format!("SELECT {expected}")), 1, "{change}");
        // Other tables than `game` have the same rows, unless the change added columns.
        if !change.contains("COLUMN") {
            assert_equal(&added, &at_once, &TABLES[1..6]);
        }
        let counts = ["game", "game_position", "position_game", "visited_position", "continuation", "player"];
        assert_equal(
            &added,
            &at_once,
            &counts.map(|table| format!("SELECT count(*) FROM {table}")).each_ref().map(String::as_str),
        );
    }
}

/// Indexes a growing file after each of these lengths, and again when it is complete.
fn check_growth(text: &[u8], cuts: &[usize]) -> Connection {
    let directory = directory();
    let (file, other) = (directory.path().join("grown.pgn"), directory.path().join("other.pgn"));
    let (at_once, added) = (directory.path().join("once.db"), directory.path().join("added.db"));
    let options = IndexOptions { continuation_threshold: 2, ..options() };
    fs::write(&file, text).expect("written");
    run(&at_once, &[&file], &options).expect("indexed");
    fs::write(&other, "[Event \"another file\"]\n\n1. a3 *\n").expect("written");
    for &cut in cuts.iter().chain([&text.len()]) {
        fs::write(&file, &text[..cut]).expect("written");
        run(&added, &[&file], &options).expect("added");
    }
    assert_whole(&added);
    assert_equal(&added, &at_once, &BY_OFFSET);
    run(&added, &[&other], &options).expect("added");
    assert_whole(&added);
    let reported = |path: &Path| {
        let query = "SELECT byte_offset, line, game_number, ply, kind FROM problem
                     WHERE source_id IN (SELECT source_id FROM source WHERE path LIKE '%grown.pgn') ORDER BY 1, 2, 3, 4, 5";
        lines(&open(path), query)
    };
    assert_eq!(reported(&added), reported(&at_once));
    open(&added)
}

#[test]
fn only_the_new_games_of_a_growing_file_are_read() {
    let text = GAMES.as_bytes();
    let boundaries = boundaries(text);
    let database = check_growth(text, &[boundaries[3], boundaries[4], boundaries[40]]);
    let readings = lines(&database, "SELECT first_byte, bytes, games FROM source");
    assert_eq!(readings.len(), 5);
    assert_eq!(readings[1], format!("{}|{}|1", boundaries[3], boundaries[4]));
    // No id is missing, so no game was read twice.
    assert_eq!(number(&database, "SELECT max(game_id) - count(*) FROM game"), 0);
}

#[test]
fn a_file_that_grows_in_the_middle_of_a_game() {
    let whole = &GAMES[..boundaries(GAMES.as_bytes())[20]];
    let broken = whole.replacen("1. e4 e5", "1. e4 e5 2. Ke3", 3);
    for text in [whole.as_bytes(), broken.as_bytes()] {
        // `growing` cuts the texts at many more places.
        let cuts: Vec<usize> = (1..7).map(|cut| cut * text.len() / 7).collect();
        check_growth(text, &cuts);
        check_growth(text, &(1..13).map(|cut| 2000 + cut * 122).collect::<Vec<_>>());
    }
}

#[test]
fn a_rewritten_file_is_read_completely() {
    let directory = directory();
    let (file, target) = (directory.path().join("a.pgn"), directory.path().join("a.db"));
    for (text, games) in [("1. e4 *\n", 1), ("1. d4 *\n", 2), ("1. c4 c5 *\n\n1. c4 e5 *\n", 4)] {
        fs::write(&file, text.replace("1. ", "[Event \"x\"]\n\n1. ")).expect("written");
        run(&target, &[&file], &options()).expect("added");
        assert_eq!(number(&open(&target), "SELECT count(*) FROM game"), games);
    }
    assert_whole(&target);
}

#[test]
fn an_empty_target_file_becomes_a_database() {
    let directory = directory();
    let (file, target) = (directory.path().join("a.pgn"), directory.path().join("a.db"));
    fs::write(&file, GAMES).expect("written");
    fs::write(&target, "").expect("written");
    let summary = run(&target, &[&file], &options()).expect("indexed");
    assert_sound(&target, &summary);
}

#[test]
fn a_database_is_not_a_source_of_itself() {
    let directory = directory();
    let (database, link) = (directory.path().join("games.db"), directory.path().join("link.pgn"));
    let file = directory.path().join("a.pgn");
    fs::write(&file, GAMES).expect("written");
    run(&database, &[&file], &options()).expect("indexed");
    let before = fs::read(&database).expect("read");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&database, &link).expect("linked");
    for source in [&database, &link].into_iter().filter(|path| path.exists()) {
        for overwrite in [false, true] {
            let options = IndexOptions { overwrite, ..options() };
            let error = run(&database, &[&file, source], &options).expect_err("refused");
            assert!(error.to_string().contains("this is the database itself"), "{error}");
        }
    }
    assert_equal_bytes(&fs::read(&database).expect("read"), &before);
}

#[test]
fn a_failed_addition_changes_nothing() {
    let directory = directory();
    let (file, target) = (directory.path().join("a.pgn"), directory.path().join("a.db"));
    fs::write(&file, GAMES).expect("written");
    run(&target, &[&file], &options()).expect("indexed");
    let before = fs::read(&target).expect("read");
    fs::write(&file, "[Event \"x\"]\n\n1. e4 e4 *\n").expect("written");
    let strict = IndexOptions { strict: true, ..options() };
    let error = run(&target, &[&file], &strict).expect_err("a strict run fails");
    assert!(message(&error).contains("A strict run allows no errors or warnings"), "{}", message(&error));
    assert_eq!(names(directory.path()), ["a.db", "a.pgn"]);
    assert_equal_bytes(&before, &fs::read(&target).expect("read"));
}

/// Asserts that two databases differ in nothing but the change counters in their headers.
fn assert_equal_bytes(left: &[u8], right: &[u8]) {
    assert_eq!(left.len(), right.len());
    assert!(left[100..] == right[100..], "the pages differ");
}
