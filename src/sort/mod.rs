//! Sorting what may be more than the memory takes.

mod partition;

use std::io;
use std::path::PathBuf;

pub(crate) use partition::{Partitions, Record, Scatter};

/// A temporary file could not be made, written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot use a temporary file here; free some space, or choose another place for temporary files", directory.display())]
pub(crate) struct Error {
    /// Its directory.
    pub(crate) directory: PathBuf,
    /// What the system says.
    pub(crate) source: io::Error,
}

/// A result of this room.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
