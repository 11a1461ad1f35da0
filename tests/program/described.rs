//! Positions by description, held against python-chess, which reads every game.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{part_of_corpus, python_that_runs};
use crate::place::Place;

/// Asks `count` questions of the first games of a collection.
fn agree(corpus: &str, bytes: usize, seed: u32, count: u32) {
    let Some(python) = python_that_runs("import chess") else { return };
    let Some(mut text) = part_of_corpus(corpus, bytes) else { return };
    // Without the last game, which may have been cut.
    let last = text.windows(8).rposition(|window| window == b"\n[Event ").expect("a game");
    text.truncate(last + 1);
    let place = Place::new();
    std::fs::write(place.path("games.pgn"), text).expect("written");
    place.printed(&["index", "--quiet", "--duplicates", "keep", "games.db", "games.pgn"]);
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/described.py"))
        .arg(env!("CARGO_BIN_EXE_pgndex"))
        .args([place.path("games.db"), place.path("games.pgn")])
        .args([seed.to_string(), count.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "the script failed");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let found =
        printed.strip_suffix(" games\n").and_then(|rest| rest.rsplit(' ').next()?.parse::<u32>().ok());
    // Of a collection of few long games, many questions fit none or one.
    assert!(found.is_some_and(|found| found > count / 2), "{printed}");
}

#[test]
fn some_descriptions() {
    agree("otb-40k", 40_000, 1, 60);
    agree("fics", 30_000, 2, 30);
}

#[test]
#[ignore = "takes a minute"]
fn many_descriptions() {
    for (seed, corpus) in (1..).zip(["otb-40k", "fics", "lichess-24k", "tcec-3k", "chess960-20k"]) {
        agree(corpus, 200_000, seed, 100);
    }
}
