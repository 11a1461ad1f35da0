//! Free disk space, and the space that a job needs.

use std::fmt;
use std::io;
use std::path::Path;

/// The space that a job needs, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// An estimate, made before the work.
    About(u64),
    /// A lower bound, such as the number of bytes written before the disk was full.
    MoreThan(u64),
    /// An upper bound.
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

/// Formats a number of bytes for messages: in MiB, or in KiB below 10 MiB, rounded up.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = unit(self.0);
        write!(f, "{} {name}", self.0.div_ceil(unit))
    }
}

/// Formats a number of free bytes like [`Size`], but rounded down. So if more bytes are needed than are free,
/// a message never shows two equal sizes.
#[derive(Clone, Copy, Debug)]
pub struct FreeSize(pub u64);

impl fmt::Display for FreeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = unit(self.0);
        write!(f, "{} {name}", self.0 / unit)
    }
}

/// The unit in which a message shows a number of bytes: MiB if that gives at least two digits, else KiB.
const fn unit(bytes: u64) -> (u64, &'static str) {
    if bytes < 10 << 20 { (1 << 10, "KiB") } else { (1 << 20, "MiB") }
}

/// Whether an error of the system means that no space is left: the disk is full, a quota is used up, or a
/// file has reached the maximum size.
#[must_use]
pub const fn is_disk_full(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error, StorageFull | QuotaExceeded | FileTooLarge)
}

/// The size of a file, in bytes; 0 if it cannot be determined.
pub(crate) fn file_size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Bytes that this user can still write to the file system of a directory; `None` if unknown.
#[cfg(all(unix, feature = "index"))]
#[must_use]
pub fn free_bytes(directory: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(directory).ok()?;
    system.f_frsize.checked_mul(system.f_bavail)
}

/// Always `None`: this build does not determine the free space.
#[cfg(not(all(unix, feature = "index")))]
#[must_use]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Whether the size of files that this process writes is limited (`ulimit -f`).
#[cfg(all(unix, feature = "index"))]
pub(crate) fn is_file_size_limited() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some()
}

/// Always false: this build does not determine whether the size of files is limited.
#[cfg(not(all(unix, feature = "index")))]
pub(crate) fn is_file_size_limited() -> bool {
    false
}

/// Why the system does not let this user read a file; `None` if the file can be read, or if the reason is
/// unknown. This function does not open the file: closing it would release the locks that SQLite holds on it.
#[cfg(all(unix, feature = "index"))]
pub(crate) fn refusal(path: &Path) -> Option<io::Error> {
    // First check whether this process can open any file at all. It cannot if it has reached the limit of
    // open files.
    let refused = || rustix::fs::access(path, rustix::fs::Access::READ_OK).err().map(io::Error::from);
    std::fs::File::open("/dev/null").err().or_else(refused)
}

/// Always `None`: this build does not determine why a file cannot be read.
#[cfg(not(all(unix, feature = "index")))]
pub(crate) fn refusal(_: &Path) -> Option<io::Error> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_looks_smaller_than_needed_space() {
        for (free, needed, texts) in [
            (1_228_800, 1_228_801, ["1200 KiB", "1201 KiB"]),
            (10_485_759, 10_485_760, ["10239 KiB", "10 MiB"]),
            (12_000_000, 12_000_001, ["11 MiB", "12 MiB"]),
        ] {
            assert_eq!([FreeSize(free).to_string(), Size(needed).to_string()], texts);
        }
    }
}
