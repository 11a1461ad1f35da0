//! What there is to see in a database: its games in figures, its openings, its names, what is wrong; and rows of a query.

mod names;
mod openings;
mod problems;
mod sql_rows;
mod statistics;

pub use names::{FoundNames, find_names};
pub use openings::{OpeningList, OpeningShare};
pub use problems::{FoundProblem, FoundProblems};
pub use sql_rows::{SqlLimits, SqlRows};
pub use statistics::{Counted, LengthCount, RatingCount, Statistics, YearCount};
