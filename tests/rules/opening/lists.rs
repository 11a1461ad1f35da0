//! Lists of openings in every format, errors in lists, and the built-in list.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::board::Position;
use pgndex::id::OpeningId;
use pgndex::opening::OpeningBook;

use crate::needs::shared;

#[allow(dead_code)]
#[path = "../../../examples/openings.rs"]
mod example;

const TSV: &str = "eco\tname\tpgn\n\
    A00\tPolish Opening\t1. b4\n\
    B33\tSicilian: Sveshnikov, Main Line\t1. e4 c5 2. Nf3 Nc6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 e5\n\
    C50\tItalian Game\t1. e4 e5 2. Nf3 Nc6 3. Bc4\n";

const SCID: &str = "\
# Openings in Scid's way: \"quoted\" here means nothing.

A00 \"Polish Opening\"    1.b4 *
B33
    \"Sicilian: Sveshnikov, Main Line\"
    1.e4 c5 2.Nf3 Nc6 3.d4 cxd4
    4.Nxd4 Nf6 5.Nc3 e5 *
# between
C50 \"Italian Game\"  1.e4 e5 2.Nf3 Nc6 3.Bc4 *";

const PGN: &str = "\
{ Openings as games. }
[ECO \"A00\"]
[Opening \"Polish Opening\"]

1. b4 *

[ECO \"B33\"]
[Opening \"Sicilian\"]
[Variation \"Sveshnikov\"]
[SubVariation \"Main Line\"]

1. e4 c5 2. Nf3 Nc6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 e5 *

[ECO \"C50\"]
[Opening \"Italian Game\"]

1. e4 e5 2. Nf3 {knights first} Nc6 (2... d6) 3. Bc4 *
";

fn read(text: impl AsRef<[u8]>) -> Result<OpeningBook, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("list");
    fs::write(&path, text).expect("written");
    let parent = format!("{}/", directory.path().display());
    OpeningBook::read(&path).map_err(|error| error.to_string().replace(&parent, ""))
}

fn name(book: &OpeningBook, moves: &str) -> Option<String> {
    let mut position = Position::start();
    moves.split_whitespace().for_each(|san| {
        position.play_san(san.as_bytes()).expect("a legal move");
    });
    book.get(&position).map(ToString::to_string)
}

#[test]
fn every_format_gives_the_same_list() {
    let books = [TSV, SCID, PGN].map(|text| read(text).expect("a list"));
    for (book, text) in books.iter().zip([TSV, SCID, PGN]) {
        assert_eq!(book.len(), 3, "{text}");
        assert_eq!(name(book, "b4").as_deref(), Some("A00 Polish Opening"));
        assert_eq!(name(book, "Nf3 Nc6 e4 e5 Bc4").as_deref(), Some("C50 Italian Game"));
        let sveshnikov = "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5";
        assert_eq!(name(book, sveshnikov).as_deref(), Some("B33 Sicilian: Sveshnikov, Main Line"));
        assert_eq!(name(book, ""), None);
        assert_eq!(name(book, "e4 e5 Nf3 Nc6"), None);
        assert_eq!(book.digest(), books[0].digest(), "{text}");
    }
    let ids: Vec<OpeningId> = books[0].iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, [OpeningId(1), OpeningId(2), OpeningId(3)]);
}

#[test]
fn line_ends_byte_order_marks_and_other_columns_are_ignored() {
    let expected = read(TSV).expect("a list").digest();
    let windows = format!("\u{feff}{}", TSV.replace('\n', "\r\n"));
    let more = "uci\tpgn\tname\teco\n\
        -\t1. b4 *\tPolish Opening\tA00\n\n\
        -\t1.e4 c5 2.Nf3 Nc6 3.d4 cxd4 4.Nxd4 Nf6 5.Nc3 e5\tSicilian: Sveshnikov, Main Line\tB33\n\
        -\te4 e5 Nf3 Nc6 Bc4\t Italian Game \tC50";
    for text in [windows.clone(), more.to_owned(), SCID.replace('\n', "\r\n"), PGN.replace('\n', "\r\n")] {
        assert_eq!(read(&text).expect("a list").digest(), expected, "{text}");
    }
    assert_ne!(read(TSV.replace("A00", "A01")).expect("a list").digest(), expected);
}

#[test]
fn scid_codes_latin_1_names_and_the_start_position_are_read() {
    let book = read(b"A00a \"Start position\" *\nA04b1 \"R\xe9ti\" 1.Nf3 *\n").expect("a list");
    assert_eq!(name(&book, "").as_deref(), Some("A00a Start position"));
    assert_eq!(name(&book, "Nf3").as_deref(), Some("A04b1 Réti"));
}

#[test]
fn the_last_name_of_a_position_counts() {
    let book =
        read("eco\tname\tpgn\nD02\tfirst\t1. Nf3 d5 2. d4\nA00\tother\t1. b4\nD02\tlast\t1. d4 d5 2. Nf3\n");
    let book = book.expect("a list");
    assert_eq!((book.len(), name(&book, "d4 d5 Nf3").as_deref()), (2, Some("D02 last")));
}

#[test]
fn a_directory_expands_to_its_lists_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).expect("written");
    write("README.md", "no list");
    assert!(
        OpeningBook::read(directory.path())
            .unwrap_err()
            .to_string()
            .contains("no list of openings in this directory")
    );
    write("b.tsv", "eco\tname\tpgn\nA00\tfrom b\t1. b4\n");
    write("a.eco", "A00 \"from a\" 1.b4 *\nA00 \"Grob\" 1.g4 *\n");
    let book = OpeningBook::read(directory.path()).expect("lists");
    assert_eq!((book.len(), name(&book, "b4").as_deref()), (2, Some("A00 from b")));
    write("c.pgn", "[ECO \"A00\"]\n[Opening \"x\"]\n\n1. b5 *\n");
    let error = OpeningBook::read(directory.path()).unwrap_err().to_string();
    assert!(error.contains("c.pgn:4: 1.b5: "), "{error}");
}

#[test]
fn errors_have_path_and_line() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let correct = "; correct or remove this entry, or choose another file";
    for (text, expected) in [
        (
            "eco\tname\tpgn\nA00\tx\t1. b4\n\nA00\ty\t1. b5\n",
            &*format!("list:4: 1.b5: illegal move in {start}"),
        ),
        ("eco\tname\tpgn\nA00\tx\n", "list:2: number of columns: 2, but the header has 3"),
        (
            "eco\tname\tpgn\nX1\tx\t1. b4\n",
            "list:2: \"X1\" is not an ECO code; write B90 (or B90a, as Scid does)",
        ),
        ("eco\tname\tpgn\n\tx\t1. b4\n", "list:2: no ECO code"),
        ("eco\tname\tpgn\nA00\t \t1. b4\n", "list:2: no name"),
        ("eco\tname\tpgn\nA00\tx\tpawn b4\n", "list:2: \"pawn\" among the moves"),
        ("eco\tname\tpgn\nA00\tx\t1. b4 {\n", "list:2: an unclosed comment among the moves"),
        (
            "#\nA00 \"x\" 1.e4\n  e5 2.Ke3 *\n",
            "list:3: 2.Ke3: illegal move in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        ),
        ("A00 \"x\" 1.e4 *\n\nA01 \"y\" 1.b3\n", "list:3: the file ends without the '*' after the moves"),
        ("A00 \"x 1.e4 *\n", "list:1: the file ends without the closing quote"),
        ("A00 x 1.e4 *\n", "list:1: the file ends without the name in double quotes"),
        ("A00 \"x\" 1.e4 *\nF00 \"y\" 1.b3 *\n", "list:2: text that belongs to no opening"),
        (
            "[ECO \"A00\"]\n[Opening \"x\"]\n\n1. e4 Ke7 *\n",
            "list:4: 1...Ke7: illegal move in rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        ),
        ("[ECO \"A00\"]\n[Opening \"x\"]\n\n1. b4 *\n\n[Opening \"y\"]\n\n1. g4 *\n", "list:6: no ECO code"),
        ("[ECO \"A00\"]\n[Opening \" \"]\n\n1. b4 *\n", "list:1: this game has no Opening tag"),
        (
            "[ECO \"A00\"]\n[Opening \"x\n\n1. b4 *\n",
            "list:2: a tag pair without its closing quote and bracket",
        ),
        (
            "[ECO \"A00\"]\n[FEN \"8/8/8/4k3/8/4K3/4P3/8 w - -\"]\n\n1. e4 *\n",
            "list:2: openings must begin at the standard start position; this one has a FEN tag",
        ),
    ] {
        assert_eq!(read(text).expect_err(text), format!("{expected}{correct}"), "{text}");
    }
    let form = "list: not a list of openings. Give a TSV file (columns eco, name, pgn), a Scid .eco file, or a \
        PGN file with ECO and Opening tags";
    for text in ["1. e4 e5 *\n", "eco,name,pgn\nA00,x,1. b4\n", "\u{0}\u{1}\u{2}", "eco\tname\n"] {
        assert_eq!(read(text).expect_err(text), form, "{text}");
    }
    for text in ["", "\n \n", "eco\tname\tpgn\n", "{ nothing }\n"] {
        let empty = "list: no opening in this file; add openings to it, or choose another file";
        assert_eq!(read(text).expect_err(text), empty, "{text}");
    }
    let large = vec![b'\n'; (16 << 20) + 1];
    assert!(read(large).expect_err("too large").starts_with("list: more than 16 MiB"));
    let missing = OpeningBook::read(Path::new("no/such/list.tsv")).expect_err("missing").to_string();
    assert_eq!(missing, "no/such/list.tsv: cannot be read; check the path and the permissions");
}

#[test]
fn the_built_in_list_agrees_with_its_moves() {
    let ours = OpeningBook::built_in();
    let replayed = OpeningBook::read(&own_list()).expect("legal moves");
    assert!(ours.len() > 3_000, "{}", ours.len());
    assert_eq!(ours.len(), replayed.len());
    for ((_, ours), (_, replayed)) in ours.iter().zip(replayed.iter()) {
        assert_eq!(ours.opening, replayed.opening);
        assert_eq!((ours.key, &ours.fen), (replayed.key, &replayed.fen), "{}", ours.opening);
    }
    assert_eq!(ours.digest(), replayed.digest());
}

#[test]
fn the_built_in_list_has_all_codes_and_no_duplicate_positions() {
    let book = OpeningBook::built_in();
    let text = fs::read_to_string(own_list()).expect("the list");
    let lines = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(book.len(), lines - 1, "a position occurs twice");
    let mut codes: Vec<&str> = book.iter().map(|(_, named)| &*named.opening.eco).collect();
    assert!(codes.is_sorted(), "by code");
    codes.dedup();
    let all: Vec<String> =
        ('A'..='E').flat_map(|volume| (0..100).map(move |number| format!("{volume}{number:02}"))).collect();
    assert_eq!(codes, all);
}

#[test]
fn the_built_in_list_comes_from_that_of_lichess() {
    let Some(lichess) = shared("openings") else { return };
    let table = example::table(&lichess).expect("a table");
    let ours = fs::read_to_string(own_list()).expect("the list");
    let other = table.lines().zip(ours.lines()).find(|(made, ours)| made != ours);
    assert_eq!(other, None, "run examples/openings.rs, and commit its output");
    assert_eq!(table.len(), ours.len());
}

fn own_list() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/opening/eco.tsv")
}
