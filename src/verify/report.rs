//! What a check came to.

use std::path::PathBuf;
use std::time::Duration;

use crate::verify::finding::Findings;

/// What a check came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is wrong.
    pub findings: Findings,
    /// Rows of `game`.
    pub games: u64,
    /// Rows of `game_position`.
    pub positions: u64,
    /// Games that were replayed on the board.
    pub replayed_games: u64,
    /// Plies of these.
    pub replayed_plies: u64,
    /// Games that were held against their PGN text.
    pub reread_games: u64,
    /// Rows of `visited_position` that were counted anew.
    pub visited_positions: u64,
    /// Rows of `duplicate` that were held against their originals.
    pub duplicates: u64,
    /// How many sources are as they were, or have grown at their ends.
    pub sources_same: u64,
    /// How many are not, so that games were not held against them.
    pub sources_other: u64,
    /// The first of these.
    pub notes: Vec<SourceNote>,
    /// Wall time.
    pub elapsed: Duration,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.counts.is_empty()
    }
}

/// A source that games could not be held against. That is no damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNote {
    /// Its path in the database.
    pub path: PathBuf,
    /// What became of it.
    pub state: SourceState,
    /// A sentence.
    pub message: String,
}

/// What became of a source since it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// Its text is the same.
    Same,
    /// Its text is the same, and more follows.
    Grown,
    /// Its text is another one.
    Changed,
    /// There is no such file.
    Missing,
    /// It cannot be read, or could not be read to its end when it was indexed.
    Unreadable,
}

impl SourceState {
    /// The word for it.
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

    /// Whether the games' texts are where they were.
    #[must_use]
    pub const fn has_games(self) -> bool {
        matches!(self, Self::Same | Self::Grown)
    }
}
