//! `pgndex backup`: copies of databases, including databases that are being written to.

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use pgndex::store::Database;

use crate::workspace::Workspace;

const GAMES: &str = "1. e4 e5 *\n\n1. d4 d5 *\n";

#[test]
fn a_copy_is_sound_and_complete() {
    let workspace = Workspace::new().indexed(GAMES);
    let run = workspace.run(&["backup", "games.db", "copy.db"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains(" copied to copy.db in "), "{run:?}");
    assert_eq!(workspace.number("copy.db", "SELECT count(*) FROM game"), 2);
    assert_eq!(workspace.run(&["verify", "--all", "copy.db"]).status, 0);
    assert_eq!(workspace.names(), ["copy.db", "games.db", "games.pgn"]);
    assert_eq!(workspace.run(&["index", "-q", "copy.db", "games.pgn"]).status, 0, "games can be added to it");
}

#[test]
fn existing_files_are_not_replaced_by_accident() {
    let workspace = Workspace::new().indexed(GAMES).with("other", "a text");
    assert_eq!(workspace.run(&["backup", "-q", "games.db", "copy.db"]).status, 0);
    let before = fs::read(workspace.path("copy.db")).unwrap();
    let reported = workspace.failure(&["backup", "games.db", "copy.db"]);
    assert_eq!(
        reported,
        "pgndex: error: copy.db: already exists; use --overwrite to replace it, or name another file\n"
            .replace("copy.db", &workspace.path("copy.db").canonicalize().unwrap().to_string_lossy())
    );
    assert_eq!(fs::read(workspace.path("copy.db")).unwrap(), before);
    assert_eq!(workspace.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    for arguments in [
        ["backup", "games.db", "games.db", "--overwrite"],
        ["backup", "games.db", "other", "--overwrite"],
        ["backup", "games.db", "missing/copy.db", "--overwrite"],
        ["backup", "games.pgn", "new.db", "--overwrite"],
        ["backup", "missing.db", "new.db", "--overwrite"],
    ] {
        workspace.failure(&arguments);
    }
    assert_eq!(fs::read(workspace.path("other")).unwrap(), b"a text");
    assert_eq!(workspace.names(), ["copy.db", "games.db", "games.pgn", "other"]);
}

/// Each copy is a consistent state: it has all games of an addition, or none.
#[test]
fn copies_during_writes_are_consistent() {
    let workspace = Workspace::new().indexed(include_str!("../../examples/synthetic.pgn"));
    let first = workspace.number("games.db", "SELECT count(*) FROM game");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..8 {
                let name = format!("{number}.pgn");
                workspace.write(
                    &name,
                    format!("[White \"{number}\"]\n\n1. e4 e5 *\n\n[Black \"{number}\"]\n\n1. d4 *\n"),
                );
                let run = workspace.run(&["index", "-q", "games.db", &name]);
                // Status 4: a reader kept the writer out.
                assert!([0, 4].contains(&run.status), "{run:?}");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut copies = 0;
        while !is_done.load(Ordering::Relaxed) || copies == 0 {
            let run = workspace.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]);
            assert_eq!(run.status, 0, "{run:?}");
            assert_eq!((workspace.number("copy.db", "SELECT count(*) FROM game") - first) % 2, 0);
            copies += 1;
            if writer.is_finished() {
                break;
            }
        }
        writer.join().unwrap();
    });
    assert_eq!(workspace.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    assert_eq!(workspace.run(&["verify", "--all", "copy.db"]).status, 0);
    let games = |database| workspace.number(database, "SELECT count(*) FROM game");
    assert_eq!(games("copy.db"), games("games.db"));
}

/// A database that takes several pieces to copy, with a table for rows that another process inserts.
fn counting() -> Workspace {
    let workspace = Workspace::new().indexed(GAMES);
    let padded = "CREATE TABLE padding (x); INSERT INTO padding VALUES (zeroblob(30 << 20)); CREATE TABLE counter (n);";
    workspace.connection("games.db").execute_batch(padded).expect("written");
    workspace
}

/// Inserts a row of the table `counter` from another process, and returns the exit status.
fn count(workspace: &Workspace) -> i32 {
    workspace.run(&["sql", "games.db", "--write", "INSERT INTO counter VALUES (1)"]).status
}

const COUNTED: &str = "SELECT count(*) FROM counter";

#[test]
fn a_copy_restarts_after_a_write_of_another_process() {
    let workspace = counting();
    let database = Database::open_read_only(&workspace.path("games.db")).expect("a database");
    let (mut pieces, mut restarts, mut copied) = (0, 0, 0);
    database
        .backup(&workspace.path("copy.db"), false, |progress| {
            pieces += 1;
            if pieces == 3 {
                assert_eq!(count(&workspace), 0, "the copy does not block writers");
            }
            restarts += u32::from(progress.bytes <= copied);
            copied = progress.bytes;
            ControlFlow::Continue(())
        })
        .expect("a copy");
    assert_eq!(restarts, 1);
    assert_eq!(workspace.number("copy.db", COUNTED), 1, "the copy has the later state");
    assert_eq!(workspace.run(&["verify", "--all", "copy.db"]).status, 0);
}

#[test]
fn a_copy_during_constant_writes_makes_writers_wait() {
    let workspace = counting();
    let database = Database::open_read_only(&workspace.path("games.db")).expect("a database");
    let (mut restarts, mut copied, mut written, mut refused) = (0, 0, 0, 0);
    database
        .backup(&workspace.path("copy.db"), false, |progress| {
            restarts += u32::from(progress.bytes <= copied);
            copied = progress.bytes;
            // A refused writer waits for seconds, so one is enough.
            if copied < progress.total_bytes && refused == 0 {
                match count(&workspace) {
                    0 => written += 1,
                    _ => refused += 1,
                }
            }
            ControlFlow::Continue(())
        })
        .expect("a copy");
    assert_eq!((restarts, refused), (2, 1));
    assert_eq!(workspace.number("copy.db", COUNTED), written, "the copy has all rows that were written");
    drop(database);
    assert_eq!(count(&workspace), 0, "after the copy, writers are not blocked");
    assert_eq!(workspace.number("games.db", COUNTED), written + 1);
}

#[test]
fn a_stopped_copy_leaves_no_file() {
    let workspace = counting();
    let before = workspace.names();
    let database = Database::open_read_only(&workspace.path("games.db")).expect("a database");
    let mut pieces = 0;
    let ended = database.backup(&workspace.path("copy.db"), false, |_| {
        pieces += 1;
        if pieces == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(ended, Err(pgndex::store::Error::Interrupted)), "{ended:?}");
    drop(database);
    assert_eq!(workspace.names(), before);
}

/// SQLite does not report that the limit of the file size is the reason.
#[cfg(unix)]
#[test]
fn a_limit_of_file_size_is_reported_with_the_space_needed() {
    let workspace = counting();
    let shell = |limit: u32| {
        let mut command = std::process::Command::new("bash");
        command.current_dir(workspace.directory());
        command.args(["-c", &format!("ulimit -f {limit}; \"$PGNDEX\" backup games.db copy.db")]);
        let output = command.env("PGNDEX", env!("CARGO_BIN_EXE_pgndex")).output().expect("bash runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, reported) = shell(10 << 10);
    assert_eq!(status, Some(1), "{reported}");
    assert!(
        reported
            .contains("a file of this size is not allowed here (about 31 MiB is needed); raise the limit"),
        "{reported}"
    );
    assert_eq!(workspace.names(), ["games.db", "games.pgn"]);
}
