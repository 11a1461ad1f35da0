//! Adds games to an existing database as pages: appends leaves to `game_position` and `move_eval`, writes the
//! last level of `occurrence`, and merges the new rows into the ends of the indexes of `game`. If many rows
//! must be removed, it rewrites `game_position` and `move_eval` without these rows.
//!
//! If pages cannot be written into the database directly, rows are inserted through SQL.

use std::sync::Arc;

use rayon::ThreadPoolBuilder;

use super::added_rows::{RowFile, write_rows};
use super::{DatabaseSink, write_occurrences};
use crate::id::GameId;
use crate::index::visited_position::LevelOccurrences;
use crate::index::{Error, Result};
use crate::parallel;
use crate::store::pages::{
    Combined, LONGEST_COMBINED, PageFile, PageNumber, RebuiltTree, Tree, combine, copy_without_games,
    count_unchanged_leaves, extend, replace_end,
};
use crate::store::row::{HeaderBatch, OccurrenceRow};
use crate::store::sink::{BatchNumber, GameLeaves, LeafEncoder, Sink, take_in_order};
use crate::store::write::remove::RowsToRemove;
use crate::store::{
    self, BulkLoader, Database, Layout, PageTransaction, SideDatabase, SideIndex, WriterLock,
};

/// Adds games in one transaction, mostly as new pages beside those that readers use. Can also remove games in
/// the same transaction. If duplicates of the removed games were skipped earlier, these duplicates can be
/// added instead.
pub(crate) struct AddedPages<'d> {
    database: &'d Database,
    /// `None` once all games are read.
    target: Option<Target<'d>>,
    /// The number of positions of all games before the run.
    rows: u64,
    leaving: RowsToRemove<'d>,
    /// The leaves of each batch, in order of arrival.
    leaves: Vec<(BatchNumber, GameLeaves)>,
    /// Writes the small tables to a separate file while games are read.
    small: Option<BulkLoader<'static>>,
    /// Writes to the database once all games are read.
    loader: Option<BulkLoader<'d>>,
}

/// Whether copying a table of `rows` rows, with `new_rows` rows added to the copy, is faster than inserting the
/// new rows through SQL. The same estimate is used for removing `new_rows` rows. The constant was measured.
const fn is_merging_quicker(rows: u64, new_rows: u64) -> bool {
    const ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED: u64 = 10_000;
    new_rows.saturating_mul(ROWS_COPIED_IN_THE_TIME_OF_ONE_ADDED) >= rows
}

/// The file to which the leaves of large tables are written.
enum Target<'d> {
    /// The database.
    Pages(Box<PageTransaction<'d>>),
    /// A temporary database, from which the rows are later copied to the database.
    Rows(RowFile),
}

impl<'d> AddedPages<'d> {
    /// Begins to add games in the transaction `pages`. If `pages` is `None`, adds them through SQL.
    pub(crate) fn new(
        database: &'d Database,
        lock: &WriterLock,
        pages: Option<PageTransaction<'d>>,
        cache_bytes: u64,
        rows: u64,
        leaving: RowsToRemove<'d>,
    ) -> Result<Self> {
        let (target, loader) = match pages {
            Some(pages) => (Target::Pages(Box::new(pages)), None),
            None => {
                let loader = BulkLoader::begin(database.connection(), database.path())?;
                (Target::Rows(RowFile::create(lock, cache_bytes)?), Some(loader))
            }
        };
        let side = SideDatabase::create(lock, "headers", cache_bytes)?;
        let mut small = BulkLoader::into_side_database(side)?;
        small.resume_columns(database.connection(), leaving.games)?;
        let (target, small) = (Some(target), Some(small));
        Ok(Self { database, target, rows, leaving, leaves: Vec::new(), small, loader })
    }

    /// The loader for the small tables while games are read.
    pub(crate) fn small(&mut self) -> &mut BulkLoader<'static> {
        self.small.as_mut().expect("while games are read")
    }

    fn loader(&mut self) -> &mut BulkLoader<'d> {
        self.loader.as_mut().expect("once all games are read")
    }

    /// Builds trees of `game_position` and `move_eval` with the new leaves appended. If many rows are to be
    /// removed, rewrites the leaves that contain them, and also returns the removed rows.
    fn change_games(&mut self, pages: &PageTransaction<'_>) -> Result<(NewTrees, Option<LeftOut>)> {
        let (positions, evals) = take_in_order(&mut self.leaves);
        let games = self.leaving.games;
        let leaves_out = !games.is_empty() && is_merging_quicker(self.rows, self.leaving.positions);
        let (mut trees, mut left_out) = (NewTrees::new(), LeftOut::new());
        for (table, leaves) in [("game_position", positions), ("move_eval", evals)] {
            let is_view = self.database.layout() == Layout::Compact && table == "game_position";
            let has_new = leaves.iter().any(|segment| !segment.is_empty());
            if is_view || !has_new && !leaves_out {
                continue;
            }
            let (file, root) = (pages.file(), pages.root_page(table)?);
            let tree = if leaves_out {
                let old = Tree::read(file, root)?;
                copy_without_games(file, &old, games, leaves, |game| match left_out.last_mut() {
                    _ if table != "game_position" => {}
                    Some((last, rows)) if *last == game => *rows += 1,
                    _ => left_out.push((game, 1)),
                })?
            } else {
                extend(file, root, leaves)?
            };
            trees.push((root, tree));
        }
        Ok((trees, leaves_out.then_some(left_out)))
    }

    /// Rewrites or extends `game_position` and `move_eval`. Writes the level of `occurrence` and the indexes of
    /// `game`; meanwhile writes the small tables, whose new rows are in `side`, through SQL. Then removes games.
    fn write_pages(
        &mut self,
        mut pages: PageTransaction<'d>,
        side: SideDatabase,
        sorted: &LevelOccurrences<'_>,
    ) -> Result<()> {
        let leaving = self.leaving;
        let (trees, left_out) = self.change_games(&pages)?;
        // The indexes are rewritten only if games are added, and if enough rows are added or removed.
        let added = sorted.count_new();
        let is_worth = added > 0 && is_merging_quicker(self.rows, added + leaving.positions);
        let indexes = if is_worth { game_indexes(&pages, &side)? } else { Vec::new() };
        let file = &Arc::clone(pages.file());
        let root = pages.root_page("occurrence")?;
        let tree = &Tree::read(file, root)?;
        let occurrence_pages = sorted.level.map_or(0, |_| max_pages(file, tree, sorted));
        let index_pages = indexes.iter().map(|index| index.max_pages(file));
        pages.publish(trees, index_pages.fold(occurrence_pages, u32::saturating_add))?;
        // From here on, SQL can read the changed trees.
        let loader = self.loader.insert(BulkLoader::resume(self.database)?);
        loader.remove_replaced(leaving)?;
        let names: Vec<&str> = indexes.iter().map(|index| index.new.name.as_str()).collect();
        loader.hide_indexes(&names)?;
        let (written, built) = std::thread::scope(|scope| {
            let built = scope.spawn(|| build_trees(file, tree, &indexes, sorted));
            loader.take_rows(side)?;
            built.join().map_err(|_| Error::Panicked)?
        })?;
        finish_pages(pages, written.map(|tree| (root, tree)), indexes.iter().zip(built), loader)?;
        loader.remove(leaving, left_out.as_deref())?;
        if let Some(level) = sorted.level {
            loader.set_last_level(level)?;
        }
        Ok(())
    }
}

/// The maximum number of pages that are needed to write the level.
fn max_pages(file: &PageFile, tree: &Tree, sorted: &LevelOccurrences<'_>) -> u32 {
    let size = file.page_size();
    let bytes = sorted.run.partitions.records() * OccurrenceRow::MOST_BYTES;
    let rows = Tree::max_pages_for(bytes, size, OccurrenceRow::LONGEST_CELL, sorted.run.partitions.len());
    rows.saturating_add(tree.max_interior_pages())
}

/// Publishes the tree `written`, if there is one, and the merged indexes of `game`. Rebuilds the indexes that
/// could not be merged.
fn finish_pages<'i>(
    pages: PageTransaction<'_>,
    written: Option<(PageNumber, RebuiltTree)>,
    built: impl Iterator<Item = (&'i GameIndex, Combined)>,
    loader: &mut BulkLoader<'_>,
) -> Result<()> {
    let (mut trees, mut not_built) = (Vec::from_iter(written), Vec::new());
    for (index, built) in built {
        match built {
            Combined::Tree(tree) => trees.push((index.root, tree)),
            Combined::Nothing(free) => {
                pages.file().reuse(free);
                not_built.push(index.new.name.as_str());
            }
        }
    }
    pages.finish(trees)?;
    loader.restore_indexes()?;
    Ok(not_built.into_iter().try_for_each(|name| loader.rebuild_index(name))?)
}

/// Writes the level of `occurrence`, if there is one to write, and the indexes of `game`. Uses twice as many
/// threads as other steps, because these threads wait for the disk half of the time.
fn build_trees(
    file: &Arc<PageFile>,
    tree: &Tree,
    indexes: &[GameIndex],
    sorted: &LevelOccurrences<'_>,
) -> Result<(Option<RebuiltTree>, Vec<Combined>)> {
    let threads = 2 * sorted.run.pool.current_num_threads();
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| Error::Panicked)?;
    let write = |level| {
        let segments = write_occurrences(file, level, sorted)?;
        let first = OccurrenceRow::first_of(level);
        Ok::<_, Error>(replace_end(file, tree, first, segments)?)
    };
    let (built, written) = pool.join(
        || parallel::map(None, indexes.len(), |index| indexes[index].build(file)),
        || sorted.level.map(write).transpose(),
    );
    Ok((written?, built?))
}

/// Changed trees, each with the number of its root page.
type NewTrees = Vec<(PageNumber, RebuiltTree)>;
/// The games whose rows in `game_position` are already removed, each with the number of these rows.
type LeftOut = Vec<(GameId, u32)>;

/// An existing index of `game`, and an index of the new games to merge into the existing index.
struct GameIndex {
    root: PageNumber,
    old: Tree,
    /// The number of leaves at the start of `old` that stay unchanged.
    stay: usize,
    new: SideIndex,
}

/// The indexes of `game` to rewrite.
fn game_indexes(pages: &PageTransaction<'_>, side: &SideDatabase) -> Result<Vec<GameIndex>> {
    let mut indexes = Vec::new();
    for new in side.index_games()? {
        // A user can have replaced the index with another one of the same name.
        let Some(root) = pages.index_root(&new.name, &new.sql)? else { continue };
        // The tree cannot be read if a row above its leaves continues on an overflow page. Then SQLite updates
        // the index.
        let Ok(old) = Tree::read(pages.file(), root) else { continue };
        let stay = count_unchanged_leaves(&old, (&new.file, &new.tree))?;
        indexes.push(GameIndex { root, old, stay, new });
    }
    Ok(indexes)
}

impl GameIndex {
    /// The maximum number of pages that [`build`](Self::build) writes.
    fn max_pages(&self, file: &PageFile) -> u32 {
        let old = self.old.bytes(self.stay, file.page_size());
        let new = self.new.tree.bytes(0, self.new.file.page_size());
        let leaves = Tree::max_pages_for(old + new, file.page_size(), LONGEST_COMBINED, 1);
        leaves.saturating_add(self.old.max_interior_pages())
    }

    /// Merges the new rows into the index.
    fn build(&self, file: &Arc<PageFile>) -> Result<Combined> {
        Ok(combine(file, (&self.old, self.stay), (&self.new.file, &self.new.tree))?)
    }
}

impl Sink for AddedPages<'_> {
    type Encoder = LeafEncoder;

    fn encoder(&self) -> LeafEncoder {
        let file = match self.target.as_ref().expect("before games are read") {
            Target::Pages(pages) => pages.file(),
            Target::Rows(rows) => rows.file(),
        };
        LeafEncoder::new(file, self.database.layout())
    }

    fn headers(&mut self, batch: &HeaderBatch) -> store::Result<()> {
        self.small().append_headers(batch)
    }

    fn positions(&mut self, number: BatchNumber, leaves: GameLeaves) -> store::Result<Option<GameLeaves>> {
        self.leaves.push((number, leaves));
        Ok(None)
    }
}

impl DatabaseSink for AddedPages<'_> {
    fn occurrences(&mut self, sorted: &LevelOccurrences<'_>) -> Result<()> {
        let side = self.small.take().expect("while games are read").finish_side_database()?;
        match self.target.take().expect("while games are read") {
            Target::Pages(pages) => self.write_pages(*pages, side, sorted)?,
            Target::Rows(file) => {
                let (leaving, large) = (self.leaving, file.finish(take_in_order(&mut self.leaves))?);
                write_rows(self.loader(), leaving, side, large, sorted)?;
            }
        }
        Ok(self.loader().take_problems()?)
    }

    fn end(&mut self, write: impl FnOnce(&mut BulkLoader<'_>) -> Result<()>) -> Result<()> {
        write(self.loader())
    }

    fn finish<T>(self, write: impl FnOnce(&BulkLoader<'_>) -> Result<T>) -> Result<T> {
        let loader = self.loader.expect("once all games are read");
        let written = write(&loader)?;
        loader.remove_names(self.leaving)?;
        loader.finish()?;
        Ok(written)
    }
}
