//! The database: schema, bulk load, look-ups.

pub mod btree;
pub mod row;
