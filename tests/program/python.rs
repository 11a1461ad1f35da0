//! Answers compared with Python scripts that read the same games.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{part_of_corpus, python_with_chess};
use crate::workspace::Workspace;

/// The output of a script in this directory. Its arguments are the program, a database of the first games of a
/// collection, the PGN of these games, and `arguments`. `None` if there is no Python with python-chess, or no
/// collection.
#[track_caller]
pub(crate) fn printed_by(script: &str, corpus: &str, bytes: usize, arguments: &[&str]) -> Option<String> {
    let python = python_with_chess()?;
    let mut text = part_of_corpus(corpus, bytes)?;
    // Without the last game, which may be cut off.
    let last = text.windows(8).rposition(|window| window == b"\n[Event ").expect("a game");
    text.truncate(last + 1);
    let workspace = Workspace::new();
    std::fs::write(workspace.path("games.pgn"), text).expect("written");
    // With a low threshold, there are visited positions, and the sets of games are used too.
    let visited = ["--continuation-threshold", "8"];
    let index = ["index", "--quiet", "--duplicates", "keep", "games.db", "games.pgn"];
    workspace.stdout_of(&[index.as_slice(), &visited].concat());
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program").join(script))
        .arg(env!("CARGO_BIN_EXE_pgndex"))
        .args([workspace.path("games.db"), workspace.path("games.pgn")])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "the script failed");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}
