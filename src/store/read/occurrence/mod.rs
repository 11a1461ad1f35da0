//! Finds positions in games, in main lines and variations.

mod candidate;
pub(crate) mod explore;
pub(crate) mod hit;
pub(crate) mod listing;
pub(crate) mod near;
pub(crate) mod reached;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod tally;
pub(crate) mod target;
mod transposed;
pub(crate) mod variation;
pub(crate) mod visit;
mod visit_set;
