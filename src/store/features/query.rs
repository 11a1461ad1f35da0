//! Queries on the sets of games, evaluated before positions are read.

use std::ops::RangeInclusive;

use crate::board::{
    Color, Description, Ending, Material, MaterialSignature, MovePattern, Pattern, PatternPart, Piece,
    PieceKind, PositionDistance, SquareSet,
};
use crate::store::block_games::BlockGames;
use crate::store::features::feature::{Feature, FeatureKind, piece_square};

const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Whether the set with this value is wanted.
type IsWanted<'w> = dyn Fn(i64) -> bool + 'w;

/// Reads the sets of a kind that are wanted and have a value in a range. Adds their games to the last argument.
type ReadSets<'r> =
    dyn FnMut(FeatureKind, RangeInclusive<i64>, &IsWanted<'_>, &mut BlockGames) -> rusqlite::Result<()> + 'r;

/// Uses sets of games to select the games that can match a search. A game that is not in the answer certainly
/// contains no match, provided that its features are known. The caller must check whether they are known.
#[derive(Clone, Debug)]
pub struct FeatureQuery {
    clauses: Clauses,
    is_exact: bool,
}

#[derive(Clone, Debug)]
enum Clauses {
    /// Matches all games.
    Any,
    Material(MaterialSignature),
    Ending(Ending),
    /// Matches games that have a feature of this kind with a value in one of these ranges.
    Values(FeatureKind, Vec<RangeInclusive<i64>>),
    All(Vec<FeatureQuery>),
    Either(Vec<FeatureQuery>),
}

impl FeatureQuery {
    /// A query that matches all games.
    #[must_use]
    pub const fn any() -> Self {
        Self { clauses: Clauses::Any, is_exact: false }
    }

    const fn exactly(clauses: Clauses) -> Self {
        Self { clauses, is_exact: true }
    }

    /// A query for the games that can have a position that matches a description.
    #[must_use]
    pub fn from_description(description: &Description) -> Self {
        let Description { material, ending, pattern, structure, played } = description;
        let mut parts = Vec::new();
        parts.extend(material.map(|material| Self::exactly(Clauses::Material(material))));
        parts.extend(ending.map(|ending| Self {
            clauses: Clauses::Ending(ending),
            is_exact: ending.is_decided_by_material(),
        }));
        parts.extend(pattern.as_ref().map(Self::of_pattern));
        parts.extend(structure.map(|structure| Self {
            is_exact: false,
            ..Self::values(FeatureKind::Pawns, [Feature::structure(structure).place().1])
        }));
        parts.extend(played.as_ref().map(Self::of_move));
        Self::all(parts)
    }

    /// A query for the games that can have the pawns of `to` in one position, and the material of `to` in the
    /// same or another position.
    pub(crate) fn same_pawns_and_material(to: &PositionDistance) -> Self {
        let structure = Feature::structure(to.structure()).place().1;
        let material = to.material().packed().cast_signed();
        Self::all(vec![
            Self::values(FeatureKind::Pawns, [structure]),
            Self::values(FeatureKind::Material, [material]),
        ])
    }

    fn of_pattern(pattern: &Pattern) -> Self {
        let parts = pattern.parts().into_iter().map(|PatternPart { squares, pieces }| {
            Self::values(FeatureKind::Piece, places(&pieces, squares))
        });
        let all = Self::all(parts.collect());
        Self { is_exact: pattern.is_one_part(), ..all }
    }

    fn of_move(pattern: &MovePattern) -> Self {
        if let Some(short) = pattern.castling {
            let sides = COLORS.map(|color| Feature::castling(color, short).place().1);
            let king = gives(pattern, &pieces_of(&[PieceKind::King]), SquareSet(u64::MAX));
            return Self::all([vec![Self::values(FeatureKind::Castling, sides)], king].concat());
        }
        let kinds = pattern.kind.map_or_else(|| PieceKind::ALL.to_vec(), |kind| vec![kind]);
        let pieces = pieces_of(&kinds);
        let mut parts = gives(pattern, &pieces, pattern.to);
        let given = parts.len();
        if pattern.captures {
            parts.push(Self::values(FeatureKind::Capture, places(&pieces, pattern.to)));
        }
        if let Some(becomes) = pattern.promotions() {
            parts.push(Self::values(FeatureKind::Promotion, places(&pieces_of(&becomes), pattern.to)));
        }
        // The answer is exact only for a single condition. If castling is excluded, the answer for checks by
        // the king is not exact: checks by castling are in the same sets.
        let castles = given > 0 && pattern.is_other && kinds.contains(&PieceKind::King);
        let is_exact =
            parts.len() == 1 && pattern.from.0 == u64::MAX && pattern.captured.is_none() && !castles;
        if parts.is_empty() && pattern.to.0 != u64::MAX {
            parts.push(Self::arriving(&kinds, &pieces, pattern.to));
        }
        if pattern.from.0 != u64::MAX {
            parts.push(Self::values(FeatureKind::Piece, places(&pieces, pattern.from)));
        }
        // A pawn captured en passant is not on the square of the capture.
        if let Some(kind) = pattern.captured.filter(|&kind| kind != PieceKind::Pawn) {
            parts.push(Self::values(FeatureKind::Piece, places(&pieces_of(&[kind]), pattern.to)));
        }
        Self { is_exact, ..Self::all(parts) }
    }

    /// One of these pieces arrives at one of these squares. This includes pawns that promote there.
    fn arriving(kinds: &[PieceKind], pieces: &[Piece], squares: SquareSet) -> Self {
        let on_squares = Self::values(FeatureKind::Piece, places(pieces, squares));
        if !kinds.contains(&PieceKind::Pawn) {
            return on_squares;
        }
        let officers = pieces_of(&[PieceKind::Queen, PieceKind::Rook, PieceKind::Bishop, PieceKind::Knight]);
        Self::either(vec![on_squares, Self::values(FeatureKind::Promotion, places(&officers, squares))])
    }

    fn values(kind: FeatureKind, values: impl IntoIterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        let ranges = values.chunk_by(|a, b| b - a <= 1).map(|run| run[0]..=run[run.len() - 1]);
        Self::exactly(Clauses::Values(kind, ranges.collect()))
    }

    /// All of these conditions must hold, but not necessarily at the same time.
    #[must_use]
    pub fn all(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::any(),
            1 => parts.remove(0),
            _ => Self { clauses: Clauses::All(parts), is_exact: false },
        }
    }

    /// At least one of these conditions must hold.
    #[must_use]
    pub fn either(parts: Vec<Self>) -> Self {
        let is_exact = parts.iter().all(|part| part.is_exact);
        Self { clauses: Clauses::Either(parts), is_exact }
    }

    /// This query, marked as inexact: games in the answer need not match the search.
    #[must_use]
    pub fn at_most(self) -> Self {
        Self { is_exact: false, ..self }
    }

    /// Whether all games in the answer certainly match the search.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The games of a block that match.
    pub(crate) fn answer(&self, read: &mut ReadSets<'_>) -> rusqlite::Result<BlockGames> {
        let mut games = BlockGames::default();
        match &self.clauses {
            Clauses::Any => games.fill(),
            Clauses::Material(material) => {
                let (first, last) = material.packed_range().into_inner();
                let fits = |value: i64| material.includes(Material::from_packed(value.cast_unsigned()));
                read(FeatureKind::Material, first.cast_signed()..=last.cast_signed(), &fits, &mut games)?;
            }
            Clauses::Ending(ending) => {
                let fits = |value: i64| ending.includes(Material::from_packed(value.cast_unsigned()));
                read(FeatureKind::Material, 0..=i64::MAX, &fits, &mut games)?;
            }
            Clauses::Values(kind, ranges) => {
                for range in ranges {
                    read(*kind, range.clone(), &|_| true, &mut games)?;
                }
            }
            Clauses::All(parts) => {
                games.fill();
                for part in parts {
                    if !games.is_empty() {
                        games.keep(&part.answer(read)?);
                    }
                }
            }
            Clauses::Either(parts) => {
                for part in parts {
                    games.add(&part.answer(read)?);
                }
            }
        }
        Ok(games)
    }
}

/// The query for moves that give check or mate; empty if neither is required.
fn gives(pattern: &MovePattern, pieces: &[Piece], to: SquareSet) -> Vec<FeatureQuery> {
    let kind = match (pattern.gives_mate, pattern.gives_check) {
        (true, _) => FeatureKind::Mate,
        (_, true) => FeatureKind::Check,
        _ => return Vec::new(),
    };
    vec![FeatureQuery::values(kind, places(pieces, to))]
}

/// The [numbers](piece_square) of these pieces on these squares.
fn places(pieces: &[Piece], squares: SquareSet) -> impl Iterator<Item = i64> + use<> {
    let place = |&piece: &Piece| squares.map(move |square| piece_square(piece, square).into());
    pieces.iter().flat_map(place).collect::<Vec<i64>>().into_iter()
}

fn pieces_of(kinds: &[PieceKind]) -> Vec<Piece> {
    kinds.iter().flat_map(|&kind| COLORS.map(|color| Piece::new(kind, color))).collect()
}
