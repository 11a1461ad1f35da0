//! Sorts data that may not fit in memory.

mod partition;

use std::io;
use std::path::PathBuf;

pub(crate) use partition::{Partitions, Record, Scatter};

/// A temporary file could not be created, written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot use a temporary file here; free some space, or choose another place for temporary files", directory.display())]
pub(crate) struct Error {
    /// The directory of the temporary file.
    pub(crate) directory: PathBuf,
    /// The system's error.
    pub(crate) source: io::Error,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
