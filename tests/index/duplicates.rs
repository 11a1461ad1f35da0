//! Duplicates of games.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{Duplicates, IndexOptions, Summary};
use proptest::prelude::*;

use crate::properties::cases;
use rusqlite::Connection;

use crate::needs::part_of_corpus;
use crate::support::*;

const MOVES: &str = "1. Nf3 d5 2. g3 g6 3. Bg2 Bg7 4. d4 c6 5. O-O Nf6 6. b3 O-O 7. Bb2 Bf5 8. c4 Nbd7 \
    9. Nc3 dxc4 10. bxc4 Nb6 11. c5 Nc4 12. Bc1 Nd5 13. Qb3 Na5 14. Qa3 Nc4 15. Qb3 Na5 16. Qa3 Nc4";

/// The first plies of a game.
fn first(plies: usize) -> String {
    let mut words = MOVES.split_inclusive(' ');
    let mut text = String::new();
    let mut count = 0;
    while count < plies {
        let word = words.next().expect("a longer game");
        count += usize::from(!word.trim_end().ends_with('.'));
        text += word;
    }
    text
}

fn game(white: &str, black: &str, date: &str, moves: &str, result: &str) -> String {
    format!(
        "[Event \"e\"]\n[Date \"{date}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
    )
}

fn with(rule: Duplicates) -> IndexOptions {
    IndexOptions { duplicates: rule, ..options() }
}

/// Indexes texts, each in its own file, in one run.
fn index(texts: &[String], rule: Duplicates) -> (tempfile::TempDir, Summary, Connection) {
    let directory = directory_for(texts.iter().map(String::len).sum());
    let files = write(texts, directory.path());
    let target = directory.path().join("out.db");
    let summary = run(&target, &files, &with(rule)).expect("indexed");
    assert_sound(&target, &summary);
    let database = open(&target);
    (directory, summary, database)
}

fn write(texts: &[String], directory: &Path) -> Vec<PathBuf> {
    let paths = (0..texts.len()).map(|number| directory.join(format!("{number}.pgn")));
    let paths: Vec<_> = paths.collect();
    paths.iter().zip(texts).for_each(|(path, text)| fs::write(path, text).expect("written"));
    paths
}

const FOUND: &str =
    "SELECT source_id, line, game_number, kind, game_id, original_id FROM duplicate ORDER BY 1, byte_offset";

#[test]
fn games_that_are_duplicates() {
    let tal = |moves: &str| game("Tal", "Botvinnik", "1960.03.15", moves, "1-0");
    let texts = [[
        tal(MOVES),
        // The same game with other annotations.
        tal(&MOVES.replace("2. g3", "{a comment} 2. g3 $1 (2. c4)").replace("Nf3 ", "Nf3! ")),
        game("Tal", "Botvinnik", "1960.03.15", MOVES, "1/2-1/2"),
        game("Tal", "Botvinnik", "1960.03.16", MOVES, "1-0"),
        game("Tal", "Petrosian", "1960.03.15", MOVES, "1-0"),
        game("Botvinnik", "Tal", "1960.03.15", MOVES, "1-0"),
        tal(&first(20)),
        tal(&format!("{}b5", first(31))),
        // Games without moves, and games with an illegal move.
        tal(""),
        tal(""),
        tal("1. e4 e5"),
        tal("1. e4 e5 2. Ke3"),
        tal("1. e4 e5 2. Ke3"),
        // Unknown players and dates.
        game("?", "Botvinnik", "1960.03.15", MOVES, "1-0"),
        game("?", "Botvinnik", "1960.03.15", MOVES, "1-0"),
        game("Tal", "Botvinnik", "????.??.??", MOVES, "1-0"),
        game("Tal", "Botvinnik", "?", MOVES, "1-0"),
    ]
    .concat()];
    let (_directory, summary, database) = index(&texts, Duplicates::Skip);
    assert_eq!(
        lines(&database, FOUND),
        ["1|9|2|same|-|1", "1|-|-|prefix|6|1", "1|97|13|same|-|11", "1|129|17|same|-|14"]
    );
    assert_eq!((summary.games, summary.duplicates.same, summary.duplicates.prefix), (14, 3, 1));
    // Problems of a skipped game are reported too.
    let problems = "SELECT game_number, game_id, ply FROM problem WHERE kind = 'illegal-move'";
    assert_eq!(lines(&database, problems), ["12|11|2", "13|-|2"]);
    let (_directory, summary, _) = index(&texts, Duplicates::Keep);
    assert_eq!((summary.games, summary.duplicates), (17, Default::default()));
}

#[test]
fn equal_moves_suffice_if_requested() {
    let texts = [
        game("Tal", "Botvinnik", "1960.03.15", MOVES, "1-0"),
        game("?", "?", "????.??.??", MOVES, "*"),
        game("A", "B", "2001.01.01", &first(20), "*"),
        game("C", "D", "2001.01.01", &first(20), "1-0"),
        game("A", "B", "2001.01.01", &first(19), "1-0"),
        game("C", "D", "2001.01.01", &first(19), "1-0"),
        game("A", "B", "2001.01.01", &first(19), "1-0"),
        game("Tal", "Botvinnik", "1960.03.15", MOVES, "1-0"),
    ];
    let (_directory, summary, database) = index(&texts, Duplicates::Moves);
    assert_eq!(
        lines(&database, FOUND),
        ["2|1|1|moves|-|1", "4|1|1|moves|-|2", "5|-|-|prefix|3|2", "7|1|1|same|-|3", "8|1|1|same|-|1"]
    );
    assert_eq!((summary.duplicates.same, summary.duplicates.moves), (2, 2));
}

#[test]
fn names_that_occur_only_in_skipped_games_are_not_stored() {
    let texts = [
        game("A", "B", "2001.01.01", MOVES, "1-0"),
        game("A", "B", "2001.01.01", MOVES, "1-0").replace("\"e\"", "\"elsewhere\""),
        game("C", "D", "2001.01.01", MOVES, "1-0"),
    ];
    let (_directory, _, database) = index(&texts, Duplicates::Skip);
    assert_eq!(column::<String>(&database, "SELECT name FROM event"), ["e"]);
    assert_eq!(column::<String>(&database, "SELECT name FROM player"), ["A", "B", "C", "D"]);
}

#[test]
fn a_prefix_is_found_before_and_after_the_whole_game() {
    let by = |moves: &str| game("Tal", "Botvinnik", "1960.03.15", moves, "*");
    // A game that reaches the same position at the same ply by another order of moves is not the same game.
    let transposed = by(&first(26).replace("12. Bc1 Nd5 13. Qb3", "12. Qb3 Nd5 13. Bc1"));
    let texts = [by(&first(18)), by(&first(15)), by(MOVES), by(&first(25)), by(&first(16)), transposed];
    let (_directory, summary, database) = index(&texts, Duplicates::Skip);
    assert_eq!(lines(&database, FOUND), ["1|-|-|prefix|1|3", "4|-|-|prefix|4|3", "5|-|-|prefix|5|1"]);
    assert_eq!((summary.games, summary.duplicates.prefix), (6, 3));
}

const TABLES: [&str; 8] = [
    "SELECT game_id, source_id, byte_offset, white_id, black_id, event_id, date, result, ply_count, moves_hash, prefix_hash
     FROM game ORDER BY 1",
    "SELECT source_id, byte_offset, byte_length, line, game_number, kind, game_id, original_id FROM duplicate ORDER BY 1, 2",
    "SELECT source_id, games, plies, problems, duplicates FROM source ORDER BY 1",
    "SELECT * FROM game_position ORDER BY 1, 2",
    "SELECT * FROM position_game ORDER BY 1, 2, 3",
    "SELECT * FROM player ORDER BY 1",
    "SELECT * FROM continuation ORDER BY 1, 2",
    "SELECT source_id, byte_offset, line, game_number, game_id, kind FROM problem ORDER BY problem_id",
];

/// Asserts that the same duplicates are found in one run as when the files are added one by one.
fn assert_added_alike(texts: &[String], rule: Duplicates) {
    let (directory, summary, at_once) = index(texts, rule);
    let target = directory.path().join("added.db");
    let mut skipped = 0;
    for file in write(texts, directory.path()) {
        skipped += run(&target, &[file], &with(rule)).expect("added").duplicates.skipped();
    }
    assert_eq!(skipped, summary.duplicates.skipped());
    let added = open(&target);
    assert_eq!(number(&added, "SELECT sum(duplicates) FROM import"), skipped);
    for query in TABLES {
        assert_eq!(lines(&at_once, query), lines(&added, query), "{query}");
    }
    assert_eq!(lines(&added, "PRAGMA foreign_key_check"), Vec::<String>::new());
}

/// The expected rows of `duplicate` for some games, found by comparing each game with all others.
fn expected(games: &[(usize, usize, usize)], rule: Duplicates) -> Vec<String> {
    // Each game is a pair of players, a number of plies and a result; the third pair has an unknown player.
    let (mut kept, mut rows) = (Vec::<(usize, usize)>::new(), BTreeMap::new());
    for (index, &(pair, plies, _)) in games.iter().enumerate() {
        let is_same = |&&(_, other): &&(usize, usize)| games[other] == games[index] && pair != 2;
        let has_moves = |&&(_, other): &&(usize, usize)| games[other].1 == plies && plies >= 20;
        let same = kept.iter().find(is_same).map(|&(id, _)| (id, "same"));
        let moves =
            kept.iter().find(has_moves).filter(|_| rule == Duplicates::Moves).map(|&(id, _)| (id, "moves"));
        match same.or(moves).filter(|_| plies > 0) {
            Some((id, kind)) => {
                rows.insert(index, format!("{}|{kind}|-|{id}", index + 1));
            }
            None => kept.push((kept.len() + 1, index)),
        }
    }
    for &(id, short) in &kept {
        let (pair, plies, _) = games[short];
        let is_longer = |&&(_, long): &&(usize, usize)| games[long].0 == pair && games[long].1 > plies;
        if let Some((long, _)) = kept.iter().find(is_longer).filter(|_| plies >= 16 && pair != 2) {
            rows.insert(short, format!("{}|prefix|{id}|{long}", short + 1));
        }
    }
    rows.into_values().collect()
}

proptest! {
    #![proptest_config(cases(7))]

    #[test]
    fn duplicates_agree_with_comparing_all_games(
        games in proptest::collection::vec((0..3usize, prop_oneof![Just(0), Just(5), 14..24usize], 0..2usize), 1..14),
        moves in any::<bool>(),
    ) {
        let rule = if moves { Duplicates::Moves } else { Duplicates::Skip };
        let names = [("A", "B"), ("B", "A"), ("A", "?")];
        // Each file needs a different text, because a file with a known text is not read again.
        let text = |(number, &(pair, plies, result)): (usize, &(usize, usize, usize))| {
            let (white, black) = names[pair];
            let text = game(white, black, "2001.01.01", &first(plies), ["1-0", "*"][result]);
            text.replace("\"e\"", &format!("\"{number}\""))
        };
        let texts: Vec<String> = games.iter().enumerate().map(text).collect();
        let (_directory, _, database) = index(&texts, rule);
        let found = "SELECT source_id, kind, game_id, original_id FROM duplicate ORDER BY 1";
        prop_assert_eq!(lines(&database, found), expected(&games, rule));
        assert_added_alike(&texts, rule);
    }
}

#[test]
fn the_shipped_games_twice_and_in_parts() {
    let parts: Vec<String> = GAMES
        .split("\n\n[Event")
        .map(|part| format!("[Event{}\n\n", part.trim_start_matches("[Event")))
        .collect();
    let pieces: Vec<String> = parts.chunks(parts.len() / 6).map(<[String]>::concat).collect();
    let again: Vec<String> = pieces[1..4].iter().map(|text| text.replace('\n', "\r\n")).collect();
    let texts = [pieces, again].concat();
    assert_added_alike(&texts, Duplicates::Skip);
    let (_directory, summary, _) = index(&[GAMES.to_owned(), GAMES.replace('\n', "\r\n")], Duplicates::Skip);
    assert_eq!(summary.games, summary.duplicates.same);
}

#[test]
fn a_growing_file_with_duplicates() {
    let by = |plies: usize| game("Tal", "Botvinnik", "1960.03.15", &first(plies), "*");
    let other = game("A", "B", "1999.01.01", MOVES, "1-0");
    let elsewhere = |text: &str| text.replace("\"e\"", "\"elsewhere\"");
    let cut = |text: &str, end: &str| text[..text.find(end).expect("the end in the text")].to_owned();
    let directory = directory();
    let [live, copy, late] = ["live.pgn", "copy.pgn", "late.pgn"].map(|name| directory.path().join(name));
    let target = directory.path().join("out.db");
    let add = |path: &Path, text: &str| {
        fs::write(path, text).expect("written");
        run(&target, &[path], &with(Duplicates::Skip)).expect("added")
    };
    let whole = by(32);
    // The game breaks off after 18 plies, and a copy of it is in another file.
    let begun = other.clone() + &cut(&whole, " 10. bxc4");
    assert_eq!(add(&live, &begun).games, 2);
    assert_eq!(add(&copy, &elsewhere(&begun)).duplicates.same, 2);
    assert_eq!(lines(&open(&target), FOUND), ["2|1|1|same|-|1", "2|9|2|same|-|2"]);
    // The first file grows: its game is read again, and the copy refers to the new game.
    assert_eq!(add(&live, &(other.clone() + &whole)).games, 1);
    assert_eq!(lines(&open(&target), FOUND), ["2|1|1|same|-|1", "2|9|2|cut|-|3"]);
    // The second file, whose last game was skipped, grows too.
    let summary = add(&copy, &elsewhere(&(other.clone() + &whole)));
    assert_eq!((summary.games, summary.duplicates.same), (0, 1));
    assert_eq!(lines(&open(&target), FOUND), ["2|1|1|same|-|1", "4|9|2|same|-|3"]);
    let counts = "SELECT games, duplicates FROM source";
    assert_eq!(lines(&open(&target), counts), ["1|0", "0|1", "1|0", "0|1"]);
    assert_eq!(lines(&open(&target), "SELECT games, duplicates FROM import"), ["1|0", "0|1", "1|0", "0|1"]);
    // A file contains a prefix of the game, and grows until it contains the whole game.
    assert_eq!(add(&late, &cut(&whole, " 10. bxc4")).duplicates.prefix, 1);
    assert_eq!(add(&late, &whole).duplicates.same, 1);
    let rows = lines(&open(&target), FOUND);
    assert_eq!(rows, ["2|1|1|same|-|1", "4|9|2|same|-|3", "6|1|1|same|-|3"]);
    assert_eq!(lines(&open(&target), "PRAGMA foreign_key_check"), Vec::<String>::new());
    assert_eq!(lines(&open(&target), "SELECT game_id FROM game ORDER BY 1"), ["1", "3"]);
}

/// Counts the games that repeat an earlier game, by comparing their moves instead of hashes. The database must contain
/// the duplicates.
fn count_repeated(database: &Connection) -> u64 {
    let query =
        "SELECT white || '/' || black || '/' || ifnull(date, '') || '/' || result || '/' || games.status
            || '/' || ifnull(start_fen, ''), game_id, ply_count FROM games
        WHERE white IS NOT NULL AND black IS NOT NULL AND ply_count > 0";
    let mut groups: HashMap<(String, u32), Vec<u32>> = HashMap::new();
    let mut query = database.prepare(query).expect("a query");
    let mut rows = query.query([]).expect("rows");
    while let Some(row) = rows.next().expect("a row") {
        groups.entry((row.get_unwrap(0), row.get_unwrap(2))).or_default().push(row.get_unwrap(1));
    }
    let mut moves = database
        .prepare("SELECT group_concat(move_code) FROM (SELECT move_code FROM game_position WHERE game_id = ?1 ORDER BY ply)")
        .expect("a query");
    let mut count = 0;
    for games in groups.into_values().filter(|games| games.len() > 1) {
        let mut all: Vec<String> =
            games.iter().map(|game| moves.query_row([game], |row| row.get(0)).expect("moves")).collect();
        let total = all.len();
        all.sort();
        all.dedup();
        count += (total - all.len()) as u64;
    }
    count
}

/// Checks the first `most` bytes of each collection.
fn check_collections(most: usize) {
    for name in ["annotated_mixed", "otb-40k", "lichess-24k", "fics", "openings-short", "tcec-3k"] {
        let Some(text) = part_of_corpus(name, most) else { continue };
        let texts = [String::from_utf8_lossy(&text).into_owned()];
        let (_directory, kept, database) = index(&texts, Duplicates::Keep);
        let (_other, summary, _) = index(&texts, Duplicates::Skip);
        assert_eq!(summary.duplicates.same, count_repeated(&database), "{name}");
        assert_eq!(summary.games + summary.duplicates.same, kept.games, "{name}");
    }
}

#[test]
fn repeated_games_of_some_of_each_collection() {
    check_collections(150_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn repeated_games_of_many_of_each_collection() {
    check_collections(3_000_000);
}

/// Indexes this many games with the same moves and different players into a new database, then adds as many others.
/// Returns both times in seconds.
fn seconds_of_equal_moves(games: usize) -> [f64; 2] {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("out.db");
    [0, games].map(|first| {
        let file = directory.path().join(format!("{first}.pgn"));
        let game = |number| {
            format!("[White \"p{number}\"]\n[Black \"q{number}\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n")
        };
        fs::write(&file, (first..first + games).map(game).collect::<String>()).unwrap();
        let began = std::time::Instant::now();
        let summary =
            pgndex::index::index(&target, &[file], &IndexOptions::default(), &Default::default()).unwrap();
        assert_eq!((summary.games, summary.duplicates.skipped()), (games as u64, 0));
        began.elapsed().as_secs_f64()
    })
}

#[test]
fn games_with_the_same_moves_take_linear_time() {
    // If each game were compared with all earlier ones, eight times as many would take 64 times as long. There are
    // three attempts, because the machine may be busy.
    let ratios = || {
        let (few, many) = (seconds_of_equal_moves(1_000), seconds_of_equal_moves(8_000));
        [0, 1].map(|run| many[run] / few[run])
    };
    let is_short = (0..3).any(|_| {
        let ratios = ratios();
        println!("{ratios:?}");
        ratios.iter().all(|ratio| *ratio < 20.0)
    });
    assert!(is_short, "not linear in three attempts");
}
