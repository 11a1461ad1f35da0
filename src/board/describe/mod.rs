//! Descriptions of positions: material, endings, patterns of pieces, pawns, phase; patterns of moves; and the
//! distance between positions.

mod distance;
mod ending;
mod material;
mod move_pattern;
mod pattern;
mod phase;
mod structure;

pub use distance::PositionDistance;
pub use ending::{Ending, Endings};
pub use material::{Material, MaterialError, MaterialSignature};
pub use move_pattern::{MovePattern, MovePatternError};
pub use pattern::{Pattern, PatternError, PatternPart};
pub use phase::Phase;
pub use structure::PawnStructure;
pub(crate) use structure::pieces;

use crate::board::MoveCode;

/// Conditions on a position, all of which must hold. A field that is `None` sets no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The material.
    pub material: Option<MaterialSignature>,
    /// The kind of ending.
    pub ending: Option<Ending>,
    /// The pattern of pieces on squares.
    pub pattern: Option<Pattern>,
    /// The squares of all pawns.
    pub structure: Option<PawnStructure>,
    /// The pattern that the move played in the position must match.
    pub played: Option<MovePattern>,
}

impl Description {
    /// Whether a position and the move played in it meet all conditions of this description. `fen` is the
    /// canonical FEN of the position. Allocates nothing.
    #[must_use]
    pub fn matches(&self, fen: &[u8], played: Option<MoveCode>) -> bool {
        // Fast conditions come first.
        self.played.is_none_or(|pattern| played.is_some_and(|code| pattern.matches(code)))
            && self.material.is_none_or(|material| material.matches(fen))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(fen))
            && self.ending.is_none_or(|ending| ending.matches(fen))
            && self.structure.is_none_or(|structure| structure == PawnStructure::from_placement(fen))
    }

    /// The same description for the other side: colours are swapped and ranks reversed.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            material: self.material.map(MaterialSignature::reversed),
            ending: self.ending,
            pattern: self.pattern.as_ref().map(Pattern::reversed),
            structure: self.structure.map(PawnStructure::reversed),
            played: self.played.map(MovePattern::reversed),
        }
    }

    /// The same description with left and right swapped.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            material: self.material,
            ending: self.ending,
            pattern: self.pattern.as_ref().map(Pattern::mirrored),
            structure: self.structure.map(PawnStructure::mirrored),
            played: self.played.map(MovePattern::mirrored),
        }
    }
}
