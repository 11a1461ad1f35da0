//! The version of the schema.

use std::fmt;

use serde::Serialize;

/// The version of a database's schema, `PRAGMA user_version`: the number of migrations applied to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaVersion(pub i32);

impl SchemaVersion {
    /// The oldest released version.
    pub const OLDEST: Self = Self(1);

    /// The version this program writes.
    pub const LATEST: Self = Self(1);
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
