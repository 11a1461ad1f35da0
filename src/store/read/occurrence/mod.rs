//! Finds positions in games, in main lines and variations.

pub(crate) mod explore;
pub(crate) mod hit;
pub(crate) mod near;
mod position_row;
pub(crate) mod reached;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod tally;
mod transposed;
pub(crate) mod variation;
pub(crate) mod visit;
