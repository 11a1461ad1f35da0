//! Rows to write, in batches that are filled, written and reused.
//!
//! Most tables have one description here: its columns, in the order of the batch. Macros derive from it the
//! struct of a row, the statement that inserts rows, the columns that SQL reads, and for some tables the
//! struct of a row as read back from a database, where cells may have any value.

mod annotation;
mod description;
mod game;
mod header;
mod import;
mod position;
mod problem;
mod ranking;
mod rated_score;
mod stored;
mod text;
pub(crate) mod virtual_table;
mod visited_position;

pub use annotation::{CommandRow, CommentRow, EvalRow, NagRow, VariationMoveRow, VariationRow};
pub(in crate::store) use description::InsertRows;
#[cfg(feature = "index")]
pub(crate) use description::StoredRow;
#[cfg(feature = "index")]
pub(crate) use game::StoredGame;
pub use game::{GameNames, GameRow, GameStatus, TagRow};
pub use header::HeaderBatch;
#[cfg(feature = "index")]
pub(crate) use header::{GameRows, SideTable};
pub(in crate::store) use header::{HeaderTables, InsertInto};
pub use import::{ImportTotals, NewImport, SourceDigest, SourceTotals};
#[cfg(feature = "index")]
pub(crate) use position::POSITION_COLUMNS;
pub use position::{Occurrence, OccurrenceRow};
pub use problem::{DuplicateKind, DuplicateRow, ProblemRow, Severity};
#[cfg(feature = "index")]
pub(crate) use problem::{StoredDuplicate, StoredProblem};
pub use ranking::LISTED_GAMES;
pub(crate) use ranking::{GameList, day_number, elo_sum, month_of, year_of};
pub use rated_score::RatedScore;
#[cfg(feature = "index")]
pub(crate) use stored::{OnInvalidCell, StoredId, read_cell};
pub use text::Text;
pub use visited_position::{
    ContinuationRow, RatingSum, ResultCounts, VisitedPositionBatch, VisitedPositionRow,
};

pub use crate::id::{GameId, Level, NameId, Ply, SourceId};
