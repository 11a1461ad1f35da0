//! Errors that prevent a check. Findings are not errors.

use std::path::PathBuf;

use crate::store;

/// The result of a check or a part of one.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a check was not possible. Nothing is then known about the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Another connection wrote to the database meanwhile.
    #[error("{}: another program wrote to it during the check, so the result is unknown; check it again", path.display())]
    Changed {
        /// The database.
        path: PathBuf,
    },
    /// The worker threads could not be started.
    #[error("cannot start the worker threads; try fewer")]
    Threads(#[source] rayon::ThreadPoolBuildError),
    /// The check was stopped by the caller.
    #[error("stopped before the end; the result is unknown")]
    Stopped,
}
