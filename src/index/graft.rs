//! Adding to a database by building pages: new leaves behind those of `game_position`, and all of `position_game` anew.

use std::iter::Sum as _;
use std::sync::Arc;
use std::time::Instant;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::error::Result;
use super::progress::Phase;
use super::run::{Run, Update};
use super::summary::{Stages, Summary};
use super::update::{Found, Tracker};
use super::worker::Destination;
use crate::board::PositionKey;
use crate::store::btree::{
    LeafWriter, OccurrenceRecord, OldRows, Regrowth, Segment, Tree, assemble_anew, extend,
};
use crate::store::{BulkLoader, Database, Graft, LoadMode, Scratch};

/// Whether `position_game` with so many rows is better copied, with the new rows merged in, than given them one by one through
/// SQL. Measured: see docs/performance.md.
pub(super) const fn is_merging_quicker(rows: u64, new_rows: u64) -> bool {
    const ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED: u64 = 10_000;
    new_rows.saturating_mul(ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED) >= rows
}

impl Run<'_> {
    /// Fills all tables, and commits. Of the `rows` of `position_game` those are deleted that `remove` removes, which gives back
    /// their keys.
    pub(super) fn load_grafted(
        &self,
        graft: Graft<'_>,
        database: &Database,
        scratch: Scratch,
        rows: u64,
        update: Update<'_>,
        remove: impl FnOnce(&BulkLoader<'_>) -> Result<Vec<PositionKey>>,
    ) -> Result<Summary> {
        let mut stages = Stages::default();
        let clock = Instant::now();
        let mut loader = BulkLoader::begin(scratch.connection(), scratch.path(), LoadMode::Passing)?;
        self.begin(&mut loader)?;
        let mut read = self.read(Some(&mut loader), Destination::Pages(graft.file()))?;
        loader.finish()?;
        stages.read = clock.elapsed();
        self.check_result(&read)?;
        self.progress.enter(Phase::Sorting);
        let clock = Instant::now();
        let segments = std::mem::take(&mut read.segments);
        let mut trees = Vec::new();
        if segments.iter().any(|segment| !segment.is_empty()) {
            let root = graft.root_page("game_position")?;
            trees.push((root, extend(graft.file(), root, segments)?));
        }
        let tracker = update.tracker(&read.outcomes);
        let mut merged = None;
        if is_merging_quicker(rows, self.partitions.records()) {
            let (tree, found) = self.merge_occurrences(&graft, &tracker)?;
            trees.push((graft.root_page("position_game")?, tree));
            merged = Some(found);
        }
        graft.finish(trees)?;
        let mut loader = BulkLoader::go_on(database, self.intake.import)?;
        let removed = remove(&loader)?;
        let found = match merged {
            Some(found) => found,
            None => self.add_occurrences(&mut loader, &tracker)?,
        };
        let distinct = found.distinct;
        tracker.finish(found, &removed, self, &mut loader, |loader| Ok(loader.take_rows(scratch)?))?;
        stages.sort = clock.elapsed();
        let clock = Instant::now();
        let mut summary = self.complete(&mut loader, read, distinct, update.replaced)?;
        loader.finish()?;
        stages.headers = clock.elapsed();
        summary.stages = stages;
        Ok(summary)
    }

    /// Builds `position_game` anew: its rows, and in their places the new ones.
    fn merge_occurrences(&self, graft: &Graft<'_>, tracker: &Tracker<'_>) -> Result<(Regrowth, Found)> {
        let file = graft.file();
        let old = Tree::read(file, graft.root_page("position_game")?)?;
        let merge = |writer: &mut LeafWriter, index| {
            let (start, end) = self.partitions.range(index);
            let mut rows = OldRows::new(file, &old, start, end, tracker.threshold())?;
            let mut watch = tracker.watch();
            self.progress.check()?;
            self.partitions.drain_sorted(index, self.sorted_at_once(), |piece| {
                self.progress.check()?;
                piece.chunk_by(|a, b| a.key() == b.key()).try_for_each(|run| {
                    for visit in run {
                        rows.copy_before(visit.occurrence(), writer)?;
                        writer.push(&OccurrenceRecord(visit.occurrence()))?;
                    }
                    let before = rows.rows_of(run[0].key());
                    watch.see(run, |threshold, new| Ok(before.saturating_add(new) >= threshold))
                })
            })?;
            rows.copy_rest(writer)?;
            Ok((writer.finish_segment()?, watch.end()))
        };
        let merged: Vec<(Segment, Found)> = self.pool.install(|| {
            (0..self.partitions.len())
                .into_par_iter()
                .map_init(|| LeafWriter::new(Arc::clone(file)), merge)
                .collect::<Result<_>>()
        })?;
        let (segments, found): (Vec<_>, Vec<_>) = merged.into_iter().unzip();
        let root = assemble_anew(file, segments)?;
        Ok((Regrowth { root, freed: old.pages().collect() }, Found::sum(found.into_iter())))
    }
}
