//! Advice on system errors.

use std::io;

/// Advice on a system error; `None` for kinds of errors without advice.
pub(crate) fn error_advice(error: &io::Error) -> Option<&'static str> {
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

/// Whether the error says that this process, or the whole system, has reached its limit of open files.
#[cfg(unix)]
fn is_open_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Whether the error says that this process's limit of open files is reached.
#[cfg(not(unix))]
fn is_open_files(error: &io::Error) -> bool {
    const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
    error.raw_os_error() == Some(ERROR_TOO_MANY_OPEN_FILES)
}
