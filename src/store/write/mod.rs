//! Writes rows to tables: through SQL, or as pages that become part of the file.

pub(crate) mod alias;
pub(crate) mod backup;
pub(crate) mod build;
pub(crate) mod bulk;
pub(crate) mod columns;
pub(crate) mod convert;
pub(crate) mod duplicate;
pub(crate) mod features;
pub(crate) mod hidden_index;
pub(crate) mod level;
pub(crate) mod page_transaction;
pub(crate) mod remove;
pub(crate) mod repair;
pub(crate) mod side_database;
pub(crate) mod visited_position;
