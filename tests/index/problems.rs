//! A problem in a source is reported with its place: path, line, byte, game, ply, token.

use std::fs;

use crate::support::*;

const PROBLEMS: &str = "SELECT kind, severity, line, byte_offset, game_number, game_id, ply, token FROM problem ORDER BY problem_id";

/// A good game of five lines, so that the offsets of the tested text do not begin at 0.
const BEFORE: &str = "[Event \"good\"]\n[Result \"*\"]\n\n1. e4 *\n\n";

/// The problems of a text that follows [`BEFORE`]; offsets are relative to the start of the text.
fn problems(text: &str) -> Vec<String> {
    let whole = Indexed::new([BEFORE, text].concat());
    assert_sound(&whole.database(), &whole.summary);
    let database = whole.open();
    for (offset, token) in column::<i64>(&database, "SELECT byte_offset FROM problem ORDER BY problem_id")
        .into_iter()
        .zip(column::<Option<String>>(&database, "SELECT token FROM problem ORDER BY problem_id"))
    {
        // The problem of a tag has the offset of the tag, not of the token.
        let (rest, token) = (&text[offset as usize - BEFORE.len()..], token.unwrap_or_default());
        assert!(rest.starts_with(&token) || rest.starts_with('['), "{token:?} is not at {rest:?}");
    }
    lines(&database, &PROBLEMS.replace("byte_offset", &format!("byte_offset - {}", BEFORE.len())))
}

#[test]
fn problems_of_moves() {
    assert_eq!(problems("[Event \"b\"]\n\n1. e4 e5\n2. Ke3 d6 *\n"), ["illegal-move|error|9|25|2|2|2|Ke3"]);
    assert_eq!(
        problems("[FEN \"4k3/8/8/8/8/2N5/8/4K1N1 w - - 3 20\"]\n\n20. Ne2 *\n"),
        ["ambiguous-move|error|8|48|2|2|0|Ne2"]
    );
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4 e5 2. Ngf3e5d Nc6 *\n"),
        ["unreadable-move|error|8|25|2|2|2|Ngf3e5d"]
    );
    for word in ["Qh9", "Q", "d", "%d5", "xd5"] {
        let found = problems(&format!("[Event \"b\"]\n\n1. e4 {word} 2. Nf3 *\n"));
        assert_eq!(found, [format!("unreadable-move|error|8|19|2|2|1|{word}")]);
    }
    assert_eq!(problems("[Event \"b\"]\n\n1. e4 <b>N e5 *\n"), ["unknown-token|warning|8|20|2|2|1|b"]);
    assert_eq!(problems("[Event \"b\"]\n\n1. e4 hello e5 *\n"), ["unknown-token|warning|8|19|2|2|1|hello"]);
    // After the first illegal move, no more problems of the game are reported.
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4 e4 ) what Ke3 *\n\n[Event \"c\"]\n\n1. Qd4 *\n"),
        ["illegal-move|error|8|19|2|2|1|e4", "illegal-move|error|12|52|3|3|0|Qd4"]
    );
}

#[test]
fn problems_of_brackets_and_comments() {
    assert_eq!(problems("[Event \"b\"]\n\n1. e4\n{ no end e5 *\n"), ["unclosed-comment|error|9|19|2|2|1|-"]);
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4 { no end\n\n[Event \"c\"]\n\n1. d4 *\n"),
        ["unclosed-comment|error|8|19|2|2|1|-"]
    );
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4\n(1. d4 { in } d5\n"),
        ["unclosed-variation|error|9|19|2|2|1|-"]
    );
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4 (1. d4\n[Event \"c\"]\n1. d4 *\n"),
        ["unclosed-variation|error|8|19|2|2|1|-"]
    );
    assert_eq!(problems("[Event \"b\"]\n\n( 1. e4 *\n"), ["stray-opening|warning|8|13|2|2|0|-"]);
    assert_eq!(
        problems("[Event \"b\"]\n\n1. e4 )\ne5 } *\n"),
        ["stray-closing|warning|8|19|2|2|1|-", "stray-closing|warning|9|24|2|2|2|-"]
    );
}

#[test]
fn problems_of_results() {
    assert_eq!(problems("[Event \"b\"]\n\n1. e4\ne5\n\n\n"), ["missing-result|warning|9|21|2|2|-|-"]);
    for (token, length) in [("1/2-1/2", 7), ("½-½", 5), ("1/2", 3), ("0-1", 3), ("0:1", 3), ("*", 1)] {
        let found = problems(&format!("[Result \"1-0\"]\n\n1. e4\n{token} {{after}}\n\n"));
        assert_eq!(found, [format!("result-mismatch|warning|9|22|2|2|-|{token}")], "{token}: {length} bytes");
    }
    assert_eq!(
        problems("[Event \"b\"]\n[Result \"*\"]\n\n1. e4 1-0\n"),
        ["result-mismatch|warning|9|32|2|2|-|1-0"]
    );
    assert_eq!(problems("[Result \"?\"]\n\n1. e4 1-0\n"), Vec::<String>::new());
}

#[test]
fn problems_of_tags() {
    assert_eq!(problems("[Event \"b\"]\n[Site \"Paris\n\n1. e4 *\n"), ["unclosed-tag|warning|7|12|2|2|-|-"]);
    assert_eq!(
        problems("[Event \"b\"]\n[WhiteElo \"strong\"]\n\n1. e4 *\n"),
        ["invalid-tag|warning|7|12|2|2|-|[WhiteElo \"strong\"]"]
    );
    assert_eq!(
        problems("[Event \"b\"]\n[Date \"yesterday\"]\n[Result \"won\"]\n\n1. e4 *\n"),
        [
            "invalid-tag|warning|7|12|2|2|-|[Date \"yesterday\"]",
            "invalid-tag|warning|8|31|2|2|-|[Result \"won\"]"
        ]
    );
    assert_eq!(
        problems("[Event \"b\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 *\n"),
        ["invalid-fen|error|7|12|2|2|-|8/8/8/8/8/8/8/8 w - - 0 1"]
    );
    assert_eq!(
        problems("[Event \"b\"]\n[Variant \"Horde\"]\n\n1. e4 *\n\n"),
        ["unsupported-variant|warning|7|12|2|2|-|Horde"]
    );
}

#[test]
fn problems_of_text_outside_games() {
    assert_eq!(
        problems("From: somebody\n\n[Event \"b\"]\n\n1. d4 *\n\nbye now\n"),
        ["outside-text|warning|6|0|-|-|-|-", "outside-text|warning|12|38|-|-|-|-"]
    );
}

/// Plies, status and problems of the second of three games.
fn second_game(movetext: &str) -> (i64, String, Vec<String>) {
    let whole = Indexed::new(format!(
        "[Event \"a\"]\n\n1. e4 e5 *\n\n[Event \"b\"]\n\n{movetext}\n\n[Event \"c\"]\n\n1. d4 *\n"
    ));
    assert_sound(&whole.database(), &whole.summary);
    let database = whole.open();
    let row = lines(&database, "SELECT ply_count, status FROM game WHERE game_id = 2").remove(0);
    let (plies, status) = row.split_once('|').expect("two columns");
    let problems = lines(&database, "SELECT kind, severity, ply, token FROM problem ORDER BY problem_id");
    assert_eq!(whole.plies()[2], 1, "{movetext}");
    (plies.parse().expect("a number"), status.to_owned(), problems)
}

/// A word that is meant as a move but cannot be read ends the game with an error, whatever comes before it.
#[test]
fn lost_moves_are_errors() {
    for word in [
        "E4",
        "NF3",
        "nf3",
        "EXD5",
        "E2-E4",
        "E2E4",
        "\u{435}4",
        "\u{41a}f3",
        "Sf3",
        "P-K4",
        "N-KB3",
        "Qh9",
        "\u{425}-\u{425}",
    ] {
        for (before, plies) in [("1. ", 0), ("1. e4 ", 1), ("1. e4 e5 2. ", 2)] {
            let found = second_game(&format!("{before}{word} e5 1-0"));
            let problem = format!("unreadable-move|error|{plies}|{word}");
            assert_eq!(found, (plies, "truncated".to_owned(), vec![problem]), "{before}{word}");
        }
    }
    for (text, token) in [("1. 5254 5755 2. 7163 1-0", "5254"), ("5254 *", "5254"), ("1. 57581 1-0", "57581")]
    {
        let problem = format!("unreadable-move|error|0|{token}");
        assert_eq!(second_game(text), (0, "truncated".to_owned(), vec![problem]), "{text}");
    }
    // The first word is skipped, and becomes an error if no move follows.
    for (text, token) in [
        ("1. \"e4\" \"e5\" 1-0", "\"e4\""),
        ("1. \u{444}\u{435}rz7 *", "\u{444}\u{435}rz7"),
        ("e_4 e_5 *", "e_4"),
    ] {
        let (plies, status, problems) = second_game(text);
        assert_eq!((plies, status.as_str()), (0, "truncated"), "{text}");
        let last = problems.last().expect("a problem");
        assert!(last.starts_with("unreadable-move|error|0|"), "{text}: {last}, {token}");
    }
}

/// A game may have no moves, and remarks in place of moves.
#[test]
fn games_without_moves_are_not_errors() {
    for text in [
        "1-0",
        "{White did not appear} 1-0",
        "1. 1-0",
        "1. ... 0-1",
        "(1. e4 e5) *",
        "; 1. E4\n*",
        "$5 *",
        "{E4} *",
        "1900 1-0",
    ] {
        assert_eq!(second_game(text), (0, "ok".to_owned(), vec![]), "{text}");
    }
    for text in ["forfeit 1-0", "walkover *", "1. not played 0-1"] {
        let (plies, status, problems) = second_game(text);
        assert_eq!((plies, status.as_str()), (0, "ok"), "{text}");
        assert!(
            problems.iter().all(|problem| problem.starts_with("unknown-token|warning|")),
            "{text}: {problems:?}"
        );
    }
    for text in ["1. e4 see9 e5 *", "1. e4 e5 v2 *", "1. e4 e5 1851 *"] {
        let (plies, status, _) = second_game(text);
        assert_eq!((plies, status.as_str()), (2, "ok"), "{text}");
    }
}

#[test]
fn lines_and_games_are_counted_per_source_with_any_chunk_size() {
    let directory = directory();
    let text = "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\r\n\r\n1. Ke4 *\r\n\r\n[Event \"c\"]\n\n1. d4 d5 2. Ke4 *\n";
    for name in ["1.pgn", "2.pgn"] {
        fs::write(directory.path().join(name), text).unwrap();
    }
    for chunk_size in [1, 30, 1 << 20] {
        let options = pgndex::index::IndexOptions { chunk_size, overwrite: true, ..options() };
        let target = directory.path().join("out.db");
        run(&target, &[directory.path()], &options).unwrap();
        assert_eq!(
            lines(&open(&target), PROBLEMS.replace("kind, severity", "source_id").as_str()),
            ["1|7|40|2|2|0|Ke4", "1|11|74|3|3|2|Ke4", "2|7|40|2|5|0|Ke4", "2|11|74|3|6|2|Ke4"]
        );
    }
}

#[test]
fn unreadable_sources() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let contents: [(&str, &[u8]); 7] = [
        ("a.pgn", b"\x28\xb5\x2f\xfd\x24\x00"),
        ("b.pgn", b"\x1f\x8b\x08\x00"),
        ("c.pgn", b"BZh91AY"),
        ("d.pgn", b"PK\x03\x04\x14"),
        ("e.pgn", b"SQLite format 3\0"),
        ("f.pgn", b"\xfd7zXZ\0"),
        ("good.pgn", b"1. e4 *\n"),
    ];
    for (name, text) in contents {
        fs::write(path(name), text).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", path("g.pgn")).unwrap();
    fs::create_dir(path("h.pgn")).unwrap();
    let paths = [path("missing.pgn"), directory.path().to_owned(), path("good.pgn"), "/dev/null".into()];
    let target = path("out.db");
    let summary = run(&target, &paths, &options()).unwrap();
    assert_sound(&target, &summary);
    assert_eq!((summary.games, summary.problems.of(pgndex::store::row::Severity::Error)), (1, 9));
    let found = lines(
        &open(&target),
        "SELECT p.kind, p.line, p.byte_offset, p.game_number, p.game_id, s.path, s.bytes, s.indexed_at, p.message FROM problem AS p
         JOIN source AS s USING (source_id) ORDER BY problem_id",
    );
    let root = format!("{}/", directory.path().display());
    let found: Vec<String> = found.iter().map(|line| line.replace(&root, "")).collect();
    let reported =
        |name: &str, message: &str| format!("unreadable-source|1|0|-|-|{name}|-|-|{name}: {message}");
    let cut = |bytes: u32| {
        format!(
            "damaged near byte {bytes} of the file (byte 0 of the unpacked text): it ends too early. Download the file again, or create it again"
        )
    };
    assert_eq!(
        found,
        [
            reported("missing.pgn", "no such file or directory; check the path"),
            reported("a.pgn", &cut(6)),
            reported("b.pgn", &cut(4)),
            reported("c.pgn", &cut(7)),
            reported(
                "d.pgn",
                "damaged: the table of contents at its end is missing. Download the file again, or create it again"
            ),
            reported("e.pgn", "an SQLite database, not PGN text; give PGN files"),
            reported("f.pgn", "an xz archive, not PGN text; unpack it first (xz -d)"),
            reported("g.pgn", "no such file or directory; check the path"),
            reported("/dev/null", "neither a file nor a directory; give a PGN file"),
        ]
    );
}

#[test]
fn garbage_does_not_fill_the_database() {
    let whole = Indexed::new(
        ["[Event \"a\"]\n\n1. e4 ", &") ".repeat(200_000), "e5 *\n\n[Event \"b\"]\n\n1. d4 *\n"].concat(),
    );
    assert_sound(&whole.database(), &whole.summary);
    assert_eq!(whole.plies(), [2, 1]);
    let messages: Vec<String> = column(&whole.open(), "SELECT message FROM problem ORDER BY problem_id");
    assert_eq!(messages.len(), 100);
    assert!(messages[99].ends_with("further warnings about this game are not recorded"), "{}", messages[99]);
    assert!(!messages[98].contains("further"));
}

/// The text is one chunk, because no boundary between games can be recognised. Each game has problems; finding their
/// lines must not require counting from the start each time.
#[test]
fn many_problems_in_one_chunk_take_linear_time() {
    let game = "[Event \"a\"]\n[Variant \"Atomic\"]\n[WhiteElo \"x\"]\n[FEN \"y\"]\n1. e4 {comment} e5 1-0\n";
    let games = 100_000;
    let started = std::time::Instant::now();
    let whole = Indexed::new(game.repeat(games));
    assert_eq!((whole.summary.games, whole.summary.plies), (games as u64, 0));
    assert_eq!(whole.summary.problems.iter().map(|(.., count)| count).sum::<u64>(), 2 * games as u64);
    let last = lines(&whole.open(), "SELECT line, game_number FROM problem ORDER BY problem_id DESC LIMIT 1");
    assert_eq!(last, [format!("{}|{games}", 5 * games - 3)]);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
