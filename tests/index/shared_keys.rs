//! Positions with the same key are kept apart: no row of `visited_position` mixes them, and each is counted separately.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pgndex::board::{GameResult, Position};
use pgndex::index::{IndexOptions, Progress, Removal};
use pgndex::store::row::GameId;
use pgndex::store::{Database, ListLengths, Selection};
use pgndex::verify::{self, Report, Sample, VerifyOptions};
use proptest::prelude::*;
use rusqlite::{Connection, params};

use crate::properties::cases;
use crate::support::*;

/// Pairs of start positions with the same key: castling uses another rook, or the positions were constructed that way.
/// The last position is the standard start position.
const STARTS: [&str; 8] = [
    "4k3/8/8/8/8/8/8/1R1K1RR1 w F - 0 1",
    "4k3/8/8/8/8/8/8/1R1K1RR1 w K - 0 1",
    "1rkrr3/8/8/8/8/8/8/2K5 b d - 0 1",
    "1rkrr3/8/8/8/8/8/8/2K5 b k - 0 1",
    "3n2kB/4nn2/8/3n4/4bn2/2N4B/3b4/1nN2NKB w - - 0 1",
    "N5k1/7N/8/1nB1Bb1b/1b6/1bn3nN/8/2n3K1 w - - 0 1",
    "4kb1B/4n1n1/2n1b1NB/3B1b2/2n1n2b/3nb3/1B3BNN/1N1nKb2 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
];
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

fn position(fen: &str) -> Position {
    Position::from_fen(fen.as_bytes()).expect("a position").0
}

/// A game: its start position, the indexes of its moves among the first legal ones, its result, and a rating.
type Game = (usize, Vec<usize>, usize, u16);

/// The text of a game; `number` makes it different from all others.
fn text(number: usize, (start, moves, result, rating): &Game) -> String {
    let (start, result) = (STARTS[*start], RESULTS[*result]);
    let mut position = position(start);
    let setup = if position == Position::start() {
        String::new()
    } else {
        format!("[Variant \"Chess960\"]\n[FEN \"{start}\"]\n")
    };
    let mut played = String::new();
    for choice in moves {
        let mut legal = Vec::new();
        position.legal_moves(&mut legal);
        if let Some(&code) = legal.get(choice % legal.len().clamp(1, 3)) {
            played += &format!("{} ", position.san(code));
            position.make(code).expect("legal");
        }
    }
    let date = format!("20{:02}.01.01", rating % 20);
    format!(
        "[Round \"{number}\"]\n[Date \"{date}\"]\n[WhiteElo \"{rating}\"]\n[BlackElo \"2000\"]\n{setup}[Result \"{result}\"]\n\n{played}{result}\n\n"
    )
}

/// The result of `explore`: results, games without one, moves, and the best-rated and latest games.
type Explored = ([u32; 3], u64, BTreeMap<u32, u64>, Vec<u32>, Vec<u32>);

/// The same counts by plain SQL over the games with this FEN.
fn counted(database: &Connection, fen: &str) -> Explored {
    let sql = "SELECT game_id, move_code, result, white_elo + black_elo, date
        FROM (SELECT game_id, ifnull(max(ply) FILTER (WHERE move_code IS NOT NULL), max(ply)) AS ply
              FROM position_game AS o CROSS JOIN game_position USING (game_id, ply)
              WHERE o.key = ?1 AND fen = ?2 GROUP BY game_id)
        JOIN game_position USING (game_id, ply) JOIN game USING (game_id)";
    let mut query = database.prepare_cached(sql).expect("a query");
    let mut rows = query.query(params![position(fen).key().as_i64(), fen]).expect("rows");
    let (mut results, mut unfinished, mut moves) = ([0; 3], 0, BTreeMap::new());
    let (mut top, mut recent) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next().expect("a row") {
        let (game, result): (u32, String) = (row.get_unwrap(0), row.get_unwrap(2));
        let Some(index) = RESULTS[..3].iter().position(|other| *other == result) else {
            unfinished += 1;
            continue;
        };
        results[index] += 1;
        if let Some(code) = row.get_unwrap::<_, Option<u32>>(1) {
            *moves.entry(code).or_default() += 1;
        }
        top.push((std::cmp::Reverse(row.get_unwrap::<_, u32>(3)), game));
        recent.push(std::cmp::Reverse((row.get_unwrap::<_, String>(4), game)));
    }
    top.sort();
    recent.sort();
    let top = top.into_iter().take(15).map(|(_, game)| game).collect();
    let recent = recent.into_iter().take(15).map(|place| place.0.1).collect();
    (results, unfinished, moves, top, recent)
}

fn explored(database: &Database, fen: &str) -> Explored {
    let key = position(fen).key();
    let found = database.explore(key, fen, &Selection::default(), ListLengths::MAX.into()).expect("explored");
    let bare = ListLengths::NONE;
    let without = database.explore(key, fen, &Selection::default(), bare.into()).expect("explored");
    assert_eq!((&found.results, &found.continuations), (&without.results, &without.continuations), "{fen}");
    let games = |hits: &[pgndex::store::Hit]| {
        assert!(hits.iter().all(|hit| hit.fen == fen && hit.game.result != GameResult::Unknown));
        hits.iter().map(|hit| hit.game.game.0).collect()
    };
    let results = found.results;
    (
        [results.white_wins, results.black_wins, results.draws],
        found.unfinished,
        found.continuations.iter().map(|found| (found.code.bits(), found.results.games())).collect(),
        games(&found.top_games),
        games(&found.recent_games),
    )
}

fn checked(path: &Path) -> Report {
    let options = VerifyOptions { sample: Sample::All, limit: 1000, threads: 2, sources: false };
    verify::verify(path, &options, &verify::Progress::default()).expect("checked")
}

const ROWS: [&str; 2] =
    ["SELECT * FROM visited_position ORDER BY key", "SELECT * FROM continuation ORDER BY key, move_code"];

/// The keys of each level that belong to one position only, and that at least `threshold` games reached.
fn clear_keys(database: &Connection, threshold: u32) -> BTreeSet<(u32, i64)> {
    let sql = "SELECT level, key FROM (
            SELECT (SELECT max(level) FROM occurrence_level WHERE level <= game_id) AS level, key, fen, game_id
            FROM game_position)
        GROUP BY 1, 2 HAVING count(DISTINCT fen) = 1 AND count(DISTINCT game_id) >= ?1";
    let mut query = database.prepare(sql).expect("a query");
    let rows = query.query_map([threshold], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

/// Asserts that a database keeps positions with the same key apart.
fn assert_apart(path: &Path, threshold: u32) {
    let database = Database::open_read_only(path).expect("a database");
    let connection = database.connection();
    let expected = clear_keys(connection, threshold);
    let mut query = connection.prepare("SELECT level, key FROM level_position").expect("a query");
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    let found: BTreeSet<(u32, i64)> = found.map(|row| row.expect("a row")).collect();
    // If the games of one of two positions were removed, the other gets a row when its level is written again.
    if number(connection, "SELECT count(*) FROM deleted_game") == 0 {
        assert_eq!(found, expected);
    }
    assert!(found.is_subset(&expected), "{found:?} {expected:?}");
    for fen in column::<String>(connection, "SELECT DISTINCT fen FROM game_position") {
        assert_eq!(explored(&database, &fen), counted(connection, &fen), "{fen}");
    }
    let report = checked(path);
    assert!(report.is_sound(), "{:#?}", report.findings);
}

/// In a copy of the database, removes and adds each file, then removes every second game. This can leave only one of
/// two positions with the same key.
fn remove_and_add(database: &Path, files: &[PathBuf], options: &IndexOptions) {
    let target = database.with_file_name("less.db");
    std::fs::copy(database, &target).expect("copied");
    let take_out = |removal: Removal| {
        pgndex::index::remove(&target, &removal, options, &Progress::default()).expect("removed");
        assert_apart(&target, options.continuation_threshold);
    };
    for file in files {
        take_out(Removal::Sources(vec![file.clone()]));
        run(&target, &[file], options).expect("indexed");
        assert_apart(&target, options.continuation_threshold);
    }
    let games: Vec<u32> = column(&open(&target), "SELECT game_id FROM game ORDER BY 1");
    take_out(Removal::Games(games.into_iter().step_by(2).map(GameId).collect()));
}

/// Indexes games at once and in parts, as pages and through SQL, and asserts that the databases are equal and right.
fn check(games: &[Game], threshold: u32, parts: usize) {
    let texts: Vec<String> = games.iter().enumerate().map(|(number, game)| text(number, game)).collect();
    let directory = directory_for(texts.iter().map(String::len).sum());
    let files: Vec<_> = texts.chunks(texts.len().div_ceil(parts)).map(<[String]>::concat).collect();
    let files: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let path = directory.path().join(format!("{number}.pgn"));
            std::fs::write(&path, text).expect("written");
            path
        })
        .collect();
    let mut rows: Option<Vec<Vec<String>>> = None;
    for (at_once, through_sql) in [(true, false), (false, false), (false, true)] {
        let target = directory.path().join("out.db");
        let _ = std::fs::remove_file(&target);
        let options = IndexOptions { continuation_threshold: threshold, ..options() };
        for (number, files) in files.chunks(if at_once { files.len() } else { 1 }).enumerate() {
            run(&target, files, &options).expect("indexed");
            if through_sql && number == 0 {
                write_through_sql(&target);
            }
        }
        let found: Vec<_> = ROWS.iter().map(|query| lines(&open(&target), query)).collect();
        // With several levels, a position has no row if few games of each level reached it, and two positions that share
        // a key have rows if each is in a level of its own.
        let key = |row: &String| row.split('|').next().map(str::to_owned);
        for (all, found) in rows.get_or_insert_with(|| found.clone()).iter().zip(&found) {
            let keys: BTreeSet<_> = all.iter().map(key).collect();
            let wrong = found.iter().find(|row| keys.contains(&key(row)) && !all.contains(row));
            assert_eq!(wrong, None, "at once: {at_once}, through SQL: {through_sql}");
        }
        assert_apart(&target, threshold);
        if !at_once {
            remove_and_add(&target, &files, &options);
        }
    }
}

#[test]
fn the_start_positions_share_keys() {
    let keys = STARTS.map(|fen| position(fen).key());
    assert!(keys.chunks(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
}

#[test]
fn castling_with_either_rook() {
    let games = |start: usize, count: usize| vec![(start, vec![0, 0], 0, 2100); count];
    check(&[games(0, 4), games(1, 4)].concat(), 2, 2);
    check(&[games(0, 1), games(7, 3), games(1, 1)].concat(), 2, 3);
}

#[test]
fn many_games_of_two_positions() {
    let games: Vec<Game> =
        (0..160).map(|number| (number % 8, vec![number % 3; 2], number % 4, 2000 + number as u16)).collect();
    check(&games, 16, 3);
}

proptest! {
    #![proptest_config(cases(2))]

    #[test]
    fn games_from_positions_that_share_keys(
        games in proptest::collection::vec(
            (0..STARTS.len(), proptest::collection::vec(0..3usize, 0..4), 0..RESULTS.len(), 1900..2100u16),
            1..24,
        ),
        threshold in 1..5u32,
        parts in 1..4usize,
    ) {
        check(&games, threshold, parts);
    }
}
