//! Which file is in a place.

use std::fs;
use std::io;
use std::path::Path;

/// A file, told from another one that has its path later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// The file that is at a path now.
    ///
    /// # Errors
    /// If there is none, or nothing can be known of it.
    #[cfg(unix)]
    pub fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), number: metadata.ino() })
    }

    /// The file that is at a path now. Where files have no numbers, one that takes another's place was created later. (On Windows that
    /// cannot happen while the other one is open.)
    ///
    /// # Errors
    /// If there is none, or nothing can be known of it.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> io::Result<Self> {
        use std::time::SystemTime;
        let created = fs::metadata(path)?.created()?.duration_since(SystemTime::UNIX_EPOCH);
        let created = created.map_or(0, |since| since.as_nanos());
        Ok(Self { device: (created >> 64) as u64, number: created as u64 })
    }
}
