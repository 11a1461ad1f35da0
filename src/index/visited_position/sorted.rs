//! Passes sorted occurrences to a sink, and counts visited positions at the same time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::board::{KeySet, PositionKey};
use crate::channel::{self, Receiver, Sender};
use crate::id::Level;
use crate::index::visited_position::{
    ChangeWriter, Counted, Counter, Found, Recount, Sorting, Tracker, VisitedPosition, precompute, rows,
};
use crate::index::{Error, Result};
use crate::parallel::lock;
use crate::sorted::sort_by_key;
use crate::store::BulkLoader;
use crate::store::frequent_keys::FrequentKeys;
use crate::store::pages::PositionTrees;
use crate::store::row::VisitedPositionBatch;
use crate::store::sink::{NewOccurrences, OccurrenceRows, SortedOccurrences, UnsortedOccurrences};

/// The occurrences of a new database. All of its visited positions are counted here.
pub(crate) struct FreshOccurrences<'r> {
    sorting: Sorting<'r>,
    /// The index of each drained partition, and its counts.
    counted: Mutex<Vec<(usize, Counted)>>,
}

impl<'r> FreshOccurrences<'r> {
    pub(crate) const fn new(sorting: Sorting<'r>) -> Self {
        Self { sorting, counted: Mutex::new(Vec::new()) }
    }
}

impl SortedOccurrences for FreshOccurrences<'_> {
    type Error = Error;

    fn unsorted(&self) -> &impl UnsortedOccurrences<Error = Error> {
        &self.sorting
    }

    fn drain<R: OccurrenceRows>(&self, partition: usize, rows: &mut R) -> Result<()> {
        let mut counter = Counter::new(self.sorting.counted_games, self.sorting.threshold);
        self.sorting.partitions.drain_sorted(partition, self.sorting.at_once, |piece| {
            self.sorting.progress.check()?;
            counter.observe(piece);
            Ok::<_, Error>(rows.append(piece.iter().map(|occurrence| occurrence.occurrence()))?)
        })?;
        lock(&self.counted).push((partition, counter.finish()));
        Ok(())
    }

    fn distinct(&self) -> u64 {
        lock(&self.counted).iter().map(|(_, counted)| counted.distinct).sum()
    }

    fn write_visited(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        let mut counted = std::mem::take(&mut *lock(&self.counted));
        sort_by_key(&mut counted, |&(partition, _)| partition);
        let (keys, visited): (Vec<_>, Vec<_>) =
            counted.into_iter().map(|(_, counted)| (counted.frequent_keys, counted.visited)).unzip();
        loader.set_frequent_keys(Level::FIRST, &FrequentKeys::join(keys))?;
        rows::write(visited.into_iter().flatten().collect(), loader)
    }
}

/// The occurrences to add to an existing database, whose counts are updated.
pub(crate) struct AddedOccurrences<'r> {
    tracker: Tracker<'r>,
    /// The senders for `found` and `now_visited`; `None` once no more partitions will be drained.
    outlets: Mutex<Option<[Sender<Vec<VisitedPosition>>; 2]>>,
    /// New occurrences of positions that have a row.
    found: Receiver<Vec<VisitedPosition>>,
    /// New occurrences of positions that may get a row.
    now_visited: Receiver<Vec<VisitedPosition>>,
    recounts: Mutex<Recounts>,
    distinct: AtomicU64,
}

#[derive(Default)]
struct Recounts {
    /// New occurrences of the keys whose rows were removed because too few games were left.
    again: Vec<VisitedPosition>,
    /// Keys without a row that may have enough occurrences.
    to_look_up: Vec<PositionKey>,
    /// Keys of `now_visited`.
    rising: KeySet,
    /// Recounted positions.
    counted: Vec<VisitedPosition>,
}

impl<'r> AddedOccurrences<'r> {
    pub(crate) fn new(tracker: Tracker<'r>) -> Self {
        let (to_found, found) = channel::unbounded();
        let (to_now_visited, now_visited) = channel::unbounded();
        Self {
            tracker,
            outlets: Mutex::new(Some([to_found, to_now_visited])),
            found,
            now_visited,
            recounts: Mutex::default(),
            distinct: AtomicU64::new(0),
        }
    }
}

impl SortedOccurrences for AddedOccurrences<'_> {
    type Error = Error;

    fn unsorted(&self) -> &impl UnsortedOccurrences<Error = Error> {
        &self.tracker.sorting
    }

    fn drain<R: OccurrenceRows>(&self, partition: usize, rows: &mut R) -> Result<()> {
        // If the senders are gone, the thread that receives the results has failed.
        let Some([to_found, to_now_visited]) = lock(&self.outlets).clone() else {
            return Err(Error::Stopped);
        };
        let Sorting { partitions, at_once, progress, .. } = self.tracker.sorting;
        let mut watch = self.tracker.watch();
        progress.check()?;
        // Rows are merged on twice as many threads as the pool has, so each sorts half as much at once.
        partitions.drain_sorted(partition, at_once / 2, |piece| {
            progress.check()?;
            piece.chunk_by(|a, b| a.key() == b.key()).try_for_each(|run| {
                rows.append(run.iter().map(|occurrence| occurrence.occurrence()))?;
                watch.observe(run, |threshold, new| Ok(rows.has(run[0].key(), threshold, new)?))
            })
        })?;
        let Found { distinct, visited, now_visited, again } = watch.end();
        self.distinct.fetch_add(distinct, Ordering::Relaxed);
        let mut recounts = lock(&self.recounts);
        recounts.again.extend(again);
        recounts.rising.extend(now_visited.iter().map(|visited| visited.key));
        drop(recounts);
        let sent = to_found.send(visited).and_then(|()| to_now_visited.send(now_visited));
        sent.map_err(|_| Error::Stopped)
    }

    fn distinct(&self) -> u64 {
        self.distinct.load(Ordering::Relaxed)
    }

    fn write_visited(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        let recounts = std::mem::take(&mut *lock(&self.recounts));
        let Recounts { again, to_look_up: mut keys, rising, mut counted } = recounts;
        let new = |recount: &mut Recount<'_>, new: VisitedPosition| recount.add(new.key, Some(new));
        counted.extend(self.tracker.recount_all(again, new)?);
        keys.retain(|key| !rising.contains(key));
        // The keys are recounted in the order of the rows of `occurrence`.
        keys.sort_unstable_by_key(|key| key.as_i64());
        keys.dedup();
        counted.extend(self.tracker.recount_keys(keys)?);
        counted.sort_unstable_by_key(|visited| visited.key.as_i64());
        rows::write(counted, loader)
    }
}

impl NewOccurrences for AddedOccurrences<'_> {
    fn set_recounted_keys(&self, mut keys: Vec<PositionKey>) {
        keys.retain(|key| !self.tracker.update.visited.contains(key));
        lock(&self.recounts).to_look_up.extend(keys);
    }

    fn drained(&self) {
        *lock(&self.outlets) = None;
    }

    fn update_visited<'c>(
        &self,
        loader: &mut BulkLoader<'c>,
        before: Option<PositionTrees<'_>>,
        first: impl FnOnce(&mut BulkLoader<'c>) -> crate::store::Result<()>,
    ) -> Result<()> {
        let has_failed = AtomicBool::new(false);
        let positions =
            || self.now_visited.iter().flatten().take_while(|_| !has_failed.load(Ordering::Relaxed));
        let count = |mut recount: Recount<'_>| {
            positions().try_for_each(|visited| recount.add(visited.key, Some(visited)))?;
            recount.finish()
        };
        let tracker = &self.tracker;
        let threads = tracker.sorting.pool.current_num_threads();
        let (to_writer, ready) = channel::bounded(4 * threads);
        std::thread::scope(|scope| {
            let counts: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| count(tracker.recount(before)))).collect();
            // If games are removed, rows can be read only after the decreases are written, so no change is
            // precomputed.
            let makers = if tracker.removed_games.is_empty() { threads } else { 0 };
            let makers: Vec<_> = (0..makers)
                .map(|_| {
                    let to_writer = to_writer.clone();
                    scope.spawn(move || precompute(tracker, &self.found, &to_writer))
                })
                .collect();
            drop(to_writer);
            let written = first(loader).map_err(Error::from).and_then(|()| {
                let Tracker { update, sorting, removed_games, .. } = tracker;
                update.decreases.write(sorting.progress, removed_games, loader)?;
                let mut writer = ChangeWriter { tracker, loader, batch: VisitedPositionBatch::default() };
                ready.iter().flatten().try_for_each(|change| writer.write(change))?;
                // Then write the results that no other thread has processed.
                self.found.iter().flatten().try_for_each(|visited| writer.write_new(visited))?;
                writer.finish()
            });
            drop(ready);
            if written.is_err() {
                has_failed.store(true, Ordering::Relaxed);
                self.drained();
            }
            written?;
            for maker in makers {
                maker.join().map_err(|_| Error::Panicked)??;
            }
            for count in counts {
                let counted = count.join().map_err(|_| Error::Panicked)??;
                lock(&self.recounts).counted.extend(counted);
            }
            Ok(())
        })
    }

    fn threshold(&self) -> u32 {
        self.tracker.sorting.threshold
    }
}
