//! Handles signals: the program ends cleanly on request, and is not ended by a file size limit.
#![allow(unsafe_code)]

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use pgndex::index::Progress;
use pgndex::store::Database;

/// The last signal that asked the process to end; 0 if there was none.
static LAST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The exit status of a run that a signal ended, as in shells: 130 for Ctrl-C, 143 for SIGTERM. `None` if
/// there was no signal.
pub(crate) fn exit_status() -> Option<u8> {
    let signal = LAST_SIGNAL.load(Ordering::Relaxed);
    u8::try_from(signal).ok().filter(|&signal| signal > 0).map(|signal| 128_u8.saturating_add(signal))
}

/// Removes the temporary files and ends the process immediately, with the exit status of the signal.
fn end_at_once() -> ! {
    pgndex::store::remove_temporary_files();
    std::process::exit(exit_status().unwrap_or(1).into())
}

/// Calls `handle` in a separate thread at each signal that asks the process to end.
#[cfg(unix)]
fn listen(mut handle: Box<dyn FnMut() + Send>) -> anyhow::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).context(CANNOT)?;
    let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            LAST_SIGNAL.store(signal, Ordering::Relaxed);
            handle();
        }
    });
    listener.map(drop).context(CANNOT)
}

/// Calls `handle` in a separate thread at each Ctrl-C.
#[cfg(not(unix))]
fn listen(mut handle: Box<dyn FnMut() + Send>) -> anyhow::Result<()> {
    const SIGINT: i32 = 2;
    ctrlc::set_handler(move || {
        LAST_SIGNAL.store(SIGINT, Ordering::Relaxed);
        handle();
    })
    .context(CANNOT)
}

const CANNOT: &str = "cannot listen for Ctrl-C";

/// How long a command that only reads may continue after a signal before the process ends. A limit is needed
/// because SQLite cannot interrupt a call of an SQL function.
pub(crate) const READING: Duration = Duration::from_millis(700);
/// How long a statement or run that writes may take to end after a signal, including its rollback. After that
/// time, the process ends, and the next process that opens the database rolls back.
const WRITING: Duration = Duration::from_secs(5);

/// Ends the process if `is_running` returns true after `time`.
pub(crate) fn end_after(time: Duration, is_running: Box<dyn FnOnce() -> bool + Send>) {
    let ending = std::thread::Builder::new().name("ending".into()).spawn(move || {
        std::thread::sleep(time);
        if is_running() {
            // Writing fails if standard error is closed.
            let _ = writeln!(io::stderr(), "pgndex: error: stopped before the end");
            end_at_once();
        }
    });
    drop(ending); // If the thread cannot be started, only a second signal ends the process.
}

/// How long a run may take to notice the stop request. It cannot notice the request during a call of an SQL
/// function or a system call.
const UNNOTICED: Duration = Duration::from_secs(1);

/// Asks a writing run to stop. Ends the process if the run does not notice the request within
/// `UNNOTICED`, or has not ended within `WRITING`. The database is then as after a crash: the next program
/// that opens it rolls back.
pub(crate) fn stop_run(run: &Arc<Progress>) {
    run.stop();
    // Weak references do not keep the progress of an ended run alive.
    let [unnoticed, unended] = [Arc::downgrade(run), Arc::downgrade(run)];
    end_after(UNNOTICED, Box::new(move || unnoticed.upgrade().is_some_and(|run| !run.is_stop_seen())));
    end_after(WRITING, Box::new(move || unended.strong_count() > 0));
}

/// Creates the progress of a run that writes. The first signal stops this run.
pub(crate) fn stoppable_run() -> anyhow::Result<Arc<Progress>> {
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stop_run(&stopped))?;
    Ok(progress)
}

/// Calls `stop` at the first signal that asks the process to end, so that the work can clean up. A second
/// signal ends the process immediately.
pub(crate) fn stop_on_signal(stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let is_stopping = AtomicBool::new(false);
    listen(Box::new(move || {
        if is_stopping.swap(true, Ordering::Relaxed) {
            end_at_once();
        }
        stop();
    }))
}

/// Handles signals while `pgndex sql` reads and runs statements. Ctrl-C stops the running statement.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// The number of further signals that do not end the process; the signal after them ends it. This number
    /// is set when a statement begins and when it ends.
    patience: Arc<AtomicU8>,
    /// The number of starts and ends of statements so far; odd while a statement runs.
    steps: Arc<AtomicU64>,
    /// The value of `patience` between two statements.
    idle: u8,
    /// The value of `patience` when a statement begins.
    running: u8,
}

impl Interrupts {
    /// Handles signals for a script. Between two statements, a signal ends the process. During a statement,
    /// the first signal stops the statement, and the second ends the process.
    pub(crate) fn for_script(database: &Database) -> anyhow::Result<Self> {
        Self::taking(database, 0, 1)
    }

    /// Handles signals for a prompt. While the user types, the prompt handles Ctrl-C itself. During a
    /// statement, the first two signals stop the statement, and the third ends the process. SIGTERM and
    /// SIGHUP end the process at any time.
    pub(crate) fn for_prompt(database: &Database) -> anyhow::Result<Self> {
        let interrupts = Self::taking(database, u8::MAX, 2)?;
        #[cfg(unix)]
        // SAFETY: the default action installs no handler, so none of our code runs asynchronously.
        unsafe {
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
        }
        Ok(interrupts)
    }

    fn taking(database: &Database, idle: u8, running: u8) -> anyhow::Result<Self> {
        let statement = database.interrupt_handle();
        let time = if database.connection().is_readonly("main")? { READING } else { WRITING };
        let (patience, steps) = (Arc::new(AtomicU8::new(idle)), Arc::<AtomicU64>::default());
        let (left, steps_now) = (Arc::clone(&patience), Arc::clone(&steps));
        listen(Box::new(move || {
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_err() {
                end_at_once();
            }
            statement.interrupt();
            let (steps, before) = (Arc::clone(&steps_now), steps_now.load(Ordering::Relaxed));
            // An odd number: a statement runs.
            if before % 2 == 1 {
                end_after(time, Box::new(move || steps.load(Ordering::Relaxed) == before));
            }
        }))?;
        Ok(Self { patience, steps, idle, running })
    }

    /// Runs a statement, which signals can stop.
    pub(crate) fn during<T>(&self, statement: impl FnOnce() -> T) -> T {
        self.patience.store(self.running, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        let result = statement();
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.patience.store(self.idle, Ordering::Relaxed);
        result
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error, so that the command can report
/// it and clean up. Otherwise, SIGXFSZ would end the process.
pub(crate) fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: ignoring a signal installs no handler, so none of our code runs asynchronously.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
