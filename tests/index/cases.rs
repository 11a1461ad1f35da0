//! Inputs that real collections have and that are easily misread, each with the right answer and why it is right.

use rayon::prelude::*;

use super::annotations::round_trip::comes_back;
use crate::support::*;

/// Why the answer is right, the PGN, a query and its rows.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Checks all cases. Each database is sound, and its games, exported and indexed again, give equal rows.
fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases
        .par_iter()
        .filter_map(|&(why, pgn, query, expected)| {
            let indexed = Indexed::new(pgn);
            assert_sound(&indexed.database(), &indexed.summary);
            let found = lines(&indexed.open(), query);
            if found != expected {
                return Some(format!("{why}\n{pgn}\nexpected {expected:?}\nfound    {found:?}"));
            }
            comes_back(pgn.as_bytes(), &options()).map(|other| format!("{why}\n{pgn}\nexported: {other}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Result, plies, status, errors, warnings.
const ENDING: &str =
    "SELECT result, ply_count, status, (SELECT count(*) FROM problem WHERE severity = 'error'),
    (SELECT count(*) FROM problem WHERE severity = 'warning') FROM game";

#[test]
fn results() {
    check(&[
        (
            "both players lost without a move: chess has no result for that, and nothing is wrong with the text",
            "[White \"A\"]\n[Black \"B\"]\n[Result \"0-0\"]\n\n0-0\n",
            ENDING,
            &["*|0|ok|0|0"],
        ),
        ("the same with a colon", "[Event \"T\"]\n[Result \"0:0\"]\n\n0:0\n", ENDING, &["*|0|ok|0|0"]),
        ("the same in signs", "[Event \"T\"]\n[Result \"-:-\"]\n\n-:-\n", ENDING, &["*|0|ok|0|0"]),
        ("the same without a tag", "[Event \"T\"]\n\n0-0\n", ENDING, &["*|0|ok|0|0"]),
        (
            "the tag says that both lost, so the last word is the result, though White could castle",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        (
            "the same with a comment after it",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0 {both were late}\n\n[Event \"b\"]\n\n1. d4 *\n",
            "SELECT ply_count FROM game",
            &["6", "1"],
        ),
        (
            "White castles before both lose",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 0-0\n",
            ENDING,
            &["*|8|ok|0|0"],
        ),
        (
            "nobody can castle, so the last word is the result",
            "[Event \"T\"]\n\n1. e4 e5 0-0\n",
            ENDING,
            &["*|2|ok|0|0"],
        ),
        (
            "castling is the last move, as no tag says that both lost",
            "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0\n",
            "SELECT result, ply_count FROM game",
            &["1-0|7"],
        ),
        (
            "castling that is not legal is an error where the game goes on",
            "[Event \"T\"]\n\n1. e4 e5 2. 0-0 Nf6 *\n",
            "SELECT ply_count, status FROM game",
            &["2|truncated"],
        ),
        (
            "White lost, Black drew: that is no draw",
            "[White \"A\"]\n\n1. e4 e5 0-1/2\n",
            ENDING,
            &["*|2|ok|0|0"],
        ),
        ("Black lost, White drew", "[White \"A\"]\n\n1. e4 e5 1/2-0\n", ENDING, &["*|2|ok|0|0"]),
        ("the same in signs for halves", "[White \"A\"]\n\n1. e4 e5 0-\u{bd}\n", ENDING, &["*|2|ok|0|0"]),
        ("half a point each", "[Result \"0.5-0.5\"]\n\n1. e4 e5 0.5-0.5\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("with a decimal comma", "[Event \"T\"]\n\n1. e4 e5 0,5-0,5\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("with spaces", "[Result \"1 - 0\"]\n\n1. e4 e5 1 - 0\n", ENDING, &["1-0|2|ok|0|0"]),
        ("halves with spaces", "[Event \"T\"]\n\n1. e4 e5 1/2 - 1/2\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("signs with spaces", "[Event \"T\"]\n\n1. e4 e5 \u{bd} - \u{bd}\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("Black won, with spaces", "[Event \"T\"]\n\n1. e4 e5 0 - 1\n", ENDING, &["0-1|2|ok|0|0"]),
        ("with an underscore", "[Result \"1_0\"]\n\n1. e4 e5 1_0\n", ENDING, &["1-0|2|ok|0|0"]),
        ("a forfeit in signs", "[Result \"+:-\"]\n\n+:-\n", ENDING, &["1-0|0|ok|0|0"]),
        ("Black wins by forfeit", "[Result \"-:+\"]\n\n-:+\n", ENDING, &["0-1|0|ok|0|0"]),
        ("a forfeit with letters", "[Result \"1F-0F\"]\n\n1F-0F\n", ENDING, &["1-0|0|ok|0|0"]),
        ("with an em dash", "[Result \"1\u{2014}0\"]\n\n1. e4 1\u{2014}0\n", ENDING, &["1-0|1|ok|0|0"]),
        ("with a minus sign", "[Result \"0\u{2212}1\"]\n\n1. e4 0\u{2212}1\n", ENDING, &["0-1|1|ok|0|0"]),
        ("with a hyphen", "[Event \"T\"]\n\n1. e4 \u{bd}\u{2010}\u{bd}\n", ENDING, &["1/2-1/2|1|ok|0|0"]),
        (
            "only the tag says it",
            "[Result \"1-0 (time)\"]\n\n1. e4 e5 *\n",
            "SELECT result FROM game",
            &["1-0"],
        ),
        (
            "in words, in the tag",
            "[Result \"Draw\"]\n\n1. e4 e5 *\n",
            "SELECT result FROM game",
            &["1/2-1/2"],
        ),
        (
            "what the tag says is kept if PGN has another word for it",
            "[Result \"+/-\"]\n\n1. e4 1-0\n",
            "SELECT result, value FROM game JOIN tag USING (game_id) WHERE name = 'Result'",
            &["1-0|+/-"],
        ),
        (
            "an evaluation is no result",
            "[Event \"T\"]\n\n1. e4 +/- e5 +- 2. Nf3 -/+ Nc6 -+ 3. Bb5 = a6 1-0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "castling of move 1 is no result",
            "[FEN \"4k2r/5ppp/8/8/8/8/5PPP/4K2R w Kk - 0 1\"]\n\n1.0-0 0-0 1/2-1/2\n",
            ENDING,
            &["1/2-1/2|2|ok|0|0"],
        ),
        (
            "a tag that nobody can read is a warning; the moves end in a result",
            "[Result \"adjourned\"]\n\n1. e4 0-1\n",
            ENDING,
            &["0-1|1|ok|0|1"],
        ),
    ]);
}
