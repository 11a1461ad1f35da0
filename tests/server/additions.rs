//! Requests while games are added.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{corpus, python_with_chess};

/// Runs for a minute, or, with `ADDITIONS_SECONDS=3600`, for an hour.
#[test]
#[ignore = "a minute of requests"]
fn answers_show_one_state_while_games_are_added() {
    let (Some(python), Some(games)) = (python_with_chess(), corpus("otb-40k")) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let pgn = directory.path().join("games.pgn");
    std::fs::write(&pgn, games).expect("written");
    let seconds = std::env::var("ADDITIONS_SECONDS").unwrap_or_else(|_| "60".to_owned());
    let status = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/additions.py"))
        .args([Path::new(env!("CARGO_BIN_EXE_pgndex")), &pgn, directory.path()])
        .args([seconds.as_str(), "20", "100"])
        .stderr(Stdio::inherit())
        .status()
        .expect("the script runs");
    assert!(status.success());
}
