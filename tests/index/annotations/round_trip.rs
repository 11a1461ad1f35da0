//! Annotations are indexed, exported and indexed again: the rows are the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgndex::board::{MoveCode, Position};
use pgndex::index::{Duplicates, Error, IndexOptions};
use pgndex::query::write_pgn;
use pgndex::store::Database;
use pgndex::store::row::GameId;
use proptest::prelude::*;
use rayon::prelude::*;
use rusqlite::Connection;

use crate::needs::{part_of_corpus, shared};
use crate::properties::cases;
use crate::support::*;

/// Tables whose rows must be equal.
const TABLES: [&str; 14] = [
    "move_eval",
    "comment",
    "nag",
    "command",
    "variation",
    "variation_move",
    "game_position",
    "occurrence",
    "level_position",
    "level_continuation",
    "visit_set",
    "player",
    "event",
    "site",
];

/// Columns of `game` that depend on where its text was.
const OF_THE_TEXT: [&str; 4] = ["byte_offset", "byte_length", "source_id", "import_id"];

/// Queries that must give the same rows in both databases.
fn queries(database: &Connection) -> Vec<String> {
    let columns: Vec<String> = column(database, "SELECT name FROM pragma_table_info('game') ORDER BY cid");
    let columns: Vec<String> =
        columns.into_iter().filter(|name| !OF_THE_TEXT.contains(&name.as_str())).collect();
    let order = ["1", "1, 2", "1, 2, 3", "1, 2, 3, 4"];
    let mut queries: Vec<String> = TABLES
        .iter()
        .map(|table| {
            let keys = number(database, &format!("SELECT sum(pk > 0) FROM pragma_table_info('{table}')"));
            format!("SELECT * FROM {table} ORDER BY {}", order[keys as usize - 1])
        })
        .collect();
    // The openings are the same list of thousands of rows in each database, so a checksum is enough.
    queries
        .push("SELECT count(*), sum(opening_id * key % 1000003), sum(length(name)) FROM opening".to_owned());
    queries.push("SELECT * FROM tag ORDER BY 1, 2".to_owned());
    queries.push(format!("SELECT {} FROM game ORDER BY 1", columns.join(", ")));
    queries
}

/// The first difference between two databases.
fn difference(left: &Path, right: &Path) -> Option<String> {
    let (left, right) = (open(left), open(right));
    queries(&left).into_iter().find_map(|query| {
        let (left, right) = (lines(&left, &query), lines(&right, &query));
        let first = left.iter().zip(&right).find(|(left, right)| left != right);
        let first = first.map(|(left, right)| format!("{query}:\n{left}\n{right}"));
        first.or_else(|| {
            (left.len() != right.len()).then(|| format!("{query}: {} {}", left.len(), right.len()))
        })
    })
}

/// The games of each source of a database as PGN.
pub(crate) fn exported(database: &Path) -> Vec<String> {
    let database = Database::open_read_only(database).expect("a database");
    let mut texts =
        vec![String::new(); number(database.connection(), "SELECT count(*) FROM source") as usize];
    let mut games =
        database.connection().prepare("SELECT game_id, source_id FROM game ORDER BY 1").expect("a query");
    let mut games = games.query([]).expect("rows");
    while let Some(row) = games.next().expect("a game") {
        let game = GameId(row.get_unwrap(0));
        let (record, annotations) =
            (database.game(game).expect("a game"), database.annotations(game).expect("annotations"));
        write_pgn(&mut texts[row.get_unwrap::<_, u32>(1) as usize - 1], &record, &annotations)
            .expect("written");
    }
    texts
}

/// Indexes texts, each as its own source, exports them, and indexes the exports. Returns a difference, if there is one.
/// `None` also if none of the texts is a source.
pub(crate) fn come_back(texts: &[impl AsRef<[u8]>], options: &IndexOptions) -> Option<String> {
    let directory = directory_for(texts.iter().map(|text| text.as_ref().len()).sum());
    let path = |name: &str| directory.path().join(name);
    write_all(&path("in"), texts);
    match run(&path("in.db"), &[path("in")], options) {
        Err(Error::NoSource(_)) => return None,
        indexed => indexed.expect("indexed"),
    };
    let pgn = exported(&path("in.db"));
    write_all(&path("out"), &pgn);
    run(&path("out.db"), &[path("out")], options).expect("indexed");
    let other = difference(&path("in.db"), &path("out.db"));
    other.or_else(|| (exported(&path("out.db")) != pgn).then(|| "another PGN".to_owned()))
}

/// All collections.
const COLLECTIONS: [&str; 10] = [
    "annotated_mixed",
    "tcec-3k",
    "lichess-24k",
    "fics",
    "otb-40k",
    "otb-400k",
    "chess960-20k",
    "openings-short",
    "result-only",
    "lichess-like-100k",
];

/// Checks the first `most` bytes of each collection.
fn check_collections(most: usize) {
    COLLECTIONS.into_par_iter().for_each(|name| {
        let Some(text) = part_of_corpus(name, most) else { return };
        assert_eq!(come_back(&[text], &options()), None, "{name}");
    });
}

#[test]
fn some_games_of_collections_survive_an_export() {
    check_collections(100 << 10);
}

#[test]
#[ignore = "takes minutes"]
fn thousands_of_games_of_collections_survive_an_export() {
    check_collections(20 << 20);
}

/// The files below a directory that have at most this many bytes.
fn files(directory: &Path, most: u64) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path, most),
            false if path.metadata().expect("a file").len() > most => vec![],
            false => vec![path],
        })
        .collect()
}

/// Checks every `step`th file that has at most this many bytes.
fn check_edge_files(most: u64, step: usize) {
    let Some(edge) = shared("edge") else { return };
    let mut files = files(&edge, most);
    files.sort();
    let is_pgn = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "pgn");
    let files: Vec<&PathBuf> = files.iter().step_by(step).filter(is_pgn).collect();
    let texts: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).expect("a file")).collect();
    if let Some(other) = come_back(&texts, &options()) {
        // Searches for the files that differ when they are indexed alone.
        let alone = files.iter().zip(&texts).filter_map(|(path, text)| {
            Some(format!("{}: {}", path.display(), come_back(&[text], &options())?))
        });
        panic!("{other}\n{}", alone.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn some_edge_files_survive_an_export() {
    check_edge_files(20_000, 6);
}

#[test]
#[ignore = "takes ten seconds"]
fn edge_files_survive_an_export() {
    check_edge_files(u64::MAX, 1);
}

/// Pieces of comments; they are joined without spaces, so that neighbouring pieces interact.
const PIECES: [&str; 44] = [
    " ",
    "  ",
    "a",
    "word",
    "longer words that make more than a line when there are some of them",
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    "\u{1}",
    "$1",
    "[",
    "]",
    "[%",
    "[%]",
    "[%clk 0:01:02]",
    "[%clk 0:01:02.5]",
    "[%clk 9]",
    "[%emt 1.5]",
    "[%timestamp 12]",
    "[%eval 0.35]",
    "[%eval #-3]",
    "[%eval 35,22]",
    "[%eval #3,20]",
    "[%cal Ga1b2,\u{1}Rc3c4 ]",
    "[%a",
    "[%b]",
    "+0.35/22 1.2s",
    "-M9/30 0.5s, White mates",
    "d=20, mt=3000, tl=60000, wv=-0.31, ",
    "wv=M20",
    "\u{e9}t\u{e9}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{1f3c6}",
    "[Event \"x\"]",
    "1-0",
];

fn comment() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..6).prop_map(|pieces| pieces.concat())
}

/// An element of movetext.
#[derive(Clone, Debug)]
enum Item {
    /// A legal move, by its index.
    Move(usize),
    Comment(String, bool),
    Nag(String),
    Variation(Vec<Item>),
    /// A word that is skipped or that ends a variation.
    Odd(&'static str),
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let nag = prop_oneof![
        (0..300u32).prop_map(|nag| format!("${nag}")),
        prop::sample::select(vec![
            "!",
            "?",
            "!!",
            "??",
            "!?",
            "?!",
            "\u{203c}",
            "$99999",
            "$",
            "$4294967296"
        ])
        .prop_map(str::to_owned),
    ];
    let odd = prop::sample::select(vec!["Ke9", "hello", "0-1 x", "3.", "...", "--", "Qh5xh5", "@", "+-"]);
    let leaf = prop_oneof![
        8 => (0..200usize).prop_map(Item::Move),
        3 => (comment(), any::<bool>()).prop_map(|(text, is_line)| Item::Comment(text, is_line)),
        2 => nag.prop_map(Item::Nag),
        1 => odd.prop_map(Item::Odd),
    ];
    let item = leaf.prop_recursive(5, 60, 10, |item| {
        prop_oneof![3 => item.clone(), 2 => prop::collection::vec(item, 0..10).prop_map(Item::Variation)]
    });
    prop::collection::vec(item, 0..30)
}

/// Writes items as movetext.
fn write(items: &[Item], text: &mut String, start: &Position, is_main: bool) {
    let (mut before, mut position) = (start.clone(), start.clone());
    let mut moves: Vec<MoveCode> = Vec::new();
    for item in items {
        match item {
            Item::Move(index) => {
                moves.clear();
                position.legal_moves(&mut moves);
                let Some(&code) = moves.get(index % moves.len().max(1)) else { continue };
                text.push_str(&position.san(code));
                before = position.clone();
                position.make(code).expect("a legal move");
            }
            Item::Comment(comment, true) => {
                text.push_str(&format!(";{}\n", comment.replace(['\r', '\n'], " ")))
            }
            Item::Comment(comment, false) => text.push_str(&format!("{{{}}}", comment.replace('}', "]"))),
            Item::Nag(nag) => text.push_str(nag),
            Item::Variation(items) => {
                text.push('(');
                write(items, text, &before, false);
                text.push(')');
            }
            // An odd word in the main line would end the game.
            Item::Odd(_) if is_main => {}
            Item::Odd(word) => text.push_str(word),
        }
        text.push(' ');
    }
}

/// Some games as text.
fn games(games: &[Vec<Item>]) -> String {
    let mut text = String::new();
    for (number, items) in games.iter().enumerate() {
        text += &format!("[Event \"{number}\"]\n[Result \"*\"]\n\n");
        write(items, &mut text, &Position::start(), true);
        text += "*\n\n";
    }
    text
}

/// Asserts that a text gives the same database with chunks of any size, and that its games survive an export.
fn assert_round_trip(text: &[u8]) {
    let directory = directory_for(text.len());
    let path = |name: &str| directory.path().join(name);
    fs::write(path("in.pgn"), text).expect("written");
    for (name, chunk_size) in [("whole.db", 64 << 20), ("pieces.db", 1)] {
        let options = IndexOptions { chunk_size, ..options() };
        match run(&path(name), &[path("in.pgn")], &options) {
            Err(Error::NoSource(_)) => return,
            indexed => indexed.expect("indexed"),
        };
    }
    assert_same(&path("whole.db"), &path("pieces.db"), "chunks");
    assert_eq!(come_back(&[text], &options()), None);
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn random_annotated_games_survive_an_export(items in prop::collection::vec(items(), 1..4)) {
        assert_round_trip(games(&items).as_bytes());
    }

    #[test]
    fn any_brackets_and_braces_survive_an_export(pieces in prop::collection::vec(prop::sample::select(SOUP.as_slice()), 0..80)) {
        let text = [b"[Event \"a\"]\n\n1. e4 e5 ".as_slice(), &pieces.concat()].concat();
        assert_round_trip(&text);
    }
}

/// Pieces of movetext that are joined without regard to syntax.
const SOUP: [&[u8]; 28] = [
    b"(",
    b"(",
    b"(",
    b")",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[%",
    b";",
    b"\n",
    b" ",
    b"$1",
    b"!",
    b"1. ",
    b"Nf3 ",
    b"Nc6 ",
    b"e4 ",
    b"*",
    b"(Nf6 ",
    b"(d4 d5) ",
    b"{[%clk 1:00:00]}",
    b"{+0.1/1 1s}",
    b"\xff",
    b"\xe2\x80",
    b"\0",
    b"-- ",
];

/// The time to index and export a text.
fn seconds(text: &str) -> Duration {
    let directory = directory();
    fs::write(directory.path().join("in.pgn"), text).expect("written");
    let options = IndexOptions { duplicates: Duplicates::Keep, threads: 1, ..options() };
    let began = Instant::now();
    run(&directory.path().join("out.db"), &[directory.path().join("in.pgn")], &options).expect("indexed");
    let pgn = exported(&directory.path().join("out.db"));
    assert!(pgn[0].len() > 50);
    began.elapsed()
}

/// Makes a text of a given size.
type Text = Box<dyn Fn(usize) -> String>;

/// The time is about proportional to the number of annotations.
#[test]
fn annotations_take_linear_time() {
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let others = ["Nc3", "Nc6", "Nf3", "Nf6"];
    let with_variations = move |plies: usize| {
        (0..plies).map(|ply| format!("{} ({} e5) ", moves[ply % 4], others[ply % 4])).collect::<String>()
    };
    let texts: [(&str, Text, usize); 7] = [
        ("a variation at each ply", Box::new(with_variations), 10_000),
        ("variations at one ply", Box::new(|count| format!("Nf3 {}", "(e4 e5) ".repeat(count))), 20_000),
        (
            "comments and glyphs of variations",
            Box::new(|count| format!("Nf3 {}", "(e4 {a} e5 $1) ".repeat(count))),
            40_000,
        ),
        ("nested", Box::new(|depth| format!("Nf3 {} ", "(Nc3 ".repeat(depth) + &")".repeat(depth))), 50_000),
        (
            "only brackets",
            Box::new(|depth| format!("Nf3 {} ", "(".repeat(depth) + &")".repeat(depth))),
            50_000,
        ),
        ("comments at one ply", Box::new(|count| format!("Nf3 {}", "{a [%b c]} $7 ".repeat(count))), 20_000),
        (
            "brackets in a comment",
            Box::new(|count| format!("Nf3 {{{}]}}", "[% [%a[%b] ".repeat(count))),
            50_000,
        ),
    ];
    for (what, text, count) in texts {
        let (one, two) = (seconds(&text(count)), seconds(&text(2 * count)));
        println!("{what}: {one:?}, {two:?}");
        assert!(two < 3 * one + Duration::from_millis(300), "{what}: {one:?}, then {two:?}");
    }
}
