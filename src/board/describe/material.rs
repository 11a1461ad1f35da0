//! Material: how many pieces of each kind each side has.

use std::fmt;

use crate::board::piece::LETTERS;
use crate::board::{Color, Kind, Piece, Setup, SetupError};

/// The order in which material is written.
const ORDER: [Kind; 6] = [Kind::King, Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight, Kind::Pawn];
/// Bits of a piece's count: four and a guard above them, as no side has more than 16 pieces and one of them is its king.
const BITS: u32 = 5;
const MAX: u64 = 15;
/// The guard belongs to the count of a set-up with more pieces than a game can have; signatures do not fit all of these.
const WITH_GUARD: u64 = 31;
/// The guards of all counts.
const GUARDS: u64 = {
    let (mut guards, mut code) = (0, 2);
    while code < 14 {
        guards |= one(code) << 4;
        code += 1;
    }
    guards
};

/// The count of one piece of this code.
const fn one(code: u8) -> u64 {
    1 << (BITS * (code as u32 - 2))
}

/// What to add for each letter of a placement.
static COUNTS: [u64; 256] = {
    let mut table = [0; 256];
    let mut code = 2;
    while code < 14 {
        table[LETTERS[code as usize] as usize] = one(code);
        code += 1;
    }
    table
};

/// Piece codes in the order of a packed number.
const PACKED: [u8; 10] = [
    Kind::Queen as u8,
    Kind::Rook as u8,
    Kind::Bishop as u8,
    Kind::Knight as u8,
    Kind::Queen as u8 + 1,
    Kind::Rook as u8 + 1,
    Kind::Bishop as u8 + 1,
    Kind::Knight as u8 + 1,
    Kind::Pawn as u8,
    Kind::Pawn as u8 + 1,
];

/// By piece code: what a piece adds to a packed number.
static PACKED_PIECES: [u64; 16] = {
    let mut table = [0; 16];
    let mut place = 0;
    while place < PACKED.len() {
        table[PACKED[place] as usize] = 1 << (4 * (PACKED.len() - 1 - place));
        place += 1;
    }
    table
};

/// How many pieces of each kind each side has. Shown as White's pieces, `v`, Black's pieces: `KRPPvKRP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Material(u64);

impl Material {
    /// Counts the pieces of a FEN, of which only the placement is read.
    ///
    /// # Errors
    /// When the placement cannot be read; when a side has not exactly one king or more than 16 pieces.
    pub fn from_fen(fen: &[u8]) -> Result<Self, SetupError> {
        Setup::parse_placement(fen)?;
        let fen = fen.trim_ascii_start();
        let material = Self::of(fen);
        let placement = || fen.iter().take_while(|byte| !byte.is_ascii_whitespace());
        for (color, count) in [
            (Color::White, placement().filter(|letter| letter.is_ascii_uppercase()).count() as u32),
            (Color::Black, placement().filter(|letter| letter.is_ascii_lowercase()).count() as u32),
        ] {
            if count > 16 {
                return Err(SetupError::TooManyPieces { color, count });
            }
            let king = Piece::new(Kind::King, color);
            if material.count(king) != 1 {
                let count = placement().filter(|&&letter| letter == king.letter()).count() as u32;
                return Err(SetupError::Kings { color, count });
            }
        }
        Ok(material)
    }

    /// Counts the pieces of a legal position, given as a FEN or as its placement alone. Allocates nothing, checks nothing.
    #[must_use]
    pub fn of(fen: &[u8]) -> Self {
        let placement = fen.iter().take_while(|byte| !byte.is_ascii_whitespace());
        Self(placement.fold(0, |all, &letter| all.wrapping_add(COUNTS[usize::from(letter)])))
    }

    /// With the piece of a letter of a placement.
    #[inline]
    pub(super) fn and(self, letter: u8) -> Self {
        Self(self.0.wrapping_add(COUNTS[usize::from(letter)]))
    }

    /// How many of these pieces there are.
    #[must_use]
    pub const fn count(self, piece: Piece) -> u32 {
        (self.0 >> (BITS * (piece.code() as u32 - 2)) & WITH_GUARD) as u32
    }

    /// The counts of all pieces but the kings in a number, four bits each: as hexadecimal digits White's queens, rooks, bishops and
    /// knights, Black's, White's pawns, Black's.
    #[must_use]
    pub fn packed(self) -> u64 {
        PACKED.iter().fold(0, |all, &code| {
            let count = self.0 >> (BITS * (u32::from(code) - 2)) & WITH_GUARD;
            (all << 4) + count
        })
    }

    /// The counts of a [packed](Self::packed) number, and a king of each side.
    #[must_use]
    pub fn from_packed(packed: u64) -> Self {
        let kings = one(Kind::King as u8) + one(Kind::King as u8 + 1);
        let counts = PACKED.iter().rev().zip((0..).step_by(4));
        Self(counts.fold(kings, |all, (&code, shift)| all + (packed >> shift & MAX) * one(code)))
    }

    /// What a piece adds to a [packed](Self::packed) number; 0 for a king.
    #[must_use]
    #[inline]
    pub fn packed_piece(piece: Piece) -> u64 {
        PACKED_PIECES[piece.code() as usize & 15]
    }

    /// By how many pawns White has more ([`Kind::value`]).
    #[must_use]
    pub fn balance(self) -> i32 {
        let side = |color| -> i32 {
            Kind::ALL
                .iter()
                .map(|&kind| kind.value() * self.count(Piece::new(kind, color)).cast_signed())
                .sum()
        };
        side(Color::White) - side(Color::Black)
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for color in [Color::White, Color::Black] {
            for kind in ORDER {
                for _ in 0..self.count(Piece::new(kind, color)) {
                    write!(f, "{}", char::from(kind.letter()))?;
                }
            }
            if color == Color::White {
                f.write_str("v")?;
            }
        }
        Ok(())
    }
}

/// What material is asked for, compiled once to be compared with many positions.
///
/// White's pieces and then Black's, parted by `v` or `-`, or by nothing: then the second king is the first of Black's pieces. `KRPvKR`,
/// `KRP-KR` and `KRPKR` are the same. Where something parts them, a side's pieces may stand in any order.
///
/// After a letter, `*` stands for any number of this piece, none too, `+` for one or more, `?` for one or none. `..` after a side's
/// pieces lets it have any others as well: `KR..vKQ..` asks for a white rook and a black queen at least.
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

/// Why a text is no material signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// Not two sides.
    #[error(
        "material is White's pieces and Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR, not '{0}'"
    )]
    Sides(String),
    /// A letter that is no piece, or a sign in the wrong place.
    #[error("'{0}' is no piece (K Q R B N P) and no sign after one ('*' '+' '?', or '..' at the end)")]
    Sign(char),
    /// A side without exactly one king.
    #[error("'{0}' must have exactly one king")]
    King(String),
    /// More pieces than a side can have.
    #[error("'{0}' has more than 16 pieces")]
    TooMany(String),
}

/// As much of a text as a message quotes.
fn quoted(text: &str) -> String {
    const MOST: usize = 100;
    let more = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    text.chars().take(MOST).chain(more.chars()).collect()
}

/// White's pieces and Black's.
fn sides(text: &str) -> Option<(&str, &str)> {
    if let Some((white, black)) = text.split_once(['v', 'V', '-']) {
        return Some((white.trim_end(), black.trim_start()));
    }
    let (second, _) = text.match_indices(['K', 'k']).nth(1)?;
    Some(text.split_at(second))
}

impl MaterialSignature {
    /// Reads a signature, in letters of either case.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, MaterialError> {
        let (white, black) = sides(text.trim()).ok_or_else(|| MaterialError::Sides(quoted(text)))?;
        let mut signature = Self { least: 0, most: 0 };
        for (side, color) in [(white, Color::White), (black, Color::Black)] {
            signature.read_side(side, color)?;
        }
        Ok(signature)
    }

    fn read_side(&mut self, text: &str, color: Color) -> Result<(), MaterialError> {
        let (mut least, mut most) = ([0; 16], [0; 16]);
        let (pieces, open) = match text.strip_suffix("..") {
            Some(pieces) => (pieces, true),
            None => (text, false),
        };
        let mut letters = pieces.chars().peekable();
        while let Some(letter) = letters.next() {
            let kind = u8::try_from(letter.to_ascii_uppercase()).ok().and_then(Kind::from_letter);
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
        let king = usize::from(Piece::new(Kind::King, color).code());
        if (least[king], most[king]) != (1, 1) {
            return Err(MaterialError::King(quoted(text)));
        }
        if least.iter().sum::<u64>() > 16 {
            return Err(MaterialError::TooMany(quoted(text)));
        }
        for kind in Kind::ALL {
            let code = Piece::new(kind, color).code();
            let most = if open && kind != Kind::King { MAX } else { most[usize::from(code)] };
            self.least += least[usize::from(code)] * one(code);
            self.most += most * one(code);
        }
        Ok(())
    }

    /// The same material with the colours changed.
    #[must_use]
    pub fn reversed(self) -> Self {
        let turned = |counts: u64| {
            Kind::ALL.iter().fold(0, |all, &kind| {
                let (white, black) =
                    (Piece::new(kind, Color::White).code(), Piece::new(kind, Color::Black).code());
                let count = |code: u8| counts >> (BITS * (u32::from(code) - 2)) & MAX;
                all + count(white) * one(black) + count(black) * one(white)
            })
        };
        Self { least: turned(self.least), most: turned(self.most) }
    }

    /// Whether a position fits, given as a FEN or as its placement alone. Allocates nothing.
    #[must_use]
    pub fn matches(&self, fen: &[u8]) -> bool {
        self.includes(Material::of(fen))
    }

    /// The least and the greatest [packed](Material::packed) number of a material that fits; not all between them fit.
    #[must_use]
    pub fn packed_range(&self) -> std::ops::RangeInclusive<u64> {
        Material(self.least).packed()..=Material(self.most).packed()
    }

    /// Whether this material fits.
    #[must_use]
    pub const fn includes(&self, material: Material) -> bool {
        // A guard is borrowed from where a count is less than the least, or more than the most.
        let enough = (material.0 | GUARDS).wrapping_sub(self.least);
        let no_more = (self.most | GUARDS).wrapping_sub(material.0);
        enough & no_more & GUARDS == GUARDS
    }
}
