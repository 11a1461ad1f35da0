//! `pgndex backup`: a copy of a database in use.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use pgndex::store::Database;

use crate::cli::args::BackupArgs;
use crate::cli::note;
use crate::cli::render::number::{bytes, duration};
use crate::cli::terminal::progress::{COPYING, Progress as Display, Snapshot};
use crate::cli::terminal::signal::stop_on_signal;

/// How far the copy is, for another thread.
#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    bytes: AtomicU64,
    total_bytes: AtomicU64,
}

/// Copies a database.
///
/// # Errors
/// When it cannot be read, the copy cannot be written or is there already, or somebody stops it.
pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    crate::cli::refuse_file_of(&args.database, &args.target)?;
    let database = Database::open_read_only(&args.database)?;
    let state = Arc::new(State::default());
    let stopped = Arc::clone(&state);
    stop_on_signal(move || stopped.is_stopped.store(true, Ordering::Relaxed))?;
    let shown = Arc::clone(&state);
    let display = Display::start(args.quiet, move || Snapshot {
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
    let length = copied?;
    if !args.quiet {
        let target = args.target.display();
        note(&format!("{} copied to {target} in {}", bytes(length), duration(started.elapsed())));
    }
    Ok(())
}
