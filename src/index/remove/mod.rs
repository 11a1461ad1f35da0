//! Removes games from a database. Also merges the levels of a database, and rewrites its file without free
//! pages.

mod restored;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use restored::LostDuplicates;

use crate::index::game::{
    ChunkParser, Comparison, GameBatch, ParseOptions, Standard, for_each_position, record_features,
};
use crate::index::plan::{Plan, directory};
use crate::index::run::worker::played_occurrence;
use crate::index::run::{Intake, Run};
use crate::index::sink::{AddedPages, DatabaseSink as _};
use crate::index::visited_position::{CountedGames, Decreases, LevelOccurrences};
use crate::index::{Duplicates, Error, IndexOptions, Phase, Progress, RecentSetups, Reports, Result};
use crate::store::pages::BtreeError;
use crate::store::row::{GameId, SourceId};
use crate::store::sink::{BatchNumber, PositionEncoder as _, Sink as _, Takes};
use crate::store::space::file_size;
use crate::store::write::remove::{RemovedRows, RowsToRemove};
use crate::store::{
    self, Build, BuildOptions, Database, GameFilter, GameSet, HitOrder, ImportId, Layout, Need,
    PageTransaction, Snapshot, WriterLock, keep_temporary_files_in,
};
use restored::RestoredGames;

/// What to remove.
#[derive(Clone, Debug)]
pub enum Removal {
    /// All games of the files that have these paths in the database, and the records of the files. The files
    /// can be indexed again afterwards.
    Sources(Vec<PathBuf>),
    /// The games that match this filter.
    Filter(Box<GameFilter>),
    /// The games with these ids. Ids of missing games are ignored.
    Games(Vec<GameId>),
}

/// The result of removing games.
#[derive(Clone, Debug, Default)]
pub struct RemovalSummary {
    /// The number of games removed.
    pub games: u64,
    /// The number of half-moves in the removed games.
    pub plies: u64,
    /// The number of removed records of files. A file has one record for each run that read it.
    pub sources: u64,
    /// The number of games that had been skipped as duplicates of removed games, and that are now in the
    /// database.
    pub returned: u64,
    /// The duplicates of removed games that could not be restored.
    pub lost: Vec<LostDuplicates>,
    /// Size of the database after the run, in bytes.
    pub file_bytes: u64,
    /// Free bytes in the database, which additions will reuse.
    pub free_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
}

/// Removes games from the database at `target`, in one transaction: readers see the old state until the
/// transaction is committed. Options for reading, such as those for duplicates and annotations, are ignored.
///
/// Games that were skipped as duplicates of removed games are restored, if their files still begin with the
/// indexed text. A filter is then applied again: restored games that match it are removed in another
/// transaction, and are not counted.
///
/// # Errors
/// If a source does not exist ([`ErrorKind::UnknownSource`](crate::store::ErrorKind::UnknownSource)), the database
/// cannot be written, its tables are inconsistent, or the run is [stopped](Progress::stop).
pub fn remove(
    target: &Path,
    removal: &Removal,
    options: &IndexOptions,
    progress: &Progress,
) -> Result<RemovalSummary> {
    let started = Instant::now();
    // Each page of the database is written to the log at most once, so the log is hardly larger than the
    // database.
    let bytes = file_size(target);
    let failed = |error: Error| error.with_needed_space(Need::UpTo(bytes));
    let lock = WriterLock::acquire(target).map_err(|error| failed(error.into()))?;
    let opened = OpenedDatabase::open(&lock, options, progress).map_err(failed)?;
    let mut summary = opened.remove(removal).map_err(failed)?;
    let mut restored = summary.returned;
    while restored > 0 && matches!(removal, Removal::Filter(_)) {
        let again = opened.remove(removal).map_err(|error| summary.before_another_round(failed(error)))?;
        // The games removed in this round had just been restored.
        summary.returned = summary.returned.saturating_sub(again.games) + again.returned;
        summary.lost.extend(again.lost);
        restored = again.returned;
    }
    let end = || {
        opened.database.end_adding()?;
        Ok(opened.database.free_bytes()?)
    };
    let free_bytes = end().map_err(failed);
    summary.free_bytes = match (summary.games, summary.sources) {
        (0, 0) => free_bytes?,
        _ => free_bytes.map_err(|error| error.after(summary.done(), WRITING_BACK, NEXT_RUN))?,
    };
    summary.file_bytes = file_size(lock.target());
    summary.elapsed = started.elapsed();
    Ok(summary)
}

impl RemovalSummary {
    /// What was committed, in a sentence.
    #[must_use]
    pub fn done(&self) -> String {
        match self.games {
            1 => "1 game was removed".to_owned(),
            games => format!("{games} games were removed"),
        }
    }

    /// Adds to an error of a later round what the earlier rounds committed, and how to do the rest.
    fn before_another_round(&self, error: Error) -> Error {
        let restored = match self.returned {
            1 => "1 game skipped earlier as a duplicate was restored".to_owned(),
            games => format!("{games} games skipped earlier as duplicates were restored"),
        };
        let done = format!("{}, and {restored}", self.done());
        error.after(done, "removing the matching games", "run the same command again")
    }
}

/// The last step of a run, after its commit.
const WRITING_BACK: &str = "writing the write-ahead log back into the database";
const NEXT_RUN: &str = "nothing is lost, and the next run does this step";

/// Merges the levels of the locked database into one, without the occurrences of removed games. Returns how
/// many levels there were, and how many removed games they still contained.
///
/// # Errors
/// The same as for [`remove`].
fn merge_levels(lock: &WriterLock, options: &IndexOptions, progress: &Progress) -> Result<[u64; 2]> {
    let opened = OpenedDatabase::open(lock, options, progress)?;
    let database = &opened.database;
    let merged = database.count_levels()?;
    if merged[0] > 1 || merged[1] > 0 {
        opened.change(&Chosen::default())?;
    }
    database.end_adding().map_err(|error| after_merge(merged, error.into(), WRITING_BACK, NEXT_RUN))?;
    Ok(merged)
}

/// Adds to an error that occurred after the merge what [`merge_levels`] did, and how to do the rest.
fn after_merge([levels, dropped]: [u64; 2], error: Error, work: &'static str, next: &'static str) -> Error {
    let done = match (levels, dropped) {
        (0 | 1, 0) => return error,
        (0 | 1, 1) => "the positions of 1 removed game were dropped".to_owned(),
        (0 | 1, games) => format!("the positions of {games} removed games were dropped"),
        (levels, _) => format!("{levels} parts were merged into one"),
    };
    error.after(done, work, next)
}

/// Finds what [`remove`] would remove, without removing it. Duplicates to restore are counted if their files
/// exist. The texts of the files are not read, so changes in them are not detected.
///
/// # Errors
/// The same as for [`remove`].
pub fn removable(target: &Path, removal: &Removal) -> Result<RemovalSummary> {
    let started = Instant::now();
    let database = Database::open_read_only(target)?;
    let chosen = Chosen::of(&database, removal)?;
    let known = Snapshot::open_snapshot(target)?;
    known.check_counts()?;
    let skipped = known.skipped_duplicates(&chosen.games, &chosen.sources)?;
    let restored = RestoredGames::find(skipped);
    Ok(RemovalSummary {
        games: chosen.games.len(),
        plies: known.plies_of(&chosen.games)?,
        sources: chosen.sources.len() as u64,
        returned: restored.games().count() as u64,
        lost: restored.lost,
        file_bytes: file_size(target),
        free_bytes: database.free_bytes()?,
        elapsed: started.elapsed(),
    })
}

/// The games and sources to remove.
#[derive(Debug, Default)]
struct Chosen {
    games: GameSet,
    sources: Vec<SourceId>,
}

impl Chosen {
    fn of(database: &Database, removal: &Removal) -> Result<Self> {
        let mut chosen = Self::default();
        match removal {
            Removal::Sources(paths) => {
                for path in paths {
                    chosen.sources.extend(database.readings_of(path)?);
                }
                chosen.sources.sort_unstable();
                chosen.sources.dedup();
                chosen.games = database.games_of_sources(&chosen.sources)?;
            }
            Removal::Filter(filter) => {
                let selection = database.select(filter)?;
                database.visit_games(&selection, HitOrder::Game, |game| {
                    chosen.games.insert(game);
                    true
                })?;
            }
            Removal::Games(games) => {
                for &game in games {
                    if database.has_game(game)? {
                        chosen.games.insert(game);
                    }
                }
            }
        }
        Ok(chosen)
    }
}

/// A locked database from which games are removed, or whose levels are merged.
struct OpenedDatabase<'t> {
    database: Database,
    lock: &'t WriterLock,
    options: &'t IndexOptions,
    progress: &'t Progress,
}

impl<'t> OpenedDatabase<'t> {
    /// Opens the locked database. Fails if a view has the name of a necessary table, or if tables disagree
    /// about the number of games. Also fails if `game_position` has rows with greater ids than the last game.
    fn open(lock: &'t WriterLock, options: &'t IndexOptions, progress: &'t Progress) -> Result<Self> {
        let database = Database::open(lock.target())?;
        progress.watch(database.connection());
        let known = Snapshot::open(lock.target())?;
        progress.watch(known.connection());
        known.check_tables()?;
        known.check_counts()?;
        drop(known);
        // This is necessary even if there is nothing to change, because a killed run may have left a log.
        database.begin_adding(options.memory / 4)?;
        Ok(Self { database, lock, options, progress })
    }

    /// Removes games and sources in one transaction. Does nothing if there is nothing to remove.
    fn remove(&self, removal: &Removal) -> Result<RemovalSummary> {
        let chosen = Chosen::of(&self.database, removal)?;
        let is_empty = chosen.games.is_empty() && chosen.sources.is_empty();
        if is_empty { Ok(RemovalSummary::default()) } else { self.change(&chosen) }
    }

    /// Removes the chosen games and sources in one transaction. If there are none, merges the levels instead.
    /// Writes pages directly, if the database allows it.
    fn change(&self, chosen: &Chosen) -> Result<RemovalSummary> {
        match self.attempt(chosen, true) {
            // A user may have written a row that the page code does not support. The second attempt uses
            // SQLite, which decides whether the pages are damaged.
            Err(Error::Store(store::Error::Pages(BtreeError::Damaged { .. }))) => self.attempt(chosen, false),
            done => done,
        }
    }

    fn attempt(&self, chosen: &Chosen, may_write_pages: bool) -> Result<RemovalSummary> {
        let Self { database, lock, options, progress } = self;
        let Chosen { games, sources } = chosen;
        let target = lock.target();
        progress.enter(Phase::Reading);
        let known = Snapshot::open_snapshot(target)?;
        let skipped = known.skipped_duplicates(games, sources)?;
        let rows = known.positions()?;
        let plies = known.plies_of(games)?;
        drop(known);
        let returning = RestoredGames::open(skipped, options, progress)?;
        let options = IndexOptions {
            continuation_threshold: database.continuation_threshold()?,
            openings: database.opening_book()?.into(),
            duplicates: Duplicates::Moves,
            ..IndexOptions::clone(options)
        };
        let spill = directory(&options, target);
        keep_temporary_files_in(&spill, database.connection())?;
        let plan = Plan::without_sources(&options);
        let merges_all = games.is_empty() && sources.is_empty();
        let intake = Intake {
            starts: returning.starts(),
            import: ImportId(0),
            target: Some(target.to_owned()),
            removed: games.clone(),
            merged: if merges_all { rows } else { 0 },
            ..Intake::all(&plan.sources)
        };
        let run = Run::new(&plan, intake, progress, Instant::now(), spill, Reports::default())?;
        let decreases = Decreases::compute(&run)?;
        let removed_rows = RemovedRows { sources: sources.clone(), returning: returning.places() };
        let by_user = (!merges_all).then_some(&removed_rows);
        let leaving = RowsToRemove { games, positions: decreases.positions, tails: &[], by_user };
        let pages = if may_write_pages { PageTransaction::begin(database)? } else { None };
        let sink = AddedPages::new(database, lock, pages, options.memory / 8, rows, leaving)?;
        let returned = run.remove_games(sink, &decreases, &returning, !merges_all)?;
        let sources = removed_rows.sources.len() as u64;
        let lost = returning.lost;
        Ok(RemovalSummary { games: games.len(), plies, sources, returned, lost, ..RemovalSummary::default() })
    }
}

impl Run<'_> {
    /// Removes games through the sink, and restores the games that had been skipped as duplicates of removed
    /// games. Returns the number of restored games. If `removes` is `false`, only merges levels.
    fn remove_games(
        &self,
        mut sink: AddedPages<'_>,
        decreases: &Decreases,
        returning: &RestoredGames,
        removes: bool,
    ) -> Result<u64> {
        let mut restored = self.restore_games(&mut sink, returning)?;
        let last_game = restored.before();
        let level = self.level_to_write(&mut restored, !removes)?;
        let sorted = LevelOccurrences::new(self, level, &restored, decreases);
        self.progress.enter(Phase::Sorting);
        sink.occurrences(&sorted)?;
        self.progress.enter(Phase::Finishing);
        sink.finish(|loader| {
            sorted.write_visited(loader)?;
            loader.count_returned(last_game)?;
            if removes {
                self.note_prefixes(loader, last_game, &loader.release_duplicates()?)?;
            }
            self.progress.check()
        })?;
        Ok(restored.count().into())
    }

    /// Reads the games to restore, and passes them to the sink. Uses one thread, because these games are few.
    fn restore_games(&self, sink: &mut AddedPages<'_>, returning: &RestoredGames) -> Result<CountedGames> {
        let mut sequencer = self.sequencer(Takes::Positions)?;
        let standard = Standard::new();
        let mut encoder = sink.encoder();
        let mut scatter = self.scatter();
        let (mut setups, mut batch) = (RecentSetups::default(), GameBatch::default());
        // Each restored game is numbered as if its text were a separate source.
        let mut own = SourceId(0);
        returning.for_each(self.options, |source, rules, byte_offset, text| {
            self.progress.check()?;
            own.0 += 1;
            let comparison = Comparison { rule: rules.duplicates, hash: self.hash.clone() };
            let options = ParseOptions {
                start: &standard.position,
                openings: &self.options.openings,
                annotations: rules.annotations,
                leave_out: rules.leaves_out,
                comparison: &comparison,
                layout: encoder.layout(),
            };
            ChunkParser::new(text, text.len(), own, byte_offset, options).parse_batch(&mut batch);
            record_features(&mut batch, &standard);
            let first = sequencer.number(own, &mut batch)?;
            batch.headers.set_source(source.id);

            sink.small().set_import(source.import);
            batch.headers.evals.drain(..).try_for_each(|row| encoder.push_eval(&row))?;
            sink.headers(&batch.headers)?;
            for_each_position(&batch, first, &standard, encoder.layout(), |view| {
                scatter.push(played_occurrence(&view, &mut setups))?;
                Ok::<_, Error>(encoder.push(&view)?)
            })
        })?;
        if let Some(encoded) = encoder.take(None)? {
            sink.positions(BatchNumber { chunk: 0, batch: 0 }, encoded)?;
        }
        scatter.finish()?;
        Ok(sequencer.counted_games)
    }
}

/// The result of [`optimize`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptimizeSummary {
    /// The number of levels before the run. After the run, there is at most one level.
    pub levels: u64,
    /// The number of games that earlier runs had removed, but whose positions were still in a level.
    pub dropped_games: u64,
    /// The layout to which the database was converted; `None` if the layout was not changed.
    pub converted: Option<Layout>,
    /// Size of the database before the run, in bytes.
    pub bytes_before: u64,
    /// Size of the database after the run, in bytes.
    pub file_bytes: u64,
    /// Free bytes in the database, which additions will reuse.
    pub free_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
}

/// Merges the levels of the database at `target` into one, in one transaction. Look-ups are then as fast as
/// after a single run. The merged level does not contain positions of removed games. If the options name
/// another [layout](IndexOptions::layout), a copy with this layout then replaces the file. If more than a
/// tenth of the file is free at the end, the file is rewritten without its free pages. Rewriting temporarily
/// needs up to twice the size of the file. Options for reading, such as those for duplicates and annotations,
/// are ignored.
///
/// # Errors
/// If the database cannot be written, its tables are inconsistent, or the run is [stopped](Progress::stop).
pub fn optimize(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<OptimizeSummary> {
    const MOST_FREE: u64 = 10;
    let started = Instant::now();
    let bytes_before = file_size(target);
    let lock = WriterLock::acquire(target)?;
    // Each page of the database is written to the log at most once, so the log is hardly larger than the
    // database.
    let [levels, dropped_games] = merge_levels(&lock, options, progress)
        .map_err(|error| error.with_needed_space(Need::UpTo(bytes_before)))?;
    let failed =
        |error, work| after_merge([levels, dropped_games], error, work, "run the same command again");
    let converted =
        convert(lock, options, progress).map_err(|error| failed(error, "converting the database"))?;
    let free_bytes = || Ok::<_, Error>(Database::open_read_only(target)?.free_bytes()?);
    if free_bytes()?.saturating_mul(MOST_FREE) > file_size(target) {
        shrink(target, options, progress).map_err(|error| failed(error, "shrinking the file"))?;
    }
    Ok(OptimizeSummary {
        levels,
        dropped_games,
        converted,
        bytes_before,
        file_bytes: file_size(target),
        free_bytes: free_bytes()?,
        elapsed: started.elapsed(),
    })
}

/// If `options` name another layout, replaces the database with a copy in that layout. Returns the new
/// layout; `None` if the layout is unchanged.
fn convert(lock: WriterLock, options: &IndexOptions, progress: &Progress) -> Result<Option<Layout>> {
    let database = Database::open_read_only(lock.target())?;
    let now = database.layout();
    let Some(layout) = options.layout.filter(|&layout| layout != now) else { return Ok(None) };
    progress.enter(Phase::Finishing);
    let options = BuildOptions { overwrite: true, cache_bytes: options.memory / 4, layout };
    let bytes = file_size(lock.target());
    let needed = match layout {
        Layout::Open => Need::About(bytes.saturating_mul(OPEN_TO_COMPACT)),
        Layout::Compact => Need::UpTo(bytes),
    };
    let failed = |error: store::Error| Error::from(error).with_needed_space(needed);
    let build = Build::converted(&database, lock, options, |connection| progress.watch(connection));
    let build = build.map_err(failed)?;
    drop(database);
    progress.check()?;
    build.finish().map_err(failed)?;
    Ok(Some(layout))
}

/// About how many times larger a database is in the open layout than in the compact one.
const OPEN_TO_COMPACT: u64 = 4;

/// Returns the free pages of a database to the file system: rewrites the file without them. First merges the
/// levels, if they still contain positions of removed games. Returns the new size of the file, in bytes.
///
/// # Errors
/// If the database cannot be written, or the run is [stopped](Progress::stop).
pub fn shrink(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<u64> {
    let lock = WriterLock::acquire(target)?;
    let mut merged = [0; 2];
    if Database::open(lock.target())?.count_levels()?[1] > 0 {
        merged = merge_levels(&lock, options, progress)?;
    }
    let database = Database::open(lock.target())?;
    progress.watch(database.connection());
    keep_temporary_files_in(&directory(options, lock.target()), database.connection())?;
    progress.enter(Phase::Finishing);
    // Up to twice the file's size is needed: for the new file, and for a journal or log while the new file is
    // copied over the old one.
    let bytes = file_size(lock.target());
    database.vacuum().map_err(|error| {
        let error = Error::from(error).with_needed_space(Need::UpTo(2 * bytes));
        after_merge(merged, error, "shrinking the file", "run the same command again")
    })?;
    Ok(file_size(lock.target()))
}
