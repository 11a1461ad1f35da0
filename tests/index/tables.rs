//! Equal input gives equal tables, whatever the threads, chunks and memory, and the same rows as plain `INSERT`s.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{Duplicates, IndexOptions};
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::needs::{corpus, part_of_corpus};
use crate::properties::cases;
use crate::support::*;

/// Indexes `paths` with all given options, and asserts that the databases are the same. Returns the path of the first.
fn assert_all_same(
    directory: &Path,
    paths: &[PathBuf],
    variants: impl IntoIterator<Item = IndexOptions>,
) -> PathBuf {
    let first = directory.join("first.db");
    let other = directory.join("other.db");
    let mut last = IndexOptions::default();
    for options in variants {
        let options = IndexOptions { overwrite: true, ..options };
        last = options.clone();
        let IndexOptions { threads, memory, chunk_size, .. } = options;
        let what = format!("{threads} threads, {memory} bytes of memory, chunks of {chunk_size}");
        let target = if first.exists() { &other } else { &first };
        let summary = run(target, paths, &options).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_sound(target, &summary);
        assert_same(&first, target, &what);
    }
    assert_compact_is_same(&first, paths, &last);
    first
}

fn write(path: PathBuf, text: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a directory")).expect("created");
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn the_shipped_games() {
    let directory = directory();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/famous-games.pgn");
    let tiny = IndexOptions { chunk_size: 1, memory: 0, threads: 3, ..options() };
    let first = assert_all_same(directory.path(), &[path], variants().chain([tiny]));
    let games = GAMES.matches("[Event \"").count() as u64;
    assert_eq!(number(&open(&first), "SELECT count(*) FROM game WHERE status = 'ok'"), games);
    assert_eq!(number(&open(&first), "SELECT count(*) FROM problem"), 0);
}

/// Queries for the rows that are written as pages, and the rows to which they refer.
const PLAIN: [&str; 7] = [
    "SELECT game_id, byte_offset, event_id, site_id, date, round, white_id, black_id, result, white_elo, black_elo, eco,
        start_fen, ply_count, status FROM game ORDER BY 1",
    "SELECT * FROM game_position ORDER BY 1, 2",
    "SELECT * FROM occurrence ORDER BY 1, 2, 3, 4",
    "SELECT * FROM player ORDER BY 1",
    "SELECT * FROM event ORDER BY 1",
    "SELECT * FROM site ORDER BY 1",
    "SELECT * FROM tag ORDER BY 1, 2",
];

#[test]
fn pages_have_the_rows_of_plain_inserts() {
    let setups = "[Event \"set up\"]\n[Result \"0-1\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 40\"]\n[Annotator \"x\"]\n\n\
                  40... fxe3 41. Ke2 0-1\n\n[Event \"cut\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Ke3 1-0\n\n";
    for text in [GAMES.as_bytes(), synthetic(200), setups.as_bytes()] {
        let indexed = Indexed::new(text);
        let plain = indexed.directory.path().join("plain.db");
        crate::games::build(&plain, "in.pgn", std::str::from_utf8(text).expect("UTF-8"));
        let (pages, plain) = (indexed.open(), open(&plain));
        PLAIN.iter().for_each(|query| assert_same_rows(&pages, &plain, query, "plain rows"));
    }
}

#[test]
fn several_files_and_directories() {
    let directory = directory();
    let games: Vec<&str> = GAMES.split_inclusive("\n\n[Event").collect();
    let root = directory.path().join("tree");
    write(root.join("b.pgn"), GAMES);
    write(root.join("a/z.PGN"), GAMES.replace('\n', "\r\n"));
    write(root.join("a/y.txt"), "[Event \"not listed\"]\n\n1. e4 *\n");
    write(root.join("c/d/e.pgn"), games[..3].concat());
    write(root.join("empty.pgn"), "");
    let single = write(directory.path().join("single.txt"), "1. e4 e5 *\n");
    let missing = directory.path().join("missing.pgn");
    let paths = [single.clone(), missing, root, single];
    let some = variants().step_by(4).chain([IndexOptions { chunk_size: 1, ..options() }]);
    let first = open(&assert_all_same(directory.path(), &paths, some));
    let tail = format!("substr(path, {})", directory.path().to_string_lossy().len() + 2);
    assert_eq!(
        column::<String>(&first, &format!("SELECT {tail} FROM source ORDER BY source_id")),
        ["single.txt", "missing.pgn", "tree/a/z.PGN", "tree/b.pgn", "tree/c/d/e.pgn", "tree/empty.pgn"]
    );
    assert_eq!(
        column::<String>(&first, "SELECT kind FROM problem WHERE severity = 'error'"),
        ["unreadable-source"]
    );
}

/// Games with long or missing rows and index values.
#[test]
fn games_with_long_tags() {
    let directory = directory();
    let game = |number: usize| {
        let round = "r".repeat(match number % 50 {
            7 => 9_000,
            8 => 60_000,
            other => other,
        });
        let date = ["????.??.??", "1999.01.??", "1999.01.02"][number % 3];
        let eco = ["?", "B90", "A00/1", "C42 so many"][number % 4];
        format!(
            "[White \"P{}\"]\n[Date \"{date}\"]\n[Round \"{round}\"]\n[ECO \"{eco}\"]\n\n1. e4 *\n\n",
            number % 9
        )
    };
    let games: Vec<String> = (0..400).map(game).collect();
    // The last value is too long to be sorted with the others.
    for (name, last) in [("a.pgn", ""), ("b.pgn", "[ECO \"D37, or rather D38\"]\n\n1. d4 *\n")] {
        let path = write(directory.path().join(name), games.concat() + last);
        let some = variants().step_by(3).chain([IndexOptions { memory: 0, ..options() }]);
        let connection = open(&assert_all_same(directory.path(), &[path], some));
        for index in column::<String>(&connection, "SELECT name FROM pragma_index_list('game')") {
            let rows = number(&connection, &format!("SELECT count(*) FROM game INDEXED BY {index}"));
            assert_eq!(rows, number(&connection, "SELECT count(*) FROM game NOT INDEXED"), "{index}");
        }
        drop(connection);
        fs::remove_file(directory.path().join("first.db")).expect("removed");
    }
}

/// Pieces of collections as they occur: good games, and every kind of error.
const PIECES: &[&[u8]] = &[
    b"[Event \"A\"]\n[White \"Tal\"]\n[Black \"Petrosian\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n",
    b"[White \"Anand\"]\n[Black \"Carlsen\"]\n[Date \"2013.11.09\"]\n\n1. Nf3 d5 2. g3 g6 3. Bg2 Bg7 4. d4 c6 5. O-O Nf6 \
      6. b3 O-O 7. Bb2 Bf5 8. c4 Nbd7 9. Nc3 dxc4 10. bxc4 Nb6 11. c5 1/2-1/2\n\n",
    b"[White \"Anand\"]\n[Black \"Carlsen\"]\n[Date \"2013.11.09\"]\n\n1. Nf3 d5 2. g3 g6 3. Bg2 Bg7 4. d4 c6 5. O-O Nf6 \
      6. b3 O-O 7. Bb2 Bf5 8. c4 Nbd7 *\n\n",
    b"[White \"Others\"]\n[Black \"than they\"]\n\n1. Nf3 d5 2. g3 g6 3. Bg2 Bg7 4. d4 c6 5. O-O Nf6 \
      6. b3 O-O 7. Bb2 Bf5 8. c4 Nbd7 9. Nc3 dxc4 10. bxc4 Nb6 11. c5 1-0\n\n",
    b"[Event \"B\"]\n[Result \"*\"]\n[Annotator \"x\"]\n\n1. d4 {a (comment} d5 $1 (1... Nf6 (1... e6 {)}) 2. c4) 2. c4! *\n\n",
    b"[Event \"A\"]\n[Site \"?\"]\n[Date \"1992.??.??\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n",
    b"[Event \"nothing\"]\n[Result \"1/2-1/2\"]\n\n1/2-1/2\n\n",
    b"[Event \"headers only\"]\n[White \"Nobody\"]\n\n",
    b"[Event \"illegal\"]\n\n1. e4 e5 2. Ke3 d6 *\n\n",
    b"[Event \"ambiguous\"]\n[FEN \"4k3/8/8/8/8/2N5/8/4K1N1 w - - 3 20\"]\n\n1. Ne2 *\n\n",
    b"[Event \"unreadable\"]\n\n1. e4 e5 2. Sf3 Nc6 1-0\n\n",
    b"[Event \"open\"]\n\n1. e4 { never closed\n\n",
    b"[Event \"open too\"]\n\n1. e4 (1. d4 { in } d5\n\n",
    b"[Event \"FEN\"]\n[FEN \"r3k3/1P6/8/8/8/8/8/4K3 b q - 0 17\"]\n[SetUp \"1\"]\n\n17... O-O-O 18. b8=Q+ *\n\n",
    b"[Event \"bad FEN\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n",
    b"[Event \"960\"]\n[Variant \"Chess960\"]\n[FEN \"1rk3r1/8/8/8/8/8/8/1RK3R1 w BGbg - 0 1\"]\n\n1. O-O O-O-O *\n\n",
    b"[Event \"annotated\"]\n\n1. e4 {[%clk 0:01:00] a} (1. d4 $1 (1. c4 {b}) d5) e5! {+0.3/12 1.2s} 2. Nf3 (2. Ke3) ; c }\n*\n\n",
    b"(1... c5 {[%cal Ga1b2]}) {[%eval -0.5,20] \xe9}\n",
    b"[Event \"variant\"]\n[Variant \"Atomic\"]\n\n1. e4 d5 2. exd5 *\n\n",
    b"[Event \"no blank\"]\n1. e4 e5 1-0\n[Event \"lines\"]\n1. d4 *\n",
    b"[Event \"no result\"]\n\n1. c4 c5\n[Event \"next\"]\n\n1. c4 c5 2. g3\n\n",
    b"[Event \"mismatch\"]\n[Result \"1-0\"]\n[WhiteElo \"strong\"]\n\n1. e4 ) e5 } 0-1 1-0\n\n",
    b"[White \"without Event\"]\n[White \"twice\"]\n\n1. b3 \xc2\xbd-\xc2\xbd\n\n",
    b"1. e4 e5 2. Bc4 *\n\n",
    b"some mail text, not chess\n",
    b"[Site \"unclosed\n[Event \"E\"]\n\n1. a3 *\n\n",
    b"{[Event \"in a comment\"]\n\n}\n",
    b"[Event \"\xc5ke\"]\n\n1. Nf3\x00 \xef\xbb\xbf Nf6 ; rest ( { of line\n% hidden 2. d4\n2. c4 *\n\n",
    b"\xef\xbb\xbf",
    b"\x00\x00\x00\x00",
    b"\n",
    b"\n\n\n",
    b" \t ",
    b"*\n",
    b"}",
    b"(",
    b"{",
    b"; ",
    b"%",
    b"[",
    b"\"]\n",
    b"e4",
    b"[Event \"x\"]",
    b"\x9f\xff\xfe\x00\x01",
    b"\xe2\x80",
    b"\xe2\x99",
    b"\xe2\x88",
    b"\xef\xbb",
    b"\xe2\x99\x98f3",
    b"-----\n",
    b"1. Sf3 d5 2. d4 *\n",
];

/// PGN text that is printed as text when a test fails.
#[derive(Clone)]
struct Messy(Vec<u8>);

impl std::fmt::Debug for Messy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn messy() -> impl Strategy<Value = Messy> {
    let piece = (0..PIECES.len(), 0..12u8);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| {
        let mut text = Vec::new();
        for (index, change) in pieces {
            let piece = PIECES[index];
            match change {
                // Other line ends, no blank lines, or cut short.
                0 => text.extend(piece.iter().flat_map(|&byte| match byte {
                    b'\n' => b"\r\n".to_vec(),
                    _ => vec![byte],
                })),
                1 => text.extend(piece.iter().map(|&byte| if byte == b'\n' { b'\r' } else { byte })),
                2 => text.extend(piece.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte })),
                3 => text.extend_from_slice(piece.trim_ascii_end()),
                4 => text.extend_from_slice(&piece[..piece.len() / 2]),
                _ => text.extend_from_slice(piece),
            }
        }
        Messy(text)
    })
}

fn rule() -> impl Strategy<Value = Duplicates> {
    prop_oneof![Just(Duplicates::Keep), Just(Duplicates::Skip), Just(Duplicates::Moves)]
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn messy_collections(Messy(text) in messy(), split in 0..3000usize, rule in rule()) {
        let directory = directory_for(text.len());
        let split = split.min(text.len());
        let paths = [
            write(directory.path().join("1.pgn"), &text[..split]),
            write(directory.path().join("2.pgn"), &text[split..]),
        ];
        let base = IndexOptions { duplicates: rule, ..options() };
        let variants = [
            IndexOptions { threads: 1, chunk_size: 64 << 20, ..base.clone() },
            IndexOptions { threads: 1, chunk_size: 1, memory: 0, ..base.clone() },
            IndexOptions { threads: 4, chunk_size: 1, memory: 0, ..base.clone() },
            IndexOptions { threads: 2, chunk_size: 100, memory: 0, ..base },
        ];
        assert_all_same(directory.path(), &paths, variants);
    }
}

/// The columns of a game that do not depend on where it is.
const GAME: &str = "SELECT g.source_id, e.name, s.name, w.name, b.name, date, round, result, white_elo, black_elo, eco, variant, \
     start_fen, ply_count, status, moves_hash, eval_count, clock_count FROM game AS g \
     LEFT JOIN event AS e USING (event_id) LEFT JOIN site AS s USING (site_id) \
     LEFT JOIN player AS w ON w.player_id = white_id LEFT JOIN player AS b ON b.player_id = black_id ORDER BY game_id";
const POSITIONS: &str =
    "SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position ORDER BY game_id, ply";
const TAGS: &str = "SELECT game_id, name, value FROM tag ORDER BY game_id, name";
/// The rows of its annotations.
const ANNOTATIONS: [&str; 6] = [
    "SELECT * FROM move_eval ORDER BY 1, 2",
    "SELECT * FROM comment ORDER BY 1, 2, 3, 4",
    "SELECT * FROM nag ORDER BY 1, 2, 3, 4",
    "SELECT * FROM command ORDER BY 1, 2, 3, 4",
    "SELECT * FROM variation ORDER BY 1, 2",
    "SELECT * FROM variation_move ORDER BY 1, 2, 3",
];

/// Cuts each game out of the texts by its offset and length, and asserts that it gives the same rows when it is alone
/// in a file. Returns the database of the texts, each of which is a source.
fn assert_games_are_independent(texts: &[impl AsRef<[u8]>]) -> (TempDir, Connection) {
    let directory = directory_for(texts.iter().map(|text| text.as_ref().len()).sum());
    let path = |folder: &str, index: usize| directory.path().join(format!("{folder}/{index:06}.pgn"));
    for (index, text) in texts.iter().enumerate() {
        write(path("whole", index), text);
    }
    let database = |folder: &str| {
        let target = directory.path().join(format!("{folder}.db"));
        run(&target, &[directory.path().join(folder)], &options()).expect("indexed");
        open(&target)
    };
    let whole = database("whole");
    let games = lines(&whole, "SELECT source_id - 1, byte_offset, byte_length FROM game ORDER BY game_id");
    let numbers = |game: &String| game.split('|').map(|number| number.parse().expect("a number")).collect();
    let games: Vec<Vec<usize>> = games.iter().map(numbers).collect();
    if !games.is_empty() {
        for (index, game) in games.iter().enumerate() {
            write(path("alone", index), &texts[game[0]].as_ref()[game[1]..][..game[2]]);
        }
        let alone = database("alone");
        let text = |game: usize| texts[games[game][0]].as_ref().escape_ascii();
        // Among the single games, each game has its own source, so its game id takes the place of the source.
        let expected = lines(&whole, &GAME.replace("g.source_id", "game_id"));
        let found = lines(&alone, GAME);
        for (game, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(expected, found, "in {}", text(game));
        }
        assert_eq!(expected.len(), found.len());
        for query in [POSITIONS, TAGS].into_iter().chain(ANNOTATIONS) {
            let (expected, found) = (lines(&whole, query), lines(&alone, query));
            for (expected, found) in expected.iter().zip(&found) {
                let game: usize = expected.split_once('|').expect("columns").0.parse().expect("a game");
                assert_eq!(expected, found, "in {}", text(game - 1));
            }
            assert_eq!(expected.len(), found.len(), "{query}");
        }
    }
    (directory, whole)
}

#[test]
fn each_shipped_game_is_independent_of_others() {
    assert_games_are_independent(&[GAMES.to_owned(), GAMES.replace('\n', "\r\n")]);
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn each_game_of_a_messy_collection_is_independent_of_others(Messy(text) in messy()) {
        assert_games_are_independent(&[text]);
    }
}

/// The line after the tags is read in the same way, whatever follows it.
#[test]
fn a_line_after_the_tags_does_not_depend_on_what_follows() {
    let lines = [
        "e4\"]",
        "e4 e5\"]",
        "[e4]",
        "[e4",
        "[Round 1]",
        "[Round",
        "Round \"1\"]",
        "Round 1\"]",
        "Round\"]",
        "O-O\"]",
        "hello\"]",
        "[hello] e4",
        "Nf3 \"]",
        "\"]",
        "1. e4 \"]",
        "[Whi 1. d4 * 1. e4 e5 (1... c5 [x]) *",
        "[Whi 1. d4 1-0 x] *",
        "[Whi 1. d4 * x",
        "[Result 1-0",
    ];
    let follows = [
        "",
        "\n",
        " ",
        "\n\n",
        " [Event \"A\"]\n\n1. d4 *\n",
        "[Event \"A\"] 1. d4 *",
        "\n[Event \"A\"]\n\n1. d4 *",
        "\n\n[Event \"A\"]\n\n1. d4 *",
        "\n1. d4 *",
        "\r\r[Event \"A\"]\r",
    ];
    let mut texts = Vec::new();
    for line in lines {
        for gap in ["\n", "\n\n", "\r\n", " "] {
            for rest in follows {
                texts.push(format!("[Event \"headers only\"]\n[White \"Nobody\"]{gap}{line}{rest}"));
            }
        }
    }
    let (_directory, database) = assert_games_are_independent(&texts);
    // The move at the start of the line is read, whatever follows. A whole line in brackets is a variation.
    let first =
        "SELECT ply_count FROM game GROUP BY source_id HAVING min(byte_offset) >= 0 ORDER BY source_id";
    let plies: Vec<u32> = column(&database, first);
    assert_eq!(plies.len(), texts.len());
    for (text, plies) in texts.iter().zip(plies) {
        assert!(!text.contains("e4") || text.contains("[e4]") || plies > 0, "{text:?}: {plies}");
    }
}

fn check_annotated_games(text: &[u8]) {
    let directory = directory();
    let path = write(directory.path().join("annotated.pgn"), text);
    let base = IndexOptions { memory: 0, ..options() };
    let variants = [
        IndexOptions { threads: 4, chunk_size: 4 << 10, ..base.clone() },
        IndexOptions { threads: 2, chunk_size: 64 << 10, memory: MIB, ..base.clone() },
        IndexOptions { threads: 1, chunk_size: 64 << 20, memory: 1024 * MIB, ..base },
    ];
    assert_all_same(directory.path(), &[path], variants);
    assert_games_are_independent(&[&text[..text.len().min(3_000_000)]]);
}

#[test]
fn some_annotated_games() {
    let Some(text) = part_of_corpus("annotated_mixed", 500_000) else { return };
    check_annotated_games(&text);
}

#[test]
#[ignore = "takes ten seconds"]
fn the_whole_of_the_annotated_games() {
    let Some(text) = corpus("annotated_mixed") else { return };
    check_annotated_games(&text);
}
