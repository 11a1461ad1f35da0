//! The progress of a check, for other threads to read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::InterruptHandle;

/// Counters that a check updates, and a way to stop it.
#[derive(Default)]
pub struct Progress {
    total_rows: AtomicU64,
    rows: AtomicU64,
    games: AtomicU64,
    plies: AtomicU64,
    stop: AtomicBool,
    statements: Mutex<Vec<InterruptHandle>>,
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").field("rows", &self.rows).field("total_rows", &self.total_rows).finish()
    }
}

impl Progress {
    /// The number of rows of the large tables that the check will read, according to the database.
    #[must_use]
    pub fn total_rows(&self) -> u64 {
        self.total_rows.load(Ordering::Relaxed)
    }

    /// The number of rows of the large tables read so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The number of games replayed so far.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games.load(Ordering::Relaxed)
    }

    /// The number of plies replayed so far.
    #[must_use]
    pub fn plies(&self) -> u64 {
        self.plies.load(Ordering::Relaxed)
    }

    /// Asks the check to stop immediately. It then fails with
    /// [`Error::Stopped`](crate::verify::Error::Stopped).
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.iter().for_each(InterruptHandle::interrupt);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Makes [`stop`](Self::stop) interrupt the statements of a connection too.
    pub(crate) fn listen(&self, handle: InterruptHandle) {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    pub(crate) fn expect(&self, rows: u64) {
        self.total_rows.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_games(&self, games: u64, plies: u64) {
        self.games.fetch_add(games, Ordering::Relaxed);
        self.plies.fetch_add(plies, Ordering::Relaxed);
    }
}
