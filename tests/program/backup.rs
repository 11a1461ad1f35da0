//! `pgndex backup`: copies of databases, also of those that are written to.

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use pgndex::store::Database;

use crate::place::Place;

const GAMES: &str = "1. e4 e5 *\n\n1. d4 d5 *\n";

#[test]
fn a_copy_is_sound_and_has_all() {
    let place = Place::new().indexed(GAMES);
    let run = place.run(&["backup", "games.db", "copy.db"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains(" copied to copy.db in "), "{run:?}");
    assert_eq!(place.number("copy.db", "SELECT count(*) FROM game"), 2);
    assert_eq!(place.run(&["verify", "--all", "copy.db"]).status, 0);
    assert_eq!(place.names(), ["copy.db", "games.db", "games.pgn"]);
    assert_eq!(place.run(&["index", "-q", "copy.db", "games.pgn"]).status, 0, "games can be added to it");
}

#[test]
fn nothing_is_replaced_by_accident() {
    let place = Place::new().indexed(GAMES).with("other", "a text");
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db"]).status, 0);
    let before = fs::read(place.path("copy.db")).unwrap();
    let told = place.failure(&["backup", "games.db", "copy.db"]);
    assert_eq!(
        told,
        "pgndex: error: copy.db: exists already; use --overwrite to replace it, or name another file\n"
            .replace("copy.db", &place.path("copy.db").canonicalize().unwrap().to_string_lossy())
    );
    assert_eq!(fs::read(place.path("copy.db")).unwrap(), before);
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    for arguments in [
        ["backup", "games.db", "games.db", "--overwrite"],
        ["backup", "games.db", "other", "--overwrite"],
        ["backup", "games.db", "missing/copy.db", "--overwrite"],
        ["backup", "games.pgn", "new.db", "--overwrite"],
        ["backup", "missing.db", "new.db", "--overwrite"],
    ] {
        place.failure(&arguments);
    }
    assert_eq!(fs::read(place.path("other")).unwrap(), b"a text");
    assert_eq!(place.names(), ["copy.db", "games.db", "games.pgn", "other"]);
}

/// Each copy has the games of some moment: additions come whole.
#[test]
fn while_somebody_writes_each_copy_is_whole() {
    let place = Place::new().indexed(include_str!("../../examples/synthetic.pgn"));
    let first = place.number("games.db", "SELECT count(*) FROM game");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..8 {
                let name = format!("{number}.pgn");
                place.write(
                    &name,
                    format!("[White \"{number}\"]\n\n1. e4 e5 *\n\n[Black \"{number}\"]\n\n1. d4 *\n"),
                );
                let run = place.run(&["index", "-q", "games.db", &name]);
                // Status 4 is a writer that a reader kept from it: it tries again.
                assert!([0, 4].contains(&run.status), "{run:?}");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut copies = 0;
        while !is_done.load(Ordering::Relaxed) || copies == 0 {
            let run = place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]);
            assert_eq!(run.status, 0, "{run:?}");
            assert_eq!((place.number("copy.db", "SELECT count(*) FROM game") - first) % 2, 0);
            copies += 1;
            if writer.is_finished() {
                break;
            }
        }
        writer.join().unwrap();
    });
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    assert_eq!(place.run(&["verify", "--all", "copy.db"]).status, 0);
    let games = |database| place.number(database, "SELECT count(*) FROM game");
    assert_eq!(games("copy.db"), games("games.db"));
}

/// A database of several pieces, as a copy takes them, with a table in which another process counts.
fn counting() -> Place {
    let place = Place::new().indexed(GAMES);
    let padded = "CREATE TABLE padding (x); INSERT INTO padding VALUES (zeroblob(30 << 20)); CREATE TABLE counter (n);";
    place.connection("games.db").execute_batch(padded).expect("written");
    place
}

/// Has another process count one on.
fn count(place: &Place) -> i32 {
    place.run(&["sql", "games.db", "--write", "INSERT INTO counter VALUES (1)"]).status
}

const COUNTED: &str = "SELECT count(*) FROM counter";

#[test]
fn a_copy_during_which_another_process_writes_once_begins_anew() {
    let place = counting();
    let database = Database::open_read_only(&place.path("games.db")).expect("a database");
    let (mut pieces, mut restarts, mut copied) = (0, 0, 0);
    database
        .backup(&place.path("copy.db"), false, |progress| {
            pieces += 1;
            if pieces == 3 {
                assert_eq!(count(&place), 0, "nobody waits for the copy");
            }
            restarts += u32::from(progress.bytes <= copied);
            copied = progress.bytes;
            ControlFlow::Continue(())
        })
        .expect("a copy");
    assert_eq!(restarts, 1);
    assert_eq!(place.number("copy.db", COUNTED), 1, "the copy is that of the later moment");
    assert_eq!(place.run(&["verify", "--all", "copy.db"]).status, 0);
}

#[test]
fn a_copy_during_which_others_write_all_the_time_has_them_wait() {
    let place = counting();
    let database = Database::open_read_only(&place.path("games.db")).expect("a database");
    let (mut restarts, mut copied, mut written, mut refused) = (0, 0, 0, 0);
    database
        .backup(&place.path("copy.db"), false, |progress| {
            restarts += u32::from(progress.bytes <= copied);
            copied = progress.bytes;
            // One that has to wait does so for seconds.
            if copied < progress.total_bytes && refused == 0 {
                match count(&place) {
                    0 => written += 1,
                    _ => refused += 1,
                }
            }
            ControlFlow::Continue(())
        })
        .expect("a copy");
    assert_eq!((restarts, refused), (2, 1));
    assert_eq!(place.number("copy.db", COUNTED), written, "the copy has what was written before");
    drop(database);
    assert_eq!(count(&place), 0, "afterwards nobody waits");
    assert_eq!(place.number("games.db", COUNTED), written + 1);
}

#[test]
fn a_copy_that_is_ended_from_inside_leaves_nothing() {
    let place = counting();
    let before = place.names();
    let database = Database::open_read_only(&place.path("games.db")).expect("a database");
    let mut pieces = 0;
    let ended = database.backup(&place.path("copy.db"), false, |_| {
        pieces += 1;
        if pieces == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(ended, Err(pgndex::store::Error::Interrupted)), "{ended:?}");
    drop(database);
    assert_eq!(place.names(), before);
}

/// A limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_is_told_with_what_is_needed() {
    let place = counting();
    let shell = |limit: u32| {
        let mut command = std::process::Command::new("bash");
        command.current_dir(place.directory());
        command.args(["-c", &format!("ulimit -f {limit}; \"$PGNDEX\" backup games.db copy.db")]);
        let output = command.env("PGNDEX", env!("CARGO_BIN_EXE_pgndex")).output().expect("bash runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, told) = shell(10 << 10);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("no space left to write it (about 31 MiB are needed, and "), "{told}");
    assert_eq!(place.names(), ["games.db", "games.pgn"]);
}
