//! Converts bytes from archives, lists and databases to paths, and examines the bytes of paths.

use std::path::{Path, PathBuf, is_separator};

/// The path of these bytes.
#[cfg(unix)]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// The path of these bytes, which must be UTF-8 on this system.
#[cfg(not(unix))]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Whether a path ends with a separator, as shells complete directories.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| is_separator(byte.into()))
}
