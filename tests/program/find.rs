//! `pgndex find`: its output, and its exit status.

use std::path::Path;

use crate::command::Run;
use crate::workspace::{BLUNDER, CLUB, ENDINGS, SHUFFLE, Workspace, json};

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Games with rare features, the last without the move after mate.
fn odd() -> Workspace {
    let blunder = BLUNDER.replace(" 3. Kf2", "");
    indexed(&[CLUB, ENDINGS, SHUFFLE, &blunder].concat())
}

fn indexed(pgn: &str) -> Workspace {
    Workspace::for_command(&["find", "games.db"]).indexed(pgn)
}

/// The games in the order of the output lines.
fn games(sample: &Workspace, arguments: &[&str]) -> Vec<u64> {
    let lines = sample.stdout_of(&[arguments, &["--limit", "0", "--format", "json"]].concat());
    lines.lines().map(|line| json(line)["game_id"].as_u64().expect("a number")).collect()
}

#[test]
fn the_nearest_positions_are_listed_with_their_distance() {
    let sample = indexed(FAMOUS);
    let fen = "8/8/5k2/R4p2/5P2/4K1P1/r7/8 w - -";
    let table = sample.ok(&["--like", fen, "--limit", "2"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].ends_with("  distance") && lines.len() == 5, "{table}");
    assert_eq!(lines[4], "2 shown, but there are more; --limit 0 shows all");
    let objects = sample.ok(&["--like", fen, "--limit", "0", "--format", "json"]);
    let distances: Vec<u64> =
        objects.lines().map(|line| json(line)["distance"].as_u64().expect("a number")).collect();
    assert!(distances.len() == 53 && distances.is_sorted(), "{distances:?}");
    let csv = sample.ok(&["--like", fen, "--limit", "0", "--format", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",fen,distance"), "{csv}");
    assert!(lines[1].ends_with(&format!(",{}", distances[0])), "{csv}");
    // A page that does not begin with the first match, with a filter.
    let filtered = ["--like", fen, "--result", "1-0"];
    let won = games(&sample, &filtered);
    let page = [&filtered[..], &["--limit", "3", "--offset", "2", "--format", "json"]].concat();
    let page = sample.run_with(&page).stdout;
    let page: Vec<u64> = page.lines().map(|line| json(line)["game_id"].as_u64().expect("a number")).collect();
    assert_eq!(page, won[2..5]);
    let start = sample.run_with(&["--like", START, "--limit", "1", "--format", "json"]);
    let start = json(&start.stdout);
    assert_eq!((&start["game_id"], &start["distance"]), (&1.into(), &0.into()));
    let nothing = sample.run_with(&["--like", fen, "--player", "nobody"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (0, ""), "{nothing:?}");
    assert!(nothing.stderr.ends_with("pgndex: note: no position matches\n"), "{nothing:?}");
    for target in [["--like", fen], ["--ending", "rook"]] {
        let skipped = sample.stderr_of(0, &[&target[..], &["--offset", "99"]].concat());
        assert_eq!(skipped, "pgndex: note: --offset 99 skips all matches\n", "{target:?}");
    }
}

#[test]
fn invalid_options_for_the_nearest_positions_are_reported() {
    let sample = odd();
    for option in [
        &["--fen", START][..],
        &["--moves", "1. e4"],
        &["--variations"],
        &["--sort", "date"],
        &["--ending", "rook"],
        &["--either"],
        &["--for", "3"],
    ] {
        let reported = sample.stderr_of(2, &[&["--like", START], option].concat());
        assert!(reported.contains("cannot be used with"), "{option:?}: {reported}");
    }
    insta::assert_snapshot!(sample.stderr_of(2, &["--like", "8/8/8/8/8/8/8/8 w - -"]), @r#"
    pgndex: error: not a legal position: "8/8/8/8/8/8/8/8 w - -"
      because: White must have exactly one king, but has 0
    "#);
    // Corrections of the FEN are reported.
    let run = sample.run_with(&[
        "--like",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "--limit",
        "1",
    ]);
    assert!(run.stderr.contains("en-passant square dropped"), "{run:?}");
}

#[test]
fn help() {
    insta::assert_snapshot!(indexed("").run(&["find", "-h"]).stdout, @r#"
    Find the games that reached a position, or that pass filters

    Usage: pgndex find [OPTIONS] <DB>

    Arguments:
      <DB>  Database [env: PGNDEX_DB]

    Options:
          --sort <ORDER>     Order of the rows [default: game] [possible values: game, rating, date]
      -n, --limit <N>        Number of rows to show; 0 for all [default: 15]
      -f, --format <FORMAT>  Output format [default: table] [possible values: table, json, csv, pgn]
          --json             The same as --format json
      -h, --help             Print help (see more with '--help')

    Position:
          --fen <FEN>      The position as a FEN
          --moves <MOVES>  Moves from the start position: "1. e4 c5 2. Nf3"
          --play <MOVES>   Moves from the start position, in UCI notation: e2e4,c7c5
          --like <FEN>     The positions most similar to this FEN, one per game
          --variations     Also search the variations of games

    Positions by description:
          --pattern <PLACEMENT>  Pieces on squares: a FEN's placement with wildcards
          --material <PIECES>    The remaining pieces, White's first: KRPvKR, KRP-KR or KRPKR
          --structure <FEN>      The pawn structure of this FEN; its other pieces do not matter
          --ending <KIND>        The kind of ending, such as rook or opposite-bishops
          --move <MOVE>          The move played from the position, such as "Qxh7#"
          --for <PLIES>          At least this many consecutive positions must match
          --ply <PLIES>          Only positions at these plies: 20, 20-40, -40 or 60-
          --then                 Put this between two descriptions to match them one after the other

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

    … 12 more options: --help
    "#);
}

#[test]
fn a_table_of_games_with_the_total_below() {
    let sample = indexed(FAMOUS);
    let table = sample.ok(&["--moves", "1. e4 e5 2. Nf3 Nc6 3. Bb5", "--limit", "4"]);
    insta::assert_snapshot!(table, @"
    game  white                  elo  black                  elo  result   date        event             ply  next
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────
      16  Lasker, Emanuel             Capablanca, José Raúl       1-0      1914.05.18  St. Petersburg      5  3... a6
      18  Capablanca, José Raúl       Marshall, Frank James       1-0      1918.10.23  New York            5  3... a6
      44  Fischer, Robert James       Spassky, Boris              1/2-1/2  1992.11.04  F/S Return Match    5  3... a6
    3 games
    ");
    assert_eq!(table, sample.ok(&["--play", "e2e4,e7e5,g1f3,b8c6,f1b5", "--limit", "0"]));
}

#[test]
fn rows_with_unknown_names_last_positions_and_set_ups() {
    let sample = odd();
    insta::assert_snapshot!(sample.ok(&["--fen", "r3k3/7P/8/8/8/8/8/4K3 b q -"]), @"
    game  white  elo  black  elo  result  date  event    ply  next
    ─────────────────────────────────────────────────────────────────────
       2  ?           ?           *             Endings    0  17... O-O-O
    1 game
    ");
    insta::assert_snapshot!(sample.ok(&["--fen", "2kr4/7P/8/8/8/8/8/4K3 w - -", "-f", "csv"]), @"
    game_id,white,white_elo,black,black_elo,result,date,event,site,round,eco,ply,move_number,side,next_san,next_uci,fen
    2,,,,,*,,Endings,,,,1,18,w,h8=Q,h7h8q,2kr4/7P/8/8/8/8/8/4K3 w - -
    ");
    insta::assert_snapshot!(sample.run_with(&["--moves", "e4 e5 Nc3 Nf6 -- d5 exd5 Nxd5 Qh5"]).stdout, @r#"
    game  white        elo  black   elo  result  date        event                ply  next
    ──────────────────────────────────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖   1987  1-0     2024.02.29  Club "Réti" \ final    9  (last position)
    1 game
    "#);
}

#[test]
fn each_occurrence_of_a_position() {
    let sample = odd();
    insta::assert_snapshot!(sample.ok(&["--moves", "Nf3 Nf6 Ng1 Ng8"]), @r#"
    game  white        elo  black       elo  result   date        event                ply  next
    ───────────────────────────────────────────────────────────────────────────────────────────────────────
       1  Ågren, Åsa  2455  棋聖       1987  1-0      2024.02.29  Club "Réti" \ final    0  1. e4
       3  Knight, A         Knight, B        1/2-1/2  2024.??.??  Shuffle                0  1. Nf3
       3  Knight, A         Knight, B        1/2-1/2  2024.??.??  Shuffle                4  3. Nf3
       3  Knight, A         Knight, B        1/2-1/2  2024.??.??  Shuffle                8  (last position)
       4  Hasty, H          Knight, B        0-1                  Blunder                0  1. f3
    5 occurrences in 3 games
    "#);
    insta::assert_snapshot!(sample.ok(&["--moves", "Nf3", "--limit", "1"]), @"
    game  white      elo  black      elo  result   date        event    ply  next
    ─────────────────────────────────────────────────────────────────────────────────
       3  Knight, A       Knight, B       1/2-1/2  2024.??.??  Shuffle    1  1... Nf6
    2 occurrences in 1 game, 1 shown; --limit 0 shows all
    ");
    insta::assert_snapshot!(sample.ok(&["--moves", "Nf3", "--offset", "1"]), @"
    game  white      elo  black      elo  result   date        event    ply  next
    ─────────────────────────────────────────────────────────────────────────────────
       3  Knight, A       Knight, B       1/2-1/2  2024.??.??  Shuffle    5  3... Nf6
    2 occurrences in 1 game, 1 shown
    ");
}

#[test]
fn json_and_csv() {
    let sample = odd();
    insta::assert_snapshot!(sample.ok(&["--moves", "1. e4", "--format", "json"]), @r#"
    {"game_id":1,"white":"Ågren, Åsa","white_elo":2455,"black":"棋聖","black_elo":1987,"result":"1-0","date":"2024.02.29","event":"Club \"Réti\" \\ final","site":null,"round":"1.2","eco":"C25","ply":1,"move_number":1,"side":"b","next_san":"e5","next_uci":"e7e5","fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"}
    "#);
    insta::assert_snapshot!(sample.ok(&["--moves", "1. e4", "--format", "csv"]), @r#"
    game_id,white,white_elo,black,black_elo,result,date,event,site,round,eco,ply,move_number,side,next_san,next_uci,fen
    1,"Ågren, Åsa",2455,棋聖,1987,1-0,2024.02.29,"Club ""Réti"" \ final",,1.2,C25,1,1,b,e5,e7e5,rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -
    "#);
    assert_eq!(games(&sample, &["--moves", "Nf3 Nf6 Ng1 Ng8"]), [1, 3, 3, 3, 4]);
    let run = sample.run_with(&["--fen", START, "-n", "2", "-f", "csv"]);
    assert_eq!(run.stdout.lines().count(), 3);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 5 occurrences in 3 games, 2 shown; --limit 0 shows all
    ");
}

#[test]
fn pgn_has_each_game_once() {
    let sample = odd();
    let pgn = sample.ok(&["--fen", START, "--format", "pgn"]);
    assert_eq!(pgn.matches("[Event ").count(), 3);
    let run = sample.run_with(&["--fen", START, "--format", "pgn", "--limit", "3"]);
    assert_eq!(run.stdout.matches("[Event ").count(), 2);
    insta::assert_snapshot!(run.stderr, @"pgndex: note: 2 games written; 5 occurrences in 3 games, 3 shown; --limit 0 shows all");
    assert!(pgn.starts_with("[Event \"Club \\\"Réti\\\" \\\\ final\"]\n"), "{pgn}");
    assert!(pgn.contains("\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n"), "{pgn}");
}

#[test]
fn filters() {
    let sample = odd();
    let games = |filter: &[&str]| games(&sample, &[&["--fen", START], filter].concat());
    for name in ["ågren", "Agren,A", "ÅGREN , åsa", "=Ågren, Åsa"] {
        assert_eq!(games(&["--white", name]), [1], "{name}");
    }
    assert_eq!(games(&["--player", "knight"]), [3, 3, 3, 4]);
    assert_eq!(games(&["--player", "=Knight, B", "--black", "knight", "--result", "draw"]), [3, 3, 3]);
    assert_eq!(games(&["--elo-min", "1900", "--elo-max", "2455"]), [1]);
    assert_eq!(games(&["--since", "2024-03", "--until", "2024"]), [3, 3, 3]);
    assert_eq!(games(&["--until", "2024.02.29"]), [1, 3, 3, 3]);
    assert_eq!(games(&["--eco", "C20-C25"]), [1]);
    assert_eq!(games(&["--event", "final"]), [1]);
    assert_eq!(games(&["--result", "0-1"]), [4]);
}

/// Games whose ECO tag and moves give different openings, and games with only one of the two.
const OPENINGS: &str = "[ECO \"A05\"]\n[Round \"1\"]\n\n1. e4 e5 1-0\n\n[Round \"2\"]\n\n1. e4 e5 1-0\n\n\
                        [ECO \"C20\"]\n[Round \"3\"]\n\n1. d4 d5 1-0\n\n[ECO \"D00\"]\n[Round \"4\"]\n\n1. d4 d5 *\n";

#[test]
fn eco_and_opening_eco_are_different_conditions() {
    let sample = indexed(OPENINGS);
    for (conditions, games) in [
        (&["--eco", "C20"][..], &[3][..]),
        (&["--opening-eco", "C20"], &[1, 2]),
        (&["--eco", "A00-A99"], &[1]),
        (&["--opening-eco", "A"], &[]),
        (&["--eco", "A05", "--opening-eco", "C"], &[1]),
        (&["--eco", "D", "--opening-eco", "D0"], &[4]),
        (&["--eco", "B"], &[]),
    ] {
        let found = sample.run_with(&[&["--fen", START, "--format", "csv"], conditions].concat()).stdout;
        let ids = found.lines().skip(1).map(|line| line.split(',').next().expect("a field"));
        assert!(ids.eq(games.iter().map(i32::to_string).collect::<Vec<_>>()), "{conditions:?}: {found}");
        let csv = sample.run(&[&["export", "games.db", "--format", "csv"], conditions].concat());
        assert_eq!(csv.stdout.lines().count(), 1 + games.len(), "{conditions:?}");
        let explored =
            sample.run(&[&["explore", "games.db", "--fen", START, "--format", "json"], conditions].concat());
        let object: serde_json::Value = serde_json::from_str(&explored.stdout).expect("JSON");
        let count =
            ["white", "draws", "black", "unfinished"].map(|name| object[name].as_u64().expect("a number"));
        assert_eq!(count.iter().sum::<u64>(), games.len() as u64, "{conditions:?}");
    }
    // Earlier, this option took a file with openings.
    let run = sample.run(&["explore", "games.db", "--fen", START, "--eco", "games.pgn"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("not an ECO code") && run.stderr.contains("--openings"), "{}", run.stderr);
}

/// `count` games that consist of one position.
fn from(fen: &str, count: usize) -> String {
    (0..count).map(|round| format!("[Round \"{round}\"]\n[FEN \"{fen} 0 1\"]\n\n*\n\n")).collect()
}

#[test]
fn a_note_lists_variants_that_many_more_games_reached() {
    // Different castling rights, side to move, or en-passant square.
    for (rare, often, how) in [
        ("r3k2r/8/8/8/8/8/8/R3K2R w - -", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "other castling rights"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "r3k2r/8/8/8/8/8/8/R3K2R w Kkq -", "other castling rights"),
        ("8/8/8/4k3/8/4K3/4P3/8 w - -", "8/8/8/4k3/8/4K3/4P3/8 b - -", "the other side to move"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - -", "4k3/8/8/3pP3/8/8/8/4K3 w - d6", "another en-passant square"),
    ] {
        for (own, others, has_note) in
            [(0, 1, true), (1, 11, true), (2, 30, true), (1, 10, false), (1, 0, false)]
        {
            let sample = indexed(&(from(rare, own) + &from(often, others) + "1. e4 *\n"));
            for command in ["find", "explore"] {
                let run = sample.run(&[command, "games.db", "--fen", rare]);
                let games = if others == 1 { "1 game".to_owned() } else { format!("{others} games") };
                let note = format!("pgndex: note: {games} reached the same placement with {how}: {often}\n");
                assert_eq!(run.stderr.contains(&note), has_note, "{command} {own} {others}: {}", run.stderr);
                let back = sample.run(&[command, "games.db", "--fen", often]);
                assert!(
                    others == 0 || !back.stderr.contains("reached the same placement"),
                    "{}",
                    back.stderr
                );
            }
        }
    }
}

#[test]
fn orders_and_pages() {
    let sample = odd();
    let games = |more: &[&str]| games(&sample, &[&["--fen", START], more].concat());
    assert_eq!(games(&["--sort", "rating"]), [1, 3, 3, 3, 4]);
    assert_eq!(games(&["--sort", "date"]), [1, 3, 3, 3, 4]);
    assert_eq!(games(&["--sort", "date", "--player", "knight", "--offset", "2"]), [3, 4]);
    let famous = indexed(FAMOUS);
    insta::assert_snapshot!(famous.ok(&["--moves", "e4 e5", "--sort", "date", "--offset", "2", "--limit", "3"]), @"
    game  white                  elo  black                  elo  result  date        event           ply  next
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
      19  Adams, Edwin Ziegler        Torre, Carlos               1-0     1920.??.??  New Orleans       2  2. Nf3
      18  Capablanca, José Raúl       Marshall, Frank James       1-0     1918.10.23  New York          2  2. Nf3
      16  Lasker, Emanuel             Capablanca, José Raúl       1-0     1914.05.18  St. Petersburg    2  2. Nf3
    3 of 13 games shown; --limit 0 shows all that follow
    ");
    insta::assert_snapshot!(famous.ok(&["--moves", "e4 e5", "--since", "1900", "--limit", "2"]), @"
    game  white                  elo  black                  elo  result  date        event           ply  next
    ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
      16  Lasker, Emanuel             Capablanca, José Raúl       1-0     1914.05.18  St. Petersburg    2  2. Nf3
      18  Capablanca, José Raúl       Marshall, Frank James       1-0     1918.10.23  New York          2  2. Nf3
    2 of 5 games shown; --limit 0 shows all
    ");
}

#[test]
fn patterns_and_material() {
    let sample = indexed(FAMOUS);
    insta::assert_snapshot!(sample.ok(&["--material", "KRP*vKRP*"]), @"
    game  white                  elo  black                 elo  result  date        event               ply  next
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────
      22  Capablanca, José Raúl       Tartakower, Savielly       1-0     1924.03.23  New York             68  35. Kg3
      34  Botvinnik, Mikhail          Tal, Mikhail               0-1     1960.03.26  World Championship   87  44... Kd5
    2 games
    ");
    insta::assert_snapshot!(sample.ok(&["--pattern", "*R*k*/*/*/*/*/*/*/* b", "--sort", "date", "--limit", "2"]), @"
    game  white              elo  black             elo  result  date        event                         ply  next
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
      51  Carlsen, Magnus         Karjakin, Sergey       1-0     2016.11.30  World Championship tie-break   97  49... Kh7
      42  Ivanchuk, Vassily       Yusupov, Artur         0-1     1991.08.24  Candidates match               75  38... Qxb8
    2 of 10 games shown; --limit 0 shows all
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--material", "KBNvK", "--event", "nowhere"]), @r#"
    pgndex: note: no event has a name that matches "nowhere" (--event)
    pgndex: note: no position matches
    "#);
    insta::assert_snapshot!(sample.stderr_of(2, &["--pattern", "*/*"]), @"
    pgndex: error: --pattern cannot be read
      because: the number of ranks in the pattern is 2, not 8; a rank written as '*' matches any rank
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--material", "KRP"]), @"
    pgndex: error: --material cannot be read
      because: 'KRP' does not have two sides; write White's pieces, then Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR
    ");
}

#[test]
fn descriptions_one_after_the_other() {
    let sample = indexed(FAMOUS);
    insta::assert_snapshot!(sample.ok(&["--move", "O-O-O", "--then", "--move", "#", "--limit", "2"]), @"
    game  white          elo  black                                elo  result  date        event        ply  next
    ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
       5  Morphy, Paul        Duke of Brunswick and Count Isouard       1-0     1858.??.??  Paris Opera   32  17. Rd8#
      12  Réti, Richard       Tartakower, Savielly                      1-0     1910.??.??  Casual game   20  11. Bd8#
    2 of 3 games shown; --limit 0 shows all
    ");
    insta::assert_snapshot!(sample.ok(&["--ending", "rook", "--for", "10", "--ply", "60-", "--format", "csv"]), @r#"
    game_id,white,white_elo,black,black_elo,result,date,event,site,round,eco,ply,move_number,side,next_san,next_uci,fen
    22,"Capablanca, José Raúl",,"Tartakower, Savielly",,1-0,1924.03.23,New York,New York USA,6,,68,35,w,Kg3,f3g3,5k2/p1p4R/1pr5/3p1pP1/P2P1P2/2P2K2/8/8 w - -
    "#);
    insta::assert_snapshot!(sample.stderr_of(2, &["--move", "e4", "--move", "e5"]), @"
    error: --move is given twice; to match one after the other, put --then between them

    Usage: pgndex find [OPTIONS] <DB>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--move", "e4", "--then"]), @"
    error: give --pattern, --material, --structure, --ending or --move before and after each --then

    Usage: pgndex find [OPTIONS] <DB>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--for", "3", "--either"]), @"
    error: --for refines a description; also give --pattern, --material, --structure, --ending or --move

    Usage: pgndex find [OPTIONS] <DB>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--moves", "1. e4", "--ending", "rook"]), @"
    error: the argument '--moves <MOVES>' cannot be used with '--ending <KIND>'

    Usage: pgndex find --moves <MOVES> <DB>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--move", "Zf3"]), @"
    pgndex: error: --move cannot be read
      because: 'Z' is not a piece letter (K, Q, R, B, N or ?), square, file or rank; write the move as Qxh7#, e4, ?xe5 or Rad1
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--structure", "8/8"]), @"
    pgndex: error: --structure cannot be read
      because: the number of ranks in the placement is 2, not 8
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--move", "x", "--ply", "30-20"]), @"
    error: invalid value '30-20' for '--ply <PLIES>': the range is reversed; write 20-30

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--move", "x", "--variations"]), @"pgndex: error: --move searches played moves only; leave out --variations");
}

#[test]
fn an_empty_result_is_explained_and_not_an_error() {
    let sample = odd();
    insta::assert_snapshot!(sample.stderr_of(0, &["--moves", "1. h4"]), @"
    pgndex: note: no game reached this position: rnbqkbnr/pppppppp/8/8/7P/8/PPPPPPP1/RNBQKBNR b KQkq -
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--moves", "1. e4 e5 2. Nc3 Nf6 3. f4 d5"]), @"
    pgndex: note: no game reached this position: rnbqkb1r/ppp2ppp/5n2/3pp3/4PP2/2N5/PPPP2PP/R1BQKBNR w KQkq -
    pgndex: note: 1 game reached the position after 1. e4 e5 2. Nc3 Nf6; no game continued with 3. f4
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--play", "g1f3,d7d5"]), @"
    pgndex: note: no game reached this position: rnbqkbnr/ppp1pppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R w KQkq -
    pgndex: note: 1 game reached the position after 1. g1f3; no game continued with 1... d7d5
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--fen", "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R w KQk -"]), @"
    pgndex: note: no game reached this position: rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R w KQk -
    pgndex: note: 1 game reached the same placement with the other side to move and other castling rights: rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq -
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--fen", START, "--elo-min", "2700"]), @"
    pgndex: note: 3 games reached the position, but none passes the filters
    pgndex: note: --elo-min applies to both players; the highest value that matches a game is 1987
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--fen", START, "--white", "carlsen", "--event", "final"]), @r#"
    pgndex: note: no player has a name that matches "carlsen" (--white)
    pgndex: note: 3 games reached the position, but none passes the filters
    pgndex: note: there would be 1 game without --white
    "#);
    insta::assert_snapshot!(sample.stderr_of(0, &["--fen", START, "--offset", "9"]), @"
    pgndex: note: 3 games reached the position; --offset 9 skips all games
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--fen", START, "--elo-min", "1", "--offset", "9"]), @"
    pgndex: note: --offset 9 skips all games that reached the position and pass the filters
    ");
    assert!(
        sample.stderr_of(0, &["--moves", "1. h4", "-f", "json"]).starts_with("pgndex: note: no game reached")
    );
    assert!(
        sample.stderr_of(0, &["--moves", "1. h4", "-f", "pgn"]).starts_with("pgndex: note: no game reached")
    );
    let run = sample.run_with(&["--moves", "1. h4", "-f", "csv"]);
    assert_eq!((run.status, run.stdout.lines().count()), (0, 1));
}

#[test]
fn an_unknown_player_is_reported_with_similar_ones() {
    let sample = odd();
    let nothing = |option, name| sample.stderr_of(0, &["--fen", START, option, name]);
    insta::assert_snapshot!(nothing("--white", "Argen"), @r#"
    pgndex: note: no player has a name that matches "Argen" (--white); did you mean "Ågren, Åsa"?
    pgndex: note: 3 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(nothing("--player", "=knight, b"), @r#"
    pgndex: note: no player has a name that matches "=knight, b" (--player); did you mean "Knight, B" or "Knight, A"?
    pgndex: note: 3 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(nothing("--player", "B Knigth"), @r#"
    pgndex: note: no player has a name that matches "B Knigth" (--player); did you mean "Knight, B" or "Knight, A"?
    pgndex: note: 3 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(nothing("--event", "club reti fnal"), @r#"
    pgndex: note: no event has a name that matches "club reti fnal" (--event); did you mean "Club "Réti" \ final"?
    pgndex: note: 3 games reached the position, but none passes the filters
    "#);
    insta::assert_snapshot!(sample.stderr_of(0, &["--material", "KvK", "--black", "hasti"]), @r#"
    pgndex: note: no player has a name that matches "hasti" (--black); did you mean "Hasty, H"?
    pgndex: note: no position matches
    "#);
}

/// Some games with their own start position.
const LISTED: &str = r#"[White "Carlsen, M"]
[Black "Anand, V"]
[Date "2013.11.22"]
[WhiteElo "2870"]
[BlackElo "2775"]
[Result "1/2-1/2"]

1. Nf3 d5 1/2-1/2

[White "Anand, V"]
[Black "Carlsen, M"]
[Date "2014.??.??"]
[Result "0-1"]

0-1

[White "Carlsen, M"]
[Black "Nobody"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"]
[SetUp "1"]
[Result "*"]

1... Kd7 *

[White "Other"]
[Black "Anand, V"]
[Date "2014.03.??"]
[WhiteElo "2500"]
[BlackElo "2780"]
[Result "1-0"]

1. e4 1-0
"#;

#[test]
fn games_are_listed_without_a_position() {
    let sample = indexed(LISTED);
    let games = |options: &[&str]| {
        let run = sample.run_with(&[&["-f", "csv"], options].concat());
        let ids: Vec<_> =
            run.stdout.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect();
        ids.join(" ")
    };
    assert_eq!(games(&[]), "1 2 3 4");
    assert_eq!(games(&["--white", "carlsen"]), "1 3");
    assert_eq!(games(&["--player", "carlsen", "--opponent", "anand"]), "1 2");
    assert_eq!(games(&["--sort", "rating"]), "1 4 2 3");
    assert_eq!(games(&["--sort", "date"]), "4 2 1 3");
    assert_eq!(games(&["--sort", "date", "--limit", "2", "--offset", "1"]), "2 1");
    insta::assert_snapshot!(sample.run_with(&["--limit", "2"]).stdout, @"
    game  white        elo  black        elo  result   date        event  ply  next
    ──────────────────────────────────────────────────────────────────────────────────────────
       1  Carlsen, M  2870  Anand, V    2775  1/2-1/2  2013.11.22           0  1. Nf3
       2  Anand, V          Carlsen, M        0-1      2014.??.??           0  (last position)
    2 of 4 games shown; --limit 0 shows all
    ");
    insta::assert_snapshot!(sample.run_with(&["-f", "json", "--black", "nobody"]).stdout, @r#"
    {"game_id":3,"white":"Carlsen, M","white_elo":null,"black":"Nobody","black_elo":null,"result":"*","date":null,"event":null,"site":null,"round":null,"eco":null,"ply":0,"move_number":1,"side":"b","next_san":"Kd7","next_uci":"e8d7","fen":"4k3/8/8/8/8/8/4P3/4K3 b - -"}
    "#);
    insta::assert_snapshot!(sample.stderr_of(0, &["--white", "carlsen", "--black", "anand", "--since", "2014", "--elo-min", "2000"]), @"
    pgndex: note: no game passes the filters
    pgndex: note: there would be 1 game without --white, or 1 game without --since
    ");
    insta::assert_snapshot!(sample.stderr_of(0, &["--offset", "4"]), @"
    pgndex: note: the database has 4 games; --offset 4 skips all games
    ");
    for (options, reason) in [
        (&["--plies-min", "500"][..], "the longest game has 2 half-moves"),
        (&["--ending", "rook", "--elo-min", "3000"], "the highest value that matches a game is 2775"),
        (&["--opening-eco", "B9", "--eco", "B9"], "no game passes --eco"),
        (
            &["--with-evals", "--elo-min", "2790", "--elo-max", "2800"],
            "filters\npgndex: note: --elo-min applies to",
        ),
        (
            &["--result", "0-1", "--elo-min", "2000", "--black", "nobody"],
            "even if one of the filters is left out",
        ),
    ] {
        let reported = sample.stderr_of(0, options);
        assert!(reported.contains(reason), "{options:?}: {reported}");
    }
    insta::assert_snapshot!(sample.stderr_of(0, &["--white", "tal"]), @r#"
    pgndex: note: no player has a name that matches "tal" (--white)
    pgndex: note: no game passes the filters
    "#);
    insta::assert_snapshot!(indexed("").stderr_of(0, &[]), @"
    pgndex: note: the database has no games
    ");
    let skipped = indexed("[Variant \"Crazyhouse\"]\n\n1. e4 *\n");
    insta::assert_snapshot!(skipped.stderr_of(0, &[]), @"
    pgndex: note: the database has only games without moves, 1 in total; their variant is not supported, or their FEN is invalid
    ");
    insta::assert_snapshot!(skipped.stderr_of(0, &["--variant", "crazyhouse"]), @"
    pgndex: note: only games without moves pass the filters, 1 in total; their variant is not supported, or their FEN is invalid
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--variations"]), @"
    error: the following required arguments were not provided:
      <--fen <FEN>|--moves <MOVES>|--play <MOVES>|--like <FEN>|--pattern <PLACEMENT>|--material <PIECES>|--structure <FEN>|--ending <KIND>|--move <MOVE>>

    Usage: pgndex find --variations <--fen <FEN>|--moves <MOVES>|--play <MOVES>|--like <FEN>|--pattern <PLACEMENT>|--material <PIECES>|--structure <FEN>|--ending <KIND>|--move <MOVE>> <DB>

    For more information, try '--help'.
    ");
}

#[test]
fn occurrences_and_games_of_a_much_visited_position_are_distinguished() {
    let games: String =
        (0..70).map(|number| format!("[Round \"{number}\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 *\n\n")).collect();
    let sample = indexed(&games);
    let last = |arguments: &[&str]| sample.ok(arguments).lines().last().map(str::to_owned);
    insta::assert_snapshot!(last(&["--fen", START, "--limit", "3"]).unwrap(), @r#"
    3 occurrences in 2 games shown; 70 games reached the position; --limit 0 shows all
    "#);
    insta::assert_snapshot!(last(&["--fen", START, "--limit", "9", "--offset", "131"]).unwrap(), @r#"
    9 occurrences in 5 games shown; 70 games reached the position; --limit 0 shows all that follow
    "#);
    insta::assert_snapshot!(last(&["--fen", START, "--limit", "0"]).unwrap(), @r#"
    140 occurrences in 70 games
    "#);
}

/// Games whose ids have more digits than those in the first rows.
#[test]
fn columns_of_a_long_table_stay_aligned() {
    let games: String = (0..10_050).map(|_| "1. e4 e5 *\n\n").collect();
    let sample = indexed(&games);
    let table = sample.ok(&["--moves", "1. e4", "--limit", "0"]);
    let columns: std::collections::BTreeSet<_> =
        table.lines().filter_map(|line| line.find("1... e5")).collect();
    assert_eq!((columns.len(), table.matches("1... e5").count()), (1, 10_050));
}

#[test]
fn corrections_of_a_fen_are_reported() {
    let sample = odd();
    let run = sample.run_with(&["--fen", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b kqKQ e3 0 1"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.ends_with("1 game\n"), "{}", run.stdout);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: castling rights rewritten in FEN's usual letters and order
    pgndex: note: en-passant square dropped: no en-passant capture is legal
    pgndex: note: searching for this position: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -
    ");
}

#[test]
fn assumptions_about_pasted_moves_are_reported() {
    let sample = odd();
    let run = sample.run_with(&["--moves", "1.e4 e5 2.Sc3 sf6"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.ends_with("1 game\n"), "{}", run.stdout);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: piece letters read as in German or Polish: S is the knight
    pgndex: note: letter case changed: sf6 to Nf6
    pgndex: note: searching for this position: rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq -
    ");
    insta::assert_snapshot!(sample.stderr_of(2, &["--moves", "1. e4 e5 (1... c5) 2. Nf3"]), @"pgndex: error: --moves: a variation begins after 1... e5; leave out the brackets and everything in them");
}

#[test]
fn an_illegal_move_is_reported_with_the_reason() {
    let sample = odd();
    let failure = |option, line| sample.stderr_of(2, &[option, line]);
    insta::assert_snapshot!(failure("--moves", "1. e4 e5 2. Ke3 Nf6"), @"
    pgndex: error: --moves: cannot play 2. Ke3 (ply 3) in the position rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
      because: White's king cannot reach e3
    ");
    insta::assert_snapshot!(failure("--play", "e2e4,e7e4"), @"
    pgndex: error: --play: cannot play 1... e7e4 (ply 2) in the position rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
      because: Black has no pawn that can reach e4
    ");
    insta::assert_snapshot!(failure("--play", "e2e4,pawn"), @"
    pgndex: error: --play: cannot play 1... pawn (ply 2) in the position rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
      because: not readable as a move
    ");
    insta::assert_snapshot!(failure("--moves", "1. Nf3 d5 2. d3 d4 3. Nd2 (x"), @"
    pgndex: error: --moves: cannot play 3. Nd2 (ply 5) in the position rnbqkbnr/ppp1pppp/8/8/3p4/3P1N2/PPP1PPPP/RNBQKB1R w KQkq - 0 3
      because: ambiguous: the knights on b1 and f3 can both go to d2; name the start square, as in Nb1d2
    ");
    insta::assert_snapshot!(failure("--moves", "1. e4 e5 2. d4 Bb4+ 3. Nf3"), @"
    pgndex: error: --moves: cannot play 3. Nf3 (ply 5) in the position rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3
      because: White is in check, and this move does not end the check
    ");
    insta::assert_snapshot!(failure("--moves", "1. d4 e6 2. Nc3 Bb4 3. Ne4"), @"
    pgndex: error: --moves: cannot play 3. Ne4 (ply 5) in the position rnbqk1nr/pppp1ppp/4p3/8/1b1P4/2N5/PPP1PPPP/R1BQKBNR w KQkq - 2 3
      because: the knight on c3 is pinned to its king
    ");
    insta::assert_snapshot!(failure("--moves", "1. e4 e5 2. O-O"), @"
    pgndex: error: --moves: cannot play 2. O-O (ply 3) in the position rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
      because: White cannot castle now: the way is blocked, or the king is in check or would pass through check
    ");
    insta::assert_snapshot!(failure("--moves", ""), @r#"
    pgndex: error: --moves: there are no moves; write them as in "1. e4 c5 2. Nf3" or e2e4,c7c5
    "#);
    insta::assert_snapshot!(failure("--fen", "8/8/8/8/8/8/8/8 w - -"), @r#"
    pgndex: error: not a legal position: "8/8/8/8/8/8/8/8 w - -"
      because: White must have exactly one king, but has 0
    "#);
}

#[test]
fn errors_of_arguments_are_explained() {
    let sample = indexed("");
    for (option, value) in [
        ("--since", "99"),
        ("--since", "2021-02-31"),
        ("--limit", "abc"),
        ("--limit", "4294967296"),
        ("--elo-min", "1.5"),
        ("--until", "2024.13"),
        ("--eco", "F00"),
        ("--eco", "B90-A00"),
        ("--result", "2-0"),
        ("--white", ""),
        ("--elo-min", "-5"),
        ("--sort", "name"),
        ("--format", "xml"),
        ("--fen", "x"),
    ] {
        let run = sample.run_with(&["--moves", "e4", option, value]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{option} {value}");
    }
    insta::assert_snapshot!(sample.run_with(&["--moves", "e4", "--since", "99"]).stderr, @"
    error: invalid value '99' for '--since <DATE>': not a date; write YYYY, YYYY.MM or YYYY.MM.DD

    For more information, try '--help'.
    ");
    let reported = |option, value| {
        let run = sample.run_with(&["--moves", "e4", option, value]);
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(reported("--since", "2021-02-31"), @r#"
    error: invalid value '2021-02-31' for '--since <DATE>': there is no such day; that month has 28 days
    "#);
    insta::assert_snapshot!(reported("--limit", "abc"), @r#"
    error: invalid value 'abc' for '--limit <N>': not a whole number
    "#);
    insta::assert_snapshot!(reported("--limit", "4294967296"), @r#"
    error: invalid value '4294967296' for '--limit <N>': too large; the maximum is 4294967295
    "#);
    insta::assert_snapshot!(sample.run(&["index", "-j", "0", "a.db", "b.pgn"]).stderr.lines().next().unwrap_or_default(), @r#"
    error: invalid value '0' for '--threads <N>': too small; the minimum is 1
    "#);
}

/// The first page for any position takes at most 10 milliseconds, or, on a busy machine, at most 20 times as long as
/// the page for a rare position.
#[test]
fn the_first_page_is_quick() {
    const RARE: [&str; 2] = ["--moves", "1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1"];
    let sample = Workspace::for_command(&["find", "games.db"]);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let run = sample.run(&["index", "--quiet", "games.db", examples.to_str().expect("a path")]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for arguments in [
        &["--fen", START][..],
        &["--fen", START, "--sort", "rating"],
        &["--fen", START, "--sort", "date"],
        &["--fen", START, "--player", "=Player 145"],
        &["--moves", "1. e4 c5 2. Nf3 d6"],
        &RARE,
    ] {
        let time = |run: Run| -> f64 {
            let line = run.stderr.lines().last().expect("a line").to_owned();
            let number = line.strip_prefix("pgndex: note: took ").and_then(|line| line.strip_suffix(" ms"));
            number.and_then(|number| number.parse().ok()).expect(&line)
        };
        // Other programs may be running, so the best of ten runs counts.
        let (mut best, mut rare) = (f64::MAX, f64::MAX);
        for _ in 0..10 {
            best = best.min(time(sample.run_with(&[arguments, &["--timing"]].concat())));
            rare = rare.min(time(sample.run_with(&[&RARE[..], &["--timing"]].concat())));
        }
        assert!(best < (20.0 * rare).max(10.0), "{arguments:?}: {best} ms; a rare position: {rare} ms");
    }
}
