//! Parquet files as other programs' engines read them: the same counts, sums of keys, FENs and look-ups as in SQLite.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{corpus, python_with};
use crate::support::synthetic;
use crate::workspace::{CLUB, ENDINGS, Workspace};

/// Engines that are fast to install and to start.
const QUICK: [&str; 4] = ["duckdb", "clickhouse", "polars", "pyarrow"];

/// Compares what the engines read with SQLite. Returns the lines that the script prints.
fn agree(games: Vec<u8>, modules: &str, engines: &[&str]) -> Option<Vec<String>> {
    let python = python_with(modules)?;
    let workspace = Workspace::in_memory().with("games.pgn", games).with("odd.pgn", [CLUB, ENDINGS].concat());
    let annotated = format!("{}/examples/annotated.pgn", env!("CARGO_MANIFEST_DIR"));
    let inputs = ["games.pgn", "odd.pgn", &annotated];
    workspace.run(&[&["index", "--quiet", "games.db"], &inputs[..]].concat());
    workspace.run(&[&["index", "--quiet", "--parquet", "tables"], &inputs[..]].concat());
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/engines.py"))
        .args([workspace.path("tables"), workspace.path("games.db")])
        .args(engines)
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "the script failed after: {printed}");
    print!("{printed}");
    Some(printed.lines().map(str::to_owned).collect())
}

// The other engines run the examples on the page about Parquet.
#[test]
fn duckdb_reads_the_rows_of_a_database() {
    let Some(lines) = agree(synthetic(100).to_vec(), "duckdb", &["duckdb"]) else { return };
    assert_eq!(lines.len(), 1);
}

#[test]
#[ignore = "takes half a minute"]
fn engines_read_the_rows_of_real_games() {
    let Some(games) = corpus("lichess-24k") else { return };
    let Some(lines) = agree(games, "chdb, duckdb, polars, pyarrow", &QUICK) else { return };
    assert_eq!(lines.len(), QUICK.len());
}

#[test]
#[ignore = "needs Spark"]
fn spark_reads_the_rows_of_real_games_with_and_without_its_vectorised_reader() {
    let Some(games) = corpus("lichess-24k") else { return };
    let Some(lines) = agree(games, "pyspark", &["spark"]) else { return };
    assert!(lines.iter().any(|line| line.starts_with("SparkByRow ")), "{lines:?}");
}
