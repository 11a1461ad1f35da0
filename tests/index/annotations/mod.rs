//! Annotations in PGN: read, stored, left out, removed.

mod damage;
pub(super) mod round_trip;

use std::fs;
use std::path::Path;

use pgndex::index::{Annotations, Duplicates, IndexOptions, OnProblem};

use crate::support::*;

/// Queries for all rows about moves, without the ids of the games.
const ROWS: [&str; 6] = [
    "SELECT ply, clock, elapsed, eval_cp, eval_mate, depth FROM move_eval ORDER BY game_id, ply",
    "SELECT line, ply, number, text FROM comment ORDER BY game_id, line, ply, number",
    "SELECT line, ply, nag FROM nag ORDER BY game_id, line, ply, nag",
    "SELECT line, ply, number, name, value FROM command ORDER BY game_id, line, ply, number",
    "SELECT line, parent_line, ply FROM variation ORDER BY game_id, line",
    "SELECT line, ply, key, halfmove_clock, move_code, fen FROM variation_move ORDER BY game_id, line, ply",
];

/// The rows of each table for a text.
fn rows(directory: &Path, text: &str, options: &IndexOptions) -> Vec<Vec<String>> {
    fs::write(directory.join("in.pgn"), text).expect("written");
    let target = directory.join("out.db");
    let options = IndexOptions { overwrite: true, ..options.clone() };
    run(&target, &[directory.join("in.pgn")], &options).expect("indexed");
    let database = open(&target);
    ROWS.iter().map(|query| lines(&database, query)).collect()
}

#[test]
fn a_skipped_game_leaves_no_rows() {
    let directory = directory();
    let once = rows(directory.path(), ANNOTATED, &options());
    assert!(once.iter().all(|rows| rows.len() > 3), "{once:?}");
    let broken = ANNOTATED
        .replace("40... Qc3+", "40... Qb1+ {[%clk 0:00:01] a} 41. Ke3 $3")
        .replace("1. e4!", "1. e5!");
    for (what, text, options) in [
        ("a duplicate", ANNOTATED.repeat(3), IndexOptions { duplicates: Duplicates::Skip, ..options() }),
        (
            "a problem",
            [&broken, ANNOTATED, &broken].concat(),
            IndexOptions { on_problem: OnProblem::Skip, ..options() },
        ),
    ] {
        assert_eq!(rows(directory.path(), &text, &options), once, "{what}");
    }
}

#[test]
fn only_the_chosen_annotations_are_stored() {
    let directory = directory();
    let with = |annotations| {
        let found = rows(directory.path(), ANNOTATED, &IndexOptions { annotations, ..options() });
        let counts = "SELECT eval_count, clock_count FROM game ORDER BY game_id";
        (found, lines(&open(&directory.path().join("out.db")), counts))
    };
    let (all, counts) = with(Annotations::All);
    assert_eq!(counts, ["7|4", "3|0"]);
    let (numbers, number_counts) = with(Annotations::Numbers);
    assert_eq!((&numbers[0], &number_counts), (&all[0], &counts));
    assert!(numbers[1..].iter().all(Vec::is_empty), "{numbers:?}");
    let (none, none_counts) = with(Annotations::None);
    assert!(none.iter().all(Vec::is_empty), "{none:?}");
    assert_eq!(none_counts, ["-|-", "-|-"]);
}

/// Clock times and evaluations belong to the moves that they follow in the text.
#[test]
fn numbers_are_stored_with_their_moves() {
    let directory = directory();
    let found = rows(directory.path(), ANNOTATED, &options());
    let expected = [
        "1|18000|-|35|-|-",
        "2|17950|-|20|-|22",
        "3|17800|155|-|4|-",
        "4|-|120|-|-3|30",
        "5|-|120|35|-|22",
        "6|-|50|-|5|30",
        "7|6000|301|-31|-|20",
        "1|-|10400|-800|-|20",
        "2|-|-|-|-3|20",
        "3|-|-|-|-2|18",
    ];
    assert_eq!(found[0], expected);
    // For each variation: its line, the line that it leaves, and the ply.
    let lines =
        ["1|0|0", "2|1|1", "3|2|2", "4|0|0", "5|0|2", "6|5|2", "7|0|2", "8|7|3", "9|8|3", "10|9|4", "11|0|3"];
    assert_eq!(found[4][..11], lines);
    assert_eq!(
        found[3],
        [
            "0|0|1|csl|Gd4",
            // Text that the program itself would not write in this form is kept as it is.
            "0|2|1|eval|0.2,22",
            "0|3|1|clk|0:02:57",
            "0|3|2|emt|1.549",
            "0|4|1|timestamp|12",
            "0|9|1|clk|9",
            "2|3|1|cal|Gc2c4,Rd4d5",
            "0|1|1|eval|800,20",
            "0|1|2|emt|00:01:44",
            "0|2|1|eval|-#3,20",
            "0|3|1|eval|#2,18",
            "1|0|1|eval|1.0"
        ]
    );
}
