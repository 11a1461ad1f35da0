//! Output to a terminal or a log while a command runs, and handling of signals.

pub(crate) mod log;
pub(crate) mod notify;
pub(crate) mod progress;
pub(crate) mod signal;
pub(crate) mod sqlite;
pub(crate) mod timing;
