//! The rows of games as they are read, as Arrow batches: without a file in between.
//!
//! Each worker makes batches of the games that it has read, in which no game's rows are mixed with another's; they are handed over in
//! the order of the games. Games are counted from 1 in the order of the input, repeated ones too.

mod choice;
mod column;
mod encoder;
mod positions;
mod question;
mod sink;

pub(crate) use choice::LeastRanks;
pub use choice::PositionChoice;
pub use question::{StreamError, StreamQuestion};
pub(crate) use sink::{RankSink, StreamSink};
