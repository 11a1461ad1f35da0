//! Columns of `game` that filters ask for, each in one piece for a block of games: a filter is then a look at one byte or two of each
//! game, not at its row.
//!
//! A piece has the different values of the block's games once, and of each game number which of them it is. So a condition is tried on a
//! few values, whatever they are, and the games follow.

mod builder;
mod condition;
mod stored;

pub(crate) use builder::{ColumnBuilder, StoredColumns, places};
pub(crate) use condition::{Alternative, ColumnSource, Condition, Test};
pub(crate) use stored::StoredColumn;

/// The columns of `game` that are kept in this way.
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

/// Every game has one: where it is NULL, there is no game.
pub(crate) const WHITE_ID: &str = "white_id";
pub(crate) const BLACK_ID: &str = "black_id";
pub(crate) const RESULT: &str = "result";
pub(crate) const WHITE_ELO: &str = "white_elo";
pub(crate) const BLACK_ELO: &str = "black_elo";
pub(crate) const DATE: &str = "date";
