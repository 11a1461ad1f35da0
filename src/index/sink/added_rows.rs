//! Adds rows through SQL, if pages cannot be written into the database directly.

use std::sync::Arc;

use rusqlite::params;

use crate::id::Level;
use crate::index::Result;
use crate::index::visited_position::LevelOccurrences;
use crate::store::pages::{PageFile, PageNumber, Segment, assemble};
use crate::store::write::remove::RowsToRemove;
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
        let root = |table| root_page(side.connection(), side.path(), table);
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
    pub(super) fn finish(self, (positions, evals): (Vec<Segment>, Vec<Segment>)) -> Result<Temporary> {
        assemble(&self.file, self.positions, positions)?;
        assemble(&self.file, self.evals, evals)?;
        self.file.finish()?;
        Ok(self.temporary)
    }
}

/// Removes the rows in `leaving`, and inserts the new rows. `side` has the new
/// rows of the small tables, and `large` those of `game_position` and `move_eval`.
pub(super) fn write_rows(
    loader: &mut BulkLoader<'_>,
    leaving: RowsToRemove<'_>,
    side: SideDatabase,
    large: Temporary,
    sorted: &LevelOccurrences<'_>,
) -> Result<()> {
    loader.remove_replaced(leaving)?;
    loader.remove(leaving, None)?;
    loader.take_rows(side)?;
    loader.take_large_rows(large)?;
    sorted.level.map_or(Ok(()), |level| loader.insert_level(level, sorted))
}

impl BulkLoader<'_> {
    /// Replaces a level and all later ones by the sorted occurrences. The visited positions are written
    /// separately.
    pub(crate) fn insert_level(&self, level: Level, sorted: &LevelOccurrences<'_>) -> Result<()> {
        const WRITE: &str = "write table occurrence";
        self.set_last_level(level)?;
        self.execute(WRITE, "DELETE FROM occurrence WHERE level >= ?1", [level.0])?;
        let sql = "INSERT OR ROLLBACK INTO occurrence (level, key, game_id, ply) VALUES (?1, ?2, ?3, ?4)";
        (0..sorted.run.partitions.len()).try_for_each(|partition| {
            sorted.drain(partition, |row| {
                let params = params![level.0, row.key().as_i64(), row.game().0, row.ply().0];
                Ok(self.execute(WRITE, sql, params)?)
            })
        })
    }
}
