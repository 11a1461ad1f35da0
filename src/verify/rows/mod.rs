//! Compares rows with each other, with the rules of chess, and with the games' texts.

pub(super) mod annotations;
mod checksum;
pub(super) mod duplicates;
mod games;
mod occurrences;
pub(super) mod problems;
mod replay;
pub(super) mod sets;
pub(super) mod side_rows;
pub(super) mod stored;
mod visited_positions;

pub(crate) use checksum::Checksum;
pub(crate) use duplicates::{DuplicateScan, read_skipped};
pub(crate) use games::{GameScan, Sums};
pub(crate) use occurrences::{OccurrenceScan, find_missing, find_surplus};
pub(crate) use problems::{ProblemCounts, Problems};
pub(crate) use replay::{Replay, describe_move, first_difference, replayed_codes};
pub(crate) use sets::find_unlisted;
pub(crate) use stored::{
    Batch, GAMES, POSITIONS, Reader, StoredDuplicate, StoredGame, StoredPosition, StoredProblem, bytes,
    columns, for_each_row, format_value, read, shown,
};
pub(crate) use visited_positions::{
    AT_ONCE, LevelKey, OccurrenceCounter, VisitedPositions, report_shared, visited_row,
};
