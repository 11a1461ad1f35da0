//! The 32-bit move code.

/// A move in 32 bits: SPECIAL, FROM, TO, PIECE, CAPTURED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MoveCode(pub u32);
