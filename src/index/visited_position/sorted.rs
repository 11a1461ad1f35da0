//! Passes sorted occurrences to a sink, and counts visited positions at the same time.

use std::sync::Mutex;

use rayon::ThreadPool;

use crate::id::Level;
use crate::index::run::Run;
use crate::index::visited_position::{Counted, CountedGames, Counter, Decreases, rows};
use crate::index::{Error, PlayedOccurrence, Result};
use crate::parallel::lock;
use crate::sorted::sort_by_key;
use crate::store::row::Occurrence;
use crate::store::sink::SortedOccurrences;
use crate::store::{self, BulkLoader};

/// The occurrences of a level, in the partitions of the run.
pub(crate) struct LevelOccurrences<'r> {
    run: &'r Run<'r>,
    /// The level; `None` if no level is written. Then there are no occurrences.
    level: Option<Level>,
    /// The result, ratings and date of each game of the level.
    counted_games: &'r CountedGames,
    /// The changes that removed games make to visited positions. They are written only for levels that are
    /// not replaced.
    decreases: &'r Decreases,
    /// The index of each drained partition, and its counts.
    counted: Mutex<Vec<(usize, Counted)>>,
}

impl<'r> LevelOccurrences<'r> {
    pub(crate) const fn new(
        run: &'r Run<'r>,
        level: Option<Level>,
        counted_games: &'r CountedGames,
        decreases: &'r Decreases,
    ) -> Self {
        Self { run, level, counted_games, decreases, counted: Mutex::new(Vec::new()) }
    }

    /// The number of positions that [`write_visited`](SortedOccurrences::write_visited) will write, unless two
    /// positions share a key.
    pub(crate) fn visited(&self) -> u64 {
        lock(&self.counted).iter().map(|(_, counted)| counted.visited.len() as u64).sum()
    }

    /// The number of distinct keys of the new games in the partitions drained so far.
    pub(crate) fn distinct(&self) -> u64 {
        lock(&self.counted).iter().map(|(_, counted)| counted.distinct).sum()
    }
}

impl SortedOccurrences for LevelOccurrences<'_> {
    type Error = Error;

    fn level(&self) -> Option<Level> {
        self.level
    }

    fn partitions(&self) -> usize {
        self.run.partitions.len()
    }

    fn count(&self) -> u64 {
        self.run.partitions.records()
    }

    fn count_new(&self) -> u64 {
        let all = (self.counted_games.len() as u64).max(1);
        (u128::from(self.count()) * u128::from(self.counted_games.count()) / u128::from(all)) as u64
    }

    fn drain(&self, partition: usize, mut push: impl FnMut(Occurrence) -> store::Result<()>) -> Result<()> {
        let at_once = self.run.memory_of_worker().max(1 << 20) / size_of::<PlayedOccurrence>();
        let mut counter = Counter::new(self.counted_games, self.run.options.continuation_threshold);
        self.run.partitions.drain_sorted(partition, at_once, |piece| {
            self.run.progress.check()?;
            counter.observe(piece);
            Ok::<_, Error>(piece.iter().try_for_each(|occurrence| push(occurrence.occurrence()))?)
        })?;
        lock(&self.counted).push((partition, counter.finish()));
        Ok(())
    }

    fn write_visited(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        let mut counted = lock(&self.counted);
        sort_by_key(&mut counted, |&(partition, _)| partition);
        // The numbers of distinct keys stay: `distinct` needs them later.
        let visited =
            counted.iter_mut().flat_map(|(_, counted)| std::mem::take(&mut counted.visited)).collect();
        drop(counted);
        self.decreases.write(self.run.progress, self.level, loader)?;
        let Some(level) = self.level else { return Ok(()) };
        rows::write(level, visited, loader)
    }

    fn panicked(&self) -> Error {
        Error::Panicked
    }

    fn pool(&self) -> &ThreadPool {
        &self.run.pool
    }
}
