//! The program itself: its output, and its exit status.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::command::Run;
use crate::workspace::{BLUNDER, CLUB, ENDINGS, SHUFFLE, Workspace, json};

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");

/// Four games with rare features.
fn odd() -> Workspace {
    let club = CLUB.replace("[ECO", "[Annotator \"me\"]\n[ECO");
    let endings = ENDINGS.replace("[Date \"?\"]", "[Date \"2024.13\"]");
    Workspace::new().built(&[&club, &endings, SHUFFLE, BLUNDER].concat())
}

mod help {
    use super::*;

    fn help(arguments: &[&str]) -> String {
        Workspace::new().ok(arguments).replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }

    #[test]
    fn help_of_the_program() {
        insta::assert_snapshot!(help(&["--help"]), @r#"
        Index PGN dumps into one SQLite file and look up any position or move of any game

        Usage: pgndex [OPTIONS] <COMMAND>

        Commands:
          index        Index PGN files, compressed or not, into a database
          watch        Watch a directory and add the games of new files
          info         Show the contents of a database
          find         Find the games that reached a position, or that pass filters
          explore      Show what was played from a position, and with what results
          game         Show games: as score sheets, as JSON with a FEN for each ply, or as PGN
          export       Write chosen games as PGN or CSV, or their positions as FEN, EPD or CSV
          player       Show a player's record, openings, lines, endings and opponents
          players      List the players, and merge names of the same player
          repertoire   Compare a repertoire with the games: line scores, and opponents' unanswered moves
          sql          Run SQL, or open an SQL prompt
          serve        Serve databases over HTTP: a web page, Lichess's explorer API, and pgndex's own API
          remove       Remove games from a database and correct all counts
          optimize     Merge the parts added by different `index` runs, for faster look-ups
          backup       Copy a database while other programs read and write it
          verify       Check whether a database is sound, without changing it
          repair       Make the tables consistent again after another program changed rows
          key          Show the key and the canonical FEN of a position
          completions  Write a completion script for a shell
          man          Write the manual pages, one per command, into a directory
          help         Print this message or the help of the given subcommand(s)

        Options:
              --verbose
                  With --version: also print the version of SQLite and how SQLite was compiled

          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version

        Answers go to standard output; notes, progress and errors to standard error. The environment
        variable PGNDEX_DB sets the default database of `info`, `find`, `explore`, `export`, `verify` and
        `serve`; PGNDEX_THREADS sets the number of threads.

        Exit status: 0: done, even if nothing was found. 1: failed. 2: wrong usage. 3: done, but some games
        or files could not be read completely. 4: another program is writing the database. 130: stopped by
        Ctrl-C. 143: stopped by SIGTERM. After either signal, `serve` and `watch` exit with 0.

        Examples:
          pgndex index games.db *.pgn *.pgn.zst           index PGN files into a new database
          pgndex find games.db --moves "1. e4 c5 2. Nf3"  games with this position
          pgndex game games.db 42                         score sheet of game 42
          pgndex sql games.db "SELECT white, black, date FROM games WHERE eco = 'B90'"
        "#);
        assert_eq!(help(&["help", "sql"]), help(&["sql", "--help"]));
        assert_eq!(help(&["--version"]), "pgndex VERSION\n");
        for arguments in [["--version", "--verbose"], ["--verbose", "-V"]] {
            let versions = help(&arguments).replace(rusqlite::version(), "X");
            let expected = "pgndex VERSION\nSQLite X\nbuilt with all recommended settings\n";
            assert_eq!(versions, expected);
        }
    }

    /// One line per option, and short enough for one screen.
    #[test]
    fn short_help() {
        let all = help(&["-h"]);
        let (_, commands) = all.split_once("Commands:\n").expect("a list of commands");
        let commands = commands.lines().take_while(|line| !line.is_empty());
        let commands = commands.map(|line| line.split_whitespace().next().expect("a name"));
        let mut texts = vec![all.clone()];
        texts.extend(commands.filter(|name| *name != "help").map(|name| help(&[name, "-h"])));
        assert_eq!(texts.len(), 21);
        for text in texts {
            let is_usage = |line: &str| line.starts_with("       pgndex ");
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{text}");
                assert!(!line.starts_with("       ") || is_usage(line), "not on one line: {line}\n{text}");
            }
            assert!(text.lines().count() <= 50, "{text}");
            assert!(!text.contains("Examples:"), "{text}");
        }
        assert!(help(&["find", "-h"]).ends_with(" more options: --help\n"));
        for option in ["--offset", "--opening-eco", "--mirror"] {
            assert!(!help(&["find", "-h"]).contains(option) && help(&["find", "--help"]).contains(option));
        }
    }

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Workspace::new()
            .command(&["--version", "--verbose"])
            .stdout(writer)
            .output()
            .expect("the program runs");
        let expected = Run { status: 0, stdout: String::new(), stderr: String::new() };
        assert_eq!(Run::of(output), expected);
    }

    #[test]
    fn help_of_index() {
        insta::assert_snapshot!(help(&["index", "--help"]), @"
        Index PGN files, compressed or not, into a database

        Usage: pgndex index [OPTIONS] <DB> <PGN>...
               pgndex index [OPTIONS] --reread <DB>
               pgndex index [OPTIONS] --parquet <DIR> <PGN>...
               pgndex index [OPTIONS] --dry-run <PGN>...

        Arguments:
          <DB>
                  Database to create or to add to

          [PGN]...
                  PGN files, archives or directories; - is standard input.
                  
                  Patterns such as 'twic*.zip' work too. @FILE is a list of paths, one per line.

        Options:
              --overwrite
                  Replace an existing database or existing Parquet files

              --reread
                  Read all indexed PGN files again, and replace the database.
                  
                  Use this option after an update of pgndex, or to apply changed settings to all games.

              --drop-missing
                  With --reread: drop games that can no longer be read.
                  
                  Without this option, a missing, unreadable or shortened file is an error.

              --dry-run
                  Read and replay the games, but write no database

          -h, --help
                  Print help (see a summary with '-h')

        Parquet:
              --parquet <DIR>
                  Write Parquet files into this directory, and no database

              --partition-by <PART>
                  With --parquet: divide games into directories by this part of the date

                  Possible values:
                  - none:  No split by date; best with fewer than about 100,000 games per month
                  - year:  A directory for each year
                  - month: A directory for each month
                  
                  [default: month]

              --shard <N>
                  With --parquet: shard number.
                  
                  Runs that write into the same directory need different numbers. The number becomes the
                  upper 32 bits of each game_id.
                  
                  [default: 0]

        Errors in the input:
              --strict
                  Fail on any error or warning, and leave the database unchanged

              --problems <FILE>
                  Write all problems to this file as JSON, one object per line

              --rejects <FILE>
                  Write the text of each game that has an error to this file

              --on-problem <WHAT>
                  What to do with a game that has an error

                  Possible values:
                  - keep: Keep the moves before the error
                  - skip: Leave the game out
                  - stop: Fail at the first error, and leave the database unchanged
                  
                  [default: keep]

              --max-problems <N>
                  Fail, and leave the database unchanged, if there are more errors than this

        What is stored:
              --duplicates <RULE>
                  What to do with repeated games.
                  
                  [default: the database's setting, or else skip]

                  Possible values:
                  - keep:  Keep all games, and do not look for duplicates
                  - skip:  Skip games with the same moves, players, date and result; the table `duplicate`
                    lists them
                  - moves: Also skip games of 20 plies or more with the same moves, even if players, date or
                    result differ

              --continuation-threshold <GAMES>
                  Precompute move statistics for positions reached by at least this many games.
                  
                  `explore` then answers immediately for these positions. [default: the database's setting,
                  or else 64]

              --layout <LAYOUT>
                  How to store positions.
                  
                  compact takes about a third of the space of open. Answers and SQL queries are the same for
                  both. [default: the database's layout, or else open]

                  Possible values:
                  - open:    A row for each position, with its FEN
                  - compact: Only moves are stored; positions are computed when they are read

              --annotations <WHICH>
                  Which annotations to store.
                  
                  [default: the database's setting, or else all; with `index --reread`: all]

                  Possible values:
                  - all:     Clocks, times used, evaluations, comments, other comment commands (such as
                    [%csl]), glyphs and variations
                  - numbers: Clocks, times used and evaluations of the main line
                  - none:    Moves only

              --openings <FILE>
                  Names of openings: a file, or a directory of files.
                  
                  TSV (columns eco, name, pgn), Scid's .eco, or PGN with ECO and Opening tags. [default: the
                  database's setting, or else Lichess's names]

              --encoding <LABEL>
                  Encoding of the files, such as windows-1251.
                  
                  A label of the WHATWG standard. auto: UTF-8, or Windows-1252 for bytes that are not valid
                  UTF-8. A byte order mark overrides this option. [default: the database's setting, or else
                  auto]

        Resources:
          -j, --threads <N>
                  Threads, at most 256 [default: one per processor]
                  
                  [env: PGNDEX_THREADS]

              --memory <SIZE>
                  Memory to use, such as 512M or 4G.
                  
                  Data that does not fit goes to temporary files. [default: a quarter of the machine's
                  memory, at most 4G]

              --temp-dir <DIR>
                  Directory for temporary files [default: the database's directory].
                  
                  `index` needs up to about 20 bytes per position there.

        Messages:
          -q, --quiet
                  Show no progress and no summary.
                  
                  Errors, important notes and the results of checks are still shown.

              --log-format <FORMAT>
                  Format of notes, errors and progress on standard error.
                  
                  json is one object per line.
                  
                  [default: text]
                  [possible values: text, json]

              --json
                  Print one JSON object at the end, instead of the summary

        Archives can be zstd, gzip, bzip2 or zip. All .pgn files in a zip archive are read.

        If a game or a file cannot be read, the run reports it and continues; the table `problem` lists all
        problems. If some games or files could not be read completely, the exit status is 3; if no file
        could be read, it is 1.

        Examples:
          pgndex index games.db twic/ lichess_db_*.pgn.zst   a directory, and compressed files
          curl -s URL | pgndex index games.db -              from standard input
          pgndex index --dry-run --rejects bad.pgn twic/     check the games, without a database
        ");
    }

    #[test]
    fn help_of_info() {
        insta::assert_snapshot!(help(&["info", "--help"]), @"
        Show the contents of a database

        Usage: pgndex info [OPTIONS] <DB>

        Arguments:
          <DB>
                  Database
                  
                  [env: PGNDEX_DB]

        Options:
          -f, --format <FORMAT>
                  Output format.
                  
                  json is one object.
                  
                  [default: table]
                  [possible values: table, json]

              --all
                  List all sources and all runs, not only the latest 20 of each

              --sizes
                  Measure each table and index; this reads the whole file

              --json
                  The same as --format json

          -h, --help
                  Print help (see a summary with '-h')

        If no game has an opening name, openings are counted by the PGN's ECO code. JSON lists every source
        and every run.

        Examples:
          pgndex info games.db --sizes
          pgndex info games.db --format json | jq .games
        ");
    }

    #[test]
    fn help_of_game() {
        insta::assert_snapshot!(help(&["game", "--help"]), @r#"
        Show games: as score sheets, as JSON with a FEN for each ply, or as PGN

        Usage: pgndex game [OPTIONS] <DB> <GAME_ID>...

        Arguments:
          <DB>
                  Database

          <GAME_ID>...
                  Game numbers: 42, or the range 1-5.
                  
                  `find` and the view `games` show them.

        Options:
          -f, --format <FORMAT>
                  Output format.
                  
                  json is one object per line.
                  
                  [default: table]
                  [possible values: table, json, pgn]

              --plain
                  Leave out comments, glyphs, variations, clocks and evaluations

              --novelty
                  Show the first move to a position that no game of an earlier date reached

              --json
                  The same as --format json

          -h, --help
                  Print help (see a summary with '-h')

        Boards and pictures:
              --ply <PLY>
                  Draw the board after these plies; 0 is the start, `end` the last position

              --board-every <N>
                  Draw the board after every N plies and at the end

              --ascii
                  Draw boards with letters instead of figurines.
                  
                  Letters are the default if colours are off or the locale is not UTF-8.

              --flip
                  Draw boards with Black at the bottom

              --color <WHEN>
                  When to draw boards in colour.
                  
                  auto: on a terminal, unless NO_COLOR is set.
                  
                  [default: auto]
                  [possible values: auto, always, never]

              --svg <FILE>
                  Write a picture of the board to this file, as SVG

              --overwrite
                  Replace the file if it exists

        The line below a board shows the balance of material in pawns: + if White is ahead, - if Black is
        ahead; `equal` means no difference. --svg draws one position of one game: the position at --ply, or
        else the last position.

        For jq and JavaScript, which round large integers, use `key_hex` from the JSON instead of `key`. If
        moves are missing, the PGN has the tag "Truncated".

        Examples:
          pgndex game games.db 42 --ply 24,end     with the board after ply 24 and after the last
          pgndex game games.db 42 50-60 --format pgn > chosen.pgn
          pgndex game games.db 42 --ply 24 --svg 42.svg
        "#);
    }

    #[test]
    fn help_of_sql() {
        insta::assert_snapshot!(help(&["sql", "--help"]), @r#"
        Run SQL, or open an SQL prompt

        Usage: pgndex sql [OPTIONS] <DB> [QUERY]

        Arguments:
          <DB>
                  Database

          [QUERY]
                  SQL statements; if none are given, a prompt opens.
                  
                  With '-', or if no statements are given and standard input is not a terminal, statements
                  are read from standard input.

        Options:
              --file <FILE>
                  Read the statements from a file

          -f, --format <FORMAT>
                  Output format: table, box, csv, json, md or line.
                  
                  json (or jsonl) is one object per line.
                  
                  [default: table]

          -p, --param <NAME=VALUE>
                  A value for the parameter :NAME of the statements.
                  
                  Repeat the option for each parameter. Values that look like numbers are numbers. To pass
                  one as text, add quotes inside the shell's quotes: "name='42'".

              --write
                  Allow changes, and block writes by other programs until the command ends

              --history <FILE>
                  Keep the prompt's history in this file [default: not kept]

              --json
                  The same as --format json

          -h, --help
                  Print help (see a summary with '-h')

        Start with the views `games`, `moves` and `positions`. NULL is printed as nothing (null in json),
        and a BLOB as hexadecimal digits. For jq and JavaScript, which round large integers, use
        key_hex(key) instead of key.

        Between statements, lines that begin with a dot are commands: .tables, .schema [TABLE], .mode
        FORMAT, .headers on|off, .parameter, .output [FILE], .timer on|off, .help, .quit. The run ends at
        the first error. With --write, each statement is committed immediately, except between BEGIN and
        COMMIT.

        Examples:
          pgndex sql games.db .schema                          the tables and views, explained
          pgndex sql games.db --format csv "SELECT * FROM games" > games.csv
          pgndex sql games.db --param name=Carlsen "SELECT * FROM games WHERE white LIKE :name || '%'"
        "#);
    }

    #[test]
    fn help_of_backup() {
        insta::assert_snapshot!(help(&["backup", "--help"]), @"
        Copy a database while other programs read and write it

        Usage: pgndex backup [OPTIONS] <DB> <TO>

        Arguments:
          <DB>
                  Database

          <TO>
                  The copy: a file

        Options:
              --overwrite
                  Replace the copy if it exists

          -h, --help
                  Print help (see a summary with '-h')

        Messages:
          -q, --quiet
                  Show no progress and no summary.
                  
                  Errors, important notes and the results of checks are still shown.

              --log-format <FORMAT>
                  Format of notes, errors and progress on standard error.
                  
                  json is one object per line.
                  
                  [default: text]
                  [possible values: text, json]

              --json
                  Print one JSON object at the end, instead of the summary

        The copy is a snapshot, and appears when it is complete. If games are added meanwhile, copying
        starts again, at most twice; after that, writers wait.

        Examples:
          pgndex backup games.db /backup/games.db
          pgndex backup games.db /backup/games.db --overwrite && pgndex verify /backup/games.db
        ");
    }

    #[test]
    fn help_of_watch() {
        insta::assert_snapshot!(help(&["watch", "-h"]), @"
        Watch a directory and add the games of new files

        Usage: pgndex watch [OPTIONS] <DB> <DIR>

        Arguments:
          <DB>   Database to create or to add to
          <DIR>  Directory to watch, with its subdirectories

        Options:
              --settle <SECONDS>    Seconds that a file must stay unchanged before it is read [default: 5]
              --interval <SECONDS>  Seconds between two scans of the directory [default: 5]
              --once                Add the files that are ready, and exit
          -h, --help                Print help (see more with '--help')

        What is stored:
              --duplicates <RULE>    What to do with repeated games [possible values: keep, skip, moves]
              --layout <LAYOUT>      How to store positions [possible values: open, compact]
              --annotations <WHICH>  Which annotations to store [possible values: all, numbers, none]
              --openings <FILE>      Names of openings: a file, or a directory of files
              --encoding <LABEL>     Encoding of the files, such as windows-1251

        Resources:
          -j, --threads <N>     Threads, at most 256 [default: one per processor] [env: PGNDEX_THREADS]
              --memory <SIZE>   Memory to use, such as 512M or 4G
              --temp-dir <DIR>  Directory for temporary files [default: the database's directory]

        Messages:
          -q, --quiet  Show no progress and no summary

        … 2 more options: --help
        ");
    }

    #[test]
    fn help_of_key() {
        let text = help(&["key", "--help"]);
        insta::assert_snapshot!(text, @r#"
        Show the key and the canonical FEN of a position

        Usage: pgndex key [OPTIONS] [FEN]...

        Arguments:
          [FEN]...
                  The position as a FEN; the quotes can be left out

        Options:
          -f, --format <FORMAT>
                  Output format.
                  
                  json is one object.
                  
                  [default: table]
                  [possible values: table, json, csv]

              --json
                  The same as --format json

          -h, --help
                  Print help (see a summary with '-h')

        Position:
              --fen <FEN>
                  The position as a FEN.
                  
                  Missing fields mean White to move, no castling and no en passant. The counters are
                  ignored. If you give no position, `explore` and `key` use the start position.

              --moves <MOVES>
                  Moves from the start position: "1. e4 c5 2. Nf3".
                  
                  Lower-case letters, chess symbols and piece letters of other languages work too.

              --play <MOVES>
                  Moves from the start position, in UCI notation: e2e4,c7c5

        Boards and pictures:
              --svg <FILE>
                  Write a picture of the board to this file, as SVG

              --overwrite
                  Replace the file if it exists

              --flip
                  Draw the picture with Black at the bottom

        The key is the Polyglot hash of the canonical FEN, stored as a signed 64-bit integer.

        Examples:
          pgndex key "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
          pgndex key "8/8/8/4k3/8/4K3/4P3/8 w - -" --svg ending.svg
          pgndex sql games.db "SELECT * FROM positions WHERE key = -9062197578030825066"
        "#);
        let (_, example) = text.split_once("pgndex key \"").expect("an example");
        let fen = example.split('"').next().expect("a FEN");
        let key = json(&Workspace::new().ok(&["key", fen, "-f", "json"]))["integer"].to_string();
        assert!(text.contains(&format!("key = {key}\"")), "{key}");
    }

    #[test]
    fn wrong_usage_has_status_2() {
        let sample = Workspace::new();
        for arguments in [
            &[][..],
            &["find"],
            &["find", "games.db", "--fen", "x", "--moves", "e4"],
            &["find", "games.db", "--moves", "e4", "--limit", "-1"],
            &["game", "games.db", "first"],
            &["info", "games.db", "--format", "csv"],
            &["index", "games.db"],
            &["index", "games.db", "a.pgn", "--memory", "lots"],
            &["index", "games.db", "a.pgn", "--memory", "10"],
            &["index", "games.db", "a.pgn", "--threads", "0"],
            &["nonsense"],
        ] {
            let run = sample.run(arguments);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        }
    }
}

mod ranges {
    use super::*;

    /// Tests impossible ranges of ratings and dates with every command that has these filters.
    #[test]
    fn empty_ranges_are_refused() {
        let sample = odd();
        let commands = [
            &["find", "games.db", "--moves", "e4"][..],
            &["explore", "games.db", "--moves", "e4"],
            &["export", "games.db", "--format", "pgn"],
            &["export", "games.db", "--format", "csv", "--output", "out.csv"],
        ];
        let refused = [
            (
                ["--since", "2026", "--until", "2025"],
                "the first date, 2026, is after the last, 2025; swap --since and --until",
            ),
            (
                ["--since", "2026", "--until", "2025.12.31"],
                "the first date, 2026, is after the last, 2025.12.31;",
            ),
            (
                ["--since", "2025-06", "--until", "2025-05-31"],
                "the first date, 2025.06, is after the last, 2025.05.31;",
            ),
            (
                ["--since", "2025.06.02", "--until", "2025.06.01"],
                "the first date, 2025.06.02, is after the last, 2025.06.01;",
            ),
            (
                ["--elo-min", "2800", "--elo-max", "2700"],
                "the lowest rating, 2800, is above the highest, 2700; swap --elo-min",
            ),
            (
                ["--plies-min", "41", "--plies-max", "40"],
                "the smallest number of half-moves, 41, is above the greatest, 40; swap --plies-min and --plies-max",
            ),
        ];
        for command in commands {
            for (range, message) in refused {
                let run = sample.run(&[command, &range].concat());
                assert_eq!(
                    (run.status, run.stdout.as_str()),
                    (2, ""),
                    "{command:?} {range:?}: {}",
                    run.stderr
                );
                assert!(run.stderr.starts_with(&format!("pgndex: error: {message}")), "{}", run.stderr);
            }
            for range in [
                ["--since", "2025", "--until", "2025"],
                ["--since", "2025.06", "--until", "2025"],
                ["--since", "2025", "--until", "2025.01.01"],
                ["--elo-min", "2700", "--elo-max", "2700"],
                ["--plies-min", "40", "--plies-max", "40"],
            ] {
                let run = sample.run(
                    &[command, &["--overwrite"][..usize::from(command.contains(&"out.csv"))], &range]
                        .concat(),
                );
                assert_ne!(run.status, 2, "{command:?} {range:?}: {}", run.stderr);
            }
        }
    }
}

mod game {
    use super::*;

    #[test]
    fn a_score_sheet() {
        let sample = odd();
        insta::assert_snapshot!(sample.ok(&["game", "games.db", "1"]), @r#"
        Game 1

          Event      Club "Réti" \ final
          Date       2024.02.29
          Round      1.2
          White      Ågren, Åsa (2455)
          Black      棋聖 (1987)
          Result     1-0
          Annotator  me
          ECO        C25
          Opening    C26 Vienna Game: Falkbeer Variation

            1.  e4    e5
            2.  Nc3   Nf6
            3.  --    d5
            4.  exd5  Nxd5
            5.  Qh5

        1-0
        "#);
        insta::assert_snapshot!(sample.ok(&["game", "games.db", "2"]), @"
        Game 2

          Event   Endings
          Date    2024.13
          Result  *
          FEN     r3k3/7P/8/8/8/8/8/4K3 b q - 5 17

           17.  ...    O-O-O
           18.  h8=Q

        *
        ");
    }

    #[test]
    fn missing_moves_are_reported() {
        let sample = odd();
        let run = sample.run(&["game", "games.db", "4"]);
        insta::assert_snapshot!(run.stdout, @"
        Game 4

          Event    Blunder
          White    Hasty, H
          Black    Knight, B
          Result   0-1
          Opening  A00 Barnes Opening: Fool's Mate

            1.  f3    e5
            2.  g4    Qh4#

        0-1

        Incomplete: the text after ply 4 has an error, so the game is stored only up to there.

        Problems in games.pgn

        line  ply  severity  kind          message
        ─────────────────────────────────────────────────────
           1    4  error     illegal-move  no legal move fits
        ");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        let run = sample.run(&["game", "games.db", "4", "--format", "json"]);
        insta::assert_snapshot!(run.stderr, @r#"
        pgndex: note: game 4: the text after ply 4 has an error, so the game is stored only up to there; details: pgndex sql games.db "SELECT * FROM problem WHERE game_id = 4"
        "#);
        assert_eq!(json(&run.stdout)["problems"][0]["kind"], "illegal-move");
        let connection = rusqlite::Connection::open(sample.path("games.db")).expect("a database");
        let skip = "DELETE FROM game_position WHERE game_id = 4; UPDATE game SET status = 'skipped' WHERE game_id = 4";
        connection.execute_batch(skip).expect("an update");
        let run = sample.run(&["game", "games.db", "4", "--format", "pgn"]);
        let tag =
            "[Truncated \"no moves: the variant is not supported, or the start position is not valid\"]";
        assert!(run.stdout.ends_with(&format!("[Result \"0-1\"]\n{tag}\n\n0-1\n\n")), "{}", run.stdout);
        insta::assert_snapshot!(run.stderr, @r#"
        pgndex: note: game 4: no moves are stored, because the variant is not supported, or the start position is not valid; details: pgndex sql games.db "SELECT * FROM problem WHERE game_id = 4"
        "#);
        assert_eq!(run.status, 0);
        let run = sample.run(&["game", "games.db", "4", "--format", "json"]);
        assert_eq!(json(&run.stdout)["status"], "skipped");
    }

    #[test]
    fn json_has_every_ply() {
        let sample = odd();
        let text = sample.ok(&["game", "games.db", "2", "--format", "json"]);
        assert_eq!(text.lines().count(), 1);
        insta::assert_snapshot!(serde_json::to_string_pretty(&json(&text)).expect("JSON"), @r#"
        {
          "game_id": 2,
          "tags": {
            "Event": "Endings",
            "Site": "?",
            "Date": "2024.13",
            "Round": "?",
            "White": "?",
            "Black": "?",
            "Result": "*",
            "FEN": "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17",
            "SetUp": "1"
          },
          "result": "*",
          "status": "ok",
          "opening": null,
          "chess960": false,
          "start_fen": "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17",
          "ply_count": 2,
          "source": "games.pgn",
          "byte_offset": 254,
          "byte_length": 171,
          "problems": [],
          "plies": [
            {
              "ply": 0,
              "move_number": 17,
              "side": "b",
              "fen": "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17",
              "key": 8333241490433655397,
              "key_hex": "73a59efbf0d84265",
              "san": "O-O-O",
              "uci": "e8c8",
              "code": 41185904
            },
            {
              "ply": 1,
              "move_number": 18,
              "side": "w",
              "fen": "2kr4/7P/8/8/8/8/8/4K3 w - - 6 18",
              "key": -1878730448660404737,
              "key_hex": "e5ed689c62e2e5ff",
              "san": "h8=Q",
              "uci": "h7h8q",
              "code": 208107296
            },
            {
              "ply": 2,
              "move_number": 18,
              "side": "b",
              "fen": "2kr3Q/8/8/8/8/8/8/4K3 b - - 0 18",
              "key": 5001671063083760141,
              "key_hex": "45698154f6753a0d",
              "san": null,
              "uci": null,
              "code": null
            }
          ]
        }
        "#);
    }

    #[test]
    fn pgn_is_in_export_format() {
        let sample = odd();
        insta::assert_snapshot!(sample.ok(&["game", "games.db", "1", "--format", "pgn"]), @r#"
        [Event "Club \"Réti\" \\ final"]
        [Site "?"]
        [Date "2024.02.29"]
        [Round "1.2"]
        [White "Ågren, Åsa"]
        [Black "棋聖"]
        [Result "1-0"]
        [Annotator "me"]
        [BlackElo "1987"]
        [ECO "C25"]
        [WhiteElo "2455"]

        1. e4 e5 2. Nc3 Nf6 3. -- d5 4. exd5 Nxd5 5. Qh5 1-0
        "#);
        insta::assert_snapshot!(sample.ok(&["game", "games.db", "2", "--format", "pgn"]), @r#"
        [Event "Endings"]
        [Site "?"]
        [Date "2024.13"]
        [Round "?"]
        [White "?"]
        [Black "?"]
        [Result "*"]
        [FEN "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17"]
        [SetUp "1"]

        17... O-O-O 18. h8=Q *
        "#);
    }

    #[test]
    fn a_second_export_equals_the_first() {
        let sample = Workspace::new().built(FAMOUS);
        let count = FAMOUS.matches("[Event ").count();
        let export = |sample: &Workspace| -> String {
            (1..=count).map(|game| sample.ok(&["game", "games.db", &game.to_string(), "-f", "pgn"])).collect()
        };
        let first = export(&sample);
        assert!(first.lines().all(|line| line.len() < 80 || line.starts_with('[')));
        assert_eq!(export(&Workspace::new().built(&first)), first);
    }

    #[test]
    fn a_missing_game_is_reported() {
        insta::assert_snapshot!(odd().failure(&["game", "games.db", "5"]), @"
        pgndex: error: games.db: no game 5; the highest number is 4
        ");
    }

    #[test]
    fn a_damaged_game_is_reported() {
        let sample = odd();
        let connection = rusqlite::Connection::open(sample.path("games.db")).expect("a database");
        let damage = |sql| {
            connection.execute(sql, []).expect("an update");
            sample.failure(&["game", "games.db", "3"])
        };
        insta::assert_snapshot!(damage("UPDATE game_position SET key = 5 WHERE game_id = 3 AND ply = 5"), @"
        pgndex: error: game 3, ply 5: the stored position is not the one that the moves lead to; check the database with `pgndex verify`
        ");
        insta::assert_snapshot!(damage("UPDATE game_position SET move_code = 0x03143420 WHERE game_id = 3 AND ply = 2"), @"
        pgndex: error: game 3, ply 2: the stored move_code is not a legal move; check the database with `pgndex verify`
          because: the pieces on the board cannot make this move
        ");
        insta::assert_snapshot!(damage("UPDATE game SET start_fen = '8/8/8/8/8/8/8/8 w - -' WHERE game_id = 3"), @r#"
        pgndex: error: game 3: start_fen "8/8/8/8/8/8/8/8 w - -" is not a legal position; check the database with `pgndex verify`
          because: White must have exactly one king, but has 0
        "#);
    }
}

mod info {
    use super::*;

    /// Masks the times and the size of the file.
    fn masked(sample: &Workspace, text: &str) -> String {
        let bytes = fs::metadata(sample.path("games.db")).expect("the database").len();
        let text = text.replace(&format!("\"bytes\": {bytes}"), "\"bytes\": SIZE");
        let text = text.replace(&format!(": {} KiB, open layout", bytes / 1024), ": SIZE, open layout");
        let is_time = |word: &str| word.len() == 20 && word.starts_with("20") && word.ends_with('Z');
        let mask = |word: &str| match word.trim_matches(['"', ',', '\n']) {
            time if is_time(time) => word.replace(time, "YYYY-MM-DDTHH:MM:SSZ"),
            _ => word.to_owned(),
        };
        text.split_inclusive(' ')
            .flat_map(|part| part.split_inclusive('\n'))
            .map(|part| part.split(' ').map(mask).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn a_table() {
        let sample = odd();
        insta::assert_snapshot!(masked(&sample, &sample.ok(&["info", "games.db"])), @r#"
        games.db: SIZE, open layout, schema version 1

          games       4
          plies      23  5.8 per game; 9 in game 1, the longest
          positions  27
          distinct   20
          players     5
          events      4
          sites       0
          problems    1  1 game cut short

        results
          1-0        1   25.0 %
          1/2-1/2    1   25.0 %
          0-1        1   25.0 %
          *          1   25.0 %

        openings
          games   share  eco  name
          ───────────────────────────────────────────────────
              1  25.0 %  A00  Barnes Opening: Fool's Mate
              1  25.0 %  A05  Zukertort Opening
              1  25.0 %  C26  Vienna Game: Falkbeer Variation

        years
          2024     2  ████████████████████████████████████████
          unknown  2

        ratings
          1900-1999  1  ████████████████████████████████████████
          2000-2099  0
          2100-2199  0
          2200-2299  0
          2300-2399  0
          2400-2499  1  ████████████████████████████████████████
          unknown    6

        problems
          number  severity  kind
          ──────────────────────────────
               1  error     illegal-move

        sources
          id  games  problems   size  indexed               path
          ───────────────────────────────────────────────────────────
           1      4         1  749 B  YYYY-MM-DDTHH:MM:SSZ  games.pgn

        runs
          id  began                  took  games  pgndex
          ──────────────────────────────────────────────
           1  YYYY-MM-DDTHH:MM:SSZ  1.5 s      4  0.0.0
        "#);
    }

    #[test]
    fn json_is_one_object() {
        let sample = odd();
        let text = sample.ok(&["info", "games.db", "--format", "json"]);
        assert_eq!(text.lines().count(), 1);
        insta::assert_snapshot!(masked(&sample, &serde_json::to_string_pretty(&json(&text)).expect("JSON")), @r#"
        {
          "path": "games.db",
          "bytes": SIZE,
          "schema_version": 1,
          "layout": "open",
          "games": 4,
          "plies": 23,
          "positions": 27,
          "distinct_positions": 20,
          "players": 5,
          "events": 4,
          "sites": 0,
          "truncated": 1,
          "skipped": 0,
          "longest": {
            "game_id": 1,
            "plies": 9
          },
          "results": {
            "1-0": 1,
            "1/2-1/2": 1,
            "0-1": 1,
            "*": 1
          },
          "years": {
            "2024": 2
          },
          "undated": 2,
          "ratings": {
            "1900": 1,
            "2400": 1
          },
          "unrated": 6,
          "openings": [
            {
              "eco": "A00",
              "name": "Barnes Opening: Fool's Mate",
              "games": 1
            },
            {
              "eco": "A05",
              "name": "Zukertort Opening",
              "games": 1
            },
            {
              "eco": "C26",
              "name": "Vienna Game: Falkbeer Variation",
              "games": 1
            }
          ],
          "problems": [
            {
              "severity": "error",
              "kind": "illegal-move",
              "count": 1
            }
          ],
          "duplicates": [],
          "sources": [
            {
              "source_id": 1,
              "path": "games.pgn",
              "bytes": 749,
              "digest": "abababababababababababababababababababababababababababababababab",
              "games": 4,
              "plies": 23,
              "problems": 1,
              "duplicates": 0,
              "indexed_at": "YYYY-MM-DDTHH:MM:SSZ"
            }
          ],
          "imports": [
            {
              "import_id": 1,
              "started_at": "YYYY-MM-DDTHH:MM:SSZ",
              "finished_at": "YYYY-MM-DDTHH:MM:SSZ",
              "program_version": "0.0.0",
              "options": {},
              "games": 4,
              "plies": 23,
              "positions": 27,
              "distinct_positions": 20,
              "problems": 1,
              "duplicates": 0,
              "seconds": 1.5
            }
          ]
        }
        "#);
    }

    #[test]
    fn an_empty_database() {
        let sample = Workspace::new().built("");
        insta::assert_snapshot!(masked(&sample, &sample.ok(&["info", "games.db"])), @r#"
        games.db: SIZE, open layout, schema version 1

          games      0
          plies      0
          positions  0
          distinct   0
          players    0
          events     0
          sites      0
          problems   0

        There are no games in this database.

        sources
          id  games  problems  size  indexed               path
          ──────────────────────────────────────────────────────────
           1      0         0   0 B  YYYY-MM-DDTHH:MM:SSZ  games.pgn

        runs
          id  began                  took  games  pgndex
          ──────────────────────────────────────────────
           1  YYYY-MM-DDTHH:MM:SSZ  1.5 s      0  0.0.0
        "#);
    }
}

mod key {
    use super::*;

    const FEN: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";

    #[test]
    fn keys_in_every_format() {
        let sample = Workspace::new();
        insta::assert_snapshot!(sample.ok(&["key", FEN]), @"
        key      823c9b50fd114196
        integer  -9062197578030825066
        fen      rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -
        changed  en-passant square dropped: no en-passant capture is legal
        ");
        insta::assert_snapshot!(sample.ok(&["key", FEN, "--format", "json"]), @r#"
        {"key":"823c9b50fd114196","integer":-9062197578030825066,"fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -","changes":["en-passant square dropped: no en-passant capture is legal"]}
        "#);
        insta::assert_snapshot!(sample.ok(&["key", FEN, "--format", "csv"]), @"
        key,integer,fen,changes
        823c9b50fd114196,-9062197578030825066,rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -,en-passant square dropped: no en-passant capture is legal
        ");
    }

    #[test]
    fn assumptions_about_moves_are_printed() {
        let sample = Workspace::new();
        let key = sample.ok(&["key", "--moves", "1. e4 e5 2. nf3"]);
        assert!(key.ends_with("\nchanged  letter case changed: nf3 to Nf3\n"), "{key}");
    }

    #[test]
    fn quotes_and_move_counters_are_optional() {
        let sample = Workspace::new();
        let words = ["key", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "w", "KQkq", "-"];
        assert!(sample.ok(&words).starts_with("key      463b96181691fc9c\ninteger  5060803636482931868\n"));
    }

    #[test]
    fn invalid_positions_are_reported() {
        let failure = |fen| {
            let run = Workspace::new().run(&["key", fen]);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""));
            run.stderr
        };
        insta::assert_snapshot!(failure("rnbqkbnr/pppppppp/8/8 w"), @r#"
        pgndex: error: not a FEN: "rnbqkbnr/pppppppp/8/8 w"; a FEN looks like this: "8/8/8/4k3/8/4K3/4P3/8 w - -"
          because: the number of ranks in the placement is 4, not 8
        "#);
        insta::assert_snapshot!(failure("start"), @r#"
        pgndex: error: not a FEN: "start"; a FEN looks like this: "8/8/8/4k3/8/4K3/4P3/8 w - -"
          because: the number of ranks in the placement is 1, not 8
        "#);
    }
}

mod output {
    use super::*;

    /// Standard output on a full disk is an error.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let sample = odd();
        for arguments in [
            &["sql", "games.db", "SELECT 1"][..],
            &["find", "games.db", "--moves", "e4", "-f", "csv"],
            &["game", "games.db", "1"],
            &["export", "games.db", "--format", "epd"],
            &["info", "games.db"],
            &["key", "8/8/8/4k3/8/4K3/4P3/8 w - -"],
        ] {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
            let run = Run::of(sample.command(arguments).stdout(full).output().expect("the program runs"));
            assert_eq!(run.status, 1, "{arguments:?}");
            assert!(run.stderr.starts_with("pgndex: error: "), "{}", run.stderr);
        }
    }
}

mod databases_that_cannot_be_opened {
    use super::*;

    fn every_command(sample: &Workspace, database: &str) -> String {
        let failures = [
            sample.failure(&["info", database]),
            sample.failure(&["find", database, "--moves", "1. e4"]),
            sample.failure(&["game", database, "1"]),
            sample.failure(&["export", database, "--format", "csv"]),
            sample.failure(&["sql", database, "SELECT 1"]),
        ];
        assert!(failures.iter().all(|failure| *failure == failures[0]), "{failures:#?}");
        failures[0].clone()
    }

    #[test]
    fn missing_databases() {
        let sample = Workspace::new();
        insta::assert_snapshot!(every_command(&sample, "games.db"), @"
        pgndex: error: games.db: no such database; create one with `pgndex index`
        ");
        assert!(!sample.path("games.db").exists());
    }

    #[test]
    fn files_that_are_not_databases() {
        let sample = Workspace::new();
        fs::write(sample.path("games.pgn"), FAMOUS).expect("a file");
        insta::assert_snapshot!(every_command(&sample, "games.pgn"), @"
        pgndex: error: games.pgn: this is a PGN file, not a database; give a database as the first argument (`pgndex index` creates one)
        ");
        insta::assert_snapshot!(every_command(&sample, "."), @"
        pgndex: error: .: a directory, not a database; name a file in it
        ");
    }

    #[test]
    fn databases_of_other_programs_and_versions() {
        let sample = odd();
        let change = |path: &Path, sql: &str| {
            rusqlite::Connection::open(path).and_then(|db| db.execute_batch(sql)).expect("a change");
        };
        change(&sample.path("other.db"), "CREATE TABLE t (x)");
        insta::assert_snapshot!(every_command(&sample, "other.db"), @"
        pgndex: error: other.db: an SQLite database of another program; choose another file
        ");
        fs::File::create(sample.path("empty.db")).and_then(|mut file| file.write_all(b"")).expect("a file");
        insta::assert_snapshot!(every_command(&sample, "empty.db"), @"
        pgndex: error: empty.db: an empty file, not a database; `pgndex index` creates one
        ");
        change(&sample.path("games.db"), "PRAGMA user_version = 99");
        insta::assert_snapshot!(every_command(&sample, "games.db"), @"
        pgndex: error: games.db: made by a newer pgndex (schema version 99, this program knows 1); update pgndex
        ");
    }
}
