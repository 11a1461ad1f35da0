//! What a position is like: its material, what stands on some squares, its phase.

mod material;
mod pattern;
mod phase;

pub use material::{Material, MaterialError, MaterialSignature};
pub use pattern::{Pattern, PatternError};
pub use phase::Phase;
