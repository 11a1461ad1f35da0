//! Both layouts of a database give the same answers.

use pgndex::board::{MoveCode, Position};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::command::Run;
use crate::properties::cases;
use crate::support::execute_without_constraints;
use crate::workspace::{Workspace, json};

const ANNOTATED: &str = include_str!("../../examples/annotated.pgn");
const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
const SYNTHETIC: &str = include_str!("../../examples/synthetic.pgn");

/// Starts that are not the standard one, null moves, en passant, castling in Chess960, a game without moves, a broken game.
const ODD: &str = "[FEN \"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 7\"]\n\n7... dxe3 8. Kd1 *\n\n\
    [FEN \"4k3/8/8/8/4p3/8/3P4/4K3 w - - 99 70\"]\n\n70. d4 exd3 *\n\n\
    [FEN \"1k6/8/8/8/8/8/8/RK5R w HA - 0 1\"]\n[Variant \"Chess960\"]\n\n1. O-O-O+ Ka7 2. Rd7+ *\n\n\
    [FEN \"rk5r/8/8/8/8/8/8/1K6 b ha - 3 9\"]\n[Variant \"Chess960\"]\n\n9... O-O 10. Kc2 Rf2+ *\n\n\
    [FEN \"1r2k2r/P7/8/8/8/8/p7/R3K2R w KQk - 0 1\"]\n\n1. axb8=Q+ Kf7 2. O-O+ axb1=N *\n\n\
    1. e4 -- 2. e5 d5 3. exd6 -- 4. -- *\n\n1. e4 e5 2. Nf3 Nc6 3. Qxh7 *\n\n*\n\n1. d4 d5 2. Nf3 *\n";

const ODD_PAIR: &str = "1. a4 a5 2. Ra3 *\n\n1. a4 h5 2. Ra3 *\n";

/// A workspace with a database of each layout.
fn workspace(pgn: &str) -> Workspace {
    let workspace = Workspace::new().with("a.pgn", pgn);
    for layout in LAYOUTS {
        let run = workspace.run(&["index", "--quiet", &format!("{layout}.db"), "a.pgn", "--layout", layout]);
        // Broken games are indexed as far as possible.
        assert!([0, 3].contains(&run.status), "{run:?}");
    }
    workspace
}

const LAYOUTS: [&str; 2] = ["open", "compact"];

/// Runs a command, in which `DB` stands for the database, on both databases.
fn run_both(workspace: &Workspace, arguments: &[&str]) -> [Run; 2] {
    LAYOUTS.map(|layout| {
        let name = format!("{layout}.db");
        let arguments: Vec<&str> =
            arguments.iter().map(|argument| if *argument == "DB" { &name } else { *argument }).collect();
        let Run { status, stdout, stderr } = workspace.run(&arguments);
        Run { status, stdout: stdout.replace(&name, "DB"), stderr: stderr.replace(&name, "DB") }
    })
}

/// Like [`run_both`]; asserts that the results are the same.
#[track_caller]
fn same(workspace: &Workspace, arguments: &[&str]) -> String {
    let [open, compact] =
        run_both(workspace, arguments).map(|Run { status, stdout, stderr }| (status, stdout, stderr));
    assert_eq!(open, compact, "{arguments:?}");
    open.1
}

/// Queries for all data that depends on positions.
const QUERIES: [&str; 9] = [
    "SELECT * FROM game_position ORDER BY 1, 2",
    "SELECT * FROM moves ORDER BY 1, 2",
    "SELECT * FROM position_game ORDER BY 1, 2, 3",
    "SELECT * FROM positions ORDER BY 1, 2 LIMIT 500",
    "SELECT * FROM visited_position ORDER BY 1",
    "SELECT * FROM continuation ORDER BY 1, 2",
    "SELECT block, key, hex(games) FROM visit_set ORDER BY 1, 2",
    "SELECT block, kind, value, hex(sets) FROM game_set ORDER BY 1, 2, 3",
    "SELECT * FROM judgements ORDER BY 1, 2",
];

#[track_caller]
fn same_answers(workspace: &Workspace) {
    for query in QUERIES {
        same(workspace, &["sql", "DB", query, "--format", "csv"]);
    }
    for arguments in [
        &["explore", "DB"][..],
        &["explore", "DB", "--moves", "1. e4 e5", "--json"],
        &["find", "DB", "--moves", "1. e4 e5", "--format", "csv"],
        &["find", "DB", "--material", "KRPvKR", "--format", "csv"],
        &["find", "DB", "--move", "exd6", "--format", "csv"],
        &["game", "DB", "1", "--format", "json"],
        &["game", "DB", "3"],
        &["export", "DB", "-"],
        &["export", "DB", "--normalized", "-"],
    ] {
        same(workspace, arguments);
    }
    let verified = same(workspace, &["verify", "DB", "--all", "--quiet"]);
    assert!(verified.starts_with("sound: "), "{verified}");
}

#[test]
fn answers_are_the_same_after_each_change() {
    let first: String = SYNTHETIC.split_inclusive("\n\n").take(120).collect();
    let workspace = workspace(&format!("{FAMOUS}\n{first}"));
    same_answers(&workspace);
    workspace.write("b.pgn", format!("{ANNOTATED}\n{ODD}"));
    workspace.write("c.pgn", SYNTHETIC);
    same(&workspace, &["index", "--quiet", "DB", "b.pgn"]);
    same_answers(&workspace);
    same(&workspace, &["index", "--quiet", "DB", "c.pgn"]);
    same_answers(&workspace);
    for arguments in [
        &["remove", "DB", "--sql", "SELECT game_id FROM game WHERE game_id % 7 = 3", "--quiet"][..],
        &["remove", "DB", "--sql", "SELECT game_id FROM game WHERE false", "--quiet"],
        &["remove", "DB", "--source", "b.pgn", "--quiet"],
        &["optimize", "DB", "--quiet"],
        // From now on, games are added and removed through SQL.
        &["sql", "DB", "--write", "CREATE TRIGGER own AFTER INSERT ON import BEGIN SELECT 1; END"],
        &["index", "--quiet", "DB", "b.pgn"],
        &["remove", "DB", "--games", "--result", "1-0", "--quiet"],
    ] {
        let [open, compact] = run_both(&workspace, arguments).map(|run| run.status);
        assert!(open == compact && [0, 3].contains(&open), "{arguments:?}: {open}, {compact}");
        same_answers(&workspace);
    }
    for layout in LAYOUTS {
        workspace.stdout_of(&["repair", &format!("{layout}.db"), "--quiet"]);
    }
    same_answers(&workspace);
}

/// The rows of a query, as any program with SQLite reads them, each as a text.
fn plain(workspace: &Workspace, database: &str, sql: &str) -> Vec<String> {
    let connection = Connection::open(workspace.path(database)).expect("a database");
    connection.execute_batch("PRAGMA trusted_schema = OFF").expect("set");
    let mut query = connection.prepare(sql).expect("a query");
    let columns = query.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let cells: Vec<String> =
            (0..columns).map(|index| format!("{:?}", row.get::<_, Value>(index).expect("a cell"))).collect();
        Ok(cells.join("|"))
    };
    query.query_map([], row).expect("rows").map(|row| row.expect("a row")).collect()
}

#[test]
fn plain_sql_reads_the_same_rows() {
    let workspace = workspace(&format!("{ANNOTATED}\n{ODD}\n{FAMOUS}"));
    assert!(workspace.number("compact.db", "SELECT count(*) FROM game WHERE start_fen NOT NULL") >= 4);
    for sql in [
        "SELECT * FROM game_position",
        "SELECT * FROM game_position WHERE game_id = 7 AND ply = 10",
        "SELECT fen, key FROM game_position WHERE game_id BETWEEN 3 AND 5 AND move_code IS NULL",
        "SELECT * FROM moves WHERE game_id < 20",
        "SELECT * FROM positions ORDER BY key, fen LIMIT 30",
        "SELECT count(*) FROM position_game AS o JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply AND p.key = o.key
         WHERE o.game_id < 30",
    ] {
        assert_eq!(plain(&workspace, "open.db", sql), plain(&workspace, "compact.db", sql), "{sql}");
    }
    assert_eq!(plain(&workspace, "compact.db", "PRAGMA integrity_check"), ["Text(\"ok\")"]);
    let plan =
        plain(&workspace, "compact.db", "EXPLAIN QUERY PLAN SELECT fen FROM game_position WHERE game_id = 7");
    assert!(plan.iter().any(|step| step.contains("SEARCH game_moves USING INTEGER PRIMARY KEY")), "{plan:?}");
}

/// Starts of random games. Castling is possible in the first four, en passant in the last one.
const STARTS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 12 40",
    "nrkbqrbn/pppppppp/8/8/8/8/PPPPPPPP/NRKBQRBN w KQkq - 0 1",
    "rkr5/ppp4p/8/8/8/8/PPPP3P/1R1RK2R w BHac - 0 1",
    "4k3/p3p2p/8/8/8/8/P3P2P/4K3 w - - 99 70",
    "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 30",
];

/// The text of a game with random moves and null moves. Some games end with a word that is not a move.
fn random_game(start: &str, plies: usize, random: &mut impl FnMut(usize) -> usize) -> String {
    let mut position = Position::from_fen(start.as_bytes()).expect("a FEN").0;
    let mut text = format!("[FEN \"{start}\"]\n[Variant \"Chess960\"]\n\n");
    let mut moves = Vec::new();
    for _ in 0..plies {
        moves.clear();
        position.legal_moves(&mut moves);
        if !position.is_check() && random(30) == 0 {
            moves = vec![MoveCode::NULL];
        }
        if moves.is_empty() {
            break;
        }
        let code = moves[random(moves.len())];
        text += &position.san(code);
        text += "\n";
        position.make(code).expect("a legal move");
    }
    text + ["*\n\n", "Ke9 *\n\n"][random(2)]
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn random_games_have_the_same_rows_in_plain_sql(seed in any::<u64>(), long in 900..1100_usize) {
        let mut state = seed;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(long / 4);
        let games = STARTS.map(|start| random_game(start, 120, &mut random)).concat();
        let games = games + &random_game(STARTS[0], long, &mut random) + &shuffle + "*\n";
        let workspace = workspace(&games);
        let rows = plain(&workspace, "open.db", "SELECT * FROM game_position ORDER BY 1, 2");
        prop_assert!(rows.len() > long);
        prop_assert!(rows == plain(&workspace, "compact.db", "SELECT * FROM game_position ORDER BY 1, 2"));
        same_answers(&workspace);
    }
}

#[test]
fn every_condition_on_games_and_plies_chooses_the_same_rows() {
    let workspace = workspace(&format!("{ODD}\n{FAMOUS}"));
    let values = [
        "3",
        "'3'",
        "' 3 '",
        "3.0",
        "3.5",
        "-1",
        "0",
        "9999999999",
        "NULL",
        "'x'",
        "'nan'",
        "'-infinity'",
        "'\u{a0}3'",
        "'\u{b}3'",
        "x'33'",
        "1e400",
        "-1e400",
    ];
    let operators = ["=", "<", "<=", ">", ">=", "IS", "<>"];
    let mut sql = Vec::new();
    for value in values {
        for operator in operators {
            for column in ["game_id", "ply"] {
                sql.push(format!(
                    "SELECT game_id, ply, key FROM game_position WHERE {column} {operator} {value}"
                ));
            }
            sql.push(format!(
                "SELECT ply, fen FROM game_position WHERE game_id = 2 AND ply {operator} {value}"
            ));
            sql.push(format!("SELECT * FROM game_position WHERE game_id {operator} {value} AND ply = 1 ORDER BY game_id DESC"));
        }
    }
    sql.extend(
        [
            "SELECT game_id, ply FROM game_position WHERE game_id IN (5, 2, 2, 8) AND ply IN (3, 1, 0) ORDER BY 1 DESC, 2",
            "SELECT max(ply), fen FROM game_position WHERE game_id = 3",
            "SELECT game_id, min(fen), count(*) FROM game_position GROUP BY game_id",
            "SELECT ply FROM game_position WHERE game_id = 2 ORDER BY ply DESC LIMIT 3",
            "SELECT a.ply, b.fen FROM game_position AS a JOIN game_position AS b ON b.game_id = a.game_id AND b.ply = a.ply + 1
             WHERE a.game_id IN (1, 9) ORDER BY a.game_id, 1",
            "SELECT g.game_id, p.fen FROM game AS g LEFT JOIN game_position AS p ON p.game_id = g.game_id AND p.ply = 0 ORDER BY 1",
        ]
        .map(str::to_owned),
    );
    let connections = LAYOUTS.map(|layout| {
        pgndex::store::Database::open_read_only(&workspace.path(&format!("{layout}.db"))).expect("open")
    });
    for sql in sql {
        let [open, compact] = connections.each_ref().map(|database| {
            let mut query = database.connection().prepare(&sql).expect("a query");
            let columns = query.column_count();
            let rows = query.query_map([], |row| {
                Ok((0..columns)
                    .map(|index| format!("{:?}", row.get_ref(index).expect("a cell")))
                    .collect::<Vec<_>>())
            });
            rows.expect("rows").map(|row| row.expect("a row")).collect::<Vec<_>>()
        });
        let (mut open, mut compact) = (open, compact);
        if !sql.contains("ORDER BY") {
            open.sort();
            compact.sort();
        }
        assert_eq!(open, compact, "{sql}");
    }
}

#[test]
fn databases_are_converted_with_all_that_users_added() {
    let workspace = workspace(&format!("{ANNOTATED}\n{ODD}"));
    let added = "ALTER TABLE game ADD COLUMN note TEXT; UPDATE game SET note = 'n' || game_id; \
         CREATE TABLE \"my \"\"table\"\"\" (a, b PRIMARY KEY); INSERT INTO \"my \"\"table\"\"\" VALUES (1, 'x'), (2, 'y'); \
         CREATE INDEX mine ON game (note); CREATE VIEW short AS SELECT game_id, count(*) AS n FROM game_position GROUP BY 1; \
         CREATE TRIGGER own AFTER DELETE ON tag BEGIN SELECT 1; END";
    for layout in LAYOUTS {
        workspace.stdout_of(&["sql", &format!("{layout}.db"), "--write", added]);
    }
    for (database, layout) in [("open.db", "compact"), ("compact.db", "open")] {
        let convert = || {
            json(&workspace.stdout_of(&["optimize", database, "--layout", layout, "--json"]))["converted_to"]
                .take()
        };
        assert_eq!(convert(), layout);
        let printed = workspace.stdout_of(&["info", database]);
        assert!(printed.contains(&format!(" {layout} layout")), "{printed}");
        assert_eq!(convert(), serde_json::Value::Null);
    }
    same_answers(&workspace);
    for sql in ["SELECT * FROM short", "SELECT note FROM game", "SELECT * FROM \"my \"\"table\"\"\""] {
        assert!(same(&workspace, &["sql", "DB", sql, "--format", "csv"]).lines().count() > 2, "{sql}");
    }
    same(
        &workspace,
        &[
            "sql",
            "DB",
            "SELECT type, name, sql FROM sqlite_schema WHERE name IN ('short', 'own', 'mine') ORDER BY 2",
            "--format",
            "csv",
        ],
    );
    same(&workspace, &["sql", "DB", "SELECT * FROM setting", "--format", "csv"]);
    for layout in LAYOUTS {
        let database = format!("{layout}.db");
        workspace.stdout_of(&["sql", &database, "--write", "DROP VIEW short"]);
        assert_eq!(workspace.number(&database, "SELECT count(*) FROM sqlite_schema WHERE name = 'short'"), 0);
    }
    // Games can be added afterwards, but only in the layout of the database.
    workspace.write("famous.pgn", FAMOUS);
    let refused = workspace.run(&["index", "--quiet", "open.db", "famous.pgn", "--layout", "open"]);
    assert!(
        refused.status != 0
            && refused.stderr.contains("pgndex optimize ")
            && refused.stderr.contains(" --layout open"),
        "{refused:?}"
    );
    same(&workspace, &["index", "--quiet", "DB", "famous.pgn"]);
    same_answers(&workspace);
}

#[test]
fn a_conversion_that_would_lose_something_is_refused() {
    let workspace = workspace(FAMOUS);
    workspace.stdout_of(&["sql", "open.db", "--write", "CREATE INDEX by_fen ON game_position (fen)"]);
    let refused = workspace.run(&["optimize", "open.db", "--layout", "compact"]);
    assert!(refused.status != 0 && refused.stderr.contains("the index by_fen cannot be kept"), "{refused:?}");
    for (change, undo, name) in [
        (
            "ALTER TABLE game_moves ADD COLUMN note TEXT",
            "ALTER TABLE game_moves DROP COLUMN note",
            "the column game_moves.note",
        ),
        ("CREATE VIEW own AS SELECT * FROM main.game", "DROP VIEW own", "the view own"),
    ] {
        workspace.stdout_of(&["sql", "compact.db", "--write", change]);
        let refused = workspace.run(&["optimize", "compact.db", "--layout", "open"]);
        assert!(refused.status != 0 && refused.stderr.contains(name), "{change}: {refused:?}");
        workspace.stdout_of(&["sql", "compact.db", "--write", undo]);
    }
    // Somebody reads the database meanwhile.
    let reader = Connection::open(workspace.path("compact.db")).expect("a database");
    reader.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("set");
    assert_eq!(reader.query_row("SELECT count(*) > 1 FROM game", [], |row| row.get::<_, bool>(0)), Ok(true));
    workspace.stdout_of(&["optimize", "compact.db", "--layout", "open", "--quiet"]);
    drop(reader);
    workspace.stdout_of(&["sql", "open.db", "--write", "DROP INDEX by_fen"]);
    // Positions are missing inside the game, then to its end, then the last move, then all positions.
    for change in [
        "DELETE FROM game_position WHERE game_id = 2 AND ply = 5",
        "DELETE FROM game_position WHERE game_id = 2 AND ply > 5",
        "UPDATE game_position SET move_code = NULL WHERE game_id = 2 AND ply = 4",
        "DELETE FROM game_position WHERE game_id = 2",
    ] {
        workspace.stdout_of(&["sql", "open.db", "--write", change]);
        let refused = workspace.run(&["optimize", "open.db", "--layout", "compact"]);
        let expected = "does not have all positions of game 2; `pgndex verify`";
        assert!(refused.status != 0 && refused.stderr.contains(expected), "{change}: {refused:?}");
    }
    assert_eq!(workspace.names(), ["a.pgn", "compact.db", "open.db"]);
    assert!(workspace.stdout_of(&["info", "open.db"]).contains(" open layout"));
    for (damage, found) in [
        (
            "UPDATE game_moves SET moves = CAST(x'7fffffff' || substr(moves, 5) AS BLOB) WHERE game_id = 1",
            "game_id 1: ply 0",
        ),
        ("DELETE FROM game_moves WHERE game_id = 2", "game 2"),
    ] {
        workspace.stdout_of(&[
            "index",
            "compact.db",
            "a.pgn",
            "--overwrite",
            "--quiet",
            "--layout",
            "compact",
        ]);
        workspace.stdout_of(&["sql", "compact.db", "--write", damage]);
        let refused = workspace.run(&["optimize", "compact.db", "--layout", "open"]);
        assert!(refused.status != 0 && refused.stderr.contains(found), "{refused:?}");
        assert!(
            refused.stderr.contains("compact.db: ") && !refused.stderr.contains("pgndex-tmp"),
            "{refused:?}"
        );
    }
}

#[test]
fn damage_is_found_and_reported() {
    let moves = |value: &str| format!("UPDATE game_moves SET moves = {value} WHERE game_id = 1");
    for (change, found) in [
        // The highest bit of the first move.
        (moves("CAST(x'8e143420' || substr(moves, 5) AS BLOB)"), "game_id 1, ply 1: fen is "),
        (moves("CAST(x'00000000' || substr(moves, 5) AS BLOB)"), "game_id 1"),
        (moves("CAST(x'7fffffff' || substr(moves, 5) AS BLOB)"), "game_id 1: the rows for plies 1 to "),
        (moves("substr(moves, 1, 7)"), "game_id 1: the rows for plies 0 to "),
        (moves("'text'"), "game_id 1"),
        (moves("zeroblob(4000)"), "game_id 1"),
        (
            "UPDATE position_key SET value = value + 1 WHERE place = 13 AND letter = 'p'".to_owned(),
            "position_key",
        ),
    ] {
        let workspace = workspace(FAMOUS).with("b.pgn", ODD_PAIR);
        let changed = Connection::open(workspace.path("compact.db")).expect("a database");
        execute_without_constraints(&changed, &change).expect("changed");
        drop(changed);
        let verified = workspace.run(&["verify", "compact.db", "--all", "--quiet"]);
        assert!(verified.status != 0 && verified.stdout.contains(found), "{change}: {verified:?}");
        for arguments in
            [&["game", "compact.db", "1"][..], &["explore", "compact.db"], &["export", "compact.db", "-"]]
        {
            let run = workspace.run(arguments);
            assert!(!run.stderr.contains("panicked"), "{change}, {arguments:?}: {run:?}");
        }
        // A damaged game stops neither the search of others nor a change.
        for arguments in [
            &["find", "compact.db", "--material", "KRPvKR"][..],
            &["index", "compact.db", "b.pgn"],
            &["remove", "compact.db", "--sql", "SELECT 2"],
            &["repair", "compact.db"],
        ] {
            let run = workspace.run(arguments);
            // `repair` ends with 1 because it cannot restore the moves.
            let is_done = run.status == 0 || run.status == 1 && run.stderr.contains("read the files again");
            assert!(is_done, "{change}, {arguments:?}: {run:?}");
        }
    }
}

/// A repair restores constants. It says that it does not check everything.
#[test]
fn constants_are_written_again() {
    let workspace = workspace(FAMOUS);
    let changed = Connection::open(workspace.path("compact.db")).expect("a database");
    let change = "DELETE FROM position_key WHERE place > 9; DELETE FROM opening";
    execute_without_constraints(&changed, change).expect("changed");
    drop(changed);
    let repaired = workspace.run(&["repair", "compact.db"]);
    assert!(repaired.stderr.contains("not checked: run `pgndex verify compact.db`"), "{repaired:?}");
    let verified = workspace.run(&["verify", "compact.db"]);
    assert!(!verified.stdout.contains("position_key") && verified.stdout.contains("opening"), "{verified:?}");
}

#[test]
fn the_layout_stays_when_files_are_read_again() {
    let workspace = workspace(FAMOUS);
    for layout in LAYOUTS {
        workspace.stdout_of(&["index", "--quiet", "--reread", &format!("{layout}.db")]);
        let printed = workspace.stdout_of(&["info", &format!("{layout}.db")]);
        assert!(printed.contains(&format!(" {layout} layout")), "{printed}");
    }
    same_answers(&workspace);
}
