//! The one boundary through which the rows of a run are written.
//!
//! A run does not know what it feeds: it hands games, positions and sorted occurrences to a [`Sink`]. There is one for each way to write:
//!
//! | sink | writes |
//! |---|---|
//! | [`FreshPages`] | a new database, its large tables as pages built by the workers |
//! | [`FreshRows`] | a new database, all of it through SQL: what the pages are held to in tests |
//! | [`AddedPages`] | into a database that is there, pages beside those in use |
//! | [`AddedRows`] | into a database that is there, through SQL |
//! | `ParquetFiles` | Parquet files, in the room `columnar` |
//! | [`Nothing`] | nothing: the input is only looked at |
//!
//! The order of calls: [`begin`](Sink::begin); while games are read, [`headers`](Sink::headers) and [`positions`](Sink::positions);
//! when all are read, [`occurrences`](Sink::occurrences), [`end`](Sink::end), [`links`](Sink::links), [`finish`](Sink::finish).

mod added_occurrences;
mod added_pages;
mod added_rows;
mod encoder;
mod fresh_pages;
mod fresh_rows;
mod game_index;
mod game_table;
mod nothing;
mod sorter;

use std::path::Path;

use rayon::ThreadPool;

pub(crate) use added_occurrences::LevelRule;
pub(crate) use added_pages::AddedPages;
pub(crate) use added_rows::AddedRows;
pub(crate) use encoder::{BlockNumber, GameMoves, PositionEncoder, PositionView};
pub(crate) use fresh_pages::FreshPages;
pub(crate) use fresh_rows::FreshRows;
pub(crate) use nothing::Nothing;

use super::error::Result;
use super::row::{HeaderBatch, Occurrence};
use super::{BulkLoader, ImportTotals, NewImport, SourceTotals};
use crate::board::PositionKey;
use crate::id::{GameId, ImportId, SourceId};
use crate::opening::OpeningBook;
use crate::store::pages::PositionTrees;

/// What a run writes through. One thread calls it; the workers have an [encoder](Sink::Encoder) each.
pub(crate) trait Sink: Sized {
    /// What workers give positions to.
    type Encoder: PositionEncoder;

    /// Whether anything is kept: if not, games need no numbers and positions need not be made.
    const KEEPS: bool = true;

    /// An encoder, from which those of the workers are made.
    fn encoder(&self) -> Self::Encoder;

    /// Writes the row of the run and of its sources and, into a new database, what it depends on.
    fn begin(&mut self, run: &NewRun<'_>) -> Result<()>;

    /// Writes rows of the small tables, in the order of the games.
    fn headers(&mut self, batch: &HeaderBatch) -> Result<()>;

    /// Takes what an encoder made. Gives an emptied block back that can be filled again, if there is one.
    fn positions(
        &mut self,
        number: BlockNumber,
        block: <Self::Encoder as PositionEncoder>::Block,
    ) -> Result<Option<<Self::Encoder as PositionEncoder>::Block>>;

    /// Writes the occurrences, once all games are read, and, in a database that is there, brings the visited positions up to date.
    /// A sink that keeps nothing is asked for this no more, nor for what follows.
    fn occurrences<S: SortedOccurrences>(&mut self, _: &S) -> Result<(), S::Error> {
        Ok(())
    }

    /// Completes the rows of the sources and of the run.
    fn end(&mut self, _: &RunTotals) -> Result<()> {
        Ok(())
    }

    /// Writes what links games once all of them are there: in a new database the visited positions, in any the duplicates. Gives back how
    /// many games were found that are prefixes of longer ones.
    fn links<S: SortedOccurrences>(&mut self, _: &S, _: &DuplicateLinks) -> Result<u64, S::Error> {
        Ok(0)
    }

    /// Makes all of it last.
    fn finish(self) -> Result<()> {
        Ok(())
    }
}

/// A sink through which games are taken out. Games that were skipped as their duplicates may come back.
pub(crate) trait RemovalSink: Sink {
    /// Which run the games belong to that follow.
    fn set_import(&mut self, import: ImportId);

    /// Completes the counts of sources and runs, in place of [`Sink::end`]; `last` is the last game that was there before.
    fn end_removal(&mut self, last: GameId) -> Result<()>;
}

/// What is written about a run when it begins.
#[derive(Debug)]
pub(crate) struct NewRun<'r> {
    pub(crate) import: ImportId,
    pub(crate) program_version: &'static str,
    /// What the run was asked to do: a JSON object.
    pub(crate) options: String,
    /// How many games a visited position has at least, and the openings: of a new database.
    pub(crate) continuation_threshold: u32,
    pub(crate) openings: &'r OpeningBook,
    /// Names and values of other settings of a new database.
    pub(crate) settings: [(&'static str, &'static str); 3],
    /// Each source's number, its path, and the byte from which it is read.
    pub(crate) sources: Vec<(SourceId, &'r Path, u64)>,
}

/// What is written about a run when all its games are there.
#[derive(Debug)]
pub(crate) struct RunTotals {
    pub(crate) sources: Vec<(SourceId, SourceTotals)>,
    pub(crate) import: ImportTotals,
}

/// What is to be found out about games that repeat others.
#[derive(Clone, Debug, Default)]
pub(crate) struct DuplicateLinks {
    /// Whether prefixes are looked for.
    pub(crate) prefixes: bool,
    /// The last game that was there before.
    pub(crate) last_game: GameId,
    /// Games whose duplicates belong to those that were read in their place.
    pub(crate) replaced: Vec<Replaced>,
    /// Whether the removed games are taken out, and nothing is read in their place.
    pub(crate) taken_out: bool,
}

/// A game that was removed, and where its text is read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    pub(crate) game: GameId,
    pub(crate) source: SourceId,
    pub(crate) byte_offset: u64,
}

/// The occurrences of all positions of a run, parted by key, and what the run sorts them with.
pub(crate) trait UnsortedOccurrences: Sync {
    /// What can go wrong.
    type Error: From<super::Error> + Send;

    /// How many partitions there are; the keys of each are less than those of the next.
    fn partitions(&self) -> usize;

    /// How many occurrences there are.
    fn count(&self) -> u64;

    /// The number of the first game that they are of, and how many games there are.
    fn games(&self) -> (GameId, u32);

    /// Where the keys of a partition begin, and where they end, unless it is the last one.
    fn range(&self, partition: usize) -> (Occurrence, Option<Occurrence>);

    /// Notes down the games later than `last`, and those that were `freed`, that are prefixes of longer ones, and the games that have such
    /// prefixes. Gives back how many.
    fn note_prefixes(
        &self,
        loader: &BulkLoader<'_>,
        last: GameId,
        freed: &[GameId],
    ) -> Result<u64, Self::Error>;

    /// What ends the run if a thread panicked.
    fn panicked(&self) -> Self::Error;

    /// The threads that work on partitions side by side.
    fn pool(&self) -> &ThreadPool;
}

/// The same occurrences as they are sorted; what they tell of visited positions is counted as they come by.
pub(crate) trait SortedOccurrences: Sync {
    /// What can go wrong.
    type Error: From<super::Error> + Send;

    /// What is sorted.
    fn unsorted(&self) -> &impl UnsortedOccurrences<Error = Self::Error>;

    /// Hands a partition over, sorted. It is empty afterwards.
    fn drain<R: OccurrenceRows>(&self, partition: usize, rows: &mut R) -> Result<(), Self::Error>;

    /// Says of which keys it must be looked up anew whether enough games reached their positions: rows were removed, or rows of several
    /// levels stand together now, and there are, or were, as many of them as are [worth counting](Self::threshold), or nearly. Others may be
    /// among them. It is said before [`write_visited`](Self::write_visited).
    fn look_up_again(&self, keys: Vec<PositionKey>);

    /// Says that all partitions are drained, or that no more will be.
    fn drained(&self);

    /// How many distinct keys came by.
    fn distinct(&self) -> u64;

    /// Writes what the sink wants to write `first`, then adds to the rows of visited positions what comes by while others drain: ends
    /// when all partitions are [drained](Self::drained). `before` is where positions stood until then, if these pages may be read.
    fn update_visited<'c>(
        &self,
        loader: &mut BulkLoader<'c>,
        before: Option<PositionTrees<'_>>,
        first: impl FnOnce(&mut BulkLoader<'c>) -> Result<()>,
    ) -> Result<(), Self::Error>;

    /// Writes the rows of visited positions that are new, or must be counted afresh, once all else is there.
    fn write_visited(&self, loader: &mut BulkLoader<'_>) -> Result<(), Self::Error>;

    /// How many rows of a key are worth counting.
    fn threshold(&self) -> u32;
}

/// Takes sorted occurrences.
pub(crate) trait OccurrenceRows {
    /// Whether rows are best taken many at once; if not, they must be asked for each key before the next one comes.
    const MANY_AT_ONCE: bool;

    /// Takes the next ones.
    fn append(&mut self, rows: impl ExactSizeIterator<Item = Occurrence>) -> Result<()>;

    /// Whether there are so many rows of a key, of which so many were appended, and [enough](crate::store::visited_rule::rows_in_level) of them in the level that is
    /// written: the key of the last row, and all rows that are there already count.
    fn has(&mut self, key: PositionKey, count: u32, appended: u32) -> Result<bool>;
}

/// Writes the rows with which a run begins.
fn begin(loader: &mut BulkLoader<'_>, run: &NewRun<'_>, is_new: bool) -> Result<()> {
    let NewRun { import: id, program_version, options, .. } = run;
    loader.add_import(&NewImport { id: *id, program_version, options })?;
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

/// Completes these rows.
fn end(loader: &mut BulkLoader<'_>, run: &RunTotals) -> Result<()> {
    for (id, totals) in &run.sources {
        loader.finish_source(*id, totals)?;
    }
    loader.finish_import(&run.import)
}

/// Finds out about games that repeat others.
fn link_duplicates<S: SortedOccurrences>(
    loader: &BulkLoader<'_>,
    links: &DuplicateLinks,
    sorted: &S,
) -> Result<u64, S::Error> {
    let mut freed = Vec::new();
    for &Replaced { game, source, byte_offset } in &links.replaced {
        freed.extend(loader.move_duplicates(game, links.last_game, source, byte_offset)?);
    }
    if links.taken_out {
        freed.extend(loader.release_duplicates()?);
    }
    if links.prefixes { sorted.unsorted().note_prefixes(loader, links.last_game, &freed) } else { Ok(0) }
}
