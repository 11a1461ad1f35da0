//! Making moves.

use pgndex::board::{
    Castling, Color, FenText, IllegalMove, MAX_CANONICAL_FEN, MoveCode, Piece, PieceKind, Position, Special,
    Square,
};
use proptest::prelude::*;

use super::common::{legal, plays, position};
use super::fen::placement;
use crate::properties::cases;

/// The canonical FEN that a [`FenText`] writes.
fn written(text: &FenText, position: &Position) -> String {
    let mut buffer = [0; MAX_CANONICAL_FEN];
    let len = text.write_at_end(position, &mut buffer);
    String::from_utf8(buffer[MAX_CANONICAL_FEN - len..].to_vec()).unwrap()
}

fn letters(position: &Position) -> [Option<char>; 64] {
    std::array::from_fn(|ordinal| {
        position.piece_at(Square::from_ordinal(ordinal as u8)).map(|piece| piece.letter().into())
    })
}

/// Whether a pawn of the side to move can legally capture the pawn that has just moved to `victim` en passant. The
/// position after the capture is set up as a FEN, which is rejected if the capturing side's king could then be taken.
fn can_capture_en_passant(position: &Position, victim: Square) -> bool {
    let side = position.side();
    let (rank, other) = if side == Color::White { (5, 'b') } else { (2, 'w') };
    let pawn = Piece::new(PieceKind::Pawn, side);
    [victim.file().wrapping_sub(1), victim.file() + 1].into_iter().filter(|&file| file < 8).any(|file| {
        let from = Square::at(file, victim.rank());
        let mut board = letters(position);
        board[usize::from(from.ordinal())] = None;
        board[usize::from(victim.ordinal())] = None;
        board[usize::from(Square::at(victim.file(), rank).ordinal())] = Some(pawn.letter().into());
        let fen = format!("{} {other} - - 0 1", placement(&board));
        position.piece_at(from) == Some(pawn) && Position::from_fen(fen.as_bytes()).is_ok()
    })
}

/// The castling rights by a second method: a right is lost if its king or rook is not on its original square. In
/// Chess960, a king or rook may castle without leaving its square, so castling itself also ends the rights of its side.
fn castling_rights_by_squares(
    start: &Position,
    before: Castling,
    code: MoveCode,
    after: &Position,
) -> Castling {
    let mut rights = before.0;
    for color in [Color::White, Color::Black] {
        for short in [true, false] {
            let Some(rook) = start.castling_rook(color, short) else { continue };
            let is_home = after.piece_at(start.king(color)) == Some(Piece::new(PieceKind::King, color))
                && after.piece_at(rook) == Some(Piece::new(PieceKind::Rook, color));
            let castled = matches!(code.special(), Special::CastleShort | Special::CastleLong)
                && code.piece().unwrap().color() == color;
            if !is_home || castled {
                rights &= !Castling::right(color, short).0;
            }
        }
    }
    Castling(rights)
}

proptest! {
    #![proptest_config(cases(128))]

    /// The values that are updated with each move equal those computed from the whole board: key, check, FEN text, and
    /// all fields of the FEN.
    #[test]
    fn incremental_updates_equal_a_full_computation(play in plays(150)) {
        let mut text = FenText::new(&position(&play.start));
        play.walk(|board, code| {
            prop_assert_eq!(board.key(), board.key_from_scratch(), "{}", board.fen());
            let (again, changes) = Position::from_fen(board.fen().as_bytes()).unwrap();
            prop_assert_eq!(&again, board, "{}", board.fen());
            prop_assert!(changes.is_empty(), "{}: {:?}", board.fen(), changes);
            let four_fields = format!("{} ", placement(&letters(board)));
            prop_assert!(board.canonical_fen().starts_with(&four_fields));
            prop_assert_eq!(written(&text, board), board.canonical_fen());
            prop_assert_eq!(written(&FenText::new(board), board), board.canonical_fen());
            let mut next = board.clone();
            next.make(code).unwrap();
            text.update(&next, code);
            Ok(())
        })?;
    }

    /// A position read from a FEN continues exactly like the position reached from the start, including state that no
    /// FEN shows.
    #[test]
    fn continuing_from_a_fen_equals_replay_from_the_start(play in plays(100), cut in 0..100_usize) {
        let mut second: Option<Position> = None;
        let mut ply = 0;
        let last = play.walk(|board, code| {
            if ply == cut {
                second = Some(position(&board.fen()));
            }
            ply += 1;
            if let Some(second) = &mut second {
                prop_assert_eq!(&*second, board);
                prop_assert_eq!(legal(second), legal(board));
                second.make(code).unwrap();
            }
            Ok(())
        })?;
        if let Some(second) = second {
            prop_assert_eq!(second.fen(), last.fen());
        }
    }

    /// Both methods for castling rights agree after every move.
    #[test]
    fn both_methods_for_castling_rights_agree(play in plays(120)) {
        let start = position(&play.start);
        let mut rights = start.castling();
        play.walk(|board, code| {
            prop_assert_eq!(board.castling(), rights);
            let mut next = board.clone();
            next.make(code).unwrap();
            rights = castling_rights_by_squares(&start, rights, code, &next);
            prop_assert_eq!(next.castling(), rights, "{:?} in {}", code, board.fen());
            Ok(())
        })?;
    }

    /// The en-passant square is set only after a double step, and exactly when a capture is legal.
    #[test]
    fn en_passant_is_set_only_where_a_capture_is_legal(play in plays(150)) {
        play.walk(|board, code| {
            let mut next = board.clone();
            next.make(code).unwrap();
            let captures = legal(&next).iter().any(|code| code.special() == Special::EnPassant);
            prop_assert_eq!(next.en_passant().is_some(), captures, "{:?} in {}", code, board.fen());
            let expected = code.special() == Special::DoubleStep && can_capture_en_passant(&next, code.to());
            prop_assert_eq!(next.en_passant().is_some(), expected, "{:?} in {}", code, board.fen());
            Ok(())
        })?;
    }

    /// `make` accepts exactly the legal moves, and leaves the position unchanged if it rejects a move.
    #[test]
    fn make_accepts_exactly_the_legal_moves(
        play in plays(40),
        edits in prop::collection::vec((any::<usize>(), any::<u32>(), 0..6_u8), 400),
    ) {
        let board = play.walk(|_, _| Ok(()))?;
        let moves = legal(&board);
        let mut pseudo = Vec::new();
        board.pseudo_legal_moves(&mut pseudo);
        let mut codes: Vec<MoveCode> = pseudo.clone();
        for (pick, noise, field) in edits {
            let mask = match field {
                0 => 0x0f00_0000,
                1 => 0x0077_0000,
                2 => 0x0000_7700,
                3 => 0x0000_00f0,
                4 => 0x0000_000f,
                _ => 0x0f77_77ff,
            };
            // Often the bits of a move whose pieces fit the board, with some fields changed.
            let bits = pseudo.get(pick % pseudo.len().max(1)).map_or(0, |code| code.bits());
            let mut bits = bits & !mask | noise & mask;
            if noise & 1 << 31 != 0 {
                let at = |shift: u32| {
                    Square::new((bits >> shift) as u8 & 0x77).and_then(|square| board.piece_at(square)).map_or(0, |piece| u32::from(piece.code()))
                };
                bits = bits & !0xff | at(16) << 4 | at(8);
            }
            codes.extend(MoveCode::from_bits(bits));
        }
        for code in codes.into_iter().filter(|code| !code.is_null()) {
            let mut next = board.clone();
            match next.make(code) {
                Ok(made) => {
                    prop_assert!(moves.contains(&code), "{:?} is made in {}", code, board.fen());
                    prop_assert_eq!(made.model(), code);
                    prop_assert_eq!(made.is_check(), next.is_check());
                }
                Err(error) => {
                    prop_assert!(!moves.contains(&code), "{:?} is refused in {}", code, board.fen());
                    prop_assert_eq!(&next, &board);
                    if pseudo.contains(&code) {
                        prop_assert_eq!(error, IllegalMove::LeavesKingInCheck);
                    }
                }
            }
        }
    }
}

fn square(name: &str) -> Square {
    Square::parse(name.as_bytes()).unwrap()
}

fn code(special: Special, from: &str, to: &str, piece: char, captured: Option<char>) -> MoveCode {
    let piece_of = |letter: char| Piece::from_letter(letter as u8).unwrap();
    MoveCode::new(special, square(from), square(to), piece_of(piece), captured.map(piece_of))
}

#[test]
fn rejected_moves_leave_the_position_unchanged() {
    use IllegalMove::{CapturesKing, LeavesKingInCheck, Unfitting};
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let pinned = "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1";
    let promotion = "4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1";
    let advanced = "4k3/8/8/8/2p5/3pP3/2PP4/4K3 w - - 0 1";
    let queen = |letter| Special::Promotion(Piece::from_letter(letter).unwrap());
    for (fen, code, expected) in [
        (
            "4k3/8/8/8/8/8/4r3/R3K3 w Q - 0 1",
            code(Special::Reversible, "a1", "a2", 'R', None),
            LeavesKingInCheck,
        ),
        (pinned, code(Special::Reversible, "c3", "e2", 'N', None), LeavesKingInCheck),
        (pinned, code(Special::Capture, "g1", "e8", 'N', Some('k')), CapturesKing),
        (pinned, code(Special::Reversible, "g1", "g2", 'N', None), Unfitting),
        (pinned, code(Special::Reversible, "g1", "e2", 'B', None), Unfitting),
        (pinned, code(Special::Capture, "g1", "e2", 'N', None), Unfitting),
        (pinned, code(Special::Capture, "g1", "e2", 'N', Some('p')), Unfitting),
        (pinned, code(Special::Reversible, "b4", "a5", 'b', None), Unfitting),
        (start, code(Special::Pawn, "e2", "e4", 'P', None), Unfitting),
        (start, code(Special::DoubleStep, "e2", "e5", 'P', None), Unfitting),
        (start, code(Special::DoubleStep, "e2", "e4", 'P', Some('p')), Unfitting),
        (advanced, code(Special::DoubleStep, "e3", "e5", 'P', None), Unfitting),
        (advanced, code(Special::DoubleStep, "d2", "d4", 'P', None), Unfitting),
        (advanced, code(Special::DoubleStep, "c2", "c4", 'P', None), Unfitting),
        (start, code(Special::EnPassant, "e2", "d3", 'P', Some('p')), Unfitting),
        (start, code(Special::Pawn, "e2", "d3", 'P', None), Unfitting),
        (start, code(Special::Capture, "a1", "a2", 'R', Some('P')), Unfitting),
        (start, code(Special::Reversible, "a1", "a3", 'R', None), Unfitting),
        (start, code(Special::CastleShort, "e1", "g1", 'K', None), Unfitting),
        (promotion, code(queen(b'q'), "a7", "a8", 'P', None), Unfitting),
        (promotion, code(queen(b'Q'), "a1", "a2", 'R', None), Unfitting),
        (promotion, code(Special::Pawn, "a7", "a8", 'P', None), Unfitting),
        (promotion, code(Special::CastleShort, "h1", "f1", 'R', None), Unfitting),
        (promotion, code(Special::CastleShort, "e1", "h1", 'K', None), Unfitting),
        (promotion, code(Special::CastleLong, "e1", "g1", 'K', None), Unfitting),
    ] {
        let mut board = position(fen);
        assert_eq!(board.make(code), Err(expected), "{code:?} in {fen}");
        assert_eq!(board, position(fen));
    }
    let mut checked = position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1");
    assert_eq!(checked.make(MoveCode::NULL), Err(LeavesKingInCheck));
}

/// For each position, the table says whether `O-O` and `O-O-O` are legal.
#[test]
fn castling_is_legal_only_over_free_and_safe_squares() {
    for (fen, short, long, what) in [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", true, true, "nothing in the way"),
        ("4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", false, true, "one right"),
        ("4k3/8/8/8/8/4r3/8/R3K2R w KQ - 0 1", false, false, "in check"),
        ("4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1", false, true, "the king would pass f1"),
        ("4k3/8/8/8/8/6r1/8/R3K2R w KQ - 0 1", false, true, "the king would stand on g1"),
        ("4k3/8/8/8/8/7r/8/R3K2R w KQ - 0 1", true, true, "the rook on h1 is attacked"),
        ("4k3/8/8/8/8/3r4/8/R3K2R w KQ - 0 1", true, false, "the king would pass d1"),
        ("4k3/8/8/8/8/2r5/8/R3K2R w KQ - 0 1", true, false, "the king would stand on c1"),
        ("4k3/8/8/8/8/1r6/8/R3K2R w KQ - 0 1", true, true, "only the rook passes b1"),
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", false, false, "knights in the way"),
        ("4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1", false, true, "a pawn attacks f1"),
        ("r3k2r/8/8/8/8/8/8/4KR2 b kq - 0 1", false, true, "black, f8 attacked"),
        ("8/8/8/8/8/8/8/qRK1k3 w Q - 0 1", false, false, "the black king beside"),
        ("4k3/8/8/8/8/8/8/qRK5 w Q - 0 1", false, false, "the rook shields its king from the queen on a1"),
        ("4k3/8/8/8/8/8/8/1RK4R w HB - 0 1", true, true, "Chess960, the king stays on c1"),
        ("4k3/8/8/8/8/8/8/5RKR w HF - 0 1", false, true, "Chess960, the own rook on f1 in the way"),
        ("4k3/8/8/8/8/8/8/RK2N2R w HA - 0 1", false, true, "Chess960, a knight between"),
    ] {
        let (board, _) = Position::from_fen(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}"));
        let can = |san: &[u8], special| {
            let found = board.resolve(san).is_ok();
            assert_eq!(legal(&board).iter().any(|code| code.special() == special), found, "{what}");
            found
        };
        assert_eq!(
            (can(b"O-O", Special::CastleShort), can(b"O-O-O", Special::CastleLong)),
            (short, long),
            "{what}: {fen}"
        );
    }
}

#[test]
fn move_counters_follow_the_laws() {
    let mut board = Position::start();
    for (san, halfmoves, fullmoves) in [
        ("Nf3", 1, 1),
        ("Nf6", 2, 2),
        ("g3", 0, 2),
        ("g6", 0, 3),
        ("Bg2", 1, 3),
        ("Bg7", 2, 4),
        ("O-O", 3, 4),
        ("O-O", 4, 5),
    ] {
        board.make(board.resolve(san.as_bytes()).unwrap()).unwrap();
        assert_eq!((board.halfmove_clock(), board.fullmove_number()), (halfmoves, fullmoves), "{san}");
    }
}
