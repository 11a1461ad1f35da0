//! Material: the number of pieces of each kind and side.

use std::fmt;

use crate::board::piece::LETTERS;
use crate::board::{Color, Piece, PieceKind, Setup, SetupError};

/// The number of bits per count: one guard bit, and four bits for the count itself. A side has at most 15
/// pieces in addition to its king.
const BITS: u32 = 5;
const MAX: u64 = 15;
/// The largest count that fits if the guard bit is used for counting, as in set-ups with more pieces than a
/// game can have. For such set-ups, the results of [`MaterialSignature`] are not reliable.
const WITH_GUARD: u64 = 31;
/// The guard bits of all counts. Each of the twelve piece codes has a count of five bits, of which the guard
/// bit is the highest.
const GUARDS: u64 = (((1 << (12 * BITS)) - 1) / WITH_GUARD) << 4;

/// The value that one piece with this code adds to a [`Material`].
const fn one(code: u8) -> u64 {
    1 << (BITS * (code as u32 - 2))
}

/// For each letter of a placement, the value that its piece adds to a [`Material`]; 0 for other characters.
static COUNTS: [u64; 256] = {
    let mut table = [0; 256];
    let mut code = 2;
    while code < 14 {
        table[LETTERS[code as usize] as usize] = one(code);
        code += 1;
    }
    table
};

/// The codes of the pieces `QRBNqrbnPp`, in the order of the digits of a [packed](Material::packed) number,
/// the highest digit first.
const PACKED: [u8; 10] = [12, 10, 8, 4, 13, 11, 9, 5, 2, 3];

/// For each piece code, the number that one piece with this code adds to a [packed](Material::packed) number.
static PACKED_PIECES: [u64; 16] = {
    let mut table = [0; 16];
    let mut place = 0;
    while place < PACKED.len() {
        table[PACKED[place] as usize] = 1 << (4 * (PACKED.len() - 1 - place));
        place += 1;
    }
    table
};

/// The number of pieces of each kind and side. Formatted as White's pieces, `v`, Black's pieces: `KRPPvKRP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Material(u64);

impl Material {
    /// Counts the pieces of a FEN; only the placement is read.
    ///
    /// # Errors
    /// If the placement cannot be parsed; if a side does not have exactly one king or has more than 16
    /// pieces.
    pub fn from_fen(fen: &[u8]) -> Result<Self, SetupError> {
        let setup = Setup::parse_placement(fen)?;
        if let Some((color, count)) = setup.crowded() {
            return Err(SetupError::TooManyPieces { color, count });
        }
        setup.king(Color::White)?;
        setup.king(Color::Black)?;
        Ok(Self::from_placement(fen.trim_ascii_start()))
    }

    /// Counts the pieces of a legal position, given as a FEN or as its placement alone. Allocates nothing and
    /// checks nothing.
    #[must_use]
    pub fn from_placement(fen: &[u8]) -> Self {
        let placement = fen.iter().take_while(|byte| !byte.is_ascii_whitespace());
        placement.fold(Self::default(), |all, &letter| all.and(letter))
    }

    /// Adds the piece for a letter of a placement.
    #[inline]
    pub(super) fn and(self, letter: u8) -> Self {
        Self(self.0.wrapping_add(COUNTS[usize::from(letter)]))
    }

    /// The number of pieces of this kind and colour.
    #[must_use]
    pub const fn count(self, piece: Piece) -> u32 {
        self.count_of(piece.code()) as u32
    }

    const fn count_of(self, code: u8) -> u64 {
        self.0 >> (BITS * (code as u32 - 2)) & WITH_GUARD
    }

    /// The counts of all pieces except kings in one number, one hexadecimal digit each. From the highest
    /// digit: White's queens, rooks, bishops and knights, Black's in the same order, White's pawns, Black's
    /// pawns.
    #[must_use]
    pub fn packed(self) -> u64 {
        PACKED.iter().fold(0, |all, &code| (all << 4) + self.count_of(code))
    }

    /// The material of a [packed](Self::packed) number, plus a king of each side.
    #[must_use]
    pub fn from_packed(packed: u64) -> Self {
        let kings = one(PieceKind::King as u8) + one(PieceKind::King as u8 + 1);
        let counts = PACKED.iter().rev().zip((0..).step_by(4));
        Self(counts.fold(kings, |all, (&code, shift)| all + (packed >> shift & MAX) * one(code)))
    }

    /// The number that this piece adds to a [packed](Self::packed) number; 0 for a king.
    #[must_use]
    #[inline]
    pub fn packed_piece(piece: Piece) -> u64 {
        PACKED_PIECES[piece.code() as usize & 15]
    }

    /// White's material advantage in pawns ([`PieceKind::value`]).
    #[must_use]
    pub fn balance(self) -> i32 {
        let more = |kind| {
            let count = |color| self.count(Piece::new(kind, color)).cast_signed();
            count(Color::White) - count(Color::Black)
        };
        PieceKind::ALL.iter().map(|&kind| kind.value() * more(kind)).sum()
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &letter in b"KQRBNPvkqrbnp" {
            let sign = char::from(letter.to_ascii_uppercase());
            match Piece::from_letter(letter) {
                Some(piece) => (0..self.count(piece)).try_for_each(|_| write!(f, "{sign}"))?,
                None => f.write_str("v")?,
            }
        }
        Ok(())
    }
}

/// A condition on material, compiled once and then compared with many positions.
///
/// The text consists of White's pieces, then Black's, separated by `v` or `-`. Without a separator, Black's
/// pieces begin with the second king. `KRPvKR`, `KRP-KR` and `KRPKR` are equivalent. With a separator, a
/// side's pieces can be in any order.
///
/// After a letter, `*` means any number of this piece including none, `+` one or more, `?` one or none. `..`
/// after a side's pieces allows any further pieces: `KR..vKQ..` matches if there are at least a white rook
/// and a black queen.
///
/// ```
/// use pgndex::board::MaterialSignature;
///
/// let rook_ending = MaterialSignature::parse("KRP*vKRP*")?;
/// assert!(rook_ending.matches(b"8/5pk1/R5p1/8/6P1/8/r4PK1/8 w - -"));
/// assert!(!rook_ending.matches(b"8/5pk1/R5p1/8/6P1/8/q4PK1/8 w - -"));
/// # Ok::<(), pgndex::board::MaterialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialSignature {
    least: u64,
    most: u64,
}

/// Why a text is not a material signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// The text does not have two sides.
    #[error(
        "'{0}' does not have two sides; write White's pieces, then Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR"
    )]
    Sides(String),
    /// A letter that is not a piece, or a sign in the wrong place.
    #[error(
        "'{0}' cannot be read here; write the pieces K, Q, R, B, N and P, each optionally followed by '*', '+' or '?'; '..' after a side's pieces allows any others"
    )]
    Sign(char),
    /// A side without exactly one king.
    #[error("each side needs exactly one king: '{0}'")]
    King(String),
    /// More pieces than a side can have.
    #[error("'{0}' has more than 16 pieces")]
    TooMany(String),
}

/// Shortens a text to quote it in an error message; an ellipsis shows that the end is missing.
fn quoted(text: &str) -> String {
    const MOST: usize = 100;
    let more = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    text.chars().take(MOST).chain(more.chars()).collect()
}

/// Splits a signature into White's pieces and Black's.
fn sides(text: &str) -> Option<(&str, &str)> {
    if let Some((white, black)) = text.split_once(['v', 'V', '-']) {
        return Some((white.trim_end(), black.trim_start()));
    }
    let (second, _) = text.match_indices(['K', 'k']).nth(1)?;
    Some(text.split_at(second))
}

impl MaterialSignature {
    /// Parses a signature; letters can be in upper or lower case.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self, MaterialError> {
        let both = sides(text.trim()).filter(|(white, black)| !white.is_empty() && !black.is_empty());
        let (white, black) = both.ok_or_else(|| MaterialError::Sides(quoted(text)))?;
        let mut signature = Self { least: 0, most: 0 };
        signature.read_side(white, Color::White)?;
        signature.read_side(black, Color::Black)?;
        Ok(signature)
    }

    fn read_side(&mut self, text: &str, color: Color) -> Result<(), MaterialError> {
        let (mut least, mut most) = ([0; 16], [0; 16]);
        let pieces = text.strip_suffix("..");
        let (pieces, open) = (pieces.unwrap_or(text), pieces.is_some());
        let mut letters = pieces.chars().peekable();
        while let Some(letter) = letters.next() {
            let kind = u8::try_from(letter.to_ascii_uppercase()).ok().and_then(PieceKind::from_letter);
            let code = usize::from(Piece::new(kind.ok_or(MaterialError::Sign(letter))?, color).code());
            let (low, high) = match letters.next_if(|sign| matches!(sign, '*' | '+' | '?')) {
                None => (1, 1),
                Some('*') => (0, MAX),
                Some('+') => (1, MAX),
                Some(_) => (0, 1),
            };
            least[code] += low;
            most[code] = MAX.min(most[code] + high);
        }
        let king = usize::from(Piece::new(PieceKind::King, color).code());
        if (least[king], most[king]) != (1, 1) {
            return Err(MaterialError::King(quoted(text)));
        }
        if least.iter().sum::<u64>() > 16 {
            return Err(MaterialError::TooMany(quoted(text)));
        }
        for kind in PieceKind::ALL {
            let code = Piece::new(kind, color).code();
            let most = if open && kind != PieceKind::King { MAX } else { most[usize::from(code)] };
            self.least += least[usize::from(code)] * one(code);
            self.most += most * one(code);
        }
        Ok(())
    }

    /// The same signature with the colours swapped.
    #[must_use]
    pub fn reversed(self) -> Self {
        let turned = |counts: u64| {
            // The codes of the white and the black piece of a kind differ in the last bit.
            (2..14).fold(0, |all, code| all + (Material(counts).count_of(code) & MAX) * one(code ^ 1))
        };
        Self { least: turned(self.least), most: turned(self.most) }
    }

    /// Whether a position, given as a FEN or as its placement alone, matches. Allocates nothing.
    #[must_use]
    pub fn matches(&self, fen: &[u8]) -> bool {
        self.includes(Material::from_placement(fen))
    }

    /// The range from the least to the greatest [packed](Material::packed) number that can match; not all
    /// numbers in this range match.
    #[must_use]
    pub fn packed_range(&self) -> std::ops::RangeInclusive<u64> {
        Material(self.least).packed()..=Material(self.most).packed()
    }

    /// Whether positions with this material match.
    #[must_use]
    pub const fn includes(&self, material: Material) -> bool {
        // A subtraction borrows from a guard bit if a count is less than the minimum or more than the
        // maximum.
        let enough = (material.0 | GUARDS).wrapping_sub(self.least);
        let no_more = (self.most | GUARDS).wrapping_sub(material.0);
        enough & no_more & GUARDS == GUARDS
    }
}
