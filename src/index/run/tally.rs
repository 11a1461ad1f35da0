//! Counts the problems and duplicates of a run while its batches are written.

use crate::index::problem::ProblemKind;
use crate::index::report::summary::{DuplicateCounts, ProblemCounts};
use crate::sorted::SortedMap;
use crate::store::row::{GameStatus, HeaderBatch};

/// The counts of all batches written so far.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) problems: ProblemCounts,
    pub(crate) unreadable: Vec<String>,
    pub(crate) damaged: Vec<String>,
    pub(crate) skipped: u64,
    pub(crate) duplicates: DuplicateCounts,
    pub(crate) variants: SortedMap<String, u64>,
    pub(crate) gameless: Vec<String>,
}

impl Tally {
    pub(crate) fn count(&mut self, batch: &HeaderBatch) {
        for problem in &batch.problems {
            self.problems.add(problem.severity, problem.kind);
            let message = || problem.message.of(&batch.text).to_owned();
            if problem.kind == ProblemKind::UnreadableSource.as_str() {
                self.unreadable.push(message());
            } else if problem.kind == ProblemKind::DamagedArchive.as_str() {
                self.damaged.push(message());
            } else if problem.kind == ProblemKind::NoGame.as_str() {
                self.gameless.push(message());
            } else if problem.kind == ProblemKind::UnsupportedVariant.as_str() {
                self.count_variant(problem.token.map_or("", |token| token.of(&batch.text)));
            }
        }
        batch.duplicates.iter().for_each(|duplicate| self.duplicates.add(duplicate.kind, 1));
        self.skipped += batch.games.iter().filter(|game| game.status == GameStatus::Skipped).count() as u64;
    }

    fn count_variant(&mut self, name: &str) {
        /// The maximum number of variant names counted. Any text can be such a name, and garbage must not fill
        /// the memory.
        const MOST: usize = 100;
        let is_known = self.variants.len() < MOST || self.variants.contains_key(name);
        *self.variants.entry(if is_known { name } else { "others" }.to_owned()) += 1;
    }
}
