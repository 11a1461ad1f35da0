//! Descriptions of positions: material, patterns of pieces, pawns, phase; patterns of moves; and the distance
//! between positions.

mod description;
mod ending;
mod material;
mod pattern;
mod phase;
mod played;
mod resemblance;
mod structure;

pub use description::Description;
pub use ending::{Ending, Endings};
pub use material::{Material, MaterialError, MaterialSignature};
pub use pattern::{Pattern, PatternError, PatternPart};
pub use phase::Phase;
pub use played::{AskedMove, MovePattern, MovePatternError};
pub use resemblance::Resemblance;
pub use structure::PawnStructure;
pub(crate) use structure::pieces;
