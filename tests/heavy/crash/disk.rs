//! A disk that fails at a certain change: `fault.c`, preloaded.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::scene::{Scene, State, Way, spread, text};
use crate::needs::skip;
use crate::support::directory;

/// What happens at the change.
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
    /// `None`, and a word why, where there is no C compiler or nothing can be preloaded.
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

    /// A run during which the disk fails at a change; 0: never.
    fn run(&self, scene: &Scene, place: &Path, fault: Fault, at: u64) -> Output {
        let mut command = scene.command(place);
        self.preload(&mut command, place, fault.name(), at);
        command.output().expect("run")
    }

    /// Has something happen to a process at a change that it makes below a place; 0: never.
    pub(super) fn preload(&self, command: &mut Command, place: &Path, kind: &str, at: u64) {
        command
            .env("LD_PRELOAD", self.path())
            .env("FAULT_BELOW", place.canonicalize().expect("a place"))
            .env("FAULT_KIND", kind)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_SEED", at.to_string())
            .env("FAULT_COUNT", self.count());
    }

    fn count(&self) -> PathBuf {
        self.directory.path().join("count")
    }

    /// How many changes the last process made that came to its end.
    pub(super) fn counted(&self) -> u64 {
        let count = std::fs::read_to_string(self.count()).expect("a count");
        count.trim().parse().expect("a number")
    }

    /// How many changes an undisturbed run makes.
    fn changes(&self, scene: &Scene) -> u64 {
        let place = scene.place();
        let output = self.run(scene, place.path(), Fault::Kill, 0);
        assert!(output.status.success(), "{}", text(&output));
        scene.assert_complete(place.path(), "undisturbed, counted");
        self.counted()
    }
}

/// Fails at the first changes, at the last, and at so many between.
fn fail(fault: Fault, points: u32, ends: u64) {
    let Some(library) = Library::new() else { return };
    for way in [Way::Fresh, Way::Overwriting, Way::Adding, Way::AddingToLevels, Way::Optimizing] {
        let scene = Scene::new(way, 2);
        let changes = library.changes(&scene);
        let between = spread(points).map(|share| 1 + (share * changes as f64) as u64);
        let (mut before, mut after) = (0, 0);
        for at in (1..=ends).chain(between).chain(changes.saturating_sub(ends) + 1..=changes) {
            let what = format!("{way:?}, {fault:?} at change {at} of {changes}");
            let place = scene.place();
            let output = library.run(&scene, place.path(), fault, at);
            let state = scene.check(place.path(), &what);
            match state {
                State::Before => before += 1,
                State::After => after += 1,
            }
            if fault == Fault::Full {
                check_full(&scene, place.path(), &output, state, &what);
            } else {
                // Threads need not make as many changes each time. Before a power failure ends the process it takes writes back, and a
                // thread that reads a file through a map can miss them.
                let is_late = output.status.success() && state == State::After;
                let signal = output.status.signal();
                let has_lost_map = fault == Fault::Power && signal == Some(libc::SIGBUS);
                assert!(
                    signal == Some(libc::SIGKILL) || has_lost_map || is_late,
                    "{what}: {}",
                    text(&output)
                );
            }
            scene.complete(place.path(), &what);
        }
        println!(
            "{way:?}, {fault:?} at changes of {changes}: {before} databases were as before, {after} complete"
        );
        assert!(before > 0);
    }
}

/// On a full disk the run says so and leaves nothing behind, unless all is done already but what makes the log go.
fn check_full(scene: &Scene, place: &Path, output: &Output, state: State, what: &str) {
    if output.status.success() {
        return assert_eq!(state, State::After, "{what}");
    }
    let told = text(output);
    assert_eq!(output.status.code(), Some(1), "{what}: {told}");
    assert!(told.contains("no space left") || told.contains("free some space"), "{what}: {told}");
    if state == State::Before {
        // Its contents are checked already. Even to end a write-ahead log needs some space: an empty one may stay.
        let log = place.join("x.db-wal");
        if std::fs::metadata(&log).is_ok_and(|log| log.len() == 0) {
            assert!(scene.way.has_log(), "{what}");
        } else {
            scene.assert_same_files(place, what);
        }
    }
}

#[test]
fn killed_at_a_change() {
    fail(Fault::Kill, 2, 1);
}

#[test]
fn a_power_failure() {
    fail(Fault::Power, 2, 1);
}

#[test]
fn full_from_a_change_on() {
    fail(Fault::Full, 1, 1);
}

#[test]
#[ignore = "takes half a minute"]
fn killed_at_many_changes() {
    fail(Fault::Kill, 10, 5);
}

#[test]
#[ignore = "takes half a minute"]
fn many_power_failures() {
    fail(Fault::Power, 15, 5);
}

#[test]
#[ignore = "takes half a minute"]
fn full_from_many_changes_on() {
    fail(Fault::Full, 10, 5);
}
