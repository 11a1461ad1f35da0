//! Adds rows of `occurrence` to a database: merges the last levels and the new rows into one level.

use std::sync::Arc;

use super::{NewOccurrences, OccurrenceRows, SortedOccurrences, UnsortedOccurrences};
use crate::board::PositionKey;
use crate::parallel;
use crate::store::GameSet;
use crate::store::error::{Error, Result};
use crate::store::frequent_keys::{FrequentKeyCounter, FrequentKeyCursor, FrequentKeys, rows_in_level};
use crate::store::pages::{
    BtreeError, LeafWriter, LevelRange, OccurrenceCursor, OldRows, PageFile, RebuiltTree, RemovedKeys,
    Segment, Tree, replace_end,
};
use crate::store::row::{Level, Occurrence, OccurrenceRow};
use crate::store::write::level::level_for;
use crate::store::write::remove::RowsToRemove;

/// Whether it is faster to copy a table of `rows` rows and merge `new_rows` rows into the copy than to insert
/// the new rows through SQL. The constant was measured (see docs/architecture.md).
pub(super) const fn is_merging_quicker(rows: u64, new_rows: u64) -> bool {
    const ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED: u64 = 10_000;
    new_rows.saturating_mul(ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED) >= rows
}

/// Decides which level of `occurrence` is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelRule {
    /// The number of rows of `occurrence`.
    pub(crate) rows: u64,
    /// Each addition of games rewrites the levels that have at most this number of games.
    pub(crate) small: u32,
    /// Whether to merge all levels into one.
    pub(crate) merges_all: bool,
}

impl LevelRule {
    /// Whether so many rows are removed that copying the remaining rows is faster than deleting the removed
    /// rows.
    pub(super) const fn copies_others(self, leaving: RowsToRemove<'_>) -> bool {
        is_merging_quicker(self.rows, leaving.positions)
    }

    /// The level to write, into which all later levels are merged; `None` if no level has to be written.
    pub(super) fn level(
        self,
        levels: &[Level],
        sorted: &impl SortedOccurrences,
        leaving: RowsToRemove<'_>,
    ) -> Option<Level> {
        if self.merges_all {
            return levels.first().copied();
        }
        let (first, games) = sorted.unsorted().games();
        let of_new_games = (games > 0).then(|| level_for(levels, first, games, self.small));
        let first_removed = leaving.games.iter().next().filter(|_| self.copies_others(leaving));
        let of_removed =
            first_removed.and_then(|game| levels.iter().copied().rfind(|level| level.0 <= game.0));
        of_new_games.into_iter().chain(of_removed).min()
    }
}

/// The levels of `occurrence`, and the level into which the last levels are merged.
#[derive(Debug)]
pub(super) struct KeptLevels {
    pub(super) levels: Vec<Level>,
    /// The level to write. Earlier levels stay unchanged. `None` if all levels stay unchanged.
    pub(super) target: Option<Level>,
    /// The frequent keys of each unchanged level; `None` for a level whose frequent keys were not counted.
    pub(super) frequent_keys: Vec<Option<FrequentKeys>>,
}

/// The table `occurrence`, and the changes to make.
#[derive(Debug)]
pub(super) struct ChangedLevels<'l> {
    pub(super) file: &'l Arc<PageFile>,
    /// The existing tree.
    pub(super) tree: &'l Tree,
    pub(super) kept: &'l KeptLevels,
    /// The level to write.
    pub(super) target: Level,
    /// Games whose rows are removed.
    pub(super) removed: &'l GameSet,
    /// Whether to count the keys that lose all their rows.
    pub(super) counts_gone: bool,
}

/// The result of [`ChangedLevels::merge`].
#[derive(Debug)]
pub(super) struct MergedLevels {
    pub(super) tree: RebuiltTree,
    /// The frequent keys of the written level.
    pub(super) frequent_keys: FrequentKeys,
    /// The number of keys that lost all their old rows. New rows are not considered. Valid only if
    /// [`ChangedLevels::counts_gone`] is set.
    pub(super) gone: u64,
}

impl ChangedLevels<'_> {
    /// The maximum number of pages that [`merge`](Self::merge) writes.
    pub(super) fn max_pages(&self, sorted: &impl SortedOccurrences) -> u32 {
        let size = self.file.page_size();
        let old = self.tree.bytes_from(OccurrenceRow::first_of(self.target), size);
        let bytes = old + sorted.unsorted().count() * OccurrenceRow::MOST_BYTES;
        let partitions = sorted.unsorted().partitions();
        let rows = Tree::max_pages_for(bytes, size, OccurrenceRow::LONGEST_CELL, partitions);
        rows.saturating_add(self.tree.max_interior_pages())
    }

    /// Writes the last level. It contains the new rows and the rows of the merged levels, except the rows of
    /// removed games.
    pub(super) fn merge<S: NewOccurrences>(&self, sorted: &S) -> Result<MergedLevels, S::Error> {
        let merge = |writer: &mut LeafWriter, partition| {
            let mut merging =
                Merging::new(self, sorted.unsorted().range(partition), sorted.threshold(), writer)
                    .map_err(Error::from)?;
            sorted.drain(partition, &mut merging)?;
            let (RemovedKeys { thinned, gone }, keys) = merging.finish().map_err(Error::from)?;
            sorted.set_recounted_keys(thinned);
            Ok::<_, S::Error>((writer.finish_segment().map_err(Error::from)?, (keys, gone)))
        };
        let merged = parallel::map_with(
            None,
            sorted.unsorted().partitions(),
            || LeafWriter::new(Arc::clone(self.file)),
            merge,
        )?;
        let (segments, counted): (Vec<Segment>, Vec<(FrequentKeys, u64)>) = merged.into_iter().unzip();
        let (keys, gone): (Vec<_>, Vec<_>) = counted.into_iter().unzip();
        let first = OccurrenceRow::first_of(self.target);
        let tree = replace_end(self.file, self.tree, first, segments).map_err(Error::from)?;
        Ok(MergedLevels { tree, frequent_keys: FrequentKeys::join(keys), gone: gone.into_iter().sum() })
    }

    /// Cursors on the rows of a key range, one cursor for each level for which `is_wanted` returns true.
    fn cursors(
        &self,
        range: (Occurrence, Option<Occurrence>),
        is_wanted: impl Fn(Level) -> bool,
    ) -> Result<Vec<OccurrenceCursor<'_>>, BtreeError> {
        let levels = &self.kept.levels;
        let wanted = (0..levels.len()).filter(|&index| is_wanted(levels[index]));
        wanted.map(|index| OccurrenceCursor::new(self.file, self.tree, self.range(index, range))).collect()
    }

    fn range(&self, index: usize, range: (Occurrence, Option<Occurrence>)) -> LevelRange {
        let levels = &self.kept.levels;
        LevelRange::new(levels[index], levels.get(index + 1).copied(), range)
    }
}

/// Writes the new rows of a key range, interleaved with the rows of the merged levels.
struct Merging<'m> {
    changed: &'m ChangedLevels<'m>,
    range: (Occurrence, Option<Occurrence>),
    /// The number up to which the rows of a key are counted.
    threshold: u32,
    /// The existing rows of the target level; `None` if this level is new.
    old: Option<OldRows<'m>>,
    /// The rows of the levels after the target level.
    newer: Vec<OccurrenceCursor<'m>>,
    /// The key of the last row written from a later level, and the number of rows with this key written from
    /// later levels.
    newer_run: Option<(PositionKey, u32)>,
    /// Keys of rows removed from later levels.
    thinned: Vec<PositionKey>,
    /// The frequent keys of levels that stay unchanged.
    listed: Vec<FrequentKeyCursor<'m>>,
    /// The rows of those unchanged levels whose frequent keys were not counted.
    others: Vec<OccurrenceCursor<'m>>,
    writer: &'m mut LeafWriter,
    /// Counts the written rows per key.
    keys: FrequentKeyCounter,
}

impl<'m> Merging<'m> {
    fn new(
        changed: &'m ChangedLevels<'m>,
        range: (Occurrence, Option<Occurrence>),
        threshold: u32,
        writer: &'m mut LeafWriter,
    ) -> Result<Self, BtreeError> {
        let ChangedLevels { file, tree, target, removed, .. } = *changed;
        let KeptLevels { levels, frequent_keys, .. } = changed.kept;
        let old = levels.iter().position(|&level| level == target).map(|index| {
            let old = OldRows::new(file, tree, changed.range(index, range), removed, threshold)?;
            // If there are several levels, the rows of one level do not show how many rows a key has in
            // total. So the keys of all removed rows are recorded.
            Ok(if levels.len() > 1 { old.noting_all() } else { old })
        });
        let unlisted: Vec<Level> = levels
            .iter()
            .zip(frequent_keys)
            .filter(|(_, list)| list.is_none())
            .map(|(&level, _)| level)
            .collect();
        Ok(Self {
            changed,
            range,
            threshold,
            old: old.transpose()?,
            newer: changed.cursors(range, |level| level > target)?,
            newer_run: None,
            thinned: Vec::new(),
            listed: frequent_keys
                .iter()
                .flatten()
                .map(|list| FrequentKeyCursor::new(list, range.0.key()))
                .collect(),
            others: changed.cursors(range, |level| unlisted.contains(&level))?,
            writer,
            keys: FrequentKeyCounter::default(),
        })
    }

    /// Writes the rows before `end` from later levels, or all their remaining rows if `end` is `None`. Skips
    /// the rows of removed games.
    fn copy_newer(&mut self, end: Option<Occurrence>) -> Result<(), BtreeError> {
        while let Some((cursor, row)) = self.next_newer()
            && end.is_none_or(|end| row < end)
        {
            self.newer[cursor].advance()?;
            if self.changed.removed.contains(row.game()) {
                if self.thinned.last() != Some(&row.key()) {
                    self.thinned.push(row.key());
                }
                continue;
            }
            self.push(row)?;
            let earlier = self.newer_run.filter(|(key, _)| *key == row.key()).map_or(0, |(_, count)| count);
            self.newer_run = Some((row.key(), earlier + 1));
        }
        Ok(())
    }

    /// The index of the cursor that has the next row of the later levels, and this row.
    fn next_newer(&self) -> Option<(usize, Occurrence)> {
        let mut next: Option<(usize, Occurrence)> = None;
        for (index, cursor) in self.newer.iter().enumerate() {
            if let Some(row) = cursor.row()
                && next.is_none_or(|(_, first)| row < first)
            {
                next = Some((index, row));
            }
        }
        next
    }

    /// Writes the rows of the target level that come before `row`, then `row`.
    fn push(&mut self, row: Occurrence) -> Result<(), BtreeError> {
        if let Some(old) = &mut self.old {
            old.copy_before(row, self.writer, &mut self.keys)?;
        }
        self.keys.observe(row.key(), 1);
        self.writer.push(&OccurrenceRow { level: self.changed.target, occurrence: row })
    }

    /// Writes the remaining rows. Returns the keys of removed rows, and the frequent keys of the written
    /// level.
    fn finish(mut self) -> Result<(RemovedKeys, FrequentKeys), BtreeError> {
        self.copy_newer(None)?;
        let mut left_out = match self.old.take() {
            Some(old) => old.copy_rest(self.writer, &mut self.keys)?,
            None => RemovedKeys::default(),
        };
        left_out.thinned.append(&mut self.thinned);
        if self.changed.kept.levels.len() > 1 && !left_out.thinned.is_empty() {
            self.look_into_all_levels(&mut left_out)?;
        }
        Ok((left_out, self.keys.finish()))
    }

    /// Keeps only the recorded keys that had at least `threshold` rows in all levels together. If
    /// `counts_gone` is set, counts the keys that lose all their rows. The keys of all removed rows must have
    /// been recorded.
    fn look_into_all_levels(&self, left_out: &mut RemovedKeys) -> Result<(), BtreeError> {
        let RemovedKeys { thinned, gone } = left_out;
        thinned.sort_unstable_by_key(|key| key.as_i64());
        thinned.dedup();
        *gone = 0;
        if self.changed.counts_gone {
            let mut levels = self.changed.cursors(self.range, |_| true)?;
            for &key in &*thinned {
                let mut stays = false;
                for level in &mut levels {
                    stays = stays || level.has_other(key, self.changed.removed)?;
                }
                *gone += u64::from(!stays);
            }
        }
        let mut levels = self.changed.cursors(self.range, |_| true)?;
        let mut many = Vec::new();
        for &key in &*thinned {
            if has(&mut levels, key, self.threshold)? {
                many.push(key);
            }
        }
        *thinned = many;
        Ok(())
    }
}

impl OccurrenceRows for Merging<'_> {
    fn append(&mut self, mut rows: impl ExactSizeIterator<Item = Occurrence>) -> Result<()> {
        rows.try_for_each(|row| {
            self.copy_newer(Some(row))?;
            Ok(self.push(row)?)
        })
    }

    fn has(&mut self, key: PositionKey, count: u32, appended: u32) -> Result<bool> {
        let newer = self.newer_run.filter(|(last, _)| *last == key).map_or(0, |(_, count)| count);
        let old = self.old.as_ref().map_or(0, |old| old.rows_of(key));
        let merged = old.saturating_add(newer).saturating_add(appended);
        if merged < rows_in_level(count) {
            return Ok(false);
        }
        // The sum of upper bounds can be too high. Then the position is counted unnecessarily, which does no
        // harm.
        let listed = self.listed.iter_mut().map(|list| list.most_rows(key));
        let most = listed.fold(merged, u32::saturating_add);
        Ok(most >= count || has(&mut self.others, key, count - most)?)
    }
}

/// Whether a key has at least `count` rows in these levels together. The keys of successive calls must be in
/// ascending order.
fn has(levels: &mut [OccurrenceCursor<'_>], key: PositionKey, count: u32) -> Result<bool, BtreeError> {
    let mut missing = count;
    for level in levels {
        missing -= level.count(key, missing)?;
        if missing == 0 {
            break;
        }
    }
    Ok(missing == 0)
}
