//! Occurrences of positions, sorted by key.

pub(crate) mod occurrence;
pub(crate) mod setups;
