//! The SQL functions: one table of cases, checked with the built-in functions and with the loadable extension in the
//! `sqlite3` shell and in Python.

mod extension;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pgndex::index::{IndexOptions, Progress, index};
use pgndex::store::Database;
use rusqlite::Connection;
use tempfile::TempDir;

/// An expression and its expected result: a value as `quote` writes it, or `error: …`.
struct Case {
    line: usize,
    expression: String,
    expected: String,
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/functions.tsv")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(table()).expect("the table of cases");
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let cases: Vec<_> = lines
        .map(|(index, line)| {
            let (expression, expected) = line.split_once('\t').expect("two fields");
            Case { line: index + 1, expression: expression.to_owned(), expected: expected.to_owned() }
        })
        .collect();
    assert!(cases.len() > 150, "cases are missing in the table");
    cases
}

/// A database of the famous games.
fn famous() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let database = directory.path().join("games.db");
    let pgn = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/famous-games.pgn");
    index(&database, &[&pgn], &IndexOptions::default(), &Progress::default()).expect("a database");
    (directory, database)
}

/// Fails with a list of all cases whose result is wrong.
fn check(cases: &[Case], answers: impl IntoIterator<Item = String>) {
    let mut failures = String::new();
    let mut answers = answers.into_iter();
    for Case { line, expression, expected } in cases {
        let answer = answers.next().unwrap_or_else(|| "no answer".to_owned());
        if answer != *expected {
            writeln!(failures, "line {line}: {expression}\n  expected {expected}\n  found    {answer}")
                .expect("text");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn answer(connection: &Connection, expression: &str) -> String {
    let value = connection
        .prepare(&format!("SELECT quote({expression})"))
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, String>(0)));
    match value {
        Ok(value) => value.replace('\n', "\\n"),
        Err(rusqlite::Error::SqliteFailure(_, Some(message))) => format!("error: {message}"),
        Err(rusqlite::Error::SqlInputError { msg, .. }) => format!("error: {msg}"),
        Err(error) => format!("error: {error:?}"),
    }
}

#[test]
fn built_in_functions_agree_with_the_table() {
    let (_directory, path) = famous();
    let database = Database::open_read_only(&path).expect("a database");
    let cases = cases();
    check(&cases, cases.iter().map(|case| answer(database.connection(), &case.expression)));
}

#[test]
fn functions_agree_with_each_stored_move() {
    let (_directory, path) = famous();
    let database = Database::open_read_only(&path).expect("a database");
    let connection = database.connection();
    let count = |condition: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM moves WHERE {condition}");
        connection.query_row(&sql, [], |row| row.get(0)).expect("a count")
    };
    let all = count("1");
    assert!(all > 500);
    for condition in [
        "fen_key(fen) = key",
        "move_uci(move_code) = uci AND move_uci(fen, move_code) = uci",
        "move_from(move_code) IS from_square AND move_to(move_code) IS to_square",
        "move_piece(move_code) IS piece AND move_captured(move_code) IS captured",
        "move_special(move_code) = special AND move_promotion(move_code) IS promotion",
        "fen_piece(fen, from_square) = piece",
        "(SELECT count(*) FROM fen_legal_moves(moves.fen) AS l WHERE l.move_code = moves.move_code AND l.uci = moves.uci) = 1",
        "fen_after(fen, uci) = fen_after(fen, move_san(fen, move_code))",
        "fen_normal(fen_after(fen, uci)) = (SELECT p.fen FROM game_position AS p
             WHERE p.game_id = moves.game_id AND p.ply = moves.ply + 1)",
        "fen_matches(fen, substr(fen, 1, instr(fen, ' ') + 1))",
        "fen_has_material(fen, fen_material(fen))",
    ] {
        assert_eq!(count(condition), all, "{condition}");
    }
}

/// The expected numbers come from a Python script that uses python-chess and an independent implementation of Lichess's
/// rules.
#[test]
fn balance_and_phases_of_all_positions() {
    let (_directory, path) = famous();
    let database = Database::open_read_only(&path).expect("a database");
    let number = |value: &str| -> i64 {
        let sql = format!("SELECT {value} FROM game_position");
        database.connection().query_row(&sql, [], |row| row.get(0)).expect("a number")
    };
    let balances = ["sum(fen_balance(fen))", "sum(abs(fen_balance(fen)))"].map(number);
    assert_eq!(balances, [53, 4151]);
    let phases = ["opening", "middlegame", "endgame"];
    assert_eq!(phases.map(|phase| number(&format!("sum(fen_phase(fen) = '{phase}')"))), [1209, 1597, 482]);
}

#[test]
fn a_pattern_of_each_row_is_compiled_for_each_row() {
    let connection = Connection::open_in_memory().expect("a connection");
    pgndex::functions::register(&connection).expect("functions");
    let answers: String = connection
        .query_row(
            "SELECT group_concat(fen_matches(fen, pattern) || fen_has_material(fen, material), ' ') FROM (
                 SELECT '4k3/8/8/8/8/8/8/4K2R w - -' AS fen, '*/8/8/8/8/8/8/*R' AS pattern, 'KRvK' AS material
                 UNION ALL SELECT '4k3/8/8/8/8/8/8/4K2R w - -', '*/8/8/8/8/8/8/*Q', 'KQvK'
                 UNION ALL SELECT '4k3/8/8/8/8/8/8/4K2Q w - -', '*/8/8/8/8/8/8/*Q', 'KQvK')",
            [],
            |row| row.get(0),
        )
        .expect("an answer");
    assert_eq!(answers, "11 00 11");
}

#[test]
fn functions_work_in_expression_indexes() {
    let (_directory, path) = famous();
    {
        let database = Database::open(&path).expect("a database");
        let sql = "CREATE INDEX position_material ON game_position (fen_material(fen))";
        database.connection().execute(sql, []).expect("an index");
    }
    let database = Database::open(&path).expect("a database");
    let connection = database.connection();
    let sql =
        "SELECT count(*) FROM game_position WHERE fen_material(fen) = 'KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP'";
    let plan: String =
        connection.query_row(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| row.get(3)).expect("a plan");
    assert!(
        plan.contains("USING COVERING INDEX position_material (<expr>=?)")
            || plan.contains("USING INDEX position_material (<expr>=?)"),
        "{plan}"
    );
    let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).expect("a count") };
    let scanned = "SELECT count(*) FROM game_position NOT INDEXED
        WHERE fen_material(fen) = 'KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP'";
    assert_eq!(count(sql), count(scanned));
    assert!(count(sql) > 50);
    // Rows can be added to the table. The command `pgndex index` must be able to do this in a database with such
    // an index.
    let add = "INSERT INTO game_position SELECT game_id, 5000, key, 0, NULL, fen FROM game_position LIMIT 1";
    assert_eq!(connection.execute(add, []), Ok(1));
}

#[test]
fn a_game_of_another_programs_database_is_an_error() {
    let connection = Connection::open_in_memory().expect("a connection");
    pgndex::functions::register(&connection).expect("functions");
    assert_eq!(answer(&connection, "game_pgn(1)"), "error: game_pgn: no such table: game");
}

#[test]
fn each_function_is_described() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sql.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for name in pure_and_other_functions().into_iter().map(|(name, _)| name) {
        assert!(page.contains(&format!("`{name}(")), "docs/sql.md has no {name}");
    }
}

/// The names of our functions, and whether each is deterministic and innocuous.
fn pure_and_other_functions() -> Vec<(String, bool)> {
    let plain: Vec<_> = list(&Connection::open_in_memory().expect("a connection"));
    let connection = Connection::open_in_memory().expect("a connection");
    pgndex::functions::register(&connection).expect("functions");
    // We register `exp` only if SQLite was compiled without it.
    let is_ours = |function: &(String, bool)| !plain.contains(function) && function.0 != "exp";
    list(&connection).into_iter().filter(is_ours).collect()
}

fn list(connection: &Connection) -> Vec<(String, bool)> {
    let mut statement = connection
        .prepare("SELECT name, flags & 0x800 <> 0 AND flags & 0x200000 <> 0 FROM pragma_function_list ORDER BY name, narg")
        .expect("a query");
    let functions = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    functions.map(Result::unwrap).collect()
}

#[test]
fn only_pure_functions_are_deterministic_and_innocuous() {
    let functions = pure_and_other_functions();
    assert_eq!(functions.len(), 23);
    for (name, is_pure) in functions {
        assert_eq!(is_pure, name != "game_pgn", "{name}");
    }
}

#[test]
fn game_pgn_agrees_with_the_command() {
    let (_directory, path) = famous();
    let database = Database::open_read_only(&path).expect("a database");
    let games: i64 =
        database.connection().query_row("SELECT count(*) FROM game", [], |row| row.get(0)).expect("a count");
    for game in 1..=games {
        let sql = "SELECT game_pgn(?)";
        let text: String = database.connection().query_row(sql, [game], |row| row.get(0)).expect("a game");
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_pgndex"))
            .args(["game", "--format", "pgn"])
            .arg(&path)
            .arg(game.to_string())
            .output()
            .expect("the program runs");
        assert_eq!(String::from_utf8_lossy(&command.stdout), text);
    }
}
