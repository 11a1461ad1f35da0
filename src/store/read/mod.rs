//! Queries on the tables.

pub(crate) mod annotation;
pub(crate) mod catalog;
pub(crate) mod features;
pub(crate) mod filter;
pub(crate) mod game;
pub(crate) mod game_column;
pub(crate) mod info;
pub(crate) mod known_sources;
pub(crate) mod name;
pub(crate) mod occurrence;
pub(crate) mod opening;
pub(crate) mod opening_name;
pub(crate) mod player;
pub(crate) mod removal;
#[cfg(feature = "parquet")]
pub(crate) mod row_filter;
pub(crate) mod selection;
pub(crate) mod snapshot;
pub(crate) mod source;
pub(crate) mod sql_query;
pub(crate) mod survey;
