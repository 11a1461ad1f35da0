//! How many steps of the schema a database has.

use std::fmt;

use serde::Serialize;

/// How many steps of the schema a database has: `PRAGMA user_version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct SchemaVersion(pub i32);

impl SchemaVersion {
    /// The oldest that was released.
    pub const OLDEST: Self = Self(1);

    /// The first whose occurrences stand in levels.
    pub(crate) const WITH_LEVELS: Self = Self(5);

    /// The version this program writes.
    pub const LATEST: Self = Self(8);
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
