//! Queries on the sets of games, evaluated before positions are read.

use std::ops::RangeInclusive;

use crate::board::{
    AskedMove, Color, Description, Ending, Kind, Material, MaterialSignature, Pattern, PatternPart, Piece,
    Resemblance, SquareSet,
};
use crate::store::block_games::BlockGames;
use crate::store::passed::feature::{Feature, piece_square};
use crate::store::passed::kind::PassedKind;

const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Selects the games that can contain what is searched for, by sets of games. Games that are not in the
/// answer do not contain it.
#[derive(Clone, Debug)]
pub struct PassedQuestion {
    asked: Asked,
    is_exact: bool,
}

#[derive(Clone, Debug)]
enum Asked {
    /// Matches all games.
    Any,
    Material(MaterialSignature),
    Ending(Ending),
    /// One of these values, given as ranges.
    Values(PassedKind, Vec<RangeInclusive<i64>>),
    All(Vec<PassedQuestion>),
    Either(Vec<PassedQuestion>),
}

impl PassedQuestion {
    /// A query that matches all games.
    #[must_use]
    pub const fn any() -> Self {
        Self { asked: Asked::Any, is_exact: false }
    }

    const fn exactly(asked: Asked) -> Self {
        Self { asked, is_exact: true }
    }

    /// The games that can have a position matching a description.
    #[must_use]
    pub fn of(description: &Description) -> Self {
        let Description { material, ending, pattern, structure, played } = description;
        let mut parts = Vec::new();
        parts.extend(material.map(|asked| Self::exactly(Asked::Material(asked))));
        parts.extend(
            ending.map(|asked| Self { asked: Asked::Ending(asked), is_exact: asked.is_told_by_material() }),
        );
        parts.extend(pattern.as_ref().map(Self::of_pattern));
        parts.extend(structure.map(|asked| Self {
            is_exact: false,
            ..Self::values(PassedKind::Pawns, [Feature::structure(asked).place().1])
        }));
        parts.extend(played.map(|asked| Self::of_move(&asked.asked())));
        Self::all(parts)
    }

    /// The games that can have a position with the same pawns and the same material.
    pub(crate) fn alike(to: &Resemblance) -> Self {
        let structure = Feature::structure(to.structure()).place().1;
        let material = to.material().packed().cast_signed();
        Self::all(vec![
            Self::values(PassedKind::Pawns, [structure]),
            Self::values(PassedKind::Material, [material]),
        ])
    }

    fn of_pattern(pattern: &Pattern) -> Self {
        let parts = pattern
            .parts()
            .into_iter()
            .map(|PatternPart { squares, pieces }| Self::values(PassedKind::Piece, places(&pieces, squares)));
        let all = Self::all(parts.collect());
        Self { is_exact: pattern.is_one_part(), ..all }
    }

    fn of_move(asked: &AskedMove) -> Self {
        if let Some(short) = asked.castling {
            let sides = COLORS.map(|color| Feature::castling(color, short).place().1);
            let king = gives(asked, &pieces_of(&[Kind::King]), SquareSet(u64::MAX));
            return Self::all([vec![Self::values(PassedKind::Castling, sides)], king].concat());
        }
        let kinds = asked.kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
        let pieces = pieces_of(&kinds);
        let mut parts = gives(asked, &pieces, asked.to);
        let given = parts.len();
        if asked.captures {
            parts.push(Self::values(PassedKind::Capture, places(&pieces, asked.to)));
        }
        if let Some(becomes) = &asked.promotions {
            parts.push(Self::values(PassedKind::Promotion, places(&pieces_of(becomes), asked.to)));
        }
        // A set is exact only for a single condition. Checks by castling are among those of the king.
        let castles = given > 0 && asked.is_other && kinds.contains(&Kind::King);
        let is_exact = parts.len() == 1 && asked.from.0 == u64::MAX && asked.captured.is_none() && !castles;
        if parts.is_empty() && asked.to.0 != u64::MAX {
            parts.push(Self::arriving(&kinds, &pieces, asked.to));
        }
        if asked.from.0 != u64::MAX {
            parts.push(Self::values(PassedKind::Piece, places(&pieces, asked.from)));
        }
        // A pawn captured en passant is not on the square of the capture.
        if let Some(kind) = asked.captured.filter(|&kind| kind != Kind::Pawn) {
            parts.push(Self::values(PassedKind::Piece, places(&pieces_of(&[kind]), asked.to)));
        }
        Self { is_exact, ..Self::all(parts) }
    }

    /// One of these pieces arrives at one of these squares; a pawn may promote there.
    fn arriving(kinds: &[Kind], pieces: &[Piece], squares: SquareSet) -> Self {
        let stands = Self::values(PassedKind::Piece, places(pieces, squares));
        if !kinds.contains(&Kind::Pawn) {
            return stands;
        }
        let officers = pieces_of(&[Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight]);
        Self::either(vec![stands, Self::values(PassedKind::Promotion, places(&officers, squares))])
    }

    fn values(kind: PassedKind, values: impl IntoIterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        let ranges = values.chunk_by(|a, b| b - a <= 1).map(|run| run[0]..=run[run.len() - 1]);
        Self::exactly(Asked::Values(kind, ranges.collect()))
    }

    /// All of these, not necessarily at the same time.
    #[must_use]
    pub fn all(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::any(),
            1 => parts.remove(0),
            _ => Self { asked: Asked::All(parts), is_exact: false },
        }
    }

    /// At least one of these.
    #[must_use]
    pub fn either(parts: Vec<Self>) -> Self {
        let is_exact = parts.iter().all(|part| part.is_exact);
        Self { asked: Asked::Either(parts), is_exact }
    }

    /// The same query, marked as inexact: games in the answer need not contain what is searched for.
    #[must_use]
    pub fn at_most(self) -> Self {
        Self { is_exact: false, ..self }
    }

    /// Whether all games in the answer contain what is searched for.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The games of a block that match. `read` adds the games of the wanted sets of a kind within a range of
    /// values.
    pub(crate) fn answer<E>(
        &self,
        read: &mut impl FnMut(
            PassedKind,
            RangeInclusive<i64>,
            &dyn Fn(i64) -> bool,
            &mut BlockGames,
        ) -> Result<(), E>,
    ) -> Result<BlockGames, E> {
        let mut games = BlockGames::default();
        match &self.asked {
            Asked::Any => games.fill(),
            Asked::Material(asked) => {
                let (first, last) = asked.packed_range().into_inner();
                let fits = |value: i64| asked.includes(Material::from_packed(value.cast_unsigned()));
                read(PassedKind::Material, first.cast_signed()..=last.cast_signed(), &fits, &mut games)?;
            }
            Asked::Ending(asked) => {
                let fits = |value: i64| asked.includes(Material::from_packed(value.cast_unsigned()));
                read(PassedKind::Material, 0..=i64::MAX, &fits, &mut games)?;
            }
            Asked::Values(kind, ranges) => {
                for range in ranges {
                    read(*kind, range.clone(), &|_| true, &mut games)?;
                }
            }
            Asked::All(parts) => {
                games.fill();
                for part in parts {
                    if !games.is_empty() {
                        games.keep(&part.answer(read)?);
                    }
                }
            }
            Asked::Either(parts) => {
                for part in parts {
                    games.add(&part.answer(read)?);
                }
            }
        }
        Ok(games)
    }
}

/// The conditions of a move that gives check or mate.
fn gives(asked: &AskedMove, pieces: &[Piece], to: SquareSet) -> Vec<PassedQuestion> {
    let kind = match (asked.gives_mate, asked.gives_check) {
        (true, _) => PassedKind::Mate,
        (_, true) => PassedKind::Check,
        _ => return Vec::new(),
    };
    vec![PassedQuestion::values(kind, places(pieces, to))]
}

/// The values of some pieces on some squares.
fn places(pieces: &[Piece], squares: SquareSet) -> impl Iterator<Item = i64> + use<> {
    let place = |&piece: &Piece| squares.map(move |square| piece_square(piece, square).into());
    pieces.iter().flat_map(place).collect::<Vec<i64>>().into_iter()
}

fn pieces_of(kinds: &[Kind]) -> Vec<Piece> {
    kinds.iter().flat_map(|&kind| COLORS.map(|color| Piece::new(kind, color))).collect()
}
