//! The steps of the schema, and how many of them a database has.

use std::fmt;

use rusqlite_migration::M;
use serde::Serialize;

/// All steps, oldest first. A released step is never changed.
pub(super) const STEPS: &[M<'static>] = &[M::up(include_str!("../../migrations/0001_schema.sql"))];

/// How many steps of the schema a database has: `PRAGMA user_version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SchemaVersion(pub i32);

impl SchemaVersion {
    /// The oldest that was released.
    pub const OLDEST: Self = Self(1);

    /// The version this program writes.
    pub const LATEST: Self = Self(STEPS.len() as i32);
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
