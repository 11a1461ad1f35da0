//! `pgndex remove`: what it removes, what it keeps, and what it reports.

use serde_json::json;

#[cfg(target_os = "linux")]
use crate::support::Mount;
use crate::support::execute_without_constraints;
use crate::workspace::{Workspace, json as parsed};

const GAMES: &str = include_str!("../../examples/famous-games.pgn");

/// A file, a second one that repeats some of its games, and a database of both.
fn workspace() -> Workspace {
    let twice: String = GAMES.split_inclusive("\n\n").take(6).collect();
    let workspace = Workspace::new().with("all.pgn", GAMES).with("twice.pgn", &twice);
    workspace.stdout_of(&["index", "--quiet", "games.db", "all.pgn", "twice.pgn"]);
    workspace
}

#[track_caller]
fn remove(workspace: &Workspace, arguments: &[&str]) -> serde_json::Value {
    let run = workspace.run(&[&["remove", "games.db", "--json"], arguments].concat());
    assert_eq!(run.status, 0, "{run:?}");
    parsed(&run.stdout)
}

#[track_caller]
fn assert_sound(workspace: &Workspace) {
    let run = workspace.run(&["verify", "games.db", "--all", "--quiet"]);
    assert_eq!((run.status, run.stdout.starts_with("sound: ")), (0, true), "{run:?}");
}

#[test]
fn dry_runs_agree_with_removals() {
    let workspace = workspace();
    let games = |workspace: &Workspace| workspace.number("games.db", "SELECT count(*) FROM game");
    let before = games(&workspace);
    for arguments in [
        &["--games", "--player", "fischer"][..],
        &["--sql", "SELECT game_id FROM game WHERE ply_count < 50"],
        &["--source", "2"],
        &["--source", "all.pgn"],
    ] {
        let mut reported = remove(&workspace, &[&["--dry-run"], arguments].concat());
        let mut done = remove(&workspace, arguments);
        for (summary, dry_run) in [(&reported, true), (&done, false)] {
            assert_eq!(summary["dry_run"], json!(dry_run));
        }
        for differs in ["dry_run", "seconds", "file_bytes", "free_bytes"] {
            reported[differs].take();
            done[differs].take();
        }
        assert_eq!(reported, done, "{arguments:?}");
        assert_sound(&workspace);
    }
    assert!(before > 40 && games(&workspace) == 0);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM player"), 0);
}

#[test]
fn a_whole_file_or_some_of_its_games_are_removed() {
    let workspace = workspace();
    let summary = remove(&workspace, &["--games", "--source", "all.pgn", "--player", "fischer"]);
    assert_eq!(summary["sources"], json!(0));
    assert!(summary["games"].as_u64().is_some_and(|games| (1..10).contains(&games)), "{summary}");
    assert_sound(&workspace);
    // The file remains known without any game.
    remove(&workspace, &["--games", "--source", "all.pgn"]);
    let readings = "SELECT count(*) FROM source WHERE path = 'all.pgn'";
    assert_eq!(workspace.number("games.db", readings), 1);
    assert_sound(&workspace);
    assert_eq!(remove(&workspace, &["--source", "all.pgn"])["sources"], json!(1));
    assert_eq!(workspace.number("games.db", readings), 0);
    assert_sound(&workspace);
}

#[test]
fn duplicates_come_back_if_their_file_is_unchanged() {
    let skipped = "SELECT count(*) FROM duplicate WHERE game_id IS NULL";
    let workspace = self::workspace();
    assert_eq!(workspace.number("games.db", skipped), 3);
    let summary = remove(&workspace, &["--source", "all.pgn"]);
    assert_eq!((&summary["returned"], &summary["lost"]), (&json!(3), &json!([])));
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM game"), 3);
    assert_eq!(workspace.number("games.db", skipped), 0);
    assert_sound(&workspace);
    // The same in the other direction.
    workspace.stdout_of(&["index", "--quiet", "games.db", "all.pgn"]);
    assert_eq!(workspace.number("games.db", skipped), 3);
    assert_sound(&workspace);

    let workspace = self::workspace();
    workspace.write("twice.pgn", "[Event \"other\"]\n\n1. e4 *\n");
    let run = workspace.run(&["remove", "games.db", "--source", "all.pgn"]);
    assert_eq!(run.status, 0, "{run:?}");
    let note = "pgndex: note: not added: 3 games of twice.pgn, skipped earlier as duplicates; the file cannot be read again (it has \
                changed since it was indexed). To add them, remove that file from the database with --source, and index it again\n";
    assert!(run.stderr.starts_with(note), "{}", run.stderr);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM duplicate WHERE original_id IS NULL"), 3);
    assert_sound(&workspace);
}

/// Games that come back are removed too if they match the filter.
#[test]
fn a_filter_also_removes_returning_duplicates() {
    let workspace = workspace();
    let sql = "SELECT name FROM player JOIN game ON white_id = player_id WHERE game_id = 1";
    let player: String =
        workspace.connection("games.db").query_row(sql, [], |row| row.get(0)).expect("a name");
    let summary = remove(&workspace, &["--games", "--player", &format!("={}", player)]);
    assert_eq!(summary["returned"], json!(0));
    let left = format!("SELECT count(*) FROM games WHERE '{}' IN (white, black)", player);
    assert_eq!(workspace.number("games.db", &left), 0);
    assert_sound(&workspace);
}

/// Games removed by the first transaction stay removed if the second one fails, and the message says so.
#[test]
fn games_removed_before_a_failure_are_reported() {
    let workspace = workspace();
    let last = workspace.number("games.db", "SELECT max(game_id) FROM game");
    let trigger = format!(
        "CREATE TRIGGER stop BEFORE DELETE ON game WHEN OLD.game_id > {last} BEGIN SELECT RAISE(ABORT, 'not these'); END"
    );
    workspace.connection("games.db").execute_batch(&trigger).expect("a trigger");
    let arguments = ["remove", "games.db", "--games", "--since", "0001"];
    let before = workspace.number("games.db", "SELECT count(*) FROM game");
    let reported = workspace.stderr_of(1, &arguments);
    let removed = before + 3 - workspace.number("games.db", "SELECT count(*) FROM game");
    let start = format!(
        "pgndex: error: {removed} games were removed, and 3 games skipped earlier as duplicates were restored; removing the \
         matching games failed; run the same command again\n"
    );
    assert!(reported.starts_with(&start) && reported.contains("not these"), "{reported}");
    workspace.connection("games.db").execute_batch("DROP TRIGGER stop").expect("no trigger");
    workspace.stderr_of(0, &arguments);
    assert_sound(&workspace);
}

#[test]
fn a_file_with_removed_games_can_grow() {
    let workspace = workspace();
    let last = workspace.number("games.db", "SELECT max(game_id) FROM game");
    remove(&workspace, &["--sql", "SELECT max(game_id) FROM game"]);
    let before = workspace.number("games.db", "SELECT count(*) FROM game");
    workspace.stdout_of(&["index", "--quiet", "games.db", "all.pgn"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM game"), before);
    workspace.write("all.pgn", format!("{GAMES}\n[Event \"new\"]\n\n1. e4 e5 2. Ke3 *\n"));
    // The error in the new game is reported.
    workspace.stderr_of(3, &["index", "--quiet", "games.db", "all.pgn"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM game"), before + 1);
    // The new game gets a new id.
    assert_eq!(workspace.number("games.db", "SELECT max(game_id) FROM game"), last + 1);
    let number = "SELECT game_number - (SELECT count(*) FROM game WHERE source_id = 1) FROM problem ORDER BY problem_id DESC LIMIT 1";
    // The number of the new game exceeds the count of games of source 1 by two: one game was removed, and the new game
    // has another source.
    assert_eq!(workspace.number("games.db", number), 2);
    assert_sound(&workspace);
    let failure = workspace.stderr_of(1, &["index", "--reread", "games.db"]);
    assert!(failure.contains("1 game was removed from it and would be added again"), "{failure}");
    // A file that was removed is not read again.
    remove(&workspace, &["--source", "all.pgn"]);
    workspace.stdout_of(&["index", "--quiet", "--reread", "games.db"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM source"), 1);
}

#[test]
fn a_shrunk_file_is_sound() {
    let workspace = workspace();
    let bytes = |workspace: &Workspace| std::fs::metadata(workspace.path("games.db")).expect("a file").len();
    remove(&workspace, &["--games", "--until", "1950"]);
    let before = bytes(&workspace);
    let run = workspace.run(&["remove", "games.db", "--sql", "SELECT max(game_id) FROM game"]);
    assert!(run.stderr.ends_with("`pgndex remove DB --shrink` makes the file smaller\n"), "{}", run.stderr);
    let run = workspace.run(&["remove", "games.db", "--shrink"]);
    assert!(
        run.stderr.starts_with("games.db: ") && run.stderr.contains(" before), 0 B of it free"),
        "{}",
        run.stderr
    );
    let summary = remove(&workspace, &["--shrink"]);
    assert!(bytes(&workspace) < before);
    assert_eq!((&summary["free_bytes"], &summary["file_bytes"]), (&json!(0), &json!(bytes(&workspace))));
    assert_sound(&workspace);
    workspace.stdout_of(&["index", "--quiet", "games.db", "twice.pgn"]);
    assert_sound(&workspace);
}

#[test]
fn wrong_usage_is_refused_with_a_tip() {
    let workspace = workspace();
    for (arguments, status, reported) in [
        (&[][..], 2, "say what to remove: --source PATH, --games with filters, or --sql QUERY"),
        (&["--player", "tal"], 2, "to remove the games that these options choose, give --games too"),
        (
            &["--source", "all.pgn", "--player", "tal"],
            2,
            "to remove the games that these options choose, give --games too",
        ),
        (&["tal"], 2, "use '--player \"tal\"'; filters also need --games"),
        (&["--name", "tal"], 2, "use '--player NAME'; filters also need --games"),
        (&["--year", "1960", "--games"], 2, "use '--since 1960 --until 1960'\n"),
        (&["all.pgn"], 2, "use '--source all.pgn'\n"),
        (&["--dry-run"], 2, "--dry-run: say what to remove: --source, --games or --sql"),
        (&["--games", "--player", "s"], 2, "the name matches several players; nothing is removed"),
        (&["--games"], 2, "the following required arguments were not provided"),
        (&["--source", "none.pgn"], 1, "no games were indexed from none.pgn"),
        (&["--source", "7"], 1, "no indexed file has the number or path 7"),
        (&["--sql", "SELECT 'x'"], 1, "--sql: "),
        (&["--sql", ""], 1, "--sql: the query is empty; give a query that selects game numbers, such as "),
        (&["--sql", "SELECT * FROM nope"], 1, "--sql: no such table: nope"),
        (&["--sql", "SELECT 9999"], 1, "no game 9999"),
        (
            &["--games", "--player", "s", "--dry-run"],
            2,
            "the name matches several players; nothing is removed",
        ),
    ] {
        let run = workspace.stderr_of(status, &[&["remove", "games.db"], arguments].concat());
        assert!(run.contains(reported), "{arguments:?}: {run}");
    }
    // Games were removed by other means.
    workspace
        .connection("games.db")
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM game WHERE game_id < 10")
        .expect("deleted");
    let failure = workspace.stderr_of(1, &["remove", "games.db", "--source", "2"]);
    assert!(failure.contains("according to its sources and runs"), "{failure}");
}

/// Games removed by other means are reported, and `repair` makes the tables consistent.
#[test]
fn inconsistent_counts_are_repaired() {
    let workspace = workspace();
    workspace
        .connection("games.db")
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM game WHERE source_id = 1")
        .expect("deleted");
    for command in [&["index", "games.db", "all.pgn"][..], &["remove", "games.db", "--source", "2"]] {
        let failure = workspace.stderr_of(1, command);
        assert!(failure.contains("`pgndex repair` makes the tables consistent again"), "{failure}");
    }
    assert_eq!(workspace.run(&["verify", "games.db", "--quiet"]).status, 1);
    let summary = parsed(&workspace.ok(&["repair", "games.db", "--json", "--quiet"]));
    assert_eq!((&summary["forgotten_sources"], &summary["broken_games"]), (&json!(1), &json!([])));
    assert_sound(&workspace);
    workspace.stdout_of(&["index", "--quiet", "games.db", "all.pgn"]);
    assert_sound(&workspace);
    // Lost positions cannot be repaired.
    let game: i64 = workspace.number("games.db", "SELECT max(game_id) FROM game");
    workspace
        .connection("games.db")
        .execute_batch(&format!("DELETE FROM game_position WHERE game_id = {game}"))
        .expect("deleted");
    let reported = workspace.stderr_of(1, &["repair", "games.db", "--quiet"]);
    assert!(reported.contains(&format!("game {game} has missing or surplus positions")), "{reported}");
}

#[test]
fn values_of_a_wrong_type_in_derived_tables_are_repaired() {
    for (change, advice) in [
        ("UPDATE game_column SET games = 'x' WHERE name = 'eco'", "`pgndex repair` rebuilds this data"),
        (
            "UPDATE occurrence SET ply = 'x' WHERE game_id = 1 AND ply = 2",
            "`pgndex repair` rebuilds this data",
        ),
        ("UPDATE game_set SET kind = 'x' WHERE kind = 'castling'", "`pgndex repair` rebuilds this data"),
        ("INSERT INTO setting VALUES ('removed_games', 'x')", "`pgndex repair` rebuilds this data"),
        ("INSERT INTO setting VALUES ('last_game', -1)", "`pgndex repair` rebuilds this data"),
    ] {
        let workspace = workspace();
        execute_without_constraints(&workspace.connection("games.db"), change).expect("changed");
        let found = workspace.run(&["verify", "games.db", "--all"]);
        assert!(found.status == 1 && found.stderr.contains(advice), "{change}: {found:?}");
        workspace.stdout_of(&["repair", "games.db", "--quiet"]);
        assert_sound(&workspace);
    }
}

/// Totals that a user made too small do not stop a removal; `verify` reports them.
#[test]
fn games_can_be_removed_if_totals_are_too_small() {
    let workspace = workspace();
    let change = "UPDATE import SET plies = 0, positions = 1; UPDATE source SET plies = 0";
    workspace.connection("games.db").execute_batch(change).expect("changed");
    remove(&workspace, &["--games", "--player", "Capablanca"]);
    assert_eq!(workspace.run(&["verify", "games.db", "--quiet"]).status, 1);
    workspace.stdout_of(&["repair", "games.db", "--quiet"]);
    assert_sound(&workspace);
}

/// `optimize` merges the levels that additions have created.
#[test]
fn levels_are_merged() {
    let workspace = workspace();
    let found =
        |workspace: &Workspace| workspace.ok(&["find", "games.db", "--moves", "e4 e5", "--limit", "99"]);
    workspace.ok(&["optimize", "games.db", "--quiet"]);
    let before = found(&workspace);
    workspace
        .connection("games.db")
        .execute_batch(
            "INSERT INTO occurrence_level (level) VALUES (3), (9);
             UPDATE occurrence SET level = 9 WHERE game_id >= 9;
             UPDATE occurrence SET level = 3 WHERE game_id BETWEEN 3 AND 8;",
        )
        .expect("three levels");
    assert_sound(&workspace);
    assert_eq!(found(&workspace), before);
    let summary = parsed(&workspace.ok(&["optimize", "games.db", "--json", "--quiet"]));
    assert_eq!(summary["levels"], json!(3));
    let levels: i64 = workspace.number("games.db", "SELECT count(*) FROM occurrence_level");
    assert_eq!(levels, 1);
    assert_sound(&workspace);
    assert_eq!(found(&workspace), before);
    let reported = workspace.stderr_of(0, &["optimize", "games.db"]);
    assert!(reported.starts_with("nothing to merge"), "{reported}");
    let reported = workspace.stderr_of(1, &["optimize", "none.db"]);
    assert!(reported.contains("none.db"), "{reported}");
}

/// If the disk is full while the file is being shrunk, the games stay removed, and the message says so.
#[cfg(target_os = "linux")]
#[test]
fn games_stay_removed_if_there_is_no_room_to_shrink_the_file() {
    let workspace = workspace();
    let Some(disk) = Mount::new(workspace.path("disk"), "2600k") else { return };
    std::fs::copy(workspace.path("games.db"), disk.0.join("games.db")).expect("a copy");
    let reported = workspace.stderr_of(1, &["remove", "disk/games.db", "--sql", "SELECT 1", "--shrink"]);
    let start = "pgndex: error: 1 game was removed; shrinking the file failed; `pgndex remove DB --shrink` does only this\n";
    assert!(reported.starts_with(start) && reported.contains("no space left"), "{reported}");
    assert_eq!(workspace.number("disk/games.db", "SELECT count(*) FROM game WHERE game_id = 1"), 0);
}
