//! The progress of an export or a check, for other threads to read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::store::{Error, Result};

/// Counters that an export or a check updates, and a way to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    pub(super) total_bytes: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) games: AtomicU64,
    pub(super) plies: AtomicU64,
    pub(super) is_sorting: AtomicBool,
    is_stopped: AtomicBool,
}

impl Progress {
    /// The size in bytes of all files to check; 0 in an export.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// The size in bytes of the files compared with their manifests so far; 0 in an export.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of games read or, in a check, replayed so far.
    pub fn games(&self) -> u64 {
        self.games.load(Ordering::Relaxed)
    }

    /// The number of half-moves of the games read so far; 0 in a check.
    pub fn plies(&self) -> u64 {
        self.plies.load(Ordering::Relaxed)
    }

    /// Whether an export has read all games, and now sorts and writes their positions.
    pub fn is_sorting(&self) -> bool {
        self.is_sorting.load(Ordering::Relaxed)
    }

    /// Asks the export or check to stop soon. A stopped export leaves no new files behind.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
