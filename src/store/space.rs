//! How much room a disk has, and how much some work takes.

use std::fmt;
use std::io;
use std::path::Path;

/// How much room some work takes, as far as anybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// About so many bytes, as was told before the work.
    About(u64),
    /// More than so many bytes: they were written when there was no more room.
    MoreThan(u64),
    /// So many bytes at most.
    UpTo(u64),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::About(bytes) => write!(f, "about {}", Size(bytes)),
            Self::MoreThan(bytes) => write!(f, "more than {}", Size(bytes)),
            Self::UpTo(bytes) => write!(f, "up to {}", Size(bytes)),
        }
    }
}

/// A number of bytes for people: in MiB, or in KiB if it is less than one, rounded up.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1 << 20;
        match self.0 {
            bytes if bytes < MIB => write!(f, "{} KiB", bytes.div_ceil(1 << 10)),
            bytes => write!(f, "{} MiB", bytes.div_ceil(MIB)),
        }
    }
}

/// Whether the system says that there is no room: on the disk, in a quota, or for files of this size.
#[must_use]
pub const fn is_disk_full(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error, StorageFull | QuotaExceeded | FileTooLarge)
}

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

/// Why the system lets this user not read a file; `None` if it does, or if nobody knows. The file is not opened: to close it would take away
/// the locks that SQLite holds on it.
#[cfg(all(unix, feature = "index"))]
pub(crate) fn refusal(path: &Path) -> Option<io::Error> {
    // It may be that no file at all can be opened.
    let refused = || rustix::fs::access(path, rustix::fs::Access::READ_OK).err().map(io::Error::from);
    std::fs::File::open("/dev/null").err().or_else(refused)
}

/// Why the system lets this user not read a file; `None` if nobody knows.
#[cfg(not(all(unix, feature = "index")))]
pub(crate) fn refusal(_: &Path) -> Option<io::Error> {
    None
}
