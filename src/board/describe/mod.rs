//! Descriptions of positions: material, patterns of pieces, pawns, phase; patterns of moves; and the distance
//! between positions.

mod description;
mod distance;
mod ending;
mod material;
mod move_pattern;
mod pattern;
mod phase;
mod structure;

pub use description::Description;
pub use distance::PositionDistance;
pub use ending::{Ending, Endings};
pub use material::{Material, MaterialError, MaterialSignature};
pub use move_pattern::{MoveConditions, MovePattern, MovePatternError};
pub use pattern::{Pattern, PatternError, PatternPart};
pub use phase::Phase;
pub use structure::PawnStructure;
pub(crate) use structure::pieces;
