//! Advice on system errors.

use std::io;

/// The system's errors for too many open files, of this process or of the whole system.
#[cfg(unix)]
const OPEN_FILES: &[i32] = &[libc::ENFILE, libc::EMFILE];

/// The system's error for too many open files of this process, `ERROR_TOO_MANY_OPEN_FILES`.
#[cfg(not(unix))]
const OPEN_FILES: &[i32] = &[4];

/// Advice on a system error; `None` for kinds of errors without advice.
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
