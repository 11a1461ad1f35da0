//! Tests for which a program is missing are skipped, except in CI.

#![cfg(target_os = "linux")]

use std::process::{Command, Output};

use crate::needs::{is_ci, skip};

/// Tests that need other programs.
const TESTS: [&str; 2] = [
    "program::hostile::names_from_files_cannot_control_a_terminal",
    "program::sql::formats::output_agrees_with_the_sqlite3_shell",
];

/// Runs a test with an empty `PATH`, so that no other program is found.
fn run(test: &str, ci: Option<&str>) -> (bool, String) {
    let workspace = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(std::env::current_exe().expect("the test program"));
    command.args(["--exact", "--nocapture", test]).env("PATH", workspace.path()).env_remove("CI");
    let Output { status, stdout, stderr } =
        command.envs(ci.map(|ci| ("CI", ci))).output().expect("the test runs");
    (status.success(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

#[test]
fn tests_with_a_missing_program_fail_only_in_ci() {
    for test in TESTS {
        let (is_passed, reported) = run(test, None);
        assert!(is_passed && reported.contains("1 passed"), "{test}: {reported}");
        assert!(reported.contains("skipped: there is no program "), "{test}: {reported}");
        let (is_passed, reported) = run(test, Some("true"));
        assert!(!is_passed, "{test}: {reported}");
        assert!(
            reported.contains("CI is set, and a test cannot be run: there is no program "),
            "{test}: {reported}"
        );
    }
}

#[test]
fn ci_is_detected_by_its_variable() {
    for (value, expected) in [(None, false), (Some(""), false), (Some("false"), false), (Some("0"), false)]
        .into_iter()
        .chain([(Some("true"), true), (Some("1"), true)])
    {
        assert_eq!(is_ci(value), expected, "{value:?}");
    }
    if !is_ci(std::env::var("CI").ok().as_deref()) {
        skip("an example of a skipped test");
    }
}
