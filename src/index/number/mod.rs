//! Assigns ids to games and names in input order, and finds duplicates.

pub(crate) mod duplicates;
pub(crate) mod prefixes;
pub(crate) mod sequence;

pub(crate) use duplicates::Originals;
pub(crate) use prefixes::Prefixes;
pub(crate) use sequence::{Sequencer, SourceCount, SourceStart};
