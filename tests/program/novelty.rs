//! New moves of a game.

use crate::program::python::printed_by;
use crate::workspace::Workspace;

/// Compares the new moves of the first games of a collection.
fn agree(corpus: &str, bytes: usize) {
    let Some(printed) = printed_by("novelty.py", corpus, bytes, &[]) else { return };
    assert!(printed.ends_with(" new moves\n") && !printed.ends_with(" 0 new moves\n"), "{printed}");
}

#[test]
fn new_moves_of_some_games() {
    agree("otb-40k", 60_000);
}

#[test]
#[ignore = "takes a minute"]
fn new_moves_of_many_games() {
    agree("otb-40k", 1_500_000);
    agree("fics", 1_500_000);
}

#[test]
fn a_new_move_is_printed_below_the_sheet() {
    let games = r#"[Date "1990.01.02"]

1. e4 e5 2. Nf3 Nc6 1-0

[Date "1990.01.02"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 *

[Date "1990.02.??"]

1. Nf3 Nc6 2. e4 e5 3. Bc4 *

[Date "1991.??.??"]

1. e4 e5 *

1. a3 *

[Date "1992.01.01"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 *
"#;
    let workspace = Workspace::for_command(&["game", "games.db"]).indexed(games);
    let new =
        |game: &str| workspace.ok(&[game, "--novelty"]).lines().next_back().unwrap_or_default().to_owned();
    insta::assert_snapshot!(new("1"), @"New: no earlier game had the same start position.");
    insta::assert_snapshot!(new("2"), @"New: no earlier game had the same start position.");
    insta::assert_snapshot!(new("3"), @"First new move: 1. Nf3. The position before this move occurred in 2 earlier games (latest: game 1).");
    insta::assert_snapshot!(new("4"), @"Nothing new: all positions of the game occurred in earlier games.");
    insta::assert_snapshot!(new("5"), @"The game has no year, so pgndex cannot find the earlier games to compare it with.");
    insta::assert_snapshot!(new("6"), @"New: no earlier game had the same start position.");
    insta::assert_snapshot!(workspace.run_with(&["3", "--novelty", "--format", "pgn"]).stderr, @"pgndex: note: novelties are shown on score sheets and in json, not in pgn");
}
