//! Counts the moves played from visited positions.

pub(crate) mod change;
pub(crate) mod counted_game;
pub(crate) mod counter;
pub(crate) mod decrease;
pub(crate) mod rows;
pub(crate) mod sorted;
pub(crate) mod update;
