//! The database: schema, bulk load, look-ups.

pub mod row;
