//! Splits sources into chunks of whole games, in order.

pub(crate) mod feed;
pub(crate) mod lines;
pub(crate) mod stream;

pub(crate) use feed::{Feed, Task, Work};
pub(crate) use lines::{LineCounter, LineStream};
pub(crate) use stream::{Chunk, CutOptions, SourceEnd, SourceProblem};
