//! Adding to a database by building pages: new leaves behind those of `game_position`, and all of `position_game` anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crossbeam_channel::Sender;
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::index::error::{Error, Result};
use crate::index::report::progress::Phase;
use crate::index::report::summary::{Stages, Summary};
use crate::index::run::worker::Destination;
use crate::index::run::{Run, Update};
use crate::index::visited::position::Crossroads;
use crate::index::visited::rows;
use crate::index::visited::update::{Found, Tracker, add_all};
use crate::store::pages::{
    Combined, LONGEST_COMBINED, LeafWriter, OccurrenceRecord, OldRows, PageFile, PageNumber, PageRun,
    Regrowth, Tree, assemble_anew, combine, extend,
};
use crate::store::{BulkLoader, Database, Graft, LoadMode, Scratch, ScratchIndex};

/// Whether `position_game` with so many rows is better copied, with the new rows merged in, than given them one by one through
/// SQL. Measured: see docs/performance.md.
pub(crate) const fn is_merging_quicker(rows: u64, new_rows: u64) -> bool {
    const ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED: u64 = 10_000;
    new_rows.saturating_mul(ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED) >= rows
}

/// An index of `game` that has rows, and that of the new rows.
struct GameIndex {
    root: PageNumber,
    old: Tree,
    new: ScratchIndex,
}

/// What became of an index.
enum Built {
    Tree(Regrowth),
    /// It has rows that are not known here: the pages that were written in vain.
    Nothing(Vec<PageRun>),
}

/// The indexes of `game` that are built anew.
fn game_indexes(graft: &Graft<'_>, scratch: &Scratch) -> Result<Vec<GameIndex>> {
    let mut indexes = Vec::new();
    for new in scratch.index_games()? {
        // Somebody may have made another one in its place.
        if graft.has_index(&new.name, &new.sql)? {
            let root = graft.root_page(&new.name)?;
            // One whose rows do not stand on their pages as a whole is left to SQLite.
            let Ok(old) = Tree::read(graft.file(), root) else { continue };
            indexes.push(GameIndex { root, old, new });
        }
    }
    Ok(indexes)
}

impl GameIndex {
    /// The most pages it takes.
    fn room(&self, file: &PageFile) -> u32 {
        let bytes = self.old.bytes(file.page_size()) + self.new.tree.bytes(self.new.file.page_size());
        Tree::room_for(bytes, file.page_size(), LONGEST_COMBINED, 1)
    }

    /// Builds the index anew, from its rows and the new ones.
    fn build(&self, file: &Arc<PageFile>) -> Result<Built> {
        let Combined { segment, is_whole } = combine(file, &self.old, (&self.new.file, &self.new.tree))?;
        if !is_whole {
            return Ok(Built::Nothing(segment.runs().to_vec()));
        }
        let root = assemble_anew(file, [segment])?;
        Ok(Built::Tree(Regrowth { root, freed: self.old.pages().collect() }))
    }
}

/// What the ranges of keys told once all were merged.
struct Merged {
    tree: Regrowth,
    /// Distinct keys that came by.
    distinct: u64,
    /// New visits to positions of removed games.
    again: Vec<Crossroads>,
}

/// Where it goes what is found while ranges of keys are merged.
struct Outlets {
    /// New visits to positions that have a row of `visited_position`.
    found: Sender<Vec<Crossroads>>,
    /// New visits to positions that are to have one.
    risen: Sender<Vec<Crossroads>>,
}

impl Run<'_> {
    /// Fills all tables, and commits. `position_game` has so many `rows`; `remove` removes what games leave behind that are read
    /// again.
    pub(crate) fn load_grafted(
        &self,
        graft: Graft<'_>,
        database: &Database,
        scratch: Scratch,
        rows: u64,
        update: Update<'_>,
        remove: impl FnOnce(&BulkLoader<'_>) -> Result<()>,
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
        let (mut loader, distinct) = if is_merging_quicker(rows, self.partitions.records()) {
            self.merge(graft, database, trees, scratch, &tracker, remove)?
        } else {
            graft.finish(trees)?;
            let mut loader = BulkLoader::go_on(database, self.intake.import)?;
            remove(&loader)?;
            loader.take_rows(scratch)?;
            loader.take_problems()?;
            let found = self.add_occurrences(&mut loader, &tracker)?;
            let distinct = found.distinct;
            tracker.finish(found, self, &mut loader)?;
            (loader, distinct)
        };
        stages.sort = clock.elapsed();
        let clock = Instant::now();
        let mut summary = self.complete(&mut loader, read, distinct, update.replaced)?;
        loader.finish()?;
        stages.headers = clock.elapsed();
        summary.stages = stages;
        Ok(summary)
    }

    /// Builds `position_game` and the indexes of `game` anew while the small tables are written through SQL. Gives back how many
    /// distinct keys came by.
    fn merge<'d>(
        &self,
        mut graft: Graft<'d>,
        database: &'d Database,
        trees: Vec<(PageNumber, Regrowth)>,
        scratch: Scratch,
        tracker: &Tracker<'_>,
        remove: impl FnOnce(&BulkLoader<'_>) -> Result<()>,
    ) -> Result<(BulkLoader<'d>, u64)> {
        let file = Arc::clone(graft.file());
        let root = graft.root_page("position_game")?;
        let old = Tree::read(&file, root)?;
        let indexes = game_indexes(&graft, &scratch)?;
        let (longest, segments) = (OccurrenceRecord::LONGEST_CELL, self.partitions.len());
        let bytes = old.bytes(file.page_size()) + self.partitions.records() * OccurrenceRecord::MOST_BYTES;
        let room = Tree::room_for(bytes, file.page_size(), longest, segments);
        graft
            .publish(trees, indexes.iter().map(|index| index.room(&file)).fold(room, u32::saturating_add))?;
        let mut loader = BulkLoader::go_on(database, self.intake.import)?;
        let names: Vec<&str> = indexes.iter().map(|index| index.new.name.as_str()).collect();
        loader.withhold_indexes(&names)?;
        let (found, crossroads) = crossbeam_channel::unbounded();
        let (risen, to_count) = crossbeam_channel::unbounded();
        let has_failed = AtomicBool::new(false);
        let positions = || {
            let positions = to_count.iter().flatten().take_while(|_| !has_failed.load(Ordering::Relaxed));
            positions.map(|visited: Crossroads| (visited.key, Some(visited)))
        };
        let (merged, mut counted) = std::thread::scope(|scope| {
            let outlets = Outlets { found, risen };
            let merged = scope.spawn(|| self.merge_trees(&file, &old, &indexes, tracker, outlets));
            let counts: Vec<_> = (0..self.pool.current_num_threads())
                .map(|_| scope.spawn(|| tracker.recount(self).count_all(positions())))
                .collect();
            let write = || {
                // Dropped if something fails, which ends the merging.
                let crossroads = crossroads;
                loader.take_rows(scratch)?;
                add_all(crossroads.iter().flatten(), self, &mut loader)
            };
            write().inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
            let merged = merged.join().map_err(|_| Error::Panicked)??;
            let mut counted = Vec::new();
            for count in counts {
                counted.extend(count.join().map_err(|_| Error::Panicked)??);
            }
            Ok::<_, Error>((merged, counted))
        })?;
        let (Merged { tree, distinct, again }, built) = merged;
        let mut trees = vec![(root, tree)];
        let mut not_built = Vec::new();
        for (index, built) in indexes.iter().zip(built) {
            match built {
                Built::Tree(tree) => trees.push((index.root, tree)),
                Built::Nothing(pages) => {
                    file.reuse(pages);
                    not_built.push(index.new.name.as_str());
                }
            }
        }
        graft.finish(trees)?;
        loader.put_indexes_back()?;
        not_built.into_iter().try_for_each(|name| loader.make_index_anew(name))?;
        remove(&loader)?;
        loader.take_problems()?;
        counted.extend(tracker.recount_removed(again, self)?);
        counted.sort_unstable_by_key(|visited| visited.key.as_i64());
        rows::write(counted, &mut loader)?;
        Ok((loader, distinct))
    }

    /// Builds `position_game` and indexes of `game` anew, on twice as many threads as others use: half of the time they wait for the
    /// disk.
    fn merge_trees(
        &self,
        file: &Arc<PageFile>,
        old: &Tree,
        indexes: &[GameIndex],
        tracker: &Tracker<'_>,
        outlets: Outlets,
    ) -> Result<(Merged, Vec<Built>)> {
        let threads = 2 * self.pool.current_num_threads();
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Error::Threads)?;
        let (built, merged) = pool.join(
            || indexes.par_iter().map(|index| index.build(file)).collect::<Result<_>>(),
            || self.merge_occurrences(file, old, tracker, outlets),
        );
        Ok((merged?, built?))
    }

    /// Builds `position_game` anew: its rows, and in their places the new ones.
    fn merge_occurrences(
        &self,
        file: &Arc<PageFile>,
        old: &Tree,
        tracker: &Tracker<'_>,
        outlets: Outlets,
    ) -> Result<Merged> {
        let merge = |writer: &mut LeafWriter, index| {
            let (start, end) = self.partitions.range(index);
            let mut rows = OldRows::new(file, old, start, end, tracker.threshold())?;
            let mut watch = tracker.watch();
            self.progress.check()?;
            // Twice as many threads sort.
            self.partitions.drain_sorted(index, self.sorted_at_once() / 2, |piece| {
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
            let Found { distinct, crossroads, risen, again } = watch.end();
            let sent = outlets.found.send(crossroads).and_then(|()| outlets.risen.send(risen));
            // Nobody takes what is found: something failed there.
            sent.map_err(|_| Error::Stopped)?;
            Ok((writer.finish_segment()?, distinct, again))
        };
        let merged: Vec<_> = (0..self.partitions.len())
            .into_par_iter()
            .map_init(|| LeafWriter::new(Arc::clone(file)), merge)
            .collect::<Result<_>>()?;
        let (mut segments, mut distinct, mut again) = (Vec::new(), 0, Vec::new());
        for (segment, keys, visited) in merged {
            segments.push(segment);
            distinct += keys;
            again.extend(visited);
        }
        let tree = Regrowth { root: assemble_anew(file, segments)?, freed: old.pages().collect() };
        Ok(Merged { tree, distinct, again })
    }
}
