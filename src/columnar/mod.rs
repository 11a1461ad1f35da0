//! Writes the tables of a database as Parquet files, for distributed query engines and for data frames.
//! `verify` checks these files. `stream` passes rows to a caller without writing files.
//!
//! The games, with their rows and moves, come from an indexing run or from a database. Rows of tables that
//! are not computed from the moves are written as they arrive. Moves are first stored in a temporary file.
//! After the last game, all games are replayed in parallel, and their positions are written to
//! `game_position` in the order of games. The positions are then sorted by key, to write `position_game` and
//! `continuation`.
//!
//! `docs/parquet.md` describes the layout.

mod by_key;
mod cells;
mod export;
mod game;
mod game_column;
mod moves;
mod output;
mod part;
mod positions;
mod progress;
mod schema;
mod sink;
mod stream;
mod verify;
mod writer;

pub use export::{ExportOptions, export};
pub use game::PartitionBy;
pub use output::{Error, Result, Totals, WrittenBy};
pub(crate) use output::{Output, WriteOptions};
pub use progress::Progress;
pub(crate) use sink::ParquetFiles;
pub(crate) use stream::{LeastRanks, RankSink, StreamSink};
pub use stream::{PositionChoice, StreamError, StreamQuery};
pub use verify::{VerifyOptions, VerifyReport, verify};
pub(crate) use writer::{Writer, file_bytes};
