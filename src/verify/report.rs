//! The result of a check, and the errors that make a check impossible. Findings are not errors.

use std::path::PathBuf;
use std::time::Duration;

use crate::store;
use crate::verify::Findings;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings.
    pub findings: Findings,
    /// The number of rows of `game`.
    pub games: u64,
    /// The number of rows of `game_position`.
    pub positions: u64,
    /// The number of games replayed on the board.
    pub replayed_games: u64,
    /// The number of plies of the replayed games.
    pub replayed_plies: u64,
    /// The number of games compared with their PGN text.
    pub reread_games: u64,
    /// The number of recounted rows of `level_position`.
    pub visited_positions: u64,
    /// The number of checked rows of `duplicate`.
    pub duplicates: u64,
    /// The number of sources that are unchanged or have only grown.
    pub sources_same: u64,
    /// The number of sources whose games were not compared, because the source has changed, is missing or
    /// cannot be read.
    pub sources_other: u64,
    /// Notes on the first sources whose games were not compared.
    pub notes: Vec<SourceNote>,
    /// Wall time.
    pub elapsed: Duration,
}

impl Report {
    /// Whether there are no findings.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.counts.is_empty()
    }
}

/// A source whose games could not be compared. This is not a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNote {
    /// The path of the source, as stored in the database.
    pub path: PathBuf,
    /// The state of the source.
    pub state: SourceState,
    /// An explanation to write after the path, such as `the file has changed since it was indexed`.
    pub message: String,
}

/// The state of a source, compared with its state when it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// The text is the same.
    Same,
    /// The text is the same, followed by more text.
    Grown,
    /// The text differs.
    Changed,
    /// There is no such file.
    Missing,
    /// The source cannot be read, or it could not be read completely when it was indexed.
    Unreadable,
}

impl SourceState {
    /// The word for this state.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Grown => "grown",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether the games' texts are still where they were when the source was indexed.
    #[must_use]
    pub const fn has_games(self) -> bool {
        matches!(self, Self::Same | Self::Grown)
    }
}

/// The result of a check, or of a part of a check.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a check was not possible. Nothing is then known about the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Another connection wrote to the database during the check.
    #[error("{}: another program wrote to it during the check, so the result is unknown; check it again", path.display())]
    Changed {
        /// The database.
        path: PathBuf,
    },
    /// The worker threads could not be started.
    #[error("cannot start the worker threads; use fewer threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
    /// The check was stopped by the caller.
    #[error("stopped before the end; the result is unknown")]
    Stopped,
}
