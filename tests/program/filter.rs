//! The options that select games, in every command that has them, compared with plain SQL.

use std::collections::BTreeSet;

use crate::needs::part_of_corpus;
use crate::workspace::{Workspace, json};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Names that match several players, and one player on both sides; time controls of all kinds. The first clock of a
/// game shows that a small base time is in seconds, not in minutes.
const GAMES: [(&str, &str, &str, &str); 8] = [
    ("Polgar, Judit", "Polgar, Sofia", "Paris FRA|180+2|Normal", "1. e4 e5 2. Nf3 1-0"),
    ("Polgar, Sofia", "Anand, V", "Linares ESP|600|Time forfeit", "1. d4 d5 0-1"),
    ("Anand, V", "Polgar, Judit", "Paris|60+0|normal", "1. e4 {[%clk 0:01:00]} c5 2. Nf3 d6 3. d4 1/2-1/2"),
    ("Anand, V", "Anand, V", "?|-|?", "1. e4 c5 *"),
    ("Short, N", "Anand, V", "?|?|?", "1. c4 *"),
    ("Kasparov, G", "Short, N", "London|15+0|Abandoned", "1. e4 {[%clk 0:00:15]} e5 1-0"),
    ("Anand, V", "Anand, Akhil", "New Paris|5400+30|rules infraction", "1. e4 c6 1-0"),
    ("Kasparov, G", "Anand, Akhil", "https://lichess.org/abcdefgh|1/86400|Normal", "1. e4 c5 2. c3 0-1"),
];

fn sample() -> Workspace {
    let game = |(white, black, rest, moves): &(&str, &str, &str, &str)| {
        let rest: Vec<_> = rest.split('|').collect();
        let result = moves.rsplit(' ').next().expect("a result");
        format!(
            "[Site \"{}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n[TimeControl \"{}\"]\n\
             [Termination \"{}\"]\n\n{moves}\n\n",
            rest[0], rest[1], rest[2]
        )
    };
    Workspace::new().indexed(&GAMES.iter().map(game).collect::<String>())
}

fn ids(sample: &Workspace, sql: &str) -> BTreeSet<u64> {
    let connection = sample.connection("games.db");
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| row.get::<_, i64>(0)).expect("rows");
    rows.map(|row| row.expect("a number").cast_unsigned()).collect()
}

/// Asserts that each command finds the games that match a condition on the view `games`. Returns the number of games.
#[track_caller]
fn check_filter(sample: &Workspace, options: &[&str], condition: &str) -> usize {
    let expected = ids(sample, &format!("SELECT game_id FROM games WHERE {condition}"));
    let first = |text: &str| -> BTreeSet<u64> {
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().expect(line)).collect()
    };
    let exported = sample.run(&[&["export", "games.db", "--format", "csv"], options].concat());
    assert_eq!(exported.status, 0, "{options:?}: {}", exported.stderr);
    assert_eq!(first(&exported.stdout), expected, "export {options:?}");
    let at_start =
        format!("game_id IN (SELECT game_id FROM game_position WHERE ply = 0 AND fen = '{START}')");
    let expected_from_start =
        ids(sample, &format!("SELECT game_id FROM games WHERE ({condition}) AND {at_start}"));
    let command = ["find", "games.db", "--fen", START, "--limit", "0", "--format", "csv"];
    let found = sample.run(&[&command, options].concat());
    assert_eq!(first(&found.stdout), expected_from_start, "find {options:?}: {}", found.stderr);
    let command = ["explore", "games.db", "--fen", START, "--format", "json"];
    let explored = sample.run(&[&command, options].concat());
    let object = json(&explored.stdout);
    let counts =
        ["white", "draws", "black", "unfinished"].map(|name| object[name].as_u64().expect("a number"));
    assert_eq!(counts.iter().sum::<u64>(), expected_from_start.len() as u64, "explore {options:?}");
    expected.len()
}

#[test]
fn each_filter_agrees_with_plain_sql() {
    let sample = sample();
    let cases: [(&[&str], &str, usize); 25] = [
        (&["--speed", "blitz"], "speed = 'blitz'", 1),
        (&["--speed", "ULTRABULLET", "--speed", "rapid"], "time_control IN ('15+0', '600')", 2),
        (&["--speed", "correspondence"], "time_control IN ('-', '1/86400')", 2),
        (&["--speed", "bullet", "--speed", "classical"], "time_control IN ('60+0', '5400+30')", 2),
        (&["--time-control", "180+2"], "time_control = '180+2'", 1),
        (&["--time-control", "180"], "false", 0),
        // The same time control in another form.
        (&["--time-control", "600+0"], "time_control = '600'", 1),
        (&["--time-control", "60"], "time_control = '60+0'", 1),
        (&["--time-control", " 0180+2.0"], "time_control = '180+2'", 1),
        (&["--termination", "NORMAL"], "lower(termination) = 'normal'", 3),
        (&["--termination", "time forfeit"], "termination = 'Time forfeit'", 1),
        (&["--termination", "time"], "false", 0),
        (&["--opening", "sicilian"], "opening LIKE 'Sicilian Defense%'", 3),
        (&["--opening", "caro kann"], "opening LIKE 'Caro-Kann Defense%'", 1),
        (&["--opening", "caro-kann"], "opening LIKE 'Caro-Kann Defense%'", 1),
        (&["--opening", "=Sicilian Defense"], "opening = 'Sicilian Defense'", 2),
        (&["--site", "paris"], "site IN ('Paris', 'Paris FRA', 'New Paris')", 3),
        (&["--site", "=Paris"], "site = 'Paris'", 1),
        (&["--site", "esp"], "site = 'Linares ESP'", 1),
        (&["--plies-min", "3"], "ply_count >= 3", 3),
        (&["--plies-max", "2"], "ply_count <= 2", 5),
        (&["--plies-min", "2", "--plies-max", "3"], "ply_count IN (2, 3)", 6),
        (&["--plies-min", "2", "--plies-max", "2", "--speed", "rapid"], "game_id = 2", 1),
        (&["--opening", "sicilian", "--player", "anand", "--site", "paris"], "game_id = 3", 1),
        (&["--speed", "blitz", "--termination", "normal", "--time-control", "180+2"], "game_id = 1", 1),
    ];
    for (options, condition, count) in cases {
        assert_eq!(check_filter(&sample, options, condition), count, "{options:?}");
    }
}

#[test]
fn two_players_are_on_different_sides() {
    let sample = sample();
    let cases: [(&[&str; 2], &str); 7] = [
        (&["polgar", "anand"], "game_id IN (2, 3)"),
        (&["=Polgar, Judit", "anand"], "game_id = 3"),
        // Both names match the same players, or one player on both sides of a game.
        (&["polgar", "polgar"], "game_id = 1"),
        (&["anand", "anand"], "game_id IN (4, 7)"),
        (&["=Anand, V", "=Anand, V"], "game_id = 4"),
        (&["anand", "v"], "game_id IN (4, 7)"),
        (&["kasparov", "polgar"], "false"),
    ];
    for ([one, other], condition) in cases {
        check_filter(&sample, &["--player", one, "--opponent", other], condition);
        check_filter(&sample, &["--player", other, "--opponent", one], condition);
        check_filter(&sample, &["--player", one, "--player", other], condition);
    }
    check_filter(&sample, &["--player", "anand", "--opponent", "polgar", "--white", "anand"], "game_id = 3");
    check_filter(&sample, &["--player", "anand", "--opponent", "polgar", "--result", "0-1"], "game_id = 2");
}

#[test]
fn at_most_two_players_can_be_given() {
    let sample = sample();
    let reported = |options: &[&str]| {
        let run = sample.run(&[&["export", "games.db", "--format", "csv"], options].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{options:?}");
        run.stderr
    };
    let three = reported(&["--player", "a", "--player", "b", "--player", "c"]);
    insta::assert_snapshot!(three, @"pgndex: error: a game has only two players; give two names at most");
    assert_eq!(reported(&["--player", "a", "--player", "b", "--opponent", "c"]), three);
    insta::assert_snapshot!(reported(&["--opponent", "anand"]), @"pgndex: error: --opponent NAME needs --player NAME; give both, or use --player alone for all games of a player");
}

#[test]
fn impossible_filters_are_reported() {
    let sample = sample();
    let reported = |options: &[&str]| {
        let run = sample.run(&[&["find", "games.db", "--fen", START], options].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{options:?}");
        run.stderr
    };
    insta::assert_snapshot!(reported(&["--speed", "fast"]), @"
    error: invalid value 'fast' for '--speed <SPEED>'
      [possible values: ultraBullet, bullet, blitz, rapid, classical, correspondence]

    For more information, try '--help'.
    ");
    for option in ["--time-control", "--termination", "--site", "--opening", "--opponent", "--plies-min"] {
        reported(&["--player", "a", option, ""]);
    }
    reported(&["--plies-max", "-1"]);
}

#[test]
fn names_that_do_not_occur_are_reported_with_similar_ones() {
    let sample = sample();
    let reported = |options: &[&str]| {
        let run = sample.run(&[&["find", "games.db", "--fen", START], options].concat());
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{options:?}");
        run.stderr
    };
    insta::assert_snapshot!(reported(&["--opening", "Sicilain Defense"]), @r#"
    pgndex: note: no opening has a name that matches "Sicilain Defense" (--opening); did you mean "Sicilian Defense", "Sicilian Defense: Amazon Attack" or "Sicilian Defense: Big Clamp Formation"?
    pgndex: note: 8 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(reported(&["--site", "Linarse"]), @r#"
    pgndex: note: no site has a name that matches "Linarse" (--site); did you mean "Linares ESP"?
    pgndex: note: 8 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(reported(&["--player", "anand", "--opponent", "Polgra"]), @r#"
    pgndex: note: --player matches 2 players: "Anand, V" (5), "Anand, Akhil" (2); to choose one, give it exactly: "=Anand, V"
    pgndex: note: no player has a name that matches "Polgra" (the opponent); did you mean "Polgar, Judit" or "Polgar, Sofia"?
    pgndex: note: 8 games reached the position, but none passes the filters
    pgndex: note: there would be 6 games for the first player alone
    "#);
    insta::assert_snapshot!(reported(&["--player", "=Kasparov, G", "--player", "=Anand, V"]), @"
    pgndex: note: 8 games reached the position, but none passes the filters
    pgndex: note: there would be 5 games for the second player alone, or 2 games for the first player alone
    pgndex: note: with two names, only games between these two players are found; if both are names of one player, merge them: pgndex players games.db --merge NAME NAME
    ");
    for fields in [["--player", "--opponent"], ["--player", "--player"], ["--white", "--black"]] {
        let run = reported(&[fields[0], "=Kasparov, G", fields[1], "kasparov"]);
        assert!(
            run.ends_with("\npgndex: note: both names belong to one player, and no game has the same player on both sides\n"),
            "{run}"
        );
    }
    insta::assert_snapshot!(reported(&["--player", "annad", "--player", "Polgra, J"]), @r#"
    pgndex: note: no player has a name that matches "annad" (--player); did you mean "Anand, V" or "Anand, Akhil"?
    pgndex: note: no player has a name that matches "Polgra, J" (the opponent); did you mean "Polgar, Judit" or "Polgar, Sofia"?
    pgndex: note: 8 games reached the position, but none passes the filters
    "#);
}

#[test]
fn games_with_evaluations() {
    let sample = sample();
    let connection = sample.connection("games.db");
    let has_column = "SELECT count(*) FROM pragma_table_info('game') WHERE name = 'eval_count'";
    let count: i64 = connection.query_row(has_column, [], |row| row.get(0)).expect("a number");
    if count == 0 {
        connection.execute("ALTER TABLE game ADD COLUMN eval_count INTEGER", []).expect("a column");
    }
    let evaluations = "UPDATE game SET eval_count = CASE game_id % 3 WHEN 0 THEN 4 WHEN 1 THEN 0 END";
    connection.execute(evaluations, []).expect("numbers");
    assert_eq!(check_filter(&sample, &["--with-evals"], "game_id IN (3, 6)"), 2);
    assert_eq!(check_filter(&sample, &["--with-evals", "--speed", "bullet"], "game_id = 3"), 1);
}

/// Two files with games of several variants; one of the files grew.
fn files() -> Workspace {
    let game = |number: &str, variant: &str| {
        let tag = if variant.is_empty() { String::new() } else { format!("[Variant \"{variant}\"]\n") };
        format!("[White \"{number}\"]\n{tag}[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n")
    };
    let begun = game("1", "") + &game("2", "Standard");
    let workspace = Workspace::new().with("march.pgn", &begun);
    std::fs::create_dir(workspace.path("more")).expect("a directory");
    workspace.write("more/2.pgn", game("3", "Chess960") + &game("4", ""));
    workspace.stdout_of(&["index", "--quiet", "games.db", "march.pgn", "more/2.pgn"]);
    workspace.write("march.pgn", begun + &game("5", "chess960"));
    workspace.stdout_of(&["index", "--quiet", "games.db", "march.pgn"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM source"), 3);
    workspace
}

#[test]
fn games_of_files_and_of_variants() {
    let workspace = files();
    let cases: [(&[&str], &str, usize); 10] = [
        (&["--source", "march.pgn"], "source = 'march.pgn'", 3),
        (&["--source", "more/2.pgn"], "game_id IN (3, 4)", 2),
        // The id of any reading of the file.
        (&["--source", "1"], "source = 'march.pgn'", 3),
        (&["--source", "3"], "source = 'march.pgn'", 3),
        (&["--source", "march.pgn", "--source", "more/2.pgn"], "true", 5),
        (&["--variant", "chess960"], "variant IN ('Chess960', 'chess960')", 2),
        (&["--variant", "STANDARD"], "variant IS NULL OR variant = 'Standard'", 3),
        (&["--variant", "chess"], "false", 0),
        (&["--variant", "Chess960", "--source", "march.pgn"], "game_id = 5", 1),
        (&["--variant", "standard", "--source", "march.pgn", "--white", "1"], "game_id = 1", 1),
    ];
    for (options, condition, count) in cases {
        assert_eq!(check_filter(&workspace, options, condition), count, "{options:?}");
    }
    let path = workspace.path("games.db");
    let has_variants = || pgndex::store::Database::open_read_only(&path).unwrap().has_variants().unwrap();
    let change = |sql| workspace.connection("games.db").execute_batch(sql).expect("a change");
    assert!(has_variants());
    // The games are now in a block without the column.
    change("UPDATE game_column SET block = 1, cells = '[null]' WHERE name = 'variant'");
    assert!(has_variants());
    change("UPDATE game SET variant = 'Standard'");
    assert!(!has_variants());
}

#[test]
fn an_unknown_file_is_reported_with_similar_ones() {
    let workspace = files();
    for command in
        [&["find", "--fen", START][..], &["explore", "--fen", START], &["export", "--format", "pgn"]]
    {
        let reported = |source: &str| {
            let run =
                workspace.run(&[&command[..1], &["games.db"], &command[1..], &["--source", source]].concat());
            assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{command:?} {source}");
            run.stderr
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(reported("2.pgn"), @r#"
            pgndex: error: games.db: no games were indexed from 2.pgn; did you mean "more/2.pgn"? `pgndex info` lists the files of this database
            "#);
            insta::assert_snapshot!(reported("marhc.pgn"), @r#"
            pgndex: error: games.db: no games were indexed from marhc.pgn; did you mean "march.pgn"? `pgndex info` lists the files of this database
            "#);
            insta::assert_snapshot!(reported("7"), @"
            pgndex: error: games.db: no indexed file has the number or path 7; `pgndex info` lists the files of this database
            ");
        }
    }
    let run = workspace.run(&["export", "games.db", "--format", "pgn", "--source", "", "--variant", ""]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
}

#[test]
fn filters_select_games_of_lichess() {
    let Some(part) = part_of_corpus("lichess-24k", 2_500_000) else { return };
    let sample = Workspace::new().with("games.pgn", part);
    sample.index("games.db", std::path::Path::new("games.pgn"));
    let text = |sql: &str| -> String {
        sample.connection("games.db").query_row(sql, [], |row| row.get(0)).expect("a text")
    };
    let cases: [(&[&str], &str); 9] = [
        (&["--speed", "blitz"], "speed = 'blitz'"),
        (&["--speed", "bullet", "--speed", "rapid"], "speed IN ('bullet', 'rapid')"),
        (&["--time-control", "180"], "time_control = '180+0'"),
        (&["--termination", "time FORFEIT"], "termination = 'Time forfeit'"),
        (&["--opening", "sicilian"], "opening GLOB 'Sicilian*' OR opening GLOB '*[^a-zA-Z]Sicilian*'"),
        (&["--opening", "gambit"], "opening GLOB 'Gambit*' OR opening GLOB '*[^a-zA-Z]Gambit*'"),
        (&["--site", "https://lichess.org/a"], "site GLOB 'https://lichess.org/[aA]*'"),
        (&["--plies-min", "40", "--plies-max", "60"], "ply_count BETWEEN 40 AND 60"),
        (&["--plies-max", "0"], "ply_count = 0"),
    ];
    let mut chosen = 0;
    for (options, condition) in cases {
        chosen += check_filter(&sample, options, condition);
    }
    assert!(chosen > 500, "{chosen}");
    let pair = "FROM (SELECT min(white, black) AS a, max(white, black) AS b, count(DISTINCT white) AS sides, count(*) AS n
                      FROM games WHERE white <> black GROUP BY 1, 2) ORDER BY sides DESC, n DESC, a, b LIMIT 1";
    let [one, other] = ["a", "b"].map(|column| text(&format!("SELECT {column} {pair}")));
    let condition =
        format!("(white = '{one}' AND black = '{other}') OR (white = '{other}' AND black = '{one}')");
    let games = check_filter(
        &sample,
        &["--player", &format!("={one}"), "--opponent", &format!("={other}")],
        &condition,
    );
    assert!(games > 1, "{one} {other}");
}
