//! Errors of writing or reading Parquet files.

use std::path::PathBuf;

use crate::sort;
use crate::store;

/// Why Parquet files could not be written or read. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or the database could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The directory already contains Parquet files of this shard.
    #[error(
        "{}: has the Parquet files of shard {shard} already; name another directory or shard, or allow replacing them",
        directory.display()
    )]
    Exists {
        /// The directory.
        directory: PathBuf,
        /// The shard.
        shard: u32,
    },
    /// The directory contains something that pgndex did not write.
    #[error(
        "{}: not made by pgndex, so nothing is written into {}; name another directory, or an empty one", path.display(), directory.display()
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// The unexpected file.
        path: PathBuf,
    },
    /// The path is that of a file.
    #[error("{}: not a directory; Parquet files are written into a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// There are no Parquet files written by pgndex.
    #[error(
        "{}: has no _manifest-*.json, so no run has finished writing Parquet files here; write them again, or name the \
         directory that they were written to", directory.display()
    )]
    NoManifest {
        /// The directory.
        directory: PathBuf,
    },
    /// The manifest is invalid.
    #[error("{}: not a manifest of this version of pgndex: {reason}; write the files again, or use the version that wrote them", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<sort::Error> for store::Error {
    fn from(sort::Error { directory, source }: sort::Error) -> Self {
        Self::io(&directory, "use a temporary file there", source)
    }
}
