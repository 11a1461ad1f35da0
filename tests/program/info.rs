//! `pgndex info`: its counts, compared with SQL, and databases that are damaged or in use.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::command::{Run, bound_by_modes, command};
use crate::workspace::Workspace;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A database of the two samples.
fn sample() -> Workspace {
    let workspace = Workspace::for_command(&["info", "games.db"]);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let inputs = ["famous-games.pgn", "synthetic.pgn"].map(|name| examples.join(name).display().to_string());
    let Run { status, stderr, .. } = workspace.run(&["index", "--quiet", "games.db", &inputs[0], &inputs[1]]);
    assert_eq!(status, 0, "{stderr}");
    workspace
}

/// The rows of a query, which are a name and a number each, as a JSON object.
fn counts(connection: &Connection, sql: &str) -> Value {
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
    let rows: BTreeMap<_, _> = rows.and_then(Iterator::collect).expect("rows");
    json!(rows)
}

#[test]
fn counts_agree_with_sql() {
    let sample = sample();
    let (info, connection) = (sample.json(&[]), sample.connection("games.db"));
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    for (name, sql) in [
        ("games", "SELECT count(*) FROM game"),
        ("plies", "SELECT sum(ply_count) FROM game"),
        ("positions", "SELECT count(*) FROM game_position"),
        ("distinct_positions", "SELECT count(DISTINCT key) FROM position_game"),
        ("players", "SELECT count(*) FROM player"),
        ("events", "SELECT count(*) FROM event"),
        ("sites", "SELECT count(*) FROM site"),
        ("undated", "SELECT count(*) FROM game WHERE date IS NULL OR date GLOB '*[?]??.??.??'"),
        ("unrated", "SELECT sum((white_elo IS NULL) + (black_elo IS NULL)) FROM game"),
        ("truncated", "SELECT count(*) FROM game WHERE status = 'truncated'"),
        ("skipped", "SELECT count(*) FROM game WHERE status = 'skipped'"),
    ] {
        assert_eq!(info[name], number(sql), "{name}");
    }
    assert_eq!(info["longest"]["plies"], number("SELECT max(ply_count) FROM game"));
    let longest = "SELECT min(game_id) FROM game WHERE ply_count = (SELECT max(ply_count) FROM game)";
    assert_eq!(info["longest"]["game_id"], number(longest));
    let years =
        "SELECT substr(date, 1, 4), count(*) FROM game WHERE date GLOB '[0-9][0-9][0-9][0-9]*' GROUP BY 1";
    assert_eq!(info["years"], counts(&connection, years));
    let ratings = "SELECT CAST(elo / 100 * 100 AS TEXT), count(*) FROM
        (SELECT white_elo AS elo FROM game UNION ALL SELECT black_elo FROM game) WHERE elo IS NOT NULL GROUP BY 1";
    assert_eq!(info["ratings"], counts(&connection, ratings));
    let results = "SELECT r, (SELECT count(*) FROM game WHERE result = r)
        FROM (SELECT '1-0' AS r UNION SELECT '1/2-1/2' UNION SELECT '0-1' UNION SELECT '*')";
    assert_eq!(info["results"], counts(&connection, results));
    assert!(
        info["games"].as_i64() == Some(1053)
            && info["years"].as_object().is_some_and(|years| years.len() > 20)
    );
    // Ids of removed names are not used again.
    let removed = sample.run(&["remove", "--quiet", "games.db", "--source", "1"]);
    assert_eq!(removed.status, 0, "{}", removed.stderr);
    let info = sample.json(&[]);
    for name in ["player", "event", "site"] {
        assert_eq!(info[format!("{name}s")], number(&format!("SELECT count(*) FROM {name}")), "{name}");
    }
}

/// All names in the JSON object, and in the objects of its lists, are documented.
#[test]
fn names_are_documented() {
    let documented = |name: &String| include_str!("../../docs/json.md").contains(&format!("`{name}`"));
    let sample = sample();
    let problem =
        "INSERT INTO problem (source_id, byte_offset, line, column_number, game_id, kind, severity, message)
                   VALUES (1, 0, 1, 1, 1, 'invalid-tag', 'warning', 'a test')";
    sample.connection("games.db").execute(problem, []).expect("a change");
    let Run { stdout: game, .. } = sample.run(&["game", "games.db", "1", "--format", "json"]);
    let mut checked = 0;
    for object in [sample.json(&["--sizes"]), serde_json::from_str(&game).expect("JSON")] {
        let lists = object.as_object().expect("an object").values().filter_map(|value| value.get(0));
        for names in
            std::iter::once(&object).chain(lists).map(|object| object.as_object().expect("an object"))
        {
            assert_eq!(names.keys().find(|name| !documented(name)), None);
            checked += names.len();
        }
    }
    assert!(checked > 70, "{checked}");
}

#[test]
fn openings_are_listed_by_name_if_known() {
    let sample = sample();
    let connection = sample.connection("games.db");
    connection.execute_batch("UPDATE game SET opening_id = NULL; DELETE FROM opening").expect("a change");
    let by_code = sample.json(&[])["openings"].clone();
    let sql = "SELECT eco, count(*) FROM game WHERE eco IS NOT NULL GROUP BY eco ORDER BY 2 DESC, 1 LIMIT 1";
    let (eco, games): (String, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a row");
    assert_eq!(by_code[0], json!({ "eco": eco, "name": null, "games": games }));
    let name = "INSERT INTO opening VALUES (1, 'C20', 'King''s Pawn Game', 1, ''), (2, 'A00', 'Grob', 2, ''),
                    (3, 'C20', 'King''s Pawn Game', 3, '');
                UPDATE game SET opening_id = 1 WHERE game_id < 3; UPDATE game SET opening_id = 2 WHERE game_id = 9;
                UPDATE game SET opening_id = 3 WHERE game_id = 3";
    connection.execute_batch(name).expect("a change");
    assert_eq!(
        sample.json(&[])["openings"],
        json!([{ "eco": "C20", "name": "King's Pawn Game", "games": 3 }, { "eco": "A00", "name": "Grob", "games": 1 }])
    );
    let text = sample.ok(&[]);
    let section = text.split("\n\n").find(|section| section.starts_with("openings")).expect("openings");
    insta::assert_snapshot!(section, @r#"
    openings
      games  share  eco  name
      ───────────────────────────────────
          3  0.3 %  C20  King's Pawn Game
          1  0.1 %  A00  Grob
    "#);
}

#[test]
fn distinct_positions_are_shown_only_if_one_run_counted_them() {
    let sample = sample();
    assert!(sample.ok(&[]).contains("\n  distinct "));
    let sql = "INSERT INTO import (started_at, program_version, options, distinct_positions)
               VALUES ('2026-01-01T00:00:00Z', '0.0.0', '{\"strict\":true,\"eco\":\"book.tsv\"}', 5)";
    sample.connection("games.db").execute(sql, []).expect("a change");
    assert!(sample.json(&[])["distinct_positions"].is_null());
    let text = sample.ok(&[]);
    assert!(!text.contains("distinct"));
    assert!(text.contains("not finished      0  0.0.0   strict, eco book.tsv\n"), "{text}");
}

#[test]
fn cut_lists_have_a_note() {
    let sample = sample();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 1234)
               INSERT INTO source (source_id, path, import_id) SELECT i, 'file ' || i, 1 FROM n";
    sample.connection("games.db").execute(sql, []).expect("a change");
    let text = sample.ok(&[]);
    assert!(text.contains("\nsources (the latest 20 of 1,234; --all lists all)\n"), "{text}");
    assert_eq!(text.matches(" file ").count(), 20);
    let all = sample.ok(&["--all"]);
    assert_eq!(all.matches(" file ").count(), 1232);
    assert_eq!(sample.json(&[])["sources"].as_array().map(Vec::len), Some(1234));
}

#[test]
fn sizes_add_up_to_the_file() {
    let sample = sample();
    assert!(sample.json(&[]).get("sizes").is_none());
    let info = sample.json(&["--sizes"]);
    let sizes = info["sizes"].as_array().expect("an array");
    let sum = |name: &str| sizes.iter().filter_map(|tree| tree[name].as_u64()).sum::<u64>();
    let free: u32 = sample
        .connection("games.db")
        .query_row("PRAGMA freelist_count", [], |row| row.get(0))
        .expect("a number");
    assert_eq!(
        sum("bytes") + u64::from(free) * (sum("bytes") / sum("pages")),
        info["bytes"].as_u64().expect("a size")
    );
    assert_eq!(sizes[0]["name"], "game_position");
    let text = sample.ok(&["--sizes"]);
    assert!(text.contains("  game_eco (index of game)\n"), "{text}");
}

#[test]
fn distant_years_do_not_lengthen_the_chart() {
    let sample = sample();
    sample
        .connection("games.db")
        .execute("UPDATE game SET date = '0001.01.01' WHERE game_id = 1", [])
        .expect("a change");
    let text = sample.ok(&[]);
    let years = text.split("\n\n").find(|section| section.starts_with("years")).expect("years");
    assert!((3..=14).contains(&years.lines().count()), "{years}");
    assert!(years.lines().nth(1).is_some_and(|line| line.starts_with("  to ")), "{years}");
    assert!(years.lines().all(|line| line.chars().count() <= 80), "{years}");
}

#[cfg(unix)]
#[test]
fn a_wal_database_in_a_read_only_directory_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;

    let sample = sample();
    let mode = sample
        .connection("games.db")
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
    assert_eq!(mode.expect("a change"), "wal");
    let directory = sample.directory();
    let allow = |mode| fs::set_permissions(directory, fs::Permissions::from_mode(mode)).expect("permissions");
    allow(0o555);
    let run = bound_by_modes(&command(directory, &["info", "games.db"])).map(|mut info| info.output());
    allow(0o755);
    let Some(run) = run else { return };
    let run = Run::of(run.expect("the program runs"));
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(run.stderr, @r#"
    pgndex: error: games.db: SQLite must create files beside this database to read it (it is in WAL mode, or its last writer was killed), but is not allowed to. Make its directory writable and run `sqlite3 FILE 'PRAGMA journal_mode = DELETE'` once, or copy the database into a writable directory
      because: attempt to write a readonly database
    "#);
    assert_eq!(sample.run(&["info", "games.db"]).status, 0);
}

#[test]
fn a_damaged_file_and_a_file_in_use_are_reported() {
    let sample = sample();
    let failure = |expected: i32| {
        let Run { status, stdout, stderr } = sample.run(&["info", "games.db"]);
        assert_eq!((status, stdout.as_str()), (expected, ""));
        stderr
    };
    let writer = sample.connection("games.db");
    writer.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    insta::assert_snapshot!(failure(4), @r#"
    pgndex: error: games.db: in use by another program; wait until it has finished
    "#);
    drop(writer);
    let file = fs::OpenOptions::new().write(true).open(sample.path("games.db")).expect("the file");
    file.set_len(200_000).expect("a shorter file");
    insta::assert_snapshot!(failure(1), @"
    pgndex: error: games.db: the database is damaged; restore a backup, or build it again with `pgndex index --overwrite`
      because: database disk image is malformed
    ");
}
