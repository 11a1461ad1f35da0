//! `pgndex game`: score sheets, boards, JSON and PGN, compared with python-chess.

use crate::support::execute_without_constraints;
use crate::workspace::Workspace;
use serde_json::Value;

const TRUTH: &str = include_str!("../data/games.tsv");
const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
/// Games that cannot be read completely.
const LOSSY: &str = r#"[Event "Blunder"]
[White "Hasty, H"]
[Black "Knight, B"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 3. Kf2 0-1

[Event "Atoms"]
[Variant "Atomic"]

1. e4 e5 *

[Event "No board"]
[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]

1. e4 *
"#;

fn indexed(pgn: &str) -> Workspace {
    Workspace::for_command(&["game", "games.db"]).indexed(pgn)
}

/// Both outputs of a run with status 0.
fn shown(sample: &Workspace, arguments: &[&str]) -> (String, String) {
    let run = sample.run_with(arguments);
    assert_eq!(run.status, 0, "{run:?}");
    (run.stdout, run.stderr)
}

fn change(sample: &Workspace, sql: &str) {
    sample.connection("games.db").execute_batch(sql).expect("a change");
}

/// A position according to python-chess, and the move played from it, if any.
struct Truth<'a> {
    game: usize,
    variant: &'a str,
    fen: &'a str,
    key: i64,
    uci: Option<&'a str>,
    san: Option<&'a str>,
}

fn truth() -> Vec<Truth<'static>> {
    let rows = TRUTH.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let fields: Vec<_> = line.split('\t').collect();
        let [game, variant, fen, key, uci, san] = fields[..] else { panic!("{line}") };
        let played = |text: &'static str| (text != "-").then_some(text);
        let (game, key) = (game.parse().expect("a number"), key.parse().expect("a key"));
        Truth { game, variant, fen, key, uci: played(uci), san: played(san) }
    });
    rows.collect()
}

/// The games of the table as PGN.
fn truth_as_pgn(truth: &[Truth<'_>]) -> String {
    let mut pgn = String::new();
    for rows in truth.chunk_by(|a, b| a.game == b.game) {
        pgn += &format!("[Event \"{}\"]\n[Variant \"{}\"]\n", rows[0].game, rows[0].variant);
        pgn += &format!("[FEN \"{}\"]\n\n", rows[0].fen);
        rows.iter().filter_map(|row| row.san).for_each(|san| pgn += &format!("{san} "));
        pgn += "*\n\n";
    }
    pgn
}

#[test]
fn json_of_each_ply_agrees_with_python_chess() {
    let truth = truth();
    let sample = indexed(&truth_as_pgn(&truth));
    let (stdout, _) = shown(&sample, &["1-4", "--format", "json"]);
    let games: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(games.len(), 4);
    let mut compared = 0;
    for (game, rows) in games.iter().zip(truth.chunk_by(|a, b| a.game == b.game)) {
        assert_eq!(game["chess960"], rows[0].variant == "chess960");
        let plies = game["plies"].as_array().expect("an array");
        assert_eq!(plies.len(), rows.len());
        for (ply, row) in plies.iter().zip(rows) {
            assert_eq!(ply["fen"], row.fen);
            assert_eq!(ply["key"], row.key);
            assert_eq!(ply["key_hex"], format!("{:016x}", row.key));
            assert_eq!(ply["san"], Value::from(row.san));
            assert_eq!(ply["uci"], Value::from(row.uci));
            assert_eq!(ply["code"].is_null(), row.san.is_none());
            compared += 1;
        }
    }
    assert_eq!(compared, 140);
}

#[test]
fn castling_in_uci_depends_on_the_variant() {
    let truth = truth();
    let sample = indexed(&truth_as_pgn(&truth));
    let castling = |game: &str| {
        let (stdout, _) = shown(&sample, &[game, "--format", "json"]);
        let game: Value = serde_json::from_str(&stdout).expect("JSON");
        let plies = game["plies"].as_array().expect("an array").clone();
        let castling =
            plies.into_iter().filter(|ply| ply["san"].as_str().is_some_and(|san| san.starts_with("O-O")));
        castling.map(|ply| ply["uci"].as_str().expect("UCI").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(castling("1"), ["e1g1", "e8c8"]);
    // The same castling moves between the same squares, but in a game of Chess960.
    assert_eq!(castling("2"), ["e1h1", "e8a8"]);
    assert_eq!(castling("3"), ["g1h1", "g8h8"]);
}

#[test]
fn pgn_with_notes_on_missing_moves_is_exported_the_same() {
    let sample = indexed(LOSSY);
    let (first, stderr) = shown(&sample, &["1-3", "--format", "pgn"]);
    insta::assert_snapshot!(first, @r#"
    [Event "Blunder"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "Hasty, H"]
    [Black "Knight, B"]
    [Result "0-1"]
    [Truncated "the text after ply 4 has an error, and was not read"]

    1. f3 e5 2. g4 Qh4# 0-1

    [Event "Atoms"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "?"]
    [Black "?"]
    [Result "*"]
    [Truncated "no moves: the variant is not supported, or the start position is not valid"]
    [Variant "Atomic"]

    *

    [Event "No board"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "?"]
    [Black "?"]
    [Result "*"]
    [FEN "8/8/8/8/8/8/8/8 w - - 0 1"]
    [SetUp "1"]
    [Truncated "no moves: the variant is not supported, or the start position is not valid"]

    *
    "#);
    insta::assert_snapshot!(stderr, @r#"
    pgndex: note: game 1: the text after ply 4 has an error, so the game is stored only up to there; details: pgndex sql games.db "SELECT * FROM problem WHERE game_id = 1"
    pgndex: note: game 2: no moves are stored, because the variant is not supported; details: pgndex sql games.db "SELECT * FROM problem WHERE game_id = 2"
    pgndex: note: game 3: no moves are stored, because the start position is not valid; details: pgndex sql games.db "SELECT * FROM problem WHERE game_id = 3"
    "#);
    let again = indexed(&first);
    let (second, _) = shown(&again, &["1-3", "--format", "pgn"]);
    assert_eq!(second, first);
    let run = again.run(&["sql", "games.db", "--format", "csv", "SELECT game_id, status FROM game"]);
    assert_eq!(run.stdout, "game_id,status\n1,truncated\n2,skipped\n3,skipped\n");
}

#[test]
fn a_sheet_ends_with_its_problems() {
    let sample = indexed(LOSSY);
    change(&sample, "UPDATE game SET opening_id = NULL");
    let (stdout, stderr) = shown(&sample, &["1", "2"]);
    assert_eq!(stderr, "");
    insta::assert_snapshot!(stdout, @r#"
    Game 1

      Event   Blunder
      White   Hasty, H
      Black   Knight, B
      Result  0-1

        1.  f3    e5
        2.  g4    Qh4#

    0-1

    Incomplete: the text after ply 4 has an error, so the game is stored only up to there.

    Problems in games.pgn

    line  ply  severity  kind          message
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
       6    4  error     illegal-move  3.Kf2: illegal move (White has no legal move in this position) in rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3

    Game 2

      Event    Atoms
      Result   *
      Variant  Atomic

    *

    Incomplete: no moves are stored, because the variant is not supported.

    Problems in games.pgn

    line  ply  severity  kind                 message
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
       9       warning   unsupported-variant  variant "Atomic" is not supported: moves are skipped, tags are kept
    "#);
}

#[test]
fn boards_are_printed_between_the_moves() {
    let sample = indexed(FAMOUS);
    change(&sample, "UPDATE game SET opening_id = NULL");
    let (stdout, stderr) = shown(&sample, &["5", "--ply", "0,25", "--ply", "end"]);
    assert_eq!(stderr, "");
    insta::assert_snapshot!(stdout, @"
    Game 5

      Event   Paris Opera
      Site    Paris FRA
      Date    1858.??.??
      White   Morphy, Paul
      Black   Duke of Brunswick and Count Isouard
      Result  1-0
      ECO     C41

      8 r n b q k b n r
      7 p p p p p p p p
      6 · · · · · · · ·
      5 · · · · · · · ·
      4 · · · · · · · ·
      3 · · · · · · · ·
      2 P P P P P P P P
      1 R N B Q K B N R
        a b c d e f g h
      start position, material equal

        1.  e4     e5
        2.  Nf3    d6
        3.  d4     Bg4
        4.  dxe5   Bxf3
        5.  Qxf3   dxe5
        6.  Bc4    Nf6
        7.  Qb3    Qe7
        8.  Nc3    c6
        9.  Bg5    b5
       10.  Nxb5   cxb5
       11.  Bxb5+  Nbd7
       12.  O-O-O  Rd8
       13.  Rxd7

      8 · · · r k b · r
      7 p · · R q p p p
      6 · · · · · n · ·
      5 · B · · p · B ·
      4 · · · · P · · ·
      3 · Q · · · · · ·
      2 P P P · · P P P
      1 · · K · · · · R
        a b c d e f g h
      after 13. Rxd7, material +2

       13.  ...    Rxd7
       14.  Rd1    Qe6
       15.  Bxd7+  Nxd7
       16.  Qb8+!  Nxb8
       17.  Rd8#

      8 · n · R k b · r
      7 p · · · · p p p
      6 · · · · q · · ·
      5 · · · · p · B ·
      4 · · · · P · · ·
      3 · · · · · · · ·
      2 P P P · · P P P
      1 · · K · · · · ·
        a b c d e f g h
      after 17. Rd8#, checkmate, material -10

    1-0
    ");
    let (every, _) = shown(&sample, &["5", "--board-every", "25"]);
    let without_start: Vec<_> =
        stdout.split("\n\n").filter(|part| !part.contains("start position")).collect();
    assert_eq!(every, without_start.join("\n\n"));
    let (ascii, _) = shown(&sample, &["5", "--board-every", "25", "--ascii", "--flip"]);
    assert!(ascii.contains("  8 r . b k R . n .\n"), "{ascii}");
    assert!(ascii.contains("    h g f e d c b a\n"), "{ascii}");
    let (_, stderr) = shown(&sample, &["5", "--ply", "34"]);
    assert_eq!(stderr, "pgndex: note: game 5 has only 33 plies; for its last position, use --ply end\n");
    let few = indexed("[Event \"x\"]\n\n*\n\n[Variant \"Atomic\"]\n\n1. e4 *\n");
    insta::assert_snapshot!(shown(&few, &["1-2", "--ply", "3"]).1, @"
    pgndex: note: game 1 has no moves; for its start position, use --ply 0
    pgndex: note: game 2 has no stored positions, so no board is drawn
    ");
    let picture = few.failure(&["2", "--svg", "a.svg"]);
    insta::assert_snapshot!(picture, @"pgndex: error: game 2 has no stored positions, so there is no picture");
    let (_, stderr) = shown(&sample, &["5", "--ply", "3", "--format", "pgn"]);
    assert_eq!(stderr, "pgndex: note: boards are drawn on score sheets only, not in json or pgn\n");
}

#[test]
fn colours_are_printed_only_on_request() {
    let sample = indexed(FAMOUS);
    let (plain, _) = shown(&sample, &["5", "--ply", "end"]);
    assert!(!plain.contains('\x1b'));
    let (colored, _) = shown(&sample, &["5", "--ply", "end", "--color", "always"]);
    // The two squares of the last move, Rd1-d8, are highlighted: one is light, the other dark.
    assert_eq!((colored.matches("48;5;94m").count(), colored.matches("48;5;136m").count()), (1, 1));
}

#[test]
fn an_opening_has_its_name() {
    let sample = indexed(FAMOUS);
    change(
        &sample,
        "UPDATE game SET opening_id = NULL; DELETE FROM opening;
         INSERT INTO opening VALUES (1, 'C41', 'Philidor Defense', 5, '8/8/8/8/8/8/8/8 w - -');
         UPDATE game SET opening_id = 1 WHERE game_id = 5;",
    );
    assert!(shown(&sample, &["5"]).0.contains("\n  Opening  C41 Philidor Defense\n"));
    let game: Value = serde_json::from_str(&shown(&sample, &["5", "-f", "json"]).0).expect("JSON");
    assert_eq!(game["opening"], serde_json::json!({ "eco": "C41", "name": "Philidor Defense" }));
    // PGN has only the tags of the source.
    assert!(!shown(&sample, &["5", "-f", "pgn"]).0.contains("Philidor"));
}

#[test]
fn several_games_are_printed_in_the_requested_order() {
    let sample = indexed(FAMOUS);
    let pgn = |games: &[&str]| shown(&sample, &[games, &["--format", "pgn"]].concat()).0;
    assert_eq!(pgn(&["7", "2-4", "3"]), ["7", "2", "3", "4", "3"].map(|game| pgn(&[game])).concat());
    let (sheets, _) = shown(&sample, &["7", "8"]);
    assert!(sheets.starts_with("Game 7\n") && sheets.contains("\n\nGame 8\n"));
}

#[test]
fn each_tag_is_printed_once() {
    let sample = indexed(
        "[Zeta \"z\"]\n[Date \"someday\"]\n[Result \"won\"]\n[White \"A\"]\n[WhiteElo \"strong\"]\n[SetUp \"0\"]\n\
         [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Alpha \"a\"]\n\n1. e4 1-0\n",
    );
    insta::assert_snapshot!(shown(&sample, &["1", "--format", "pgn"]).0, @r#"
    [Event "?"]
    [Site "?"]
    [Date "someday"]
    [Round "?"]
    [White "A"]
    [Black "?"]
    [Result "won"]
    [Alpha "a"]
    [FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
    [SetUp "1"]
    [WhiteElo "strong"]
    [Zeta "z"]

    1. e4 1-0
    "#);
}

#[test]
fn existing_games_are_printed_before_a_missing_one_is_reported() {
    let sample = indexed(FAMOUS);
    let json = |sample: &Workspace, games: &[&str]| {
        let run = sample.run(&[&["game", "games.db", "--format", "json"], games].concat());
        assert_eq!(run.status, 1);
        let printed = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["game_id"].to_string());
        format!(
            "{}
{}",
            printed.collect::<Vec<_>>().join(" "),
            run.stderr
        )
    };
    insta::assert_snapshot!(json(&sample, &["1", "54", "2", "60"]), @r#"
    1 2
    pgndex: error: games.db: no game 54; the highest number is 53
    "#);
    insta::assert_snapshot!(json(&sample, &["51-4294967295", "1"]), @r#"
    51 52 53 1
    pgndex: error: games.db: no game 54; the highest number is 53
    "#);
    insta::assert_snapshot!(json(&sample, &["60-70"]), @r#"

    pgndex: error: games.db: no game 60; the highest number is 53
    "#);
    insta::assert_snapshot!(json(&sample, &["0-3"]), @r#"
    1 2 3
    pgndex: error: games.db: no game 0; game numbers begin at 1
    "#);
    insta::assert_snapshot!(json(&indexed(""), &["1"]), @r#"

    pgndex: error: games.db: no game 1; there are no games
    "#);
    // A game id that no longer exists.
    change(&sample, "PRAGMA foreign_keys = OFF; DELETE FROM game WHERE game_id = 5");
    insta::assert_snapshot!(json(&sample, &["5", "4-6"]), @r#"
    4 6
    pgndex: error: games.db: no game 5; it was removed, or got a new number when its file was read again; `pgndex find` lists games with their numbers
    "#);
    let run = sample.run(&["game", "games.db", "4-6", "--format", "pgn"]);
    assert_eq!(run.status, 0);
    assert!(
        run.stderr
            .contains("note: games.db: 1 of the requested numbers has no game; games may have been removed"),
        "{}",
        run.stderr
    );
    change(&sample, "PRAGMA foreign_keys = OFF; DELETE FROM game WHERE game_id IN (6, 7, 8)");
    let run = sample.run(&["game", "games.db", "4-9"]);
    assert!(
        run.stderr.contains("games.db: 4 of the requested numbers have no game; games"),
        "{}",
        run.stderr
    );
    insta::assert_snapshot!(json(&sample, &["5-8"]), @"

    pgndex: error: games.db: no game 5; it was removed, or got a new number when its file was read again; `pgndex find` lists games with their numbers
    ");
    for games in ["x", "5-3", "-", "1-", "4294967296"] {
        let run = sample.run(&["game", "games.db", "--", games]);
        assert_eq!(run.status, 2, "{games}");
    }
}

#[test]
fn a_variation_that_is_its_own_parent_is_skipped() {
    let workspace = Workspace::new().indexed("1. e4 (1. d4 d5) e5 *\n");
    let rows = "INSERT INTO variation VALUES (1, 0, 0, 0), (1, 7, 7, 0), (1, 8, 9, 0)";
    execute_without_constraints(&workspace.connection("games.db"), rows).expect("rows");
    for format in ["table", "json", "pgn"] {
        let shown = workspace.stdout_of(&["game", "games.db", "1", "--format", format]);
        assert!(shown.contains("d4"), "{shown}");
    }
}
