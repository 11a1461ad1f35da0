//! Moves played from one side's view, as a tree, by year, and in two sets of games.

use serde_json::Value;

use crate::program::python::printed_by;
use crate::workspace::Workspace;

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");

/// Compares the moves of `players` frequent players, and those played from `positions` positions, in the first games of
/// a collection.
fn agree(corpus: &str, bytes: usize, players: u32, positions: u32) {
    let counts = [players.to_string(), positions.to_string()];
    let Some(printed) = printed_by("explored.py", corpus, bytes, &["1", &counts[0], &counts[1]]) else {
        return;
    };
    assert!(printed.ends_with(" by other moves\n") && !printed.contains(" 0 games"), "{printed}");
}

#[test]
fn some_answers_agree_with_python_chess() {
    agree("otb-40k", 60_000, 5, 15);
}

#[test]
#[ignore = "takes minutes"]
fn many_answers_agree_with_python_chess() {
    agree("otb-40k", usize::MAX, 10, 400);
    for corpus in ["fics", "lichess-24k", "tcec-3k"] {
        agree(corpus, 1_500_000, 10, 400);
    }
}

fn famous() -> Workspace {
    Workspace::for_command(&["explore", "games.db"]).built(FAMOUS)
}

/// Two orders of moves; one game returns to a position.
const ORDERS: &str = r#"[White "A"]
[Black "B"]
[WhiteElo "2400"]
[BlackElo "2300"]
[Date "2001.01.01"]
[Result "1-0"]

1. d4 d5 2. c4 e6 1-0

[White "B"]
[Black "A"]
[WhiteElo "2310"]
[Date "2003.01.01"]
[Result "1/2-1/2"]

1. c4 d5 2. d4 c6 1/2-1/2

[White "A"]
[Black "C"]
[BlackElo "2200"]
[Date "2003.05.05"]
[Result "0-1"]

1. d4 Nf6 2. c4 Ng8 3. Nf3 Nf6 4. Ng1 d5 0-1

[White "C"]
[Black "A"]
[Date "????.??.??"]
[Result "1-0"]

1. d4 d5 2. Nf3 1-0

[White "D"]
[Black "D"]
[Date "2002.01.01"]
[Result "1-0"]

1. e4 1-0
"#;

fn orders() -> Workspace {
    Workspace::for_command(&["explore", "games.db"]).built(ORDERS)
}

#[test]
fn one_side_sees_its_score() {
    let workspace = orders();
    insta::assert_snapshot!(workspace.ok(&["--player", "=A", "--side", "white", "--top", "0", "--recent", "0"]), @"
    move  games    share    score  +/=/- %                        opponents  performance  last  opening
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    d4        2  100.0 %   50.0 %  50/0/50  ██████████░░░░░░░░░░       2250         2250  2003  A40 Queen's Pawn Game
    Σ         2  100.0 %   50.0 %  50/0/50  ██████████░░░░░░░░░░       2250         2250  2003
    2 games: █ won 1 (50.0 %), ▒ drawn 0 (0.0 %), ░ lost 1 (50.0 %), from White's side
    ");
    insta::assert_snapshot!(workspace.ok(&["--side", "black", "--top", "0", "--recent", "0"]), @"
    move  games    share    score  +/=/- %                         opponents  performance  last  opening
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    d4        3   60.0 %   33.3 %  33/0/67   ███████░░░░░░░░░░░░░       2400         1600  2003  A40 Queen's Pawn Game
    c4        1   20.0 %   50.0 %  0/100/0   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒       2310         2310  2003  A10 English Opening
    e4        1   20.0 %    0.0 %  0/0/100   ░░░░░░░░░░░░░░░░░░░░                          2002  B00 King's Pawn Game
    Σ         5  100.0 %   30.0 %  20/20/60  ████▒▒▒▒░░░░░░░░░░░░       2355         2162  2003
    5 games: █ won 1 (20.0 %), ▒ drawn 1 (20.0 %), ░ lost 3 (60.0 %), from Black's side
    ");
    insta::assert_snapshot!(workspace.ok(&["--side", "black", "--format", "csv"]), @"
    uci,san,games,white,draws,black,average_rating,average_opponent_rating,performance,first_year,last_year,eco,opening
    d2d4,d4,3,2,0,1,2400,2400,1600,2001,2003,A40,Queen's Pawn Game
    c2c4,c4,1,0,1,0,2310,2310,2310,2003,2003,A10,English Opening
    e2e4,e4,1,1,0,0,,,,2002,2002,B00,King's Pawn Game
    ");
    // The opponent is the player of the other side, by either option.
    for opponent in [["--opponent", "=B"], ["--player", "=B"]] {
        let object = workspace.json(&[&["--player", "=A", "--side", "white"], opponent.as_slice()].concat());
        assert_eq!((&object["white"], &object["black"]), (&1.into(), &0.into()), "{opponent:?}");
    }
    let run = workspace.run_with(&["--player", "=A", "--side", "white", "--white", "=B"]);
    insta::assert_snapshot!(run.stderr, @"pgndex: error: with --side, --player or --opponent already names the player of this side; leave out --white");
    assert_eq!(run.status, 2);
    insta::assert_snapshot!(workspace.run_with(&["--player", "=A", "--side", "white", "--since", "2010"]).stderr, @"
    pgndex: note: no game passes the filters
    pgndex: note: the games in the database are from 2001.01.01 to 2003.05.05
    pgndex: note: there would be 2 games without --since
    ");
}

#[test]
fn other_orders_of_moves_are_counted() {
    let workspace = orders();
    let transposed = |moves| workspace.json(&["--moves", moves])["transposed"].clone();
    // The second game has neither the position after 1. d4 nor that after 1. d4 d5; the first game has neither that
    // after 1. c4 nor that after 1. c4 d5.
    assert_eq!(transposed("1. d4 d5 2. c4"), 1);
    assert_eq!(transposed("1. c4 d5 2. d4"), 1);
    assert_eq!(transposed("1. d4 d5"), 0);
    assert_eq!(transposed("1. d4"), Value::Null);
}

#[test]
fn years_without_games_in_between_are_listed() {
    let workspace = orders();
    insta::assert_snapshot!(workspace.ok(&["--history", "--top", "0", "--recent", "0"]), @"
    move  games    share  w/d/b %                          elo  last  opening
    ───────────────────────────────────────────────────────────────────────────────────────
    d4        3   60.0 %  67/0/33   █████████████░░░░░░░  2400  2003  A40 Queen's Pawn Game
    c4        1   20.0 %  0/100/0   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  2310  2003  A10 English Opening
    e4        1   20.0 %  100/0/0   ████████████████████        2002  B00 King's Pawn Game
    Σ         5  100.0 %  60/20/20  ████████████▒▒▒▒░░░░  2355  2003
    5 games: █ White 3 (60.0 %), ▒ draw 1 (20.0 %), ░ Black 1 (20.0 %)

    By year:
    year     games  of year  w/d/b %                             d4       c4       e4
    ─────────────────────────────────────────────────────────────────────────────────
    2001         1  100.0 %  100/0/0  ████████████████████  100.0 %    0.0 %    0.0 %
    2002         1  100.0 %  100/0/0  ████████████████████    0.0 %    0.0 %  100.0 %
    2003         2  100.0 %  0/50/50  ▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░   50.0 %   50.0 %    0.0 %
    unknown      1  100.0 %  100/0/0  ████████████████████  100.0 %    0.0 %    0.0 %
    ");
    insta::assert_snapshot!(workspace.ok(&["--moves", "1. d4", "--history", "--format", "csv"]), @"
    year,games,games_of_year,white,draws,black,d7d5,g8f6
    2001,1,1,1,0,0,1,0
    2002,0,1,0,0,0,0,0
    2003,1,2,0,0,1,0,1
    ,1,1,1,0,0,1,0
    ");
    let years = |arguments: &[&str]| {
        let object = workspace.json(&[arguments, &["--history"]].concat());
        let years = object["history"].as_array().expect("years").clone();
        years.iter().map(|year| year["year"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(years(&["--moves", "1. d4"]), [Some(2001), Some(2002), Some(2003), None]);
    assert_eq!(years(&["--moves", "1. d4", "--until", "2002"]), [Some(2001)]);
}

#[test]
fn the_moves_of_years_are_the_first_of_the_table() {
    let games =
        ["h3", "e4", "d4", "c4", "a4"].map(|played| format!("[Result \"1-0\"]\n\n1. {played} 1-0\n\n"));
    let workspace = Workspace::for_command(&["explore", "games.db"]).built(&games.concat());
    let rows = workspace.ok(&["--history", "--format", "csv"]);
    assert!(rows.starts_with("year,games,games_of_year,white,draws,black,a2a4,c2c4,d2d4,e2e4\n"), "{rows}");
}

#[test]
fn a_tree_shows_each_position_once() {
    let workspace = orders();
    insta::assert_snapshot!(workspace.ok(&["--depth", "3", "--least-share", "0"]), @"
    move        games    share  w/d/b %                         elo  last  opening
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1. d4           3   60.0 %  67/0/33  █████████████░░░░░░░  2400  2003  A40 Queen's Pawn Game
      1... d5       2   66.7 %  100/0/0  ████████████████████  2300  2001  D00 Queen's Pawn Game
        2. c4       1   50.0 %  100/0/0  ████████████████████  2400  2001  D06 Queen's Gambit
        2. Nf3      1   50.0 %  100/0/0  ████████████████████              D02 Queen's Pawn Game: Zukertort Variation
      1... Nf6      1   33.3 %  0/0/100  ░░░░░░░░░░░░░░░░░░░░  2200  2003  A45 Indian Defense
        2. c4       1  100.0 %  0/0/100  ░░░░░░░░░░░░░░░░░░░░        2003  A50 Indian Defense: Normal Variation
    1. c4           1   20.0 %  0/100/0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  2310  2003  A10 English Opening
      1... d5       1  100.0 %  0/100/0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒        2003  A10 English Opening: Anglo-Scandinavian Defense
        2. d4       1  100.0 %  0/100/0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  2310  2003  D06 Queen's Gambit, as after 1. d4 d5 2. c4
    1. e4           1   20.0 %  100/0/0  ████████████████████        2002  B00 King's Pawn Game
    5 games: █ White 3 (60.0 %), ▒ draw 1 (20.0 %), ░ Black 1 (20.0 %)
    ");
    insta::assert_snapshot!(workspace.ok(&["--depth", "2", "--side", "white", "--player", "=A"]), @"
    move        games    share    score  +/=/- %                        opponents  performance  last  opening
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    1. d4           2  100.0 %   50.0 %  50/0/50  ██████████░░░░░░░░░░       2250         2250  2003  A40 Queen's Pawn Game
      1... d5       1   50.0 %  100.0 %  100/0/0  ████████████████████       2300         3100  2001  D00 Queen's Pawn Game
      1... Nf6      1   50.0 %    0.0 %  0/0/100  ░░░░░░░░░░░░░░░░░░░░       2200         1400  2003  A45 Indian Defense
    2 games: █ won 1 (50.0 %), ▒ drawn 0 (0.0 %), ░ lost 1 (50.0 %), from White's side
    ");
    insta::assert_snapshot!(workspace.ok(&["--depth", "3", "--least-share", "20", "--format", "csv"]), @r#"
    ply,line,uci,san,games,white,draws,black,average_rating,first_year,last_year,eco,opening,games_before,same_as
    1,d2d4,d2d4,d4,3,2,0,1,2400,2001,2003,A40,Queen's Pawn Game,5,
    2,"d2d4,d7d5",d7d5,d5,2,2,0,0,2300,2001,2001,D00,Queen's Pawn Game,3,
    3,"d2d4,d7d5,c2c4",c2c4,c4,1,1,0,0,2400,2001,2001,D06,Queen's Gambit,2,
    3,"d2d4,d7d5,g1f3",g1f3,Nf3,1,1,0,0,,,,D02,Queen's Pawn Game: Zukertort Variation,2,
    2,"d2d4,g8f6",g8f6,Nf6,1,0,0,1,2200,2003,2003,A45,Indian Defense,3,
    3,"d2d4,g8f6,c2c4",c2c4,c4,1,0,0,1,,2003,2003,A50,Indian Defense: Normal Variation,1,
    1,c2c4,c2c4,c4,1,0,1,0,2310,2003,2003,A10,English Opening,5,
    2,"c2c4,d7d5",d7d5,d5,1,0,1,0,,2003,2003,A10,English Opening: Anglo-Scandinavian Defense,1,
    3,"c2c4,d7d5,d2d4",d2d4,d4,1,0,1,0,2310,2003,2003,D06,Queen's Gambit,1,1. d4 d5 2. c4
    1,e2e4,e2e4,e4,1,1,0,0,,2002,2002,B00,King's Pawn Game,5,
    "#);
    insta::assert_snapshot!(workspace.ok(&["--depth", "2", "--least-share", "20", "--format", "dot"]), @r#"
    digraph moves {
      rankdir=LR;
      node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];
      edge [fontname="sans-serif", fontsize=10];
      "" [label="5 games"];
      "1. d4" [label="A40 Queen's Pawn Game\n3 games"];
      "" -> "1. d4" [label="1. d4 60.0 %", penwidth=4.6];
      "1. d4 d5" [label="D00 Queen's Pawn Game\n2 games"];
      "1. d4" -> "1. d4 d5" [label="1... d5 66.7 %", penwidth=3.4];
      "1. d4 Nf6" [label="A45 Indian Defense\n1 game"];
      "1. d4" -> "1. d4 Nf6" [label="1... Nf6 33.3 %", penwidth=2.2];
      "1. c4" [label="A10 English Opening\n1 game"];
      "" -> "1. c4" [label="1. c4 20.0 %", penwidth=2.2];
      "1. c4 d5" [label="A10 English Opening: Anglo-Scandinavian Defense\n1 game"];
      "1. c4" -> "1. c4 d5" [label="1... d5 100.0 %", penwidth=2.2];
      "1. e4" [label="B00 King's Pawn Game\n1 game"];
      "" -> "1. e4" [label="1. e4 20.0 %", penwidth=2.2];
    }
    "#);
    // The option is checked before the database.
    let run = workspace.run(&["explore", "missing.db", "--format", "dot"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(run.stderr, @"pgndex: error: --format dot draws a tree, so give its depth too: --depth 4 --format dot");
    insta::assert_snapshot!(workspace.run_with(&["--moves", "1. f4", "--depth", "3"]).stderr, @"pgndex: note: no game reached this position: rnbqkbnr/pppppppp/8/8/5P2/8/PPPPP1PP/RNBQKBNR b KQkq -");
}

#[test]
fn two_sets_are_shown_side_by_side() {
    let workspace = famous();
    insta::assert_snapshot!(
        workspace.ok(&["--moves", "1. e4", "--until", "1899", "--versus", "--since 1900", "-n", "4"]),
        @"
    B00 King's Pawn Game

    move  games    share  w/d/b %   versus    share  w/d/b %  change  opening
    ──────────────────────────────────────────────────────────────────────────────────────────
    e5        8  100.0 %  63/13/25       5   29.4 %  80/20/0   -70.6  C20 King's Pawn Game
    c5        0    0.0 %                 5   29.4 %  80/0/20   +29.4  B20 Sicilian Defense
    c6        0    0.0 %                 2   11.8 %  100/0/0   +11.8  B10 Caro-Kann Defense
    d5        0    0.0 %                 1    5.9 %  100/0/0    +5.9  B01 Scandinavian Defense
    8 games: █ White 5 (62.5 %), ▒ draw 1 (12.5 %), ░ Black 2 (25.0 %)
    versus 17 games: █ White 15 (88.2 %), ▒ draw 1 (5.9 %), ░ Black 1 (5.9 %)
    4 moves not shown: --limit 0 shows all
    "
    );
    let filters = ["--until", "1899"];
    let versus = workspace.json(
        &[&["--moves", "1. e4"], filters.as_slice(), &["--versus", "--since 1900 --result 1-0"]].concat(),
    );
    let alone = |filters: &[&str]| workspace.json(&[&["--moves", "1. e4"], filters].concat());
    assert_eq!(versus["versus"], alone(&["--since", "1900", "--result", "1-0"]));
    let mut first = versus;
    first.as_object_mut().expect("an object").remove("versus");
    assert_eq!(first, alone(&filters));
    insta::assert_snapshot!(
        workspace.ok(&["--moves", "1. e4", "--white", "=Carlsen, Magnus", "--versus", "", "--format", "csv"]),
        @"
    uci,san,eco,opening,games,white,draws,black,average_rating,first_year,last_year,versus_games,versus_white,versus_draws,versus_black,versus_average_rating,versus_first_year,versus_last_year
    c7c5,c5,B20,Sicilian Defense,1,1,0,0,,2016,2016,5,4,0,1,,1965,2016
    e7e5,e5,C20,King's Pawn Game,,,,,,,,13,9,2,2,,1750,1992
    c7c6,c6,B10,Caro-Kann Defense,,,,,,,,2,2,0,0,,1910,1997
    b7b6,b6,B00,Owen Defense,,,,,,,,1,1,0,0,,,
    d7d5,d5,B01,Scandinavian Defense,,,,,,,,1,1,0,0,,1934,1934
    d7d6,d6,B00,Pirc Defense,,,,,,,,1,1,0,0,,1999,1999
    e7e6,e6,C00,French Defense,,,,,,,,1,1,0,0,,1928,1928
    g7g6,g6,B06,Modern Defense,,,,,,,,1,1,0,0,,1963,1963
    g8f6,Nf6,B02,Alekhine Defense,,,,,,,,1,1,0,0,,1991,1991
    "
    );
    for versus in
        ["--since", "--since 1900 --limit 3", "--white \"Carlsen", "1900", "--since 2001 --until 2000"]
    {
        let run = workspace.run_with(&["--versus", versus]);
        assert_eq!(run.status, 2, "{versus}");
        assert!(run.stderr.starts_with("pgndex: error: "), "{}", run.stderr);
    }
    insta::assert_snapshot!(workspace.run_with(&["--versus", "--since 1900 --limit 3"]).stderr, @r#"pgndex: error: --versus: unexpected argument '--limit' found; give filters as in --versus "--since 2020 --elo-min 2500""#);
    insta::assert_snapshot!(workspace.run_with(&["--versus", "--white nobodyatall"]).stderr, @r#"
    pgndex: note: no player has a name that matches "nobodyatall" (--white)
    pgndex: note: no game passes the filters of --versus
    "#);
}
