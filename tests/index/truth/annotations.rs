//! The annotation tables, compared with what python-chess reads, if a Python with python-chess is available.

use std::path::Path;
use std::process::{Command, Stdio};

use super::corpus::Corpus;
use crate::needs::python_with_chess;

/// Asserts that the annotations of the first `most` bytes of a collection are those that python-chess reads, except for
/// differences that a rule explains, and that at least `games` games were compared.
pub(crate) fn agree(name: &str, most: usize, games: u64) {
    let Some(python) = python_with_chess() else { return };
    let Some(corpus) = Corpus::new(name, most) else { return };
    let output = Command::new(python)
        // No `.pyc` files in the project.
        .arg("-B")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index/truth/annotations.py"))
        .args([corpus.database.path().expect("a file"), corpus.pgn.to_str().expect("UTF-8")])
        .stderr(Stdio::piped())
        .output()
        .expect("the script runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let classes = String::from_utf8_lossy(&output.stderr);
    println!("{name}: {printed}{classes}");
    assert!(output.status.success(), "{name}: {printed}{classes}");
    let compared =
        printed.strip_suffix(" games, 0 unexplained\n").and_then(|number| number.parse::<u64>().ok());
    assert!(compared.is_some_and(|compared| compared >= games), "{name}: {printed}");
}
