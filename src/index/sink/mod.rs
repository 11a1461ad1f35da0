//! The sinks that write a database.

mod added_pages;
mod added_rows;
mod fresh_pages;

use std::sync::Arc;

pub(crate) use added_pages::AddedPages;
pub(crate) use fresh_pages::FreshPages;

use crate::id::Level;
use crate::index::Result;
use crate::index::visited_position::LevelOccurrences;
use crate::parallel;
use crate::store::BulkLoader;
use crate::store::pages::{LeafWriter, PageFile, Segment};
use crate::store::row::OccurrenceRow;
use crate::store::sink::Sink;

/// A sink that writes a database.
///
/// The order of calls: while games are read, [`headers`](Sink::headers) and [`positions`](Sink::positions); after
/// all games, [`occurrences`](Self::occurrences), [`end`](Self::end) and [`finish`](Self::finish). A removal of
/// games does not call `end`.
pub(crate) trait DatabaseSink: Sink {
    /// Writes the occurrences. Called when all games have been read.
    fn occurrences(&mut self, sorted: &LevelOccurrences<'_>) -> Result<()>;

    /// Calls `write`, which completes the rows of the sources and of the run. In a new database, also completes
    /// the small tables.
    fn end(&mut self, write: impl FnOnce(&mut BulkLoader<'_>) -> Result<()>) -> Result<()>;

    /// Calls `write`, which writes the visited positions and updates the duplicates. In an existing database,
    /// then commits the transaction. A new database is durable only after
    /// [`Build::finish`](crate::store::Build::finish). Returns the result of `write`.
    fn finish<T>(self, write: impl FnOnce(&BulkLoader<'_>) -> Result<T>) -> Result<T>;
}

/// Drains all partitions on the threads of the calling pool, and writes the occurrences to leaves. Returns a
/// segment for each partition.
fn write_occurrences(
    file: &Arc<PageFile>,
    level: Level,
    sorted: &LevelOccurrences<'_>,
) -> Result<Vec<Segment>> {
    let build = |writer: &mut LeafWriter, partition| {
        sorted.drain(partition, |occurrence| Ok(writer.push(&OccurrenceRow { level, occurrence })?))?;
        Ok(writer.finish_segment()?)
    };
    parallel::map_with(None, sorted.run.partitions.len(), || LeafWriter::new(Arc::clone(file)), build)
}
