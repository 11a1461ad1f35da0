//! The identity of a file.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// Identifies a file, even if another file gets its path later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// Identifies the file at a path. On systems other than Unix, the creation time is used instead of a file
    /// number: a file that replaces another one was created later. (On Windows, a database cannot be replaced
    /// while SQLite has it open.)
    ///
    /// # Errors
    /// If there is no file, or its metadata cannot be read.
    pub fn from_path(path: &Path) -> io::Result<Self> {
        Self::of(&fs::metadata(path)?)
    }

    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        Ok(Self { device: metadata.dev(), number: metadata.ino() })
    }

    #[cfg(not(unix))]
    pub(super) fn of(metadata: &Metadata) -> io::Result<Self> {
        use std::time::SystemTime;
        let created = metadata.created()?.duration_since(SystemTime::UNIX_EPOCH);
        let created = created.map_or(0, |since| since.as_nanos());
        Ok(Self { device: (created >> 64) as u64, number: created as u64 })
    }
}
