//! Damaged games compared with python-chess.
//!
//! Real games are damaged at random, in the same way every time, and read by us and by python-chess. A reading consists
//! of games, positions after each ply, results, and whether a move was lost. The script `mutated.py` reports for each
//! text whether the two readings are the same or, if not, which of its rules make them the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use pgndex::index::{Duplicates, IndexOptions, Progress, index};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::mutant::{Random, games, mutant};
use crate::needs::python_with_chess;

/// Checks only that the first mutants of [`agrees`] have no unexplained difference.
pub(crate) fn check_explained(texts: &[Vec<u8>], count: usize) {
    counts(texts, count);
}

/// Makes `count` mutants of the games in `texts` and compares the number in each class. With the environment variable
/// `PGNDEX_MUTANT_SEED` set, other mutants are made, and the test fails only if no rule explains a difference.
pub(crate) fn agrees(texts: &[Vec<u8>], count: usize, expected: &[(&str, usize)]) {
    if let Some(found) = counts(texts, count)
        && seed().is_none()
    {
        let found: Vec<(&str, usize)> = found.iter().map(|(class, count)| (class.as_str(), *count)).collect();
        assert_eq!(found, expected);
    }
}

fn seed() -> Option<u64> {
    std::env::var("PGNDEX_MUTANT_SEED").ok().map(|seed| seed.parse().unwrap())
}

/// The number of mutants in each class. Panics if no rule explains a difference.
fn counts(texts: &[Vec<u8>], count: usize) -> Option<BTreeMap<String, usize>> {
    let all: Vec<&[u8]> = texts.iter().flat_map(|text| games(text, 200)).collect();
    let mut random = Random(seed().unwrap_or(1));
    let mutants: Vec<Vec<u8>> = (0..count).map(|_| mutant(&mut random, &all)).collect();
    let classes = classes(&mutants)?;
    let unexplained: Vec<&String> = classes.iter().filter(|class| class.starts_with("unexplained")).collect();
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    let mut counts = BTreeMap::new();
    for class in classes {
        *counts.entry(class).or_default() += 1;
    }
    println!("{counts:#?}");
    Some(counts)
}

/// Compares the class of each text with the expected one.
pub(crate) fn check_classes(expected: &[(&str, &str)]) {
    let texts: Vec<Vec<u8>> = expected.iter().map(|(text, _)| text.as_bytes().to_vec()).collect();
    let Some(classes) = classes(&texts) else { return };
    let wrong: Vec<_> =
        expected.iter().zip(&classes).filter(|((_, expected), class)| expected != class).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The class of each mutant: `equal`, the names of the rules that explain the difference, or `unexplained` and the
/// difference. `None`, with a message, if python-chess is not available.
fn classes(mutants: &[Vec<u8>]) -> Option<Vec<String>> {
    let python = python_with_chess()?;
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mutants.jsonl");
    write(&table, mutants, &read(directory.path(), mutants));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index/truth/mutated.py");
    let output = Command::new(python)
        .arg(script)
        .stdin(File::open(&table).unwrap())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the script failed");
    let classes: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(classes.len(), mutants.len(), "every mutant has one class");
    Some(classes)
}

/// Our reading of each mutant: its games and its problems.
fn read(directory: &Path, mutants: &[Vec<u8>]) -> Vec<(Vec<Value>, Vec<Value>)> {
    let paths: Vec<_> = (0..mutants.len()).map(|number| directory.join(format!("{number}.pgn"))).collect();
    for (path, mutant) in paths.iter().zip(mutants) {
        std::fs::write(path, mutant).unwrap();
    }
    let target = directory.join("games.db");
    let options = IndexOptions { duplicates: Duplicates::Keep, ..IndexOptions::default() };
    index(&target, &paths, &options, &Progress::default()).unwrap();
    let database = Connection::open(&target).unwrap();
    let mut found = vec![(Vec::new(), Vec::new()); mutants.len()];
    let number =
        |path: String| Path::new(&path).file_stem().unwrap().to_str().unwrap().parse::<usize>().unwrap();
    let games = "SELECT s.path, g.byte_offset, g.byte_length, g.result, g.status,
               (SELECT group_concat(fen || ' ' || halfmove_clock, '|' ORDER BY ply) FROM game_position AS p WHERE p.game_id = g.game_id)
        FROM game AS g JOIN source AS s USING (source_id) ORDER BY g.game_id";
    let mut statement = database.prepare(games).unwrap();
    let mut rows = statement.query(()).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let fens: Option<String> = row.get(5).unwrap();
        let fens: Vec<&str> = fens.as_deref().map_or_else(Vec::new, |fens| fens.split('|').collect());
        let start: u32 = row.get(1).unwrap();
        let game = json!({
            "start": start,
            "end": start + row.get::<_, u32>(2).unwrap(),
            "result": row.get::<_, String>(3).unwrap(),
            "status": row.get::<_, String>(4).unwrap(),
            "fens": fens,
        });
        found[number(row.get(0).unwrap())].0.push(game);
    }
    let problems = "SELECT s.path, p.byte_offset, p.kind, p.token, p.ply
        FROM problem AS p JOIN source AS s USING (source_id) ORDER BY problem_id";
    let mut statement = database.prepare(problems).unwrap();
    let mut rows = statement.query(()).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let problem = json!({
            "at": row.get::<_, u32>(1).unwrap(),
            "kind": row.get::<_, String>(2).unwrap(),
            "token": row.get::<_, Option<String>>(3).unwrap(),
            "ply": row.get::<_, Option<u32>>(4).unwrap(),
        });
        found[number(row.get(0).unwrap())].1.push(problem);
    }
    found
}

/// Writes a line of JSON for each mutant. Each byte of the text is written as a character of Latin-1, so that offsets
/// are the same in both programs.
fn write(table: &Path, mutants: &[Vec<u8>], found: &[(Vec<Value>, Vec<Value>)]) {
    let mut table = BufWriter::new(File::create(table).unwrap());
    for (mutant, (games, problems)) in mutants.iter().zip(found) {
        let text: String = mutant.iter().map(|&byte| char::from(byte)).collect();
        writeln!(table, "{}", json!({ "text": text, "games": games, "problems": problems })).unwrap();
    }
    table.flush().unwrap();
}
