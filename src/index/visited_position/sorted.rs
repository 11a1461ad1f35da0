//! Passes sorted occurrences to a sink, and counts visited positions at the same time.

use std::sync::Mutex;

use crate::id::Level;
use crate::index::run::Run;
use crate::index::visited_position::{Counted, CountedGames, Counter, Decreases, rows};
use crate::index::{PlayedOccurrence, Result};
use crate::parallel::lock;
use crate::sorted::sort_by_key;
use crate::store::BulkLoader;
use crate::store::row::Occurrence;

/// The occurrences of a level to write, in the partitions of the run. All keys of a partition are less than
/// those of the next partition.
pub(crate) struct LevelOccurrences<'r> {
    pub(crate) run: &'r Run<'r>,
    /// The level. It replaces the level with this number and all later ones. `None` if no level is written; then
    /// there are no occurrences.
    pub(crate) level: Option<Level>,
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

    /// The number of positions that [`write_visited`](Self::write_visited) will write, unless two positions
    /// share a key. 0 after that call.
    pub(crate) fn visited(&self) -> u64 {
        lock(&self.counted).iter().map(|(_, counted)| counted.visited.len() as u64).sum()
    }

    /// The number of distinct keys of the new games in the partitions drained so far; 0 after
    /// [`write_visited`](Self::write_visited).
    pub(crate) fn distinct(&self) -> u64 {
        lock(&self.counted).iter().map(|(_, counted)| counted.distinct).sum()
    }

    /// An estimate of the number of occurrences in new games.
    pub(crate) fn count_new(&self) -> u64 {
        let all = (self.counted_games.len() as u64).max(1);
        (u128::from(self.run.partitions.records()) * u128::from(self.counted_games.count()) / u128::from(all))
            as u64
    }

    /// Sorts a partition, counts its visited positions, and passes its occurrences to `push`, in order. The
    /// partition is empty afterwards.
    pub(crate) fn drain(
        &self,
        partition: usize,
        mut push: impl FnMut(Occurrence) -> Result<()>,
    ) -> Result<()> {
        let at_once = self.run.memory_of_worker().max(1 << 20) / size_of::<PlayedOccurrence>();
        let mut counter = Counter::new(self.counted_games, self.run.options.continuation_threshold);
        self.run.partitions.drain_sorted(partition, at_once, |piece| {
            self.run.progress.check()?;
            counter.observe(piece);
            piece.iter().try_for_each(|occurrence| push(occurrence.occurrence()))
        })?;
        lock(&self.counted).push((partition, counter.finish()));
        Ok(())
    }

    /// Writes the visited positions of the level. Also subtracts removed games from the visited positions of
    /// the levels that are not written. Called once the tables of games, positions and occurrences are
    /// written.
    pub(crate) fn write_visited(&self, loader: &BulkLoader<'_>) -> Result<()> {
        let mut counted = std::mem::take(&mut *lock(&self.counted));
        sort_by_key(&mut counted, |&(partition, _)| partition);
        let visited = counted.into_iter().flat_map(|(_, counted)| counted.visited).collect();
        self.decreases.write(self.run.progress, self.level, loader)?;
        let Some(level) = self.level else { return Ok(()) };
        rows::write(level, visited, loader)
    }
}
