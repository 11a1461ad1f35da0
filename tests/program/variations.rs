//! `find --variations` and `explore --variations`: what they print, and when there are no variations.

use crate::workspace::{Workspace, json};

const NESTED: &str = include_str!("../data/variations.pgn");

fn find() -> Workspace {
    Workspace::for_command(&["find", "games.db", "--variations"]).indexed(NESTED)
}

fn explore() -> Workspace {
    Workspace::for_command(&["explore", "games.db", "--variations"]).indexed(NESTED)
}

#[test]
fn a_hit_shows_its_line_and_continuation() {
    let sample = find();
    insta::assert_snapshot!(sample.ok(&["--moves", "1. d4 d5 2. c4"]), @"
    game  white   elo  black   elo  result   date        event       line  ply  next
    ──────────────────────────────────────────────────────────────────────────────────────────────
       1  One    2000  Two    2000  1-0      2020.01.01  Nested         1    3  (end of variation)
       2  Three  2200  Two    2200  1/2-1/2  2021.01.01  Shuffle        4    7  (end of variation)
       3  Four         Five         *                    Unfinished     0    3  (last position)
       3  Four         Five         *                    Unfinished     4    3  2... e5
    4 occurrences in 3 games
    ");
    insta::assert_snapshot!(sample.ok(&["--moves", "1. d4", "--sort", "rating", "--format", "csv"]), @"
    game_id,white,white_elo,black,black_elo,result,date,event,site,round,eco,line,ply,move_number,side,next_san,next_uci,fen
    2,Three,2200,Two,2200,1/2-1/2,2021.01.01,Shuffle,,,,3,5,3,b,Nf6,g8f6,rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
    2,Three,2200,Two,2200,1/2-1/2,2021.01.01,Shuffle,,,,4,5,3,b,d5,d7d5,rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
    1,One,2000,Two,2000,1-0,2020.01.01,Nested,,,,1,1,1,b,d5,d7d5,rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
    4,Six,,Five,,0-1,2022.01.01,Plain,,,,0,1,1,b,Nf6,g8f6,rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
    3,Four,,Five,,*,,Unfinished,,,,0,1,1,b,d5,d7d5,rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -
    ");
    let first = sample.ok(&["--moves", "1. d4", "--format", "json"]);
    let first = json(first.lines().next().expect("a line"));
    assert_eq!((&first["line"], &first["ply"], &first["next_uci"]), (&1.into(), &1.into(), &"d7d5".into()));
    // The position before the first move of a variation belongs to the line from which the variation branches off.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    for hit in sample.ok(&["--fen", start, "--format", "json", "--limit", "0"]).lines() {
        assert_eq!(json(hit)["game_id"] == 2 && json(hit)["line"] == 2, json(hit)["line"] != 0, "{hit}");
    }
}

#[test]
fn pages_are_parts_of_all_hits_and_games_count_once() {
    let sample = find();
    let hits = |options: &[&str]| {
        let lines = sample.stdout_of(&[&["--moves", "1. d4", "--format", "json"], options].concat());
        Vec::from_iter(lines.lines().map(str::to_owned))
    };
    for sort in ["game", "rating", "date"] {
        let all = hits(&["--sort", sort, "--limit", "0"]);
        assert_eq!(all.len(), 5, "{sort}");
        for limit in 1..=5_usize {
            for offset in 0..=5_usize {
                let page = hits(&["--sort", sort, "-n", &limit.to_string(), "--offset", &offset.to_string()]);
                assert_eq!(page, all[offset..(offset + limit).min(5)], "{sort} {limit} {offset}");
            }
        }
    }
    let last = |options: &[&str]| {
        let table = sample.ok(&[&["--moves", "1. d4"], options].concat());
        table.lines().next_back().expect("a line").to_owned()
    };
    assert_eq!(last(&[]), "5 occurrences in 4 games");
    assert_eq!(last(&["-n", "2"]), "5 occurrences in 4 games, 2 shown; --limit 0 shows all");
    assert_eq!(last(&["--offset", "3"]), "5 occurrences in 4 games, 2 shown");
    assert_eq!(last(&["--result", "1/2-1/2"]), "2 occurrences in 1 game");
    assert_eq!(
        last(&["--white", "three", "-n", "1"]),
        "2 occurrences in 1 game, 1 shown; --limit 0 shows all"
    );
}

#[test]
fn pgn_has_each_game_once_with_its_variations() {
    let pgn = find().ok(&["--moves", "1. d4", "--format", "pgn"]);
    assert_eq!(pgn.matches("[Event ").count(), 4, "{pgn}");
    assert_eq!(pgn.matches("(1. c4").count(), 1, "{pgn}");
}

#[test]
fn descriptions_match_the_main_line_before_variations() {
    let sample = find();
    let places = |options: &[&str]| -> Vec<_> {
        let lines = sample.stdout_of(&[options, &["--format", "json"]].concat());
        let place = |line| {
            let hit = json(line);
            ["game_id", "line", "ply"].map(|name| hit[name].as_u64().expect("a number"))
        };
        lines.lines().map(place).collect()
    };
    let pattern = ["--pattern", "*/*/*/*/2P?????/*/*/* b"];
    assert_eq!(places(&pattern), [[1, 1, 3], [2, 0, 9], [3, 0, 3], [4, 0, 3]]);
    assert_eq!(places(&[&pattern[..], &["--sort", "date", "-n", "2"]].concat()), [[4, 0, 3], [2, 0, 9]]);
    assert_eq!(places(&[&pattern[..], &["--result", "1-0"]].concat()), [[1, 1, 3]]);
    let material = ["--material", "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP"];
    assert_eq!(places(&material), [[1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]]);
}

#[test]
fn nothing_found_in_any_line_is_explained() {
    let run = find().run_with(&["--moves", "1. d4 Nf6 2. c4 e6 3. Nc3"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: no game and no variation reached this position: rnbqkb1r/pppp1ppp/4pn2/8/2PP4/2N5/PP2PPPP/R1BQKBNR b KQkq -
    pgndex: note: 2 games reached the position after 1. d4 Nf6 2. c4 e6; no game continued with 3. Nc3
    ");
    let run = find().run_with(&["--moves", "1. d4 Nf6 2. c4 e6", "--player", "six"]);
    insta::assert_snapshot!(run.stderr, @"pgndex: note: 2 games reached the position, but none passes the filters");
    let run = explore().run_with(&["--moves", "1. h4"]);
    insta::assert_snapshot!(run.stderr, @"pgndex: note: no game and no variation reached this position: rnbqkbnr/pppppppp/8/8/7P/8/PPPPPPP1/RNBQKBNR b KQkq -");
}

#[test]
fn moves_of_variations_are_counted_separately() {
    let sample = explore();
    let options = ["--top", "0", "--recent", "0"];
    let output = |position: &[&str]| sample.ok(&[position, &options].concat());
    insta::assert_snapshot!(output(&["--fen", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"]), @"
    move  games    share  w/d/b %                          elo  last  variations  opening
    ───────────────────────────────────────────────────────────────────────────────────────────────────
    d4        1   33.3 %  0/0/100   ░░░░░░░░░░░░░░░░░░░░        2022           2  A40 Queen's Pawn Game
    e4        1   33.3 %  100/0/0   ████████████████████  2000  2020           0  B00 King's Pawn Game
    Nf3       1   33.3 %  0/100/0   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  2200  2021           0  A04 Zukertort Opening
    c4        0    0.0 %                                                       1  A10 English Opening
    Σ         3  100.0 %  33/33/33  ███████▒▒▒▒▒▒░░░░░░░  2100  2022           2
    3 games: █ White 1 (33.3 %), ▒ draw 1 (33.3 %), ░ Black 1 (33.3 %)
    1 game without a result is not counted; 2 games have the position in variations
    ");
    insta::assert_snapshot!(output(&["--moves", "1. d4 Nf6 2. c4", "-n", "1"]), @"
    A50 Indian Defense: Normal Variation

    move  games    share  w/d/b %                        elo  last  variations  opening
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    e6        0    0.0 %                                                     2  E00 Indian Defense: Normal Variation
    Σ         1  100.0 %  0/0/100  ░░░░░░░░░░░░░░░░░░░░                      2
    1 game: █ White 0 (0.0 %), ▒ draw 0 (0.0 %), ░ Black 1 (100.0 %)
    1 ended here; 2 games have the position in variations; 1 move not shown: --limit 0 shows all
    ");
    insta::assert_snapshot!(output(&["--moves", "1. d4 Nf6 2. c4 e6"]), @"
    E00 Indian Defense: Normal Variation

    move  games    share  w/d/b %    elo  last  variations
    ──────────────────────────────────────────────────────
    --        0    0.0 %                                 1
    Σ         0    0.0 %                                 2
    0 games: █ White 0 (0.0 %), ▒ draw 0 (0.0 %), ░ Black 0 (0.0 %)
    2 games have the position in variations
    ");
    insta::assert_snapshot!(output(&["--moves", "1. d4 Nf6", "--format", "csv"]), @"
    uci,san,games,white,draws,black,average_rating,first_year,last_year,in_variations,eco,opening
    c2c4,c4,1,0,0,1,,2022,2022,2,A50,Indian Defense: Normal Variation
    g1f3,Nf3,0,0,0,0,,,,2,A46,Indian Defense: Knights Variation
    ");
    // Only one game is selected, and it has no result.
    insta::assert_snapshot!(output(&["--moves", "1. d4 Nf6", "--white", "four", "--format", "csv"]), @"
    uci,san,games,white,draws,black,average_rating,first_year,last_year,in_variations,eco,opening
    c2c4,c4,0,0,0,0,,,,1,A50,Indian Defense: Normal Variation
    g1f3,Nf3,0,0,0,0,,,,1,A46,Indian Defense: Knights Variation
    ");
}

#[test]
fn json_fields_of_explore_are_documented() {
    let object = json(&explore().ok(&["--moves", "1. d4 Nf6", "--format", "json"]));
    let (_, page) = include_str!("../../docs/json.md").split_once("## `pgndex explore`").expect("a section");
    assert_eq!(object["inVariations"], 3);
    let moves = object["moves"].as_array().expect("moves");
    let reported: Vec<_> = moves
        .iter()
        .map(|played| {
            (played["uci"].as_str().expect("a move"), played["white"].clone(), played["inVariations"].clone())
        })
        .collect();
    assert_eq!(reported[0], ("c2c4", 0.into(), 2.into()));
    assert_eq!(reported[1], ("g1f3", 0.into(), 2.into()));
    for part in [&object, &moves[0]] {
        for name in part.as_object().expect("an object").keys() {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}

#[test]
fn answers_without_the_option_do_not_mention_variations() {
    let sample = Workspace::new().indexed(NESTED);
    for (arguments, word) in [
        (&["find", "games.db", "--moves", "1. d4", "--format", "json"][..], "line"),
        (&["find", "games.db", "--moves", "1. d4", "--format", "csv"], "line"),
        (&["find", "games.db", "--moves", "1. d4"], "line"),
        (&["explore", "games.db", "--moves", "1. d4", "--format", "json"], "ariations"),
        (&["explore", "games.db", "--moves", "1. d4", "--format", "csv"], "ariations"),
        (&["explore", "games.db", "--moves", "1. d4"], "ariations"),
    ] {
        let printed = sample.stdout_of(arguments);
        assert!(!printed.contains(word), "{arguments:?}: {printed}");
    }
}

#[test]
fn a_database_without_variations_gets_a_note() {
    let sample = Workspace::new().with("games.pgn", NESTED);
    sample.stdout_of(&["index", "--quiet", "--annotations", "numbers", "games.db", "games.pgn"]);
    for command in ["find", "explore"] {
        let arguments = [command, "games.db", "--moves", "1. d4 d5", "--format", "csv"];
        let run = sample.run(&[&arguments[..], &["--variations"]].concat());
        assert_eq!(run.status, 0, "{run:?}");
        assert_eq!(
            run.stderr,
            "pgndex: note: no game of this database has a variation; `index --annotations all` stores the variations of the PGN\n"
        );
        assert_eq!(run.stdout.lines().count(), sample.stdout_of(&arguments).lines().count());
    }
}
