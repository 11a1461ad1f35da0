//! The interface through which a run writes its rows.
//!
//! A run does not depend on the kind of its output: it passes games, positions and sorted occurrences to a
//! [`Sink`]. There is one sink for each kind of output:
//!
//! | sink | writes |
//! |---|---|
//! | [`FreshPages`] | a new database; the workers build the pages of its large tables |
//! | [`AddedPages`] | an existing database: new pages beside those in use, or rows through SQL |
//! | `ParquetFiles`, in the module `columnar` | Parquet files |
//! | `StreamSink` and `RankSink`, in `columnar` | no files: they pass rows, or the data for a random sample, to a caller |
//! | [`NullSink`] | nothing: the input is only checked |
//!
//! The order of calls: first [`begin`](KeepingSink::begin); while games are read, [`headers`](Sink::headers)
//! and [`positions`](Sink::positions); after all games, [`occurrences`](KeepingSink::occurrences),
//! [`end`](KeepingSink::end) and [`finish`](KeepingSink::finish). A removal of games does not call `begin` and
//! `end`.

mod added_pages;
mod added_rows;
mod encoder;
mod fresh_pages;
mod game_index;
mod game_table;
mod sorter;

use std::path::Path;
use std::sync::Arc;

use rayon::ThreadPool;

pub(crate) use added_pages::AddedPages;
pub(crate) use encoder::{BatchNumber, GameMoves, PositionEncoder, PositionView, Takes};
pub(crate) use fresh_pages::FreshPages;

use super::error::Result;
use super::pages::{LeafWriter, PageFile, Segment};
use super::row::{HeaderBatch, Level, Occurrence, OccurrenceRow};
use super::{BulkLoader, ImportTotals, NewImport, SourceTotals};
use crate::id::{ImportId, SourceId};
use crate::opening::OpeningBook;
use crate::parallel;

/// The output of a run. One thread calls its methods; each worker has an [encoder](Sink::Encoder).
pub(crate) trait Sink: Sized {
    /// The encoder to which workers pass games.
    type Encoder: PositionEncoder;

    /// The first encoder. The encoders of the workers are [created](PositionEncoder::another) from it.
    fn encoder(&self) -> Self::Encoder;

    /// Writes the rows of a batch to the small tables. The batches are passed in the order of the games.
    fn headers(&mut self, _: &HeaderBatch) -> Result<()> {
        Ok(())
    }

    /// Consumes the encoded data of a batch. If its memory can be reused, returns the emptied data.
    fn positions(
        &mut self,
        number: BatchNumber,
        encoded: <Self::Encoder as PositionEncoder>::Encoded,
    ) -> Result<Option<<Self::Encoder as PositionEncoder>::Encoded>>;
}

/// A sink that keeps the games.
pub(crate) trait KeepingSink: Sink {
    /// Writes the rows of the run and of its sources. In a new database, also writes the settings and the
    /// list of openings.
    fn begin(&mut self, run: &NewRun<'_>) -> Result<()>;

    /// Writes the occurrences. Called when all games have been read. In an existing database, also writes the
    /// visited positions.
    fn occurrences<S: SortedOccurrences>(&mut self, sorted: &S) -> Result<(), S::Error>;

    /// Completes the rows of the sources and of the run.
    fn end(&mut self, run: &RunTotals) -> Result<()>;

    /// Completes the output. In a new database, first writes the visited positions. Then calls `link`, which
    /// updates the duplicates and returns the number of recorded prefixes. In an existing database, then
    /// commits the transaction. A new database is durable only after
    /// [`Build::finish`](crate::store::Build::finish). Returns the result of `link`; 0 if the output has no
    /// duplicates.
    fn finish<S: SortedOccurrences>(
        self,
        sorted: &S,
        link: impl FnOnce(&BulkLoader<'_>) -> Result<u64, S::Error>,
    ) -> Result<u64, S::Error>;
}

/// The data of a run that is known when the run begins.
#[derive(Debug)]
pub(crate) struct NewRun<'r> {
    pub(crate) import: ImportId,
    /// The options of the run: a JSON object.
    pub(crate) options: String,
    /// The minimum number of games of a visited position: a setting of a new database.
    pub(crate) continuation_threshold: u32,
    /// The list of openings, which is written to a new database.
    pub(crate) openings: &'r OpeningBook,
    /// Names and values of other settings of a new database.
    pub(crate) settings: [(&'static str, &'static str); 3],
    /// For each source: its id, its path, and the offset, in bytes, at which reading starts.
    pub(crate) sources: Vec<(SourceId, &'r Path, u64)>,
}

/// The data of a run that is known when all its games are written.
#[derive(Debug)]
pub(crate) struct RunTotals {
    pub(crate) sources: Vec<(SourceId, SourceTotals)>,
    pub(crate) import: ImportTotals,
}

/// The occurrences of a level to write, divided into partitions by key. Draining a partition sorts it, and
/// counts its visited positions.
pub(crate) trait SortedOccurrences: Sync {
    type Error: From<super::Error> + Send;

    /// The level to write. It replaces the level with this number and all later ones. `None` if no level is
    /// written.
    fn level(&self) -> Option<Level>;

    /// The number of partitions. All keys of a partition are less than those of the next partition.
    fn partitions(&self) -> usize;

    /// The number of occurrences.
    fn count(&self) -> u64;

    /// An estimate of the number of occurrences in new games.
    fn count_new(&self) -> u64;

    /// Passes the occurrences of a partition to `push`, in order. The partition is empty afterwards.
    fn drain(&self, partition: usize, push: impl FnMut(Occurrence) -> Result<()>) -> Result<(), Self::Error>;

    /// Writes the visited positions of the level. Also subtracts removed games from the visited positions of
    /// the levels that are not written. Called once the tables of games, positions and occurrences are
    /// written.
    fn write_visited(&self, loader: &mut BulkLoader<'_>) -> Result<(), Self::Error>;

    /// The error that ends the run if a thread panicked.
    fn panicked(&self) -> Self::Error;

    /// The threads that process partitions in parallel.
    fn pool(&self) -> &ThreadPool;
}

/// Drains all partitions on the threads of the calling pool, and writes the occurrences to leaves. Returns a
/// segment for each partition.
fn write_occurrences<S: SortedOccurrences>(
    file: &Arc<PageFile>,
    level: Level,
    sorted: &S,
) -> Result<Vec<Segment>, S::Error> {
    let build = |writer: &mut LeafWriter, partition| {
        sorted.drain(partition, |occurrence| Ok(writer.push(&OccurrenceRow { level, occurrence })?))?;
        Ok::<_, S::Error>(writer.finish_segment().map_err(super::Error::from)?)
    };
    parallel::map_with(None, sorted.partitions(), || LeafWriter::new(Arc::clone(file)), build)
}

/// A sink for dry runs: it discards all data.
#[derive(Debug)]
pub(crate) struct NullSink;

impl PositionEncoder for NullSink {
    type Encoded = ();
    const TAKES: Takes = Takes::Nothing;

    fn another(&self) -> Self {
        Self
    }

    fn take(&mut self, _: Option<()>) -> Result<Option<()>> {
        Ok(None)
    }
}

impl Sink for NullSink {
    type Encoder = Self;

    fn encoder(&self) -> Self {
        Self
    }

    fn positions(&mut self, _: BatchNumber, (): ()) -> Result<Option<()>> {
        Ok(None)
    }
}

/// Writes the rows that are known when a run begins.
fn begin(loader: &mut BulkLoader<'_>, run: &NewRun<'_>, is_new: bool) -> Result<()> {
    let program_version = env!("CARGO_PKG_VERSION");
    loader.add_import(&NewImport { id: run.import, program_version, options: &run.options })?;
    if is_new {
        loader.add_setting("continuation_threshold", run.continuation_threshold)?;
        loader.add_setting("openings", run.openings.digest())?;
        for (name, value) in run.settings {
            loader.add_setting(name, value)?;
        }
        loader.add_openings(run.openings)?;
    }
    for &(id, path, first_byte) in &run.sources {
        loader.add_source(id, path, first_byte)?;
    }
    Ok(())
}

/// Completes the rows of the sources and of the run.
fn end(loader: &mut BulkLoader<'_>, run: &RunTotals) -> Result<()> {
    for (id, totals) in &run.sources {
        loader.finish_source(*id, totals)?;
    }
    loader.finish_import(&run.import)
}
