//! Pieces, their kinds and their colours.

/// White or Black, numbered 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Color {
    /// Number 0. White pieces have even codes.
    #[default]
    White = 0,
    /// Number 1. Black pieces have odd codes.
    Black = 1,
}

impl Color {
    /// The other colour.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    /// `White` or `Black`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::White => "White",
            Self::Black => "Black",
        }
    }

    /// The letter of the colour in a FEN, `w` or `b`.
    #[must_use]
    pub const fn letter(self) -> u8 {
        match self {
            Self::White => b'w',
            Self::Black => b'b',
        }
    }
}

/// The kind of a piece, without its colour. The discriminant is the code of the white piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PieceKind {
    /// Codes 2 (white) and 3 (black).
    Pawn = 2,
    /// Codes 4 (white) and 5 (black).
    Knight = 4,
    /// Codes 6 (white) and 7 (black).
    King = 6,
    /// Codes 8 (white) and 9 (black).
    Bishop = 8,
    /// Codes 10 (white) and 11 (black).
    Rook = 10,
    /// Codes 12 (white) and 13 (black).
    Queen = 12,
}

impl PieceKind {
    /// All kinds by ascending code.
    pub const ALL: [Self; 6] = [Self::Pawn, Self::Knight, Self::King, Self::Bishop, Self::Rook, Self::Queen];

    /// All kinds in the usual order of lists, from king to pawn.
    pub(crate) const FROM_KING: [Self; 6] =
        [Self::King, Self::Queen, Self::Rook, Self::Bishop, Self::Knight, Self::Pawn];

    /// The kind for an upper-case SAN letter; a pawn has `P`.
    #[must_use]
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'P' => Self::Pawn,
            b'N' => Self::Knight,
            b'K' => Self::King,
            b'B' => Self::Bishop,
            b'R' => Self::Rook,
            b'Q' => Self::Queen,
            _ => return None,
        })
    }

    /// The upper-case SAN letter; a pawn has `P`.
    #[must_use]
    pub const fn letter(self) -> u8 {
        LETTERS[self as usize]
    }

    /// The English name of this kind, such as `knight`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pawn => "pawn",
            Self::Knight => "knight",
            Self::King => "king",
            Self::Bishop => "bishop",
            Self::Rook => "rook",
            Self::Queen => "queen",
        }
    }

    /// The value of this kind in pawns, as players usually count: a knight or bishop 3, a rook 5, a queen 9,
    /// a king 0.
    #[must_use]
    pub const fn value(self) -> i32 {
        match self {
            Self::Pawn => 1,
            Self::Knight | Self::Bishop => 3,
            Self::King => 0,
            Self::Rook => 5,
            Self::Queen => 9,
        }
    }
}

/// A coloured piece, as a code: even for white, odd for black; pawn 2/3, knight 4/5, king 6/7, bishop 8/9,
/// rook 10/11, queen 12/13.
///
/// On the board and in a move code, 0 means no piece.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece(u8);

impl Piece {
    /// The piece of this kind and colour.
    #[must_use]
    pub const fn new(kind: PieceKind, color: Color) -> Self {
        Self(kind as u8 | color as u8)
    }

    /// The piece with this code, 2 to 13.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        if matches!(code, 2..=13) { Some(Self(code)) } else { None }
    }

    /// The code, 2 to 13.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The kind of the piece.
    #[must_use]
    pub const fn kind(self) -> PieceKind {
        match self.0 & !1 {
            2 => PieceKind::Pawn,
            4 => PieceKind::Knight,
            6 => PieceKind::King,
            8 => PieceKind::Bishop,
            10 => PieceKind::Rook,
            _ => PieceKind::Queen,
        }
    }

    /// The colour of the piece.
    #[must_use]
    pub const fn color(self) -> Color {
        if self.0 & 1 == 0 { Color::White } else { Color::Black }
    }

    /// The piece for a FEN letter: upper case is white.
    #[must_use]
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Self::from_code(CODES[letter as usize])
    }

    /// The FEN letter: upper case is white.
    #[must_use]
    pub const fn letter(self) -> u8 {
        LETTERS[self.0 as usize & 15]
    }
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", char::from(self.letter()))
    }
}

/// FEN letters by piece code.
pub(super) const LETTERS: [u8; 16] = *b"..PpNnKkBbRrQq..";

/// Piece codes by FEN letter; 0 for bytes that are not piece letters.
pub(super) static CODES: [u8; 256] = {
    let mut table = [0; 256];
    let mut code = 2;
    while code < 14 {
        table[LETTERS[code as usize] as usize] = code;
        code += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_letters_agree() {
        for (letter, code) in b"PpNnKkBbRrQq".iter().zip(2..) {
            let piece = Piece::from_letter(*letter).unwrap();
            assert_eq!((piece.code(), piece.letter()), (code, *letter));
            assert_eq!(Piece::new(piece.kind(), piece.color()), piece);
        }
        assert_eq!(Piece::from_letter(b'x'), None);
        assert_eq!(Piece::from_code(0), None);
        assert_eq!(Piece::from_code(14), None);
    }
}
