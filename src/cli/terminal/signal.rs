//! Signals: ending cleanly when asked to, and not being ended by a full disk.
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use anyhow::Context as _;
use rusqlite::InterruptHandle;

/// Exit status when a signal ends the process at once.
const INTERRUPTED: i32 = 130;

/// The first Ctrl-C or SIGTERM calls `stop`, which lets the work clean up; a second one ends the process at once.
pub(crate) fn stop_on_signal(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        stop();
    })
    .context("cannot listen to Ctrl-C")
}

/// What Ctrl-C does while SQL is read and run: it stops the statement that runs.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// So many more are taken before one ends the process at once, if the statement does not stop.
    patience: Arc<AtomicU8>,
    /// The same between two statements ...
    idle: u8,
    /// ... and when one begins.
    running: u8,
}

impl Interrupts {
    /// Listens for a script: between its statements Ctrl-C or SIGTERM ends the process.
    pub(crate) fn of_script(statement: InterruptHandle) -> anyhow::Result<Self> {
        Self::listen(statement, 0, 1)
    }

    /// Listens for a prompt: between statements Ctrl-C does nothing, as the prompt takes it for itself; SIGTERM and SIGHUP
    /// end the process at any time.
    pub(crate) fn of_prompt(statement: InterruptHandle) -> anyhow::Result<Self> {
        let interrupts = Self::listen(statement, u8::MAX, 2)?;
        #[cfg(unix)]
        // SAFETY: the default action installs no handler, so no code of ours runs at an odd moment.
        unsafe {
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
        }
        Ok(interrupts)
    }

    fn listen(statement: InterruptHandle, idle: u8, running: u8) -> anyhow::Result<Self> {
        let patience = Arc::new(AtomicU8::new(idle));
        let left = Arc::clone(&patience);
        ctrlc::set_handler(move || {
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_err() {
                std::process::exit(INTERRUPTED);
            }
            statement.interrupt();
        })
        .context("cannot listen to Ctrl-C")?;
        Ok(Self { patience, idle, running })
    }

    /// Runs a statement.
    pub(crate) fn during<T>(&self, statement: impl FnOnce() -> T) -> T {
        self.patience.store(self.running, Ordering::Relaxed);
        let result = statement();
        self.patience.store(self.idle, Ordering::Relaxed);
        result
    }
}

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail with an error, which is told and cleaned up after,
/// rather than end the process by SIGXFSZ.
pub(crate) fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal installs no handler, so no code of ours runs at an odd moment.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
