//! Patterns of positions: a FEN's placement with wildcards.

use crate::board::piece::CODES;
use crate::board::{Color, Piece, Square, SquareSet};

/// A pattern of positions, compiled once and then compared with many positions.
///
/// A pattern is written like the placement of a FEN: eight ranks, from the eighth to the first. In addition
/// to FEN's letters and numbers of empty squares, it can contain:
///
/// | sign | squares | matches |
/// |---|---|---|
/// | `.` | 1 | an empty square, like FEN's `1` |
/// | `?` | 1 | any square, empty or occupied |
/// | `!` | 1 | any piece |
/// | `A`, `a` | 1 | any white piece, any black piece |
/// | `[Qr.]` | 1 | one of these: white queen, black rook, empty square; can include `A`, `a`, `?`, `!` |
/// | `[^Pp]` | 1 | anything but these: any other piece or an empty square |
/// | `*` | 0 to 8 | anything: a rank of just `*` matches any rank; `*R*` matches a rank with a white rook |
///
/// A second field, `w` or `b`, requires this side to move.
///
/// ```
/// use pgndex::board::Pattern;
///
/// let back_rank_mate = Pattern::parse("*R*k*/*/*/*/*/*/*/* b")?;
/// assert!(back_rank_mate.matches(b"3R2k1/5ppp/8/8/8/8/5PPP/6K1 b - -"));
/// assert!(!back_rank_mate.matches(b"6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -"));
/// # Ok::<(), pgndex::board::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// From the eighth rank to the first, as in a FEN.
    ranks: [Rank; 8],
    /// The number of ranks that must be read. If a side to move is required, all eight must be read, because
    /// the side comes after the ranks. Otherwise, the last rank to read is the last one that is not just `*`.
    needed: usize,
    side: Option<Color>,
}

/// A condition of a pattern: at least one of `squares` has one of `pieces`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternPart {
    /// The squares, of which at least one must have one of the pieces.
    pub squares: SquareSet,
    /// The pieces, of which one must be on one of the squares.
    pub pieces: Vec<Piece>,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text does not have eight ranks.
    #[error("the number of ranks in the pattern is {0}, not 8; a rank written as '*' matches any rank")]
    Ranks(usize),
    /// A rank without `*` that does not have eight squares, or one with `*` that has more than eight.
    #[error("rank {rank} of the pattern has {squares} squares, not 8; '*' means any number of squares")]
    RankLength {
        /// The number of the rank: 8 for the first rank in the text.
        rank: u8,
        /// The number of squares that the rank describes, without stars.
        squares: usize,
    },
    /// A character without a meaning in a pattern.
    #[error(
        "'{0}' has no meaning in a pattern; use FEN's letters and numbers, '.', '?', '!', 'A', 'a', '[...]' and '*'"
    )]
    Sign(char),
    /// A `[` without `]`.
    #[error("a '[' in rank {0} of the pattern is not closed")]
    Unclosed(u8),
    /// Brackets such as `[]` or `[^?]`, which no square can match.
    #[error("a '[...]' in rank {0} of the pattern matches nothing")]
    EmptyClass(u8),
    /// A second field that is not a side.
    #[error("the side to move of the pattern is '{0}', not 'w' or 'b'")]
    Side(String),
    /// More than two fields.
    #[error("there is text after the pattern: '{0}'")]
    Trailing(String),
}

/// A set of possible contents of a square: bit 0 is set if the square can be empty, bit *n* if it can have
/// the piece with code *n*.
type Contents = u16;

const EMPTY: Contents = 1;
const WHITE: Contents = 0b01_0101_0101_0100;
const BLACK: Contents = WHITE << 1;
const PIECES: Contents = WHITE | BLACK;
const ANYTHING: Contents = EMPTY | PIECES;

/// The possible contents of a rank's squares.
///
/// This is a nondeterministic automaton, which reads a rank from left to right. The signs other than `*` are
/// numbered from left to right, starting with 0; a digit *n* for empty squares counts as *n* signs. State *i*
/// means that the first *i* signs are matched. A set of states is stored as the bits of one integer. Each
/// square leads from one set to the next, so stars need no backtracking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rank {
    /// For each piece code, and for code 0 of an empty square, the set of signs that match it.
    fits: [u16; 16],
    /// The set of states in which a star can match the next square.
    stars: u16,
    /// The bit of the state in which all signs are matched.
    end: u16,
}

impl Rank {
    /// Compiles a rank; `number` is its number in error messages.
    fn parse(text: &[u8], number: u8) -> Result<Self, PatternError> {
        let mut rank = Self::default();
        let mut squares = 0;
        let mut rest = text;
        while let [sign, after @ ..] = rest {
            rest = after;
            let (contents, count) = match sign {
                b'*' => {
                    rank.stars |= bit(squares);
                    continue;
                }
                b'1'..=b'8' => (EMPTY, usize::from(sign - b'0')),
                b'[' => {
                    let end = after.iter().position(|&byte| byte == b']');
                    let (class, after) = after.split_at(end.ok_or(PatternError::Unclosed(number))?);
                    rest = &after[1..];
                    (class_contents(class, number)?, 1)
                }
                _ => (sign_contents(*sign)?, 1),
            };
            for square in squares..squares + count {
                for (code, fits) in rank.fits.iter_mut().enumerate() {
                    *fits |= if contents >> code & 1 != 0 { bit(square) } else { 0 };
                }
            }
            squares += count;
        }
        if squares > 8 || (squares < 8 && rank.stars == 0) {
            return Err(PatternError::RankLength { rank: number, squares });
        }
        rank.end = bit(squares);
        Ok(rank)
    }

    /// The rank for the other side: the colours are swapped.
    fn reversed(&self) -> Self {
        let mut fits = self.fits;
        // The codes of the white and the black piece of a kind are consecutive.
        fits[2..14].chunks_exact_mut(2).for_each(<[u16]>::reverse);
        Self { fits, ..*self }
    }

    /// The rank with left and right swapped.
    fn mirrored(&self) -> Self {
        let signs = self.end.trailing_zeros();
        let turned = |bits: u16, last: u32| {
            (0..=last).filter(|at| bits >> at & 1 != 0).fold(0, |all, at| all | 1 << (last - at))
        };
        let fits = if signs == 0 { self.fits } else { self.fits.map(|bits| turned(bits, signs - 1)) };
        Self { fits, stars: turned(self.stars, signs), end: self.end }
    }

    /// The contents of a square that match a sign.
    fn contents(&self, sign: u32) -> Contents {
        (0..16).zip(self.fits).fold(0, |all, (code, signs)| all | (signs >> sign & 1) << code)
    }

    /// The number of signs that are a condition: all signs except those that match any contents of a square.
    fn condition_count(&self) -> u32 {
        (0..self.end.trailing_zeros()).filter(|&sign| self.contents(sign) != ANYTHING).count() as u32
    }

    /// One condition for each sign of this rank that requires a piece. `number` is the rank on the board: 0
    /// for rank 1, 7 for rank 8.
    fn parts(&self, number: u8) -> impl Iterator<Item = PatternPart> {
        let signs = self.end.trailing_zeros();
        (0..signs).filter_map(move |sign| {
            let contents = self.contents(sign);
            if contents & EMPTY != 0 {
                return None;
            }
            // A sign without a star before it has a fixed distance from the left edge. A sign with a star
            // before it, but none after it, has a fixed distance from the right edge. A sign between stars
            // can be on any file from `left` to `right`.
            let is_star_before = self.stars & ((2 << sign) - 1) != 0;
            let is_star_behind = self.stars >> sign >> 1 != 0;
            let (left, right) = (sign, sign + 8 - signs);
            let files = match (is_star_before, is_star_behind) {
                (false, _) => left..=left,
                (true, false) => right..=right,
                (true, true) => left..=right,
            };
            let squares = files.map(|file| Square::at(file as u8, number)).collect();
            let pieces = (2..14).filter(|code| contents >> code & 1 != 0).filter_map(Piece::from_code);
            Some(PatternPart { squares, pieces: pieces.collect() })
        })
    }

    /// Whether this is just `*`, which matches any rank.
    const fn is_any(&self) -> bool {
        self.end == 1 && self.stars == 1
    }

    /// The set of states after a square with this code, given the states before the square.
    const fn step(&self, states: u16, code: u8) -> u16 {
        (states & self.fits[code as usize & 15]) << 1 | states & self.stars
    }
}

/// The bit of a sign or a state; 0 for numbers above 15, which occur only in a rank with too many squares.
const fn bit(number: usize) -> u16 {
    if number < 16 { 1 << number } else { 0 }
}

fn sign_contents(sign: u8) -> Result<Contents, PatternError> {
    Ok(match sign {
        b'.' => EMPTY,
        b'?' => ANYTHING,
        b'!' => PIECES,
        b'A' => WHITE,
        b'a' => BLACK,
        _ => match CODES[usize::from(sign)] {
            0 => return Err(PatternError::Sign(sign.into())),
            code => 1 << code,
        },
    })
}

fn class_contents(class: &[u8], number: u8) -> Result<Contents, PatternError> {
    let negated = class.strip_prefix(b"^");
    let signs = negated.unwrap_or(class);
    let contents = signs.iter().try_fold(0, |all, &sign| Ok(all | sign_contents(sign)?))?;
    let contents = if negated.is_some() { ANYTHING & !contents } else { contents };
    if contents == 0 { Err(PatternError::EmptyClass(number)) } else { Ok(contents) }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let mut fields = text.split_ascii_whitespace();
        let placement = fields.next().unwrap_or_default();
        let texts: Vec<_> = placement.split('/').collect();
        let texts: [&str; 8] = texts.try_into().map_err(|texts: Vec<_>| PatternError::Ranks(texts.len()))?;
        if let Some(sign) = placement.chars().find(|sign| !sign.is_ascii()) {
            return Err(PatternError::Sign(sign));
        }
        let mut ranks: [Rank; 8] = Default::default();
        for (index, text) in texts.into_iter().enumerate() {
            ranks[index] = Rank::parse(text.as_bytes(), 8 - index as u8)?;
        }
        let side = match fields.next() {
            None => None,
            Some("w") => Some(Color::White),
            Some("b") => Some(Color::Black),
            Some(other) => return Err(PatternError::Side(other.to_owned())),
        };
        match fields.next() {
            None => Ok(Self::new(ranks, side)),
            Some(text) => Err(PatternError::Trailing(text.to_owned())),
        }
    }

    fn new(ranks: [Rank; 8], side: Option<Color>) -> Self {
        let last = ranks.iter().rposition(|rank| !rank.is_any());
        let needed = if side.is_some() { 8 } else { last.map_or(0, |rank| rank + 1) };
        Self { ranks, needed, side }
    }

    /// The same pattern for the other side: colours are swapped and ranks reversed.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut ranks = self.ranks.each_ref().map(Rank::reversed);
        ranks.reverse();
        Self::new(ranks, self.side.map(Color::other))
    }

    /// The same pattern with left and right swapped.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self::new(self.ranks.each_ref().map(Rank::mirrored), self.side)
    }

    /// The conditions that a position must satisfy to match: one for each sign that requires a piece. A
    /// position can satisfy all of them and still not match.
    #[must_use]
    pub fn parts(&self) -> Vec<PatternPart> {
        let ranks = self.ranks.iter().zip((0..8).rev());
        ranks.flat_map(|(rank, number)| rank.parts(number)).collect()
    }

    /// Whether the pattern has exactly one [part](Self::parts) and matches every position that satisfies this
    /// part.
    #[must_use]
    pub fn is_one_part(&self) -> bool {
        let condition_count: u32 = self.ranks.iter().map(Rank::condition_count).sum();
        self.side.is_none() && condition_count == 1 && self.parts().len() == 1
    }

    /// Whether a position matches. `fen` is its FEN or, if the pattern has no side to move, the placement
    /// alone.
    ///
    /// Reads no further than needed and allocates nothing. `fen` is not validated: the result for a text that
    /// is not a FEN is unspecified.
    #[must_use]
    pub fn matches(&self, fen: &[u8]) -> bool {
        let mut rest = fen;
        for rank in &self.ranks[..self.needed.min(8)] {
            if rank.is_any() {
                let end = rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len());
                rest = rest.get(end + 1..).unwrap_or_default();
                continue;
            }
            let mut states = 1;
            while let Some((&byte, after)) = rest.split_first() {
                rest = after;
                match byte {
                    b'1'..=b'8' => {
                        for _ in 0..byte - b'0' {
                            states = rank.step(states, 0);
                        }
                    }
                    _ => match CODES[usize::from(byte)] {
                        0 if is_end(byte) => break,
                        0 => return false,
                        code => states = rank.step(states, code),
                    },
                }
                if states == 0 {
                    return false;
                }
            }
            if states & rank.end == 0 {
                return false;
            }
        }
        let side = rest.trim_ascii_start().first().map(u8::to_ascii_lowercase);
        self.side.is_none_or(|required| side == Some(required.letter()))
    }
}

/// Whether this byte ends a rank.
const fn is_end(byte: u8) -> bool {
    byte == b'/' || byte <= b' '
}
