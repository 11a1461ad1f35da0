//! Surveys of a database: statistics, openings, names, problems, and rows of a query.

mod names;
mod openings;
mod problems;
mod sql_rows;
mod statistics;

pub use names::{FoundNames, find_names};
pub use openings::{OpeningList, OpeningShare};
pub use problems::{FoundProblem, FoundProblems};
pub use sql_rows::{SqlLimits, SqlRows};
pub use statistics::{GameCounts, LengthCount, RatingCount, Statistics, YearCount};
