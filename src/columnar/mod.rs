//! The same tables as Parquet files, for engines that run on many machines and for data frames.
//!
//! Games come with their rows and their moves, from a run or from a database. Rows of small tables are written as they come; moves wait
//! in a temporary file. When all are there, the games are replayed side by side, which gives `game_position` in the order of games,
//! and what is sorted then gives `position_game` and `continuation` in the order of keys.
//!
//! The layout is told in `docs/parquet.md`.

mod by_key;
mod cells;
mod error;
mod export;
mod game;
mod game_column;
mod in_order;
mod moves;
mod output;
mod part;
mod positions;
mod schema;
mod sink;
mod small;
mod stream;
mod verify;
mod writer;

pub use error::{Error, Result};
pub use export::{ExportOptions, ExportProgress, export};
pub use game::PartitionBy;
pub(crate) use output::Output;
pub use output::{Totals, WrittenBy};
pub(crate) use sink::{FileTotals, ParquetFiles};
pub(crate) use stream::{LeastRanks, RankSink, StreamSink};
pub use stream::{PositionChoice, StreamError, StreamQuestion};
pub use verify::{VerifyOptions, VerifyProgress, VerifyReport, verify};
pub(crate) use writer::{WriteOptions, Writer, file_bytes};
