//! The indexer: reads PGN files and writes a database of all their positions.
//!
//! ```text
//! sources ──► feed ──► worker: parse, replay ──► sequence ──► worker: positions ──► sink
//! (files)    (chunks)  (rayon, in parallel)     (in order)   (in parallel)         (pages, rows, files or nothing)
//! ```
//!
//! A plain file is memory-mapped and cut into chunks in place. A separate thread decodes any other source, such
//! as an archive or a stream, and cuts it into chunks. If such a source is small, a worker does this.
//!
//! Each worker takes the next chunk of whole games and replays the games, batch by batch. The worker then
//! waits for its turn, because games and names get their ids, and lines of text are counted, in input order.
//! Then it encodes the rows of all positions. Rows of `game_position` are written immediately. Rows of
//! `occurrence` are distributed by key to partitions, which are sorted and written at the end.

pub(crate) mod add;
mod error;
pub(crate) mod game;
mod job;
pub(crate) mod number;
pub(crate) mod options;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod plan;
pub(crate) mod problem;
pub(crate) mod progress;
pub(crate) mod read;
mod remove;
mod repair;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sink;
pub(crate) mod sort;
mod spill;
pub(crate) mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod visited_position;

pub use error::{Error, ProblemLocation, Result, problem_summary};
pub(crate) use game::signature::{MIN_PLIES_OF_MOVES, PREFIX_PLIES, mix_move, pairing_hash, prefix_hash};
pub(crate) use game::single_game::{GameText, SingleGameParser};
pub use job::index;
pub use options::{Annotations, DatabaseSettings, Duplicates, Estimate, IndexOptions, OnProblem};
#[cfg(feature = "parquet")]
pub use parquet::ParquetOptions;
pub use plan::Plan;
pub use problem::ProblemKind;
pub use progress::{Phase, Progress};
pub use remove::{
    LostDuplicates, OptimizeSummary, Removal, RemovalSummary, optimize, removable, remove, shrink,
};
pub use repair::{RepairSummary, repair};
pub(crate) use report::Reports;
pub(crate) use sort::{Origin, Played, PlayedOccurrence, RecentSetups};
pub(crate) use spill::{KeyHash, SpillMap};
pub use summary::{
    DuplicateCounts, KindCount, ProblemCount, ProblemCounts, StageSeconds, Stages, Summary, SummaryObject,
};
