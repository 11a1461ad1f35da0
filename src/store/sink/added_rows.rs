//! Adds games to an existing database through SQL.

use super::added_occurrences::LevelRule;
use super::encoder::{BlockNumber, RowEncoder};
use super::fresh_rows::SqlOccurrences;
use super::{
    DuplicateLinks, NewRun, RemovalSink, RunTotals, Sink, SortedOccurrences, UnsortedOccurrences, begin, end,
    link_duplicates,
};
use crate::board::PositionKey;
use crate::id::GameId;
use crate::store::error::Result;
use crate::store::row::{HeaderBatch, PositionBatch};
use crate::store::visited_rule::{rows_in_level, waits};
use crate::store::write::remove::{Leaving, RowsOfRemoved};
use crate::store::{BulkLoader, Database, ImportId, LoadMode};

/// Adds rows in one transaction.
pub(crate) struct AddedRows<'d> {
    loader: BulkLoader<'d>,
    leaving: Leaving<'d>,
    rule: LevelRule,
    /// Keys of removed rows.
    thinned: Vec<PositionKey>,
}

impl<'d> AddedRows<'d> {
    /// Begins to add games, and removes the rows to remove.
    pub(crate) fn new(database: &'d Database, rule: LevelRule, leaving: Leaving<'d>) -> Result<Self> {
        let mut loader = BulkLoader::begin(database.connection(), database.path(), LoadMode::Append)?;
        loader.make_room(leaving)?;
        let thinned = loader.remove(leaving, RowsOfRemoved::There)?;
        loader.resume_columns(database.connection(), leaving.games)?;
        Ok(Self { loader, leaving, rule, thinned })
    }
}

impl Sink for AddedRows<'_> {
    type Encoder = RowEncoder;

    fn encoder(&self) -> RowEncoder {
        RowEncoder::default()
    }

    fn begin(&mut self, run: &NewRun<'_>) -> Result<()> {
        begin(&mut self.loader, run, false)
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
        sorted.look_up_again(std::mem::take(&mut self.thinned));
        let levels = self.loader.levels()?;
        if let Some(level) = self.rule.level(&levels, sorted, self.leaving) {
            self.loader.merge_levels(level)?;
            self.loader.set_last_level(level, None)?;
            if levels.last() > Some(&level) && waits(sorted.threshold()) {
                sorted.look_up_again(self.loader.keys_in_last_level(rows_in_level(sorted.threshold()))?);
            }
        }
        add_occurrences(&mut self.loader, sorted)
    }

    fn end(&mut self, run: &RunTotals) -> Result<()> {
        end(&mut self.loader, run)
    }

    fn links<S: SortedOccurrences>(
        &mut self,
        sorted: &S,
        duplicates: &DuplicateLinks,
    ) -> Result<u64, S::Error> {
        link_duplicates(&self.loader, duplicates, sorted)
    }

    fn finish(self) -> Result<()> {
        self.loader.remove_names(self.leaving)?;
        self.loader.finish()
    }
}

impl RemovalSink for AddedRows<'_> {
    fn set_import(&mut self, import: ImportId) {
        self.loader.set_import(import);
    }

    fn end_removal(&mut self, last: GameId) -> Result<()> {
        self.loader.count_returned(last)
    }
}

/// Adds occurrences through SQL, and updates the visited positions.
fn add_occurrences<S: SortedOccurrences>(loader: &mut BulkLoader<'_>, sorted: &S) -> Result<(), S::Error> {
    let mut rows = SqlOccurrences { loader, batch: Vec::new() };
    (0..sorted.unsorted().partitions()).try_for_each(|partition| sorted.drain(partition, &mut rows))?;
    sorted.drained();
    sorted.update_visited(loader, None, |_| Ok(()))?;
    sorted.write_visited(loader)
}
