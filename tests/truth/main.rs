//! Whole collections against python-chess, and databases against a replay of their own moves.
//!
//! The collections and the tables of what python-chess makes of them are not part of the project. They are looked for in the
//! folder `shared` beside the project's, or in the one that the environment variable `PGNDEX_SHARED` names, and unpacked
//! with the program `zstd`. Without them the tests say that they are skipped, and pass. With `PGNDEX_TRUTH_LIST` set, whatever
//! is not equal is listed by class (`cargo test --test truth -- --nocapture`).
//!
//! Every row of a table and every game of ours ends in exactly one [`Class`]; each test tells how many of each there
//! are. Whatever no rule explains is printed and fails the test.

mod align;
mod corpus;
mod python;
mod replay;
mod rules;

use align::Class::{self, *};
use align::Tally;
use corpus::Corpus;

/// Compares a collection with its table: how many rows and games there are of each class.
fn agrees(name: &str, expected: &[(Class, usize, usize)]) {
    let Some(corpus) = Corpus::with_truth(name) else { return };
    let tally = align::align(&corpus);
    let found: Vec<_> = tally.counts.iter().map(|(&class, &(rows, games))| (class, rows, games)).collect();
    println!("{name}: {found:?}");
    let Tally { unexplained, .. } = tally;
    assert!(unexplained.is_empty(), "{name}: unexplained:\n{}", unexplained.join("\n"));
    let total = |count: fn(&(Class, usize, usize)) -> usize| found.iter().map(count).sum::<usize>();
    assert_eq!(total(|&(_, rows, _)| rows), corpus.rows.len(), "{name}: every row is counted once");
    assert_eq!(total(|&(.., games)| games), corpus.games.len(), "{name}: every game is counted once");
    assert_eq!(found, expected, "{name}");
}

#[test]
fn otb_agrees_with_python_chess() {
    agrees("otb-40k", &[(Equal, 39_956, 39_956), (EqualButKey, 1, 1), (CutAtBlankLine, 86, 43)]);
}

#[test]
fn games_with_nothing_but_a_result_agree_with_python_chess() {
    agrees("result-only", &[(Equal, 96_694, 96_694)]);
}

#[test]
fn engine_games_agree_with_python_chess() {
    agrees("tcec-3k", &[(Equal, 3_000, 3_000), (TagsLost, 1, 1)]);
}

#[test]
fn fics_agrees_with_python_chess() {
    agrees(
        "fics",
        &[
            (Equal, 7_930, 7_930),
            (EqualButKey, 1, 1),
            (CutAtBlankLine, 10, 5),
            (Junk, 1, 0),
            (UnreadableTags, 0, 2),
        ],
    );
}

#[test]
fn lichess_agrees_with_python_chess() {
    agrees("lichess-24k", &[(Equal, 29_095, 29_095), (EqualButKey, 1, 1), (Variant, 9, 9)]);
}

#[test]
fn annotated_games_agree_with_python_chess() {
    agrees(
        "annotated_mixed",
        &[
            (Equal, 9_304, 9_304),
            (TagsOnALine, 1, 1),
            (SpacedResult, 1, 1),
            (CutAtBlankLine, 26, 13),
            (Variant, 13, 13),
            (LowerCaseCastling, 2, 2),
            (Junk, 2, 0),
            (Swallowed, 0, 2),
            (UnreadableTags, 0, 2),
            (OnlyTags, 0, 1),
        ],
    );
}

#[test]
fn chess960_agrees_with_python_chess() {
    agrees("chess960-20k", &[(Equal, 20_000, 20_000)]);
}

#[test]
fn openings_agree_with_python_chess() {
    agrees("openings-short", &[(Equal, 58_885, 58_885), (TagsLost, 1, 1), (CastlingOrder, 12_364, 12_364)]);
}

#[test]
fn otb_plies_agree_with_python_chess() {
    python::agrees("otb-40k", 50_000);
}

#[test]
fn annotated_plies_agree_with_python_chess() {
    python::agrees("annotated_mixed", 20_000);
}

#[test]
fn opening_plies_agree_with_python_chess() {
    python::agrees("openings-short", 20_000);
}

#[test]
fn chess960_plies_agree_with_python_chess() {
    python::agrees("chess960-20k", 20_000);
}

#[test]
fn otb_database_is_a_replay_of_its_moves() {
    replay::is_consistent("otb-40k");
}

#[test]
fn chess960_database_is_a_replay_of_its_moves() {
    replay::is_consistent("chess960-20k");
}

#[test]
fn openings_database_is_a_replay_of_its_moves() {
    replay::is_consistent("openings-short");
}
