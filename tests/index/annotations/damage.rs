//! Damage of the annotation tables is found and located; databases that store only some annotations are sound.

use std::fs;

use pgndex::index::{Annotations, IndexOptions, Progress, index};
use pgndex::verify::Sample;

use crate::index::verify::{Workspace, check_damage, sound};
use crate::support::*;

/// SQL that damages the database of [`ANNOTATED`], and the findings that it must cause.
const DAMAGE: &[(&str, &[&str])] = &[
    (
        "UPDATE move_eval SET clock = 1 WHERE game_id = 1 AND ply = 1",
        &["source-text move_eval game_id 1, ply 1: clock is 1, expected 18000"],
    ),
    (
        "UPDATE move_eval SET elapsed = NULL WHERE game_id = 1 AND ply = 3",
        &["source-text move_eval game_id 1, ply 3: elapsed is NULL, expected 155"],
    ),
    (
        "UPDATE move_eval SET eval_cp = -eval_cp, depth = 7 WHERE game_id = 1 AND ply = 2",
        &[
            "source-text move_eval game_id 1, ply 2: depth is 7, expected 22",
            "source-text move_eval game_id 1, ply 2: eval_cp is -20, expected 20",
        ],
    ),
    (
        "UPDATE move_eval SET eval_mate = 9 WHERE game_id = 2 AND ply = 2",
        &["source-text move_eval game_id 2, ply 2: eval_mate is 9, expected -3"],
    ),
    (
        "DELETE FROM move_eval WHERE game_id = 1 AND ply = 4",
        &[
            "source-text move_eval game_id 1, ply 4: ",
            "wrong-count game game_id 1: eval_count is 7, expected the number of evaluations of the game in move_eval",
        ],
    ),
    (
        "INSERT INTO move_eval VALUES (2, 4, 100, NULL, NULL, NULL, NULL)",
        &[
            "source-text move_eval game_id 2, ply 4: clock is 100, expected no such move_eval",
            "wrong-count game game_id 2: clock_count is 0, expected the number of clock values of the game in move_eval",
        ],
    ),
    (
        "UPDATE game SET eval_count = 1 WHERE game_id = 1",
        &[
            "source-text game game_id 1: eval_count is 1, expected 7",
            "wrong-count game game_id 1: eval_count is 1, expected the number of evaluations of the game in move_eval",
        ],
    ),
    (
        "UPDATE game SET clock_count = 1 WHERE game_id = 2",
        &[
            "source-text game game_id 2: clock_count is 1, expected 0",
            "wrong-count game game_id 2: clock_count is 1, expected the number of clock values of the game in move_eval",
        ],
    ),
    (
        "UPDATE comment SET text = 'x' WHERE game_id = 1 AND line = 2",
        &["source-text comment game_id 1, line 2, ply 3, number 1: text is x, expected Indian"],
    ),
    (
        "DELETE FROM comment WHERE game_id = 1 AND line = 0 AND ply = 2 AND number = 2",
        &["source-text comment game_id 1, line 0, ply 2, number 2: text is NULL, expected a third"],
    ),
    (
        "INSERT INTO comment VALUES (2, 0, 5, 1, 'more')",
        &["source-text comment game_id 2, line 0, ply 5, number 1: text is more, expected no such comment"],
    ),
    (
        "UPDATE nag SET nag = 2 WHERE game_id = 1 AND ply = 1 AND line = 0",
        &[
            "source-text nag game_id 1, line 0, ply 1, nag 1: nag is NULL, expected 1",
            "source-text nag game_id 1, line 0, ply 1, nag 2: nag is 2, expected no such nag",
        ],
    ),
    (
        "DELETE FROM nag WHERE game_id = 1 AND line = 1",
        &["source-text nag game_id 1, line 1, ply 1, nag 1: nag is NULL, expected 1"],
    ),
    (
        "INSERT INTO nag VALUES (2, 1, 1, 7)",
        &["source-text nag game_id 2, line 1, ply 1, nag 7: nag is 7, expected no such nag"],
    ),
    (
        "UPDATE command SET value = 'Ga1' WHERE game_id = 1 AND line = 2",
        &["source-text command game_id 1, line 2, ply 3, number 1: value is Ga1, expected Gc2c4,Rd4d5"],
    ),
    (
        "DELETE FROM command WHERE game_id = 1 AND ply = 0",
        &[
            "source-text command game_id 1, line 0, ply 0, number 1: name is NULL, expected csl",
            "source-text command game_id 1, line 0, ply 0, number 1: value is NULL, expected Gd4",
        ],
    ),
    (
        "INSERT INTO command VALUES (1, 0, 0, 2, 'cal', '')",
        &["source-text command game_id 1, line 0, ply 0, number 2: name is cal, expected no such command"],
    ),
    (
        "UPDATE variation SET parent_line = 0 WHERE game_id = 1 AND line = 3",
        &[
            "source-text variation game_id 1, line 3: parent_line is 0, expected 2",
            "wrong-value variation_move game_id 1, line 3, ply 3: fen is rnbqkb1r/pppppppp/5n2/8/3P4/5N2/PPP1PPPP/RNBQKB1R b KQkq -, expected ",
            "wrong-value variation_move game_id 1, line 3, ply 3: halfmove_clock is 2, expected 1",
            "wrong-value variation_move game_id 1, line 3, ply 3: key is 253434895135994229, expected ",
        ],
    ),
    (
        "DELETE FROM variation WHERE game_id = 1 AND line = 5",
        &[
            "source-text variation game_id 1, line 5: parent_line is NULL, expected 0",
            "source-text variation game_id 1, line 5: ply is NULL, expected 2",
            "wrong-value variation game_id 1, line 6: parent_line is 5, expected 0, or an earlier variation",
            "wrong-value variation game_id 1, line 6: ply is 2, expected a ply that exists in the parent line",
        ],
    ),
    (
        "INSERT INTO variation VALUES (2, 9, 0, 1)",
        &["source-text variation game_id 2, line 9: parent_line is 0, expected no such variation"],
    ),
    (
        "UPDATE variation_move SET key = 5, halfmove_clock = 7, fen = 'x', move_code = 0 WHERE game_id = 1 AND line = 3",
        &[
            "source-text variation_move game_id 1, line 3, ply 3: fen is x, expected ",
            "source-text variation_move game_id 1, line 3, ply 3: halfmove_clock is 7, expected 2",
            "source-text variation_move game_id 1, line 3, ply 3: key is 5, expected ",
            "source-text variation_move game_id 1, line 3, ply 3: move_code is 0, expected ",
            "wrong-value variation_move game_id 1, line 3, ply 3: fen is x, expected ",
            "wrong-value variation_move game_id 1, line 3, ply 3: halfmove_clock is 7, expected 2",
            "wrong-value variation_move game_id 1, line 3, ply 3: key is 5, expected ",
        ],
    ),
    (
        "DELETE FROM variation_move WHERE game_id = 1 AND line = 3",
        &[
            "source-text variation_move game_id 1, line 3, ply 3: fen is NULL, expected ",
            "source-text variation_move game_id 1, line 3, ply 3: halfmove_clock is NULL, expected ",
            "source-text variation_move game_id 1, line 3, ply 3: key is NULL, expected ",
            "source-text variation_move game_id 1, line 3, ply 3: move_code is NULL, expected ",
        ],
    ),
    (
        "INSERT INTO variation_move VALUES (1, 3, 4, 1, 1, 1, 'x')",
        &[
            "source-text variation_move game_id 1, line 3, ply 4: key is 1, expected no such variation_move",
            "wrong-value variation_move game_id 1, line 3, ply 4: move_code is 1, expected a legal move",
        ],
    ),
    (
        "INSERT INTO nag VALUES (77, 0, 1, 7); INSERT INTO move_eval VALUES (78, 1, 1, NULL, NULL, NULL, NULL)",
        &[
            "dangling-link nag game_id 77, line 0, ply 1, nag 7: game_id is 77",
            "dangling-link move_eval game_id 78, ply 1: game_id is 78",
        ],
    ),
];

#[test]
fn changed_missing_and_surplus_rows_are_found() {
    check_damage(&Workspace::new(ANNOTATED, 1), DAMAGE);
}

/// SQL that damages the same database, and the findings without comparison with the text.
const DAMAGE_WITHOUT_TEXT: &[(&str, &[&str])] = &[
    (
        "INSERT INTO variation VALUES (2, 0, 0, 0)",
        &[
            "wrong-value variation game_id 2, line 0: the row violates CHECK (line > 0)",
            "wrong-value variation game_id 2, line 0: the row violates CHECK (parent_line BETWEEN 0 AND line - 1)",
        ],
    ),
    (
        "UPDATE nag SET ply = 99 WHERE game_id = 1 AND line = 1",
        &[
            "wrong-value nag game_id 1, line 1, ply 99, nag 1: ply is 99, expected a ply that exists in this line",
        ],
    ),
    (
        "UPDATE command SET value = ']', name = '' WHERE game_id = 1 AND ply = 0",
        &[
            "wrong-value command game_id 1, line 0, ply 0, number 1: the row violates CHECK (name <> ''",
            "wrong-value command game_id 1, line 0, ply 0, number 1: the row violates CHECK (instr(value, ']') = 0)",
        ],
    ),
    (
        "UPDATE move_eval SET eval_cp = 1, eval_mate = 2 WHERE game_id = 2 AND ply = 2",
        &[
            "wrong-value move_eval game_id 2, ply 2: the row violates CHECK (eval_cp IS NULL OR eval_mate IS NULL)",
        ],
    ),
];

#[test]
fn damage_is_found_without_the_text() {
    let place = Workspace::new(ANNOTATED, 1);
    // A source with another text is not compared with the games.
    fs::write(place.0.path().join("in.pgn"), "1. e4 *").expect("another text");
    check_damage(&place, DAMAGE_WITHOUT_TEXT);
}

#[test]
fn databases_with_some_annotations_are_sound() {
    let place = Workspace::new(ANNOTATED, 1);
    let kinds = [Annotations::All, Annotations::Numbers, Annotations::None];
    for annotations in kinds {
        place.index(IndexOptions { annotations, ..defaults() });
        assert_eq!(sound(&place, Sample::All).reread_games, 2, "{annotations:?}");
    }
    // One database whose runs store different annotations.
    fs::remove_file(place.database()).expect("removed");
    for (number, annotations) in kinds.into_iter().cycle().take(5).enumerate() {
        let more = place.0.path().join(format!("{number}.pgn"));
        fs::write(&more, ANNOTATED.replace("[White \"", &format!("[White \"{number}th "))).expect("written");
        let options = IndexOptions { threads: 2, annotations, ..defaults() };
        index(&place.database(), &[more], &options, &Progress::default()).expect("indexed");
        let report = sound(&place, Sample::All);
        assert_eq!(report.reread_games, 2 * (number as u64 + 1), "{annotations:?}");
    }
    assert_eq!(place.number("SELECT count(*) FROM game WHERE eval_count IS NULL"), 2);
}

#[test]
fn a_variation_with_a_problem_may_be_longer_than_its_game() {
    let place = Workspace::new("1. e4 e5 (1... d5 2. exd5 Qxd5 3. Nc3 c9) 1-0\n", 2);
    assert_eq!(place.number("SELECT ply FROM problem WHERE kind = 'variation-move'"), 5);
    sound(&place, Sample::All);
}

#[test]
fn an_ignored_word_does_not_move_the_start_of_a_variation() {
    for ignored in ["", "foo ", "foo bar "] {
        let place = Workspace::new(format!("1. e4 (1. d4 d5 {ignored}(1... Nf6) 2. c4) e5 *\n"), 2);
        let nested = "SELECT 10 * parent_line + ply FROM variation WHERE line = 2";
        assert_eq!(place.number(nested), 11, "{ignored}");
        assert_eq!(place.number("SELECT count(*) FROM variation_move"), 4, "{ignored}");
        sound(&place, Sample::All);
    }
}
