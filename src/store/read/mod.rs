//! Questions to the tables, as rows.

pub(crate) mod catalog;
pub(crate) mod compared;
pub(crate) mod explore;
pub(crate) mod filter;
pub(crate) mod game_outcome;
pub(crate) mod game_record;
pub(crate) mod hit;
pub(crate) mod info;
pub(crate) mod known;
pub(crate) mod name;
pub(crate) mod opening;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod selection;
pub(crate) mod sql_query;
pub(crate) mod statistics;
