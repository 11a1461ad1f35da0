//! Descriptions of positions.

use super::{Ending, MaterialSignature, MovePattern, Pattern, PawnStructure};
use crate::board::MoveCode;

/// What is asked of a position, all of it at once. What is `None` is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The pieces that are left.
    pub material: Option<MaterialSignature>,
    /// The kind of ending.
    pub ending: Option<Ending>,
    /// What stands on the squares.
    pub pattern: Option<Pattern>,
    /// Where the pawns stand.
    pub structure: Option<PawnStructure>,
    /// What is played there.
    pub played: Option<MovePattern>,
}

impl Description {
    /// Whether a position fits, given as a canonical FEN with the move that was played there. Allocates nothing.
    #[must_use]
    pub fn matches(&self, fen: &[u8], played: Option<MoveCode>) -> bool {
        // What is told quickly comes first.
        self.played.is_none_or(|asked| played.is_some_and(|code| asked.matches(code)))
            && self.material.is_none_or(|asked| asked.matches(fen))
            && self.pattern.as_ref().is_none_or(|asked| asked.matches(fen))
            && self.ending.is_none_or(|asked| asked.matches(fen))
            && self.structure.is_none_or(|asked| asked == PawnStructure::of(fen))
    }

    /// The same for the other side: colours and ranks are reversed.
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

    /// The same with left and right changed round.
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
