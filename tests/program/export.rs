//! `pgndex export`: its output, which gives the same games when it is indexed again.

use std::path::Path;

use crate::needs::part_of_corpus;
use crate::program::python::printed_by;
use crate::workspace::{BLUNDER, CLUB, ENDINGS, Workspace};

const SHUFFLED: &str = r#"[Event "Shuffled"]
[Site "?"]
[Date "2024.??.??"]
[Round "?"]
[White "Knight, A"]
[Black "Knight, B"]
[Result "1/2-1/2"]
[Variant "Chess960"]
[FEN "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1"]
[SetUp "1"]

1. c4 c5 2. Bc2 Bc7 3. O-O-O O-O-O 1/2-1/2

"#;
const OTHER: &str = r#"[Event "Other rules"]
[Site "?"]
[Date "2024.??.??"]
[Round "?"]
[White "Knight, A"]
[Black "Knight, B"]
[Result "1-0"]
[Variant "Atomic"]

1. Nf3 f6 2. Ne5 1-0
"#;

fn workspace() -> Workspace {
    Workspace::for_command(&["export", "games.db"])
}

fn odd() -> Workspace {
    workspace().indexed(&[CLUB, ENDINGS, BLUNDER, SHUFFLED, OTHER].concat())
}

/// All data of the games but their place in the text.
const GAMES: &str =
    "SELECT game_id, white, black, white_elo, black_elo, result, date, event, site, round, eco, ply_count,
    white_title, black_title, time_control, variant, start_fen FROM games ORDER BY game_id";
const TAGS: &str = "SELECT * FROM tag WHERE name NOT IN ('UTCDate', 'Truncated') ORDER BY game_id, name";
const MOVES: &str =
    "SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position ORDER BY game_id, ply";

/// Exports a collection, indexes the exported file, and compares the databases.
fn check_round_trip(pgn: &Path) {
    let workspace = workspace();
    workspace.index("games.db", pgn);
    let run = workspace.run_with(&["--format", "pgn", "--output", "out.pgn"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    workspace.index("again.db", &workspace.path("out.pgn"));
    for sql in [GAMES, TAGS, MOVES] {
        let (before, after) = (workspace.rows("games.db", sql), workspace.rows("again.db", sql));
        assert_eq!(before.len(), after.len(), "{}: {sql}", pgn.display());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after, "{}", pgn.display());
        }
    }
    let again = workspace.run(&["export", "again.db", "--format", "pgn", "--output", "again.pgn"]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    let read = |name| std::fs::read_to_string(workspace.path(name)).expect("a file");
    assert!(read("out.pgn") == read("again.pgn"), "{}", pgn.display());
}

#[test]
fn help() {
    insta::assert_snapshot!(workspace().run(&["export", "-h"]).stdout, @r#"
    Write chosen games as PGN or CSV, or their positions as FEN, EPD or CSV

    Usage: pgndex export [OPTIONS] <--format <FORMAT>|--parquet <DIR>> <DB>

    Arguments:
      <DB>  Database [env: PGNDEX_DB]

    Options:
      -f, --format <FORMAT>  Games: pgn, csv; positions: fen, epd, csv-positions
          --parquet <DIR>    Write the tables of the games into this directory, as Parquet
          --sort <ORDER>     Order of the games [default: game] [possible values: game, rating, date]
      -n, --limit <N>        Number of games to write; 0 for all [default: 0]
          --last             Only the last position of each game
          --sample <N>       Choose this many positions at random, at most one per game
      -o, --output <FILE>    File to write [default: standard output]
          --overwrite        Replace an existing file or existing Parquet files
      -h, --help             Print help (see more with '--help')

    Positions by description:
          --pattern <PLACEMENT>  Pieces on squares: a FEN's placement with wildcards
          --material <PIECES>    The remaining pieces, White's first: KRPvKR, KRP-KR or KRPKR
          --structure <FEN>      The pawn structure of this FEN; its other pieces do not matter
          --ending <KIND>        The kind of ending, such as rook or opposite-bishops
          --move <MOVE>          The move played from the position, such as "Qxh7#"
          --for <PLIES>          At least this many consecutive positions must match
          --ply <PLIES>          Only positions at these plies: 20, 20-40, -40 or 60-
          --then                 Put this between two descriptions to match them one after the other

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

    … 18 more options: --help
    "#);
}

#[test]
fn exported_pgn_gives_the_same_games() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    check_round_trip(&examples.join("famous-games.pgn"));
    check_round_trip(&examples.join("synthetic.pgn"));
    check_round_trip(&odd().path("games.pgn"));
}

/// The same with the first `most` bytes of each real collection.
fn check_collections(most: usize) {
    for name in ["otb-40k", "chess960-20k", "lichess-24k"] {
        let Some(part) = part_of_corpus(name, most) else { continue };
        let workspace = workspace();
        std::fs::write(workspace.path("part.pgn"), part).expect("a file");
        check_round_trip(&workspace.path("part.pgn"));
    }
}

#[test]
fn some_exported_games_of_collections_are_the_same() {
    check_collections(300_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn many_exported_games_of_collections_are_the_same() {
    check_collections(2_000_000);
}

#[test]
fn missing_parts_are_reported_in_the_pgn_and_on_stderr() {
    let workspace = odd();
    let run = workspace.run_with(&["--format", "pgn", "--sql", "SELECT 3 UNION ALL SELECT 5"]);
    insta::assert_snapshot!(run.stdout, @r#"
    [Event "Blunder"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "Hasty, H"]
    [Black "Knight, B"]
    [Result "0-1"]
    [Truncated "the text after ply 4 has an error, and was not read"]

    1. f3 e5 2. g4 Qh4# 0-1

    [Event "Other rules"]
    [Site "?"]
    [Date "2024.??.??"]
    [Round "?"]
    [White "Knight, A"]
    [Black "Knight, B"]
    [Result "1-0"]
    [Truncated "no moves: the variant is not supported, or the start position is not valid"]
    [Variant "Atomic"]

    1-0
    "#);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 2 games have missing moves; the table `problem` says why
    ");
}

#[test]
fn positions_agree_with_the_view() {
    let workspace = odd();
    // The view has a row for each move; the export also has the last positions.
    let sql = "SELECT fen FROM (SELECT game_id, ply, fen FROM moves
               UNION ALL SELECT game_id, ply, NULL FROM game_position WHERE move_code IS NULL) ORDER BY game_id, ply";
    let connection = rusqlite::Connection::open(workspace.path("games.db")).expect("a database");
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).expect("rows");
    let expected: Vec<_> = rows.map(|row| row.expect("a row")).collect();
    let lines = workspace.stdout_of(&["--format", "fen"]);
    assert_eq!(lines.lines().count(), expected.len());
    for (line, expected) in lines.lines().zip(&expected) {
        assert!(expected.as_ref().is_none_or(|expected| expected == line), "{line} {expected:?}");
    }
    insta::assert_snapshot!(workspace.stdout_of(&["--format", "fen", "--last"]), @"
    rnbqkb1r/ppp2ppp/8/3np2Q/8/2N5/PPPP1PPP/R1B1KBNR b KQkq - 1 5
    2kr3Q/8/8/8/8/8/8/4K3 b - - 0 18
    rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3
    n1krbqrn/ppbppppp/8/2p5/2P5/8/PPBPPPPP/N1KRBQRN w - - 4 4
    ");
    insta::assert_snapshot!(workspace.stdout_of(&["--format", "epd", "--sql", "SELECT 2"]), @r#"
    r3k3/7P/8/8/8/8/8/4K3 b q - fmvn 17; hmvc 5; id "game 2 ply 0"; sm O-O-O;
    2kr4/7P/8/8/8/8/8/4K3 w - - fmvn 18; hmvc 6; id "game 2 ply 1"; sm h8=Q;
    2kr3Q/8/8/8/8/8/8/4K3 b - - fmvn 18; hmvc 0; id "game 2 ply 2";
    "#);
    insta::assert_snapshot!(workspace.stdout_of(&["--format", "epd", "--ply", "4", "--white", "ågren"]), @r#"
    rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - fmvn 3; hmvc 2; id "game 1 ply 4";
    "#);
    assert_eq!(workspace.stdout_of(&["--format", "fen", "--ply", "99"]), "");
}

#[test]
fn csv_has_a_row_for_each_game() {
    insta::assert_snapshot!(odd().stdout_of(&["--format", "csv"]), @r#"
    game_id,event,site,date,round,white,black,result,white_elo,black_elo,white_title,black_title,eco,opening_eco,opening,time_control,variant,start_fen,ply_count,status,source,moves
    1,"Club ""Réti"" \ final",,2024.02.29,1.2,"Ågren, Åsa",棋聖,1-0,2455,1987,,,C25,C26,Vienna Game: Falkbeer Variation,,,,9,ok,games.pgn,1. e4 e5 2. Nc3 Nf6 3. -- d5 4. exd5 Nxd5 5. Qh5
    2,Endings,,,,,,*,,,,,,,,,,r3k3/7P/8/8/8/8/8/4K3 b q - 5 17,2,ok,games.pgn,17... O-O-O 18. h8=Q
    3,Blunder,,,,"Hasty, H","Knight, B",0-1,,,,,,A00,Barnes Opening: Fool's Mate,,,,4,truncated,games.pgn,1. f3 e5 2. g4 Qh4#
    4,Shuffled,,2024.??.??,,"Knight, A","Knight, B",1/2-1/2,,,,,,,,,Chess960,nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1,6,ok,games.pgn,1. c4 c5 2. Bc2 Bc7 3. O-O-O O-O-O
    5,Other rules,,2024.??.??,,"Knight, A","Knight, B",1-0,,,,,,,,,Atomic,,0,skipped,games.pgn,
    "#);
}

#[test]
fn games_are_chosen_by_position_filter_or_query() {
    let workspace = odd();
    let events = |arguments: &[&str]| -> Vec<String> {
        let pgn = workspace.stdout_of(&[&["--format", "pgn"], arguments].concat());
        pgn.lines().filter(|line| line.starts_with("[Event ")).map(str::to_owned).collect()
    };
    assert_eq!(events(&["--fen", "2kr4/7P/8/8/8/8/8/4K3 w - -"]), ["[Event \"Endings\"]"]);
    assert_eq!(events(&["--moves", "1. f3"]), ["[Event \"Blunder\"]"]);
    assert_eq!(events(&["--play", "e2e4", "--elo-min", "1900"]).len(), 1);
    assert_eq!(events(&["--play", "e2e4", "--elo-min", "2000"]).len(), 0);
    assert_eq!(events(&["--player", "knight"]).len(), 3);
    assert_eq!(events(&["--sql", "SELECT game_id FROM game ORDER BY game_id DESC LIMIT 2"]).len(), 2);
    insta::assert_snapshot!(workspace.run_with(&["--format", "pgn", "--player", "nobody"]).stderr, @r#"
    pgndex: note: no player has a name that matches "nobody" (--player)
    pgndex: note: no game matches
    "#);
    insta::assert_snapshot!(workspace.failure(&["--format", "pgn", "--sql", "SELECT white FROM games"]), @r#"
    pgndex: error: --sql: the first column must contain game numbers (game_id), but contains the text "Ågren, Åsa"
    "#);
    insta::assert_snapshot!(workspace.failure(&["--format", "pgn", "--sql", "SELECT 99"]), @"
    pgndex: error: games.db: no game 99; the highest number is 5
    ");
    insta::assert_snapshot!(workspace.failure(&["--format", "pgn", "--sql", "DELETE FROM game"]), @"
    pgndex: error: --sql: this would change the database; only reading is allowed here
    ");
    for wrong in [
        &[][..],
        &["--format", "pgn", "--format", "fen"],
        &["--format", "pgn", "--ply", "3"],
        &["--format", "csv", "--last"],
        &["--format", "fen", "--ply", "3", "--last"],
        &["--format", "pgn", "--overwrite"],
        &["--format", "fen", "--ply", "3", "--ply", "4"],
        &["--format", "fen", "--ply", "3", "--either"],
        &["--format", "fen", "--then", "--ending", "rook"],
        &["--format", "fen", "--ending", "rook", "--last"],
        &["--format", "fen", "--ending", "rook", "--sample", "3", "--per-game", "2"],
        &["--format", "fen", "--ending", "rook", "--moves", "e4"],
        &["--format", "fen", "--ending", "rook", "--fen", "8/8/8/4k3/8/4K3/4P3/8 w - -"],
        &["--format", "pgn", "--ending", "rook", "--sql", "SELECT 1"],
        &["--format", "pgn", "--sort", "date", "--sql", "SELECT 1"],
        &["--format", "pgn", "--format", "csv-positions"],
        &["--format", "pgn", "--evaluated"],
        &["--format", "csv", "--sample", "3"],
        &["--format", "fen", "--per-game", "3"],
        &["--format", "fen", "--seed", "3"],
        &["--format", "fen", "--sample", "0"],
        &["--format", "fen", "--sample", "3", "--limit", "2"],
        &["--format", "fen", "--sample", "3", "--sort", "date"],
        &["--format", "fen", "--sample", "3", "--per-game", "101"],
        &["--format", "pgn", "--sql", "SELECT 1", "--white", "x"],
        &["--format", "pgn", "--sql", "SELECT 1", "--moves", "e4"],
        &["--format", "pgn", "--moves", "e4", "--play", "e2e4"],
    ] {
        let run = workspace.run_with(wrong);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{wrong:?}");
    }
}

#[test]
fn games_are_sorted_and_limited() {
    let workspace = odd();
    let games = |arguments: &[&str]| -> Vec<String> {
        let rows = workspace.stdout_of(&[&["--format", "csv"], arguments].concat());
        rows.lines().skip(1).map(|row| row.split(',').next().expect("a cell").to_owned()).collect()
    };
    assert_eq!(games(&[]), ["1", "2", "3", "4", "5"]);
    assert_eq!(games(&["--limit", "2"]), ["1", "2"]);
    assert_eq!(games(&["-n", "0"]), ["1", "2", "3", "4", "5"]);
    // Only the first game is rated; the second has no result.
    assert_eq!(games(&["--sort", "rating"]), ["1", "3", "4", "5", "2"]);
    assert_eq!(games(&["--sort", "date", "--limit", "4"]), ["1", "5", "4", "3"]);
    assert_eq!(games(&["--sort", "date", "--move", "#"]), ["3"]);
    assert_eq!(
        games(&["--limit", "2", "--sql", "SELECT 5 UNION ALL SELECT 4 UNION ALL SELECT 3"]),
        ["5", "4"]
    );
    // Games without a position in the range do not count towards the limit.
    insta::assert_snapshot!(workspace.stdout_of(&["--format", "epd", "--ply", "5-6", "--limit", "2"]), @r#"
    rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR b KQkq - fmvn 3; hmvc 3; id "game 1 ply 5"; sm d5;
    rnbqkb1r/ppp2ppp/5n2/3pp3/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - fmvn 4; hmvc 0; id "game 1 ply 6"; sm exd5;
    nrk1bqrn/ppbppppp/8/2p5/2P5/8/PPBPPPPP/N1KRBQRN b kq - fmvn 3; hmvc 3; id "game 4 ply 5"; sm O-O-O;
    n1krbqrn/ppbppppp/8/2p5/2P5/8/PPBPPPPP/N1KRBQRN w - - fmvn 4; hmvc 4; id "game 4 ply 6";
    "#);
}

/// Asserts that the exported games and positions for a description are those that `find` lists.
fn check_against_find(workspace: &Workspace, options: &[&str]) -> usize {
    let lines = |arguments: &[&str]| -> Vec<String> {
        let run = workspace.run(&[arguments, options].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stdout.lines().map(str::to_owned).collect()
    };
    let mut found: Vec<serde_json::Value> = Vec::new();
    for line in lines(&["find", "games.db", "--format", "json"]) {
        found.push(serde_json::from_str(&line).expect("JSON"));
    }
    let text = lines(&["export", "games.db", "--format", "csv-positions"]).join("\n");
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("CSV")).collect();
    assert_eq!(rows.len(), found.len(), "{options:?}");
    for (row, found) in rows.iter().zip(&found) {
        let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
        assert_eq!(row[0].rsplitn(3, ' ').last(), found["fen"].as_str(), "{options:?}");
        assert_eq!((&row[1], &row[2]), (&*found["game_id"].to_string(), &*found["ply"].to_string()));
        assert_eq!((&row[3], &row[4], &row[5]), (&*text("next_uci"), &*text("next_san"), &*text("result")));
    }
    let epd = lines(&["export", "games.db", "--format", "epd"]);
    assert_eq!(epd.len(), found.len());
    for (line, found) in epd.iter().zip(&found) {
        let id = format!("id \"game {} ply {}\"", found["game_id"], found["ply"]);
        assert!(line.contains(&id), "{line} {id}");
    }
    let games = lines(&["export", "games.db", "--format", "csv"]);
    let pgn = lines(&["export", "games.db", "--format", "pgn"]);
    assert_eq!(games.len(), found.len() + 1, "{options:?}");
    let results = pgn.iter().filter(|line| line.starts_with("[Result "));
    let expected = found.iter().map(|found| format!("[Result {}]", found["result"]));
    assert!(results.eq(expected.collect::<Vec<_>>().iter()), "{options:?}");
    found.len()
}

#[test]
fn described_positions_agree_with_find() {
    let Some(part) = part_of_corpus("otb-40k", 200_000) else { return };
    let workspace = Workspace::new();
    std::fs::write(workspace.path("games.pgn"), part).expect("a file");
    workspace.index("games.db", &workspace.path("games.pgn"));
    let descriptions = [
        &["--ending", "rook"][..],
        &["--ending", "rook", "--for", "6", "--ply", "80-"],
        &["--material", "KRP*vKRP*", "--either", "--elo-min", "2300"],
        &["--move", "Bxh7+", "--either", "--mirror"],
        &["--move", "O-O-O", "--then", "--move", "#"],
        &["--pattern", "*R*k*/*/*/*/*/*/*/* b"],
        &["--structure", "8/pp3ppp/2p1p3/8/3P4/4P3/PP3PPP/8", "--result", "1-0"],
    ];
    let mut found = 0;
    for description in descriptions {
        for rest in [&["--limit", "0"][..], &["--limit", "5"], &["--sort", "rating", "--limit", "7"]] {
            found += check_against_find(&workspace, &[description, rest].concat());
        }
        found += check_against_find(&workspace, &[description, &["--sort", "date", "--limit", "0"]].concat());
    }
    assert!(found > 200, "{found}");
}

#[test]
fn rows_of_positions_agree_with_the_tables() {
    let workspace = workspace();
    let Some(part) = part_of_corpus("lichess-24k", 300_000) else { return };
    std::fs::write(workspace.path("games.pgn"), part).expect("a file");
    workspace.index("games.db", &workspace.path("games.pgn"));
    let printed = workspace.stdout_of(&["--format", "csv-positions", "--ply", "12-", "--evaluated"]);
    let mut rows = csv::Reader::from_reader(printed.as_bytes());
    // All columns but SAN.
    let own = |row: csv::StringRecord| -> Vec<String> {
        let row = row.into_iter().enumerate().filter(|&(column, _)| column != 4);
        row.map(|(_, cell)| cell.to_owned()).collect()
    };
    let rows: Vec<_> = rows.records().map(|row| own(row.expect("CSV"))).collect();
    let connection = workspace.connection("games.db");
    let sql = "SELECT fen, moves.game_id, ply, uci, result, white_elo, black_elo, eval_cp_before, eval_mate_before
               FROM moves JOIN game USING (game_id)
               WHERE ply >= 12 AND (eval_cp_before IS NOT NULL OR eval_mate_before IS NOT NULL) ORDER BY game_id, ply";
    let mut statement = connection.prepare(sql).expect("SQL");
    let text = |value: rusqlite::types::Value| match value {
        rusqlite::types::Value::Null => String::new(),
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => panic!("{other:?}"),
    };
    let read = |row: &rusqlite::Row<'_>| (0..9).map(|column| row.get(column).map(text)).collect();
    let expected = statement.query_map([], read).expect("rows");
    let expected: Vec<Vec<String>> = expected.map(|row| row.expect("a row")).collect();
    // The view does not contain the last positions.
    let moved: Vec<_> = rows.into_iter().filter(|row| !row[3].is_empty()).collect();
    assert!(expected.len() > 500 && moved == expected, "{} {}", moved.len(), expected.len());
}

#[test]
fn a_missing_description_is_reported() {
    let workspace = Workspace::new();
    insta::assert_snapshot!(workspace.run(&["export", "--format", "fen", "games.db", "--either"]).stderr, @"
    error: --either refines a description; also give --pattern, --material, --structure, --ending or --move

    Usage: pgndex export [OPTIONS] <--format <FORMAT>|--parquet <DIR>> <DB>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(workspace.run(&["find", "games.db", "--ending", "rook", "--then"]).stderr, @"
    error: give --pattern, --material, --structure, --ending or --move before and after each --then

    Usage: pgndex find [OPTIONS] <DB>

    For more information, try '--help'.
    ");
}

/// Draws random positions from the first games of a collection, with this many seeds.
fn draws_agree(corpus: &str, bytes: usize, seeds: u32) {
    let Some(printed) = printed_by("sample.py", corpus, bytes, &[&seeds.to_string()]) else { return };
    assert!(printed.ends_with(" positions\n"), "{printed}");
}

#[test]
fn some_samples_agree_with_python_chess() {
    draws_agree("lichess-24k", 60_000, 12);
}

#[test]
#[ignore = "takes a minute"]
fn many_samples_agree_with_python_chess() {
    for corpus in ["otb-40k", "lichess-24k", "fics", "tcec-3k", "chess960-20k"] {
        draws_agree(corpus, 200_000, 200);
    }
}

#[test]
fn a_sample_prints_its_seed_and_the_shortfall() {
    let workspace = odd();
    let run = workspace.run_with(&["--format", "fen", "--sample", "3", "--per-game", "2", "--ply", "2-"]);
    insta::assert_snapshot!(run.stdout, @"
    rnbqkb1r/ppp2ppp/5n2/3Pp3/8/2N5/PPPP1PPP/R1BQKBNR b KQkq - 0 4
    nrkbbqrn/pp1ppppp/8/2p5/2P5/8/PPBPPPPP/NRK1BQRN b KQkq - 1 2
    nrk1bqrn/ppbppppp/8/2p5/2P5/8/PPBPPPPP/NRK1BQRN w KQkq - 2 3
    ");
    insta::assert_snapshot!(run.stderr, @"pgndex: note: the positions were chosen with --seed 1");
    let run = workspace.run_with(&[
        "--format",
        "csv-positions",
        "--sample",
        "30",
        "--seed",
        "7",
        "--white",
        "hasty",
        "-o",
        "out.csv",
    ]);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 1 position written to out.csv
    pgndex: note: only 1 position could be chosen, at most 1 per game; --per-game N allows more
    pgndex: note: the positions were chosen with --seed 7
    pgndex: note: 1 game has missing moves; the table `problem` says why
    ");
    insta::assert_snapshot!(std::fs::read_to_string(workspace.path("out.csv")).expect("a file"), @"
    fen,game_id,ply,uci,san,result,white_elo,black_elo,eval_cp,eval_mate
    rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1,3,0,f2f3,f3,0-1,,,,
    ");
    insta::assert_snapshot!(workspace.stderr_of(0, &["--format", "fen", "--sample", "3", "--ply", "90-"]), @"
    pgndex: note: no position matches
    pgndex: note: the longest game has 9 half-moves
    ");
    insta::assert_snapshot!(workspace.run_with(&["--format", "fen", "--sample", "9", "--sql", "SELECT 3 UNION ALL SELECT 3"]).stderr, @"
    pgndex: note: only 1 position could be chosen, at most 1 per game; --per-game N allows more
    pgndex: note: the positions were chosen with --seed 1
    pgndex: note: 1 game has missing moves; the table `problem` says why
    ");
    insta::assert_snapshot!(workspace.failure(&["--format", "fen", "--sample", "3", "--sql", "SELECT 4294967295"]), @"
    pgndex: error: games.db: no game 4294967295; the highest number is 5
    ");
    for option in [["--shard", "7"], ["--partition-by", "year"]] {
        let refused = workspace.stderr_of(2, &[&["--format", "pgn"], &option[..]].concat());
        assert!(refused.contains("cannot be used with"), "{refused}");
    }
    insta::assert_snapshot!(workspace.stderr_of(2, &["--format", "pgn", "--ply", "3"]), @"
    pgndex: error: --ply chooses positions, but pgn, csv and --parquet write whole games; use --format fen, epd or csv-positions, or describe the positions, for example with --ending
    ");
}

#[test]
fn an_empty_export_keeps_existing_files() {
    let workspace = odd();
    for conditions in [
        &["--format", "pgn", "--player", "nobody"][..],
        &["--format", "csv", "--white", "Hasti"],
        &["--format", "fen", "--moves", "1. h4"],
        &["--format", "epd", "--eco", "E99"],
        &["--format", "pgn", "--sql", "SELECT game_id FROM game WHERE false"],
        &["--format", "fen", "--ply", "500"],
    ] {
        let run = workspace.run_with(&[conditions, &["-o", "none.pgn"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{conditions:?}");
        let unit = if matches!(conditions[1], "fen" | "epd") { "position" } else { "game" };
        let is_reported = |what: &str| run.stderr.contains(&format!("note: no {unit} matches; {what}\n"));
        assert!(is_reported("none.pgn is not written"), "{}", run.stderr);
        assert!(!workspace.path("none.pgn").exists());
        std::fs::write(workspace.path("there.pgn"), "precious").expect("a file");
        let run = workspace.run_with(&[conditions, &["-o", "there.pgn", "--overwrite"]].concat());
        assert_eq!(run.status, 0, "{conditions:?}");
        let is_reported = |what: &str| run.stderr.contains(&format!("note: no {unit} matches; {what}\n"));
        assert!(is_reported("there.pgn is unchanged"), "{}", run.stderr);
        assert_eq!(std::fs::read(workspace.path("there.pgn")).expect("a file"), b"precious");
        std::fs::remove_file(workspace.path("there.pgn")).expect("removed");
    }
    let run = workspace.run_with(&["--format", "csv", "--white", "Hasti", "-o", "none.csv"]);
    insta::assert_snapshot!(run.stderr, @r#"
    pgndex: note: no player has a name that matches "Hasti" (--white); did you mean "Hasty, H"?
    pgndex: note: no game matches; none.csv is not written
    "#);
}

#[test]
fn a_file_is_written_completely_or_not_at_all() {
    let workspace = odd();
    let run = workspace.run_with(&["--format", "pgn", "--result", "1-0", "-o", "out.pgn"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 2 games written to out.pgn
    pgndex: note: 1 game has missing moves; the table `problem` says why
    ");
    let before = std::fs::read(workspace.path("out.pgn")).expect("a file");
    insta::assert_snapshot!(workspace.failure(&["--format", "fen", "-o", "out.pgn"]), @"
    pgndex: error: out.pgn: already exists; use --overwrite to replace it, or name another file
    ");
    insta::assert_snapshot!(workspace.failure(&["--format", "fen", "-o", "games.db", "--overwrite"]), @"
    pgndex: error: games.db: is the database itself or one of its auxiliary files, so it is not replaced; choose another file
    ");
    insta::assert_snapshot!(workspace.failure(&["--format", "fen", "-o", ".", "--overwrite"]), @"
    pgndex: error: .: a directory; name a file, or leave out --output to write to standard output
    ");
    insta::assert_snapshot!(workspace.failure(&["--format", "fen", "-o", "nowhere/out.fen"]), @"
    pgndex: error: nowhere/out.fen: its directory does not exist; create it first
    ");
    workspace.failure(&[
        "--format",
        "pgn",
        "--sql",
        "SELECT 1 UNION ALL SELECT 99",
        "-o",
        "out.pgn",
        "--overwrite",
    ]);
    assert!(before == std::fs::read(workspace.path("out.pgn")).expect("a file"));
    assert_eq!(workspace.names(), ["games.db", "games.pgn", "out.pgn"]);
    workspace.stdout_of(&["--format", "pgn", "-o", "out.pgn", "--overwrite"]);
    assert!(before != std::fs::read(workspace.path("out.pgn")).expect("a file"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(workspace.path("plain"), "").expect("a file");
        let mode = |name| std::fs::metadata(workspace.path(name)).expect("a file").permissions().mode();
        assert_eq!(mode("out.pgn"), mode("plain"));
    }
}

#[test]
fn quotes_and_backslashes_in_tags_are_escaped() {
    let tags = r#"[White "Ann \"The Cat\" Lee"]
[Black "C:\\games\\"]
"#;
    let workspace = Workspace::new().indexed(&format!("{tags}\n1. e4 *\n"));
    let exported = workspace.ok(&["export", "games.db", "--format", "pgn"]);
    assert!(exported.contains(tags), "{exported}");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed() {
    use std::os::unix::fs::symlink;
    let workspace = Workspace::new().indexed(BLUNDER).with("real.txt", "old");
    for (file, link) in [("missing.txt", "dangling.txt"), ("real.txt", "link.txt")] {
        symlink(file, workspace.path(link)).expect("a link");
    }
    let export = |link| workspace.run(&["export", "games.db", "-f", "csv", "--overwrite", "-o", link]);
    let refused = export("dangling.txt");
    assert!(
        refused.status == 1 && refused.stderr.contains("dangling.txt: a link to a missing file;"),
        "{refused:?}"
    );
    assert_eq!(export("link.txt").status, 0);
    assert!(workspace.path("link.txt").is_symlink());
    assert!(std::fs::read_to_string(workspace.path("real.txt")).expect("a file").contains("game_id"));
}
