//! What games are like and what is wrong with them, for people who look round.

pub(crate) mod charts;
pub(crate) mod marks;
pub(crate) mod narrowed;
pub(crate) mod problems;
pub(crate) mod statistics;
