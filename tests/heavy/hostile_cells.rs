//! Databases with arbitrary values in their cells: no command panics, hangs or controls the terminal.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::command::{Run, command};
use crate::support::{OPENINGS, WITHOUT_STRICT, directory_in_memory};
use rusqlite::{Connection, params_from_iter, types::Value};
use tempfile::TempDir;

/// Games with every kind of row: a set-up, Chess960, broken games, tags, equal games, and a game that breaks off.
const GAMES: &str = "\
[Event \"a\"]\n[Site \"s\"]\n[Date \"2001.02.03\"]\n[Round \"1\"]\n[White \"Tal, M\"]\n[Black \"Fischer, R\"]\n[Result \"1-0\"]\n\
[WhiteElo \"2600\"]\n[BlackElo \"2500\"]\n[WhiteTitle \"GM\"]\n[BlackTitle \"GM\"]\n[ECO \"C60\"]\n[TimeControl \"40/7200\"]\n\
[Annotator \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 1-0\n\n\
[Event \"a\"]\n[Site \"s\"]\n[Date \"2001.02.03\"]\n[White \"Tal, M\"]\n[Black \"Fischer, R\"]\n[Result \"1-0\"]\n\n\
1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 1-0\n\n\
[Event \"b\"]\n[White \"Tal, M\"]\n[Black \"Fischer, R\"]\n[Result \"0-1\"]\n\n1. e4 c5 2. Nf3 Ke3 0-1\n\n\
[Event \"b\"]\n[White \"Tal, M\"]\n[Black \"Fischer, R\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n\n\
[Event \"b\"]\n[White \"Tal, M\"]\n[Black \"Fischer, R\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n\n\
[Event \"c\"]\n[FEN \"4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 40\"]\n\n40... fxe3 41. Ke2 0-1\n\n\
[Event \"e\"]\n[Variant \"Chess960\"]\n[FEN \"1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n\
[Event \"d\"]\n[Variant \"Atomic\"]\n\n1. e4 e5 *\n\nno game\n";

const NEW_GAMES: &str = "[Event \"n\"]\n[Site \"n\"]\n[White \"New, A\"]\n[Black \"Tal, M\"]\n[Date \"2002.01.01\"]\n[Result \"1-0\"]\n\
    [WhiteElo \"2700\"]\n[BlackElo \"2600\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n";

/// The tables that are changed.
const TABLES: [&str; 19] = [
    "import",
    "source",
    "player",
    "event",
    "site",
    "game",
    "tag",
    "game_position",
    "occurrence",
    "occurrence_level",
    "level_position",
    "level_continuation",
    "visit_set",
    "game_column",
    "game_set",
    "opening",
    "setting",
    "problem",
    "duplicate",
];

/// The values that are written into cells.
fn values() -> Vec<Value> {
    let hostile = "x\u{1b}]0;owned\u{7}\u{9b}2J\r\u{202e}\u{7f}\u{2066}\0y";
    let list = |ids: &str| Value::Text(format!("[{ids}]"));
    let mut values = vec![
        Value::Null,
        Value::Real(1e300),
        Value::Real(-0.5),
        Value::Blob(b"\x00\xff\x1b[2J".to_vec()),
        Value::Blob(Vec::new()),
        Value::Text(String::new()),
        Value::Text(hostile.to_owned()),
        Value::Text("棋".repeat(70_000)),
        Value::Text(format!("{{\"{hostile}\":\"{hostile}\"}}")),
        Value::Text("[".repeat(5_000)),
        Value::Text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4294967295 4294967295".to_owned()),
        Value::Text("8/8/8/8/8/8/8/8 w - -".to_owned()),
        list("1, -1, 4294967296, null, \"x\""),
        list("4294967295, 7, 7, 1"),
    ];
    values
        .extend([i64::MIN, -1, 0, 1, 2, 70_000, i64::from(u32::MAX), 1 << 32, i64::MAX].map(Value::Integer));
    values
}

/// A text that is not UTF-8; it cannot be bound as a parameter.
const NOT_UTF8: &str = "CAST(x'78ff1b9b2e' AS TEXT)";

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Commands that only read.
const READING: &[&[&str]] = &[
    &["info", "x.db", "--all", "--sizes"],
    &["info", "x.db", "--format", "json"],
    &["find", "x.db", "--moves", "1. e4"],
    &["find", "x.db", "--moves", "1. e4", "--sort", "rating", "--format", "json"],
    &["find", "x.db", "--moves", "1. e4", "--sort", "date", "--limit", "2", "--format", "csv"],
    &["find", "x.db", "--moves", "1. e4 e5", "--player", "tal", "--format", "pgn"],
    &["find", "x.db", "--moves", "1. e4", "--player", "nobody", "--event", "nothing"],
    &["find", "x.db", "--material", "KvK"],
    &["find", "x.db", "--pattern", "*/*/*/*/*P*/*/*/*", "--sort", "rating"],
    &["find", "x.db", "--fen", START, "--eco", "C60", "--since", "1990", "--elo-min", "2000"],
    &["find", "x.db", "--fen", START, "--player", "tal", "--opponent", "t", "--plies-min", "2", "--speed", "blitz"],
    &["explore", "x.db", "--fen", START, "--site", "nowhere", "--opening", "siclian", "--time-control", "180"],
    &["explore", "x.db", "--moves", "1. e4"],
    &["explore", "x.db", "--moves", "1. e4", "--format", "json"],
    &["explore", "x.db", "--moves", "1. e4", "--format", "csv", "--since", "1990"],
    &["explore", "x.db", "--fen", START, "--player", "tal"],
    &["player", "x.db", "tal"],
    &["player", "x.db", "tal", "--format", "md"],
    &["player", "x.db", "tal", "--format", "html"],
    &["player", "x.db", "tal", "--format", "json"],
    &["repertoire", "x.db", "new.pgn", "--side", "white"],
    &["repertoire", "x.db", "new.pgn", "--side", "black", "--since", "1900", "--format", "json"],
    &["game", "x.db", "1-3", "--novelty"],
    &["game", "x.db", "1-3", "--novelty", "--format", "json"],
    &["game", "x.db", "1-4294967295", "--ply", "end", "--ascii"],
    &["game", "x.db", "1-7", "--format", "json"],
    &["game", "x.db", "1-7", "--format", "pgn"],
    &["export", "x.db", "--format", "pgn"],
    &["export", "x.db", "--format", "csv"],
    &["export", "x.db", "--format", "csv", "--opening", "defense", "--termination", "normal", "--plies-max", "90"],
    &["export", "x.db", "--format", "fen"],
    &["export", "x.db", "--format", "epd", "--last", "--moves", "1. e4"],
    &["export", "x.db", "--format", "csv", "--sql", "SELECT game_id FROM game"],
    &["export", "x.db", "--format", "csv-positions", "--sort", "date", "--limit", "5"],
    &["export", "x.db", "--format", "epd", "--move", "x", "--either", "--sort", "rating"],
    &["export", "x.db", "--format", "csv-positions", "--evaluated", "--sample", "9", "--per-game", "3", "--ply", "2-"],
    &["verify", "x.db", "--all", "--quiet"],
    &["verify", "x.db", "--json", "--quiet"],
    &["sql", "x.db", "SELECT game_pgn(game_id) FROM game"],
    &[
        "sql",
        "x.db",
        "SELECT fen_board(fen), fen_material(fen), fen_balance(fen), fen_phase(fen), fen_key(fen), move_san(fen, move_code)
         FROM game_position",
    ],
    &["sql", "x.db", "SELECT * FROM moves; SELECT * FROM positions; SELECT * FROM games", "--format", "md"],
    &["sql", "x.db", "SELECT * FROM import, setting; SELECT * FROM game JOIN problem", "--format", "box"],
    &["sql", "x.db", "SELECT * FROM visited_position, duplicate; SELECT * FROM tag", "--format", "line"],
    &["sql", "x.db", "SELECT * FROM source, player, event, site; SELECT * FROM continuation"],
    &["sql", "x.db", "SELECT * FROM opening ORDER BY 1 LIMIT 9", "--format", "json"],
    &["key", START],
];

/// Commands that write. Each is run last in its copy of the database.
const WRITING: &[&[&str]] = &[
    &["index", "--quiet", "x.db", "new.pgn"],
    &["index", "--quiet", "x.db", "grown/games.pgn", "new.pgn", "--duplicates", "moves"],
    &["index", "--log-format", "json", "x.db", "new.pgn", "--duplicates", "keep"],
];

/// A database of the games, and a copy whose columns can contain values of all types.
struct Bases {
    directory: TempDir,
}

impl Bases {
    fn new() -> Self {
        let directory = directory_in_memory();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("grown")).expect("a directory");
        fs::write(at("grown/games.pgn"), GAMES).expect("a file");
        fs::write(at("new.pgn"), NEW_GAMES).expect("a file");
        let arguments = ["index", "--quiet", "base.db", "grown/games.pgn", "--openings", OPENINGS];
        let arguments = [&arguments[..], &["--continuation-threshold", "2"]].concat();
        let run = Run::of(command(directory.path(), &arguments).output().expect("the program runs"));
        assert_eq!(run.status, 3, "some games are broken, the others are indexed: {}", run.stderr);
        fs::write(at("grown/games.pgn"), format!("{GAMES}\n{NEW_GAMES}")).expect("a file");
        fs::copy(at("base.db"), at("loose.db")).expect("a copy");
        let loose = Connection::open(at("loose.db")).expect("a database");
        loose
            .execute_batch(&format!(
                "PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql, ' IS NOT NULL', ' NOTNULL'), ' NOT NULL', ''),
                         ' TEXT', ''), ' ANY', '')
                 WHERE type = 'table';
                 {WITHOUT_STRICT};
                 UPDATE sqlite_schema SET sql = replace(sql, ' UNIQUE', '') WHERE type = 'index';
                 PRAGMA writable_schema = RESET; VACUUM;
                 -- So that rows are added through SQL.
                 CREATE INDEX own ON game_position (fen);",
            ))
            .expect("another schema");
        let bases = Self { directory };
        // A case that changes no row would test nothing.
        for table in TABLES {
            let count =
                bases
                    .open("base.db")
                    .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
            assert!(count.unwrap_or(0) > 0, "{table}");
        }
        bases
    }

    fn open(&self, name: &str) -> Connection {
        let connection = Connection::open(self.directory.path().join(name)).expect("a database");
        connection.pragma_update(None, "foreign_keys", false).expect("a pragma");
        connection.pragma_update(None, "ignore_check_constraints", true).expect("a pragma");
        connection
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        let connection = self.open("base.db");
        let columns = |table: &'static str| {
            let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)").expect("SQL");
            let names = query.query_map([table], |row| row.get::<_, String>(0)).expect("rows");
            names.map(|name| (table, name.expect("a name"))).collect::<Vec<_>>()
        };
        TABLES.into_iter().flat_map(columns).collect()
    }
}

/// A value in one cell, or in all cells of a column.
struct Case<'a> {
    number: usize,
    table: &'a str,
    column: &'a str,
    /// The SQL expression for the value.
    value: String,
    parameter: Option<Value>,
    is_loose: bool,
    all_rows: bool,
    /// The number of the column plus the number of the value. It selects the commands, so that each column and each
    /// value is tested with all commands.
    turn: usize,
}

impl Case<'_> {
    fn describe(&self) -> String {
        let Case { table, column, value, parameter, is_loose, all_rows, .. } = self;
        format!("{table}.{column} = {value} {:.60} loose {is_loose} all {all_rows}", format!("{parameter:?}"))
    }

    /// A directory with the changed database; `None` if the value cannot be stored in the column.
    fn place(&self, bases: &Bases) -> Option<TempDir> {
        let place = directory_in_memory();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("grown")).expect("a directory");
        for name in ["grown/games.pgn", "new.pgn"] {
            fs::copy(bases.directory.path().join(name), at(name)).expect("a copy");
        }
        let base = if self.is_loose { "loose.db" } else { "base.db" };
        fs::copy(bases.directory.path().join(base), at("x.db")).expect("a copy");
        let connection = Connection::open(at("x.db")).expect("a database");
        let pragmas =
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF";
        connection.execute_batch(pragmas).expect("pragmas");
        let Case { table, column, value, number, .. } = self;
        // Only one row is changed; of several similar rows, not always the first.
        let which = if self.all_rows {
            String::new()
        } else {
            format!(
                " WHERE {column} IS (SELECT {column} FROM {table} LIMIT 1 OFFSET
                    (SELECT {number} % count(*) FROM (SELECT 1 FROM {table} LIMIT 3)))"
            )
        };
        let sql = format!("UPDATE OR REPLACE {table} SET {column} = {value}{which}");
        let changed = connection.execute(&sql, params_from_iter(&self.parameter)).ok()?;
        (changed > 0).then_some(place)
    }

    /// The faults in the output of commands; `None` if the value cannot be stored in the column.
    fn run(&self, bases: &Bases, commands: &[&[&str]]) -> Option<Vec<String>> {
        let place = self.place(bases)?;
        let faults = commands.iter().filter_map(|arguments| check(place.path(), arguments).err());
        Some(faults.map(|fault| format!("{}: {fault}", self.describe())).collect())
    }
}

/// Whether a character can control a terminal.
fn is_harmful(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t'))
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the output format is one for programs, in which texts are not escaped.
fn is_for_programs(arguments: &[&str]) -> bool {
    arguments.iter().any(|argument| matches!(*argument, "csv" | "pgn"))
}

/// Runs a command, and checks its exit status and its output.
fn check(directory: &Path, arguments: &[&str]) -> Result<(), String> {
    const LIMIT: Duration = Duration::from_secs(20);
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let output = |name: &str| directory.join(format!("{name}-{number}"));
    let file = |path: &PathBuf| Stdio::from(File::create(path).expect("a file"));
    let (stdout, stderr) = (output("stdout"), output("stderr"));
    let mut child = command(directory, arguments)
        .stdout(file(&stdout))
        .stderr(file(&stderr))
        .spawn()
        .expect("the program runs");
    let status = wait(&mut child, LIMIT);
    let text = |path: &PathBuf| String::from_utf8(fs::read(path).expect("a file"));
    let (Ok(stdout), Ok(stderr)) = (text(&stdout), text(&stderr)) else {
        return Err(format!("{arguments:?}: not UTF-8"));
    };
    let fault = |what: &str| Err(format!("{what}: {arguments:?}: {status:?}: {stderr:.500}"));
    let Some(status) = status else { return fault("the command hangs, or was killed") };
    if !(0..=4).contains(&status) || stderr.contains("panicked") {
        return fault("the command panicked");
    }
    if stderr.contains(is_harmful) || (!is_for_programs(arguments) && stdout.contains(is_harmful)) {
        return fault("the output controls the terminal");
    }
    let hints =
        ["pgndex verify", "no game ", "--sql: ", "no id is left", "nothing was added", "constraint failed"];
    // For the user's own SQL, the message of SQLite is enough.
    if status == 1
        && !matches!(arguments[0], "verify" | "sql")
        && !hints.iter().any(|hint| stderr.contains(hint))
    {
        return fault("the message does not say what to do");
    }
    Ok(())
}

/// The exit status; `None` if the process does not end in time or is killed by a signal.
fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    None
}

/// Calls a function with the numbers below `count`, on a few threads.
fn in_threads(count: usize, run: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let number @ 0.. = next.fetch_add(1, Ordering::Relaxed)
                    && number < count
                {
                    run(number);
                }
            });
        }
    });
}

/// Runs all wanted cases: each column with each value.
fn for_each_case(
    bases: &Bases,
    wanted: impl Fn(usize, usize) -> bool + Sync,
    run: impl Fn(&Case<'_>) + Sync,
) {
    let (columns, values) = (bases.columns(), values());
    // One more case: the value `NOT_UTF8`, which is an expression.
    let count = values.len() + 1;
    in_threads(columns.len() * count, |number| {
        let (place, value) = (number / count, number % count);
        if !wanted(place, value) {
            return;
        }
        let (table, column) = &columns[place];
        let parameter = values.get(value).cloned();
        run(&Case {
            number,
            table,
            column,
            value: if parameter.is_some() { "?1".to_owned() } else { NOT_UTF8.to_owned() },
            parameter,
            is_loose: number % 2 == 1,
            all_rows: number % 3 == 0,
            turn: place + value,
        });
    });
}

/// Changes a database with SQL, then runs a command, which must end with a known status.
#[track_caller]
fn run_spoiled(bases: &Bases, sql: &str, arguments: &[&str]) -> Run {
    let directory = bases.directory.path();
    fs::copy(directory.join("base.db"), directory.join("x.db")).expect("a copy");
    bases.open("x.db").execute_batch(sql).expect("SQL");
    assert_eq!(check(directory, arguments), Ok(()), "{sql}");
    fs::copy(directory.join("base.db"), directory.join("x.db")).expect("a copy");
    bases.open("x.db").execute_batch(sql).expect("SQL");
    Run::of(command(directory, arguments).output().expect("the program runs"))
}

#[test]
fn exhausted_ids_are_reported_and_nothing_is_written() {
    let bases = Bases::new();
    for table in ["import", "source", "player", "event", "site", "game"] {
        let sql = format!(
            "UPDATE {table} SET {table}_id = 4294967295 WHERE {table}_id = (SELECT max({table}_id) FROM {table})"
        );
        let run = run_spoiled(&bases, &sql, &["index", "--quiet", "x.db", "new.pgn"]);
        assert_eq!(run.status, 1, "{table}: {}", run.stderr);
        let expected = format!(
            "x.db: table {table} has a row with the greatest possible id, 4294967295, so no id is left"
        );
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
        let count = "SELECT (SELECT count(*) FROM game) || ' ' || (SELECT count(*) FROM import)";
        let count = |name| bases.open(name).query_row(count, [], |row| row.get::<_, String>(0));
        assert_eq!(count("x.db"), count("base.db"));
    }
}

#[test]
fn names_may_run_out_of_ids_during_a_run() {
    let bases = Bases::new();
    fs::write(bases.directory.path().join("new.pgn"), NEW_GAMES.replace("Tal, M", "New, B")).expect("a file");
    let sql =
        "UPDATE player SET player_id = 4294967294 WHERE player_id = (SELECT max(player_id) FROM player)";
    let run = run_spoiled(&bases, sql, &["index", "--quiet", "x.db", "new.pgn"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stderr.contains("more than 4294967295 names of players"), "{}", run.stderr);
    let games =
        |name| bases.open(name).query_row("SELECT count(*) FROM game", [], |row| row.get::<_, i64>(0));
    assert_eq!(games("x.db"), games("base.db"));
}

#[test]
fn a_gap_in_the_game_ids_takes_no_time() {
    let bases = Bases::new();
    let sql = "UPDATE game SET game_id = 4294967295 WHERE game_id = 1;
               UPDATE game_position SET game_id = 4294967295 WHERE game_id = 1;
               UPDATE occurrence SET game_id = 4294967295 WHERE game_id = 1;
               DELETE FROM tag; DELETE FROM duplicate; DELETE FROM visit_set; DELETE FROM level_position; DELETE FROM level_continuation";
    for arguments in [
        &["find", "x.db", "--material", "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP", "--format", "csv"][..],
        &["game", "x.db", "1-4294967295", "--format", "pgn"],
        &["export", "x.db", "--format", "csv"],
        &["export", "x.db", "--format", "csv", "--sort", "rating"],
    ] {
        let run = run_spoiled(&bases, sql, arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.contains("Tal, M"), "{arguments:?}: {}", run.stdout);
    }
    assert!(run_spoiled(&bases, sql, READING[7]).status == 0);
    let run = run_spoiled(&bases, sql, &["repair", "x.db", "--quiet"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn a_cell_of_any_width_can_be_printed_and_does_not_widen_all_rows() {
    let bases = Bases::new();
    for width in [4096, 65_535, 65_536, 1_000_000] {
        let sql = format!("SELECT printf('%.*c', {width}, 'x') AS a, 1 AS x UNION ALL SELECT 'y', 2");
        for format in ["table", "box", "md", "line"] {
            let run = run_spoiled(&bases, "", &["sql", "x.db", &sql, "--format", format]);
            assert_eq!(run.status, 0, "{format}: {}", run.stderr);
            assert!(run.stdout.lines().any(|line| line.len() >= width), "{format}");
            let row = run.stdout.lines().find(|line| line.contains('y')).expect("the second row");
            assert!(row.len() < 5000, "{format}: {}", row.len());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_database_may_have_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bases = Bases::new();
    let directory = bases.directory.path();
    let name = OsStr::from_bytes(b"x\xff\x1b[2J\xe2\x80\xae.db");
    fs::copy(directory.join("base.db"), directory.join(name)).expect("a copy");
    for arguments in READING.iter().chain(WRITING).filter(|arguments| arguments[0] != "key") {
        let given =
            arguments.iter().map(|&argument| if argument == "x.db" { name } else { OsStr::new(argument) });
        let output = command(directory, &[]).args(given).output().expect("the program runs");
        let run = Run::of(output);
        let is_done = matches!(run.status, 0 | 3) || run.stderr.contains("no game 8; ");
        assert!(is_done, "{arguments:?}: {}", run.stderr);
        assert!(
            !run.stderr.contains(is_harmful) && !run.stdout.contains(is_harmful),
            "{arguments:?}: {run:?}"
        );
    }
}

/// Collects the results of the cases; the first faults are reported at the end.
#[derive(Default)]
struct Outcome {
    spoiled: usize,
    faults: Vec<String>,
}

fn take(outcome: &Mutex<Outcome>, faults: Option<Vec<String>>) {
    let Some(faults) = faults else { return };
    let mut outcome = outcome.lock().expect("no thread has panicked");
    outcome.spoiled += 1;
    outcome.faults.extend(faults);
}

#[track_caller]
fn assert_harmless(outcome: Mutex<Outcome>, least: usize) {
    let Outcome { spoiled, faults } = outcome.into_inner().expect("no thread has panicked");
    let first: Vec<_> = faults.iter().take(40).map(String::as_str).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), first.join("\n"));
    assert!(spoiled >= least, "only {spoiled} databases could be changed");
}

#[test]
fn some_values_of_cells_make_no_command_panic_hang_or_control_the_terminal() {
    let (bases, outcome) = (Bases::new(), Mutex::default());
    let kinds = values().len() + 1;
    // Tests one value for each column, with a selection of the commands. All columns together use each value
    // and each command.
    for_each_case(
        &bases,
        |place, value| value == place * 5 % kinds,
        |case| {
            let mut commands: Vec<_> = READING.iter().skip(case.number % 12).step_by(12).copied().collect();
            commands.extend(WRITING.get(case.number % 7));
            take(&outcome, case.run(&bases, &commands));
        },
    );
    assert_harmless(outcome, 40);
}

/// Every value in every column. Each column is tested with every command, and so is each value, but not each pair of
/// column and value.
#[test]
#[ignore = "takes a minute"]
fn all_values_of_cells_make_no_command_panic_hang_or_control_the_terminal() {
    let (bases, outcome) = (Bases::new(), Mutex::default());
    for_each_case(
        &bases,
        |_, _| true,
        |case| {
            let mut commands: Vec<_> = READING.iter().skip(case.turn % 8).step_by(8).copied().collect();
            // The writing command comes last, because it may change the cell.
            commands.extend(WRITING.get(case.turn % 4));
            take(&outcome, case.run(&bases, &commands));
        },
    );
    assert_harmless(outcome, 1500);
}
