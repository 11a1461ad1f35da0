//! Rows to write, in batches that are filled, written and reused.
//!
//! Most tables are described here by one list of columns. Macros generate from this list the columns that SQL
//! reads and inserts. For many tables they also generate the struct of a row. For some tables they generate a
//! second struct, for a row read from a database, where a cell can contain any value.

mod counted_game;
mod description;
mod header;
mod import;
mod ranking;
mod stored;
mod tables;
pub(crate) mod virtual_table;
mod visited_position;

pub(crate) use counted_game::CountedGame;
pub(crate) use description::StoredRow;
pub use description::Text;
pub use header::HeaderBatch;
pub(crate) use header::{GameRows, SideTable};
pub use import::{ImportTotals, NewImport, SourceDigest, SourceTotals};
pub(crate) use ranking::{GameList, GameLists, day_number, elo_sum, month_of, year_of, year_of_date};
pub use ranking::{LISTED_GAMES, RatedScore};
pub(crate) use stored::{OnInvalidCell, StoredId, read_cell};
pub use tables::{
    CommandRow, CommentRow, DuplicateKind, DuplicateRow, EvalRow, GameNames, GameRow, GameStatus, MovesRow,
    NagRow, Occurrence, OccurrenceRow, ProblemRow, Severity, TagRow, VariationMoveRow, VariationRow,
};
pub(crate) use tables::{POSITION_COLUMNS, StoredDuplicate, StoredGame, StoredProblem};
pub use visited_position::{
    ContinuationRow, RatingSum, ResultCounts, VisitedPositionBatch, VisitedPositionRow,
};

pub use crate::id::{GameId, Level, NameId, Ply, SourceId};
