//! A move in 15 bits, for use with a known position.

use super::{MoveCode, Position};

/// A move in 15 bits: enough to distinguish the moves of one position, and to restore the [`MoveCode`] if the
/// position is known.
///
/// Bits 14..12 are the kind of move (promotions, castling, null move), 11..6 the origin square, 5..0 the
/// target square, as [ordinals](super::Square::ordinal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortMove(u16);

/// Indexed by the four SPECIAL bits: the kind of a short move. Kinds 1 to 4 are promotions to knight, bishop,
/// rook and queen. Kinds 5 and 6 are castling, 7 is a null move, and 0 is any other move.
const KIND: [u16; 16] = [7, 5, 6, 0, 1, 1, 0, 0, 2, 2, 3, 3, 4, 4, 0, 0];

impl ShortMove {
    /// The bits that a short move uses.
    pub const MASK: u16 = 0x7fff;

    /// The short form of a move.
    #[inline]
    #[must_use]
    pub const fn new(code: MoveCode) -> Self {
        let kind = KIND[code.special_bits() as usize];
        Self(kind << 12 | (code.from().ordinal() as u16) << 6 | code.to().ordinal() as u16)
    }

    /// The short move with these bits; bit 15 is ignored.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::MASK)
    }

    /// The bits of the move.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl Position {
    /// Plays the move that `short` means. Returns its code with the bits for check and mate. If there is no
    /// such legal move, returns `None`, and the position is unchanged.
    pub fn make_short(&mut self, short: ShortMove) -> Option<MoveCode> {
        let mut moves = Vec::new();
        if short == ShortMove::new(MoveCode::NULL) {
            moves.push(MoveCode::NULL);
        } else {
            self.pseudo_legal_moves(&mut moves);
        }
        let code = moves.into_iter().find(|&code| ShortMove::new(code) == short)?;
        let code = self.make(code).ok()?;
        Some(self.mark_mate(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_moves_are_unique_in_a_position_and_decoded_again() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 1",
            "2rkr3/8/8/8/8/8/8/2RKR3 w ECec - 0 1",
            "7k/8/8/8/8/8/8/1RKR4 w DB - 0 1",
            "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1",
        ] {
            let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
            let mut moves = vec![];
            position.legal_moves(&mut moves);
            assert!(!moves.is_empty());
            if !position.is_check() {
                moves.push(MoveCode::NULL);
            }
            let mut shorts: Vec<_> = moves.iter().map(|&code| ShortMove::new(code)).collect();
            for (&code, &short) in moves.iter().zip(&shorts) {
                let (mut expected, mut found) = (position.clone(), position.clone());
                let made = expected.make(code).unwrap();
                let again = found.make_short(short).unwrap();
                assert_eq!(again.with_check(false).model(), made.with_check(false).model(), "{fen}");
                assert_eq!(again.is_check(), made.is_check());
                assert_eq!(again.is_mate(), expected.is_check() && !expected.has_legal_move());
                assert_eq!(found, expected);
                assert_eq!(ShortMove::from_bits(short.bits()), short);
            }
            shorts.sort_unstable();
            shorts.dedup();
            assert_eq!(shorts.len(), moves.len(), "{fen}");
        }
    }

    #[test]
    fn illegal_moves_are_rejected() {
        let mut position = Position::start();
        for bits in [0, 0x7000 | 1, ShortMove::MASK, 12 << 6 | 36] {
            assert_eq!(position.make_short(ShortMove::from_bits(bits)), None);
        }
        assert_eq!(position, Position::start());
        assert!(position.make_short(ShortMove::from_bits(12 << 6 | 28)).is_some());
    }
}
