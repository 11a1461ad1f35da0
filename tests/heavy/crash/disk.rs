//! A disk that fails at a certain change. The library `fault.c` is preloaded.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::scenario::{LAYOUTS, Operation, Scenario, State, spread, text};
use crate::needs::skip;
use crate::support::directory;

/// What happens at the change: the process is killed, the power fails, or the disk is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Kill,
    Power,
    Full,
}

impl Fault {
    const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Power => "power",
            Self::Full => "full",
        }
    }
}

/// The library that makes the disk fail.
pub(super) struct Library {
    directory: TempDir,
}

impl Library {
    /// `None`, with a message, if there is no C compiler or nothing can be preloaded.
    pub(super) fn new() -> Option<Self> {
        let library = Self { directory: directory() };
        if !cfg!(target_os = "linux") {
            println!("a failing disk is simulated on Linux only");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heavy/crash/fault.c");
        let compiled = Command::new("cc")
            .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"])
            .args([&library.path(), &source])
            .args(["-ldl", "-lpthread"])
            .output();
        let Ok(compiled) = compiled else {
            skip("there is no C compiler");
            return None;
        };
        assert!(compiled.status.success(), "{}", text(&compiled));
        Some(library)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("fault.so")
    }

    /// A run during which the disk fails at change number `at`; 0 means never.
    fn run(&self, scenario: &Scenario, place: &Path, fault: Fault, at: u64) -> Output {
        let mut command = scenario.command(place);
        self.preload(&mut command, place, fault.name(), at);
        command.output().expect("run")
    }

    /// Makes a command simulate a fault at its `at`th change to a file below a directory; 0 means never.
    pub(super) fn preload(&self, command: &mut Command, place: &Path, kind: &str, at: u64) {
        command
            .env("LD_PRELOAD", self.path())
            .env("FAULT_BELOW", place.canonicalize().expect("a directory"))
            .env("FAULT_KIND", kind)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_SEED", at.to_string())
            .env("FAULT_COUNT", self.count());
    }

    fn count(&self) -> PathBuf {
        self.directory.path().join("count")
    }

    /// The number of changes of the last process that was not killed.
    pub(super) fn counted(&self) -> u64 {
        let count = std::fs::read_to_string(self.count()).expect("a count");
        count.trim().parse().expect("a number")
    }

    /// The number of changes of an undisturbed run.
    fn changes(&self, scenario: &Scenario) -> u64 {
        let place = scenario.place();
        let output = self.run(scenario, place.path(), Fault::Kill, 0);
        assert!(output.status.success(), "{}", text(&output));
        scenario.assert_complete(place.path(), "undisturbed, counted");
        self.counted()
    }
}

/// For each fault: the number of first changes at which it is tested, which is also the number of last changes; and the
/// number of changes in between.
type Points = [(Fault, u64, u32); 3];
const FEW: Points = [(Fault::Kill, 1, 1), (Fault::Power, 1, 1), (Fault::Full, 1, 1)];
const MANY: Points = [(Fault::Kill, 5, 10), (Fault::Power, 5, 15), (Fault::Full, 5, 10)];

fn fail(ways: &[Operation], points: &Points) {
    let Some(library) = Library::new() else { return };
    for (&way, layout) in ways.iter().flat_map(|way| LAYOUTS.map(|layout| (way, layout))) {
        if (way, layout) == (Operation::Converting, "compact") {
            continue; // It begins with the open layout.
        }
        let scenario = Scenario::in_layout(way, 2, layout);
        let changes = library.changes(&scenario);
        for &(fault, ends, between) in points {
            let between = spread(between).map(|share| 1 + (share * changes as f64) as u64);
            let (mut before, mut after) = (0, 0);
            for at in (1..=ends).chain(between).chain(changes.saturating_sub(ends) + 1..=changes) {
                match fail_at(&library, &scenario, fault, at, changes) {
                    State::Before => before += 1,
                    State::After => after += 1,
                }
            }
            println!(
                "{way:?}, {layout}, {fault:?} at changes of {changes}: {before} databases unchanged, {after} complete"
            );
            assert!(before > 0);
        }
    }
}

/// Simulates a fault at one change, and returns which state the database has afterwards.
fn fail_at(library: &Library, scenario: &Scenario, fault: Fault, at: u64, changes: u64) -> State {
    let what = format!("{:?}, {fault:?} at change {at} of {changes}", scenario.way);
    let place = scenario.place();
    let output = library.run(scenario, place.path(), fault, at);
    let state = scenario.check(place.path(), &what);
    if fault == Fault::Full {
        check_full(scenario, place.path(), &output, state, &what);
    } else {
        // The number of changes depends on the threads, so a run can end before change `at`. A simulated power failure
        // first reverts writes that were not synced, and then ends the process. In between, a thread that reads a
        // mapped file may fail with SIGBUS.
        let is_late = output.status.success() && state == State::After;
        let signal = output.status.signal();
        let has_lost_map = fault == Fault::Power && signal == Some(libc::SIGBUS);
        assert!(signal == Some(libc::SIGKILL) || has_lost_map || is_late, "{what}: {}", text(&output));
    }
    scenario.complete(place.path(), &what);
    state
}

/// Asserts that a run on a full disk succeeded or reported the reason. If the database is unchanged, no files are left
/// behind, except perhaps an empty log.
fn check_full(scenario: &Scenario, place: &Path, output: &Output, state: State, what: &str) {
    if output.status.success() {
        return assert_eq!(state, State::After, "{what}");
    }
    let reported = text(output);
    assert_eq!(output.status.code(), Some(1), "{what}: {reported}");
    assert!(reported.contains("no space left") || reported.contains("free some space"), "{what}: {reported}");
    if state == State::Before {
        // The contents have been checked already. Even closing a write-ahead log needs some space, so an empty log may
        // remain.
        let log = place.join("x.db-wal");
        if std::fs::metadata(&log).is_ok_and(|log| log.len() == 0) {
            assert!(scenario.way.has_log(), "{what}");
        } else {
            scenario.assert_same_files(place, what);
        }
    }
}

const BUILDING: &[Operation] = &[Operation::Fresh, Operation::Overwriting];
const ADDING: &[Operation] = &[Operation::Adding, Operation::AddingToLevels];
const OPTIMIZING: &[Operation] = &[Operation::Optimizing, Operation::Converting];

#[test]
fn building() {
    fail(BUILDING, &FEW);
}

#[test]
fn adding() {
    fail(ADDING, &FEW);
}

#[test]
fn optimizing() {
    fail(OPTIMIZING, &FEW);
}

#[test]
#[ignore = "takes half a minute"]
fn building_with_many_faults() {
    fail(BUILDING, &MANY);
}

#[test]
#[ignore = "takes half a minute"]
fn adding_with_many_faults() {
    fail(ADDING, &MANY);
}

#[test]
#[ignore = "takes half a minute"]
fn optimizing_with_many_faults() {
    fail(OPTIMIZING, &MANY);
}
