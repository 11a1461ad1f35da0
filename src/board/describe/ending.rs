//! Kinds of endings, by material.

use super::material::Material;
use crate::board::{Color, Piece, PieceKind};

/// A kind of ending. Each side has its king, any number of pawns, and no other pieces than those listed for
/// the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Only kings and pawns, with at least one pawn.
    Pawn,
    /// One or more knights on each side.
    Knight,
    /// One or more bishops on each side.
    Bishop,
    /// One bishop on each side, both on squares of the same colour.
    SameBishops,
    /// One bishop on each side, on squares of different colours.
    OppositeBishops,
    /// One or more bishops on one side, one or more knights on the other.
    BishopKnight,
    /// One or more bishops or knights on each side.
    Minor,
    /// One or more rooks on each side.
    Rook,
    /// One rook on one side, one bishop or knight on the other.
    RookMinor,
    /// One or more queens on each side.
    Queen,
    /// One queen on one side, one or two rooks on the other.
    QueenRook,
}

const MOST: u32 = u32::MAX;

/// The numbers of queens, rooks, bishops and knights of a side.
type Officers = [u32; 4];

impl Ending {
    /// All kinds of endings.
    pub const ALL: [Self; 11] = [
        Self::Pawn,
        Self::Knight,
        Self::Bishop,
        Self::SameBishops,
        Self::OppositeBishops,
        Self::BishopKnight,
        Self::Minor,
        Self::Rook,
        Self::RookMinor,
        Self::Queen,
        Self::QueenRook,
    ];

    /// The name of this kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pawn => "pawn",
            Self::Knight => "knight",
            Self::Bishop => "bishop",
            Self::SameBishops => "same-bishops",
            Self::OppositeBishops => "opposite-bishops",
            Self::BishopKnight => "bishop-knight",
            Self::Minor => "minor",
            Self::Rook => "rook",
            Self::RookMinor => "rook-minor",
            Self::Queen => "queen",
            Self::QueenRook => "queen-rook",
        }
    }

    /// Whether a position, given as a FEN or as its placement alone, is of this kind.
    #[must_use]
    pub fn matches(self, fen: &[u8]) -> bool {
        self.includes(Material::from_placement(fen))
            && match self {
                Self::SameBishops => !are_on_both_colors(fen),
                Self::OppositeBishops => are_on_both_colors(fen),
                _ => true,
            }
    }

    /// Whether the material alone decides if a position is of this kind.
    #[must_use]
    pub const fn is_decided_by_material(self) -> bool {
        !matches!(self, Self::SameBishops | Self::OppositeBishops)
    }

    /// Whether a position with this material can be of this kind.
    #[must_use]
    pub fn includes(self, material: Material) -> bool {
        let officers = |color| {
            [PieceKind::Queen, PieceKind::Rook, PieceKind::Bishop, PieceKind::Knight]
                .map(|kind| material.count(Piece::new(kind, color)))
        };
        let (white, black) = (officers(Color::White), officers(Color::Black));
        let both = |fits: fn(Officers) -> bool| fits(white) && fits(black);
        let either = |one: fn(Officers) -> bool, other: fn(Officers) -> bool| {
            one(white) && other(black) || one(black) && other(white)
        };
        let pawns = |color| material.count(Piece::new(PieceKind::Pawn, color));
        match self {
            Self::Pawn => both(|side| side == [0; 4]) && pawns(Color::White) + pawns(Color::Black) > 0,
            Self::Knight => both(|side| matches!(side, [0, 0, 0, 1..=MOST])),
            Self::Bishop => both(|side| matches!(side, [0, 0, 1..=MOST, 0])),
            Self::SameBishops | Self::OppositeBishops => both(|side| side == [0, 0, 1, 0]),
            Self::BishopKnight => {
                either(|side| matches!(side, [0, 0, 1..=MOST, 0]), |side| matches!(side, [0, 0, 0, 1..=MOST]))
            }
            Self::Minor => both(|side| matches!(side, [0, 0, bishops, knights] if bishops + knights > 0)),
            Self::Rook => both(|side| matches!(side, [0, 1..=MOST, 0, 0])),
            Self::RookMinor => {
                either(|side| side == [0, 1, 0, 0], |side| matches!(side, [0, 0, 1, 0] | [0, 0, 0, 1]))
            }
            Self::Queen => both(|side| matches!(side, [1..=MOST, 0, 0, 0])),
            Self::QueenRook => either(|side| side == [1, 0, 0, 0], |side| matches!(side, [0, 1..=2, 0, 0])),
        }
    }
}

/// A set of kinds of endings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings(u16);

impl Endings {
    /// The kinds for which `is_in` returns true.
    pub fn where_each(is_in: impl Fn(Ending) -> bool) -> Self {
        let kinds = Ending::ALL.into_iter().filter(|&kind| is_in(kind));
        Self(kinds.fold(0, |all, kind| all | 1 << kind as u16))
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains this kind.
    #[must_use]
    pub const fn contains(self, kind: Ending) -> bool {
        self.0 >> kind as u16 & 1 == 1
    }

    /// The union of two sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// Whether the bishops of a position are on squares of both colours.
fn are_on_both_colors(fen: &[u8]) -> bool {
    let bishops = super::structure::pieces(fen).filter(|(_, letter)| matches!(letter, b'B' | b'b'));
    let (mut light, mut dark) = (false, false);
    bishops.for_each(|(square, _)| {
        let is_dark = (square.file() + square.rank()) % 2 == 0;
        dark |= is_dark;
        light |= !is_dark;
    });
    light && dark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(fen: &str) -> Vec<&'static str> {
        let endings = Endings::where_each(|kind| kind.matches(fen.as_bytes()));
        Ending::ALL.into_iter().filter(|&kind| endings.contains(kind)).map(Ending::as_str).collect()
    }

    #[test]
    fn endings_are_recognised_by_their_pieces() {
        for (fen, expected) in [
            ("8/5k2/8/8/8/8/4K2P/8 w - -", &["pawn"][..]),
            ("8/5k2/8/8/8/8/4K3/8 w - -", &[]),
            ("8/5kn1/8/8/8/8/4K1NP/8 w - -", &["knight", "minor"]),
            ("8/5kb1/8/8/8/8/4K1BP/8 w - -", &["bishop", "opposite-bishops", "minor"]),
            ("8/5kb1/8/8/8/8/4KB1P/8 w - -", &["bishop", "same-bishops", "minor"]),
            ("8/5kb1/8/8/8/8/4KBBP/8 w - -", &["bishop", "minor"]),
            ("8/5kb1/8/8/8/8/4K1NP/8 w - -", &["bishop-knight", "minor"]),
            ("8/5kbn/8/8/8/8/4K1NP/8 w - -", &["minor"]),
            ("8/5kr1/8/8/8/8/4K1RR/8 w - -", &["rook"]),
            ("8/5kr1/8/8/8/8/4K1NP/8 w - -", &["rook-minor"]),
            ("8/5kr1/8/8/8/8/4KBNP/8 w - -", &[]),
            ("8/5kq1/8/8/8/8/4K1QP/8 w - -", &["queen"]),
            ("8/5krr/8/8/8/8/4K1QP/8 w - -", &["queen-rook"]),
            ("8/5krn/8/8/8/8/4K1RP/8 w - -", &[]),
        ] {
            assert_eq!(kinds(fen), expected, "{fen}");
        }
    }
}
