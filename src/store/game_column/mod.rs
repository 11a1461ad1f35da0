//! Columns of `game` that filters use, each stored as one piece per block of games: a filter reads one or two
//! bytes per game, not its row.
//!
//! A piece contains the distinct values of the block, and for each game number the index of its value. So a
//! condition is evaluated once per distinct value.

mod builder;
mod condition;
mod stored;

pub(crate) use builder::{ColumnBuilder, StoredColumns, places};
pub(crate) use condition::{Alternative, ColumnSource, Condition, Test};
pub(crate) use stored::StoredColumn;

/// The columns of `game` that are stored block by block.
pub(crate) const COLUMNS: [&str; 17] = [
    RESULT,
    WHITE_ELO,
    BLACK_ELO,
    DATE,
    "white_id",
    "black_id",
    "event_id",
    "site_id",
    "opening_id",
    "eco",
    "ply_count",
    "time_control",
    "speed",
    "termination",
    "eval_count",
    "source_id",
    "variant",
];

pub(crate) const WHITE_ID: &str = "white_id";
pub(crate) const BLACK_ID: &str = "black_id";
/// Every game has a value in this column: NULL means that there is no game with this number.
pub(crate) const RESULT: &str = "result";
pub(crate) const WHITE_ELO: &str = "white_elo";
pub(crate) const BLACK_ELO: &str = "black_elo";
pub(crate) const DATE: &str = "date";
