//! The progress of a run or a check, for other threads to read.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;

use crate::index::{Error, Estimate, Result};
use crate::source::SearchObserver;

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Searching for sources, and for new data in them.
    #[default]
    Looking,
    /// Reading and replaying games.
    Reading,
    /// Sorting positions by key and writing them.
    Sorting,
    /// Creating indexes, syncing and renaming files.
    Finishing,
}

impl Phase {
    /// A short description for users.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Looking => "looking for sources",
            Self::Reading => "reading",
            Self::Sorting => "sorting",
            Self::Finishing => "finishing",
        }
    }
}

/// Counters that a run or a [check](crate::verify::verify) updates, and a way to stop it.
#[derive(Default)]
pub struct Progress {
    total_bytes: AtomicU64,
    bytes: AtomicU64,
    games: AtomicU64,
    plies: AtomicU64,
    total_rows: AtomicU64,
    rows: AtomicU64,
    entries: AtomicU64,
    bytes_looked_at: AtomicU64,
    phase: AtomicU8,
    signs: Arc<Signals>,
    on_estimate: OnceLock<OnEstimate>,
}

/// Signals between a run and other threads.
#[derive(Debug, Default)]
struct Signals {
    /// Whether the run must stop.
    stop: AtomicBool,
    /// Whether the run has noticed the stop request.
    is_stop_seen: AtomicBool,
    /// Whether the run has made progress since [`Progress::has_moved`] was last called.
    has_moved: AtomicBool,
}

impl Signals {
    /// Whether the run must stop. A thread that calls this function is working, so each call counts as
    /// progress.
    fn is_stopped(&self) -> bool {
        // All threads call this function, so the flag is written only if it changes.
        if !self.has_moved.load(Ordering::Relaxed) {
            self.has_moved.store(true, Ordering::Relaxed);
        }
        let is_stopped = self.stop.load(Ordering::Relaxed);
        if is_stopped {
            self.is_stop_seen.store(true, Ordering::Relaxed);
        }
        is_stopped
    }
}

type OnEstimate = Box<dyn Fn(&Estimate) + Send + Sync>;

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

impl Progress {
    /// Sets a function to be called with the estimate of the output before reading starts. It is not called if
    /// the run has no output or nothing to read. Once a function is set, further ones are ignored.
    pub fn on_estimate(&self, notify: impl Fn(&Estimate) + Send + Sync + 'static) {
        let _ = self.on_estimate.set(Box::new(notify));
    }

    pub(crate) fn estimated(&self, estimate: &Estimate) {
        if let Some(notify) = self.on_estimate.get() {
            notify(estimate);
        }
    }

    /// The number of bytes to read from all sources; for archives, compressed bytes. It is 0 if it is not yet
    /// known, or if one of the sources is a stream.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// The number of bytes read from the sources; for archives, compressed bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of games read so far, except games that were left out or skipped as duplicates.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games.load(Ordering::Relaxed)
    }

    /// The number of plies of the games that [`games`](Self::games) counts.
    #[must_use]
    pub fn plies(&self) -> u64 {
        self.plies.load(Ordering::Relaxed)
    }

    /// The number of rows of the large tables that a check will read, according to the database.
    #[must_use]
    pub fn total_rows(&self) -> u64 {
        self.total_rows.load(Ordering::Relaxed)
    }

    /// The number of rows of the large tables that a check has read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The number of files and directories examined during the search for sources.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// The number of bytes of text that were examined to find out which games must be read.
    #[must_use]
    pub fn bytes_looked_at(&self) -> u64 {
        self.bytes_looked_at.load(Ordering::Relaxed)
    }

    /// The current phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Looking,
            1 => Phase::Reading,
            2 => Phase::Sorting,
            _ => Phase::Finishing,
        }
    }

    /// Asks the run or check to stop soon. A run then fails with
    /// [`Error::Stopped`](crate::index::Error::Stopped), or with
    /// [`Error::Partial`](crate::index::Error::Partial) if a part of its work is committed. It leaves no
    /// incomplete output and no temporary files behind. A check fails with
    /// [`Error::Stopped`](crate::verify::Error::Stopped).
    pub fn stop(&self) {
        self.signs.stop.store(true, Ordering::Relaxed);
    }

    /// Whether a thread of the run or check has noticed the stop request. While a thread executes an SQL
    /// function, it cannot notice the request, however long the call takes.
    pub fn is_stop_seen(&self) -> bool {
        self.signs.is_stop_seen.load(Ordering::Relaxed)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.signs.is_stopped()
    }

    /// Whether the run has made progress since the last call. The result can be `false` for a long time while
    /// the system writes a large file to disk.
    pub fn has_moved(&self) -> bool {
        self.signs.has_moved.swap(false, Ordering::Relaxed)
    }

    /// Fails if the run must stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Makes a stop request also interrupt the SQL statements of a connection.
    pub(crate) fn watch(&self, connection: &Connection) {
        // The number of instructions that SQLite's virtual machine executes between two checks. These
        // instructions take a few milliseconds.
        const INTERVAL: i32 = 100_000;
        let signs = Arc::clone(&self.signs);
        connection
            .progress_handler(INTERVAL, Some(move || signs.is_stopped()))
            .expect("a connection of our own");
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn expect_rows(&self, rows: u64) {
        self.total_rows.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, bytes: u64, games: u64, plies: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.games.fetch_add(games, Ordering::Relaxed);
        self.plies.fetch_add(plies, Ordering::Relaxed);
    }
}

impl SearchObserver for Progress {
    fn looked_at(&self, entries: u64, bytes: u64) -> ControlFlow<()> {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.bytes_looked_at.fetch_add(bytes, Ordering::Relaxed);
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store;

    #[test]
    fn checking_for_a_stop_counts_as_progress() {
        let progress = Progress::default();
        assert!(!progress.has_moved());
        assert!(progress.check().is_ok());
        assert!(progress.has_moved() && !progress.has_moved());
        progress.stop();
        assert!(!progress.has_moved() && !progress.is_stop_seen());
        let connection = Connection::open_in_memory().unwrap();
        progress.watch(&connection);
        let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT count(*) FROM n";
        assert!(connection.query_row(long, [], |row| row.get::<_, i64>(0)).is_err());
        assert!(progress.has_moved() && progress.is_stop_seen());
    }

    #[test]
    fn a_stop_ends_a_statement() {
        let progress = Progress::default();
        let connection = Connection::open_in_memory().unwrap();
        progress.watch(&connection);
        let endless =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                progress.stop();
            });
            connection.query_row(endless, [], |row| row.get::<_, i64>(0)).unwrap_err()
        });
        let error = store::Error::sqlite("x.db".as_ref(), "count", ended);
        assert!(matches!(Error::from(error), Error::Stopped));
    }
}
