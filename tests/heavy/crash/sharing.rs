//! Other processes that use the same database.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use pgndex::store::{Database, WriterLock};
use rusqlite::Connection;

use super::scenario::{DATABASE, Operation, Scenario, State, text, wait_for};
use crate::support::{lines, names, number, open};

const GAMES: &str = "SELECT count(*) FROM game";

fn start(scenario: &Scenario, place: &Path) -> Child {
    let mut command = scenario.command(place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

/// Opens a database as soon as games are being added to it.
fn reader_during(place: &Path) -> Connection {
    wait_for(&place.join("x.db-wal"));
    let reader = open(&place.join(DATABASE));
    reader.busy_timeout(Duration::from_secs(5)).expect("a busy timeout");
    reader
}

#[test]
fn a_second_writer_is_refused_with_the_process_and_time_of_the_first() {
    let scenario = Scenario::new(Operation::Adding, 1);
    let place = scenario.place();
    let lock = WriterLock::acquire(&place.path().join(DATABASE)).expect("the lock");
    let started = Instant::now();
    let output = scenario.command(place.path()).output().expect("run");
    assert!(started.elapsed() < Duration::from_secs(2), "the second writer waited");
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    let (before, rest) = reported.split_once(" since ").expect("a time");
    assert!(
        before.ends_with(&format!("x.db: being written by process {}", std::process::id())),
        "{reported}"
    );
    let (since, rest) = rest.split_once(';').expect("advice");
    assert_eq!(rest, " wait until it has finished\n");
    let age = format!("SELECT unixepoch('now') - unixepoch('{since}') BETWEEN 0 AND 60");
    assert_eq!(number(&open(&place.path().join(DATABASE)), &age), 1, "{reported}");
    assert_eq!(output.status.code(), Some(4));
    drop(lock);
    scenario.assert_untouched(place.path(), "busy");
    scenario.complete(place.path(), "free again");
}

#[test]
fn simultaneous_writers_run_one_at_a_time_or_are_refused() {
    for way in [Operation::Fresh, Operation::Adding] {
        let scenario = Scenario::new(way, 4);
        let place = scenario.place();
        let processes: Vec<Child> = (0..4).map(|_| start(&scenario, place.path())).collect();
        let mut done = 0;
        for process in processes {
            let output = process.wait_with_output().expect("the output");
            let reported = text(&output);
            done += u32::from(output.status.success());
            // A process that has just acquired the lock may not have written its id yet.
            let is_refused = ["x.db: being written by process ", "x.db: in use by another program"]
                .iter()
                .any(|reason| reported.contains(reason));
            assert!(output.status.success() || is_refused, "{reported}");
        }
        assert!(done >= 1);
        scenario.assert_complete(place.path(), "four at once");
    }
}

#[test]
fn a_lock_of_another_program_is_reported() {
    let scenario = Scenario::new(Operation::Adding, 1);
    for lock in ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE; UPDATE import SET games = games"] {
        let place = scenario.place();
        let other = Connection::open(place.path().join(DATABASE)).expect("a database");
        other.execute_batch(lock).expect("a lock");
        let started = Instant::now();
        let output = scenario.command(place.path()).output().expect("run");
        assert!(started.elapsed() < Duration::from_secs(10), "{lock}: {:?}", started.elapsed());
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(
            reported.contains("x.db: in use by another program; wait until it has finished\n"),
            "{lock}: {reported}"
        );
        assert_eq!(output.status.code(), Some(4));
        drop(other);
        scenario.assert_untouched(place.path(), lock);
        scenario.complete(place.path(), lock);
    }
}

/// A read transaction that began earlier prevents the switch to a write-ahead log.
#[test]
fn an_earlier_reader_is_reported() {
    let scenario = Scenario::new(Operation::Adding, 1);
    let place = scenario.place();
    let reader = open(&place.path().join(DATABASE));
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    let output = scenario.command(place.path()).output().expect("run");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("x.db: in use by another program; wait until it has finished\n"), "{reported}");
    assert_eq!(number(&reader, GAMES), games);
    drop(reader);
    scenario.assert_untouched(place.path(), "read");
    scenario.complete(place.path(), "read no more");
}

/// A reader that stays until the end keeps the log in use, and sees the earlier state all the time. The next run
/// removes the log.
#[test]
fn a_reader_until_the_end() {
    let scenario = Scenario::new(Operation::Adding, 8);
    let place = scenario.place();
    let path = place.path().join(DATABASE);
    let process = start(&scenario, place.path());
    let reader = reader_during(place.path());
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    let output = process.wait_with_output().expect("the output");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(number(&reader, GAMES), games, "the reader sees the state before the run");
    let other = open(&path);
    assert_eq!(scenario.state(&other, "another reader"), State::After);
    assert_eq!(scenario.check(place.path(), "a copy"), State::After);
    drop((reader, other));
    scenario.complete(place.path(), "the next run");
    assert_eq!(lines(&open(&path), "PRAGMA journal_mode"), ["delete"]);
}

/// A reader sees one state or the other as a whole at any moment, and never the earlier state after the later one.
#[test]
fn readers_at_any_moment() {
    for way in [Operation::Overwriting, Operation::Adding] {
        let scenario = Scenario::new(way, 4);
        let place = scenario.place();
        let mut process = start(&scenario, place.path());
        let (mut before, mut after) = (0, 0);
        while process.try_wait().expect("a process").is_none() {
            let database = Database::open_read_only(&place.path().join(DATABASE)).expect("a database");
            match scenario.state(database.connection(), "while games are added") {
                State::Before if after == 0 => before += 1,
                State::Before => panic!("{way:?}: the earlier state after the later one"),
                State::After => after += 1,
            }
        }
        let output = process.wait_with_output().expect("the output");
        assert!(output.status.success(), "{way:?}: {}", text(&output));
        assert!(before > 0, "{way:?}");
        println!("{way:?}: {before} readers saw the state before the run, {after} the state after it");
        scenario.complete(place.path(), "once more");
    }
}

#[test]
fn readers_of_a_replaced_database_continue() {
    let scenario = Scenario::new(Operation::Overwriting, 4);
    let place = scenario.place();
    let path = place.path().join(DATABASE);
    let idle = open(&path);
    let reader = open(&path);
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    scenario.complete(place.path(), "read meanwhile");
    for reader in [&reader, &idle] {
        assert_eq!(number(reader, GAMES), games);
        assert_eq!(lines(reader, "PRAGMA integrity_check"), ["ok"]);
    }
    assert_eq!(scenario.state(&open(&path), "opened now"), State::After);
    drop((reader, idle));
    assert_eq!(names(place.path()), ["new.pgn", DATABASE]);
}
