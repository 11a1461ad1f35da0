//! Databases that earlier programs made. `tests/data/version_1` holds one, made with `--continuation-threshold 2`.

use std::fs;
use std::path::Path;

use crate::place::Place;

/// A directory with the database, and the games it was made of.
fn place() -> Place {
    let place = Place::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version_1");
    let packed = fs::File::open(data.join("database.zst")).expect("the database");
    let mut database = fs::File::create(place.path("games.db")).expect("a file");
    zstd::stream::copy_decode(packed, &mut database).expect("unpacked");
    fs::copy(data.join("games.pgn"), place.path("version_1.pgn")).expect("a copy");
    place
}

/// The version of a new database.
fn latest(place: &Place) -> i64 {
    place.printed(&["index", "--quiet", "latest.db", "new.pgn"]);
    let database = place.connection("latest.db");
    database.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a number")
}

/// Commands that read, and what is in their answers.
const READING: [(&[&str], &str); 11] = [
    (&["players", "games.db"], "Anderssen, Adolf"),
    (&["info", "games.db", "--all"], "164"),
    (&["find", "games.db", "--moves", "1. e4 e5"], "Légal, Kermur de"),
    (
        &["find", "games.db", "--moves", "1. e4", "--player", "anderssen", "--format", "pgn"],
        "[White \"Anderssen, Adolf\"]",
    ),
    (&["find", "games.db", "--material", "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP"], "Anderssen, Adolf"),
    (&["explore", "games.db", "--moves", "1. e4"], "e5"),
    (&["game", "games.db", "1", "--ply", "end"], "Légal, Kermur de"),
    (&["export", "games.db", "--format", "pgn"], "7. Nd5#"),
    (&["export", "games.db", "--format", "fen"], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    (&["sql", "games.db", "SELECT game_pgn(game_id) FROM games"], "Kieseritzky, Lionel"),
    (&["verify", "games.db", "--all"], ""),
];

#[test]
fn every_command_reads_a_database_of_version_1_and_leaves_it_as_it_is() {
    let place = place();
    assert_eq!(place.number("games.db", "PRAGMA user_version"), 1);
    let before = fs::read(place.path("games.db")).expect("the database");
    for (arguments, expected) in READING {
        let answer = place.printed(arguments);
        assert!(answer.contains(expected), "{arguments:?}: {answer}");
        assert!(fs::read(place.path("games.db")).expect("the database") == before, "{arguments:?}");
    }
    let mut left = Vec::from_iter(fs::read_dir(place.directory()).expect("a directory").flatten());
    left.retain(|entry| !matches!(entry.file_name().to_str(), Some("games.db" | "version_1.pgn")));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_a_database_of_version_1_does_not_know_is_told() {
    let place = place();
    let told = |arguments: &[&str]| {
        let run = place.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}");
        run.stderr
    };
    for (column, filter) in [
        ("speed", &["--speed", "blitz"][..]),
        ("termination", &["--termination", "Normal"]),
        ("eval_count", &["--with-evals"]),
    ] {
        let message = format!(
            "pgndex: error: games.db: this database is of schema version 1 and does not know {column}; adding games to it \
             brings the column\n"
        );
        for command in [
            &["find", "games.db", "--moves", "1. e4"][..],
            &["find", "games.db", "--material", "KvK"],
            &["explore", "games.db", "--moves", "1. e4"],
            &["export", "games.db", "--format", "pgn"],
        ] {
            assert_eq!(told(&[command, filter].concat()), message, "{command:?}");
        }
    }
    insta::assert_snapshot!(told(&["sql", "games.db", "SELECT g.Speed FROM games AS g"]), @"
    pgndex: error: no such column: g.Speed
      1 | SELECT g.Speed FROM games AS g
        |        ^
      this database is of schema version 1 and does not know Speed; adding games to it, or indexing all games anew, brings it
    ");
    insta::assert_snapshot!(told(&["sql", "games.db", "SELECT whiet FROM games"]), @"
    pgndex: error: no such column: whiet
      1 | SELECT whiet FROM games
        |        ^
      did you mean white?
    ");
    // Everything else is there.
    place.printed(&["find", "games.db", "--moves", "1. e4", "--opening", "italian", "--plies-max", "99"]);
    place.printed(&["explore", "games.db", "--moves", "1. e4", "--plies-max", "99"]);
    fs::write(place.path("new.pgn"), "[TimeControl \"600\"]\n\n1. e4 e5 *\n").expect("a file");
    place.printed(&["index", "--quiet", "games.db", "new.pgn"]);
    let found = place.printed(&["export", "games.db", "--format", "csv", "--speed", "rapid"]);
    assert_eq!(found.lines().count(), 2, "{found}");
}

#[test]
fn columns_of_a_later_version_are_filled_when_something_is_written() {
    let place = place();
    // What an earlier program read of a game's tags stands there.
    let tags = [
        ("UTCDate", "2026.03.04"),
        ("UTCTime", "05:06:07"),
        ("Termination", "Time forfeit"),
        ("WhiteRatingDiff", "+5"),
        ("BlackFideId", "1503014"),
        ("GameId", "q7ZvsdUF"),
    ];
    let database = place.connection("games.db");
    for (name, value) in tags {
        database.execute("INSERT INTO tag VALUES (2, ?1, ?2)", (name, value)).expect("a row");
    }
    database.execute("UPDATE game SET time_control = '180+2' WHERE game_id = 2", ()).expect("a row");
    // Somebody's own column stands between those of two versions then.
    database.execute("ALTER TABLE game ADD COLUMN note DEFAULT 'mine'", ()).expect("a column");
    drop(database);
    fs::write(place.path("new.pgn"), "[White \"New, A\"]\n[TimeControl \"600\"]\n\n1. e4 e5 *\n")
        .expect("a file");
    place.printed(&["index", "--quiet", "games.db", "new.pgn"]);
    let columns = "game_id, lichess_id, started_at, time_initial, time_increment, speed, termination, white_rating_diff,
        black_rating_diff, white_fide_id, black_fide_id, note";
    let sql = format!(
        "SELECT group_concat(concat_ws('|', {columns}), ' / ' ORDER BY game_id) FROM game
         WHERE speed IS NOT NULL OR lichess_id IS NOT NULL"
    );
    let found: String = place.connection("games.db").query_row(&sql, [], |row| row.get(0)).expect("a text");
    let filled = "2|q7ZvsdUF|2026-03-04T05:06:07Z|180|2|blitz|Time forfeit|5|1503014|mine";
    assert_eq!(found, format!("{filled} / 8|600|0|rapid|mine"));
    let told = place.run(&["verify", "games.db"]);
    assert!(!told.stdout.contains("sqlite_schema"), "{}", told.stdout);
}

#[test]
fn games_can_be_added_to_a_database_of_version_1() {
    let place = place();
    let new =
        "[White \"New, A\"]\n[Black \"Tal, M\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n";
    fs::write(place.path("new.pgn"), new).expect("a file");
    assert_eq!(place.number("games.db", "SELECT count(*) FROM game"), 7);
    // Views of somebody's own are left as they are, also one of a table that is gone.
    let database = place.connection("games.db");
    database
        .execute_batch(
            "CREATE VIEW stale AS SELECT * FROM nowhere; CREATE VIEW own AS SELECT * FROM visit_set",
        )
        .expect("views");
    drop(database);
    // The source that is there already is known.
    place.printed(&["index", "--quiet", "games.db", "version_1.pgn", "new.pgn"]);
    assert_eq!(place.number("games.db", "SELECT count(*) FROM game"), 8);
    assert_eq!(place.number("games.db", "PRAGMA user_version"), latest(&place));
    for table in ["visit_set", "game_column", "own"] {
        assert!(place.number("games.db", &format!("SELECT count(*) FROM {table}")) > 0, "{table}");
    }
    assert!(place.printed(&["find", "games.db", "--moves", "1. e4", "--player", "new"]).contains("New, A"));
    place.printed(&["verify", "games.db", "--all"]);
}
