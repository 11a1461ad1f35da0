//! How much room a disk has.

use std::path::Path;

/// Bytes that are free for this user where a directory is; `None` if nobody knows.
#[cfg(all(unix, feature = "index"))]
#[must_use]
pub fn free_bytes(directory: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(directory).ok()?;
    system.f_frsize.checked_mul(system.f_bavail)
}

/// Bytes that are free for this user where a directory is; `None` if nobody knows.
#[cfg(not(all(unix, feature = "index")))]
#[must_use]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}
