//! Statistics of games and lists of problems, for browsing.

pub(crate) mod charts;
pub(crate) mod marks;
pub(crate) mod narrowed;
pub(crate) mod problems;
pub(crate) mod statistics;
