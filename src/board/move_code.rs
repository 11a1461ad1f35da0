//! The 32-bit move code.

use std::fmt;

use super::{Color, Piece, PieceKind, Square};

/// A move in 32 bits, with all data that is needed to play it and to search for it in SQL.
///
/// | bits | 29 | 28 | 27..24 | 23..16 | 15..8 | 7..4 | 3..0 |
/// |---|---|---|---|---|---|---|---|
/// | | mate | check | SPECIAL | FROM | TO | PIECE | CAPTURED |
///
/// FROM and TO are 0x88 indexes; PIECE and CAPTURED are piece codes (CAPTURED 0: none). SPECIAL is a
/// [`Special`]. Bit 28 means that the move gives check or mate, bit 29 that it gives mate; both bits are 0
/// until this has been determined. Bits 30 and 31 are zero. FROM and TO of castling are the king's squares,
/// also in Chess960. A null move is 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MoveCode(u32);

/// The special kind of a move: bits 24 to 27 of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// 0: a null move.
    Null,
    /// 1: O-O.
    CastleShort,
    /// 2: O-O-O.
    CastleLong,
    /// 3: neither a pawn move nor a capture nor castling.
    Reversible,
    /// 4, 5, 8..=13: promotion to this piece.
    Promotion(Piece),
    /// 6: a pawn moves one square or captures, without promotion and not en passant.
    Pawn,
    /// 7: a capture by a piece other than a pawn.
    Capture,
    /// 14: a pawn moves two squares.
    DoubleStep,
    /// 15: a pawn captures en passant.
    EnPassant,
}

/// The four SPECIAL bits of each kind of move; for promotions, they are the code of the promotion piece.
pub(super) mod special_bits {
    pub(in crate::board) const NULL: u8 = 0;
    pub(in crate::board) const CASTLE_SHORT: u8 = 1;
    pub(in crate::board) const CASTLE_LONG: u8 = 2;
    pub(in crate::board) const REVERSIBLE: u8 = 3;
    pub(in crate::board) const PAWN: u8 = 6;
    pub(in crate::board) const CAPTURE: u8 = 7;
    pub(in crate::board) const DOUBLE_STEP: u8 = 14;
    pub(in crate::board) const EN_PASSANT: u8 = 15;
}

impl Special {
    /// The four SPECIAL bits of a code.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Null => special_bits::NULL,
            Self::CastleShort => special_bits::CASTLE_SHORT,
            Self::CastleLong => special_bits::CASTLE_LONG,
            Self::Reversible => special_bits::REVERSIBLE,
            Self::Promotion(piece) => piece.code(),
            Self::Pawn => special_bits::PAWN,
            Self::Capture => special_bits::CAPTURE,
            Self::DoubleStep => special_bits::DOUBLE_STEP,
            Self::EnPassant => special_bits::EN_PASSANT,
        }
    }

    const fn from_bits(bits: u8) -> Self {
        match bits & 15 {
            special_bits::NULL => Self::Null,
            special_bits::CASTLE_SHORT => Self::CastleShort,
            special_bits::CASTLE_LONG => Self::CastleLong,
            special_bits::REVERSIBLE => Self::Reversible,
            special_bits::PAWN => Self::Pawn,
            special_bits::CAPTURE => Self::Capture,
            special_bits::DOUBLE_STEP => Self::DoubleStep,
            special_bits::EN_PASSANT => Self::EnPassant,
            code => match Piece::from_code(code) {
                Some(piece) => Self::Promotion(piece),
                None => Self::Null,
            },
        }
    }
}

impl MoveCode {
    /// The null move: the side to move passes.
    pub const NULL: Self = Self(0);
    /// The bits that identify a move in a position: the lower 28.
    pub const MODEL_MASK: u32 = 0x0fff_ffff;
    /// Only in the bytes of `game_moves`: en passant is legal in the position after the move.
    const EN_PASSANT_FOLLOWS: u32 = 1 << 31;
    const CHECK: u32 = 1 << 28;
    const MATE: u32 = 1 << 29;

    /// Builds a code.
    #[must_use]
    pub const fn new(
        special: Special,
        from: Square,
        to: Square,
        piece: Piece,
        captured: Option<Piece>,
    ) -> Self {
        let captured = match captured {
            Some(piece) => piece.code(),
            None => 0,
        };
        Self::from_parts(special.bits(), from.index(), to.index(), piece.code(), captured)
    }

    /// Builds a code from the values of its fields.
    pub(super) const fn from_parts(special: u8, from: u8, to: u8, piece: u8, captured: u8) -> Self {
        Self((special as u32) << 24 | (from as u32) << 16 | (to as u32) << 8 | (piece << 4 | captured) as u32)
    }

    /// The code with these 32 bits; `None` if they cannot be a move. All bits are 0 in a null move. In any
    /// other move, both squares are on the board, the piece codes are valid, SPECIAL is not 0, and bits 30
    /// and 31 are 0.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        let code = Self(bits);
        let squares = bits & 0x0088_8800 == 0;
        let pieces = matches!(code.piece_bits(), 2..=13) && matches!(code.captured_bits(), 0 | 2..=13);
        let special = code.special_bits() != special_bits::NULL;
        if bits == 0 || (bits >> 30 == 0 && squares && pieces && special) { Some(code) } else { None }
    }

    /// The code with these 32 bits, which are not validated: for bits that were stored as a move. No method
    /// panics on an invalid code.
    #[must_use]
    pub const fn from_stored(bits: u32) -> Self {
        Self(bits)
    }

    /// The four bytes of this move in `game_moves`: its code, and whether en passant is legal in the position
    /// after the move.
    #[must_use]
    pub(crate) const fn to_row(self, en_passant_follows: bool) -> [u8; 4] {
        (self.0 | if en_passant_follows { Self::EN_PASSANT_FOLLOWS } else { 0 }).to_be_bytes()
    }

    /// The code in four bytes of `game_moves`, and whether en passant is legal in the position after the move.
    #[must_use]
    pub(crate) const fn from_row(bytes: [u8; 4]) -> (Self, bool) {
        let stored = u32::from_be_bytes(bytes);
        (Self(stored & !Self::EN_PASSANT_FOLLOWS), stored & Self::EN_PASSANT_FOLLOWS != 0)
    }

    /// All 32 bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The code with the bits for check and mate cleared.
    #[must_use]
    pub const fn model(self) -> Self {
        Self(self.0 & Self::MODEL_MASK)
    }

    /// The special kind of the move.
    #[must_use]
    #[inline]
    pub const fn special(self) -> Special {
        Special::from_bits(self.special_bits())
    }

    /// The square from which the piece moves (in castling, the king).
    #[must_use]
    #[inline]
    pub const fn from(self) -> Square {
        Square::masked((self.0 >> 16) as u8)
    }

    /// The square to which the piece moves (in castling, the king).
    #[must_use]
    #[inline]
    pub const fn to(self) -> Square {
        Square::masked((self.0 >> 8) as u8)
    }

    /// The piece that moves; the pawn, in a promotion. `None` for a null move.
    #[must_use]
    #[inline]
    pub const fn piece(self) -> Option<Piece> {
        Piece::from_code(self.piece_bits())
    }

    /// The captured piece, if there is one.
    #[must_use]
    #[inline]
    pub const fn captured(self) -> Option<Piece> {
        Piece::from_code(self.captured_bits())
    }

    /// The promotion piece, if the move is a promotion.
    #[must_use]
    pub const fn promotion(self) -> Option<Piece> {
        match self.special() {
            Special::Promotion(piece) => Some(piece),
            _ => None,
        }
    }

    /// Whether this is a null move.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0 & Self::MODEL_MASK == 0
    }

    /// Whether the check bit is set: the move gives check or mate.
    #[must_use]
    pub const fn is_check(self) -> bool {
        self.0 & Self::CHECK != 0
    }

    /// Whether the mate bit is set: the move gives mate.
    #[must_use]
    pub const fn is_mate(self) -> bool {
        self.0 & Self::MATE != 0
    }

    /// The same move with the check bit set or cleared.
    #[must_use]
    pub const fn with_check(self, check: bool) -> Self {
        Self(self.0 & !Self::CHECK | (check as u32) << 28)
    }

    /// The same move with the bits for check and mate set.
    #[must_use]
    pub const fn with_mate(self) -> Self {
        Self(self.0 | Self::CHECK | Self::MATE)
    }

    /// The move in UCI notation: `e2e4`, `e7e8q`, `0000`. Castling is written as the king's move (`e1g1`) if
    /// `rook` is `None`. Otherwise, as in Chess960, it is written as the king taking the rook on `rook`.
    /// For moves other than castling, `rook` must be `None`.
    #[must_use]
    pub fn uci(self, rook: Option<Square>) -> Uci {
        let mut text = [0; 5];
        if self.is_null() {
            text[..4].copy_from_slice(b"0000");
            return Uci { text, len: 4 };
        }
        text[..2].copy_from_slice(&self.from().name());
        text[2..4].copy_from_slice(&rook.unwrap_or(self.to()).name());
        let Some(piece) = self.promotion() else { return Uci { text, len: 4 } };
        text[4] = piece.kind().letter().to_ascii_lowercase();
        Uci { text, len: 5 }
    }

    pub(super) const fn special_bits(self) -> u8 {
        (self.0 >> 24) as u8 & 15
    }

    pub(super) const fn piece_bits(self) -> u8 {
        (self.0 >> 4) as u8 & 15
    }

    pub(super) const fn captured_bits(self) -> u8 {
        self.0 as u8 & 15
    }

    /// The colour of the moving piece.
    pub(super) const fn color(self) -> Color {
        if self.piece_bits() & 1 == 0 { Color::White } else { Color::Black }
    }

    /// Whether this is a pawn move or a capture, which resets the half-move clock.
    pub(super) const fn is_irreversible(self) -> bool {
        self.captured_bits() != 0 || self.piece_bits() & !1 == PieceKind::Pawn as u8
    }
}

impl fmt::Debug for MoveCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoveCode({:#010x} {})", self.0, self.uci(None))
    }
}

/// A move in UCI notation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Uci {
    text: [u8; 5],
    len: u8,
}

impl Uci {
    /// The text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.len)]
    }
}

impl fmt::Display for Uci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|&byte| write!(f, "{}", char::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(name: &str) -> Square {
        Square::parse(name.as_bytes()).unwrap()
    }

    #[test]
    fn a_known_move_has_known_bits() {
        let queen = Piece::new(PieceKind::Queen, Color::Black);
        let code = MoveCode::new(Special::Reversible, square("d8"), square("h4"), queen, None);
        assert_eq!(code.bits(), 0x0373_37d0);
        assert_eq!((code.from(), code.to()), (square("d8"), square("h4")));
        assert_eq!((code.piece(), code.captured()), (Some(queen), None));
        assert_eq!(code.special(), Special::Reversible);
        assert_eq!(code.uci(None).to_string(), "d8h4");
        assert_eq!(code.with_mate().model(), code);
        assert!(code.with_mate().is_check() && code.with_mate().is_mate());
    }

    #[test]
    fn invalid_bits_are_refused() {
        assert_eq!(MoveCode::from_bits(0), Some(MoveCode::NULL));
        assert!(MoveCode::from_bits(0x0373_37d0).is_some());
        for bits in
            [0x0388_37d0, 0x0373_88d0, 0x8373_37d0, 0x4373_37d0, 0x0373_3700, 0x0373_37d1, 0x0073_37d0]
        {
            assert_eq!(MoveCode::from_bits(bits), None, "{bits:#x}");
        }
    }

    #[test]
    fn every_special_has_its_own_bits() {
        for bits in 0..16 {
            assert_eq!(Special::from_bits(bits).bits(), bits);
        }
    }
}
