//! `pgndex export`: what it writes, and that it comes back as it was.

use std::path::Path;

use crate::needs::part_of_corpus;
use crate::place::{BLUNDER, CLUB, ENDINGS, Place};

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

fn place() -> Place {
    Place::asking(&["export", "games.db"])
}

fn odd() -> Place {
    place().indexed(&[CLUB, ENDINGS, BLUNDER, SHUFFLED, OTHER].concat())
}

/// All of a game but where it stood.
const GAMES: &str =
    "SELECT game_id, white, black, white_elo, black_elo, result, date, event, site, round, eco, ply_count,
    white_title, black_title, time_control, variant, start_fen FROM games ORDER BY game_id";
const TAGS: &str = "SELECT * FROM tag WHERE name NOT IN ('UTCDate', 'Truncated') ORDER BY game_id, name";
const MOVES: &str =
    "SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position ORDER BY game_id, ply";

/// Exports a collection, indexes what was written, and compares.
fn comes_back(pgn: &Path) {
    let place = place();
    place.index("games.db", pgn);
    let run = place.ask(&["--pgn", "--output", "out.pgn"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    place.index("again.db", &place.path("out.pgn"));
    for sql in [GAMES, TAGS, MOVES] {
        let (before, after) = (place.rows("games.db", sql), place.rows("again.db", sql));
        assert_eq!(before.len(), after.len(), "{}: {sql}", pgn.display());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after, "{}", pgn.display());
        }
    }
    let again = place.run(&["export", "again.db", "--pgn", "--output", "again.pgn"]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    let read = |name| std::fs::read_to_string(place.path(name)).expect("a file");
    assert!(read("out.pgn") == read("again.pgn"), "{}", pgn.display());
}

#[test]
fn help() {
    insta::assert_snapshot!(place().run(&["export", "--help"]).stdout, @r#"
    Write chosen games as PGN or CSV, or their positions as FEN or EPD

    Usage: pgndex export [OPTIONS] <--pgn|--fen|--epd|--csv> <DB>

    Arguments:
      <DB>  Database

    Options:
          --pgn            Write the games as PGN
          --fen            Write their positions as FEN, one a line
          --epd            Write their positions as EPD, one a line, with the moves played
          --csv            Write the games as CSV, one a line
          --plain          Write moves only: no comments, glyphs, variations, clocks and evaluations
          --ply <N>        Of each game, only the position after this many half-moves
          --last           Of each game, only the last position
      -o, --output <FILE>  File to write [default: standard output]
          --overwrite      Replace the file if it exists
      -h, --help           Print help

    Which games:
          --position <FEN>       Games that reached the position with this FEN
          --moves <MOVES>        Games that reached the position after these moves: "1. e4 c5 2. Nf3".
                                 They are read as `find` reads them
          --play <MOVES>         The same in UCI notation: e2e4,c7c5
          --white <NAME>         White's name, or the beginning of one of its words. Letter case,
                                 accents and blanks around commas do not matter. Initials fit given
                                 names, and first and last name stand in either order. '=NAME' fits this
                                 name only
          --black <NAME>         Black's name
          --player <NAME>        White's or Black's name. Given twice: both played, one on each side
          --opponent <NAME>      The name of the one who played against --player
          --elo-min <N>          Both players are rated this or higher
          --elo-max <N>          Both players are rated this or lower
          --since <DATE>         Played in this year, month or day (2021, 2021.06, 2021-06-30) or later.
                                 A game whose month or day is unknown is shown if it could fit
          --until <DATE>         Played in this year, month or day or earlier
          --result <RESULT>      Result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none
          --event <NAME>         The event's name, or the beginning of one of its words
          --site <NAME>          The site's name, or the beginning of one of its words
          --opening <NAME>       The name of the opening that the game's positions tell, or the
                                 beginning of one of its words
          --eco <CODE>           The ECO code that the PGN's tag ECO gives (column eco): B90, B9 for B90
                                 to B99, or a range such as B90-C19
          --opening-eco <CODE>   The ECO code of the opening that the game's positions tell (column
                                 opening_eco), whatever its tags say
          --speed <SPEED>        How fast the game was, told from the time control in the classes of
                                 Lichess. Given several times: any of these [possible values:
                                 ultraBullet, bullet, blitz, rapid, classical, correspondence]
          --time-control <TEXT>  The time control as in the PGN's tag TimeControl, such as 180+2
          --termination <TEXT>   How the game ended, as in the PGN's tag Termination, such as "Time
                                 forfeit"
          --plies-min <N>        The game has this many half-moves or more
          --plies-max <N>        The game has this many half-moves or fewer
          --with-evals           An engine's evaluations stand in the game
          --source <PATH|ID>     Read from this file, given by its path as `pgndex info` shows it, or by
                                 its number in the table source. Given several times: any of these
          --variant <NAME>       The variant as in the PGN's tag Variant, such as Chess960; standard is
                                 also a game without one
          --sql <QUERY>          The games whose numbers are in the first column of this query, in its
                                 order

    Examples:
      pgndex export games.db --pgn --player carlsen --since 2019 --output carlsen.pgn
      pgndex export games.db --pgn --moves "1. e4 c5 2. Nf3 d6" --result 1-0 > najdorf-won.pgn
      pgndex export games.db --fen --ply 16 | sort | uniq -c | sort -rn | head
      pgndex export games.db --epd --last --elo-min 2700
      pgndex export games.db --csv --sql "SELECT game_id FROM game ORDER BY ply_count DESC LIMIT 100"

    Without conditions all games are written. --fen is an output format here; to choose games by a
    position, use --position. PGN is in export format, with comments, glyphs, variations, clocks and
    evaluations unless --plain is given; a game with missing moves has the tag Truncated. CSV has a row
    for each game, with its moves. EPD has the full-move number, the half-move clock, game and ply, and
    the move played. The file appears when it is complete. If no game fits, no file is written, and one
    that is there stays as it was. The exit status is then 0, and a note says so.
    "#);
}

#[test]
fn exported_pgn_comes_back_the_same() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    comes_back(&examples.join("famous-games.pgn"));
    comes_back(&examples.join("synthetic.pgn"));
    comes_back(&odd().path("games.pgn"));
}

/// The same with real collections, the first `most` bytes of each.
fn collections_come_back(most: usize) {
    for name in ["otb-40k", "chess960-20k", "lichess-24k"] {
        let Some(part) = part_of_corpus(name, most) else { continue };
        let place = place();
        std::fs::write(place.path("part.pgn"), part).expect("a file");
        comes_back(&place.path("part.pgn"));
    }
}

#[test]
fn some_exported_games_of_collections_come_back_the_same() {
    collections_come_back(300_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn many_exported_games_of_collections_come_back_the_same() {
    collections_come_back(2_000_000);
}

#[test]
fn what_is_missing_is_told_in_the_pgn_and_aloud() {
    let place = odd();
    let run = place.ask(&["--pgn", "--sql", "SELECT 3 UNION ALL SELECT 5"]);
    insta::assert_snapshot!(run.stdout, @r#"
    [Event "Blunder"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "Hasty, H"]
    [Black "Knight, B"]
    [Result "0-1"]
    [Truncated "the moves after ply 4 are illegal or cannot be read"]

    1. f3 e5 2. g4 Qh4# 0-1

    [Event "Other rules"]
    [Site "?"]
    [Date "2024.??.??"]
    [Round "?"]
    [White "Knight, A"]
    [Black "Knight, B"]
    [Result "1-0"]
    [Truncated "the variant or the start position is not supported: no moves"]
    [Variant "Atomic"]

    1-0
    "#);
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 2 games have missing moves; the table `problem` says why
    ");
}

#[test]
fn positions_are_those_of_the_view() {
    let place = odd();
    // The view has a row for each move; the export has the last positions too.
    let sql = "SELECT fen FROM (SELECT game_id, ply, fen FROM moves
               UNION ALL SELECT game_id, ply, NULL FROM game_position WHERE move_code IS NULL) ORDER BY game_id, ply";
    let connection = rusqlite::Connection::open(place.path("games.db")).expect("a database");
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).expect("rows");
    let expected: Vec<_> = rows.map(|row| row.expect("a row")).collect();
    let lines = place.printed(&["--fen"]);
    assert_eq!(lines.lines().count(), expected.len());
    for (line, expected) in lines.lines().zip(&expected) {
        assert!(expected.as_ref().is_none_or(|expected| expected == line), "{line} {expected:?}");
    }
    insta::assert_snapshot!(place.printed(&["--fen", "--last"]), @"
    rnbqkb1r/ppp2ppp/8/3np2Q/8/2N5/PPPP1PPP/R1B1KBNR b KQkq - 1 5
    2kr3Q/8/8/8/8/8/8/4K3 b - - 0 18
    rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3
    n1krbqrn/ppbppppp/8/2p5/2P5/8/PPBPPPPP/N1KRBQRN w - - 4 4
    ");
    insta::assert_snapshot!(place.printed(&["--epd", "--sql", "SELECT 2"]), @r#"
    r3k3/7P/8/8/8/8/8/4K3 b q - fmvn 17; hmvc 5; id "game 2 ply 0"; sm O-O-O;
    2kr4/7P/8/8/8/8/8/4K3 w - - fmvn 18; hmvc 6; id "game 2 ply 1"; sm h8=Q;
    2kr3Q/8/8/8/8/8/8/4K3 b - - fmvn 18; hmvc 0; id "game 2 ply 2";
    "#);
    insta::assert_snapshot!(place.printed(&["--epd", "--ply", "4", "--white", "ågren"]), @r#"
    rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - fmvn 3; hmvc 2; id "game 1 ply 4";
    "#);
    assert_eq!(place.printed(&["--fen", "--ply", "99"]), "");
}

#[test]
fn csv_has_a_row_for_each_game() {
    insta::assert_snapshot!(odd().printed(&["--csv"]), @r#"
    game_id,event,site,date,round,white,black,result,white_elo,black_elo,white_title,black_title,eco,opening_eco,opening,time_control,variant,start_fen,ply_count,status,source,moves
    1,"Club ""Réti"" \ final",,2024.02.29,1.2,"Ågren, Åsa",棋聖,1-0,2455,1987,,,C25,C26,Vienna Game: Falkbeer,,,,9,ok,games.pgn,1. e4 e5 2. Nc3 Nf6 3. -- d5 4. exd5 Nxd5 5. Qh5
    2,Endings,,,,,,*,,,,,,,,,,r3k3/7P/8/8/8/8/8/4K3 b q - 5 17,2,ok,games.pgn,17... O-O-O 18. h8=Q
    3,Blunder,,,,"Hasty, H","Knight, B",0-1,,,,,,A00,Barnes Opening,,,,4,truncated,games.pgn,1. f3 e5 2. g4 Qh4#
    4,Shuffled,,2024.??.??,,"Knight, A","Knight, B",1/2-1/2,,,,,,,,,Chess960,nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1,6,ok,games.pgn,1. c4 c5 2. Bc2 Bc7 3. O-O-O O-O-O
    5,Other rules,,2024.??.??,,"Knight, A","Knight, B",1-0,,,,,,,,,Atomic,,0,skipped,games.pgn,
    "#);
}

#[test]
fn games_are_chosen_by_position_filter_or_query() {
    let place = odd();
    let events = |arguments: &[&str]| -> Vec<String> {
        let pgn = place.printed(&[&["--pgn"], arguments].concat());
        pgn.lines().filter(|line| line.starts_with("[Event ")).map(str::to_owned).collect()
    };
    assert_eq!(events(&["--position", "2kr4/7P/8/8/8/8/8/4K3 w - -"]), ["[Event \"Endings\"]"]);
    assert_eq!(events(&["--moves", "1. f3"]), ["[Event \"Blunder\"]"]);
    assert_eq!(events(&["--play", "e2e4", "--elo-min", "1900"]).len(), 1);
    assert_eq!(events(&["--play", "e2e4", "--elo-min", "2000"]).len(), 0);
    assert_eq!(events(&["--player", "knight"]).len(), 3);
    assert_eq!(events(&["--sql", "SELECT game_id FROM game ORDER BY game_id DESC LIMIT 2"]).len(), 2);
    insta::assert_snapshot!(place.ask(&["--pgn", "--player", "nobody"]).stderr, @r#"
    pgndex: note: no player has a name that fits --player
    pgndex: note: no game fits
    "#);
    insta::assert_snapshot!(place.failure(&["--pgn", "--sql", "SELECT white FROM games"]), @r#"
    pgndex: error: --sql: the first column must be numbers of games (game_id), and here it is the text "Ågren, Åsa"
    "#);
    insta::assert_snapshot!(place.failure(&["--pgn", "--sql", "SELECT 99"]), @"
    pgndex: error: games.db: no game 99; the games have the numbers 1 to 5
    ");
    insta::assert_snapshot!(place.failure(&["--pgn", "--sql", "DELETE FROM game"]), @"
    pgndex: error: this would change the database; only reading is allowed here
    ");
    for wrong in [
        &[][..],
        &["--pgn", "--fen"],
        &["--pgn", "--ply", "3"],
        &["--csv", "--last"],
        &["--fen", "--ply", "3", "--last"],
        &["--pgn", "--overwrite"],
        &["--pgn", "--sql", "SELECT 1", "--white", "x"],
        &["--pgn", "--sql", "SELECT 1", "--moves", "e4"],
        &["--pgn", "--moves", "e4", "--play", "e2e4"],
    ] {
        let run = place.ask(wrong);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{wrong:?}");
    }
}

#[test]
fn nothing_to_write_leaves_files_as_they_are() {
    let place = odd();
    for conditions in [
        &["--pgn", "--player", "nobody"][..],
        &["--csv", "--white", "Hasti"],
        &["--fen", "--moves", "1. h4"],
        &["--epd", "--eco", "E99"],
        &["--pgn", "--sql", "SELECT game_id FROM game WHERE false"],
        &["--fen", "--ply", "500"],
    ] {
        let run = place.ask(&[conditions, &["-o", "none.pgn"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{conditions:?}");
        assert!(run.stderr.ends_with("note: no game fits; none.pgn is not written\n"), "{}", run.stderr);
        assert!(!place.path("none.pgn").exists());
        std::fs::write(place.path("there.pgn"), "precious").expect("a file");
        let run = place.ask(&[conditions, &["-o", "there.pgn", "--overwrite"]].concat());
        assert_eq!(run.status, 0, "{conditions:?}");
        assert!(run.stderr.ends_with("note: no game fits; there.pgn is as it was\n"), "{}", run.stderr);
        assert_eq!(std::fs::read(place.path("there.pgn")).expect("a file"), b"precious");
        std::fs::remove_file(place.path("there.pgn")).expect("removed");
    }
    let run = place.ask(&["--csv", "--white", "Hasti", "-o", "none.csv"]);
    insta::assert_snapshot!(run.stderr, @r#"
    pgndex: note: no player has a name that fits --white; did you mean "Hasty, H"?
    pgndex: note: no game fits; none.csv is not written
    "#);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let place = odd();
    let run = place.ask(&["--pgn", "--result", "1-0", "-o", "out.pgn"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(run.stderr, @"
    pgndex: note: 2 games written to out.pgn
    pgndex: note: 1 game has missing moves; the table `problem` says why
    ");
    let before = std::fs::read(place.path("out.pgn")).expect("a file");
    insta::assert_snapshot!(place.failure(&["--fen", "-o", "out.pgn"]), @"
    pgndex: error: out.pgn: exists already; use --overwrite to replace it, or name another file
    ");
    insta::assert_snapshot!(place.failure(&["--fen", "-o", "games.db", "--overwrite"]), @"
    pgndex: error: games.db: is the database, or belongs to it; name another file
    ");
    insta::assert_snapshot!(place.failure(&["--fen", "-o", ".", "--overwrite"]), @"
    pgndex: error: .: not a file; leave out --output to write to standard output
    ");
    insta::assert_snapshot!(place.failure(&["--fen", "-o", "nowhere/out.fen"]), @"
    pgndex: error: nowhere/out.fen: its directory is not there; make it first
    ");
    place.failure(&["--pgn", "--sql", "SELECT 1 UNION ALL SELECT 99", "-o", "out.pgn", "--overwrite"]);
    assert!(before == std::fs::read(place.path("out.pgn")).expect("a file"));
    assert_eq!(place.names(), ["games.db", "games.pgn", "out.pgn"]);
    place.printed(&["--fen", "-o", "out.pgn", "--overwrite"]);
    assert!(before != std::fs::read(place.path("out.pgn")).expect("a file"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(place.path("plain"), "").expect("a file");
        let mode = |name| std::fs::metadata(place.path(name)).expect("a file").permissions().mode();
        assert_eq!(mode("out.pgn"), mode("plain"));
    }
}
