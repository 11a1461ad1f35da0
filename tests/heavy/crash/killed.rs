//! Runs killed from outside.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::scenario::{DATABASE, LAYOUTS, Operation, Scenario, State, spread};
use crate::support::names;

/// Kills runs: the first half at moments spread over the whole run, the others towards its end.
fn kill(way: Operation, layout: &'static str, kills: u32, times: usize) {
    let scenario = Scenario::in_layout(way, times, layout);
    let duration = scenario.duration();
    let (mut before, mut after, mut killed, mut with_log) = (0, 0, 0, 0);
    // The speed of a shared machine varies. When a run ends before it is killed, the next runs are killed earlier.
    let mut pace = 1.0;
    for (index, share) in (0..kills).zip(spread(kills)) {
        let share = if index < kills.div_ceil(2) { share * 1.1 } else { 0.6 + share / 2.0 };
        let delay = duration.mul_f64(share * pace);
        let what = format!("{way:?}, {layout}, killed after {delay:?} of {duration:?}");
        let place = scenario.place();
        let is_killed = kill_after(&scenario, place.path(), delay);
        killed += u32::from(is_killed);
        if !is_killed && share < 1.0 {
            pace *= 0.95;
        }
        with_log += u32::from(names(place.path()).contains(&format!("{DATABASE}-wal")));
        match scenario.check(place.path(), &what) {
            State::Before => before += 1,
            State::After => after += 1,
        }
        scenario.complete(place.path(), &what);
    }
    println!(
        "{way:?}, {layout}: {kills} runs of {duration:?}, {killed} killed before their end; {with_log} left a write-ahead log; \
         then {before} databases were unchanged, {after} complete"
    );
    assert!(killed >= kills / 3 && before > 0, "too few runs were killed before their end");
}

/// Returns whether the run was killed before it had finished.
fn kill_after(scenario: &Scenario, place: &Path, delay: Duration) -> bool {
    let mut process =
        scenario.command(place).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
    std::thread::sleep(delay);
    process.kill().expect("killed");
    !process.wait().expect("an exit status").success()
}

#[test]
fn at_a_few_moments() {
    // The tests of `disk` kill the other operations, at changes to files.
    for (way, layout) in [(Operation::Adding, "open"), (Operation::Removing, "compact")] {
        kill(way, layout, 3, 2);
    }
}

/// Kills runs in both layouts.
fn kill_both(way: Operation, kills: u32, times: usize) {
    LAYOUTS.into_iter().for_each(|layout| kill(way, layout, kills, times));
}

#[test]
#[ignore = "takes a minute"]
fn many_times_while_building() {
    kill_both(Operation::Fresh, 20, 20);
    kill_both(Operation::Overwriting, 20, 20);
}

#[test]
#[ignore = "takes a minute"]
fn many_times_while_adding() {
    kill_both(Operation::Adding, 30, 20);
}

#[test]
#[ignore = "takes a minute"]
fn many_times_while_adding_to_levels() {
    kill_both(Operation::AddingToLevels, 20, 4);
    kill_both(Operation::Optimizing, 20, 4);
    kill(Operation::Converting, "open", 20, 20);
}

#[test]
#[ignore = "takes a minute"]
fn many_times_while_removing() {
    kill_both(Operation::Removing, 30, 20);
}
