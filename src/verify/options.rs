//! Options of a check, and its progress, for other threads to read.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::InterruptHandle;

use crate::parallel::lock;

/// Options of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The number of threads that read and replay; each has its own connection.
    pub threads: usize,
    /// How many games to replay, visited positions to recount and duplicates to compare. The sets of games by
    /// feature are checked only with [`Sample::All`].
    pub sample: Sample,
    /// The maximum number of findings to keep; all are counted.
    pub limit: usize,
    /// Whether to read the sources, if they still exist.
    pub sources: bool,
}

impl Default for VerifyOptions {
    /// One thread per core, 1,000 games, 20 findings, sources too.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            sample: Sample::Some(1000),
            limit: 20,
            sources: true,
        }
    }
}

/// How much of the slow checks to do. The same database gives the same sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All items.
    All,
    /// This many items, evenly spread.
    Some(u32),
}

impl Sample {
    /// Whether item number `index` (from 0) of `count` items is in the sample.
    #[must_use]
    pub fn has(self, index: u64, count: u64) -> bool {
        let Self::Some(most) = self else { return true };
        let chosen = |index: u64| u128::from(index) * u128::from(most) / u128::from(count.max(1));
        u64::from(most) >= count || chosen(index + 1) > chosen(index)
    }
}

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
        lock(&self.statements).iter().for_each(InterruptHandle::interrupt);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Makes [`stop`](Self::stop) interrupt the statements of a connection too.
    pub(crate) fn listen(&self, handle: InterruptHandle) {
        lock(&self.statements).push(handle);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_requested_size_and_is_evenly_spread() {
        for (most, count) in [(3, 10), (1, 7), (10, 10), (20, 10), (999, 1000), (0, 5)] {
            let chosen: Vec<u64> = (0..count).filter(|&index| Sample::Some(most).has(index, count)).collect();
            assert_eq!(chosen.len() as u64, u64::from(most).min(count), "{most} of {count}");
            let gap = count.checked_div(most.into()).unwrap_or(0) + 1;
            assert!(chosen.windows(2).all(|pair| pair[1] - pair[0] <= gap), "{chosen:?}");
            assert!((0..count).all(|index| Sample::All.has(index, count)));
        }
    }
}
