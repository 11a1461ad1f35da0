//! The opening of a game is that of its last position with a name, whatever the order of moves.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use pgndex::board::Position;
use pgndex::index::{IndexOptions, Progress, index};
use pgndex::opening::{Opening, OpeningBook};
use pgndex::pgn::{Reader, Token};
use pgndex::store::Database;
use tempfile::TempDir;

use crate::needs::{corpus, python_with_chess, shared};

/// A database of games that were indexed with a given list of openings.
struct Indexed {
    _directory: TempDir,
    database: Database,
}

impl Indexed {
    fn new(games: impl AsRef<[u8]>, openings: Arc<OpeningBook>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, target) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
        fs::write(&input, games).expect("written");
        let options = IndexOptions { threads: 2, memory: 64 << 20, openings, ..IndexOptions::default() };
        index(&target, &[input], &options, &Progress::default()).expect("indexed");
        Self { _directory: directory, database: Database::open_read_only(&target).expect("a database") }
    }

    /// Code and name of the opening of each game, joined by `separator`; empty without an opening.
    fn openings(&self, separator: &str) -> Vec<String> {
        let sql = "SELECT ifnull(opening_eco || ?1 || opening, '') FROM games ORDER BY game_id";
        let mut query = self.database.connection().prepare(sql).expect("a query");
        query.query_map([separator], |row| row.get(0)).and_then(Iterator::collect).expect("rows")
    }

    fn text(&self, sql: &str) -> String {
        self.database.connection().query_row(sql, [], |row| row.get(0)).expect("a text")
    }
}

fn list(lines: &str) -> Arc<OpeningBook> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), format!("eco\tname\tpgn\n{lines}")).expect("written");
    Arc::new(OpeningBook::read(file.path()).expect("a list"))
}

#[test]
fn the_order_of_moves_does_not_matter() {
    let games =
        "1. Nf3 d5 2. d4 *\n\n1. d4 d5 2. Nf3 *\n\n1. d4 Nf6 2. c4 e6 3. Nf3 d5 4. Nc3 *\n\n1. h4 *\n";
    assert_eq!(
        Indexed::new(games, OpeningBook::built_in()).openings(" "),
        [
            "D02 Queen's Pawn Game: Zukertort Variation",
            "D02 Queen's Pawn Game: Zukertort Variation",
            "D37 Queen's Gambit Declined: Three Knights Variation",
            "A00 Kádas Opening"
        ]
    );
}

#[test]
fn the_last_position_with_a_name_counts() {
    let openings =
        list("A00\tStart\t*\nB00\tKing's Pawn\t1. e4\nA01\tReturned\t1. Nf3 Nf6 2. Ng1 Ng8 3. e3\n");
    let games = "\
[Event \"leaves the list\"]\n\n1. e4 e5 2. Nf3 *\n\n\
[Event \"comes back late\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nc3 Nc6 4. Nb1 Nb8 5. e3 *\n\n\
[Event \"a mistake ends it\"]\n\n1. e4 Ke7 2. e5 *\n\n\
[Event \"no space\"]\n\n1. Nf3 Nf62. Ng1 Ng83. e4 *\n\n\
[Event \"no moves\"]\n\n*\n\n\
[Event \"set up\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 3 7\"]\n\n1... h5 *\n\n\
[Event \"set up otherwise\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b - - 0 1\"]\n\n1... h5 *\n\n\
[Event \"skipped\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n";
    let indexed = Indexed::new(games, Arc::clone(&openings));
    let (start, pawn) = ("A00 Start", "B00 King's Pawn");
    assert_eq!(indexed.openings(" "), [pawn, "A01 Returned", pawn, pawn, start, pawn, "", ""]);
    let options: serde_json::Value =
        serde_json::from_str(&indexed.text("SELECT options FROM import")).expect("JSON");
    assert_eq!(options["openings"], openings.digest());
    assert_eq!(indexed.text("SELECT value FROM setting WHERE name = 'openings'"), openings.digest());
}

#[test]
fn a_database_gives_the_names_of_positions() {
    let indexed = Indexed::new("1. e4 *\n", OpeningBook::built_in());
    let mut position = Position::start();
    let (key, fen) = (position.key(), position.canonical_fen());
    assert_eq!(indexed.database.opening_of(key, &fen).expect("an answer"), None);
    position.play_san(b"b4").expect("a legal move");
    let (polish, polish_fen) = (position.key(), position.canonical_fen());
    let opening = indexed.database.opening_of(polish, &polish_fen).expect("an answer");
    assert_eq!(opening.as_ref(), OpeningBook::built_in().get(&position));
    // The key alone is not enough.
    assert_eq!(indexed.database.opening_of(polish, &fen).expect("an answer"), None);
    let count: usize = indexed.text("SELECT CAST(count(*) AS TEXT) FROM opening").parse().expect("a number");
    assert_eq!(count, OpeningBook::built_in().len());
}

#[test]
fn openings_of_the_famous_games_agree_with_python_chess() {
    let games = include_str!("../../../examples/famous-games.pgn");
    let expected: Vec<&str> = include_str!("../../data/famous_openings.tsv").lines().collect();
    let found = Indexed::new(games, OpeningBook::built_in()).openings("\t");
    assert_eq!(found.len(), expected.len());
    for (game, (found, expected)) in (1..).zip(found.iter().zip(expected)) {
        assert_eq!(found, expected, "game {game}; tests/data/openings.py makes the expected names");
    }
    assert!(found.iter().filter(|opening| !opening.is_empty()).count() > 50);
}

/// Checks the first `size` bytes of a real collection, up to the end of a game. There must be more than `count` games.
fn check_real_games(size: usize, count: usize) {
    let (Some(list), Some(mut games)) = (shared("openings"), corpus("otb-40k")) else { return };
    games.truncate(pgndex::pgn::next_boundary(&games, size));
    let Some(python) = python_with_chess() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let input = directory.path().join("games.pgn");
    fs::write(&input, &games).expect("written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openings.py");
    let truth = Command::new(python).arg(script).arg(&list).arg(&input).output().expect("Python runs");
    assert!(truth.status.success(), "{}", String::from_utf8_lossy(&truth.stderr));
    let truth = String::from_utf8(truth.stdout).expect("UTF-8");
    let expected: Vec<&str> = truth.lines().collect();
    let openings = Arc::new(OpeningBook::read(&list).expect("the list"));
    let found = Indexed::new(games, openings).openings("\t");
    assert!(expected.len() > count, "{}", expected.len());
    assert_eq!(found.len(), expected.len());
    for (game, (found, expected)) in (1..).zip(found.iter().zip(expected)) {
        assert_eq!(found, expected, "game {game}");
    }
}

#[test]
fn openings_of_some_real_games_agree_with_python_chess() {
    check_real_games(130_000, 150);
}

#[test]
#[ignore = "takes ten seconds"]
fn openings_of_many_real_games_agree_with_python_chess() {
    check_real_games(1_600_000, 2000);
}

/// After this many plies, a position with a name is a coincidence; no line of the list is as long.
const MOST_PLIES: usize = 40;

/// For each game with an ECO tag: the code in the tag, and the opening according to the built-in list.
fn tagged_and_found(games: &[u8]) -> Vec<(String, Opening)> {
    let book = OpeningBook::built_in();
    let mut reader = Reader::new(games);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    while reader.next_game(&mut tags, &mut problems) {
        let eco = tags.iter().find(|tag| tag.name == b"ECO").map(|tag| tag.text().into_owned());
        let mut position = Position::start();
        let mut opening = None;
        for _ in 0..MOST_PLIES {
            let Token::Move(san) = reader.next_token() else { break };
            if position.play_san(san).is_err() {
                break;
            }
            opening = book.find(&position).or(opening);
        }
        found.extend(eco.filter(|eco| !eco.is_empty()).zip(opening));
    }
    let openings: Vec<&Opening> = book.iter().map(|(_, named)| &named.opening).collect();
    found.into_iter().map(|(eco, id)| (eco, openings[id.0 as usize - 1].clone())).collect()
}

/// The tags come from several programs, which disagree; see docs/indexing.md.
#[test]
fn codes_agree_with_the_tags_of_real_games() {
    let Some(games) = corpus("otb-40k") else { return };
    let games = tagged_and_found(&games);
    assert!(games.len() > 39_900, "{}", games.len());
    let share = |letters: usize| {
        let agreeing = games.iter().filter(|(eco, opening)| eco.get(..letters) == opening.eco.get(..letters));
        agreeing.count() as f64 / games.len() as f64
    };
    assert!(share(3) > 0.82, "{}", share(3));
    assert!(share(2) > 0.91, "{}", share(2));
    assert!(share(1) > 0.96, "{}", share(1));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    games.iter().for_each(|(_, opening)| *counts.entry(&opening.name).or_default() += 1);
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(name, count)| (Reverse(count), name));
    let most: Vec<&str> = counts.iter().take(5).map(|&(name, _)| name).collect();
    assert_eq!(
        most,
        [
            "Italian Game: Classical Variation, Giuoco Pianissimo",
            "Ruy Lopez: Berlin Defense, Anti-Berlin Variation",
            "Sicilian Defense: Najdorf Variation, English Attack",
            "Sicilian Defense: Taimanov Variation",
            "Sicilian Defense: Nyezhmetdinov-Rossolimo Attack",
        ]
    );
    // In a coarse list, one name would stand for a large part of the games.
    assert!(counts[0].1 < games.len() / 50, "{:?}", counts[0]);
}
