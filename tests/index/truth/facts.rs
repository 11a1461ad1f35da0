//! Columns of `game` that come from tags, compared with the tags as python-chess reads them, if a Python with
//! python-chess is available.

use std::path::Path;
use std::process::{Command, Stdio};

use super::corpus::Corpus;
use crate::needs::python_with_chess;

/// Asserts that the columns of `game` agree with the tags, for the games in the first `most` bytes of a collection. At
/// least `values` values must have been compared.
pub(crate) fn agree(name: &str, most: usize, values: u64) {
    let Some(python) = python_with_chess() else { return };
    let Some(corpus) = Corpus::new(name, most) else { return };
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index/truth/facts.py"))
        .args([corpus.database.path().expect("a file"), corpus.pgn.to_str().expect("UTF-8")])
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "{name}: the script failed");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    println!("{name}: {printed}");
    let compared = printed.strip_suffix(" values\n").and_then(|number| number.parse::<u64>().ok());
    assert!(compared.is_some_and(|compared| compared >= values), "{name}: {printed}");
}
