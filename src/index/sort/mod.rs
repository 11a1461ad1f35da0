//! Occurrences of positions, sorted by key.

pub(crate) mod occurrence;
pub(crate) mod partition;
pub(crate) mod setups;
