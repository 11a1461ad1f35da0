//! `pgndex backup`: copies a database in use.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use anyhow::bail;
use pgndex::store::{Database, is_file_of};

use crate::cli::args::BackupArgs;
use crate::cli::render::done::{Copied, Done};
use crate::cli::render::number::{bytes, duration};
use crate::cli::render::output_file::refuse_standard_output;
use crate::cli::render::text::printable;
use crate::cli::report::report_done;
use crate::cli::terminal::log::note_stopping;
use crate::cli::terminal::progress::{COPYING, Progress as Display, Snapshot};
use crate::cli::terminal::signal::stop_on_signal;

/// The progress of the copy, and whether it must stop. Several threads share it.
#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    bytes: AtomicU64,
    total_bytes: AtomicU64,
}

/// Copies a database.
///
/// # Errors
/// If the database cannot be read, the copy cannot be written or must not be replaced, or the command is
/// stopped.
pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    refuse_standard_output(&args.target)?;
    if is_file_of(&args.database, &args.target) {
        bail!(
            "{}: cannot copy a database onto itself or onto one of its auxiliary files; name another file",
            args.target.display()
        );
    }
    let database = Database::open_read_only(&args.database)?;
    let state = Arc::new(State::default());
    let stopped = Arc::clone(&state);
    stop_on_signal(move || {
        stopped.is_stopped.store(true, Ordering::Relaxed);
        note_stopping();
    })?;
    let shown = Arc::clone(&state);
    let display = Display::start(args.report.log.quiet, move || Snapshot {
        bytes_done: shown.bytes.load(Ordering::Relaxed),
        bytes_total: shown.total_bytes.load(Ordering::Relaxed),
        phase: COPYING,
        ..Snapshot::default()
    });
    let copied = database.backup(&args.target, args.overwrite, |progress| {
        state.bytes.store(progress.bytes, Ordering::Relaxed);
        state.total_bytes.store(progress.total_bytes, Ordering::Relaxed);
        if state.is_stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    display.stop();
    let (length, elapsed) = (copied?, started.elapsed());
    let [database, copy] = [&args.database, &args.target].map(|path| path.display().to_string());
    let text = format!("{} copied to {} in {}", bytes(length), printable(&copy), duration(elapsed));
    let done = Copied { database, copy, bytes: length, seconds: elapsed.as_secs_f64() };
    report_done(args.report, Done::Backup(done), || text)
}
