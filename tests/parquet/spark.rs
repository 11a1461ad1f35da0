//! Spark reads PGN files and converts them to Parquet files, with the Python packages of this repository.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{corpus, python_that_runs};
use crate::workspace::Workspace;

/// The text in thirty frames, as `pzstd` writes them.
fn in_frames(text: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    for piece in text.chunks(text.len().div_ceil(30)) {
        let frame = zstd::encode_all(piece, 3).expect("packed");
        archive.extend(b"\x50\x2a\x4d\x18\x04\0\0\0");
        archive.extend(u32::try_from(frame.len()).expect("a small frame").to_le_bytes());
        archive.extend(frame);
    }
    archive
}

/// Runs the parts of the script with these names, or all, with this many bytes of a collection. Returns the output.
fn run(parts: &[&str], length: usize) -> Option<String> {
    let python = python_that_runs("import pgndex.spark, pyspark, pyspark_pgndex")?;
    let mut text = corpus("lichess-24k")?;
    text.truncate(length);
    // Some games are repeated, so that there are duplicates.
    let some = memchr::memmem::rfind(&text[..300_000], b"\n\n[Event ").expect("a game") + 2;
    let again = text[..some].to_owned();
    text.truncate(text.trim_ascii_end().len());
    text.extend([b"\n\n", &again[..]].concat());
    let workspace = Workspace::new();
    fs::write(workspace.path("many.pgn.zst"), in_frames(&text)).expect("written");
    fs::write(workspace.path("single.pgn.zst"), zstd::encode_all(&text[..], 3).expect("packed"))
        .expect("written");
    fs::write(workspace.path("games.pgn"), text).expect("written");
    workspace.run(&["index", "--quiet", "--duplicates", "keep", "all.db", "games.pgn"]);
    workspace.run(&["index", "--quiet", "unique.db", "games.pgn"]);
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/spark.py"))
        .args([Path::new(env!("CARGO_BIN_EXE_pgndex")), workspace.path(".").as_path()])
        .args(parts)
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    print!("{printed}");
    assert!(output.status.success(), "the script failed");
    Some(printed)
}

#[test]
#[ignore = "needs Spark"]
fn reads_real_games() {
    let Some(printed) = run(&["data source"], 3 << 20) else { return };
    assert!(printed.contains("\ndata source: "), "{printed}");
}

#[test]
#[ignore = "needs Spark, and takes minutes"]
fn reads_and_indexes_real_games_by_all_methods() {
    let Some(printed) = run(&[], usize::MAX) else { return };
    assert!(printed.contains("\njobs: "), "{printed}");
}
