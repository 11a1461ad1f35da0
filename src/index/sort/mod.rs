//! Sorts occurrences of positions by key.

pub(crate) mod occurrence;
pub(crate) mod setups;
