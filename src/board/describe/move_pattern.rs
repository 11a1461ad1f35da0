//! Patterns of moves.

use crate::board::{MoveCode, Piece, PieceKind, Special, Square, SquareSet};

/// A pattern of moves, written like a move on a score sheet. Omitted parts match anything, except that an
/// omitted piece letter means a pawn.
///
/// | part | matches |
/// |---|---|
/// | `K`, `Q`, `R`, `B`, `N`, `P` or nothing | the piece that moves; without a letter, a pawn, as in SAN |
/// | `?` | any piece or pawn |
/// | `a` … `h`, `1` … `8`, `e2` before the target | the origin |
/// | `x` | a capture; without `x`, the pattern matches captures and other moves |
/// | `xR` | a capture of this piece |
/// | `e4`, `e`, `4` | the target: a square, or any square of a file or of a rank |
/// | `=`, `=N`, `=RBN` | a promotion: to any piece after a bare `=`, otherwise to one of these pieces |
/// | `O-O`, `O-O-O` | castling |
/// | `+` | check or mate; `+` alone matches any move that gives check or mate, including castling |
/// | `#` | mate |
///
/// ```
/// use pgndex::board::{MovePattern, Position};
///
/// let pattern = MovePattern::parse("Qxf7+")?;
/// let fen = b"r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4";
/// let (mut position, _) = Position::from_fen(fen).expect("a position");
/// let check = position.play_san(b"Qxf7").expect("a legal move");
/// assert!(pattern.matches(check));
/// assert!(!MovePattern::parse("?xR")?.matches(check));
/// # Ok::<(), pgndex::board::MovePatternError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovePattern {
    /// Castling: `true` for short, `false` for long. If this is set, the only other possible condition is
    /// check or mate.
    pub castling: Option<bool>,
    /// Whether castling is excluded.
    pub is_other: bool,
    /// The piece that moves; `None` for any piece.
    pub kind: Option<PieceKind>,
    /// The possible origins.
    pub from: SquareSet,
    /// The possible targets.
    pub to: SquareSet,
    /// Whether the move must be a capture.
    pub captures: bool,
    /// The captured piece; `None` for any piece.
    pub captured: Option<PieceKind>,
    /// The move must be a promotion to one of these pieces.
    promotions: Option<Kinds>,
    /// Whether the move must give check or mate.
    pub gives_check: bool,
    /// Whether the move must give mate.
    pub gives_mate: bool,
}

/// A set of kinds of pieces; the empty set means all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds(u16);

impl Kinds {
    const fn with(self, kind: PieceKind) -> Self {
        Self(self.0 | 1 << kind as u16)
    }

    const fn contains(self, kind: PieceKind) -> bool {
        self.0 == 0 || self.0 >> kind as u16 & 1 != 0
    }
}

/// Why a text is not a move pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MovePatternError {
    /// The text is empty.
    #[error("the move is empty; write it as Qxh7# or e4, with '?' for any piece")]
    Empty,
    /// A part of the text that is not a square, file or rank.
    #[error(
        "'{0}' is not a piece letter (K, Q, R, B, N or ?), square, file or rank; write the move as Qxh7#, e4, ?xe5 or Rad1"
    )]
    Squares(String),
    /// Letters after `=` that are not promotion pieces.
    #[error("'={0}': a pawn can promote only to Q, R, B or N")]
    Promotion(String),
    /// A promotion of a piece other than a pawn.
    #[error("only a pawn can be promoted, not '{0}'")]
    NoPawn(char),
}

const ALL: SquareSet = SquareSet(u64::MAX);

impl MovePattern {
    /// Any move, including castling.
    const ANY: Self = Self {
        castling: None,
        is_other: false,
        kind: None,
        from: ALL,
        to: ALL,
        captures: false,
        captured: None,
        promotions: None,
        gives_check: false,
        gives_mate: false,
    };

    /// Parses a pattern.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self, MovePatternError> {
        let text = text.trim();
        let (text, any) = match (text.strip_suffix('#'), text.strip_suffix('+')) {
            (Some(text), _) => (text, Self { gives_mate: true, ..Self::ANY }),
            (_, Some(text)) => (text, Self { gives_check: true, ..Self::ANY }),
            _ => (text, Self::ANY),
        };
        match text {
            "" if any == Self::ANY => Err(MovePatternError::Empty),
            // The whole text was '+' or '#'.
            "" => Ok(any),
            "O-O" | "0-0" => Ok(Self { castling: Some(true), ..any }),
            "O-O-O" | "0-0-0" => Ok(Self { castling: Some(false), ..any }),
            _ => any.read(text),
        }
    }

    /// Adds the conditions of a text that does not describe castling.
    fn read(self, text: &str) -> Result<Self, MovePatternError> {
        let (text, promotions) = match text.split_once('=') {
            None => (text, None),
            Some((text, letters)) => (text, Some(read_promotions(letters)?)),
        };
        let mut letters = text.chars();
        let first = letters.next();
        let named = first.and_then(kind_of);
        let rest = if named.is_some() || first == Some('?') { letters.as_str() } else { text };
        let kind = (first != Some('?')).then(|| named.unwrap_or(PieceKind::Pawn));
        if let (Some(_), Some(letter)) = (promotions, kind.filter(|&kind| kind != PieceKind::Pawn)) {
            return Err(MovePatternError::NoPawn(letter.letter().into()));
        }
        let (from, to, captures, captured) = match rest.split_once('x') {
            Some((from, target)) => {
                let captured = target.chars().next().and_then(kind_of);
                let to = if captured.is_some() { &target[1..] } else { target };
                (from, to, true, captured)
            }
            None => {
                // The target comes last: a square if the text ends in one, else a file or a rank. The part
                // before it is the origin.
                let at = |count: usize| rest.is_char_boundary(count).then(|| rest.split_at(count));
                let of_square = rest.len().checked_sub(2).and_then(at).filter(|(_, to)| squares(to).is_ok());
                let of_line = || rest.len().checked_sub(1).and_then(at);
                let (from, to) = of_square.or_else(of_line).unwrap_or(("", rest));
                (from, to, false, None)
            }
        };
        let (from, to) = (squares(from)?, squares(to)?);
        Ok(Self { is_other: true, kind, from, to, captures, captured, promotions, ..self })
    }

    /// Whether a move matches.
    #[must_use]
    pub fn matches(&self, code: MoveCode) -> bool {
        let castling = match code.special() {
            Special::CastleShort => Some(true),
            Special::CastleLong => Some(false),
            _ => None,
        };
        let is_of = |piece: Option<Piece>, kind| piece.is_some_and(|piece| piece.kind() == kind);
        !code.is_null()
            && (!self.gives_check || code.is_check())
            && (!self.gives_mate || code.is_mate())
            && (self.castling.is_none() || self.castling == castling)
            && !(self.is_other && castling.is_some())
            && self.from.contains(code.from())
            && self.to.contains(code.to())
            && self.kind.is_none_or(|kind| is_of(code.piece(), kind))
            && (!self.captures || code.captured().is_some())
            && self.captured.is_none_or(|kind| is_of(code.captured(), kind))
            && self
                .promotions
                .is_none_or(|kinds| code.promotion().is_some_and(|piece| kinds.contains(piece.kind())))
    }

    /// The possible promotion pieces; `None` if the move need not be a promotion.
    #[must_use]
    pub fn promotions(&self) -> Option<Vec<PieceKind>> {
        let all = [PieceKind::Queen, PieceKind::Rook, PieceKind::Bishop, PieceKind::Knight];
        self.promotions.map(|kinds| all.into_iter().filter(|&kind| kinds.contains(kind)).collect())
    }

    /// The same moves for the other side: ranks are reversed.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.from.with_ranks_reversed(), to: self.to.with_ranks_reversed(), ..self }
    }

    /// The same moves with left and right swapped; short and long castling are swapped too.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        let castling = match self.castling {
            Some(short) => Some(!short),
            None => None,
        };
        let (from, to) = (self.from.with_files_reversed(), self.to.with_files_reversed());
        Self { castling, from, to, ..self }
    }
}

fn kind_of(letter: char) -> Option<PieceKind> {
    u8::try_from(letter).ok().filter(u8::is_ascii_uppercase).and_then(PieceKind::from_letter)
}

fn read_promotions(letters: &str) -> Result<Kinds, MovePatternError> {
    letters.chars().try_fold(Kinds::default(), |kinds, letter| match kind_of(letter) {
        Some(kind @ (PieceKind::Queen | PieceKind::Rook | PieceKind::Bishop | PieceKind::Knight)) => {
            Ok(kinds.with(kind))
        }
        _ => Err(MovePatternError::Promotion(letters.to_owned())),
    })
}

/// Parses a file, a rank or a single square; an empty text means all squares.
fn squares(text: &str) -> Result<SquareSet, MovePatternError> {
    Ok(match *text.as_bytes() {
        [] => ALL,
        [file @ b'a'..=b'h'] => SquareSet::file(file - b'a'),
        [rank @ b'1'..=b'8'] => SquareSet::rank(rank - b'1'),
        _ => match Square::parse(text.as_bytes()) {
            Some(square) => SquareSet::from_square(square),
            None => return Err(MovePatternError::Squares(text.to_owned())),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    /// The legal moves of a position that match a pattern, in SAN.
    fn fitting(pattern: &str, fen: &str) -> Vec<String> {
        let pattern = MovePattern::parse(pattern).unwrap();
        let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
        let mut codes = Vec::new();
        position.legal_moves(&mut codes);
        let codes = codes.into_iter().map(|code| position.clone().make(code).unwrap());
        let mut moves: Vec<_> =
            codes.filter(|&code| pattern.matches(code)).map(|code| position.san(code).to_string()).collect();
        moves.sort();
        moves
    }

    #[test]
    fn omitted_parts_match_anything() {
        let fen = "r3k2r/pPp1ppb1/8/3pP2Q/4n3/2N5/PPP2PPP/R3K2R w KQkq d6 0 1";
        for (pattern, expected) in [
            ("Nd5", &["Nxd5"][..]),
            ("Nxd5", &["Nxd5"]),
            ("xd6", &["exd6"]),
            ("exd", &["exd6"]),
            ("?xP", &["Nxd5", "Qxf7+", "exd6"]),
            ("xR", &["bxa8=B", "bxa8=N", "bxa8=Q+", "bxa8=R+"]),
            ("=NB", &["b8=B", "b8=N", "bxa8=B", "bxa8=N"]),
            ("b8=", &["b8=B", "b8=N", "b8=Q+", "b8=R+"]),
            ("O-O", &["O-O"]),
            ("0-0-0", &["O-O-O"]),
            ("Q+", &["Qxf7+", "Qxh8+"]),
            ("+", &["Qxf7+", "Qxh8+", "b8=Q+", "b8=R+", "bxa8=Q+", "bxa8=R+"]),
            ("#", &[]),
            ("Kf", &["Kf1"]),
            ("Rad1", &["Rd1"]),
            ("a1d1", &[]),
            ("?a1d1", &["Rd1"]),
            ("Q8", &["Qxh8+"]),
            ("P2h", &["h3", "h4"]),
        ] {
            assert_eq!(fitting(pattern, fen), expected, "{pattern}");
        }
    }

    #[test]
    fn moves_can_be_reversed_and_mirrored() {
        let pattern = |text| MovePattern::parse(text).unwrap();
        assert_eq!(pattern("Qxh7#").reversed(), pattern("Qxh2#"));
        assert_eq!(pattern("Qxh7#").mirrored(), pattern("Qxa7#"));
        assert_eq!(pattern("Rad1").reversed().mirrored(), pattern("Rhe8"));
        assert_eq!(pattern("O-O").mirrored(), pattern("O-O-O"));
    }

    #[test]
    fn invalid_move_patterns_are_reported() {
        for text in
            ["", " ", "Zf3", "Qi9", "Nf39", "e8=K", "e8=X", "Ne8=Q", "O-O-O-O", "xx", "é4", "?é", "Qxé4"]
        {
            assert!(MovePattern::parse(text).is_err(), "{text}");
        }
    }
}
