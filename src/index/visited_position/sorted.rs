//! Passes sorted occurrences to a sink, and counts visited positions at the same time.

use std::sync::Mutex;

use rayon::ThreadPool;

use crate::id::Level;
use crate::index::visited_position::{Counted, CountedGames, Counter, Decreases, rows};
use crate::index::{Error, PlayedOccurrence, Progress, Result};
use crate::parallel::lock;
use crate::sort::Partitions;
use crate::sorted::sort_by_key;
use crate::store::row::Occurrence;
use crate::store::sink::SortedOccurrences;
use crate::store::{self, BulkLoader};

/// The unsorted occurrences of a level, and the parameters for sorting and counting them.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<'r> {
    /// The level; `None` if no level is written. Then there are no occurrences.
    pub(crate) level: Option<Level>,
    pub(crate) partitions: &'r Partitions<PlayedOccurrence>,
    /// The maximum number of records of a partition to sort at once.
    pub(crate) at_once: usize,
    /// The minimum number of games of a visited position.
    pub(crate) threshold: u32,
    /// The result, ratings and date of each game of the level.
    pub(crate) counted_games: &'r CountedGames,
    pub(crate) progress: &'r Progress,
    pub(crate) pool: &'r ThreadPool,
}

/// The occurrences of a level.
pub(crate) struct LevelOccurrences<'r> {
    sorting: Sorting<'r>,
    /// The changes that removed games make to visited positions. They are written only for levels that are
    /// not replaced.
    decreases: &'r Decreases,
    /// The index of each drained partition, and its counts.
    counted: Mutex<Vec<(usize, Counted)>>,
}

impl<'r> LevelOccurrences<'r> {
    pub(crate) const fn new(sorting: Sorting<'r>, decreases: &'r Decreases) -> Self {
        Self { sorting, decreases, counted: Mutex::new(Vec::new()) }
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
        self.sorting.level
    }

    fn partitions(&self) -> usize {
        self.sorting.partitions.len()
    }

    fn count(&self) -> u64 {
        self.sorting.partitions.records()
    }

    fn count_new(&self) -> u64 {
        let Sorting { counted_games, .. } = self.sorting;
        let all = (counted_games.len() as u64).max(1);
        (u128::from(self.count()) * u128::from(counted_games.count()) / u128::from(all)) as u64
    }

    fn drain(&self, partition: usize, mut push: impl FnMut(Occurrence) -> store::Result<()>) -> Result<()> {
        let mut counter = Counter::new(self.sorting.counted_games, self.sorting.threshold);
        self.sorting.partitions.drain_sorted(partition, self.sorting.at_once, |piece| {
            self.sorting.progress.check()?;
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
        let Sorting { level, progress, .. } = self.sorting;
        self.decreases.write(progress, level, loader)?;
        let Some(level) = level else { return Ok(()) };
        rows::write(level, visited, loader)
    }

    fn panicked(&self) -> Error {
        Error::Panicked
    }

    fn pool(&self) -> &ThreadPool {
        self.sorting.pool
    }
}
