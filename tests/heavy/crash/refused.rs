//! Additions for which the system refuses to write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use super::scenario::{DATABASE, Operation, Scenario, State, text};
use crate::command::bound_by_modes;
use crate::support::{Mount, directory};

/// Asserts that a run that could not write everything reported a reason and left the files as they were.
fn assert_full(scenario: &Scenario, place: &Path, output: &Output, reasons: &[&str], what: &str) {
    let reported = text(output);
    assert_eq!(output.status.code(), Some(1), "{what}: {reported}");
    assert!(reasons.iter().any(|reason| reported.contains(reason)), "{what}: {reported}");
    assert_eq!(scenario.check(place, what), State::Before, "{what}");
    scenario.assert_untouched(place, what);
}

/// Tries limits on the file size: each, or every second one, and so on.
fn limit_files(every: usize) {
    let scenario = Scenario::new(Operation::Adding, 2);
    let [before, after] = scenario.sizes().map(|bytes| bytes / 1024);
    let grown = after - before;
    let limits = [0, 1, 40, before / 2, before - 1, before + 1, before + grown / 3, before + grown / 2]
        .into_iter()
        .chain((0..6).map(|step| after - grown / 16 * step))
        .chain([after + grown / 2])
        .step_by(every);
    let tried = limits.clone().count();
    let (mut failed, mut done) = (0, 0);
    for limit in limits {
        let what = format!("{limit} KiB, of {before} to {after}");
        let place = scenario.place();
        let command = scenario.command(place.path());
        let output = Command::new("bash")
            .args(["-c", &format!("ulimit -f {limit} && exec \"$0\" \"$@\"")])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(place.path())
            .output()
            .expect("run");
        if output.status.success() {
            done += 1;
            assert_eq!(scenario.check(place.path(), &what), State::After, "{what}");
        } else {
            failed += 1;
            let reasons = ["a file of this size is not allowed here", "no space left"];
            assert_full(&scenario, place.path(), &output, &reasons, &what);
        }
        scenario.complete(place.path(), &what);
    }
    assert!(failed > tried / 3 && done > 0, "{failed} runs failed, {done} succeeded");
}

#[test]
fn a_limit_on_the_size_of_files() {
    limit_files(2);
}

#[test]
#[ignore = "takes half a minute"]
fn many_limits_on_the_size_of_files() {
    limit_files(1);
}

/// Tries disks with different amounts of free space: each size, or every second one, and so on.
fn fill_disks(every: usize) {
    let scenario = Scenario::new(Operation::Adding, 2);
    let [before, after] = scenario.sizes();
    let (mut failed, mut done) = (0, 0);
    for step in (0..10).step_by(every) {
        let place = directory();
        // The disk also holds the log and the source.
        let size = before + (after - before) * step / 5 + (256 << 10);
        let what = format!("a disk of {size} bytes, {before} to {after} of them for the database");
        let Some(disk) = Mount::new(place.path().join("disk"), &size.to_string()) else { return };
        scenario.set(&disk.0);
        let output = scenario.command(&disk.0).output().expect("run");
        println!("{what}: {}", text(&output));
        if output.status.success() {
            done += 1;
            assert_eq!(scenario.check(&disk.0, &what), State::After, "{what}");
        } else {
            failed += 1;
            assert_full(&scenario, &disk.0, &output, &["no space left", "free some"], &what);
        }
        let larger = Command::new("mount").args(["-o", "remount,size=100%"]).arg(&disk.0).status();
        assert!(larger.expect("the command mount").success());
        scenario.complete(&disk.0, &what);
    }
    assert!(failed > 1 && done > 0, "{failed} runs failed, {done} succeeded");
}

#[test]
fn a_full_disk() {
    fill_disks(3);
}

#[test]
#[ignore = "takes half a minute"]
fn many_full_disks() {
    fill_disks(1);
}

#[test]
fn missing_permissions() {
    let scenario = Scenario::new(Operation::Adding, 1);
    let place = scenario.place();
    let set = |directory: u32, file: u32| {
        for (path, mode) in [(place.path().to_owned(), directory), (place.path().join(DATABASE), file)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
        }
    };
    let command = || bound_by_modes(&scenario.command(place.path()));
    set(0o777, 0o666);
    fs::set_permissions(place.path().join("new.pgn"), fs::Permissions::from_mode(0o644))
        .expect("permissions");
    for (directory, file, expected) in [
        (
            0o555,
            0o444,
            "cannot write into this directory; check its permissions, or choose another directory",
        ),
        (
            0o555,
            0o666,
            "cannot write into this directory; check its permissions, or choose another directory",
        ),
        (0o777, 0o444, "x.db: no permission to write this file; change its permissions, or use a copy"),
    ] {
        let what = format!("{directory:o}, {file:o}");
        set(directory, file);
        let Some(mut command) = command() else { return };
        let output = command.output().expect("run");
        set(0o777, 0o666);
        assert_eq!(output.status.code(), Some(1), "{what}: {}", text(&output));
        assert!(text(&output).contains(expected), "{what}: {}", text(&output));
        scenario.assert_untouched(place.path(), &what);
    }
    let output = command().expect("a command").output().expect("run");
    assert!(output.status.success(), "{}", text(&output));
    scenario.assert_complete(place.path(), "allowed");
}

#[test]
fn a_read_only_disk() {
    let scenario = Scenario::new(Operation::Adding, 1);
    let place = directory();
    let Some(disk) = Mount::new(place.path().join("disk"), "64m") else { return };
    scenario.set(&disk.0);
    let mount = |option: &str| {
        let mounted = Command::new("mount").args(["-o", &format!("remount,{option}")]).arg(&disk.0).status();
        assert!(mounted.expect("the command mount").success());
    };
    mount("ro");
    let output = scenario.command(&disk.0).output().expect("run");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("cannot write into this directory"), "{}", text(&output));
    scenario.assert_untouched(&disk.0, "read only");
    mount("rw");
    scenario.complete(&disk.0, "no longer");
}
