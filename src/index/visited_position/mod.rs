//! Counts the moves played from visited positions.

pub(crate) mod change;
pub(crate) mod counted_game;
pub(crate) mod counter;
pub(crate) mod decrease;
pub(crate) mod rows;
pub(crate) mod sorted;
pub(crate) mod update;

pub(crate) use change::{ChangeWriter, precompute};
pub(crate) use counted_game::{CountedGame, CountedGames, KnownOutcomes, opened};
pub(crate) use counter::{Counted, Counter, Fens, ReachedPositions, VisitedPosition, to_json};
pub(crate) use decrease::{Decreases, Removed};
pub(crate) use rows::{compare_fens, count_to_look_up};
pub(crate) use sorted::{AddedOccurrences, FreshOccurrences};
pub(crate) use update::{Found, Recount, Sorting, Tracker, Update};
