//! `pgndex explore`: its output, and its exit status.

use crate::command::Run;
use crate::support::OPENINGS;
use crate::workspace::Workspace;

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
const RATED: &str = r#"[Event "Open"]
[Date "2024.02.29"]
[White "Ågren, Åsa"]
[Black "棋聖"]
[Result "1-0"]
[WhiteElo "2455"]
[BlackElo "1988"]

1. d4 d5 2. c4 1-0

[Event "Open"]
[Date "2023.??.??"]
[White "棋聖"]
[Black "?"]
[Result "1/2-1/2"]
[WhiteElo "1990"]
[BlackElo "2000"]

1. c4 d5 2. d4 1/2-1/2

[Event "Open"]
[Date "2025.01.01"]
[White "Ågren, Åsa"]
[Black "Endless, E"]
[Result "*"]

1. d4 d5 *

[Event "Open"]
[White "Short, S"]
[Black "Ågren, Åsa"]
[Result "0-1"]

1. d4 d5 0-1
"#;
/// Castling in Chess960, and from a set-up with standard castling rights.
const CASTLING: &str = r#"[Result "1-0"]
[FEN "4k3/8/8/8/8/8/8/1RK4R w HB - 0 1"]
[SetUp "1"]

1. O-O 1-0

[Result "1-0"]
[FEN "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"]
[SetUp "1"]

1. O-O-O 1-0
"#;

fn built(pgn: &str) -> Workspace {
    Workspace::for_command(&["explore", "games.db"]).built(pgn)
}

#[test]
fn moves_come_with_results_and_the_latest_games_below() {
    let sample = built(FAMOUS);
    insta::assert_snapshot!(sample.ok(&["--moves", "1. e4"]), @"
    B00 King's Pawn Game

    move  games    share  w/d/b %                         elo  last  opening
    ─────────────────────────────────────────────────────────────────────────────────────────
    e5       13   50.0 %  69/15/15  ██████████████▒▒▒░░░       1992  C20 King's Pawn Game
    c5        5   19.2 %  80/0/20   ████████████████░░░░       2016  B20 Sicilian Defense
    c6        2    7.7 %  100/0/0   ████████████████████       1997  B10 Caro-Kann Defense
    b6        1    3.8 %  100/0/0   ████████████████████             B00 Owen Defense
    d5        1    3.8 %  100/0/0   ████████████████████       1934  B01 Scandinavian Defense
    d6        1    3.8 %  100/0/0   ████████████████████       1999  B00 Pirc Defense
    e6        1    3.8 %  100/0/0   ████████████████████       1928  C00 French Defense
    g6        1    3.8 %  100/0/0   ████████████████████       1963  B06 Modern Defense
    Nf6       1    3.8 %  100/0/0   ████████████████████       1991  B02 Alekhine Defense
    Σ        26  100.0 %  81/8/12   ████████████████▒▒░░       2016
    26 games: █ White 21 (80.8 %), ▒ draw 2 (7.7 %), ░ Black 3 (11.5 %)

    Latest:
    game  white            elo  black                   elo  result  date        event                         next
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────
      51  Carlsen, Magnus       Karjakin, Sergey             1-0     2016.11.30  World Championship tie-break  c5
      50  Wei, Yi               Bruzón Batista, Lázaro       1-0     2015.07.03  Danzhou                       c5
      48  Kasparov, Garry       Topalov, Veselin             1-0     1999.01.20  Hoogovens                     d6
      46  Deep Blue             Kasparov, Garry              1-0     1997.05.11  Man-Machine Match             c6
      45  Deep Blue             Kasparov, Garry              1-0     1996.02.10  Man-Machine Match             c5
    ");
    insta::assert_snapshot!(sample.ok(&["--moves", "1. e4", "-n", "2", "--recent", "1"]), @"
    B00 King's Pawn Game

    move  games    share  w/d/b %                         elo  last  opening
    ─────────────────────────────────────────────────────────────────────────────────────
    e5       13   50.0 %  69/15/15  ██████████████▒▒▒░░░       1992  C20 King's Pawn Game
    c5        5   19.2 %  80/0/20   ████████████████░░░░       2016  B20 Sicilian Defense
    Σ        26  100.0 %  81/8/12   ████████████████▒▒░░       2016
    26 games: █ White 21 (80.8 %), ▒ draw 2 (7.7 %), ░ Black 3 (11.5 %)
    7 moves not shown: --limit 0 shows all

    Latest:
    game  white            elo  black             elo  result  date        event                         next
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────
      51  Carlsen, Magnus       Karjakin, Sergey       1-0     2016.11.30  World Championship tie-break  c5
    ");
    insta::assert_snapshot!(sample.ok(&["--play", "e2e4,e7e5", "--recent", "0", "--ascii", "--board"]), @"
    C20 King's Pawn Game
      8 r n b q k b n r
      7 p p p p . p p p
      6 . . . . . . . .
      5 . . . . p . . .
      4 . . . . P . . .
      3 . . . . . . . .
      2 P P P P . P P P
      1 R N B Q K B N R
        a b c d e f g h

    move  games    share  w/d/b %                         elo  last  opening
    ------------------------------------------------------------------------------------------
    Nf3      10   76.9 %  70/10/20  ##############==....       1992  C40 King's Knight Opening
    f4        2   15.4 %  100/0/0   ####################       1960  C30 King's Gambit
    Nc3       1    7.7 %  0/100/0   ====================       1872  C25 Vienna Game
    all      13  100.0 %  69/15/15  ##############===...       1992
    13 games: # White 9 (69.2 %), = draw 2 (15.4 %), . Black 2 (15.4 %)
    ");
    let note = sample.run_with(&["--board", "--format", "csv"]).stderr;
    insta::assert_snapshot!(note, @"pgndex: note: the board is drawn only with --format table, not with json, csv or dot");
    insta::assert_snapshot!(sample.ok(&["--play", "e2e4,e7e5", "--format", "csv"]), @r#"
    uci,san,games,white,draws,black,average_rating,first_year,last_year,eco,opening
    g1f3,Nf3,10,7,1,2,,1750,1992,C40,King's Knight Opening
    f2f4,f4,2,2,0,0,,1851,1960,C30,King's Gambit
    b1c3,Nc3,1,0,1,0,,1872,1872,C25,Vienna Game
    "#);
}

#[test]
fn games_count_by_position_and_ended_or_unfinished_games_are_reported() {
    let sample = built(RATED);
    insta::assert_snapshot!(sample.ok(&["--moves", "1. d4 d5"]), @"
    D00 Queen's Pawn Game

    move  games    share  w/d/b %                         elo  last  opening
    ───────────────────────────────────────────────────────────────────────────────────
    c4        1   50.0 %  100/0/0  ████████████████████  2455  2024  D06 Queen's Gambit
    Σ         2  100.0 %  50/0/50  ██████████░░░░░░░░░░  2455  2024
    2 games: █ White 1 (50.0 %), ▒ draw 0 (0.0 %), ░ Black 1 (50.0 %)
    1 ended here; 1 game without a result is not counted

    Highest rated:
    game  white        elo  black   elo  result  date        event  next
    ────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1988  1-0     2024.02.29  Open   c4

    Latest:
    game  white        elo  black        elo  result  date        event  next
    ────────────────────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖        1988  1-0     2024.02.29  Open   c4
       4  Short, S          Ågren, Åsa        0-1                 Open   (last position)
    ");
    insta::assert_snapshot!(sample.ok(&["--moves", "1. d4 d5 2. c4", "--recent", "1"]), @"
    D06 Queen's Gambit

    2 games: █ White 1 (50.0 %), ▒ draw 1 (50.0 %), ░ Black 0 (0.0 %)
    1 reached the position by another move order; 2 ended here

    Highest rated:
    game  white        elo  black   elo  result   date        event  next
    ────────────────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1988  1-0      2024.02.29  Open   (last position)
       2  棋聖        1990  ?      2000  1/2-1/2  2023.??.??  Open   (last position)

    Latest:
    game  white        elo  black   elo  result  date        event  next
    ───────────────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1988  1-0     2024.02.29  Open   (last position)
    ");
}

#[test]
fn json_has_the_form_of_lichess_explorer() {
    let sample = built(RATED);
    let object = sample.json(&["--moves", "1. d4 d5"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "opening": {
        "eco": "D00",
        "name": "Queen's Pawn Game"
      },
      "white": 1,
      "draws": 0,
      "black": 1,
      "unfinished": 1,
      "transposed": 0,
      "moves": [
        {
          "uci": "c2c4",
          "san": "c4",
          "averageRating": 2455,
          "white": 1,
          "draws": 0,
          "black": 0,
          "game": {
            "id": "1",
            "winner": "white",
            "white": {
              "name": "Ågren, Åsa",
              "rating": 2455
            },
            "black": {
              "name": "棋聖",
              "rating": 1988
            },
            "year": 2024,
            "month": "2024-02"
          },
          "opening": {
            "eco": "D06",
            "name": "Queen's Gambit"
          }
        }
      ],
      "topGames": [
        {
          "uci": "c2c4",
          "id": "1",
          "winner": "white",
          "white": {
            "name": "Ågren, Åsa",
            "rating": 2455
          },
          "black": {
            "name": "棋聖",
            "rating": 1988
          },
          "year": 2024,
          "month": "2024-02"
        }
      ],
      "recentGames": [
        {
          "uci": "c2c4",
          "id": "1",
          "winner": "white",
          "white": {
            "name": "Ågren, Åsa",
            "rating": 2455
          },
          "black": {
            "name": "棋聖",
            "rating": 1988
          },
          "year": 2024,
          "month": "2024-02"
        },
        {
          "uci": null,
          "id": "4",
          "winner": "black",
          "white": {
            "name": "Short, S",
            "rating": null
          },
          "black": {
            "name": "Ågren, Åsa",
            "rating": null
          },
          "year": null,
          "month": null
        }
      ]
    }
    "#);
    let documentation = include_str!("../../docs/json.md");
    let (_, documentation) = documentation.split_once("## `pgndex explore`").expect("a section");
    for part in [&object, &object["moves"][0], &object["topGames"][0]] {
        for name in part.as_object().expect("an object").keys() {
            assert!(documentation.contains(&format!("`{name}`")), "{name}");
        }
    }
    let object = sample.json(&["--moves", "1. d4 d5 2. c4"]);
    assert_eq!(object["white"], 1);
    assert_eq!(object["draws"], 1);
    assert_eq!(object["moves"], serde_json::json!([]));
    assert_eq!(object["topGames"][0]["uci"], serde_json::Value::Null);
}

#[test]
fn castling_moves_have_the_right_uci() {
    let sample = built(CASTLING);
    for (fen, uci, san) in [
        ("4k3/8/8/8/8/8/8/1RK4R w KQ - 0 1", "c1h1", "O-O"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O"),
    ] {
        let object = sample.json(&["--fen", fen]);
        let [played] = &object["moves"].as_array().expect("moves")[..] else { panic!("{object}") };
        assert_eq!((&played["uci"], &played["san"]), (&uci.into(), &san.into()));
        assert_eq!(object["recentGames"][0]["uci"], uci);
        assert_eq!(played["game"]["id"], object["recentGames"][0]["id"]);
    }
}

#[test]
fn openings_are_named_by_the_database_or_by_a_file() {
    let sample = built(RATED);
    let object = sample.json(&["--moves", "1. c4 d5 2. d4"]);
    assert_eq!(object["opening"], serde_json::json!({ "eco": "D06", "name": "Queen's Gambit" }));

    let after = ["--moves", "1. d4 d5 2. c4 Bh3"];
    let Run { status, stdout, stderr } = sample.run_with(&after);
    assert_eq!((status, stdout.as_str()), (0, "D06 Queen's Gambit\n\n"));
    assert!(stderr.starts_with("pgndex: note: no game reached this position"), "{stderr}");
    let position = "rn1qkbnr/ppp1pppp/8/3p4/2PP4/7b/PP2PPPP/RNBQKBNR w KQkq -";
    assert_eq!(sample.run_with(&["--fen", position]).stdout, "");
    let start = "[FEN \"rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2\"]";
    let from_start = format!("{start}\n\n2... Bh3 *");
    assert_eq!(sample.run_with(&["--moves", &from_start]).stdout, "D06 Queen's Gambit\n\n");

    let names = "eco\tname\tpgn\nD00\tMy Opening\t1. d4 d5\nD06\tMy Gambit\t1. d4 d5 2. c4\n";
    std::fs::write(sample.path("my.tsv"), names).expect("written");
    let object = sample.json(&["--moves", "1. d4 d5", "--openings", "my.tsv"]);
    assert_eq!(object["opening"]["name"], "My Opening");
    assert_eq!(object["moves"][0]["opening"]["name"], "My Gambit");
    let Run { status, stdout, stderr } = sample.run_with(&["--moves", "1. d4 d5", "--openings", "games.db"]);
    assert_eq!((status, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with("pgndex: error: games.db"), "{stderr}");
}

#[test]
fn filtered_games_are_counted() {
    let sample = built(RATED);
    insta::assert_snapshot!(sample.ok(&["--moves", "1. d4 d5", "--white", "Ågren", "--until", "2024"]), @"
    D00 Queen's Pawn Game

    move  games    share  w/d/b %                         elo  last  opening
    ───────────────────────────────────────────────────────────────────────────────────
    c4        1  100.0 %  100/0/0  ████████████████████  2455  2024  D06 Queen's Gambit
    Σ         1  100.0 %  100/0/0  ████████████████████  2455  2024
    1 game: █ White 1 (100.0 %), ▒ draw 0 (0.0 %), ░ Black 0 (0.0 %)

    Highest rated:
    game  white        elo  black   elo  result  date        event  next
    ────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1988  1-0     2024.02.29  Open   c4

    Latest:
    game  white        elo  black   elo  result  date        event  next
    ────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1988  1-0     2024.02.29  Open   c4
    ");
    insta::assert_snapshot!(
        sample.ok(&["--moves", "1. d4 d5", "--elo-min", "1900", "--opening-eco", "D", "--format", "csv"]),
        @r#"
        uci,san,games,white,draws,black,average_rating,first_year,last_year,eco,opening
        c2c4,c4,1,1,0,0,2455,2024,2024,D06,Queen's Gambit
        "#
    );
    let object = sample.json(&["--moves", "1. d4 d5", "--result", "0-1"]);
    assert_eq!(
        (&object["white"], &object["black"], &object["unfinished"]),
        (&0.into(), &1.into(), &0.into())
    );
    assert_eq!(object["recentGames"][0]["id"], "4");
    let run = sample.run_with(&["--moves", "1. d4", "--player", "nobody", "--event", "open"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "A40 Queen's Pawn Game\n\n"));
    insta::assert_snapshot!(run.stderr, @r#"
    pgndex: note: no player has a name that matches "nobody" (--player)
    pgndex: note: no game passes the filters
    pgndex: note: there would be 2 games without --player
    "#);
}

#[test]
fn the_filter_that_excludes_all_games_is_named() {
    let sample = built(RATED);
    let reported = |options: &[&str]| sample.run_with(&[&["--moves", "1. d4"], options].concat()).stderr;
    insta::assert_snapshot!(reported(&["--elo-min", "1900", "--since", "2200"]), @"
    pgndex: note: no game passes the filters
    pgndex: note: the games in the database are from 2023.??.?? to 2025.01.01
    pgndex: note: there would be 1 game without --since
    ");
    insta::assert_snapshot!(reported(&["--since", "2200"]), @"
    pgndex: note: no game passes the filters
    pgndex: note: the games in the database are from 2023.??.?? to 2025.01.01
    ");
    insta::assert_snapshot!(reported(&["--since", "2200", "--elo-min", "3000"]), @"
    pgndex: note: no game passes the filters
    pgndex: note: --elo-min applies to both players; the highest value that matches a game is 1990
    pgndex: note: the games in the database are from 2023.??.?? to 2025.01.01
    ");
    insta::assert_snapshot!(reported(&["--result", "*", "--variant", "Atomic", "--plies-max", "1000"]), @"
    pgndex: note: no game passes the filters
    pgndex: note: no game has the tag Variant
    pgndex: note: there would be 1 game without --variant
    ");
    // A game passes, but did not reach the position.
    insta::assert_snapshot!(reported(&["--result", "draw"]), @"pgndex: note: no game that passes the filters reached this position: rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -");
}

#[test]
fn a_position_without_games_is_not_an_error() {
    let sample = built(RATED);
    let Run { status, stdout, stderr } = sample.run_with(&["--moves", "1. h4"]);
    assert_eq!((status, stdout.as_str()), (0, "A00 Kádas Opening\n\n"));
    insta::assert_snapshot!(stderr, @r#"
    pgndex: note: no game reached this position: rnbqkbnr/pppppppp/8/8/7P/8/PPPPPPP1/RNBQKBNR b KQkq -
    "#);
    let Run { status, stdout, .. } = sample.run_with(&["--moves", "1. h4", "--format", "json"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(stdout, @r#"
    {"opening":{"eco":"A00","name":"Kádas Opening"},"white":0,"draws":0,"black":0,"unfinished":0,"moves":[],"topGames":[],"recentGames":[]}
    "#);
    let Run { status, stdout, .. } = sample.run_with(&["--moves", "1. h4", "--format", "csv"]);
    assert_eq!((status, stdout.lines().count()), (0, 1));
}

#[test]
fn the_duration_goes_to_standard_error() {
    let sample = built(RATED);
    let Run { status, stdout, stderr } = sample.run_with(&["--moves", "1. d4", "--timing"]);
    assert_eq!((status, stdout), (0, sample.ok(&["--moves", "1. d4"])));
    let time = stderr.strip_prefix("pgndex: note: took ").and_then(|rest| rest.strip_suffix(" ms\n"));
    assert!(time.is_some_and(|time| time.parse::<f64>().is_ok()), "{stderr}");
}

#[test]
fn lists_longer_than_the_maximum_are_wrong_usage() {
    let sample = built(RATED);
    for option in ["--top", "--recent"] {
        assert_eq!(sample.run_with(&["--moves", "1. d4", option, "16"]).status, 2);
    }
}

#[test]
fn the_default_position_is_the_start_position() {
    let sample = built(RATED);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for more in [&[][..], &["--format", "json"], &["--board", "--since", "2015"]] {
        assert_eq!(sample.ok(more), sample.ok(&[&["--fen", start], more].concat()), "{more:?}");
    }
}

#[test]
fn help_is_short() {
    insta::assert_snapshot!(built(RATED).ok(&["-h"]), @r#"
    Show what was played from a position, and with what results

    Usage: pgndex explore [OPTIONS] <DB>

    Arguments:
      <DB>  Database [env: PGNDEX_DB]

    Options:
          --variations        Also count moves in variations, in a separate column
      -n, --limit <N>         Number of moves to show, the most frequent first; 0 for all [default: 0]
          --side <SIDE>       Show results from this side's view [possible values: white, black]
          --versus <FILTERS>  Compare with the games that pass these filters
          --history           Add a table by year: the number of games, and the most frequent moves
          --depth <N>         Show a tree of moves down to this depth in half-moves, at most 40
      -f, --format <FORMAT>   Output format [default: table] [possible values: table, json, csv, dot]
          --json              The same as --format json
      -h, --help              Print help (see more with '--help')

    Position:
          --fen <FEN>      The position as a FEN
          --moves <MOVES>  Moves from the start position: "1. e4 c5 2. Nf3"
          --play <MOVES>   Moves from the start position, in UCI notation: e2e4,c7c5

    Which games:
          --white <NAME>      White's name, or the beginning of one of its words
          --black <NAME>      Black's name
          --player <NAME>     White's or Black's name; repeat the option for games between two players
          --opponent <NAME>   Name of the player who played against --player
          --elo-min <N>       Both players are rated this or higher
          --elo-max <N>       Both players are rated this or lower
          --since <DATE>      Played on this date or later: 2021, 2021.06 or 2021-06-30
          --until <DATE>      Played on this date or earlier; 2021 means to the end of 2021
          --result <RESULT>   Result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none
          --event <NAME>      The event's name, or the beginning of one of its words
          --opening <NAME>    Words of the opening's name, such as "sicilian najdorf"
          --eco <CODE>        The tag ECO: a code (B90), its beginning (B9), or a range (B90-C19)
          --speed <SPEED>     Class of the time control, as defined by Lichess, such as blitz
          --source <PATH|ID>  Only games that were indexed from this file, given by path or number

    Boards and pictures:
          --board       Draw the position
          --flip        Draw boards with Black at the bottom
          --svg <FILE>  Write a picture of the board to this file, as SVG

    … 16 more options: --help
    "#);
}

/// Twelve games that reached a position of the Berlin Defence. Ten of them end while it is repeated: seven in that
/// position itself.
const BERLIN: [(&str, &str); 12] = {
    const AGAIN: &str = "11. Qe4+ Qe6 12. Qd4 Qd6 ";
    const TWICE: &str = "11. Qe4+ Qe6 12. Qd4 Qd6 13. Qe4+ Qe6 14. Qd4 Qd6";
    [
        (TWICE, "1/2-1/2"),
        ("11. Qe4+ Qe6 12. Qd4 Qd6 13. Qe4+ Qe6", "1/2-1/2"),
        (TWICE, "1/2-1/2"),
        (TWICE, "1/2-1/2"),
        (TWICE, "1/2-1/2"),
        (TWICE, "1/2-1/2"),
        (AGAIN, "1/2-1/2"),
        ("11. Qe4+ Qe6 12. Qd4 Qd6 13. Qe4+ Qe6 14. Qd4 Qd6 15. Qe4+", "1/2-1/2"),
        ("11. Re1+ Be6 12. Qe4 O-O-O", "0-1"),
        ("11. Qe4+ Qe6 12. Qd4 Qd6 13. Qe3+ Be6", "1-0"),
        (TWICE, "1/2-1/2"),
        ("11. Qe4+ Qe6 12. Qd4 Qd6 13. Qe4+ Qe6 14. Qd4 Qd6 15. Qe4+ Qe6 16. Qd4", "1/2-1/2"),
    ]
};

#[test]
fn a_game_that_ends_in_a_repeated_position_counts_by_its_last_move_from_it() {
    const BEFORE: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Nxe4 5. d4 Nd6 6. dxe5 Nxb5 7. a4 Nbd4 8. Nxd4 Nxd4 9. Qxd4 d5 10. exd6 Qxd6";
    let games = |range: std::ops::Range<usize>| -> String {
        let game = |(moves, result): &(&str, &str)| {
            format!("[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n{BEFORE} {moves} {result}\n\n")
        };
        BERLIN[range].iter().map(game).collect()
    };
    let workspace = Workspace::for_command(&["explore", "games.db"])
        .with("first.pgn", games(0..5))
        .with("rest.pgn", games(5..12));
    // Without and with stored visited positions, in a database that is built at once or by an addition.
    for threshold in ["64", "12", "6", "1"] {
        let index = ["index", "--quiet", "--duplicates", "keep", "--overwrite", "games.db", "first.pgn"];
        let threshold = ["--continuation-threshold", threshold, "--openings", OPENINGS];
        let at_once = [index.as_slice(), &["rest.pgn"], &threshold].concat();
        let first = [index.as_slice(), &threshold].concat();
        let rest = vec!["index", "--quiet", "--duplicates", "keep", "games.db", "rest.pgn"];
        for runs in [vec![at_once], vec![first, rest]] {
            runs.iter().for_each(|run| assert_eq!(workspace.run(run).status, 0, "{run:?}"));
            for filter in [&[][..], &["--player", "=A"], &["--side", "black"]] {
                let answer = workspace.json(&[&["--moves", BEFORE], filter].concat());
                let moves = answer["moves"].as_array().expect("moves").iter();
                let played = |played: &serde_json::Value| {
                    let games =
                        ["white", "draws", "black"].map(|name| played[name].as_u64().expect("a number"));
                    (played["san"].as_str().expect("a move").to_owned(), games)
                };
                let expected = [("Qe4+", [0, 10, 0]), ("Re1+", [0, 0, 1]), ("Qe3+", [1, 0, 0])];
                let mut moves: Vec<_> = moves.map(played).collect();
                moves.sort_by_key(|(san, _)| expected.iter().position(|(other, _)| other == san));
                assert_eq!(
                    moves,
                    expected.map(|(san, games)| (san.to_owned(), games)),
                    "{threshold:?} {filter:?}"
                );
                for list in ["topGames", "recentGames"] {
                    let listed = answer[list].as_array().expect("games");
                    assert!(listed.iter().all(|game| game["uci"].is_string()), "{list}: {listed:?}");
                }
            }
            assert_eq!(workspace.run(&["verify", "--quiet", "games.db"]).status, 0);
        }
        let remove =
            ["remove", "--quiet", "games.db", "--sql", "SELECT game_id FROM game WHERE game_id % 2 = 0"];
        assert_eq!(workspace.run(&remove).status, 0);
        let left = workspace.json(&["--moves", BEFORE]);
        let of =
            |index: usize| (left["moves"][index]["san"].as_str(), left["moves"][index]["draws"].as_u64());
        assert_eq!(
            (of(0), of(1), left["moves"].as_array().map(Vec::len)),
            ((Some("Qe4+"), Some(5)), (Some("Re1+"), Some(0)), Some(2))
        );
        assert_eq!(workspace.run(&["verify", "--quiet", "games.db"]).status, 0);
    }
}

#[test]
fn only_games_that_never_moved_from_a_position_ended_there() {
    let text = "[Result \"1/2-1/2\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 1/2-1/2\n\n\
                [Result \"1/2-1/2\"]\n\n1. Nc3 Nc6 2. Nb1 Nb8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n\n\
                [Result \"1/2-1/2\"]\n\n1/2-1/2\n";
    let workspace = built(text);
    insta::assert_snapshot!(workspace.ok(&["--top", "0", "--recent", "0"]), @"
    move  games    share  w/d/b %                        elo  last  opening
    ─────────────────────────────────────────────────────────────────────────────────────
    Nf3       2   66.7 %  0/100/0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒             A04 Zukertort Opening
    Σ         3  100.0 %  0/100/0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
    3 games: █ White 0 (0.0 %), ▒ draw 3 (100.0 %), ░ Black 0 (0.0 %)
    1 ended here
    ");
}
