//! The main job: PGN files in, a database of all their positions out.
//!
//! ```text
//! sources ──► feed ──► worker: parse, replay ──► sequence ──► worker: positions ──► database
//! (files)    (chunks)  (rayon, in parallel)     (in order)   (in parallel)         (pages, or one SQL writer)
//! ```
//!
//! A plain file is mapped and cut where it lies; an archive or a stream is decoded and cut by a thread of its own.
//!
//! Each worker takes the next chunk of whole games, replays it, waits for its turn to have games, names and lines
//! numbered in input order, and makes the rows of all positions. Rows of `game_position` are written as they come; those of
//! `position_game` are scattered by key into partitions, which are sorted and written at the end.

mod add;
mod chunk;
mod continuations;
mod crossroads;
mod duplicates;
mod error;
mod feed;
mod graft;
mod header;
mod lines;
mod names;
mod options;
mod outcome;
mod parse;
mod part;
mod partition;
mod positions;
mod prefixes;
mod problem;
mod progress;
mod report;
mod reread;
mod run;
mod scratch;
mod sequence;
mod setups;
mod signature;
mod space;
mod spill;
mod stream;
mod summary;
mod survey;
#[cfg(test)]
mod tests;
mod update;
mod visit;
mod word;
mod worker;

pub(crate) use duplicates::PREFIX_PLIES;
pub use error::{Error, Result};
pub use options::{Duplicates, IndexOptions, OnProblem, Writer};
pub(crate) use parse::{mix_move, pairing_hash, prefix_hash};
pub use problem::Kind as ProblemKind;
pub use progress::{Phase, Progress};
pub(crate) use reread::{GameProblem, GameText, Reread};
pub use run::{Plan, index};
pub(crate) use signature::MIN_PLIES_OF_MOVES;
pub use space::Estimate;
pub use summary::{DuplicateCounts, ProblemCounts, Stages, Summary};
