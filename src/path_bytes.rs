//! Converts bytes from archives, databases and lists of files to paths, and examines the bytes of paths.

use std::path::{Path, PathBuf, is_separator};

/// Converts bytes to a path.
#[cfg(unix)]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// Converts bytes to a path. U+FFFD replaces bytes that are not valid UTF-8, because paths are not bytes on
/// systems other than Unix.
#[cfg(not(unix))]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Whether a path ends with a separator. Shells add one when they complete the name of a directory.
pub(crate) fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| is_separator(byte.into()))
}
