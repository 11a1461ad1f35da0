//! Advice on system errors.

use std::io;

/// The system's error codes for too many open files: in the whole system, and in this process.
#[cfg(unix)]
const OPEN_FILES: &[i32] = &[libc::ENFILE, libc::EMFILE];

/// The system's error code for too many open files in this process, `ERROR_TOO_MANY_OPEN_FILES`.
#[cfg(not(unix))]
const OPEN_FILES: &[i32] = &[4];

/// Advice on a system error; `None` if there is no advice on errors of this kind.
pub(crate) fn error_advice(error: &io::Error) -> Option<&'static str> {
    if error.raw_os_error().is_some_and(|code| OPEN_FILES.contains(&code)) {
        return Some("too many files are open; allow more with `ulimit -n`");
    }
    match error.kind() {
        io::ErrorKind::NotFound => Some("no such file or directory; check the path"),
        io::ErrorKind::NotADirectory => Some("not a directory; check the path"),
        io::ErrorKind::PermissionDenied => Some("check the permissions"),
        _ => None,
    }
}
