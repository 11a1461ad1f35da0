//! Adds rows through SQL, if pages cannot be written into the database directly.

use std::sync::Arc;

use super::added_occurrences::LevelRule;
use super::{NewOccurrences, OccurrenceRows, UnsortedOccurrences as _};
use crate::board::PositionKey;
use crate::id::Level;
use crate::store::error::{Error, Result};
use crate::store::frequent_keys::{may_be_delayed, rows_in_level};
use crate::store::pages::{PageFile, PageNumber, Segment, assemble};
use crate::store::row::Occurrence;
use crate::store::write::remove::{RemainingRows, RowsToRemove};
use crate::store::write::side_database::{Temporary, root_page};
use crate::store::{BulkLoader, SideDatabase, WriterLock};

/// New rows of `game_position` and `move_eval`, as pages of a temporary database. They are copied to the
/// database once all games are read.
#[derive(Debug)]
pub(super) struct RowFile {
    temporary: Temporary,
    file: Arc<PageFile>,
    positions: PageNumber,
    evals: PageNumber,
}

impl RowFile {
    /// Creates the temporary database beside the target of `lock`.
    pub(super) fn create(lock: &WriterLock, cache_bytes: u64) -> Result<Self> {
        let side = SideDatabase::create(lock, "rows", cache_bytes)?;
        let root = |table| {
            root_page(side.connection(), table)
                .map_err(|source| Error::sqlite(side.path(), "read the schema", source))
        };
        let (positions, evals) = (root("game_position")?, root("move_eval")?);
        let temporary = side.close()?;
        let file = Arc::new(PageFile::open(&temporary.0)?);
        Ok(Self { temporary, file, positions, evals })
    }

    /// The file to which the leaves are written.
    pub(super) const fn file(&self) -> &Arc<PageFile> {
        &self.file
    }

    /// Completes the trees of both tables, and returns the temporary database.
    fn finish(self, (positions, evals): (Vec<Segment>, Vec<Segment>)) -> Result<Temporary> {
        assemble(&self.file, self.positions, positions)?;
        assemble(&self.file, self.evals, evals)?;
        self.file.finish()?;
        Ok(self.temporary)
    }
}

/// The changes to make in a database.
pub(super) struct AddedRows<'a> {
    pub(super) rule: LevelRule,
    pub(super) leaving: RowsToRemove<'a>,
    /// The new rows of the small tables.
    pub(super) side: SideDatabase,
    pub(super) large: RowFile,
    pub(super) leaves: (Vec<Segment>, Vec<Segment>),
}

impl AddedRows<'_> {
    /// Removes the rows in `leaving`, inserts the new rows, and updates the visited positions.
    pub(super) fn write<S: NewOccurrences>(
        self,
        loader: &mut BulkLoader<'_>,
        sorted: &S,
    ) -> Result<(), S::Error> {
        let Self { rule, leaving, side, large, leaves } = self;
        loader.remove_replaced(leaving)?;
        sorted.set_recounted_keys(loader.remove(leaving, RemainingRows::There)?);
        loader.take_rows(side)?;
        loader.take_large_rows(large.finish(leaves)?)?;
        let levels = loader.levels()?;
        if let Some(level) = rule.level(&levels, sorted, leaving) {
            loader.merge_levels(level)?;
            loader.set_last_level(level, None)?;
            if levels.last() > Some(&level) && may_be_delayed(sorted.threshold()) {
                sorted.set_recounted_keys(loader.keys_in_level(level, rows_in_level(sorted.threshold()))?);
            }
            loader.insert_occurrences(level, sorted.unsorted().games().0)?;
            let mut inserted = Inserted { loader, level };
            (0..sorted.unsorted().partitions())
                .try_for_each(|partition| sorted.drain(partition, &mut inserted))?;
        }
        sorted.drained();
        sorted.update_visited(loader, None, |_| Ok(()))?;
        loader.take_problems()?;
        sorted.write_visited(loader)
    }
}

/// Receives occurrences whose rows have already been inserted.
struct Inserted<'l, 'c> {
    loader: &'l BulkLoader<'c>,
    level: Level,
}

impl OccurrenceRows for Inserted<'_, '_> {
    fn append(&mut self, _: impl ExactSizeIterator<Item = Occurrence>) -> Result<()> {
        Ok(())
    }

    fn has(&mut self, key: PositionKey, count: u32, _: u32) -> Result<bool> {
        Ok(self.loader.has_in_level(self.level, key, rows_in_level(count))?
            && self.loader.has_occurrences(key, count)?)
    }
}
