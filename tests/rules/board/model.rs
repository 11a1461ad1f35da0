//! The worked examples of the 0x88 model, as its author gives them.

use pgndex::board::{
    ALL_MOVES, BLACK_PAWN_FROM, Color, MoveCode, PieceKind, Position, Special, Square, SquareSet, TO_X88,
    WHITE_PAWN_FROM, kind_index,
};

use super::common::{after, position};

fn square(name: &str) -> Square {
    Square::parse(name.as_bytes()).unwrap_or_else(|| panic!("{name}"))
}

fn squares(names: &str) -> SquareSet {
    names.split_whitespace().map(square).collect()
}

fn resolve(fen: &str, san: &str) -> MoveCode {
    position(fen).resolve(san.as_bytes()).unwrap_or_else(|error| panic!("{fen} {san}: {error}"))
}

/// "black Qd8-h4 = 0x037337D0 (FROM 0x73, TO 0x37, SPECIAL 3, PIECE 13, CAPTURED 0)", played on a board.
#[test]
fn black_queen_to_h4() {
    let mut board = after(&Position::start(), "f3 e5 g4");
    let code = board.resolve(b"Qh4#").unwrap();
    assert_eq!(code.bits(), 0x0373_37d0);
    assert_eq!((code.from().index(), code.to().index(), code.special().bits()), (0x73, 0x37, 3));
    assert_eq!((code.piece().unwrap().code(), code.captured()), (13, None));
    let made = board.make(code).unwrap();
    assert!(made.is_check() && !board.has_legal_move());
    assert_eq!(made.bits(), 0x1373_37d0);
    assert_eq!(made.with_mate().bits(), 0x3373_37d0);
    assert_eq!(made.with_mate().model().bits(), 0x0373_37d0);
}

/// "For the SAN Ne2 the candidate c3 is refused (the king would stand in check) and g1 is the move", from each of the
/// squares from which the bishop can pin.
#[test]
fn knight_to_e2_is_not_the_pinned_one() {
    for fen in ["4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1", "4k3/8/8/b7/8/2N5/8/4K1N1 w - - 0 1"] {
        assert_eq!(resolve(fen, "Ne2").bits(), 0x0306_1440, "{fen}");
    }
    // From d2, the bishop gives check and pins nothing; neither knight can move to e2.
    assert!(position("4k3/8/8/8/8/2N5/3b4/4K1N1 w - - 0 1").resolve(b"Ne2").is_err());
}

#[test]
fn origins_of_pawns_agree_with_the_model() {
    for (to, from) in [("a3", "a2 b2"), ("b3", "b2 a2 c2"), ("a4", "a2 a3 b3"), ("h7", "h6 g6")] {
        assert_eq!(WHITE_PAWN_FROM[usize::from(square(to).ordinal())], squares(from), "white {to}");
    }
    for (to, from) in [("a6", "a7 b7"), ("g2", "g3 f3 h3")] {
        assert_eq!(BLACK_PAWN_FROM[usize::from(square(to).ordinal())], squares(from), "black {to}");
    }
}

#[test]
fn origins_of_pieces_agree_with_the_model() {
    let rook_a1 = "b1 c1 d1 e1 f1 g1 h1 a2 a3 a4 a5 a6 a7 a8";
    let bishop_a1 = "b2 c3 d4 e5 f6 g7 h8";
    for (kind, to, from) in [
        (PieceKind::Knight, "a1", "b3 c2"),
        (PieceKind::Knight, "b1", "a3 c3 d2"),
        (PieceKind::Knight, "c1", "a2 b3 d3 e2"),
        (PieceKind::Knight, "e2", "c1 c3 d4 f4 g3 g1"),
        (PieceKind::Knight, "g8", "f6 e7 h6"),
        (PieceKind::King, "a1", "a2 b2 b1"),
        (PieceKind::Bishop, "b1", "c2 d3 e4 f5 g6 h7 a2"),
        (PieceKind::Rook, "a1", rook_a1),
        (PieceKind::Queen, "a1", &format!("{rook_a1} {bishop_a1}")),
    ] {
        let table = ALL_MOVES[kind_index(kind)];
        assert_eq!(table[usize::from(square(to).ordinal())], squares(from), "{kind:?} {to}");
    }
    assert!(ALL_MOVES[kind_index(PieceKind::Pawn)].iter().all(|set| set.is_empty()));
}

#[test]
fn to_x88_is_the_index_of_every_name() {
    let mut names = Vec::new();
    for rank in '1'..='8' {
        names.extend(('a'..='h').map(|file| format!("{file}{rank}")));
    }
    for (name, index) in names.iter().zip(TO_X88) {
        let (file, rank) = (name.as_bytes()[0] - b'a', name.as_bytes()[1] - b'1');
        assert_eq!(index, file + 16 * rank);
        assert_eq!(square(name).index(), index);
    }
}

/// "Both O-O and 0-0 are read; a8=Q and a8Q; bxa8=Q; Nge2, Ngxe2, N2f4, Ng6f4, Ng6xf4."
#[test]
fn every_form_of_san_is_read() {
    let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    for short in ["O-O", "0-0"] {
        assert_eq!(resolve(castling, short).bits(), 0x0104_0660);
    }
    for long in ["O-O-O", "0-0-0"] {
        assert_eq!(resolve(castling, long).bits(), 0x0204_0260);
    }
    let black = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1";
    assert_eq!(resolve(black, "0-0").bits(), 0x0174_7670);
    assert_eq!(resolve(black, "0-0-0").bits(), 0x0274_7270);

    for queen in ["a8=Q", "a8Q"] {
        assert_eq!(resolve("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", queen).bits(), 0x0c60_7020);
    }
    assert_eq!(resolve("r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "bxa8=Q").bits(), 0x0c61_702b);
    assert_eq!(resolve("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "Nge2").bits(), 0x0306_1440);
    assert_eq!(resolve("4k3/8/8/8/8/2N5/4p3/4K1N1 w - - 0 1", "Ngxe2").bits(), 0x0706_1443);
    let two_knights = "4k3/8/6N1/8/8/8/6N1/4K3 w - - 0 1";
    assert_eq!(resolve(two_knights, "N2f4").bits(), 0x0316_3540);
    assert_eq!(resolve(two_knights, "Ng6f4").bits(), 0x0356_3540);
    assert_eq!(resolve("4k3/8/6N1/8/5p2/8/6N1/4K3 w - - 0 1", "Ng6xf4").bits(), 0x0756_3543);
}

/// One move for each value of SPECIAL.
#[test]
fn every_special_has_the_models_value() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let promotion = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
    for (fen, san, bits) in [
        (start, "e4", 0x0e14_3420),
        (start, "e3", 0x0614_2420),
        (start, "Nf3", 0x0306_2540),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6", 0x0f44_5323),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "dxe3", 0x0f33_2432),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "exd5", 0x0634_4323),
        ("4k3/8/8/3p4/8/4N3/8/4K3 w - - 0 1", "Nxd5", 0x0724_4343),
        (promotion, "exd8=N", 0x0464_732b),
        (promotion, "exd8=B", 0x0864_732b),
        (promotion, "exd8=R", 0x0a64_732b),
        (promotion, "exd8=Q", 0x0c64_732b),
        ("4k3/8/8/8/8/8/p7/4K3 b - - 0 1", "a1=N", 0x0510_0030),
        ("4k3/8/8/8/8/8/p7/4K3 b - - 0 1", "a1=B", 0x0910_0030),
        ("4k3/8/8/8/8/8/p7/4K3 b - - 0 1", "a1=R", 0x0b10_0030),
        ("4k3/8/8/8/8/8/p7/4K3 b - - 0 1", "a1=Q", 0x0d10_0030),
    ] {
        assert_eq!(format!("{:#010x}", resolve(fen, san).bits()), format!("{bits:#010x}"), "{san}");
    }
    let (mut board, null) = (Position::start(), MoveCode::NULL);
    assert_eq!((board.resolve(b"--"), board.resolve(b"Z0")), (Ok(null), Ok(null)));
    assert_eq!((null.bits(), null.special()), (0, Special::Null));
    board.make(null).unwrap();
    assert_eq!((board.side(), board.halfmove_clock(), board.fullmove_number()), (Color::Black, 1, 1));
}

/// "A double pawn step sets the en-passant square; every other move clears it." The program keeps it only if a capture
/// is legal.
#[test]
fn a_double_step_sets_the_en_passant_square() {
    let board = after(&Position::start(), "e4 a6 e5 d5");
    assert_eq!(board.en_passant(), Some(square("d6")));
    assert_eq!(after(&board, "Nf3").en_passant(), None);
    assert_eq!(after(&Position::start(), "e4").en_passant(), None);
}

/// The keys that the Polyglot book format gives as examples.
#[test]
fn keys_after_the_first_moves_agree_with_polyglot() {
    for (moves, key) in [
        ("", 0x463b_9618_1691_fc9c_u64),
        ("e4", 0x823c_9b50_fd11_4196),
        ("e4 d5 e5 f5", 0x22a4_8b5a_8e47_ff78),
        ("e4 d5 e5 f5 Ke2 Kf7", 0x00fd_d303_c946_bdd9),
        ("a4 b5 h4 b4 c4", 0x3c81_23ea_7b06_7637),
    ] {
        assert_eq!(after(&Position::start(), moves).key().0, key, "{moves}");
    }
}
