//! Numbers for games and names, in input order; duplicates are found here.

pub(crate) mod duplicates;
pub(crate) mod names;
pub(crate) mod prefixes;
pub(crate) mod sequence;
