//! Counts the moves played from visited positions, level by level.

pub(crate) mod counted_game;
pub(crate) mod counter;
pub(crate) mod decrease;
pub(crate) mod rows;
pub(crate) mod sorted;
pub(crate) mod stored;

pub(crate) use counted_game::{CountedGames, KnownOutcomes, opened};
pub(crate) use counter::{Counted, Counter, Fens, VisitedPosition, to_json};
pub(crate) use decrease::{Decreases, Removed};
pub(crate) use sorted::{LevelOccurrences, Sorting};
