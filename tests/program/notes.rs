//! Notes beside the answer: why it is empty, what was left out, which players a name matches.

use std::fs;
#[cfg(target_os = "linux")]
use std::io::Write as _;

use crate::command::Run;
#[cfg(target_os = "linux")]
use crate::support::Mount;
use crate::workspace::{Workspace, run_with_input};

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
/// Two players with the same surname, and a similar name with many more games.
fn club() -> String {
    let names = [("Polgar, Judit", 3), ("Polgar, Zsuzsa", 2), ("Kortschnoj, Viktor", 9), ("Korchnoi,V", 1)];
    let games = names.into_iter().flat_map(|(name, games)| (1..=games).map(move |round| (name, round)));
    let game = |(name, round)| {
        format!(
            "[Round \"{round}\"]\n[White \"{name}\"]\n[Black \"Other, O\"]\n[Date \"2001.01.0{round}\"]\n\n1. e4 e5 1-0\n\n"
        )
    };
    games.map(game).collect()
}

/// Standard output and standard error of a run with status 0.
fn outputs(workspace: &Workspace, arguments: &[&str]) -> (String, String) {
    let Run { status, stdout, stderr } = workspace.run(arguments);
    assert_eq!(status, 0, "{arguments:?}: {stderr}");
    (stdout, stderr)
}

/// Standard error of a run with status 2.
fn usage_error(workspace: &Workspace, arguments: &[&str]) -> String {
    let Run { status, stderr, .. } = workspace.run(arguments);
    assert_eq!(status, 2, "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn games_between_two_matching_names_are_reported() {
    let games =
        "[White \"Tal, M\"]\n[Black \"Tal, J\"]\n\n1-0\n\n[White \"Tal, M\"]\n[Black \"Other\"]\n\n1-0\n";
    let workspace = Workspace::new().indexed(games);
    let (_, reported) = outputs(&workspace, &["player", "games.db", "tal"]);
    assert!(
        reported.contains("note: 1 game between two of these players: counted twice, once for each player\n"),
        "{reported}"
    );
    let (_, reported) = outputs(&workspace, &["player", "games.db", "=Tal, M"]);
    assert!(!reported.contains("between"), "{reported}");
}

#[test]
fn an_empty_tree_is_explained() {
    let workspace = Workspace::new().indexed(FAMOUS);
    for format in ["table", "json", "dot", "csv"] {
        let (_, reported) = outputs(
            &workspace,
            &["explore", "games.db", "--depth", "3", "--least-share", "60", "--format", format],
        );
        assert_eq!(
            reported,
            "pgndex: note: no move has a share of 60 % or more of the games; a lower --least-share shows more moves\n"
        );
    }
    let (table, _) = outputs(&workspace, &["explore", "games.db", "--depth", "3", "--least-share", "60"]);
    assert!(table.starts_with("53 games: "), "{table}");
    let workspace = Workspace::new().indexed("[White \"a\"]\n[Result \"1-0\"]\n\n1-0\n");
    let (table, reported) = outputs(&workspace, &["explore", "games.db", "--depth", "3"]);
    assert!(table.starts_with("1 game: "), "{table}");
    assert_eq!(reported, "pgndex: note: no move was played from this position: 1 game ended here\n");
}

#[test]
fn a_cut_tree_has_the_most_frequent_moves() {
    let options = [
        "a3 a4 h3",
        "a6 a5 h6",
        "b3 b4 g3",
        "b6 b5 g6",
        "c3 c4 d3",
        "c6 c5 d6",
        "e3 e4 f3 f4",
        "e6 e5 f6 f5",
    ];
    let mut lines = vec![String::new()];
    for (ply, moves) in options.iter().enumerate() {
        let number = if ply % 2 == 0 { format!("{}. ", ply / 2 + 1) } else { String::new() };
        let longer = |line: &String| -> Vec<String> {
            moves.split(' ').map(|san| format!("{line}{number}{san} ")).collect()
        };
        lines = lines.iter().flat_map(longer).collect();
    }
    let main = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 1-0\n\n";
    let games: String = lines.iter().map(|line| format!("{line}1-0\n\n")).collect();
    let workspace = Workspace::new().indexed(&(games + &main.repeat(3)));
    let (csv, reported) = outputs(
        &workspace,
        &["explore", "games.db", "--depth", "30", "--least-share", "0", "--format", "csv"],
    );
    assert_eq!(csv.lines().count(), 10_001);
    assert!(csv.lines().any(|line| line.starts_with("20,")), "the main line goes on to its end");
    assert!(reported.contains("these are the most frequent ones, up to 20 half-moves deep"), "{reported}");
}

#[test]
fn a_tree_of_one_side_names_its_columns() {
    let workspace = Workspace::new().indexed(FAMOUS);
    let (table, _) = outputs(&workspace, &["explore", "games.db", "--depth", "2", "--side", "white"]);
    let head = table.lines().next().unwrap_or_default();
    assert!(head.contains("opponents  performance") && !head.contains("elo"), "{head}");
}

#[test]
fn the_lines_of_a_player_are_limited() {
    let white = "a3 a4 b3 b4 c4 d3 d4 e3 e4 f4 g3 g4 h3 h4";
    let black = "a6 a5 b6 b5 c5 d6 d5 e6 e5 f5 g6 g5 h6 h5";
    let mut pgn = String::new();
    for (first, reply) in white.split(' ').flat_map(|first| black.split(' ').map(move |reply| (first, reply)))
    {
        for tail in ["Nc3 Nc6 Nb1 Nb8 ", "Nf3 Nf6 Ng1 Ng8 "] {
            let game = format!("[White \"Walker, W\"]\n\n1. {first} {reply} {}1-0\n\n", tail.repeat(9));
            pgn += &game.repeat(2);
        }
    }
    let workspace = Workspace::new().indexed(&pgn);
    let record = ["player", "games.db", "walker", "--depth", "38", "--least-share", "0"];
    let (json, reported) = outputs(&workspace, &[&record[..], &["--format", "json"]].concat());
    assert_eq!(json.matches("\"transposes_to\"").count(), 10_000);
    assert!(
        reported.contains("the lines have more moves than can be shown: these are the most frequent ones"),
        "{reported}"
    );
}

#[test]
fn unreadable_words_end_a_line_of_a_repertoire() {
    let workspace = Workspace::new().indexed("1. e4 e5 2. Nf3 Nc6 1-0\n");
    let compare = |text: &str| {
        let run = run_with_input(
            workspace.command(&["repertoire", "games.db", "-", "--side", "white", "--format", "csv"]),
            text,
        );
        (run.status, run.stdout + &run.stderr)
    };
    let (status, reported) = compare("1. e4\nzzz 2. d5 exd5\n");
    assert_eq!(status, 0, "{reported}");
    assert!(
        reported.contains("standard input:2: game 1, 1... zzz: not readable as a move in "),
        "{reported}"
    );
    assert!(reported.contains("w,1,,1. e4,"), "{reported}");
    let (status, reported) = compare("1. е4 c5\n");
    assert_eq!(status, 1, "{reported}");
    assert!(reported.contains("standard input:1: game 1, 1. е4: not readable as a move in "), "{reported}");
    // Signs of annotators, such as `N`, do not end a line of the repertoire.
    let (status, reported) = compare("[Event \"a\x01\"]\n\n1. e4 N e5 , 2. Nf3 *\n");
    assert_eq!(status, 0, "{reported}");
    assert!(reported.contains(",1. e4 e5 2. Nf3,"), "{reported}");
    assert!(!reported.contains("not readable"), "{reported}");
}

#[test]
fn lines_from_a_set_up_are_printed_below_its_fen() {
    let fen = "8/8/8/8/4k3/8/4P3/4K2R b K - 3 40";
    let pgn = format!("1. e4 e5 *\n\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n40... Kd4 *\n");
    let workspace = Workspace::new().indexed("1. e4 e5 2. Nf3 Nc6 1-0\n").with("mine.pgn", pgn);
    let command = ["repertoire", "games.db", "mine.pgn", "--side", "white"];
    let (table, _) = outputs(&workspace, &command);
    assert_eq!(table.matches(&format!("\nFrom {fen}:\n")).count(), 1, "{table}");
    let (csv, _) = outputs(&workspace, &[&command[..], &["--format", "csv"]].concat());
    assert!(csv.lines().nth(1).is_some_and(|line| line.ends_with(',')), "{csv}");
    assert!(csv.lines().nth(2).is_some_and(|line| line.ends_with(fen)), "{csv}");
}

#[test]
fn exports_do_not_replace_the_source_files() {
    let workspace = Workspace::new();
    workspace.write("own.pgn", "1. e4 e5 1-0\n");
    workspace.write("other.pgn", "1. d4 d5 1-0\n");
    workspace.index("games.db", &workspace.path("own.pgn"));
    for format in ["csv", "fen", "epd", "csv-positions"] {
        let run =
            workspace.run(&["export", "games.db", "--format", format, "-o", "other.pgn", "--overwrite"]);
        assert!(run.status == 1 && run.stderr.contains(": a PGN file"), "{format}: {}", run.stderr);
    }
    let mut paths = vec!["own.pgn"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(workspace.path("own.pgn"), workspace.path("link.pgn")).expect("a link");
        paths.push("link.pgn");
    }
    for path in paths {
        let run = workspace.run(&["export", "games.db", "--format", "pgn", "-o", path, "--overwrite"]);
        assert!(run.status == 1 && run.stderr.contains("which is never replaced"), "{path}: {}", run.stderr);
    }
    assert_eq!(std::fs::read_to_string(workspace.path("own.pgn")).expect("the games"), "1. e4 e5 1-0\n");
    outputs(&workspace, &["export", "games.db", "--format", "pgn", "-o", "other.pgn", "--overwrite"]);
}

#[test]
fn a_dash_means_standard_output() {
    let workspace = Workspace::new().indexed(FAMOUS);
    for arguments in [&["export", "games.db", "--format", "csv"][..], &["player", "games.db", "lasker"]] {
        let (alone, _) = outputs(&workspace, arguments);
        assert_eq!(outputs(&workspace, &[arguments, &["-o", "-"]].concat()).0, alone);
    }
    assert!(!workspace.path("-").exists());
    assert!(
        workspace
            .stderr_of(2, &["explore", "games.db", "--svg", "-"])
            .contains("the answer goes to standard output")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_named_and_leaves_no_picture() {
    let workspace = Workspace::new().indexed(FAMOUS);
    for arguments in
        [&["explore", "games.db"][..], &["game", "games.db", "1"], &["key", "8/8/8/4k3/8/4K3/4P3/8 w - -"]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let mut command = workspace.command(&[arguments, &["--svg", "a.svg"]].concat());
        let output =
            command.stdout(full).stderr(std::process::Stdio::piped()).output().expect("the program runs");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{reported}");
        assert!(reported.contains("standard output: cannot write"), "{reported}");
        assert!(!workspace.path("a.svg").exists(), "{arguments:?}");
    }
}

#[test]
fn a_name_of_several_players_is_reported_everywhere() {
    let workspace = Workspace::new().indexed(&club()).with("mine.pgn", "1. e4 e5 *\n");
    let fits = "matches 2 players: \"Polgar, Judit\" (3), \"Polgar, Zsuzsa\" (2); to choose one, give it exactly: \"=Polgar, Judit\"\n";
    for arguments in [
        &["find", "games.db"][..],
        &["explore", "games.db"],
        &["explore", "games.db", "--format", "json"],
        &["explore", "games.db", "--side", "white"],
        &["export", "games.db", "--format", "csv"],
        &["repertoire", "games.db", "mine.pgn", "--side", "white"],
    ] {
        let (_, reported) = outputs(&workspace, &[arguments, &["--player", "polgar"]].concat());
        assert_eq!(reported, format!("pgndex: note: --player {fits}"), "{arguments:?}");
        let (_, reported) = outputs(&workspace, &[arguments, &["--player", "=Polgar, Judit"]].concat());
        assert_eq!(reported, "", "{arguments:?}");
    }
    let reported =
        usage_error(&workspace, &["remove", "games.db", "--games", "--dry-run", "--player", "polgar"]);
    assert!(reported.starts_with(&format!("pgndex: note: --player {fits}")), "{reported}");
    let (_, reported) = outputs(&workspace, &["player", "games.db", "polgar"]);
    assert_eq!(reported, format!("pgndex: note: the name {fits}"));
    // A merged spelling does not count as another player.
    outputs(&workspace, &["players", "games.db", "--merge", "=Polgar, Judit", "=Polgar, Zsuzsa"]);
    assert_eq!(outputs(&workspace, &["find", "games.db", "--player", "polgar"]).1, "");
}

#[test]
fn an_exact_name_gets_no_note() {
    let workspace = Workspace::new().indexed(&club());
    assert!(outputs(&workspace, &["player", "games.db", "korchnoi"]).1.contains("--merge"));
    assert_eq!(outputs(&workspace, &["player", "games.db", "=Korchnoi,V"]).1, "");
}

#[test]
fn wrong_arguments_are_reported_with_a_correction() {
    let workspace = Workspace::new().indexed(FAMOUS);
    let reported = usage_error(&workspace, &["find", "games.db", "--limit", "-3"]);
    assert!(reported.contains("too small; the minimum is 0"), "{reported}");
    let reported = usage_error(&workspace, &["explore", "games.db", "--depth", "3", "--least-share", "-1"]);
    assert!(reported.contains("too small; the minimum is 0"), "{reported}");
    let reported = usage_error(&workspace, &["player", "games.db", "fischer", "--side", "white"]);
    assert!(
        reported.contains(
            "tip: for games with White, add '--white NAME'; for games with Black, add '--black NAME'\n"
        ),
        "{reported}"
    );
    assert!(!reported.contains("similar") && !reported.contains("--site"), "{reported}");
    let reported = usage_error(&workspace, &["explore", "games.db", "--versus", "--since", "2020"]);
    assert!(reported.contains("put the filters of --versus in quotes"), "{reported}");
    let reported = usage_error(&workspace, &["export", "games.db", "--format", "pgn", "--fen", "--ply", "3"]);
    assert!(
        reported.contains("tip: --fen takes a position; to write positions as FEN, use --format fen"),
        "{reported}"
    );
    for (arguments, expected) in [
        (&["remove", "--games", "--player", "tal"][..], "\n  <DB>\n"),
        (&["remove", "games.db", "--games", "--sql", "SELECT 1"], "cannot be used with"),
        (
            &["export", "games.db", "-f", "pgn", "--sql", "SELECT 1", "--player", "tal"],
            "'--sql <QUERY>' cannot be used with '--player <NAME>'\n",
        ),
        (&["players", "games.db", "--suggest", "--json"], "cannot be used with"),
        (&["players", "games.db", "--suggest", "--limit", "3"], "cannot be used with"),
        (&["players", "games.db", "--export-aliases", "--sort", "name"], "cannot be used with"),
        (&["sql", "SELECT 1"], "the database comes first: pgndex sql games.db \"SELECT 1\""),
        (&["key", "1.", "e4", "e5"], "these are moves, not a FEN; use --moves \"1. e4 e5\""),
        (&["find", "games.db", "--fen", "https://lichess.org/abcdefgh"], "the address contains no FEN"),
        (&["game", "games.db", "5-1"], "the range is reversed; write 1-5"),
        (&["game", "games.db", "1,2"], "separate numbers with spaces: 1 2"),
        (
            &["find", "games.db", "--player", "karpov", "--side", "white"],
            "use '--white NAME' or '--black NAME'",
        ),
        (&["verify", "games.db", "--quick"], "use '--sample 100 --no-sources'"),
        (&["index", "@list.txt"], "the database comes first: 'pgndex index games.db @list.txt'"),
        (
            &["index", "games.db", "--drop-missing"],
            "not provided:\n  --reread\n\n  tip: to read all files again: 'pgndex index --reread --drop-missing games.db'",
        ),
        (&["find", "games.db", "--since", "2021-13"], "there is no such month; write 01 to 12"),
        (&["game", "1", "games.db"], "the database comes first, as in 'pgndex game games.db 42'"),
        (
            &["find", "games.db", "--move", "x", "--ply", "abc"],
            "not a ply or a range of plies; write 20, 20-40, -40 or 60-",
        ),
        (&["index", "new.db", "games.pgn", "--memory", "1K"], "too small; the minimum is 1M (a number"),
    ] {
        let reported = usage_error(&workspace, arguments);
        assert!(reported.contains(expected), "{arguments:?}: {reported}");
    }
    let reported = usage_error(&workspace, &["explore", "games.db", "--moves", "1... e5"]);
    assert!(reported.contains("the text begins with a move of Black"), "{reported}");
}

#[test]
fn games_given_instead_of_the_database_are_reported() {
    let workspace = Workspace::new();
    fs::write(workspace.path("new.pgn"), "1. e4 *\n").unwrap();
    let Run { status, stderr, .. } = workspace.run(&["index", "new.pgn", "games.db"]);
    assert_eq!(status, 1);
    assert_eq!(
        stderr,
        "pgndex: error: new.pgn: not a database; the database comes first, as in `pgndex index games.db new.pgn`\n"
    );
    assert_eq!(fs::read(workspace.path("new.pgn")).unwrap(), b"1. e4 *\n");
}

#[test]
fn an_unknown_option_is_reported_with_a_hint() {
    let workspace = Workspace::new().with("games.pgn", FAMOUS);
    for (arguments, tip) in [
        (&["find", "games.db", "--csv"][..], "use '--format csv'"),
        (&["find", "games.db", "--table"], "use '--format table'"),
        (&["find", "games.db", "--ndjson"], "use '--format json'"),
        (&["explore", "games.db", "--dot"], "use '--format dot'"),
        (&["player", "games.db", "tal", "--html"], "use '--format html'"),
        (&["export", "games.db", "--pgn"], "use '--format pgn'"),
        (&["export", "games.db", "--csv-positions", "--sample", "3"], "use '--format csv-positions'"),
        (&["players", "games.db", "--jsonl"], "use '--format json'"),
        (&["explore", "games.db", "-1"], "'pgndex explore --help' lists the options"),
        (&["find", "games.db", "Fischer"], "for games of a player, use '--player \"Fischer\"'"),
        (&["explore", "games.db", "1. e4"], "put the moves in quotes: '--moves \"1. e4\"'"),
        (&["find", "games.db", "--moves", "e4", "e5"], "put the moves in quotes: '--moves \"e4 e5\"'"),
        (&["explore", "games.db", "e5"], "put the moves in quotes: '--moves \"e5\"'"),
        (
            &["find", "games.db", "8/8/8/8/8/4k3/4p3/4K3", "w"],
            "give the FEN with --fen, and in quotes: '--fen \"8/8/8/8/8/4k3/4p3/4K3 w\"'",
        ),
        (&["export", "games.db", "--format", "pgn", "tal.pgn"], "use '--output tal.pgn'"),
        (&["find", "games.db", "--year", "1972"], "use '--since 1972 --until 1972'"),
        (&["find", "games.db", "--date", "1972"], "use '--since 1972 --until 1972'"),
        (&["find", "games.db", "--ending", "KRPKR"], "give pieces with --material, as in --material KRPvKR"),
        (
            &["export", "games.db", "--game", "7", "--format", "pgn"],
            "print one game with 'pgndex game DB N --format pgn'; choose several with --sql",
        ),
        (
            &["sql", "games.db", "SELECT 1", "--output", "x.csv"],
            "write '> x.csv' at the end, or '.output x.csv' before the statement",
        ),
        (&["sql", "games.db", "-csv", "SELECT 1"], "use '--format csv'"),
        (&["sql", "games.db", "--csv", "SELECT 1"], "use '--format csv'"),
        (&["sql", "games.db", "-c", "SELECT 1"], "'pgndex sql --help' lists the options"),
        (
            &["find", "games.db", "--fen", "8/8/8/4k3/8/4K3/4P3/8", "w", "-", "-", "--limit", "3"],
            "a FEN with spaces needs quotes: '--fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\"'",
        ),
        (&["explore", "games.db", "1.", "e4"], "put the moves in quotes: '--moves \"1. e4\"'"),
        (&["find", "games.db", "--from", "1972"], "use '--since 1972'"),
        (&["find", "games.db", "--ECO", "B90"], "use '--eco'"),
        (&["find", "games.db", "--output", "x.csv"], "write '> x.csv' at the end"),
        (
            &["find", "games.db", "--count"],
            "the number of games is on the last line of 'pgndex find' with the same filters",
        ),
        (&["export", "games.db", "-Wfen"], "use '--format FORMAT'"),
        (&["serve", "games.db", "--port", "80"], "use '--listen 127.0.0.1:80'"),
        (&["serve", "games.db", "--port", "99999"], "use '--listen 127.0.0.1:PORT'"),
        (&["serve", "games.db", "-p80"], "use '--listen 127.0.0.1:80'"),
        (
            &["index", "a.pgn", "-o", "x.db"],
            "the database needs no option; it comes first: 'pgndex index x.db'",
        ),
        (
            &["index", "a.pgn", "--db", "x.db"],
            "the database needs no option; it comes first: 'pgndex index x.db'",
        ),
        (&["version"], "'pgndex --version' prints the version"),
        (&["game", "1"], "the database comes first: 'pgndex game games.db 1'"),
        (&["player", "Max Euwe"], "the database comes first: 'pgndex player games.db \"Max Euwe\"'"),
        (&["index", "games.pgn"], "the database comes first: 'pgndex index games.db games.pgn'"),
        (&["index", "."], "the database comes first: 'pgndex index games.db .'"),
        (&["remove", "games.db", "--game", "5"], "to remove a game by its number, use '--sql \"SELECT 5\"'"),
        (
            &["find", "games.db", "--ending", "rook", "--then", "R8#"],
            "--then takes no value and comes before the next description: '--then --move \"R8#\"'",
        ),
        (&["find", "games.db", "--elo", "2500"], "use '--elo-min N', '--elo-max N' or both"),
        (&["import", "games.db", "a.pgn"], "did you mean 'pgndex index'?"),
        (&["verfy", "games.db"], "a similar subcommand exists: 'verify'"),
        (&["find", "games.db", "--name", "tal"], "use '--player NAME'"),
        (
            &["sql", "games.db", ".schema", "games"],
            "a statement with spaces needs quotes: \"SELECT 1\" or \".schema games\"",
        ),
        (&["remove", "games.db", "--games"], "'pgndex remove --help' lists all filters"),
        (&["info", "games.db", "--qqqqq"], "'pgndex info --help' lists the options"),
        (&["index", "games.db", "a.pgn", "--xyz"], "'pgndex index --help' lists the options"),
        (&["verify", "games.db", "--csv"], "'pgndex verify --help' lists the options"),
        (&["find", "games.db", "--limt", "3"], "a similar argument exists: '--limit'"),
        (&["index", "games.db", "a.pgn", "--eco", "a.tsv"], "give names of openings with --openings FILE"),
        (
            &["export", "games.db", "--fen"],
            "--fen takes a position; to write positions as FEN, use --format fen",
        ),
    ] {
        let reported = usage_error(&workspace, arguments);
        assert_eq!(reported.matches("tip: ").count(), 1, "{arguments:?}: {reported}");
        assert!(reported.contains(&format!("tip: {tip}\n")), "{arguments:?}: {reported}");
        assert!(!reported.contains("as a value"), "{arguments:?}: {reported}");
    }
}

/// The commands with JSON among their formats accept `--json` too, and so do all others that can print JSON.
#[test]
fn all_commands_have_the_same_option_for_json() {
    let workspace = Workspace::new().indexed(FAMOUS).with("mine.pgn", "1. e4 e5 2. Nf3 *\n");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for arguments in [
        &["find", "games.db", "--player", "fischer"][..],
        &["explore", "games.db", "--moves", "e4"],
        &["game", "games.db", "1"],
        &["info", "games.db"],
        &["player", "games.db", "fischer"],
        &["players", "games.db"],
        &["repertoire", "games.db", "mine.pgn", "--side", "white"],
        &["sql", "games.db", "SELECT 1 AS one"],
        &["key", start],
    ] {
        let short = outputs(&workspace, &[arguments, &["--json"]].concat());
        assert_eq!(short, outputs(&workspace, &[arguments, &["--format", "json"]].concat()), "{arguments:?}");
        assert_eq!(short, outputs(&workspace, &[arguments, &["-f", "json"]].concat()), "{arguments:?}");
        assert!(short.0.starts_with(['{', '[']), "{}", short.0);
        let both = usage_error(&workspace, &[arguments, &["--json", "--format", "table"]].concat());
        assert!(both.contains("cannot be used with"), "{both}");
    }
    for arguments in [
        &["index", "games.db", "mine.pgn"][..],
        &["index", "--dry-run", "mine.pgn"],
        &["remove", "games.db", "--source", "mine.pgn"],
        &["optimize", "games.db"],
        &["backup", "games.db", "copy.db"],
        &["repair", "games.db"],
        &["verify", "games.db"],
    ] {
        let (object, reported) = outputs(&workspace, &[arguments, &["--json"]].concat());
        assert!(object.starts_with('{') && object.lines().count() == 1, "{arguments:?}: {object}");
        assert_eq!(reported, "", "{arguments:?}");
    }
}

#[test]
fn empty_results_have_the_right_explanation() {
    let workspace = Workspace::new().indexed(FAMOUS).with("mine.pgn", "1. e4 e5 *\n");
    let reported = |arguments: &[&str]| outputs(&workspace, arguments).1;
    assert!(
        reported(&["export", "games.db", "--format", "csv-positions", "--evaluated"])
            .contains("no position matches")
    );
    assert!(
        reported(&["export", "games.db", "--format", "fen", "--ply", "500-"]).contains("no position matches")
    );
    let command = ["repertoire", "games.db", "mine.pgn", "--side", "white", "--since", "2030"];
    assert!(reported(&command).contains("no game passes the filters"));
    for (arguments, expected) in [
        (&["find", "games.db", "--since", "2050"][..], "note: the games in the database are from 1"),
        (
            &["export", "games.db", "-f", "PGN", "--until", "1500"],
            "note: the games in the database are from 1",
        ),
        (&["find", "games.db", "--elo-min", "2500"], "note: no game has the ratings of both players\n"),
        (&["explore", "games.db", "--variant", "x"], "note: no game has the tag Variant\n"),
        (&["find", "games.db", "--speed", "blitz"], "note: no game has a known speed, "),
        (&["find", "games.db", "--with-evals"], "note: no game has evaluations: "),
        (
            &["explore", "games.db", "--moves", "1. e4 e5 2. Ke2 Ke7"],
            "the position after 1. e4 e5; no game continued",
        ),
        (&["find", "games.db", "--player", "=nobody"], "no player has a name that matches \"=nobody\""),
        (&["find", "games.db", "--player", "zz"], "matches \"zz\" (--player)\n"),
        (&["find", "games.db", "--opening", "sicilan"], "did you mean \"Sicilian Defense\""),
    ] {
        assert!(reported(arguments).contains(expected), "{arguments:?}: {}", reported(arguments));
    }
    let unknown = reported(&["find", "games.db", "--white", "nobody"]);
    assert!(unknown.contains("no player has a name that matches \"nobody\" (--white)"), "{unknown}");
    let rated = Workspace::new().indexed("[WhiteElo \"2700\"]\n[BlackElo \"2650\"]\n\n1. e4 1-0\n");
    for (option, elo, expected) in [
        ("--elo-min", "2800", "highest value that matches a game is 2650"),
        ("--elo-max", "2600", "lowest value that matches a game is 2700"),
    ] {
        let (_, note) = outputs(&rated, &["find", "games.db", option, elo]);
        assert!(note.contains(&format!("{option} applies to both players; the {expected}\n")), "{note}");
    }
    let empty = Workspace::new().indexed("");
    assert_eq!(outputs(&empty, &["explore", "games.db"]).1, "pgndex: note: the database has no games\n");
    let shuffled = Workspace::new()
        .indexed("[SetUp \"1\"]\n[FEN \"8/8/8/8/4k3/8/4P3/4K2R b K - 3 40\"]\n\n40... Kd4 1-0\n");
    assert!(outputs(&shuffled, &["explore", "games.db"]).1.contains("all games start from set-up positions"));
}

#[test]
fn a_name_of_any_length_leaves_tables_readable() {
    let long = "x".repeat(10_000);
    let workspace =
        Workspace::new().indexed(&format!("[White \"{long}\"]\n[Event \"{long}\"]\n\n1. e4 e5 1-0\n"));
    for command in ["find", "explore", "players"] {
        let (table, _) = outputs(&workspace, &[command, "games.db"]);
        assert!(table.lines().all(|line| line.chars().count() < 300), "{command}: {table}");
    }
    assert!(outputs(&workspace, &["find", "games.db", "--format", "csv"]).0.contains(&long[..900]));
    let narrow =
        workspace.command(&["find", "games.db"]).env("COLUMNS", "80").output().expect("the program runs");
    let table = String::from_utf8_lossy(&narrow.stdout);
    assert!(table.contains('…') && table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[cfg(unix)]
#[test]
fn a_limit_of_file_size_is_an_error_that_names_the_file() {
    let workspace = Workspace::new()
        .indexed(&FAMOUS.replace("\n\n[Event", " {comment}\n\n[Event"))
        .with("other.pgn", FAMOUS);
    let shell = |line: &str| {
        let mut command = std::process::Command::new("bash");
        command.current_dir(workspace.directory()).args(["-c", &format!("ulimit -f 1; {line}")]);
        let output = command.env("PGNDEX", env!("CARGO_BIN_EXE_pgndex")).output().expect("bash runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (work, needed) in [
        ("export games.db -f pgn -o out.pgn", "more than"),
        ("index new.db games.pgn", "about"),
        ("index --duplicates keep games.db games.pgn other.pgn", "about"),
        ("remove games.db --games --result 1-0", "up to"),
        ("remove games.db --shrink", "up to"),
        ("optimize games.db", "up to"),
        ("repair games.db", "about"),
    ] {
        let (status, reported) = shell(&format!("\"$PGNDEX\" {work}"));
        let expected = format!(": a file of this size is not allowed here ({needed} ");
        assert!(status == Some(1) && reported.contains(&expected), "{work}: {reported}");
        assert!(reported.contains("iB is needed"), "{work}: {reported}");
    }
    let (status, reported) = shell("\"$PGNDEX\" export games.db -f pgn > out.txt");
    assert!(status == Some(1) && reported.contains("standard output: cannot write"), "{reported}");
    assert_eq!(workspace.names(), ["games.db", "games.pgn", "other.pgn", "out.txt"]);
}

#[test]
fn archives_are_not_written() {
    let workspace = Workspace::new().indexed(FAMOUS);
    for (name, end) in [("games.csv.gz", ".gz"), ("games.csv.ZST", ".zst"), ("games.zip", ".zip")] {
        let reported = workspace.failure(&["export", "games.db", "--format", "csv", "--output", name]);
        let expected = format!(
            "{name}: cannot write compressed files; leave out {end}, and compress the file afterwards"
        );
        assert!(reported.contains(&expected), "{reported}");
    }
    assert_eq!(workspace.names(), ["games.db", "games.pgn"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_of_the_help_is_an_error() {
    for words in ["--help", "--version", "find --help"] {
        let line = format!("{} {words} > /dev/full", env!("CARGO_BIN_EXE_pgndex"));
        let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh runs");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && reported.contains("standard output: cannot write"),
            "{words}: {reported}"
        );
    }
}

#[test]
fn tables_are_ascii_in_an_ascii_locale() {
    let valued = "[White \"a\"]\n\n1. e4 {[%eval 0.2]} e5 {[%eval 0.3]} 2. Nf3 {[%eval 0.1]} 1-0\n\n";
    let workspace =
        Workspace::new().indexed(&(valued.to_owned() + FAMOUS)).with("mine.pgn", "1. e4 e5 (1... c5) *\n");
    for arguments in [
        &["game", "games.db", "1"][..],
        &["explore", "games.db"][..],
        &["find", "games.db", "--player", "fischer"],
        &["player", "games.db", "fischer"],
        &["repertoire", "games.db", "mine.pgn", "--side", "white", "--games", "0"],
        &["info", "games.db"],
        &["sql", "games.db", "SELECT 1 AS a", "--format", "box"],
    ] {
        let output = workspace.command(arguments).env("LC_ALL", "C").output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let drawn = |letter: char| !letter.is_ascii() && !letter.is_alphabetic();
        assert!(output.status.success() && !text.contains(drawn), "{arguments:?}: {text}");
    }
}

/// The directory of the database is the mount point of a small disk. The free space of other disks does not matter.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_its_free_space() {
    let workspace = Workspace::new().with("games.pgn", FAMOUS);
    let Some(disk) = Mount::new(workspace.path("disk"), "24m") else { return };
    workspace.index("disk/games.db", std::path::Path::new("games.pgn"));
    workspace.index("games.db", std::path::Path::new("games.pgn"));
    std::fs::copy(workspace.path("games.pgn"), disk.0.join("games.pgn")).expect("copied");
    let other = FAMOUS.replace("\n\n[Event", " {comment}\n\n[Event");
    std::fs::write(workspace.path("other.pgn"), other.repeat(20)).expect("written");
    std::os::unix::fs::symlink("disk/games.db", workspace.path("link.db")).expect("linked");
    // Fills the disk.
    let mut fill = std::fs::File::create(disk.0.join("fill")).expect("a file");
    let piece = [0; 4096];
    while fill.write_all(&piece).is_ok() {}
    for work in [
        "index disk/new.db games.pgn",
        "index ./disk/new.db games.pgn",
        "index --duplicates keep link.db other.pgn",
        "index --duplicates keep disk/games.db other.pgn",
        "backup games.db disk/copy.db",
        "export games.db --format pgn --output disk/out.pgn",
        "export games.db --format csv-positions --output disk/out.csv",
        "optimize disk/games.db",
        "repair disk/games.db",
        "remove disk/games.db --games --result 1-0",
        "remove disk/games.db --shrink",
        "explore games.db --svg disk/board.svg",
        "player games.db fischer --format html --output disk/fischer.html",
    ] {
        let run = workspace.run(&work.split(' ').collect::<Vec<_>>());
        let reported = run.stderr.as_str();
        assert!(run.status == 1 && reported.contains("no space left"), "{work}: {reported}");
        for (at, _) in reported.match_indices(" MiB is free") {
            let digits = reported[..at].rsplit(|letter: char| !letter.is_ascii_digit()).next();
            let free: u64 = digits.and_then(|free| free.parse().ok()).expect("a number");
            assert!(free < 24, "{work}: {reported}");
        }
    }
}

#[test]
fn unknown_dates_are_not_the_latest() {
    let game = |date: &str| format!("[Date \"{date}\"]\n\n1. e4 *\n\n");
    let text: String =
        ["????.??.??", "2024.??.??", "2024.05.01", "2023.??.??", "0000.??.??"].map(game).concat();
    let workspace = Workspace::new().indexed(&text);
    let run = workspace.run(&["find", "games.db", "--since", "2050"]);
    assert!(
        run.stderr.contains("note: the games in the database are from 2023.??.?? to 2024.05.01"),
        "{}",
        run.stderr
    );
    let years = &workspace.json(&["info", "games.db"])["years"];
    assert_eq!(years, &serde_json::json!({"2023": 1, "2024": 2}));
}
