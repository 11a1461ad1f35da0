//! Kinds of features, and `Feature` for six of these kinds: all its values have consecutive indexes.
//! Material and pieces on squares are represented in other ways.

use crate::board::{Color, PawnStructure, Piece, Square};

/// A kind of features: the column `kind` of `game_set`. Kinds are in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FeatureKind {
    /// A piece captures on a square.
    Capture,
    /// A side castles.
    Castling,
    /// A piece moves to a square, and the move gives check or mate.
    Check,
    /// The game itself. The features of a game that is not in this set are unknown.
    Game,
    /// A piece moves to a square, and the move gives mate.
    Mate,
    /// How many pieces of each kind and side are on the board.
    Material,
    /// The squares of all pawns, represented by the first bits of the structure's [key](PawnStructure::key).
    Pawns,
    /// A piece is on a square.
    Piece,
    /// A pawn promotes to a piece on a square.
    Promotion,
}

impl FeatureKind {
    /// The kinds in order, with their names in the table.
    pub(super) const NAMES: [(Self, &str); 9] = [
        (Self::Capture, "capture"),
        (Self::Castling, "castling"),
        (Self::Check, "check"),
        (Self::Game, "game"),
        (Self::Mate, "mate"),
        (Self::Material, "material"),
        (Self::Pawns, "pawns"),
        (Self::Piece, "piece"),
        (Self::Promotion, "promotion"),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|kind| kind.1 == name).map(|kind| kind.0)
    }

    /// The name in the table.
    pub(crate) const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

/// The number of pairs of a piece (codes 2 to 13) and a square.
pub(super) const PIECE_SQUARES: u16 = 12 * 64;
const CASTLINGS: u16 = 4;
/// The number of leading bits of a pawn structure's key that identify a feature. Several structures can have
/// the same leading bits.
const PAWN_BITS: u32 = 12;

/// A feature of a game, except material and pieces on squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Feature(u16);

/// The kinds that a [`Feature`] can have, in order, each with the number of its features.
const PARTS: [(FeatureKind, u16); 6] = [
    (FeatureKind::Capture, PIECE_SQUARES),
    (FeatureKind::Castling, CASTLINGS),
    (FeatureKind::Check, PIECE_SQUARES),
    (FeatureKind::Mate, PIECE_SQUARES),
    (FeatureKind::Pawns, 1 << PAWN_BITS),
    (FeatureKind::Promotion, PIECE_SQUARES),
];

const fn first_of(kind: FeatureKind) -> u16 {
    let (mut first, mut part) = (0, 0);
    while part < PARTS.len() && PARTS[part].0 as u8 != kind as u8 {
        first += PARTS[part].1;
        part += 1;
    }
    first
}

const CAPTURE: u16 = first_of(FeatureKind::Capture);
const CASTLING: u16 = first_of(FeatureKind::Castling);
const CHECK: u16 = first_of(FeatureKind::Check);
const MATE: u16 = first_of(FeatureKind::Mate);
const PAWNS: u16 = first_of(FeatureKind::Pawns);
const PROMOTION: u16 = first_of(FeatureKind::Promotion);

/// A number for a piece on a square: the value of the column `value` for most kinds.
#[inline]
pub(crate) const fn piece_square(piece: Piece, square: Square) -> u16 {
    (piece.code() as u16 - 2) * 64 + square.ordinal() as u16
}

impl Feature {
    pub(super) const COUNT: usize = PROMOTION as usize + PIECE_SQUARES as usize;

    /// A piece captures on a square.
    #[inline]
    pub(crate) const fn capture(piece: Piece, square: Square) -> Self {
        Self(CAPTURE + piece_square(piece, square))
    }

    /// A side castles.
    #[inline]
    pub(crate) const fn castling(color: Color, short: bool) -> Self {
        Self(CASTLING + 2 * color as u16 + !short as u16)
    }

    /// A piece moves to a square, and the move gives check or mate.
    #[inline]
    pub(crate) const fn check(piece: Piece, square: Square) -> Self {
        Self(CHECK + piece_square(piece, square))
    }

    /// A piece moves to a square, and the move gives mate.
    #[inline]
    pub(crate) const fn mate(piece: Piece, square: Square) -> Self {
        Self(MATE + piece_square(piece, square))
    }

    /// The pawns have a structure whose [key](PawnStructure::key) has the same first [`PAWN_BITS`] bits as
    /// `key`.
    #[inline]
    pub(crate) const fn pawns(key: u64) -> Self {
        Self(PAWNS + (key >> (u64::BITS - PAWN_BITS)) as u16)
    }

    /// The pawns have this structure, or another one whose key has the same first [`PAWN_BITS`] bits.
    pub(crate) fn structure(structure: PawnStructure) -> Self {
        Self::pawns(structure.key())
    }

    /// A pawn promotes to a piece on a square.
    #[inline]
    pub(crate) const fn promotion(piece: Piece, square: Square) -> Self {
        Self(PROMOTION + piece_square(piece, square))
    }

    /// The index of the feature among all values of this type, from 0.
    #[inline]
    pub(super) const fn index(self) -> u16 {
        self.0
    }

    pub(super) fn all_of(kind: FeatureKind) -> impl Iterator<Item = Self> {
        let count = PARTS.iter().find(|part| part.0 == kind).map_or(0, |part| part.1);
        (first_of(kind)..first_of(kind) + count).map(Self)
    }

    /// The kind and the value of the feature in `game_set`.
    pub(crate) fn place(self) -> (FeatureKind, i64) {
        let mut value = self.0;
        for (kind, count) in PARTS {
            if value < count {
                return (kind, value.into());
            }
            value -= count;
        }
        unreachable!("no feature has the number {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_own_index_in_the_order_of_the_table() {
        let all = || (0..Feature::COUNT as u16).map(Feature);
        assert!(all().is_sorted_by_key(|feature| (feature.place().0.as_str(), feature.place().1)));
        let of_kinds = PARTS.iter().flat_map(|part| Feature::all_of(part.0));
        assert!(of_kinds.eq(all()));
    }

    #[test]
    fn values_are_those_of_the_schema() {
        let (rook, h8) = (Piece::from_code(11).unwrap(), Square::at(7, 7));
        assert_eq!(Feature::capture(rook, h8).place(), (FeatureKind::Capture, 9 * 64 + 63));
        assert_eq!(Feature::check(rook, h8).place(), (FeatureKind::Check, 9 * 64 + 63));
        assert_eq!(Feature::mate(rook, h8).place(), (FeatureKind::Mate, 9 * 64 + 63));
        assert_eq!(Feature::promotion(rook, h8).place(), (FeatureKind::Promotion, 9 * 64 + 63));
        assert_eq!(Feature::castling(Color::White, true).place(), (FeatureKind::Castling, 0));
        assert_eq!(Feature::castling(Color::Black, false).place(), (FeatureKind::Castling, 3));
        assert_eq!(Feature::pawns(u64::MAX).place(), (FeatureKind::Pawns, 4095));
    }
}
