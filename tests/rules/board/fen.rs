//! FENs as users write them, and position keys.

use pgndex::board::{FenChange, Position, Setup, SetupError};
use proptest::prelude::*;

use super::common::{chess960_fen, plays, position, rows};
use crate::properties::cases;

/// The word for an error in `tests/data/fen.tsv`.
fn reason(error: &SetupError) -> &'static str {
    match error {
        SetupError::Empty => "empty",
        SetupError::Ranks(_) | SetupError::RankLength(_) | SetupError::Placement(_) => "board",
        SetupError::Side(_) => "side",
        SetupError::Castling(_) => "castling",
        SetupError::EnPassant(_) => "en-passant",
        SetupError::Counter(..) => "counter",
        SetupError::Trailing(_) => "fields",
        SetupError::Kings { .. } => "king",
        SetupError::PawnOnLastRank(_) => "pawn-rank",
        SetupError::OpponentInCheck(_) => "opponent-in-check",
        _ => "another",
    }
}

#[test]
fn readings_of_fens_agree_with_the_table() {
    for (line, row) in rows("fen.tsv") {
        let [fen, what, expected] = &row[..] else { panic!("line {line} has {} fields", row.len()) };
        let fen = fen.replace("\\t", "\t");
        let found = Position::from_fen(fen.as_bytes());
        if expected == "any" {
            continue;
        }
        match (found, expected.strip_prefix("invalid: ")) {
            (Ok((position, _)), None) => {
                assert_eq!(position.canonical_fen(), *expected, "line {line}: {what}");
                assert_eq!(position.key(), position.key_from_scratch(), "line {line}: {what}");
            }
            (Err(error), Some(expected)) => {
                assert_eq!(reason(&error), expected, "line {line}: {what}: {error}");
            }
            (Ok(_), Some(_)) => panic!("line {line}: accepted, though {what}"),
            (Err(error), None) => panic!("line {line}: {what}: {error}"),
        }
    }
}

#[test]
fn corrections_of_fens_are_reported() {
    let changes = |fen: &str| Position::from_fen(fen.as_bytes()).unwrap().1;
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    assert_eq!(changes(&format!("{board} w KQkq - 0 1")), []);
    assert_eq!(changes(&format!("{board} w KQkq - 12 34")), []);
    assert_eq!(changes(&format!("{board} w KQkq -")), [FenChange::CountersAssumed]);
    assert_eq!(changes(&format!("{board} w KQkq - 3")), [FenChange::CountersAssumed]);
    assert_eq!(changes(&format!("{board} w qkQK - 0 1")), [FenChange::Castling]);
    assert_eq!(changes(&format!("{board} w HAha - 0 1")), [FenChange::Castling]);
    assert_eq!(changes("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1"), [FenChange::CastlingDropped]);
    assert_eq!(changes(&format!("{board} w KQkq e3 0 1")), [FenChange::EnPassantDropped]);
    assert_eq!(changes("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"), []);
    // A pawn that has moved from d7 to d5 leaves d7 and d6 empty.
    for fen in ["4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 2", "3k4/8/3n4/3pP3/8/8/8/4K3 w - d6 0 2"] {
        assert_eq!(changes(fen), [FenChange::EnPassantDropped]);
    }
    assert!(changes(board).contains(&FenChange::SideAssumed));
}

#[test]
fn keys_agree_with_polyglot() {
    for (line, row) in rows("keys.tsv") {
        let position = position(&row[0]);
        assert_eq!(position.canonical_fen(), row[0], "line {line}");
        assert_eq!(position.key().to_string(), row[1], "line {line}: {}", row[0]);
        assert_eq!(position.key_from_scratch(), position.key(), "line {line}");
    }
}

/// The constants in the program equal those of another program. They are checked with keys in which they occur:
/// constants of pieces, castling rights, en-passant files and the side to move.
#[test]
fn keys_of_single_pieces_agree_with_polyglots_constants() {
    let path = format!("{}/tests/data/polyglot_random.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let constants: Vec<u64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .map(|word| u64::from_str_radix(word, 16).unwrap())
        .collect();
    assert_eq!(constants.len(), 781);
    let kings =
        |white: &str, black: &str| constants[64 * 11 + index(white)] ^ constants[64 * 10 + index(black)];
    for (kind, letter) in "pPnNbBrRqQ".chars().enumerate() {
        for square in 0..64_usize {
            if "pP".contains(letter) && !(8..56).contains(&square) {
                continue;
            }
            // One of these placements of the kings leaves the square free, and Black, who is not to move, out of check.
            let found = [("a1", "h8"), ("h1", "a8"), ("a3", "h6"), ("e1", "b7"), ("d8", "g2"), ("h4", "c2")]
                .into_iter()
                .filter(|(white, black)| square != index(white) && square != index(black))
                .find_map(|(white, black)| {
                    let mut board = [None; 64];
                    board[index(white)] = Some('K');
                    board[index(black)] = Some('k');
                    board[square] = Some(letter);
                    let (position, _) =
                        Position::from_fen(format!("{} w - - 0 1", placement(&board)).as_bytes()).ok()?;
                    Some((position.key().0, kings(white, black)))
                });
            let (key, kings) = found.unwrap_or_else(|| panic!("no position for {letter} on {square}"));
            assert_eq!(key ^ kings ^ constants[780], constants[64 * kind + square], "{letter} {square}");
        }
    }
    let rights = |field: &str| position(&format!("r3k2r/8/8/8/8/8/8/R3K2R b {field} - 0 1")).key().0;
    for (right, field) in ["K", "Q", "k", "q"].into_iter().enumerate() {
        assert_eq!(rights(field) ^ rights("-"), constants[768 + right], "{field}");
    }
    for file in 0..8 {
        let (pawn, taker) = (24 + file, if file == 7 { 30 } else { 25 + file });
        let mut board = [None; 64];
        (board[pawn], board[taker], board[0], board[63]) = (Some('P'), Some('p'), Some('K'), Some('k'));
        let key = |field: String| position(&format!("{} b - {field} 0 1", placement(&board))).key().0;
        let name = format!("{}3", char::from(b'a' + file as u8));
        assert_eq!(key(name) ^ key("-".to_owned()), constants[772 + file], "file {file}");
    }
}

/// The number of a square, from its name.
fn index(name: &str) -> usize {
    let bytes = name.as_bytes();
    usize::from(bytes[0] - b'a') + 8 * usize::from(bytes[1] - b'1')
}

/// The placement field of a FEN, written in a simple way.
pub(crate) fn placement(board: &[Option<char>; 64]) -> String {
    let rank = |rank: usize| -> String {
        let squares: String =
            board[8 * rank..8 * rank + 8].iter().map(|piece| piece.unwrap_or('.')).collect();
        (1..=8).rev().fold(squares, |text, run| text.replace(&".".repeat(run), &run.to_string()))
    };
    (0..8).rev().map(rank).collect::<Vec<_>>().join("/")
}

#[test]
fn chess960_starts_have_scharnagls_numbers() {
    assert_eq!(Position::start(), position(&chess960_fen(518)));
    assert!(chess960_fen(0).starts_with("bbqnnrkr/"));
    assert!(chess960_fen(959).starts_with("rkrnnqbb/"));
    for number in 0..960 {
        let fen = chess960_fen(number);
        assert_eq!(position(&fen).fen(), fen);
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_bytes_are_read_or_rejected(text in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Setup::parse(&text);
        let _ = Position::from_fen(&text);
    }

    /// An accepted FEN, once written, is canonical and does not change again.
    #[test]
    fn changed_fens_are_read_or_rejected(
        play in plays(40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, any::<prop::sample::Index>()), 0..6),
    ) {
        let mut text = play.walk(|_, _| Ok(()))?.fen().into_bytes();
        for (at, how, letter) in changes {
            let letters = b"pnbrqkPNBRQK12345678/ wb-abcdefgh0369\t";
            let letter = letters[letter.index(letters.len())];
            let at = at.index(text.len());
            match how {
                0 => text[at] = letter,
                1 => text.insert(at, letter),
                _ => drop(text.remove(at)),
            }
            if text.is_empty() {
                break;
            }
        }
        if let Ok((position, _)) = Position::from_fen(&text) {
            let (again, changes) = Position::from_fen(position.fen().as_bytes()).unwrap();
            prop_assert_eq!(&again, &position);
            prop_assert!(changes.is_empty(), "{}: {:?}", position.fen(), changes);
            let (four_fields, _) = Position::from_fen(position.canonical_fen().as_bytes()).unwrap();
            prop_assert_eq!(four_fields.key(), position.key());
        }
    }
}
