//! Runs that get a signal to stop.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::scenario::{DATABASE, LAYOUTS, Operation, Scenario, State, spread, text, wait_for};

/// The time limit for a run to end after a signal, even on a busy machine. The exit status shows whether the run was
/// stopped or had finished.
const SOON: Duration = Duration::from_secs(20);

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

fn send(signal: &str, process: &Child) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).output();
    // The process may have ended already.
    sent.expect("the command kill");
}

/// Stops runs; each of them ends soon, reports that it was stopped, and leaves the files as they were.
fn stop(way: Operation, layout: &'static str, stops: u32, times: usize) {
    let scenario = Scenario::in_layout(way, times, layout);
    let duration = scenario.duration();
    let (mut stopped, mut done) = (0, 0);
    for ((signal, status), share) in [("-INT", 130), ("-TERM", 143)].into_iter().cycle().zip(spread(stops)) {
        let delay = duration.mul_f64(share);
        let what = format!("{way:?}, {signal} after {delay:?} of {duration:?}");
        let place = scenario.place();
        let process = start(&mut scenario.command(place.path()));
        // Once the lock file exists, the run handles signals.
        wait_for(&place.path().join(".x.db.pgndex-tmp.lock"));
        std::thread::sleep(delay);
        let signalled = Instant::now();
        send(signal, &process);
        let output = process.wait_with_output().expect("the output");
        assert!(signalled.elapsed() < SOON, "{what}: {:?}", signalled.elapsed());
        if output.status.success() {
            done += 1;
            scenario.assert_complete(place.path(), &what);
            continue;
        }
        stopped += 1;
        assert_eq!(output.status.code(), Some(status), "{what}: {}", text(&output));
        let reported = String::from_utf8_lossy(&output.stderr);
        let end = "pgndex: error: stopped before the end; nothing was written\n";
        assert!(reported.ends_with(end), "{what}: {reported}");
        assert_eq!(scenario.check(place.path(), &what), State::Before, "{what}");
        scenario.assert_untouched(place.path(), &what);
        scenario.complete(place.path(), &what);
    }
    println!("{way:?}: {stopped} runs were stopped, {done} had finished");
    assert!(stopped > 0, "no run was stopped before its end");
}

#[test]
fn at_a_few_moments() {
    for (way, layout) in
        [(Operation::Fresh, "open"), (Operation::Overwriting, "compact"), (Operation::Adding, "open")]
    {
        stop(way, layout, 2, 4);
    }
}

#[test]
#[ignore = "takes half a minute"]
fn at_many_moments() {
    for way in [Operation::Fresh, Operation::Overwriting, Operation::Adding] {
        LAYOUTS.into_iter().for_each(|layout| stop(way, layout, 12, 40));
    }
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    let scenario = Scenario::new(Operation::Adding, 1);
    let place = scenario.place();
    let other = Connection::open(place.path().join(DATABASE)).expect("a database");
    // The run waits for this lock for some seconds.
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let process = start(&mut scenario.command(place.path()));
    std::thread::sleep(Duration::from_millis(500));
    send("-INT", &process);
    std::thread::sleep(Duration::from_millis(200));
    let signalled = Instant::now();
    send("-INT", &process);
    let Output { status, .. } = process.wait_with_output().expect("the output");
    assert_eq!(status.code(), Some(130));
    assert!(signalled.elapsed() < Duration::from_secs(1), "{:?}", signalled.elapsed());
    drop(other);
    assert_eq!(scenario.check(place.path(), "ended"), State::Before);
    scenario.complete(place.path(), "ended");
}
