//! The process that writes a database.

use std::fmt;

use rusqlite::Connection;

/// The process that is writing a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOwner {
    /// The process id.
    pub process: u32,
    /// The time at which the process acquired the lock, in UTC: `2026-03-14T15:09:26Z`.
    pub since: String,
}

impl LockOwner {
    pub(super) fn this_process() -> rusqlite::Result<Self> {
        let now = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";
        let since = Connection::open_in_memory()?.query_row(now, [], |row| row.get(0))?;
        Ok(Self { process: std::process::id(), since })
    }

    /// Parses a lock file; `None` until its owner has written it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (process, since) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Self { process: process.parse().ok()?, since: since.to_owned() })
    }
}

impl fmt::Display for LockOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} since {}", self.process, self.since)
    }
}
