//! Notes, errors and progress on standard error, messages to a service manager, signals, and the setup of
//! SQLite.

pub(crate) mod log;
mod notify;
mod progress;
pub(crate) mod signal;
pub(crate) mod sqlite;

pub(crate) use log::{Event, Level, complain, note, note_stopping, note_time};
pub(crate) use notify::{Notifier, Watchdog};
pub(crate) use progress::{COPYING, REPAIRING, Snapshot, WAITING, display, display_run};
pub(crate) use signal::{Interrupts, READING, end_after, stop_on_signal, stop_run, stoppable_run};
