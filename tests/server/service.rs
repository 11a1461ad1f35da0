//! The unit for systemd in the documentation.

use std::fs;
use std::process::Command;

use crate::needs::has_program;
use crate::serving::{Serving, famous_games, index};

const DOCUMENT: &str = include_str!("../../docs/serve.md");

#[test]
fn the_unit_is_one_and_starts_the_server() {
    let unit = DOCUMENT.split("```ini\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a unit");
    assert_eq!(unit, include_str!("../../packaging/systemd/pgndex-serve.service"));
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let ["pgndex", "serve", database, options @ ..] = &command.split(' ').collect::<Vec<_>>()[..] else {
        panic!("another command: {command}")
    };
    let directory = tempfile::tempdir().expect("a directory");
    index(directory.path(), "games.db", &famous_games());
    assert!(database.ends_with("/games.db"), "{database}");
    let server = Serving::start(directory, &["games.db"], options);
    assert_eq!(server.request("GET", "/health", &[], "").status, 200);

    if !has_program("systemd-analyze") {
        return;
    }
    let unit = unit.replace("=pgndex serve", &format!("={} serve", env!("CARGO_BIN_EXE_pgndex")));
    fs::write(server.path("pgndex-serve.service"), unit).expect("written");
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "pgndex-serve.service"])
        .current_dir(server.directory.path())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("pgndex-serve.service"), "{said}");
}
