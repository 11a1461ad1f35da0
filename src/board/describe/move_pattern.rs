//! Patterns of moves.

use crate::board::{MoveCode, PieceKind, Special, Square, SquareSet};

/// A pattern of moves, written like a move on a score sheet. Omitted parts match anything.
///
/// | part | matches |
/// |---|---|
/// | `K`, `Q`, `R`, `B`, `N`, `P` or nothing | the piece that moves; without a letter, a pawn, as in SAN |
/// | `?` | any piece |
/// | `a` … `h`, `1` … `8`, `e2` before the target | the origin |
/// | `x` | a capture; without it, the move may or may not be a capture |
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
    shape: Shape,
    gives: CheckCondition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Any move, including castling.
    Any,
    Castling {
        short: bool,
    },
    Other {
        kind: Option<PieceKind>,
        from: SquareSet,
        to: SquareSet,
        captures: bool,
        captured: Option<PieceKind>,
        /// The pieces, to one of which the pawn must promote; `None`: no condition.
        promotions: Option<Kinds>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckCondition {
    Anything,
    Check,
    Mate,
}

/// The conditions of a move pattern. A field without a condition is `None`, all squares, or `false`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveConditions {
    /// Castling: `true` for short, `false` for long. In that case, only check or mate can be required as
    /// well.
    pub castling: Option<bool>,
    /// Whether castling is excluded.
    pub is_other: bool,
    /// The piece that moves.
    pub kind: Option<PieceKind>,
    /// The origin.
    pub from: SquareSet,
    /// The target.
    pub to: SquareSet,
    /// Whether the move must be a capture.
    pub captures: bool,
    /// The captured piece.
    pub captured: Option<PieceKind>,
    /// The pieces, to one of which the pawn must promote.
    pub promotions: Option<Vec<PieceKind>>,
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
    #[error("'{0}' is not a square, file or rank; write the move as Qxh7#, e4, ?xe5 or Rad1")]
    Squares(String),
    /// Letters after `=` that are not promotion pieces.
    #[error("'={0}': a pawn can become Q, R, B or N")]
    Promotion(String),
    /// A promotion of a piece other than a pawn.
    #[error("only a pawn can be promoted, not '{0}'")]
    NoPawn(char),
}

const ALL: SquareSet = SquareSet(u64::MAX);

impl MovePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self, MovePatternError> {
        let text = text.trim();
        let (text, gives) = match (text.strip_suffix('#'), text.strip_suffix('+')) {
            (Some(text), _) => (text, CheckCondition::Mate),
            (_, Some(text)) => (text, CheckCondition::Check),
            _ => (text, CheckCondition::Anything),
        };
        let shape = match text {
            "" if gives == CheckCondition::Anything => return Err(MovePatternError::Empty),
            "O-O" | "0-0" => Shape::Castling { short: true },
            "O-O-O" | "0-0-0" => Shape::Castling { short: false },
            // The whole text was '+' or '#'.
            "" => Shape::Any,
            _ => Shape::parse(text)?,
        };
        Ok(Self { shape, gives })
    }

    /// Whether a move matches.
    #[must_use]
    pub fn matches(&self, code: MoveCode) -> bool {
        let is_given = match self.gives {
            CheckCondition::Anything => true,
            CheckCondition::Check => code.is_check(),
            CheckCondition::Mate => code.is_mate(),
        };
        is_given && !code.is_null() && self.shape.matches(code)
    }

    /// The conditions of the pattern.
    #[must_use]
    pub fn conditions(&self) -> MoveConditions {
        let asked = MoveConditions {
            castling: None,
            is_other: false,
            kind: None,
            from: ALL,
            to: ALL,
            captures: false,
            captured: None,
            promotions: None,
            gives_check: self.gives == CheckCondition::Check,
            gives_mate: self.gives == CheckCondition::Mate,
        };
        match self.shape {
            Shape::Any => asked,
            Shape::Castling { short } => MoveConditions { castling: Some(short), ..asked },
            Shape::Other { kind, from, to, captures, captured, promotions } => {
                let kinds = |kinds: Kinds| {
                    let officers = [PieceKind::Queen, PieceKind::Rook, PieceKind::Bishop, PieceKind::Knight];
                    officers.into_iter().filter(|&kind| kinds.contains(kind)).collect()
                };
                let promotions = promotions.map(kinds);
                MoveConditions { is_other: true, kind, from, to, captures, captured, promotions, ..asked }
            }
        }
    }

    /// The same moves for the other side: ranks are reversed.
    #[must_use]
    pub const fn reversed(mut self) -> Self {
        if let Shape::Other { from, to, .. } = &mut self.shape {
            (*from, *to) = (from.with_ranks_reversed(), to.with_ranks_reversed());
        }
        self
    }

    /// The same moves with left and right swapped; castling is to the other side.
    #[must_use]
    pub const fn mirrored(mut self) -> Self {
        match &mut self.shape {
            Shape::Any => {}
            Shape::Castling { short } => *short = !*short,
            Shape::Other { from, to, .. } => {
                (*from, *to) = (from.with_files_reversed(), to.with_files_reversed());
            }
        }
        self
    }
}

impl Shape {
    fn parse(text: &str) -> Result<Self, MovePatternError> {
        let (text, promotions) = match text.split_once('=') {
            None => (text, None),
            Some((text, letters)) => (text, Some(read_promotions(letters)?)),
        };
        let mut rest = text;
        let mut letters = text.chars();
        let kind = match letters.next() {
            Some('?') => {
                rest = letters.as_str();
                None
            }
            Some(letter) => {
                let kind = kind_of(letter);
                if kind.is_some() {
                    rest = letters.as_str();
                }
                Some(kind.unwrap_or(PieceKind::Pawn))
            }
            None => Some(PieceKind::Pawn),
        };
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
        Ok(Self::Other { kind, from, to, captures, captured, promotions })
    }

    fn matches(self, code: MoveCode) -> bool {
        let special = code.special();
        match self {
            Self::Any => true,
            Self::Castling { short } => {
                special == if short { Special::CastleShort } else { Special::CastleLong }
            }
            Self::Other { kind, from, to, captures, captured, promotions } => {
                !matches!(special, Special::CastleShort | Special::CastleLong)
                    && from.contains(code.from())
                    && to.contains(code.to())
                    && kind.is_none_or(|kind| code.piece().is_some_and(|piece| piece.kind() == kind))
                    && (!captures || code.captured().is_some())
                    && captured.is_none_or(|kind| code.captured().is_some_and(|piece| piece.kind() == kind))
                    && promotions.is_none_or(|kinds| {
                        code.promotion().is_some_and(|piece| kinds.contains(piece.kind()))
                    })
            }
        }
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
