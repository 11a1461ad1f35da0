//! Others at the same database.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use pgndex::store::{Database, WriterLock};
use rusqlite::Connection;

use super::scene::{DATABASE, Scene, State, Way, text, wait_for};
use crate::support::{lines, names, number, open};

const GAMES: &str = "SELECT count(*) FROM game";

fn start(scene: &Scene, place: &Path) -> Child {
    let mut command = scene.command(place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

/// Opens a database as soon as games are being added to it.
fn reader_during(place: &Path) -> Connection {
    wait_for(&place.join("x.db-wal"));
    let reader = open(&place.join(DATABASE));
    reader.busy_timeout(Duration::from_secs(5)).expect("patience");
    reader
}

#[test]
fn a_second_writer_is_told_who_writes_since_when() {
    let scene = Scene::new(Way::Adding, 1);
    let place = scene.place();
    let lock = WriterLock::acquire(&place.path().join(DATABASE)).expect("the lock");
    let asked = Instant::now();
    let output = scene.command(place.path()).output().expect("run");
    assert!(asked.elapsed() < Duration::from_secs(2), "it waited");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let (before, rest) = told.split_once(" since ").expect("a time");
    assert!(before.ends_with(&format!("x.db: being written by process {}", std::process::id())), "{told}");
    let (since, rest) = rest.split_once(';').expect("what to do");
    assert_eq!(rest, " wait until it has finished\n");
    let age = format!("SELECT unixepoch('now') - unixepoch('{since}') BETWEEN 0 AND 60");
    assert_eq!(number(&open(&place.path().join(DATABASE)), &age), 1, "{told}");
    assert_eq!(output.status.code(), Some(4));
    drop(lock);
    scene.assert_untouched(place.path(), "busy");
    scene.complete(place.path(), "free again");
}

#[test]
fn of_many_writers_at_once_one_writes_at_a_time() {
    for way in [Way::Fresh, Way::Adding] {
        let scene = Scene::new(way, 4);
        let place = scene.place();
        let processes: Vec<Child> = (0..4).map(|_| start(&scene, place.path())).collect();
        let mut done = 0;
        for process in processes {
            let output = process.wait_with_output().expect("its end");
            let told = text(&output);
            done += u32::from(output.status.success());
            // Who has just begun has not said yet who it is.
            let is_refused = ["x.db: being written by process ", "x.db: in use by another program"]
                .iter()
                .any(|reason| told.contains(reason));
            assert!(output.status.success() || is_refused, "{told}");
        }
        assert!(done >= 1);
        scene.assert_complete(place.path(), "four at once");
    }
}

#[test]
fn a_lock_of_another_program_is_told() {
    let scene = Scene::new(Way::Adding, 1);
    for lock in ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE; UPDATE import SET games = games"] {
        let place = scene.place();
        let other = Connection::open(place.path().join(DATABASE)).expect("a database");
        other.execute_batch(lock).expect("a lock");
        let asked = Instant::now();
        let output = scene.command(place.path()).output().expect("run");
        assert!(asked.elapsed() < Duration::from_secs(10), "{lock}: {:?}", asked.elapsed());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("x.db: in use by another program; wait until it has finished\n"),
            "{lock}: {told}"
        );
        assert_eq!(output.status.code(), Some(4));
        drop(other);
        scene.assert_untouched(place.path(), lock);
        scene.complete(place.path(), lock);
    }
}

/// Reads that go on since before keep the write-ahead log from being begun.
#[test]
fn a_reader_since_before_is_told() {
    let scene = Scene::new(Way::Adding, 1);
    let place = scene.place();
    let reader = open(&place.path().join(DATABASE));
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    let output = scene.command(place.path()).output().expect("run");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("x.db: in use by another program; wait until it has finished\n"), "{told}");
    assert_eq!(number(&reader, GAMES), games);
    drop(reader);
    scene.assert_untouched(place.path(), "read");
    scene.complete(place.path(), "read no more");
}

/// A reader that stays until the end keeps the log from being given up; it sees what was there before all the time. Then the
/// next run gives the log up.
#[test]
fn a_reader_that_stays() {
    let scene = Scene::new(Way::Adding, 8);
    let place = scene.place();
    let path = place.path().join(DATABASE);
    let process = start(&scene, place.path());
    let reader = reader_during(place.path());
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    let output = process.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(number(&reader, GAMES), games, "it sees what was there before");
    let other = open(&path);
    assert_eq!(scene.state(&other, "another reader"), State::After);
    assert_eq!(scene.check(place.path(), "a copy"), State::After);
    drop((reader, other));
    scene.complete(place.path(), "the next run");
    assert_eq!(lines(&open(&path), "PRAGMA journal_mode"), ["delete"]);
}

/// Whoever reads at any moment sees one state or the other, whole, and the later one once it has seen it.
#[test]
fn readers_at_any_moment() {
    for way in [Way::Overwriting, Way::Adding] {
        let scene = Scene::new(way, 4);
        let place = scene.place();
        let mut process = start(&scene, place.path());
        let (mut before, mut after) = (0, 0);
        while process.try_wait().expect("a process").is_none() {
            let database = Database::open_read_only(&place.path().join(DATABASE)).expect("a database");
            match scene.state(database.connection(), "while games are added") {
                State::Before if after == 0 => before += 1,
                State::Before => panic!("{way:?}: back again"),
                State::After => after += 1,
            }
        }
        let output = process.wait_with_output().expect("its end");
        assert!(output.status.success(), "{way:?}: {}", text(&output));
        assert!(before > 0, "{way:?}");
        println!("{way:?}: read {before} times before and {after} times after");
        scene.complete(place.path(), "once more");
    }
}

#[test]
fn who_reads_a_database_that_is_replaced_goes_on() {
    let scene = Scene::new(Way::Overwriting, 4);
    let place = scene.place();
    let path = place.path().join(DATABASE);
    let idle = open(&path);
    let reader = open(&path);
    reader.execute_batch("BEGIN").expect("a transaction");
    let games = number(&reader, GAMES);
    scene.complete(place.path(), "read meanwhile");
    for reader in [&reader, &idle] {
        assert_eq!(number(reader, GAMES), games);
        assert_eq!(lines(reader, "PRAGMA integrity_check"), ["ok"]);
    }
    assert_eq!(scene.state(&open(&path), "opened now"), State::After);
    drop((reader, idle));
    assert_eq!(names(place.path()), ["new.pgn", DATABASE]);
}
