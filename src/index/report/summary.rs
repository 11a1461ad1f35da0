//! The summary of a run.

use std::time::Duration;

use crate::sorted::SortedMap;
use crate::store::row::{DuplicateKind, Severity};

/// The summary of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games read, without those left out and skipped duplicates. In a dry run they are only counted.
    pub games: u64,
    /// Games with an error that were omitted.
    pub left_out: u64,
    /// Games whose moves were skipped because the rules of their variant are unknown, by the variant's name.
    pub variants: SortedMap<String, u64>,
    /// Whether the input was only checked, and no database written.
    pub dry_run: bool,
    /// Moves replayed.
    pub plies: u64,
    /// Worker threads; 0 if there was nothing to read.
    pub threads: usize,
    /// Positions of games: rows of `game_position`.
    pub positions: u64,
    /// Distinct positions, by their keys.
    pub distinct_positions: u64,
    /// Problems.
    pub problems: ProblemCounts,
    /// The first errors in games, each as a sentence with its place. At most three.
    pub first_errors: Vec<String>,
    /// Games that repeat others.
    pub duplicates: DuplicateCounts,
    /// The sources that could not be read, with reasons: a sentence each.
    pub unreadable: Vec<String>,
    /// The sources that could be read only in part, with reasons: a sentence each.
    pub damaged: Vec<String>,
    /// The sources with text but without games: a sentence each. Empty sources are not listed.
    pub gameless: Vec<String>,
    /// Why the added data is not only in the database file but also in the write-ahead log beside it: a
    /// sentence.
    pub log_left: Option<String>,
    /// Whether games were added to an existing database.
    pub added: bool,
    /// Sources that were not read, because the database already has them.
    pub known_sources: u64,
    /// The sources that were read as new, because they no longer begin with the text read before: a sentence
    /// each.
    pub rewritten: Vec<String>,
    /// Bytes of PGN text, decompressed.
    pub bytes: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
    /// Parquet files written; 0 if a database was written.
    pub parquet_files: u64,
    /// Size of the database, or of the Parquet files, in bytes.
    pub file_bytes: u64,
    /// The time of each stage.
    pub stages: Stages,
    /// Wall time of the whole run.
    pub elapsed: Duration,
}

impl Summary {
    /// Moves per second.
    #[must_use]
    pub fn plies_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.plies as f64 / seconds } else { 0.0 }
    }
}

/// Wall time of the stages of a run, which follow one another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    /// Reading, replaying and writing games and their positions.
    pub read: Duration,
    /// Sorting positions by key and writing them.
    pub sort: Duration,
    /// Completing the small tables and their indexes.
    pub headers: Duration,
    /// Writing the counts of visited positions.
    pub continuations: Duration,
    /// Sync and rename.
    pub sync: Duration,
}

/// Games that repeat others, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplicateCounts {
    /// Skipped: moves, players, date and result are those of an earlier game.
    pub same: u64,
    /// Skipped: the moves are those of an earlier game.
    pub moves: u64,
    /// Kept, although all their moves are the first moves of a longer game by the same players on the same
    /// date. Can include games that an existing database had before.
    pub prefix: u64,
}

impl DuplicateCounts {
    pub(crate) const fn add(&mut self, kind: DuplicateKind, count: u64) {
        match kind {
            DuplicateKind::Same => self.same += count,
            DuplicateKind::Moves => self.moves += count,
            DuplicateKind::Prefix => self.prefix += count,
        }
    }

    /// The number of skipped games.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.same + self.moves
    }

    /// Each kind, even without games: its word in the database, and the number of games.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = [
            (DuplicateKind::Same, self.same),
            (DuplicateKind::Moves, self.moves),
            (DuplicateKind::Prefix, self.prefix),
        ];
        counts.into_iter().map(|(kind, count)| (kind.as_str(), count))
    }
}

/// Problems by severity and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemCounts(SortedMap<(Severity, &'static str), u64>);

impl FromIterator<(Severity, &'static str, u64)> for ProblemCounts {
    fn from_iter<T: IntoIterator<Item = (Severity, &'static str, u64)>>(counts: T) -> Self {
        Self(counts.into_iter().map(|(severity, kind, count)| ((severity, kind), count)).collect())
    }
}

impl ProblemCounts {
    pub(crate) fn add(&mut self, severity: Severity, kind: &'static str) {
        *self.0.entry((severity, kind)) += 1;
    }

    /// Each kind that occurred: its severity, its word in the database, the number of problems. Warnings come
    /// first.
    pub fn iter(&self) -> impl Iterator<Item = (Severity, &'static str, u64)> {
        self.0.iter().map(|(&(severity, kind), &count)| (severity, kind, count))
    }

    /// The number of problems of a severity.
    #[must_use]
    pub fn of(&self, severity: Severity) -> u64 {
        self.iter().filter(|&(found, ..)| found == severity).map(|(.., count)| count).sum()
    }
}
