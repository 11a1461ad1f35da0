//! Rows to write, in batches that are filled, written and reused.
//!
//! Most tables have one description here: its columns, in the order of the batch. Macros derive from it the
//! struct of a row, the statement that inserts rows, the columns that SQL reads, and for some tables the
//! struct of a row as read back from a database, where cells may have any value.

mod description;
mod header;
mod import;
mod ranking;
mod stored;
mod tables;
pub(crate) mod virtual_table;
mod visited_position;

pub(crate) use description::StoredRow;
pub use description::Text;
pub use header::HeaderBatch;
pub(crate) use header::{GameRows, SideTable};
pub use import::{ImportTotals, NewImport, SourceDigest, SourceTotals};
pub(crate) use ranking::{GameList, day_number, elo_sum, month_of, year_of};
pub use ranking::{LISTED_GAMES, RatedScore};
pub(crate) use stored::{OnInvalidCell, StoredId, read_cell};
pub use tables::{
    CommandRow, CommentRow, DuplicateKind, DuplicateRow, EvalRow, GameNames, GameRow, GameStatus, NagRow,
    Occurrence, OccurrenceRow, ProblemRow, Severity, TagRow, VariationMoveRow, VariationRow,
};
pub(crate) use tables::{POSITION_COLUMNS, StoredDuplicate, StoredGame, StoredProblem};
pub use visited_position::{
    ContinuationRow, RatingSum, ResultCounts, VisitedPositionBatch, VisitedPositionRow,
};

pub use crate::id::{GameId, Level, NameId, Ply, SourceId};
