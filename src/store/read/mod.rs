//! Queries on the tables.

pub(crate) mod annotation;
pub(crate) mod features;
pub(crate) mod filter;
pub(crate) mod game;
pub(crate) mod game_column;
pub(crate) mod info;
pub(crate) mod name;
pub(crate) mod narrowed;
pub(crate) mod occurrence;
mod opening;
pub(crate) mod player;
pub(crate) mod removal;
#[cfg(feature = "parquet")]
pub(crate) mod row_filter;
mod rows;
pub(crate) mod selection;
pub(crate) mod snapshot;
pub(crate) mod source;
pub(crate) mod sql_query;
pub(crate) mod statistics;
