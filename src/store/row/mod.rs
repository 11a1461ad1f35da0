//! The rows that are written, as batches that are filled, written and reused.
//!
//! Each table has one description here: its columns, in the order of the batch. The struct of a row, the statement that inserts it,
//! and what SQL reads of it come from that.

mod game;
mod header;
mod import;
mod position;
mod problem;
mod ranking;
pub(crate) mod row_table;
mod table;
mod text;
mod visited_position;

pub use game::{GameRow, GameStatus, TagRow};
pub use header::HeaderBatch;
pub(in crate::store) use header::{EventRows, PlayerRows, SiteRows};
pub use import::{ImportTotals, NewImport, SourceDigest, SourceTotals};
pub(in crate::store) use position::Occurrences;
pub use position::{Occurrence, PositionBatch, PositionRow};
pub use problem::{DuplicateKind, DuplicateRow, ProblemRow, Severity};
pub use ranking::LISTED_GAMES;
pub(crate) use ranking::{GameList, day_number, year_of};
pub(in crate::store) use table::InsertRows;
pub use text::Text;
pub use visited_position::{ContinuationRow, ResultCounts, VisitedPositionBatch, VisitedPositionRow};

pub use crate::id::{GameId, NameId, Ply, SourceId};
