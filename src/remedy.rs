//! What to do about an error of the system.

use std::io;

/// What to do about an error of the system, where its kind says so.
pub(crate) fn remedy(error: &io::Error) -> Option<&'static str> {
    if is_open_files(error) {
        return Some("too many files are open; allow more with `ulimit -n`");
    }
    match error.kind() {
        io::ErrorKind::NotFound => Some("no such file or directory; check the path"),
        io::ErrorKind::NotADirectory => Some("not a directory; check the path"),
        io::ErrorKind::PermissionDenied => Some("check the permissions"),
        _ => None,
    }
}

/// Whether this process, or the system, may not open another file.
#[cfg(unix)]
fn is_open_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Whether this process may not open another file.
#[cfg(not(unix))]
fn is_open_files(error: &io::Error) -> bool {
    const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
    error.raw_os_error() == Some(ERROR_TOO_MANY_OPEN_FILES)
}
