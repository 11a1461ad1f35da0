//! Signals: ending cleanly when asked to, and not being ended by a full disk.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

/// The first Ctrl-C or SIGTERM stops the run and lets it clean up; a second one ends the process at once.
pub(super) fn stop_on_signal(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    const INTERRUPTED: i32 = 130;
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        stop();
    })
    .context("cannot listen to Ctrl-C")
}

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail with an error, which is told and cleaned up after,
/// rather than end the process by SIGXFSZ.
pub(super) fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal installs no handler, so no code of ours runs at an odd moment.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
