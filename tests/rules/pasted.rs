//! Positions and moves as users paste them.

use pgndex::board::Position;
use pgndex::query::{PositionError, PositionQuery};
use proptest::prelude::*;

use crate::properties::cases;

/// An error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn pasted_fens_are_read_or_rejected_with_a_hint() {
    let table = include_str!("../data/pasted_fens.tsv");
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert!(rows.len() >= 60);
    for (text, expected) in rows {
        let text = text.replace("\\n", "\n");
        match (PositionQuery::from_fen(&text), expected.strip_prefix('!')) {
            (Ok(query), None) => assert_eq!(query.position.canonical_fen(), expected, "{text}"),
            (Err(error), Some(part)) => assert!(chain(&error).contains(part), "{text}: {}", chain(&error)),
            (Ok(query), Some(_)) => panic!("{text} was read as {}", query.position.canonical_fen()),
            (Err(error), None) => panic!("{text}: {}", chain(&error)),
        }
    }
}

/// The texts of a table, whose expected positions come from python-chess.
#[test]
fn pasted_moves_are_read_or_rejected_with_a_hint() {
    let table = include_str!("../data/pasted_moves.tsv");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(rows.len() >= 60);
    let mut wrong = Vec::new();
    for row in rows {
        let (label, text, expected) = (row[0], row[1].replace("\\r", "\r").replace("\\n", "\n"), row[3]);
        let note = row.get(4).copied().unwrap_or_default();
        match (PositionQuery::from_moves(&text), expected.strip_prefix('!')) {
            (Ok(query), None) => {
                let (found, notes) = (query.position.canonical_fen(), query.assumptions().join("; "));
                if found != expected || !notes.contains(note) || notes.is_empty() != note.is_empty() {
                    wrong.push(format!("{label}: {found} [{notes}]"));
                }
            }
            (Err(error), Some(part)) if chain(&error).contains(part) => {}
            (Ok(query), Some(_)) => {
                wrong.push(format!("{label}: read as {}", query.position.canonical_fen()))
            }
            (Err(error), _) => wrong.push(format!("{label}: {}", chain(&error))),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The piece letters of a style, from the king to the pawn.
const STYLES: [[&str; 6]; 12] = [
    ["K", "Q", "R", "B", "N", "P"],
    ["♔", "♕", "♖", "♗", "♘", "♙"],
    ["♚\u{fe0e}", "♛\u{fe0e}", "♜\u{fe0e}", "♝\u{fe0e}", "♞\u{fe0e}", "♟\u{fe0e}"],
    ["k", "q", "r", "b", "n", "p"],
    ["K", "D", "T", "L", "S", "B"],
    ["R", "D", "T", "F", "C", "P"],
    ["R", "D", "T", "A", "C", "P"],
    ["K", "D", "T", "L", "P", ""],
    ["K", "H", "W", "G", "S", "P"],
    ["K", "V", "B", "F", "H", "G"],
    ["Кр", "Ф", "Л", "С", "К", "п"],
    // In English, a small d is a pawn on the d-file.
    ["k", "D", "t", "l", "s", "b"],
];

/// A move in SAN with the piece letters of a style.
fn styled(san: &str, style: [&str; 6]) -> String {
    let letter = |letter: char| "KQRBNP".find(letter).map(|index| style[index].to_owned());
    let text: String = san.chars().map(|sign| letter(sign).unwrap_or_else(|| sign.to_string())).collect();
    // A small b with a capture is a pawn, so the capture sign is left out.
    let is_small = san.starts_with('B') && text.starts_with('b');
    if is_small { text.replace('x', "") } else { text }
}

/// The same moves, numbered in one of the usual ways.
fn numbered(words: &[String], way: usize) -> String {
    let mut text = String::new();
    for (ply, word) in words.iter().enumerate() {
        let number = ply / 2 + 1;
        text += &match (way % 5, ply % 2) {
            (0, 0) => format!("{number}. {word} "),
            (1, 0) => format!("{number}.{word} "),
            (2, 0) => format!("{number}) {word}\u{a0}"),
            (3, 0) => format!("{number}.\n{word}\n"),
            (1, _) => format!("{number}... {word} "),
            _ => format!("{word} "),
        };
    }
    text
}

proptest! {
    #![proptest_config(cases(96))]

    /// A game in any style gives its last position, or an error if letters are ambiguous. A text that is legal as
    /// English SAN is read as English.
    #[test]
    fn games_in_any_style_are_read(choices in prop::collection::vec(any::<u16>(), 1..40), style in 0..STYLES.len(), way in 0_usize..5) {
        let mut position = Position::start();
        let mut words = Vec::new();
        for choice in choices {
            let mut moves = Vec::new();
            position.legal_moves(&mut moves);
            let Some(&code) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
            words.push(styled(&position.san(code), STYLES[style]));
            position.make(code).unwrap();
        }
        let text = numbered(&words, way);
        match PositionQuery::from_moves(&text) {
            Ok(query) => {
                let is_english = style > 3 && query.assumptions().is_empty();
                prop_assert!(query.position == position || is_english, "{text}: {}", query.position.fen());
            }
            Err(error @ PositionError::Languages { .. }) => prop_assert!(style > 3, "{text}: {error}"),
            Err(error) => {
                let reported = chain(&error);
                let is_open = reported.contains("it can mean") && matches!(style, 3 | 11);
                // A text with only letters that also name pieces in English does not show its language.
                let is_english = style > 3 && !text.contains(|c: char| c.is_uppercase() && !"KQRBNO".contains(c));
                prop_assert!(is_open || is_english, "{text}: {reported}");
            }
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,80}") {
        let _ = PositionQuery::from_moves(&text);
    }

    #[test]
    fn any_signs_are_read_without_a_panic(text in "[\\[\\](){};$*<>.:/+=#0-9a-hxKQRBNPDSO♘–½\"% \n-]{0,60}") {
        let _ = PositionQuery::from_moves(&text);
    }
}
