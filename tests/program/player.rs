//! Records of players.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{has_program, python_that_runs};
use crate::program::python::printed_by;
use crate::workspace::Workspace;

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");

/// Compares the records of `count` frequent players, and of as many others, in the first games of a collection.
fn agree(corpus: &str, bytes: usize, count: u32) {
    let Some(printed) = printed_by("player.py", corpus, bytes, &["1", &count.to_string()]) else { return };
    assert!(printed.ends_with(" games\n"), "{printed}");
}

const GAMES: &str = r#"[White "Polgar, Judit"]
[Black "Short, Nigel"]
[WhiteElo "2700"]
[BlackElo "2650"]
[Date "2001.02.03"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[White "Short, Nigel"]
[Black "Polgar, J"]
[WhiteElo "2640"]
[Date "2003.??.??"]
[Result "1/2-1/2"]

1. e4 c5 1/2-1/2

[White "Polgar, Judit"]
[Black "<b>*|x"]
[Result "*"]

1. e4 e5 2. Nc3 *

[White "Polgar, Zsuzsa"]
[Black "Short, Nigel"]
[Result "0-1"]

1. d4 0-1
"#;

fn polgar() -> Workspace {
    Workspace::for_command(&["player", "games.db"]).indexed(GAMES)
}

#[test]
fn a_record_is_printed_with_its_games() {
    let workspace = polgar();
    let run = workspace.run_with(&["polgar, judit"]);
    insta::assert_snapshot!(run.stdout, @"
    Polgar, Judit and 1 other player: 3 games, 2001 to 2003, 1 without a result

    side   games  +  =  -  score    rating  opponents  performance
    ──────────────────────────────────────────────────────────────
    all        3  1  1  0   75.0 %    2700       2645         2838
    White      2  1  0  0  100.0 %    2700       2650         3450
    Black      1  0  1  0   50.0 %               2640         2640
    performances count only games with a result against rated opponents

    Openings with White:
    opening                    games  +  =  -  score    rating  opponents  performance
    ──────────────────────────────────────────────────────────────────────────────────
    C25 Vienna Game                1  0  0  0
    C40 King's Knight Opening      1  1  0  0  100.0 %    2700       2650         3450

    Lines with White:
    line       share    games  +  =  -  score    rating  opponents  performance
    ───────────────────────────────────────────────────────────────────────────
    1. e4      100.0 %      2  1  0  0  100.0 %    2700       2650         3450
      1... e5  100.0 %      2  1  0  0  100.0 %    2700       2650         3450

    Openings with Black:
    opening               games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────────────
    B20 Sicilian Defense      1  0  1  0   50.0 %               2640         2640

    Years:
    year     games  +  =  -  score    rating  opponents  performance
    ───────────────────────────────────────────────────────────────────────────────────────────────
    2001         1  1  0  0  100.0 %    2700       2650         3450  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
    2003         1  0  1  0   50.0 %               2640         2640  ▇▇▇▇
    unknown      1  0  0  0
    bars show the performance, from 2500 to 3500

    Opponents' ratings:
    rated         games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────
    2600 to 2699      2  1  1  0   75.0 %    2700       2645         2838
    unknown           1  0  0  0

    Opponents:
    opponent      games  +  =  -  score    rating  opponents  performance
    ─────────────────────────────────────────────────────────────────────
    Short, Nigel      2  1  1  0   75.0 %    2700       2645         2838
    <b>*|x            1  0  0  0

    Best wins:
    game  side   opponent      rating  date        event  opening
    ───────────────────────────────────────────────────────────────────────────────
       1  White  Short, Nigel    2650  2001.02.03         C40 King's Knight Opening
    ");
    insta::assert_snapshot!(run.stderr, @r#"pgndex: note: the name matches 2 players: "Polgar, Judit" (2), "Polgar, J" (1); to choose one, give it exactly: "=Polgar, Judit""#);
    let run = workspace.run_with(&["polgar", "--format", "md", "--depth", "0", "-n", "1"]);
    insta::assert_snapshot!(run.stdout, @"
    # Polgar, Judit and 2 other players: 4 games, 2001 to 2003, 1 without a result

    | side  | games | + | = | - | score   | rating | opponents | performance |
    |-------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | all   |     4 | 1 | 1 | 1 |  50.0 % |   2700 |      2645 |        2838 |
    | White |     3 | 1 | 0 | 1 |  50.0 % |   2700 |      2650 |        3450 |
    | Black |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 |

    performances count only games with a result against rated opponents

    ## Openings with White, 1 of 3

    | opening               | games | + | = | - | score   | rating | opponents | performance |
    |-----------------------|------:|--:|--:|--:|---------|--------|-----------|-------------|
    | A40 Queen's Pawn Game |     1 | 0 | 0 | 1 |   0.0 % |        |           |             |

    ## Openings with Black

    | opening              | games | + | = | - | score   | rating | opponents | performance |
    |----------------------|------:|--:|--:|--:|---------|--------|----------:|------------:|
    | B20 Sicilian Defense |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 |

    ## Years

    | year    | games | + | = | - | score   | rating | opponents | performance |                               |
    |---------|------:|--:|--:|--:|---------|-------:|----------:|------------:|-------------------------------|
    | 2001    |     1 | 1 | 0 | 0 | 100.0 % |   2700 |      2650 |        3450 | ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ |
    | 2003    |     1 | 0 | 1 | 0 |  50.0 % |        |      2640 |        2640 | ▇▇▇▇                          |
    | unknown |     2 | 0 | 0 | 1 |   0.0 % |        |           |             |                               |

    ## Opponents' ratings

    | rated        | games | + | = | - | score   | rating | opponents | performance |
    |--------------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | 2600 to 2699 |     2 | 1 | 1 | 0 |  75.0 % |   2700 |      2645 |        2838 |
    | unknown      |     2 | 0 | 0 | 1 |   0.0 % |        |           |             |

    ## Opponents, 1 of 2

    | opponent     | games | + | = | - | score   | rating | opponents | performance |
    |--------------|------:|--:|--:|--:|---------|-------:|----------:|------------:|
    | Short, Nigel |     3 | 1 | 1 | 1 |  50.0 % |   2700 |      2645 |        2838 |

    ## Best wins

    | game | side  | opponent     | rating | date       | event | opening                   |
    |-----:|-------|--------------|-------:|------------|-------|---------------------------|
    |    1 | White | Short, Nigel |   2650 | 2001.02.03 |       | C40 King's Knight Opening |
    ");
    insta::assert_snapshot!(run.stderr, @r#"pgndex: note: the name matches 3 players: "Polgar, Judit" (2), "Polgar, J" (1), "Polgar, Zsuzsa" (1); to choose one, give it exactly: "=Polgar, Judit""#);
    let answer = workspace.json(&["=Polgar, J"]);
    assert_eq!(answer["black"]["games"], 1);
    assert_eq!(answer["all"]["opponent_rating"], 2640);
    assert_eq!(answer["all"]["performance"], 2640);
}

#[test]
fn an_empty_record_is_explained() {
    let workspace = polgar();
    insta::assert_snapshot!(workspace.stderr_of(0, &["polgarr"]), @r#"pgndex: note: no player has a name that matches "polgarr"; did you mean "Polgar, Judit", "Polgar, J" or "Polgar, Zsuzsa"?"#);
    insta::assert_snapshot!(workspace.stderr_of(0, &["short", "--since", "2010", "--until", "2020"]), @"
    pgndex: note: no game of this player passes the filters
    pgndex: note: the games in the database are from 2001.02.03 to 2003.??.??
    pgndex: note: there would be 2 games without --since
    ");
    insta::assert_snapshot!(workspace.stderr_of(0, &["short", "--opponent", "kasparov"]), @r#"pgndex: note: no player has a name that matches "kasparov" (--opponent)"#);
    insta::assert_snapshot!(workspace.stderr_of(0, &["short", "--player", "kasparov"]), @r#"pgndex: note: no player has a name that matches "kasparov" (--player)"#);
    let find = workspace.run(&["find", "games.db", "--opponent", "short"]);
    insta::assert_snapshot!(find.stderr, @"pgndex: error: --opponent NAME needs --player NAME; give both, or use --player alone for all games of a player");
}

/// Start positions, each with its first moves and the result.
const ENDINGS: [(&str, &str, &str); 9] = [
    ("8/5k2/8/8/8/8/4K2P/8 w - - 0 1", "1. Ke3", "1-0"),
    ("8/5k2/8/8/8/8/4K3/8 w - - 0 1", "1. Ke3", "1/2-1/2"),
    ("8/5kb1/8/8/8/8/4K1BP/8 w - - 0 1", "1. Ke3", "1/2-1/2"),
    ("8/5kb1/8/8/8/8/4KB1P/8 w - - 0 1", "1. Ke3", "0-1"),
    // Bishops on squares of different colours; after a promotion, on squares of the same colour.
    ("8/5k2/8/8/8/4b3/1p2K1B1/8 b - - 0 1", "1... b1=B 2. Kxe3", "0-1"),
    // A rook ending for one position only, then a pawn ending.
    ("r3k3/8/8/8/8/8/7P/R3K3 w - - 0 1", "1. Rxa8+ Kd7 2. Rd8+ Kxd8", "*"),
    ("8/5krr/8/8/8/8/4K1QP/8 w - - 0 1", "1. Ke3", "1-0"),
    ("8/5kr1/8/8/8/8/4K1NP/8 w - - 0 1", "1. Ke3", "1-0"),
    ("8/5kbn/8/8/8/8/4K1NP/8 w - - 0 1", "1. Ke3", "1-0"),
];

#[test]
fn endings_agree_with_find_with_and_without_sets() {
    let game = |(fen, moves, result)| {
        format!(
            "[White \"End, E\"]\n[Black \"Other, O\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    };
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(&ENDINGS.map(game).concat());
    let endings = || {
        let answer = workspace.json(&["end"]);
        let endings = answer["endings"].as_array().expect("a list").clone();
        let shown = |ending: &serde_json::Value| {
            let kind = ending["kind"].as_str().expect("a kind");
            let arguments = ["find", "games.db", "--player", "end", "--ending", kind, "--format", "json"];
            assert_eq!(ending["games"], workspace.run(&arguments).stdout.lines().count(), "{kind}");
            let counts =
                ["games", "wins", "draws", "losses", "unfinished"].map(|field| ending[field].to_string());
            format!("{kind} {}", counts.join(" "))
        };
        endings.iter().map(shown).collect::<Vec<_>>().join("\n")
    };
    let reported = endings();
    insta::assert_snapshot!(reported, @"
    minor 4 1 1 2 0
    bishop 3 0 1 2 0
    pawn 2 1 0 0 1
    same-bishops 2 0 0 2 0
    opposite-bishops 2 0 1 1 0
    rook 1 0 0 0 1
    rook-minor 1 1 0 0 0
    queen-rook 1 1 0 0 0
    ");
    // As if no game had sets.
    workspace
        .connection("games.db")
        .execute_batch("DELETE FROM game_set WHERE kind = 'game'")
        .expect("changed");
    assert_eq!(endings(), reported);
}

/// Asks for a page in HTML, and returns what the script reports about it.
fn page(workspace: &Workspace, python: &str, how: &str, arguments: &[&str]) -> String {
    let printed = |format| workspace.stdout_of(&[arguments, &["--format", format]].concat());
    workspace.write("page.html", printed("html"));
    workspace.write("answer.json", printed("json"));
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/page.py")).arg(how);
    command.arg(workspace.path("page.html"));
    if how == "structure" {
        command.arg(workspace.path("answer.json"));
    }
    let output = command.stderr(Stdio::inherit()).output().expect("the script runs");
    assert!(output.status.success(), "the script failed");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_page_has_the_whole_record_and_loads_nothing() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    let workspace = polgar();
    let page = |arguments: &[&str]| page(&workspace, python, "structure", arguments);
    assert_eq!(page(&["polgar", "--limit", "1"]), "8 tables, 1 boards, 0 charts\n");
    assert_eq!(page(&["polgar", "--depth", "0"]), "7 tables, 0 boards, 0 charts\n");
    assert_eq!(page(&["=Polgar, J"]), "5 tables, 0 boards, 0 charts\n");
    assert_eq!(page(&["=Polgar, Zsuzsa"]), "4 tables, 0 boards, 0 charts\n");
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(FAMOUS);
    for name in ["capablanca", "fischer", "a"] {
        self::page(&workspace, python, "structure", &[name, "--limit", "0", "--least-share", "0"]);
    }
}

/// Games of one player; a few have no result, and one opening is reached by two orders of moves.
fn transposing() -> String {
    let lines = [
        "1. d4 Nf6 2. c4 e6",
        "1. d4 Nf6 2. c4 e6",
        "1. d4 Nf6 2. c4 e6",
        "1. c4 e6 2. d4 Nf6",
        "1. c4 e6 2. d4 Nf6",
    ];
    let game = |(number, line): (usize, &str)| {
        let result = if number == 7 { "*" } else { "1-0" };
        let black_elo = if number % 2 == 0 { "[BlackElo \"2500\"]\n" } else { "" };
        format!(
            "[White \"Pirc, V\"]\n[Black \"Other, O\"]\n[Date \"{}.01.{:02}\"]\n[WhiteElo \"2450\"]\n{black_elo}[TimeControl \"600\"]\n\
             [Result \"{result}\"]\n\n{line} {result}\n\n",
            1990 + number % 3,
            number + 1
        )
    };
    lines.into_iter().cycle().take(30).enumerate().map(game).collect()
}

#[test]
fn transpositions_are_marked() {
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(&transposing());
    let section = |format| {
        let text = workspace.ok(&["pirc", "--format", format]);
        let begin = text.find("Lines with White").expect("lines");
        text[begin..].split("\n\n").take(if format == "md" { 2 } else { 1 }).collect::<Vec<_>>().join("\n\n")
    };
    insta::assert_snapshot!(section("table"), @"
    Lines with White:
    line                                   share    games   +  =  -  score    rating  opponents  performance
    ────────────────────────────────────────────────────────────────────────────────────────────────────────
    1. d4                                   60.0 %     18  17  0  0  100.0 %    2450       2500         3300
      1... Nf6                              60.0 %     18  17  0  0  100.0 %    2450       2500         3300
        2. c4                               60.0 %     18  17  0  0  100.0 %    2450       2500         3300
          2... e6                           60.0 %     18  17  0  0  100.0 %    2450       2500         3300
    1. c4                                   40.0 %     12  12  0  0  100.0 %    2450       2500         3300
      1... e6                               40.0 %     12  12  0  0  100.0 %    2450       2500         3300
        2. d4                               40.0 %     12  12  0  0  100.0 %    2450       2500         3300
          2... Nf6 (= 1. d4 Nf6 2. c4 e6)   40.0 %     12  12  0  0  100.0 %    2450       2500         3300
    ");
    insta::assert_snapshot!(section("md"), @"
    Lines with White

    | line                                  | share   | games |  + | = | - | score   | rating | opponents | performance |
    |---------------------------------------|---------|------:|---:|--:|--:|---------|-------:|----------:|------------:|
    | 1. d4                                 |  60.0 % |    18 | 17 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · 1... Nf6                            |  60.0 % |    18 | 17 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · · 2. c4                             |  60.0 % |    18 | 17 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · · · 2... e6                         |  60.0 % |    18 | 17 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | 1. c4                                 |  40.0 % |    12 | 12 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · 1... e6                             |  40.0 % |    12 | 12 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · · 2. d4                             |  40.0 % |    12 | 12 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    | · · · 2... Nf6 (= 1. d4 Nf6 2. c4 e6) |  40.0 % |    12 | 12 | 0 | 0 | 100.0 % |   2450 |      2500 |        3300 |
    ");
}

#[test]
fn a_page_shows_the_filters_and_games_without_a_result() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(&transposing());
    let filters = ["pirc", "--since", "1990", "--time-control", "600+0", "--opponent", "OTHER"];
    let text = workspace.stdout_of(&[&filters[..], &["--format", "html"]].concat());
    let reported = "<p>Filters: opponent OTHER; since 1990; time control 600+0</p>";
    assert!(text.contains(reported), "{text}");
    assert!(
        text.contains("Games without a result are included only") && !text.contains("no result</th>"),
        "{text}"
    );
    assert!(
        workspace
            .stdout_of(&["pirc", "--since", "1990", "--format", "md"])
            .contains("\n\nFilters: since 1990\n\n")
    );
    assert!(!workspace.stdout_of(&["pirc", "--format", "html"]).contains("Filters"));
    assert_eq!(page(&workspace, python, "structure", &filters), "8 tables, 2 boards, 1 charts\n");
}

#[test]
fn a_page_fits_narrow_screens() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    if !has_program("chromium") {
        return;
    }
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(&transposing());
    assert_eq!(page(&workspace, python, "fits", &["pirc"]), "360: -15 8, 800: -15 0, 1200: -15 0\n");
}

/// Names that could be mistaken for markup or controls.
const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "</title></style><h1>x",
    "a & b &amp; \"c\" 'd' -->",
    "\u{202e}gnihtemos \u{2066}x",
    "\u{5d3}\u{5d5}\u{5d3} \u{645}\u{62d}\u{645}\u{62f}",
    "x\u{1}\u{1b}[2J\u{85}\u{fffe}\u{ffff}\u{7f}",
    "https://example.org/a.js url(b.css) ]]> <!--",
];

#[test]
fn names_on_a_page_are_escaped() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    for name in HOSTILE {
        let tag = name.replace('\\', "\\\\").replace('"', "\\\"");
        let game = |date: &str| {
            format!(
                "[Event \"{tag}\"]\n[White \"{tag}\"]\n[Black \"{tag}!\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n[Date \"{date}\"]\n\
                 [Result \"1-0\"]\n\n1. e4 1-0\n\n"
            )
        };
        let workspace = Workspace::for_command(&["player", "games.db"])
            .indexed(&[game("1999.01.01"), game("2001.01.01")].concat());
        let sql = "SELECT '=' || name FROM player JOIN game ON player_id = white_id";
        let is_name: String =
            workspace.connection("games.db").query_row(sql, [], |row| row.get(0)).expect("a name");
        assert!(
            page(&workspace, python, "structure", &[&is_name]).ends_with(" 1 boards, 1 charts\n"),
            "{name}"
        );
    }
}

#[test]
fn a_page_is_printed_on_a4() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    if !has_program("chromium") {
        return;
    }
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(FAMOUS);
    let pages = page(&workspace, python, "printed", &["capablanca", "--limit", "0"]);
    assert!(matches!(pages.as_str(), "2 pages\n" | "3 pages\n"), "{pages}");
}

#[test]
fn a_record_is_written_only_to_an_allowed_file() {
    let workspace = polgar();
    for format in ["table", "md", "json", "html"] {
        let printed = workspace.ok(&["=Polgar, J", "--format", format]);
        let reported =
            workspace.stderr_of(0, &["=Polgar, J", "--format", format, "--output", "a", "--overwrite"]);
        assert_eq!(reported, "pgndex: note: record written to a\n");
        assert_eq!(std::fs::read_to_string(workspace.path("a")).expect("a file"), printed);
    }
    insta::assert_snapshot!(workspace.failure(&["short", "--output", "a"]), @"pgndex: error: a: already exists; use --overwrite to replace it, or name another file");
    insta::assert_snapshot!(workspace.failure(&["short", "--output", "games.db", "--overwrite"]), @"pgndex: error: games.db: is the database itself or one of its auxiliary files, so it is not replaced; choose another file");
    insta::assert_snapshot!(workspace.failure(&["short", "--output", "games.pgn", "--overwrite"]), @"pgndex: error: games.pgn: a PGN file, which this command does not replace; name another file");
    workspace.connection("other.db").execute_batch("CREATE TABLE mine (a)").expect("a database");
    insta::assert_snapshot!(workspace.failure(&["short", "--output", "other.db", "--overwrite"]), @"pgndex: error: other.db: an SQLite database, which this command does not replace; name another file");
    insta::assert_snapshot!(workspace.stderr_of(0, &["nobody", "--output", "b", "--format", "html"]), @r#"
    pgndex: note: no player has a name that matches "nobody"
    pgndex: note: no game matches; b is not written
    "#);
    assert!(!workspace.path("b").exists());
}

#[test]
fn some_records_agree_with_python_chess() {
    agree("otb-40k", 80_000, 6);
}

#[test]
#[ignore = "takes a minute"]
fn many_records_agree_with_python_chess() {
    for corpus in ["otb-40k", "fics", "lichess-24k", "tcec-3k"] {
        agree(corpus, 3_000_000, 10);
    }
}

/// A player against himself, with one spelling and with two.
const AGAINST_ONESELF: &str = r#"[White "Tal, Mikhail"]
[Black "Tal, Mikhail"]
[WhiteElo "2600"]
[BlackElo "2500"]
[Date "1960.01.01"]
[Result "1-0"]

1. e4 e5 1-0

[White "Tal,M"]
[Black "Tal, Mikhail"]
[Date "1960.01.01"]
[Result "1/2-1/2"]

1. d4 d5 1/2-1/2

[White "Keres, Paul"]
[Black "Tal,M"]
[Date "1961.01.01"]
[Result "*"]

1. d4 d5 *
"#;

#[test]
fn a_game_against_oneself_counts_once_and_for_both_sides() {
    let workspace = Workspace::for_command(&["player", "games.db"]).indexed(AGAINST_ONESELF);
    let counts = |record: &serde_json::Value| {
        let fields = ["games", "wins", "draws", "losses", "unfinished"];
        fields.map(|field| record[field].as_u64().expect("a number"))
    };
    let merge = ["players", "games.db", "--merge", "Tal, Mikhail", "Tal,M"];
    for is_merged in [false, true] {
        if is_merged {
            assert_eq!(workspace.run(&merge).status, 0);
        }
        let name = if is_merged { "=Tal, Mikhail" } else { "tal" };
        let answer = crate::workspace::json(&workspace.stdout_of(&[name, "--format", "json"]));
        assert_eq!(counts(&answer["all"]), [3, 1, 2, 1, 1], "{is_merged}");
        assert_eq!(counts(&answer["white"]), [2, 1, 1, 0, 0]);
        assert_eq!(counts(&answer["black"]), [3, 0, 1, 1, 1]);
        assert_eq!((&answer["white"]["rating"], &answer["black"]["rating"]), (&2600.into(), &2500.into()));
        assert_eq!(counts(&answer["years"][0]), [2, 1, 2, 1, 0]);
        let listed = answer["players"].as_array().expect("players").iter();
        let sides = |name| listed.clone().map(|player| player[name].as_u64().expect("a number")).sum::<u64>();
        assert_eq!((sides("as_white"), sides("as_black")), (2, 3));
    }
    let alone = workspace.json(&["=Keres, Paul"]);
    assert_eq!((counts(&alone["all"]), counts(&alone["white"])), ([1, 0, 0, 0, 1], [1, 0, 0, 0, 1]));
}
