//! Adds rows through SQL, if pages cannot be written into the database directly.

use std::sync::Arc;

use rusqlite::params;

use super::{OccurrenceRows, SortedOccurrences};
use crate::id::Level;
use crate::store::error::{Error, Result};
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
    pub(super) leaving: RowsToRemove<'a>,
    /// The new rows of the small tables.
    pub(super) side: SideDatabase,
    pub(super) large: RowFile,
    pub(super) leaves: (Vec<Segment>, Vec<Segment>),
}

impl AddedRows<'_> {
    /// Removes the rows in `leaving`, inserts the new rows, and writes the visited positions.
    pub(super) fn write<S: SortedOccurrences>(
        self,
        loader: &mut BulkLoader<'_>,
        sorted: &S,
    ) -> Result<(), S::Error> {
        let Self { leaving, side, large, leaves } = self;
        loader.remove_replaced(leaving)?;
        loader.remove(leaving, RemainingRows::There)?;
        loader.take_rows(side)?;
        loader.take_large_rows(large.finish(leaves)?)?;
        if let Some(level) = sorted.level() {
            loader.insert_level(level, sorted)?;
        }
        loader.take_problems()?;
        sorted.write_visited(loader)
    }
}

impl BulkLoader<'_> {
    /// Replaces a level and all later ones by the sorted occurrences. The visited positions are written
    /// separately.
    pub(crate) fn insert_level<S: SortedOccurrences>(
        &self,
        level: Level,
        sorted: &S,
    ) -> Result<(), S::Error> {
        self.set_last_level(level)?;
        self.execute(WRITE, "DELETE FROM occurrence WHERE level >= ?1", [level.0])?;
        let mut rows = Inserted { loader: self, level };
        (0..sorted.partitions()).try_for_each(|partition| sorted.drain(partition, &mut rows))
    }
}

const WRITE: &str = "write table occurrence";

/// Inserts occurrences through SQL.
struct Inserted<'l, 'c> {
    loader: &'l BulkLoader<'c>,
    level: Level,
}

impl OccurrenceRows for Inserted<'_, '_> {
    fn append(&mut self, mut rows: impl ExactSizeIterator<Item = Occurrence>) -> Result<()> {
        let sql = "INSERT OR ROLLBACK INTO occurrence (level, key, game_id, ply) VALUES (?1, ?2, ?3, ?4)";
        rows.try_for_each(|row| {
            let params = params![self.level.0, row.key().as_i64(), row.game().0, row.ply().0];
            self.loader.execute(WRITE, sql, params)
        })
    }
}
