//! The database: its schema, creating and opening the file, bulk load, and look-ups.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pgndex::board::{GameResult, MoveCode, PositionKey};
use pgndex::store::pages::PositionRecord;
use pgndex::store::row::{
    GameId, GameRow, GameStatus, HeaderBatch, NameId, Ply, ProblemRow, Severity, SourceId, TagRow,
};
use pgndex::store::{
    Build, BuildOptions, BulkLoader, Database, Error, ErrorKind, HitOrder, ImportId, ImportTotals, Lines,
    Named, NewImport, Search, Selection, SourceDigest, SourceTotals, WriterLock,
};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use crate::games::insert_positions;
use crate::needs::has_program;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const START_KEY: PositionKey = PositionKey(0x463b_9618_1691_fc9c);
const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
const AFTER_E4_KEY: PositionKey = PositionKey(0x823c_9b50_fd11_4196);
/// Black is to move at move 17. Black castles, and White promotes with check.
const ENDGAME: [&str; 3] =
    ["r3k3/1P6/8/8/8/8/8/4K3 b q -", "2kr4/1P6/8/8/8/8/8/4K3 w - -", "1Qkr4/8/8/8/8/8/8/4K3 b - -"];

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"))
        .collect();
    names.sort();
    names
}

/// The message of an error with its causes, without the name of the directory.
fn message(error: &Error, directory: &Path) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text += &format!("\n  {error}");
        source = error.source();
    }
    text.replace(&format!("{}/", directory.display()), "").replace(&directory.display().to_string(), "DIR")
}

fn position(
    game: u32,
    ply: u32,
    key: PositionKey,
    halfmove_clock: u32,
    code: Option<u32>,
    fen: &str,
) -> PositionRecord<String> {
    let (game, ply, move_code) = (GameId(game), Ply(ply), code.map(MoveCode::from_stored));
    PositionRecord { game, ply, key, halfmove_clock, move_code, fen: fen.to_owned() }
}

/// Game 1: 1. e4. Game 2: from an endgame. Game 3: only the start position. Game 2 also has another position with the
/// key of the start position.
fn sample(text: &mut HeaderBatch) -> Vec<PositionRecord<String>> {
    add_headers(text);
    vec![
        position(1, 0, START_KEY, 0, Some(0x0E14_3420), START),
        position(1, 1, AFTER_E4_KEY, 0, None, AFTER_E4),
        position(2, 0, PositionKey(u64::MAX), 5, Some(0x0274_7270), ENDGAME[0]),
        position(2, 1, START_KEY, 6, Some(0x1C61_7120), ENDGAME[1]),
        position(2, 2, PositionKey(1), 0, Some(0), ENDGAME[2]),
        position(2, 3, PositionKey(2), 1, None, "1Qkr4/8/8/8/8/8/8/4K3 w - -"),
        position(3, 0, START_KEY, 0, None, START),
    ]
}

/// The games of [`sample`], with names, tags and problems.
fn add_headers(text: &mut HeaderBatch) {
    let (carlsen, nepo) = (text.push_text("Carlsen, M."), text.push_text("Непомнящий, Я."));
    text.players.extend([(NameId(1), carlsen), (NameId(2), nepo)]);
    let event = text.push_text("WCh");
    text.events.push((NameId(1), event));
    let site = text.push_text("Dubai");
    text.sites.push((NameId(1), site));
    let game = GameRow {
        game: GameId(1),
        source: SourceId(1),
        byte_length: 100,
        event: Some(NameId(1)),
        site: Some(NameId(1)),
        date: Some(text.push_text("2021.12.03")),
        white: Some(NameId(1)),
        black: Some(NameId(2)),
        result: GameResult::White,
        white_elo: Some(2855),
        white_title: Some(text.push_text("GM")),
        ply_count: 1,
        moves_hash: u64::MAX,
        ..GameRow::default()
    };
    let start_fen = Some(text.push_text("r3k3/1P6/8/8/8/8/8/4K3 b q - 5 17"));
    let endgame = GameRow {
        game: GameId(2),
        source: SourceId(1),
        byte_offset: 100,
        byte_length: 90,
        start_fen,
        ply_count: 3,
        status: GameStatus::Truncated,
        ..GameRow::default()
    };
    text.games.extend([
        game,
        endgame,
        GameRow { game: GameId(3), source: SourceId(1), ..GameRow::default() },
    ]);
    for (name, value) in [("Annotator", "Ünïcødé ♔"), ("UTCDate", "2021.12.03")] {
        let tag = TagRow { game: GameId(1), name: text.push_text(name), value: text.push_text(value) };
        text.tags.push(tag);
    }
    let problem = ProblemRow {
        source: SourceId(1),
        byte_offset: 150,
        line: 12,
        column: 7,
        game_number: 2,
        game: Some(GameId(2)),
        ply: Some(Ply(3)),
        token: Some(text.push_text("Kxe9")),
        kind: "illegal-move",
        severity: Severity::Error,
        message: text.push_text("no such square"),
    };
    let outside = ProblemRow { game_number: 0, game: None, ply: None, token: None, ..problem };
    text.problems.extend([problem, outside]);
}

fn load(build: &Build, headers: &HeaderBatch, positions: &[PositionRecord<String>]) {
    let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
    loader
        .add_import(&NewImport { id: ImportId(1), program_version: "0.1.0", options: "{}" })
        .expect("an import");
    loader.add_source(SourceId(1), "games.pgn", 0).expect("a source");
    loader.append_headers(headers).expect("headers");
    insert_positions(build.connection(), positions);
    let games = headers.games.len() as u64;
    let totals = SourceTotals {
        bytes: Some(190),
        digest: Some(SourceDigest([0xab; 32])),
        is_damaged: false,
        games,
        plies: 4,
        problems: 2,
        ..SourceTotals::default()
    };
    loader.finish_source(SourceId(1), &totals).expect("a source");
    let totals = ImportTotals {
        games,
        plies: 4,
        positions: 7,
        distinct_positions: 6,
        problems: 2,
        duplicates: 0,
        elapsed: Duration::from_millis(1500),
    };
    loader.finish_import(ImportId(1), &totals).expect("an import");
    loader.finish().expect("a commit");
}

/// A finished database with the sample in it.
fn sample_database(directory: &Path) -> PathBuf {
    let path = directory.join("games.db");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    let mut headers = HeaderBatch::default();
    let positions = sample(&mut headers);
    load(&build, &headers, &positions);
    build.finish().expect("a database");
    path
}

/// The rows of a query, with the values separated by `|`.
fn table(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(sql).expect("SQL");
    let columns = statement.column_count();
    let mut rows = statement.query([]).expect("a query");
    let mut lines = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let values: Vec<_> = (0..columns)
            .map(|column| match row.get::<_, Value>(column).expect("a value") {
                Value::Null => String::new(),
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::Text(value) => value,
                Value::Blob(value) => format!("{value:?}"),
            })
            .collect();
        lines.push(values.join("|"));
    }
    lines.join("\n")
}

const SCHEMA: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";

#[test]
fn a_fresh_database_is_recognised_and_empty() {
    let directory = directory();
    let path = directory.path().join("games.db");
    Build::create(&path, BuildOptions::default()).expect("a build").finish().expect("a database");
    let database = Database::open_read_only(&path).expect("a database");
    assert_eq!(table(database.connection(), "PRAGMA page_size"), "8192");
    assert_eq!(table(database.connection(), "PRAGMA application_id"), 0x5047_4e64.to_string());
    assert_eq!(table(database.connection(), "PRAGMA user_version"), "1");
    assert_eq!(table(database.connection(), "PRAGMA journal_mode"), "delete");
    assert_eq!(database.import_infos().expect("runs"), []);
    assert_eq!(names(directory.path()), ["games.db"]);
}

#[test]
fn bulk_loads_and_migrations_give_the_same_schema() {
    let directory = directory();
    let path = sample_database(directory.path());
    let loaded = Database::open(&path).expect("an up-to-date database");
    let mut migrated = Connection::open_in_memory().expect("a database");
    pgndex::store::migrate(&mut migrated, Path::new("memory")).expect("a schema");
    assert_eq!(table(loaded.connection(), SCHEMA), table(&migrated, SCHEMA));
    // Another migration changes nothing.
    pgndex::store::migrate(&mut migrated, Path::new("memory")).expect("a schema");
    assert_eq!(table(loaded.connection(), SCHEMA), table(&migrated, SCHEMA));
    assert_eq!(table(loaded.connection(), "PRAGMA integrity_check"), "ok");
    assert_eq!(table(loaded.connection(), "PRAGMA foreign_key_check"), "");
}

#[test]
fn other_files_are_refused_untouched() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let refused = |path: &Path| {
        let before = fs::read(path).ok();
        let error = Database::open_read_only(path).expect_err("an error");
        let again = Database::open(path).expect_err("an error");
        let text = message(&error, directory.path());
        // An empty file could become a database, but not when it is opened for reading.
        assert_eq!(text, message(&again, directory.path()));
        assert_eq!(before, fs::read(path).ok());
        text
    };
    insta::assert_snapshot!(refused(&path), @"games.db: no such database; create one with `pgndex index`");
    insta::assert_snapshot!(refused(directory.path()), @"DIR: a directory, not a database; name a file in it");
    #[cfg(unix)]
    insta::assert_snapshot!(refused(Path::new("/dev/null")), @"/dev/null: not a regular file; name a database");
    fs::write(&path, "[Event \"?\"]\n\n1. e4 *\n".repeat(1000)).expect("a file");
    insta::assert_snapshot!(refused(&path), @"games.db: this is a PGN file, not a database; give a database as the first argument (`pgndex index` creates one)");
    fs::write(&path, "x").expect("a file");
    insta::assert_snapshot!(refused(&path), @"games.db: not an SQLite database; is this the right file?");
    fs::remove_file(&path).expect("removed");
    Connection::open(&path).and_then(|c| c.execute_batch("CREATE TABLE t (x)")).expect("a database");
    insta::assert_snapshot!(refused(&path), @"games.db: an SQLite database of another program; choose another file");
    fs::remove_file(&path).expect("removed");
    sample_database(directory.path());
    Connection::open(&path).and_then(|c| c.execute_batch("PRAGMA user_version = 99")).expect("a database");
    insta::assert_snapshot!(refused(&path), @"games.db: made by a newer pgndex (schema version 99, this program knows 1); update pgndex");
}

#[test]
fn a_marked_file_without_a_version_is_refused_untouched() {
    let directory = directory();
    let path = directory.path().join("games.db");
    for version in [0, -1] {
        let _ = fs::remove_file(&path);
        let sql = format!("PRAGMA application_id = 0x50474e64; PRAGMA user_version = {version}");
        Connection::open(&path).and_then(|c| c.execute_batch(&sql)).expect("a file");
        let before = fs::read(&path).expect("the file");
        for error in [Database::open_read_only(&path), Database::open(&path)].map(Result::unwrap_err) {
            insta::allow_duplicates! {
                insta::assert_snapshot!(message(&error, directory.path()), @"games.db: an SQLite database of another program; choose another file");
            }
        }
        assert_eq!(fs::read(&path).expect("the file"), before);
    }
}

#[test]
fn moves_read_like_a_score_sheet() {
    let directory = directory();
    let database = Database::open_read_only(&sample_database(directory.path())).expect("a database");
    insta::assert_snapshot!(table(database.connection(), "SELECT * FROM moves"), @r"
    1|0|1|w|rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1|e2e4|236205088|14|e2|e4|P|||0|0|5060803636482931868||||||||
    2|0|17|b|r3k3/1P6/8/8/8/8/8/4K3 b q - 5 17|e8c8|41185904|2|e8|c8|k|||0|0|-1||||||||
    2|1|18|w|2kr4/1P6/8/8/8/8/8/4K3 w - - 6 18|b7b8q|476148000|12|b7|b8|P||q|1|0|5060803636482931868||||||||
    2|2|18|b|1Qkr4/8/8/8/8/8/8/4K3 b - - 0 18|0000|0|0||||||0|0|1||||||||
    ");
    insta::assert_snapshot!(table(database.connection(), "SELECT * FROM games"), @r"
    1|Carlsen, M.|Непомнящий, Я.|2855||1-0|2021.12.03|2021-12-03|WCh|Dubai|||||1|GM|||||||||||||||||ok|games.pgn|0|100
    2|||||*|||||||||3|||||||||||||||||r3k3/1P6/8/8/8/8/8/4K3 b q - 5 17|truncated|games.pgn|100|90
    3|||||*|||||||||0||||||||||||||||||ok|games.pgn|0|0
    ");
    insta::assert_snapshot!(table(database.connection(), "SELECT * FROM positions"), @r"
    -9062197578030825066|rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -|1|1|1
    -1|r3k3/1P6/8/8/8/8/8/4K3 b q -|1|2|0
    1|1Qkr4/8/8/8/8/8/8/4K3 b - -|1|2|2
    2|1Qkr4/8/8/8/8/8/8/4K3 w - -|1|2|3
    5060803636482931868|rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -|2|1|0
    5060803636482931868|2kr4/1P6/8/8/8/8/8/4K3 w - -|1|2|1
    ");
    insta::assert_snapshot!(table(database.connection(), "SELECT * FROM problem"), @r"
    1|1|150|12|7|2|2|3|Kxe9|illegal-move|error|no such square
    2|1|150|12|7|||||illegal-move|error|no such square
    ");
}

#[test]
fn the_query_in_the_schema_works() {
    let directory = directory();
    let database = Database::open_read_only(&sample_database(directory.path())).expect("a database");
    let schema = include_str!("../../migrations/0001_schema.sql");
    let lines: Vec<_> = schema.lines().filter_map(|line| line.strip_prefix("--     ")).collect();
    assert_eq!(table(database.connection(), &lines.join("\n")).lines().count(), 2);
}

/// Typical queries of users, with `?` for a key.
const NATURAL_QUERIES: [&str; 30] = [
    "SELECT * FROM moves WHERE game_id = 7",
    "SELECT * FROM moves WHERE game_id = 7 AND ply = 12",
    "SELECT count(*) FROM moves WHERE game_id BETWEEN 1 AND 100 AND is_check",
    "SELECT * FROM games WHERE game_id = 7",
    "SELECT * FROM games WHERE white = 'x'",
    "SELECT * FROM games WHERE white = 'x' AND black = 'y'",
    "SELECT * FROM positions WHERE key = ?",
    "SELECT * FROM positions WHERE key = ? AND fen = 'x'",
    "SELECT * FROM continuation WHERE key = ? ORDER BY games DESC",
    "SELECT count(*) FROM position_game WHERE key = ?",
    "SELECT count(DISTINCT game_id) FROM position_game WHERE key = ?",
    "SELECT game_id, ply FROM position_game WHERE key = ? ORDER BY game_id LIMIT 10",
    "SELECT g.* FROM position_game AS p JOIN games AS g USING (game_id) WHERE p.key = ?",
    "SELECT g.* FROM games AS g JOIN position_game AS p USING (game_id) WHERE p.key = ? AND g.white_elo > 2500",
    "SELECT result, count(*) FROM games WHERE game_id IN (SELECT game_id FROM position_game WHERE key = ?) GROUP BY 1",
    "SELECT count(*) FROM game WHERE game_id IN (SELECT game_id FROM position_game WHERE key = ?)",
    "SELECT g.result, count(*) FROM game AS g JOIN position_game AS o ON o.game_id = g.game_id WHERE o.key = ? GROUP BY 1",
    "SELECT g.eco, count(*) FROM game AS g, position_game AS o WHERE g.game_id = o.game_id AND o.key = ? GROUP BY g.eco",
    "SELECT count(*) FROM position_game AS o LEFT JOIN game AS g USING (game_id) WHERE o.key = ?",
    "SELECT count(o.ply) FROM game AS g LEFT JOIN position_game AS o ON o.game_id = g.game_id AND o.key = ?
     WHERE g.game_id < 1000",
    "SELECT m.uci, count(*) FROM moves AS m JOIN position_game AS o USING (game_id, ply) WHERE o.key = ? GROUP BY 1",
    "SELECT m.uci, count(*) FROM position_game AS o JOIN moves AS m USING (game_id, ply) WHERE o.key = ? GROUP BY 1",
    "SELECT p.move_code, count(*) FROM game_position AS p JOIN position_game AS o
     ON o.game_id = p.game_id AND o.ply = p.ply WHERE o.key = ? GROUP BY 1",
    "SELECT b.uci FROM position_game AS o JOIN moves AS b ON b.game_id = o.game_id AND b.ply = o.ply + 1 WHERE o.key = ?",
    "SELECT count(*) FROM position_game AS a JOIN position_game AS b USING (game_id) WHERE a.key = ? AND b.key = 8",
    "SELECT game_id FROM position_game WHERE key = ? INTERSECT SELECT game_id FROM position_game WHERE key = 8",
    "SELECT b.game_id, count(*) FROM game_position AS a JOIN position_game AS b ON b.key = a.key
     WHERE a.game_id = 5 AND b.game_id <> 5 GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    "SELECT p.fen FROM game AS g JOIN game_position AS p ON p.game_id = g.game_id AND p.ply = g.ply_count
     WHERE g.game_id < 1000",
    "SELECT a.fen, b.fen FROM game_position AS a JOIN game_position AS b ON b.game_id = a.game_id AND b.ply = a.ply + 1
     WHERE a.game_id < 100 AND a.ply = 5",
    "SELECT p.name, count(*) FROM position_game AS o JOIN game USING (game_id) JOIN player AS p ON p.player_id = white_id
     WHERE o.key = ? GROUP BY 1 ORDER BY 2 DESC",
];

/// The steps of a query plan that scan a whole table or index.
fn scans(plans: impl Iterator<Item = String>) -> Vec<String> {
    // A scan of the few rows of a sub-query, or of the levels (`l`), does not count.
    const SMALL: [&str; 4] = ["(subquery", "l", "last", "move VIRTUAL"];
    let is_small = |scanned: &str| {
        SMALL.iter().any(|small| scanned == *small || small.len() > 4 && scanned.starts_with(small))
    };
    let is_scan = |step: &String| step.strip_prefix("SCAN ").is_some_and(|scanned| !is_small(scanned));
    plans.filter(is_scan).collect()
}

#[test]
fn typical_queries_scan_no_table() {
    let directory = directory();
    let path = sample_database(directory.path());
    // With few games, SQLite prefers to scan tables, so the statistics are replaced by those of many games in ten
    // levels.
    let changed = table(
        &Connection::open(&path).expect("a database"),
        "UPDATE sqlite_stat1 SET stat = CASE tbl WHEN 'game' THEN '400000 65536 ' || substr(stat, 5)
             WHEN 'game_position' THEN '33733487 84 1' ELSE '33733487 3373348 2 1 1' END RETURNING tbl, idx",
    );
    assert_eq!(changed.lines().count(), 10, "{changed}");
    Connection::open(&path)
        .and_then(|database| {
            database.execute_batch(
                "INSERT INTO occurrence_level (level) VALUES (2), (3), (4), (5), (6), (7), (8), (9), (10)",
            )
        })
        .expect("ten levels");

    let database = Database::open_read_only(&path).expect("a database");
    for sql in NATURAL_QUERIES {
        let sql = sql.replace('?', "7");
        let mut plan = database.connection().prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a plan");
        let steps = plan.query_map([], |row| row.get::<_, String>(3)).expect("a plan");
        assert_eq!(scans(steps.map(|step| step.expect("a step"))), [""; 0], "{sql}");
    }

    // The `sqlite3` program may have an older version of SQLite.
    if !has_program("sqlite3") {
        return;
    }
    for sql in NATURAL_QUERIES {
        let sql = format!("EXPLAIN QUERY PLAN {}", sql.replace('?', "7"));
        let output = Command::new("sqlite3").arg(&path).arg(&sql).output().expect("sqlite3 runs");
        let plan = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(plan.contains("SEARCH"), "{sql}: {plan} {}", String::from_utf8_lossy(&output.stderr));
        let steps = plan.lines().map(|line| line.trim_start_matches(['|', ' ', '`', '-']).to_owned());
        assert_eq!(scans(steps), [""; 0], "sqlite3: {sql}");
    }
}

/// A query for a FEN that no occurrence of the key has must not compare each occurrence with all earlier ones.
#[test]
fn queries_by_key_and_fen_take_linear_time() {
    let steps = |games: usize| {
        let directory = directory();
        let path = directory.path().join("games.db");
        crate::games::build(&path, "games.pgn", &"[White \"a\"]\n\n1. e4 e5 *\n\n".repeat(games));
        let database = Database::open_read_only(&path).expect("a database");
        let query = "SELECT count(*) FROM positions
            WHERE key = (SELECT key FROM game_position WHERE game_id = 1 AND ply = 1) AND fen = 'x'";
        let mut query = database.connection().prepare(query).expect("a query");
        assert_eq!(query.query_row([], |row| row.get::<_, i64>(0)), Ok(0));
        query.get_status(rusqlite::StatementStatus::VmStep)
    };
    let (few, many) = (steps(100), steps(400));
    assert!(many < 6 * few, "{few} steps, then {many}");
}

/// The first rows of a view are returned at once, even if the view has millions of rows.
#[test]
fn views_sort_nothing() {
    let directory = directory();
    let database = Database::open_read_only(&sample_database(directory.path())).expect("a database");
    for view in ["games", "moves", "positions"] {
        let mut plan = database
            .connection()
            .prepare(&format!("EXPLAIN QUERY PLAN SELECT * FROM {view} LIMIT 3"))
            .expect("a plan");
        let steps = plan.query_map([], |row| row.get::<_, String>(3)).expect("a plan");
        let steps: Vec<_> = steps.map(|step| step.expect("a step")).collect();
        assert!(steps.iter().all(|step| !step.contains("TEMP B-TREE")), "{view}: {steps:#?}");
    }
}

#[test]
fn positions_with_the_same_key_are_not_confused() {
    let directory = directory();
    let database = Database::open_read_only(&sample_database(directory.path())).expect("a database");
    let everywhere = Selection::default();
    let search = |fen, limit, offset| Search {
        key: START_KEY,
        fen,
        lines: Lines::Main,
        selection: &everywhere,
        order: HitOrder::Game,
        limit,
        offset,
    };
    let found = |limit, offset| -> Vec<_> {
        let hits = super::hits(&database, &search(START, limit, offset));
        hits.iter().map(|hit| (hit.game.game.0, hit.ply.0, hit.next.map(MoveCode::bits))).collect()
    };
    assert_eq!(found(None, 0), [(1, 0, Some(0x0E14_3420)), (3, 0, None)]);
    assert_eq!(found(Some(1), 0), [(1, 0, Some(0x0E14_3420))]);
    assert_eq!(found(Some(1), 1), [(3, 0, None)]);
    assert_eq!(found(None, 2), []);
    assert_eq!(found(Some(0), 0), []);
    let twin = super::hits(&database, &search(ENDGAME[1], None, 0));
    assert_eq!((twin.len(), twin[0].game.game, twin[0].ply), (1, GameId(2), Ply(1)));
    assert_eq!((twin[0].fen.as_str(), twin[0].move_number()), (ENDGAME[1], 18));

    let count = database.count_position(START_KEY, START, u32::MAX).expect("a count");
    assert_eq!((count.occurrences, count.games, count.capped), (2, 2, false));
    let count = database.count_position(START_KEY, START, 2).expect("a count");
    assert_eq!((count.occurrences, count.games, count.capped), (1, 1, true));
    let count = database.count_position(PositionKey(77), START, u32::MAX).expect("a count");
    assert_eq!((count.occurrences, count.games, count.capped), (0, 0, false));
}

#[test]
fn a_game_is_returned_completely() {
    let directory = directory();
    let database = Database::open_read_only(&sample_database(directory.path())).expect("a database");
    let game = database.game(GameId(1)).expect("a game");
    let tags: Vec<_> = game.tags().iter().map(|(name, value)| format!("[{name} \"{value}\"]")).collect();
    insta::assert_snapshot!(tags.join("\n"), @r#"
    [Event "WCh"]
    [Site "Dubai"]
    [Date "2021.12.03"]
    [Round "?"]
    [White "Carlsen, M."]
    [Black "Непомнящий, Я."]
    [Result "1-0"]
    [Annotator "Ünïcødé ♔"]
    [UTCDate "2021.12.03"]
    [WhiteElo "2855"]
    [WhiteTitle "GM"]
    "#);
    assert_eq!(game.positions.len(), 2);
    assert_eq!((game.positions[0].key, game.positions[0].fen.as_str()), (START_KEY, START));
    assert_eq!(game.positions[0].move_code, Some(MoveCode::from_stored(0x0E14_3420)));
    assert_eq!((game.positions[1].ply, game.positions[1].move_code), (Ply(1), None));
    let game = database.game(GameId(2)).expect("a game");
    assert_eq!((game.summary.status, game.summary.result), (GameStatus::Truncated, GameResult::Unknown));
    assert_eq!((game.source.to_str(), game.byte_offset, game.byte_length), (Some("games.pgn"), 100, 90));
    let error = database.game(GameId(4)).expect_err("no game");
    insta::assert_snapshot!(message(&error, directory.path()), @"games.db: no game 4; the highest number is 3");
}

#[test]
fn runs_sources_and_problems_are_listed() {
    let directory = directory();
    let path = sample_database(directory.path());
    let database = Database::open_read_only(&path).expect("a database");
    assert_eq!(database.file_bytes().expect("a size"), fs::metadata(&path).expect("a file").len());
    let names = [Named::Player, Named::Event, Named::Site];
    assert_eq!(names.map(|named| database.count_names(named).expect("a number")), [2, 1, 1]);
    let imports = database.import_infos().expect("runs");
    let [import] = imports.as_slice() else { panic!("{imports:?}") };
    assert_eq!((import.totals.games, import.totals.positions), (3, 7));
    assert_eq!(import.totals.elapsed, Duration::from_millis(1500));
    assert!(import.finished_at.is_some());
    let source = &database.source_infos().expect("sources")[0];
    assert_eq!(source.path.to_str(), Some("games.pgn"));
    assert_eq!(source.digest.as_deref(), Some("ab".repeat(32).as_str()));
    let problem = &database.problem_counts().expect("problems")[0];
    assert_eq!((problem.kind.as_str(), problem.count), ("illegal-move", 2));
}

#[test]
fn read_only_connections_cannot_write() {
    let directory = directory();
    let path = sample_database(directory.path());
    for database in [Database::open_read_only(&path), Database::open(&path)] {
        let database = database.expect("a database");
        let mut query = database
            .query("SELECT game_id AS id, white FROM games WHERE game_id = ?1; -- end ")
            .expect("SQL");
        assert_eq!(query.columns(), ["id", "white"]);
        let mut rows = query.rows([1]).expect("rows");
        let row = rows.next_row().expect("a row").expect("a row");
        assert_eq!(row.get::<_, String>(1).expect("a name"), "Carlsen, M.");
        assert!(rows.next_row().expect("the end").is_none());

        let error = |sql: &str| {
            let error = database.query(sql).and_then(|mut query| query.rows([]).map(|_| ())).expect_err(sql);
            message(&error, directory.path())
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(error("DELETE FROM game"), @"this would change the database; only reading is allowed here");
            insta::assert_snapshot!(error("SELECT 1; SELECT 2"), @"the query has more than one statement; run one statement at a time");
            insta::assert_snapshot!(error("SELECT 1; nonsense"), @"the query has more than one statement; run one statement at a time");
            insta::assert_snapshot!(error(" -- nothing"), @"the query is empty; give a statement, such as SELECT * FROM games LIMIT 10");
            insta::assert_snapshot!(error("SELECT * FROM gmae"), @r#"
            no such table: gmae
              no such table: gmae
              Error code 1: SQL logic error
            "#);
            insta::assert_snapshot!(error("SELECT ?1"), @r#"
            the query needs 1 value(s) for its parameters; write the values into the query
              Wrong number of parameters passed to query. Got 0, needed 1
            "#);
        }
        for sql in
            ["CREATE TEMP TABLE t (x)", "VACUUM INTO 'copy.db'", "PRAGMA user_version = 7", "DROP VIEW games"]
        {
            assert!(matches!(database.query(sql), Err(Error::NotReadOnly)), "{sql}");
        }
    }
}

#[test]
fn an_existing_target_is_kept_by_default() {
    let directory = directory();
    let path = directory.path().join("games.db");
    Build::create(&path, BuildOptions::default()).and_then(Build::finish).expect("a database");
    let precious = fs::read(&path).expect("a file");
    let error = Build::create(&path, BuildOptions::default()).expect_err("exists");
    insta::assert_snapshot!(message(&error, directory.path()), @"games.db: already exists; choose another file name, or allow replacing the file");
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    let build = Build::create(&path, options).expect("a build");
    assert_eq!(fs::read(&path).expect("a file"), precious);
    build.finish().expect("a database");
    Database::open_read_only(&path).expect("a database");
    assert_eq!(names(directory.path()), ["games.db"]);
}

#[test]
fn a_target_created_during_the_build_is_kept() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    fs::write(&path, "precious").expect("a file");
    assert!(matches!(build.finish(), Err(Error::File { kind: ErrorKind::TargetExists, .. })));
    assert_eq!(fs::read(&path).expect("a file"), b"precious");
    assert_eq!(names(directory.path()), ["games.db"]);
}

#[test]
fn targets_that_cannot_be_written_are_reported_first() {
    let directory = directory();
    let error = |path: &Path| {
        let error = Build::create(path, BuildOptions::default()).expect_err("an error");
        message(&error, directory.path())
    };
    insta::assert_snapshot!(error(&directory.path().join("missing/games.db")), @"missing: this directory does not exist; create it, or choose another directory");
    insta::assert_snapshot!(error(directory.path()), @"DIR: a directory, not a database; give the name of a file");
    #[cfg(unix)]
    insta::assert_snapshot!(error(Path::new("/dev/null")), @"/dev/null: not a regular file; give the name of a file");
}

#[test]
fn an_unfinished_build_leaves_no_files() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    build.connection().execute_batch("BEGIN; INSERT INTO setting VALUES ('x', 1)").expect("a row");
    let error = build.finish().expect_err("unfinished");
    insta::assert_snapshot!(message(&error, directory.path()), @".games.db.pgndex-tmp: the bulk load is not finished; this is a bug in pgndex, please report it");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn only_files_of_crashed_builds_are_removed() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let other = directory.path().join("games.db2");
    let living = Build::create(&other, BuildOptions::default()).expect("a build");
    // The last one is a temporary file of SQLite: its writer was killed before it could unlink the file.
    let remains = [
        ".games.db.pgndex-tmp",
        ".games.db.pgndex-tmp-journal",
        ".games.db.pgndex-tmp-part7",
        "etilqs_48a3a0192be235c7",
    ];
    let foreign = [
        ".games.db.pgndex-tmp-x.pgndex-tmp",
        "games.db.pgndex-tmp",
        "etilqs_notes",
        "my_etilqs_48a3a0192be235c7",
        ".games.db2.pgndex-tmp",
    ];
    for name in remains.iter().chain(&foreign[..4]) {
        fs::write(directory.path().join(name), "left").expect("a file");
    }
    // A lock file without a lock is ignored.
    fs::write(directory.path().join(".games.db.pgndex-tmp.lock"), "1\n").expect("a file");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    build.finish().expect("a database");
    let now = names(directory.path());
    assert!(remains.iter().all(|name| !now.contains(&(*name).to_owned())), "{now:?}");
    assert!(foreign.iter().all(|name| now.contains(&(*name).to_owned())), "{now:?}");
    living.finish().expect("a database");
    Database::open_read_only(&other).expect("a database");
}

#[test]
fn a_second_writer_is_refused_with_the_process_of_the_first() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let lock = WriterLock::acquire(&path).expect("a lock");
    let error = Build::create(&path, BuildOptions::default()).expect_err("busy");
    let text = message(&error, directory.path());
    let (_, since) = text.split_once(" since ").expect("a time");
    let (since, _) = since.split_once(';').expect("the end of the time");
    let age: i64 = Connection::open_in_memory()
        .and_then(|clock| {
            clock.query_row("SELECT unixepoch('now') - unixepoch(?1)", [since], |row| row.get(0))
        })
        .expect("a time");
    assert!((0..60).contains(&age), "{text}");
    let text = text.replace(&std::process::id().to_string(), "PID").replace(since, "TIME");
    insta::assert_snapshot!(text, @"games.db: being written by process PID since TIME; wait until it has finished");
    drop(lock);
    WriterLock::acquire(&path).expect("free again");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed() {
    let directory = directory();
    fs::create_dir(directory.path().join("data")).expect("a directory");
    let path = sample_database(&directory.path().join("data"));
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    Build::create(&link, options).expect("a build").finish().expect("a database");
    assert!(link.is_symlink() && !path.is_symlink());
    assert_eq!(names(&directory.path().join("data")), ["games.db"]);
}

/// Leaves the database in the state that remains if a writer dies during a transaction.
fn crash_while_writing(path: &Path) {
    let writer = Connection::open(path).expect("a database");
    // The cache is so small that changed pages are written before the commit.
    let work = "PRAGMA cache_size = 1; BEGIN; DELETE FROM game_position; DELETE FROM tag; UPDATE game SET round = 'x'";
    writer.execute_batch(work).expect("a transaction");
    let journal = path.with_file_name("games.db-journal");
    let copies = [(path, path.with_file_name("a")), (&journal, path.with_file_name("b"))];
    for (from, to) in &copies {
        fs::copy(from, to).expect("a copy");
    }
    writer.execute_batch("ROLLBACK").expect("undone");
    drop(writer);
    for (to, from) in &copies {
        fs::rename(from, to).expect("a renamed copy");
    }
}

#[test]
fn a_crashed_transaction_is_rolled_back_by_a_reader() {
    let directory = directory();
    let path = sample_database(directory.path());
    crash_while_writing(&path);
    let database = Database::open_read_only(&path).expect("a database");
    assert_eq!(table(database.connection(), "SELECT count(*), count(round) FROM game"), "3|0");
    assert_eq!(table(database.connection(), "SELECT count(*) FROM game_position"), "7");
    assert_eq!(table(database.connection(), "PRAGMA integrity_check"), "ok");
    assert_eq!(names(directory.path()), ["games.db"]);
}

#[test]
fn a_stray_journal_does_not_ruin_the_new_database() {
    let directory = directory();
    let old = sample_database(directory.path());
    crash_while_writing(&old);
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    Build::create(&old, options).expect("a build").finish().expect("a database");
    assert_eq!(names(directory.path()), ["games.db"]);
    let database = Database::open_read_only(&old).expect("a database");
    assert_eq!(table(database.connection(), "PRAGMA integrity_check"), "ok");
}

#[test]
fn a_full_disk_is_reported_with_the_path() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    build.connection().pragma_update(None, "max_page_count", 30).expect("a limit");
    let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
    let mut headers = HeaderBatch::default();
    let name = headers.push_text(&"x".repeat(1_000_000));
    headers.players.push((NameId(1), name));
    let error = loader.append_headers(&headers).expect_err("no space");
    insta::assert_snapshot!(message(&error, directory.path()), @r"
    .games.db.pgndex-tmp: no space left to write it; free some, or choose another disk
      database or disk is full
      Error code 13: database or disk is full
    ");
    drop(loader);
    drop(build);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn wrong_rows_are_refused() {
    let directory = directory();
    let path = directory.path().join("games.db");
    let build = Build::create(&path, BuildOptions::default()).expect("a build");
    let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a loader");
    let mut headers = HeaderBatch::default();
    let mut name = headers.push_text("Tal");
    name.len += 1;
    headers.players.push((NameId(1), name));
    let error = loader.append_headers(&headers).expect_err("no such text");
    insta::assert_snapshot!(message(&error, directory.path()), @r"
    .games.db.pgndex-tmp: cannot write table player: another program seems to have changed the database; `pgndex verify` lists what is wrong
      no such value in the batch
      Error code 1: SQL logic error
    ");
    name.len -= 1;
    headers.players = vec![(NameId(1), name), (NameId(2), name)];
    let error = loader.append_headers(&headers).expect_err("a name twice");
    assert!(matches!(loader.finish(), Err(Error::File { kind: ErrorKind::Unfinished, .. })));
    insta::assert_snapshot!(message(&error, directory.path()), @r"
    .games.db.pgndex-tmp: cannot write table player
      UNIQUE constraint failed: player.name
      Error code 2067: constraint failed
    ");
}

#[test]
fn adding_to_a_database_is_undone_if_it_fails() {
    let directory = directory();
    let path = sample_database(directory.path());
    let database = Database::open(&path).expect("a database");
    let mut headers = HeaderBatch::default();
    let name = headers.push_text("Tal");
    headers.players.push((NameId(7), name));
    let load = || {
        let mut loader = BulkLoader::begin(database.connection(), &path).expect("a loader");
        loader.append_headers(&headers).expect("rows");
        loader
    };
    let count = || table(database.connection(), "SELECT count(*) FROM player");
    drop(load());
    assert_eq!(count(), "2");
    load().finish().expect("a commit");
    assert_eq!(count(), "3");
    assert_eq!(table(database.connection(), "PRAGMA integrity_check"), "ok");
}
