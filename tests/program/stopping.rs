//! Writing to databases with views in place of tables, or with slow triggers.

use crate::command::Run;
use crate::workspace::Workspace;

const GAME: &str = "[White \"Anderssen\"]\n[Black \"Kieseritzky\"]\n\n1. e4 e5 1-0\n";
const OTHER_GAME: &str = "[White \"Morphy\"]\n[Black \"Paulsen\"]\n\n1. e4 c5 0-1\n";

/// `games.db`, changed by the given SQL, and `more.pgn`.
fn changed(change: &str) -> Workspace {
    let workspace = Workspace::new().indexed(GAME).with("more.pgn", OTHER_GAME);
    workspace.connection("games.db").execute_batch(change).expect("a change");
    workspace
}

#[test]
fn a_view_in_place_of_a_table_is_refused() {
    let workspace = changed(
        "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;
         ALTER TABLE game RENAME TO game_table; CREATE VIEW Game AS SELECT * FROM game_table",
    );
    for arguments in [
        &["index", "-q", "games.db", "more.pgn"][..],
        &["remove", "-q", "games.db", "--sql", "SELECT 1"],
        &["optimize", "-q", "games.db"],
    ] {
        let failure = workspace.failure(arguments);
        let reported = "pgndex: error: games.db: Game is a view, but pgndex needs a table of that name; nothing was written. Drop the view \
                    and give the table its name back, or index the games again into another database\n";
        assert_eq!(
            failure.replace(&format!("{}/", workspace.directory().display()), ""),
            reported,
            "{arguments:?}"
        );
    }
    assert_eq!(workspace.names().iter().filter(|name| name.contains("games.db")).count(), 1);
}

/// SQLite cannot interrupt a function call.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_in_an_endless_function_call() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let workspace = changed(
        "CREATE TRIGGER slow BEFORE INSERT ON player
         BEGIN SELECT instr(zeroblob(30000000), zeroblob(15000000) || x'01'); END",
    );
    let mut command = workspace.command(&["index", "-q", "games.db", "more.pgn"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("the program runs");
    std::thread::sleep(Duration::from_millis(600));
    let began = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    let run = Run::of(child.wait_with_output().expect("an end"));
    assert_eq!(run.status, 143, "{}", run.stderr);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(!workspace.names().iter().any(|name| name.starts_with('.')), "{:?}", workspace.names());
    workspace.connection("games.db").execute_batch("DROP TRIGGER slow").expect("a change");
    assert_eq!(workspace.run(&["index", "-q", "games.db", "more.pgn"]).status, 0);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM game"), 2);
}
