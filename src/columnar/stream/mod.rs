//! Passes the rows of games to a caller as Arrow batches while the games are read, without writing a file.
//!
//! Each worker encodes batches of the games that it has read, without interleaving rows of different games.
//! The batches are passed on in the order of the games. Game ids count from 1 in input order; duplicates get
//! ids too.

mod choice;
mod column;
mod positions;
mod query;
mod sink;

pub(crate) use choice::LeastRanks;
pub use choice::PositionChoice;
pub use query::{StreamError, StreamQuery};
pub(crate) use sink::{RankSink, StreamSink};
