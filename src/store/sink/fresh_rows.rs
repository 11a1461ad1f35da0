//! Writes a new database through SQL.

use rusqlite::Connection;

use super::encoder::{BlockNumber, RowEncoder};
use super::{
    DuplicateLinks, NewRun, OccurrenceRows, RunTotals, Sink, SortedOccurrences, UnsortedOccurrences, begin,
    end, link_duplicates,
};
use crate::board::PositionKey;
use crate::store::error::Result;
use crate::store::row::{HeaderBatch, Occurrence, PositionBatch};
use crate::store::visited_rule::rows_in_level;
use crate::store::{Build, BulkLoader, LoadMode};

/// Writes a new database row by row.
pub(crate) struct FreshRows<'b> {
    build: &'b Build,
    /// The load that appends rows, later the load that links games.
    loader: BulkLoader<'b>,
}

impl<'b> FreshRows<'b> {
    /// Begins to fill a database. `watch` is called with the connection.
    pub(crate) fn new(build: &'b Build, watch: &dyn Fn(&Connection)) -> Result<Self> {
        watch(build.connection());
        let loader = BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh)?;
        Ok(Self { build, loader })
    }
}

/// Appends occurrences through SQL.
pub(super) struct SqlOccurrences<'l, 'c> {
    pub(super) loader: &'l mut BulkLoader<'c>,
    pub(super) batch: Vec<Occurrence>,
}

impl OccurrenceRows for SqlOccurrences<'_, '_> {
    const MANY_AT_ONCE: bool = true;

    fn append(&mut self, rows: impl ExactSizeIterator<Item = Occurrence>) -> Result<()> {
        self.batch.clear();
        self.batch.extend(rows);
        self.loader.append_occurrences(&self.batch)
    }

    fn has(&mut self, key: PositionKey, count: u32, _: u32) -> Result<bool> {
        Ok(self.loader.has_in_last_level(key, rows_in_level(count))?
            && self.loader.has_occurrences(key, count)?)
    }
}

impl Sink for FreshRows<'_> {
    type Encoder = RowEncoder;

    fn encoder(&self) -> RowEncoder {
        RowEncoder::default()
    }

    fn begin(&mut self, run: &NewRun<'_>) -> Result<()> {
        begin(&mut self.loader, run, true)
    }

    fn headers(&mut self, batch: &HeaderBatch) -> Result<()> {
        self.loader.append_headers(batch)
    }

    fn positions(&mut self, _: BlockNumber, mut batch: PositionBatch) -> Result<Option<PositionBatch>> {
        self.loader.append_positions(&batch)?;
        batch.clear();
        Ok(Some(batch))
    }

    fn occurrences<S: SortedOccurrences>(&mut self, sorted: &S) -> Result<(), S::Error> {
        let mut rows = SqlOccurrences { loader: &mut self.loader, batch: Vec::new() };
        (0..sorted.unsorted().partitions()).try_for_each(|partition| sorted.drain(partition, &mut rows))
    }

    fn end(&mut self, run: &RunTotals) -> Result<()> {
        end(&mut self.loader, run)?;
        self.loader.commit()?;
        self.loader = BulkLoader::begin(self.build.connection(), self.build.path(), LoadMode::Append)?;
        Ok(())
    }

    fn links<S: SortedOccurrences>(
        &mut self,
        sorted: &S,
        duplicates: &DuplicateLinks,
    ) -> Result<u64, S::Error> {
        sorted.write_visited(&mut self.loader)?;
        link_duplicates(&self.loader, duplicates, sorted)
    }

    fn finish(self) -> Result<()> {
        self.loader.finish()
    }
}
