//! Compares rows with each other and with the rules.

pub(crate) mod aliases;
pub(crate) mod annotations;
pub(crate) mod checksum;
pub(crate) mod duplicates;
pub(crate) mod features;
pub(crate) mod frequent_keys;
pub(crate) mod games;
pub(crate) mod occurrences;
pub(crate) mod problems;
pub(crate) mod replay;
pub(crate) mod sets;
pub(crate) mod side_rows;
pub(crate) mod stored;
pub(crate) mod visited_positions;
