//! The views as other programs read them: pandas, polars, Datasette, DuckDB.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{python_with, shared};
use crate::workspace::Workspace;

/// Runs the script, which compares the rows with those of `sqlite3`. At least `least` rows must have been compared.
fn agree(workspace: &Workspace, database: &str, least: u64) {
    let Some(python) = python_with("datasette, duckdb, pandas, polars") else { return };
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/readers.py"))
        .arg(workspace.path(database))
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "the script failed");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let rows = printed.strip_suffix(" rows\n").and_then(|rows| rows.parse::<u64>().ok());
    assert!(rows.is_some_and(|rows| rows >= least), "{printed}");
}

#[test]
fn other_programs_read_the_same_rows() {
    let workspace = Workspace::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/annotated.pgn");
    workspace.stdout_of(&["index", "--quiet", "games.db", sample.to_str().expect("UTF-8")]);
    agree(&workspace, "games.db", 15_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn other_programs_read_the_same_rows_of_real_games() {
    for corpus in ["lichess-24k", "annotated_mixed", "fics", "tcec-3k"] {
        let Some(packed) = shared(&format!("corpora/{corpus}.pgn.zst")) else { return };
        let workspace = Workspace::new();
        let mut text = Vec::new();
        let mut unpacked =
            zstd::Decoder::new(std::fs::File::open(packed).expect("the corpus")).expect("a frame");
        unpacked.window_log_max(27).expect("a window");
        std::io::copy(&mut std::io::Read::take(unpacked, 1 << 20), &mut text).expect("text");
        std::fs::write(workspace.path("games.pgn"), text).expect("a file");
        workspace.run(&["index", "--quiet", "games.db", "games.pgn"]);
        agree(&workspace, "games.db", 1_000);
    }
}
