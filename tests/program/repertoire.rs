//! Repertoires compared with games.

use crate::command::Run;
use crate::needs::part_of_corpus;
use crate::program::python::printed_by;
use crate::workspace::Workspace;

/// Lines for both sides, with nested variations, one line in two games, repetitions, transpositions, and a line from a
/// set-up.
const BOTH_SIDES: &str = r#"[Event "Spanish"]
[Orientation "white"]

1. e4 e5 (1... c5 2. Nf3 d6 (2... e6 3. d4 cxd4 4. Nxd4 a6 (4... Nc6 5. Nc3 (5. Nb5 d6 6. c4)) 5. Bd3) (2... Nc6 3. Bb5) 3. d4 cxd4
4. Nxd4 Nf6 5. Nc3 a6 6. Be3 (6. Bg5 e6)) (1... e6 2. d4 d5 3. Nc3 (3. e5 c5 4. c3) 3... Bb4 4. e5) 2. Nf3 Nc6 3. Bb5 a6 (3... Nf6 4. O-O
Nxe4 5. d4 Nd6) 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O *

[Event "Spanish, by another way"]
[Orientation "white"]

1. Nf3 Nc6 2. e4 e5 3. Bb5 {the same} a6 4. Ba4 Nf6 (4... d6 5. c3) 5. O-O Nxe4 *

[Event "Spanish"]
[Orientation "white"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 O-O *

[Event "Nimzo-Indian"]
[Orientation "black"]

1. d4 Nf6 2. c4 e6 3. Nc3 (3. Nf3 d5 (3... b6 4. g3 Ba6) 4. Nc3 Be7) 3... Bb4 4. e3 (4. Qc2 O-O) 4... O-O 5. Bd3 d5 6. Nf3 c5 7. O-O *

[Event "?"]
[White "?"]
[Black "Rook ending"]
[Orientation "black"]
[SetUp "1"]
[FEN "8/8/8/8/4k3/8/4P3/4K2R b K - 3 40"]

40... Kd4 41. Kf2 (41. O-O Ke3) *
"#;

/// Compares a repertoire with the first games of a collection. Returns the number of lines with games.
fn lines_with_games(corpus: &str, bytes: usize, side: &str, repertoire: &str, filter: &[&str]) -> u64 {
    let workspace = Workspace::new();
    let path = workspace.path("mine.pgn");
    std::fs::write(&path, repertoire).expect("written");
    let arguments = [&[side, path.to_str().expect("UTF-8")], filter].concat();
    let Some(printed) = printed_by("repertoire.py", corpus, bytes, &arguments) else { return u64::MAX };
    printed.split_once(' ').and_then(|(lines, _)| lines.parse().ok()).expect("a number of lines")
}

/// The first games of a collection as a repertoire.
fn games_as_repertoire(corpus: &str, bytes: usize) -> Option<String> {
    let text = part_of_corpus(corpus, bytes)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let end = text.rfind("\n[Event ").expect("a game");
    Some(text[..end].to_owned())
}

#[test]
fn a_repertoire_for_both_sides() {
    assert!(lines_with_games("otb-40k", 300_000, "tagged", BOTH_SIDES, &[]) > 10);
}

#[test]
fn annotated_games_as_a_repertoire() {
    let Some(games) = games_as_repertoire("annotated_mixed", 25_000) else { return };
    lines_with_games("otb-40k", 80_000, "black", &games, &["--since", "1990"]);
}

#[test]
#[ignore = "takes a minute"]
fn repertoires_against_many_games() {
    assert!(lines_with_games("otb-40k", 3_000_000, "tagged", BOTH_SIDES, &[]) > 14);
    assert!(lines_with_games("otb-40k", 3_000_000, "tagged", BOTH_SIDES, &["--since", "2010"]) > 10);
    assert!(lines_with_games("fics", 1_500_000, "tagged", BOTH_SIDES, &[]) > 5);
    let Some(games) = games_as_repertoire("annotated_mixed", 150_000) else { return };
    lines_with_games("otb-40k", 2_000_000, "white", &games, &[]);
    // A repertoire made of games of the same collection.
    let Some(games) = games_as_repertoire("otb-40k", 100_000) else { return };
    assert!(lines_with_games("otb-40k", 1_000_000, "black", &games, &[]) > 100);
}

/// The output and the exit status.
fn printed(run: &Run) -> String {
    format!("{}{}{}", run.stdout, run.stderr, run.status)
}

#[test]
fn the_side_of_a_repertoire_is_recognised() {
    let workspace = Workspace::for_command(&["repertoire", "games.db", "mine.pgn"])
        .indexed("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n1. e4 c5 0-1\n");
    let compare = |text: &str, arguments: &[&str]| {
        std::fs::write(workspace.path("mine.pgn"), text).expect("written");
        printed(&workspace.run_with(&[&["--games", "0"], arguments].concat()))
    };
    // If one side has several moves and the other only one each, the repertoire is for the latter.
    insta::assert_snapshot!(compare("1. e4 e5 (1... c6) 2. Nf3 *", &[]), @"
    For White: 2 lines, 5 positions
    line  games  score    frequent departure (games)  moves
    ───────────────────────────────────────────────────────────────────────
       1      1  100.0 %                              1. e4 e5 2. Nf3
       2      0                                       … 1... c6 (no answer)
    pgndex: note: for games without the tag Orientation, the side was guessed: White; if this is wrong, use --side black
    0
    ");
    insta::assert_snapshot!(compare("1. e4 (1. d4 d5) e5 *", &[]), @"
    For Black: 2 lines, 5 positions
    line  games  score  frequent departure (games)  moves
    ────────────────────────────────────────────────────────
       1      1  0.0 %                              1. e4 e5
       2      0                                     1. d4 d5
    pgndex: note: for games without the tag Orientation, the side was guessed: Black; if this is wrong, use --side white
    0
    ");
    insta::assert_snapshot!(compare("[Orientation \"Black\"]\n\n1. e4 e5 (1... c6) 2. Nf3 *", &[]), @"
    For Black: 2 lines, 5 positions
    line  games  score  frequent departure (games)  moves
    ───────────────────────────────────────────────────────────────────────────
       1      1  0.0 %                              1. e4 e5 2. Nf3 (no answer)
       2      0                                     … 1... c6
    0
    ");
    insta::assert_snapshot!(compare("1. e4 e5 (1... c6) 2. Nf3 (2. d4) *", &[]), @"
    For White: 3 lines, 6 positions
    line  games  score    frequent departure (games)  moves
    ───────────────────────────────────────────────────────────────────────
       1      1  100.0 %                              1. e4 e5 2. Nf3
       2      0                                       … 2. d4
       3      0                                       … 1... c6 (no answer)
    pgndex: note: for games without the tag Orientation, the side was guessed: White; if this is wrong, use --side black
    0
    ");
    insta::assert_snapshot!(compare("1. e4 e5 (1... c6) 2. Nf3 (2. d4) Nc6 *", &["--side", "black"]), @"
    For Black: 3 lines, 7 positions
    line  games  score  frequent departure (games)  moves
    ───────────────────────────────────────────────────────────────────
       1      1  0.0 %                              1. e4 e5 2. Nf3 Nc6
       2      0                                     … 2. d4 (no answer)
       3      0                                     … 1... c6
    0
    ");
}

#[test]
fn a_move_that_mates_is_found() {
    let game = "1. f3 e5 2. g4 Qh4# 0-1\n";
    let workspace =
        Workspace::for_command(&["repertoire", "games.db", "mine.pgn"]).indexed(game).with("mine.pgn", game);
    let answer = workspace.json(&["--side", "black"]);
    assert_eq!(answer[0]["lines"][0]["moves"][3]["games"], 1);
    assert_eq!(answer[0]["departure_count"], 0);
}

#[test]
fn unreadable_text_is_reported() {
    let workspace = Workspace::for_command(&["repertoire", "games.db", "mine.pgn"])
        .indexed("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n");
    let compare = |text: &str| {
        std::fs::write(workspace.path("mine.pgn"), text).expect("written");
        printed(&workspace.run_with(&["--games", "0", "--format", "csv"]))
    };
    insta::assert_snapshot!(compare(""), @"
    pgndex: error: mine.pgn: contains no moves that can be read; give the PGN file of the repertoire
    1
    ");
    insta::assert_snapshot!(compare("Dear friend\n"), @"
    pgndex: error: mine.pgn: contains no moves that can be read; give the PGN file of the repertoire
    1
    ");
    insta::assert_snapshot!(
        compare("[Event \"a\"]\n\n1. e4 e5\n(1... Nf7 2. d4) (1... c5 2. Nf3 (2. Sf3 d6)) 2. Nf3 Kf6 3. d4 *\n\n[FEN \"x\"]\n\n1. e4 *\n"),
        @"
    side,chapter,name,moves,games,wins,draws,losses,followed,is_open,left_by,left_at,left_games,start_fen
    w,1,a,1. e4 e5 2. Nf3,1,1,0,0,3,0,,,,
    w,1,a,1. e4 c5 2. Nf3,0,0,0,0,1,0,,,,
    pgndex: note: mine.pgn:4: game 1, 1... Nf7: illegal move in rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1; the rest of this line is left out
    pgndex: note: mine.pgn:4: game 1, 2. Sf3: not readable as a move in rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2; the rest of this line is left out
    pgndex: note: mine.pgn:4: game 1, 2... Kf6: illegal move in rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2; the rest of this line is left out
    pgndex: note: mine.pgn:6: game 2, start position: the number of ranks in the placement is 1, not 8; the game is left out
    pgndex: note: for games without the tag Orientation, the side was guessed: White; if this is wrong, use --side black
    0
    "
    );
    insta::assert_snapshot!(printed(&workspace.run_with(&["--white", "nobody"])), @r#"
    For White: 2 lines, 6 positions
    line  games  score  frequent departure (games)  moves
    ────────────────────────────────────────────────────────────────
       1      0                                     1. e4 e5 2. Nf3
       2      0                                     … 1... c5 2. Nf3
    pgndex: note: mine.pgn:4: game 1, 1... Nf7: illegal move in rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1; the rest of this line is left out
    pgndex: note: mine.pgn:4: game 1, 2. Sf3: not readable as a move in rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2; the rest of this line is left out
    pgndex: note: mine.pgn:4: game 1, 2... Kf6: illegal move in rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2; the rest of this line is left out
    pgndex: note: mine.pgn:6: game 2, start position: the number of ranks in the placement is 1, not 8; the game is left out
    pgndex: note: no player has a name that matches "nobody" (--white)
    pgndex: note: no game passes the filters
    pgndex: note: for games without the tag Orientation, the side was guessed: White; if this is wrong, use --side black
    0
    "#);
    insta::assert_snapshot!(
        compare("[Orientation \"green\"]\n\n1. e4 e5 (1... c5) 2. Nf3 *\n\n[Event \"b\"]\n[Variant \"Atomic\"]\n\n1. d4 *\n\n1. c4 c5 2. g3 *\n"),
        @r#"
    side,chapter,name,moves,games,wins,draws,losses,followed,is_open,left_by,left_at,left_games,start_fen
    w,1,,1. e4 e5 2. Nf3,1,1,0,0,3,0,,,,
    w,1,,1. e4 c5,0,0,0,0,1,1,,,,
    w,3,,1. c4 c5 2. g3,0,0,0,0,0,0,,,,
    pgndex: note: mine.pgn:1: game 1, Orientation is "green", not white or black: ignored
    pgndex: note: mine.pgn:5: game 2, variant "Atomic" is not supported; the game is left out
    pgndex: note: for games without the tag Orientation, the side was guessed: White; if this is wrong, use --side black
    0
    "#
    );
    let noise: Vec<u8> =
        (0..6000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(workspace.path("mine.pgn"), [b"1. e4 e5 ", noise.as_slice()].concat()).expect("written");
    insta::assert_snapshot!(printed(&workspace.run_with(&[])), @"
    pgndex: error: mine.pgn: not a text file; give the PGN file of the repertoire
    1
    ");
    std::fs::remove_file(workspace.path("mine.pgn")).expect("removed");
    insta::assert_snapshot!(printed(&workspace.run_with(&[])), @"
    pgndex: error: mine.pgn: no such file or directory; check the path
    1
    ");
}
