//! Rewrites a database to which games were added, as if all games had been added in one run.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::index::error::{Error, Result};
use crate::index::options::IndexOptions;
use crate::index::progress::Progress;
use crate::index::remove::{merge_levels, merged, shrink};
use crate::store::{Database, Need, WriterLock};

/// The result of [`optimize`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptimizeSummary {
    /// The number of levels before the run. At most one is left after it.
    pub levels: u64,
    /// Size of the database before the run, in bytes.
    pub bytes_before: u64,
    /// Size of the database after the run, in bytes.
    pub file_bytes: u64,
    /// Free bytes in the database, which additions will reuse.
    pub free_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
}

/// Merges the levels of the database at `target` into one, in one transaction, so that look-ups are as fast as
/// after a single run. If more than a tenth of the file is free after that, the file is rewritten without its
/// free pages, which temporarily needs as much space again. Only the options for threads, memory and the
/// directory of temporary files are used.
///
/// # Errors
/// If the database cannot be written, its tables are inconsistent, or the run is [stopped](Progress::stop).
pub fn optimize(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<OptimizeSummary> {
    const MOST_FREE: u64 = 10;
    let started = Instant::now();
    let size = || std::fs::metadata(target).map_or(0, |metadata| metadata.len());
    let bytes_before = size();
    let lock = WriterLock::acquire(target)?;
    // Each page of the database is written to the log at most once.
    let levels = merge_levels(&lock, options, progress)
        .map_err(|error| error.with_needed_space(Need::UpTo(bytes_before)))?;
    drop(lock);
    let free_bytes = || Ok::<_, Error>(Database::open_read_only(target)?.free_bytes()?);
    if free_bytes()?.saturating_mul(MOST_FREE) > size() {
        shrink(target, options, progress).map_err(|error| match levels {
            0 | 1 => error,
            levels => error.after(merged(levels), "making the file smaller", "run the same command again"),
        })?;
    }
    let (file_bytes, free_bytes) = (size(), free_bytes()?);
    Ok(OptimizeSummary { levels, bytes_before, file_bytes, free_bytes, elapsed: started.elapsed() })
}
