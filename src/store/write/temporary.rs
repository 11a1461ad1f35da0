//! Configures temporary databases that nobody else uses yet, and removes them.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::pages::PageNumber;
use crate::store::schema;

/// The suffixes of SQLite's side files.
pub(super) const SIDE_FILES: [&str; 3] = ["-journal", "-wal", "-shm"];

/// A file that is removed with its side files when dropped.
#[derive(Debug)]
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        for suffix in SIDE_FILES {
            let _ = fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Configures a connection for writing a file that is useless until it is complete.
pub(crate) fn configure(connection: &Connection, cache_bytes: u64) -> rusqlite::Result<()> {
    // The page size has an effect only if it is set before the first write.
    connection.pragma_update(None, "page_size", schema::PAGE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    // A negative number is in KiB.
    let kib = i64::try_from(cache_bytes / 1024).unwrap_or(i64::MAX).clamp(1024, i64::from(i32::MAX));
    connection.pragma_update(None, "cache_size", -kib)
}

/// A path with a suffix added to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The root page of a table or index.
pub(crate) fn root_page(connection: &Connection, table: &str) -> rusqlite::Result<PageNumber> {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get(0)).map(PageNumber)
}
