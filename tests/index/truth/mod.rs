//! Whole collections compared with python-chess, and databases compared with a replay of their own moves.
//!
//! The collections and the tables with the results of python-chess are not part of the project. They are read from the
//! folder `shared` next to the project's folder, or from the folder that the environment variable `PGNDEX_SHARED`
//! names, and decompressed by the program `zstd`. With `PGNDEX_TRUTH_LIST` set, all differences are listed by class
//! (`cargo test --test all index::truth -- --nocapture`).
//!
//! Damaged games are also made from the project's examples, so that some are always available; they need a Python with
//! python-chess.
//!
//! Every row of a table and every game of ours belongs to exactly one [`Class`]; each test names the expected numbers
//! of all classes. A row or game that no rule explains is printed and fails the test.

mod align;
mod annotations;
mod corpus;
mod facts;
mod mutant;
mod mutated;
mod python;
mod replay;
mod rules;

use std::path::Path;

use align::Class::{self, *};
use align::Tally;
use corpus::Corpus;

/// Compares a collection, or its beginning, with its table: the number of rows and games of each class.
fn agrees(corpus: &Corpus, expected: &[(Class, usize, usize)]) {
    let name = corpus.pgn.display();
    let tally = align::align(corpus);
    let found: Vec<_> = tally.counts.iter().map(|(&class, &(rows, games))| (class, rows, games)).collect();
    println!("{name}: {found:?}");
    let Tally { unexplained, .. } = tally;
    assert!(unexplained.is_empty(), "{name}: unexplained:\n{}", unexplained.join("\n"));
    let total = |count: fn(&(Class, usize, usize)) -> usize| found.iter().map(count).sum::<usize>();
    if !corpus.is_part {
        assert_eq!(total(|&(_, rows, _)| rows), corpus.rows.len(), "{name}: every row is counted once");
    }
    assert_eq!(total(|&(.., games)| games), corpus.compared().len(), "{name}: every game is counted once");
    assert_eq!(found, expected, "{name}");
}

/// The number of plies of a part that are compared with those of python-chess.
const PLIES: i64 = 1_200;

#[test]
fn otb_agrees_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("otb-40k", 2 << 20) else { return };
    agrees(&corpus, &[(Equal, 2_677, 2_677), (CutAtBlankLine, 4, 2)]);
    python::agrees(&corpus, PLIES);
    replay::is_consistent(&corpus);
}

#[test]
fn games_with_only_a_result_agree_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("result-only", 1 << 20) else { return };
    agrees(&corpus, &[(Equal, 12_697, 12_697)]);
}

#[test]
fn engine_games_agree_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("tcec-3k", 8 << 20) else { return };
    agrees(&corpus, &[(Equal, 216, 216)]);
}

#[test]
fn fics_agrees_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("fics", 1 << 20) else { return };
    agrees(&corpus, &[(Equal, 785, 785)]);
}

#[test]
fn lichess_agrees_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("lichess-24k", 4 << 20) else { return };
    agrees(&corpus, &[(Equal, 1_617, 1_617)]);
}

#[test]
fn annotated_games_agree_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("annotated_mixed", 4 << 20) else { return };
    agrees(
        &corpus,
        &[
            (Equal, 1_731, 1_731),
            (SpacedResult, 1, 1),
            (CutAtBlankLine, 8, 4),
            (LowerCaseCastling, 2, 2),
            (Junk, 1, 0),
            (Swallowed, 0, 2),
        ],
    );
    python::agrees(&corpus, PLIES);
}

#[test]
fn chess960_agrees_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("chess960-20k", 1 << 20) else { return };
    agrees(&corpus, &[(Equal, 5_183, 5_183)]);
    python::agrees(&corpus, PLIES);
    replay::is_consistent(&corpus);
}

#[test]
fn openings_agree_with_python_chess() {
    let Some(corpus) = Corpus::with_truth("openings-short", 2 << 20) else { return };
    agrees(&corpus, &[(Equal, 9_054, 9_054)]);
    python::agrees(&corpus, PLIES);
    replay::is_consistent(&corpus);
}

#[test]
#[ignore = "whole collections"]
fn whole_collections_agree_with_python_chess() {
    type Expected = &'static [(Class, usize, usize)];
    let lists: [(&str, Expected); 8] = [
        ("otb-40k", &[(Equal, 39_956, 39_956), (EqualButKey, 1, 1), (CutAtBlankLine, 86, 43)]),
        ("result-only", &[(Equal, 96_694, 96_694)]),
        ("tcec-3k", &[(Equal, 3_000, 3_000), (TagsLost, 1, 1)]),
        (
            "fics",
            &[
                (Equal, 7_930, 7_930),
                (EqualButKey, 1, 1),
                (CutAtBlankLine, 10, 5),
                (Junk, 1, 0),
                (UnreadableTags, 0, 2),
            ],
        ),
        ("lichess-24k", &[(Equal, 29_095, 29_095), (EqualButKey, 1, 1), (Variant, 9, 9)]),
        (
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
        ),
        ("chess960-20k", &[(Equal, 20_000, 20_000)]),
        ("openings-short", &[(Equal, 58_885, 58_885), (TagsLost, 1, 1), (CastlingOrder, 12_364, 12_364)]),
    ];
    for (name, expected) in lists {
        let Some(corpus) = Corpus::with_truth(name, usize::MAX) else { return };
        agrees(&corpus, expected);
        match name {
            "otb-40k" => python::agrees(&corpus, 50_000),
            "annotated_mixed" | "openings-short" | "chess960-20k" => python::agrees(&corpus, 20_000),
            _ => continue,
        }
        replay::is_consistent(&corpus);
    }
}

#[test]
fn columns_from_tags_agree_with_python_chess() {
    facts::agree("lichess-24k", 500_000, 650);
    facts::agree("fics", 250_000, 25);
}

#[test]
#[ignore = "whole collections"]
fn all_columns_from_tags_agree_with_python_chess() {
    facts::agree("lichess-24k", usize::MAX, 188_000);
    facts::agree("annotated_mixed", usize::MAX, 10);
    facts::agree("tcec-3k", usize::MAX, 10_000);
}

#[test]
fn annotations_agree_with_python_chess() {
    annotations::agree("annotated_mixed", 100_000, 20);
    annotations::agree("lichess-24k", 75_000, 10);
    annotations::agree("fics", 40_000, 12);
    annotations::agree("tcec-3k", 180_000, 2);
}

#[test]
#[ignore = "whole collections"]
fn all_annotations_agree_with_python_chess() {
    annotations::agree("annotated_mixed", usize::MAX, 9_000);
    annotations::agree("lichess-24k", usize::MAX, 29_000);
    annotations::agree("fics", usize::MAX, 7_900);
    annotations::agree("tcec-3k", usize::MAX, 3_000);
}

/// One example for each rule.
#[test]
fn each_rule_explains_an_example() {
    mutated::check_classes(&[
        ("[Event \"a\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n", "equal"),
        ("[Event \"a\"]\n\n1. e4 Qh9 Nf6 *\n", "unreadable"),
        ("[Event \"a\"]\n\n1. e4 e5 2. Ke3 Nc6 1-0\n", "after_an_error"),
        ("[Event \"a\"]\n\n1. e4 e5 2. Qh5 d6 3. Qxf7+ -- *\n", "null_in_check"),
        ("[Event \"a\"]\n\n1. e4 {e5 *\n\n[Event \"b\"]\n\n1. d4 *\n", "unclosed_comment"),
        ("[Event \"a\"]\n\n1. e4 (e5 2. Nf3 *\n", "unclosed_variation"),
        ("[Event \"a\"]\n\n1. e4\n\ne5 *\n", "blank_line"),
        ("[Event \"a\"]\n\n1. e4 e5 * 1. d4 *\n", "result_ends_game"),
        ("[Event \"a\"]\n\n1. e4 e5\n[Event \"b\"]\n1. d4 *\n", "tags_begin_game"),
        ("from a mail\n\n[Event \"a\"]\n\n1. e4 *\n", "outside_text"),
        ("[Event \"a\"]\n\n1. e4 *\n\n12 *\n", "only_signs"),
        ("[Event \"a\"]\nRound \"e4\"]\n[White \"b\"]\n\n1. e4 *\n", "damaged_tag"),
        ("[Event \"a\"]\n\n[1. e4 e5 *\n", "bracket"),
        ("[Event \"a\"]\n[Result \"1-0\n\n1. e4\n", "unclosed_tag"),
        ("[FEN \"4k3/8/8/8/8/8/8/22K3 w - - 0 1\"]\n\n1. Ke2 *\n", "fen_digits"),
        ("[Event \"a\"] [Result \"1-0\"]\n\n1. e4\n", "tags_on_a_line"),
        ("[Event \"a\"]\n\n1. e4 no--good e5 *\n", "unknown_word"),
        ("[Event \"a\"]\n\n1. e4Nf6 *\n", "glued"),
        ("[Event \"a\"]\n\n1e4 *\n", "glued_number"),
        ("[Event \"a\"]\n\n1. e4 1-02. e5 *\n", "glued_result"),
        ("[Event \"a\"]\n[Variant \"Chess96\"]\n\n1. e4 *\n", "unknown_variant"),
        ("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. o-o *\n", "castling"),
        ("[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. Kg1 *\n", "king_castles"),
        ("[Event \"a\"]\n\n1. e4 d5 2. e:d5 *\n", "colon"),
        ("[Event \"a\"]\n\n(1. d4) 1. e4 e5 *\n", "early_variation"),
        ("[Event \"a\"]\n\n1. e4 e5 1/2\n", "short_draw"),
    ]);
}

fn examples() -> [Vec<u8>; 2] {
    ["famous-games.pgn", "synthetic.pgn"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
        std::fs::read(path).unwrap()
    })
}

fn collections(most: usize) -> Option<Vec<Vec<u8>>> {
    let names = ["otb-40k", "annotated_mixed", "fics"];
    names.into_iter().map(|name| crate::needs::part_of_corpus(name, most)).collect()
}

#[test]
fn some_damaged_examples_agree_with_python_chess() {
    mutated::check_explained(&examples(), 80);
}

#[test]
fn some_damaged_games_agree_with_python_chess() {
    let Some(texts) = collections(2 << 20) else { return };
    mutated::check_explained(&texts, 80);
}

#[test]
#[ignore = "takes ten seconds"]
fn many_damaged_examples_agree_with_python_chess() {
    mutated::agrees(
        &examples(),
        1000,
        &[
            ("after_an_error", 7),
            ("after_an_error + only_signs", 1),
            ("after_an_error + result_ends_game", 19),
            ("after_an_error + result_ends_game + outside_text", 2),
            ("after_an_error + tags_begin_game", 13),
            ("blank_line", 25),
            ("blank_line + damaged_tag", 1),
            ("bracket", 1),
            ("castling", 1),
            ("damaged_tag", 1),
            ("equal", 776),
            ("glued", 5),
            ("glued_number", 1),
            ("null_in_check", 1),
            ("result_ends_game", 1),
            ("tags_begin_game", 1),
            ("tags_on_a_line", 14),
            ("unclosed_comment", 6),
            ("unclosed_variation", 12),
            ("unreadable", 95),
            ("unreadable + after_an_error + result_ends_game", 9),
            ("unreadable + after_an_error + tags_begin_game", 1),
            ("unreadable + result_ends_game", 3),
            ("unreadable + tags_on_a_line", 4),
        ],
    );
}

#[test]
#[ignore = "takes ten seconds"]
fn many_damaged_games_agree_with_python_chess() {
    let Some(texts) = collections(usize::MAX) else { return };
    mutated::agrees(
        &texts,
        1000,
        &[
            ("after_an_error", 14),
            ("after_an_error + only_signs", 1),
            ("after_an_error + result_ends_game", 15),
            ("after_an_error + result_ends_game + tags_begin_game", 1),
            ("after_an_error + tags_begin_game", 7),
            ("blank_line", 61),
            ("blank_line + result_ends_game", 1),
            ("damaged_tag", 1),
            ("equal", 764),
            ("glued", 4),
            ("glued_number", 2),
            ("result_ends_game", 4),
            ("result_ends_game + tags_on_a_line", 1),
            ("short_draw", 1),
            ("tags_begin_game", 1),
            ("tags_on_a_line", 6),
            ("tags_on_a_line + glued", 1),
            ("unclosed_comment", 7),
            ("unclosed_comment + blank_line", 1),
            ("unclosed_variation", 7),
            ("unreadable", 83),
            ("unreadable + after_an_error + result_ends_game", 8),
            ("unreadable + after_an_error + tags_begin_game", 2),
            ("unreadable + blank_line", 4),
            ("unreadable + tags_begin_game", 1),
            ("unreadable + tags_on_a_line", 2),
        ],
    );
}
