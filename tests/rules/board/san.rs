//! Reading and writing SAN.

use pgndex::board::{MoveCode, PieceKind, Position, SanError, Special, Square};
use proptest::prelude::*;

use super::common::{legal, plays, position, rows};
use crate::properties::cases;

#[test]
fn moves_agree_with_the_table() {
    for (line, row) in rows("san.tsv") {
        let [fen, san, uci, fen_after, key, check, mate] = &row[..] else { panic!("line {line}") };
        let (mut board, changes) = Position::from_fen(fen.as_bytes()).unwrap();
        assert_eq!((board.fen(), changes), (fen.clone(), Vec::new()), "line {line}");
        let code =
            board.resolve(san.as_bytes()).unwrap_or_else(|error| panic!("line {line}: {san}: {error}"));
        assert_eq!(code.uci(None).to_string(), *uci, "line {line}: {san}");
        assert_eq!(board.san(code), *san, "line {line}");
        let made = board.make(code).unwrap_or_else(|error| panic!("line {line}: {san}: {error}"));
        assert_eq!(board.fen(), *fen_after, "line {line}: {san}");
        assert_eq!(board.key().to_string(), *key, "line {line}: {san}");
        assert_eq!((board.is_check(), made.is_check()), (check == "1", check == "1"), "line {line}: {san}");
        let is_mate = board.is_check() && !board.has_legal_move();
        assert_eq!(is_mate, mate == "1", "line {line}: {san}");
        let made = if is_mate { made.with_mate() } else { made };
        assert_eq!(MoveCode::from_bits(made.bits()), Some(made), "line {line}: {san}");
        assert_eq!(made.model(), code, "line {line}: {san}");
    }
}

#[test]
fn informal_moves_agree_with_the_table() {
    for (line, row) in rows("san_lax.tsv") {
        let [fen, text, expected] = &row[..] else { panic!("line {line}") };
        let board = position(fen);
        let found = match board.resolve(text.as_bytes()) {
            Ok(code) => board.san(code),
            Err(SanError::Illegal | SanError::PromotionMissing) => "illegal".to_owned(),
            Err(SanError::Ambiguous) => "ambiguous".to_owned(),
            Err(_) => "unreadable".to_owned(),
        };
        assert_eq!(found, *expected, "line {line}: {text:?} in {fen}");
        assert_eq!(Position::is_san(text.as_bytes()), expected != "unreadable", "line {line}: {text:?}");
    }
}

#[test]
fn castling_is_read_from_the_kings_squares_and_figurines_are_pieces() {
    let board = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for (text, san) in [("Kg1", "O-O"), ("e1g1", "O-O"), ("e1h1", "O-O"), ("Kc1", "O-O-O"), ("e1a1", "O-O-O")]
    {
        assert_eq!(board.san(board.resolve(text.as_bytes()).unwrap()), san, "{text}");
    }
    for text in ["Kh2", "Kb1", "e1b1", "Ka2", "Kh1", "Ka1"] {
        assert_eq!(board.resolve(text.as_bytes()), Err(SanError::Illegal), "{text}");
    }
    assert_eq!(board.san(board.resolve("♔e2".as_bytes()).unwrap()), "Ke2");
    assert_eq!(board.san(board.resolve("♜xa8".as_bytes()).unwrap()), "Rxa8+");
    let start = Position::start();
    assert_eq!(start.san(start.resolve("♘f3".as_bytes()).unwrap()), "Nf3");
    assert_eq!(start.san(start.resolve("♙e4".as_bytes()).unwrap()), "e4");
}

#[test]
fn a_promotion_without_a_piece_is_distinguished() {
    let board = position("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1");
    for text in ["a8", "axb8", "a7a8", "a7xb8", "Pa8"] {
        assert_eq!(board.resolve(text.as_bytes()), Err(SanError::PromotionMissing), "{text}");
    }
}

/// The remark "e.p." may be before or after `+`. A rank alone can identify the capturing pawn, also en passant.
#[test]
fn en_passant_is_read_in_every_form() {
    let board = position("3k4/8/8/3pP3/8/8/8/4K3 w - d6 0 2");
    for text in ["exd6", "exd6 e.p.", "exd6e.p.+", "exd6+e.p.", "exd6!ep", "5xd6", "5d6", "e5d6"] {
        let text = text.replace(' ', "");
        assert_eq!(board.resolve(text.as_bytes()).map(MoveCode::bits), Ok(0x0f44_5323), "{text}");
    }
}

/// A text in SAN, parsed from its end, as in the model.
struct Naive {
    letter: Option<u8>,
    file: Option<u8>,
    rank: Option<u8>,
    captures: bool,
    to: Square,
    promotion: Option<PieceKind>,
}

impl Naive {
    /// Reads `[PNBRQK]?[a-h]?[1-8]?[x-]?[a-h][1-8](=?[NBRQ])?[+#]?`, and nothing else.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut rest = text.to_vec();
        if matches!(rest.last(), Some(b'+' | b'#')) {
            rest.pop();
        }
        let mut promotion = None;
        if let Some(&letter @ (b'N' | b'B' | b'R' | b'Q')) = rest.last() {
            promotion = PieceKind::from_letter(letter);
            rest.pop();
            if rest.last() == Some(&b'=') {
                rest.pop();
            }
        }
        let to = Square::parse(&rest.split_off(rest.len().checked_sub(2)?))?;
        let mark = rest.pop_if(|byte| matches!(byte, b'x' | b'-'));
        let rank = rest.pop_if(|byte| matches!(byte, b'1'..=b'8')).map(|byte| byte - b'1');
        let file = rest.pop_if(|byte| matches!(byte, b'a'..=b'h')).map(|byte| byte - b'a');
        let letter = rest.pop_if(|byte| b"PNBRQK".contains(byte));
        let captures = mark == Some(b'x');
        let dash_alone = mark == Some(b'-') && letter.is_none() && file.or(rank).is_none();
        (rest.is_empty() && !dash_alone).then_some(Self { letter, file, rank, captures, to, promotion })
    }

    fn fits_origin(&self, from: Square) -> bool {
        self.file.is_none_or(|file| from.file() == file) && self.rank.is_none_or(|rank| from.rank() == rank)
    }

    fn fits(&self, board: &Position, code: MoveCode) -> bool {
        let kind = code.piece().unwrap().kind();
        let whole = self.file.is_some() && self.rank.is_some();
        let (letter, pawn) = (self.letter.and_then(PieceKind::from_letter), kind == PieceKind::Pawn);
        let fits_kind =
            letter == Some(kind) || self.letter.is_none() && (pawn || whole && self.promotion.is_none());
        if !fits_kind || !self.fits_origin(code.from()) {
            return false;
        }
        if let Special::CastleShort | Special::CastleLong = code.special() {
            let short = code.special() == Special::CastleShort;
            let is_goal = code.to() == self.to && code.from().file().abs_diff(self.to.file()) > 1;
            return self.promotion.is_none()
                && (is_goal || whole && board.castling_rook(board.side(), short) == Some(self.to));
        }
        // If only the target square of a pawn is given, it moves straight ahead.
        let straight =
            !pawn || self.file.is_some() || self.rank.is_some() || code.from().file() == self.to.file();
        straight && code.to() == self.to && code.promotion().map(|piece| piece.kind()) == self.promotion
    }

    /// Finds the move that the text means in `moves`, the moves that can be made. A king's move to its castling square
    /// counts as castling only if no other move fits.
    fn resolve(&self, board: &Position, moves: &[MoveCode]) -> Result<MoveCode, SanError> {
        if self.letter.is_none_or(|letter| letter == b'P')
            && self.file.or(self.rank).is_none()
            && self.captures
        {
            return Err(SanError::Unreadable);
        }
        let mut moves: Vec<MoveCode> = moves.iter().copied().filter(|&code| self.fits(board, code)).collect();
        let castles = |code: &MoveCode| matches!(code.special().bits(), 1 | 2);
        if moves.iter().any(|code| !castles(code)) {
            moves.retain(|code| !castles(code));
        }
        match moves[..] {
            [] => Err(SanError::Illegal),
            [code] => Ok(code),
            _ => Err(SanError::Ambiguous),
        }
    }
}

/// All pseudo-legal moves that can be made; each is tried on a copy of the board.
fn makeable(board: &Position) -> Vec<MoveCode> {
    let mut moves = Vec::new();
    board.pseudo_legal_moves(&mut moves);
    moves.retain(|&code| board.clone().make(code).is_ok());
    moves
}

/// Compares the result of the resolver for a text with the result of trying every move.
fn compare(board: &Position, moves: &[MoveCode], text: &[u8]) -> Result<(), TestCaseError> {
    let found = board.resolve(text);
    let agree = match Naive::parse(text).map(|naive| naive.resolve(board, moves)) {
        Some(Err(SanError::Illegal)) => matches!(found, Err(SanError::Illegal | SanError::PromotionMissing)),
        Some(expected) => found == expected,
        None => found.is_err() || found.is_ok_and(|code| code.is_null() || moves.contains(&code)),
    };
    prop_assert!(agree, "{} in {}: {:?}", text.escape_ascii(), board.fen(), found);
    Ok(())
}

/// A move written in one of several forms, correct or nearly correct.
fn form(board: &Position, code: MoveCode, which: usize) -> Vec<u8> {
    let (from, to) = (code.from().to_string(), code.to().to_string());
    let letter = match code.piece().unwrap().kind() {
        PieceKind::Pawn => String::new(),
        kind => char::from(kind.letter()).to_string(),
    };
    let promotion =
        code.promotion().map_or(String::new(), |piece| format!("={}", char::from(piece.kind().letter())));
    let text = match which % 9 {
        0 => board.san(code),
        1 => format!("{letter}{to}{promotion}"),
        2 => format!("{letter}x{to}{promotion}"),
        3 => format!("{letter}{}{to}{promotion}", &from[..1]),
        4 => format!("{letter}{}{to}{promotion}", &from[1..]),
        5 => format!("{letter}{}x{to}{promotion}", &from[1..]),
        6 => format!("{letter}{from}{to}{promotion}"),
        7 => format!("{from}-{to}{promotion}"),
        _ => format!("P{from}x{to}{promotion}"),
    };
    text.into_bytes()
}

proptest! {
    #![proptest_config(cases(64))]

    /// Every legal move has a different SAN, which is read as that move.
    #[test]
    fn written_san_is_read_as_the_same_move(play in plays(80)) {
        play.walk(|board, _| {
            let mut seen = std::collections::HashSet::new();
            for code in legal(board) {
                let san = board.san(code);
                prop_assert_eq!(board.resolve(san.as_bytes()), Ok(code), "{} in {}", &san, board.fen());
                let uci = board.uci(code).to_string();
                prop_assert_eq!(board.resolve(uci.as_bytes()), Ok(code), "{} in {}", &uci, board.fen());
                prop_assert!(seen.insert(san.clone()), "{} twice in {}", san, board.fen());
            }
            Ok(())
        })?;
    }

    /// The resolver agrees with trying every move, for correct and for slightly wrong texts.
    #[test]
    fn the_resolver_agrees_with_trying_every_move(
        play in plays(60),
        texts in prop::collection::vec(
            (any::<usize>(), any::<usize>(), prop::option::of((any::<prop::sample::Index>(), 0..3_u8, any::<usize>()))),
            60,
        ),
    ) {
        let mut texts = texts.into_iter();
        play.walk(|board, _| {
            let (pick, which, change) = texts.next().unwrap();
            let mut moves = Vec::new();
            board.pseudo_legal_moves(&mut moves);
            let mut text = form(board, moves[pick % moves.len()], which);
            if let Some((at, how, letter)) = change {
                let letter = b"abcdefgh12345678NBRQKPx-="[letter % 25];
                match (how, at.index(text.len())) {
                    (0, at) => text[at] = letter,
                    (1, at) => text.insert(at, letter),
                    (_, at) => drop(text.remove(at)),
                }
            }
            compare(board, &makeable(board), &text)
        })?;
    }

    /// The same for each piece to each square, and for pawn captures from each file; most of these moves are illegal.
    #[test]
    fn the_resolver_agrees_on_every_simple_text(play in plays(60)) {
        play.walk(|board, _| {
            let moves = makeable(board);
            for to in (0..64).map(Square::from_ordinal) {
                for letter in ["", "N", "B", "R", "Q", "K", "P"] {
                    compare(board, &moves, format!("{letter}{to}").as_bytes())?;
                }
                for file in 'a'..='h' {
                    compare(board, &moves, format!("{file}x{to}").as_bytes())?;
                }
                if matches!(to.rank(), 0 | 7) {
                    compare(board, &moves, format!("{to}=Q").as_bytes())?;
                }
            }
            Ok(())
        })?;
    }

    /// Any bytes are read as a legal move or rejected.
    #[test]
    fn any_bytes_are_a_legal_move_or_an_error(
        play in plays(30),
        texts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..12),
                prop::collection::vec(prop::sample::select(b"abh18NKQPOo0x-=+#!?().e:/Z@p\xe2\x99\x94\x9f".to_vec()), 0..10),
            ],
            50,
        ),
    ) {
        let board = play.walk(|_, _| Ok(()))?;
        let moves = legal(&board);
        for text in texts {
            if let Ok(code) = board.resolve(&text) {
                prop_assert!(code.is_null() || moves.contains(&code), "{}", text.escape_ascii());
                prop_assert!(Position::is_san(&text));
            }
        }
    }
}
