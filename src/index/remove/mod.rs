//! Games taken out of a database.

pub(crate) mod returning;
mod run;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::index::error::{Error, Result};
use crate::index::options::{Duplicates, IndexOptions, Writer};
use crate::index::plan::{Plan, directory};
use crate::index::progress::{Phase, Progress};
use crate::index::remove::returning::Returning;
use crate::index::report::files::Reports;
use crate::index::run::{Intake, Run};
use crate::index::visited_position::decrease::{Decreases, Removed};
use crate::index::visited_position::sorting::Update;
use crate::source::Finder;
use crate::store::pages::BtreeError;
use crate::store::row::{GameId, SourceId};
use crate::store::sink::{AddedPages, AddedRows, LevelRule};
use crate::store::write::remove::{Leaving, Reason, TakenOut};
use crate::store::{
    self, Database, GameFilter, GameSet, HitOrder, ImportId, Known, Need, WriterLock, keep_temporary_files_in,
};

/// What is taken out.
#[derive(Clone, Debug)]
pub enum Removal {
    /// Files, as their paths stand in the database: all their games, and what is noted of them. They can be indexed anew.
    Sources(Vec<PathBuf>),
    /// The games that fit.
    Filter(Box<GameFilter>),
    /// These games. Those that are not there are passed over.
    Games(Vec<GameId>),
}

/// What is left of a run that takes games out.
#[derive(Clone, Debug, Default)]
pub struct RemovalSummary {
    /// Games that went.
    pub games: u64,
    /// Half-moves in them.
    pub plies: u64,
    /// Readings of files that went.
    pub sources: u64,
    /// Games that had been skipped as duplicates of these and are in the database now.
    pub returned: u64,
    /// Games that are still left out as duplicates of these, as their files cannot be read again.
    pub lost: Vec<LostDuplicates>,
    /// Size of the database, in bytes.
    pub file_bytes: u64,
    /// Bytes of it that hold nothing and are used again.
    pub free_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// Transactions that were committed.
    rounds: u32,
    /// Whether games that came back have still to be looked at.
    asks_again: bool,
}

/// Skipped duplicates that could not be brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostDuplicates {
    /// The file that they stand in.
    pub path: PathBuf,
    /// How many there are.
    pub games: u64,
    /// Why it cannot be read.
    pub reason: String,
}

/// Takes games out of the database at `target`, in one transaction: readers go on reading what was there before, until all is done.
/// Of the options, threads, memory, directory of temporary files and writer count.
///
/// A game that was skipped as a duplicate of one that goes comes back, if its file still begins with the text that was indexed. A filter
/// is asked again then: what comes back and fits goes too, in another transaction, and is not counted.
///
/// # Errors
/// When a source is not there ([`Error::UnknownSource`](crate::store::Error::UnknownSource)), the database cannot be written, its tables
/// do not fit each other, or the run is [stopped](Progress::stop).
pub fn remove(
    target: &Path,
    removal: &Removal,
    options: &IndexOptions,
    progress: &Progress,
) -> Result<RemovalSummary> {
    // The log gets each page of the database once.
    let bytes = std::fs::metadata(target).map_or(0, |metadata| metadata.len());
    let mut summary = RemovalSummary::default();
    let removed = take_all(target, removal, options, progress, &mut summary)
        .map_err(|error| error.needing_room(Need::UpTo(bytes)));
    match (removed, summary.rounds) {
        (Ok(()), _) => Ok(summary),
        (Err(error), 0) => Err(error),
        (Err(error), _) => Err(summary.incomplete(error)),
    }
}

/// Notes in the summary what is committed, also if the rest fails.
fn take_all(
    target: &Path,
    removal: &Removal,
    options: &IndexOptions,
    progress: &Progress,
    summary: &mut RemovalSummary,
) -> Result<()> {
    let started = Instant::now();
    let lock = WriterLock::acquire(target)?;
    let database = Database::open(lock.target())?;
    progress.watch(database.connection());
    check_known(lock.target(), progress)?;
    // Also if nothing is to go: a run that was killed may have left a log.
    database.begin_adding(options.memory / 4)?;
    loop {
        let chosen = Chosen::of(&database, removal)?;
        if chosen.games.is_empty() && chosen.sources.is_empty() {
            break;
        }
        let taking = Taking { database: &database, lock: &lock, options, progress };
        let done = match taking.run(&chosen) {
            // A row that somebody wrote need not be one that the pages are known to hold; SQLite tells whether they are damaged.
            Err(Error::Store(store::Error::Pages(BtreeError::Damaged { .. }))) => {
                let options = IndexOptions { writer: Writer::Sql, ..options.clone() };
                Taking { options: &options, ..taking }.run(&chosen)
            }
            done => done,
        }?;
        summary.rounds += 1;
        if summary.rounds == 1 {
            (summary.games, summary.plies, summary.sources) = (done.games, done.plies, done.sources);
        } else {
            // They had come back a moment ago.
            summary.returned = summary.returned.saturating_sub(done.games);
        }
        summary.returned += done.returned;
        summary.lost.extend(done.lost);
        summary.asks_again = matches!(removal, Removal::Filter(_)) && done.returned > 0;
        if !summary.asks_again {
            break;
        }
    }
    summary.asks_again = false;
    database.end_adding()?;
    summary.free_bytes = database.free_bytes()?;
    summary.file_bytes = std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len());
    summary.elapsed = started.elapsed();
    Ok(())
}

/// Fails if the tables are not there, or their counts do not fit each other.
fn check_known(target: &Path, progress: &Progress) -> Result<()> {
    let known = Known::open(target)?;
    progress.watch(known.connection());
    known.check_tables()?;
    Ok(known.check_counts()?)
}

impl RemovalSummary {
    /// What is committed, in a sentence.
    #[must_use]
    pub fn done(&self) -> String {
        match self.games {
            1 => "1 game was removed".to_owned(),
            games => format!("{games} games were removed"),
        }
    }

    /// An error after something was committed.
    fn incomplete(&self, error: Error) -> Error {
        if self.asks_again {
            let done = format!(
                "{}, and {} that had been skipped as duplicates came back",
                self.done(),
                self.returned
            );
            error.after(done, "removing those of them that fit", "run the same command again")
        } else {
            error.after(self.done(), WRITING_BACK, NEXT_RUN)
        }
    }
}

/// The last step of a run that is committed.
const WRITING_BACK: &str = "writing the write-ahead log back into the database";
const NEXT_RUN: &str = "nothing is lost, and the next run does it";

/// Merges the levels of the lock's target into one. Gives back how many there were.
///
/// # Errors
/// Those of [`remove`].
pub(crate) fn merge_levels(lock: &WriterLock, options: &IndexOptions, progress: &Progress) -> Result<u64> {
    let database = Database::open(lock.target())?;
    progress.watch(database.connection());
    check_known(lock.target(), progress)?;
    database.begin_adding(options.memory / 4)?;
    let levels = database.levels()?.len();
    if levels > 1 {
        Taking { database: &database, lock, options, progress }.run(&Chosen::default())?;
    }
    let ended = database.end_adding().map_err(Error::from);
    ended.map_err(|error| match levels {
        0 | 1 => error,
        levels => error.after(merged(levels as u64), WRITING_BACK, NEXT_RUN),
    })?;
    Ok(levels as u64)
}

/// What [`merge_levels`] did, in a sentence.
pub(crate) fn merged(levels: u64) -> String {
    format!("{levels} levels are merged into one")
}

/// Looks what [`remove`] would take out, without doing so. Duplicates that would come back are counted if their files are there; only
/// reading these would tell whether they are as they were.
///
/// # Errors
/// Those of [`remove`].
pub fn removable(target: &Path, removal: &Removal) -> Result<RemovalSummary> {
    let started = Instant::now();
    let database = Database::open_read_only(target)?;
    let chosen = Chosen::of(&database, removal)?;
    let known = Known::open_snapshot(target)?;
    known.check_counts()?;
    let skipped = known.skipped_duplicates(&chosen.games, &chosen.sources)?;
    let (returned, lost) = Returning::look_for(skipped, &Finder::default());
    Ok(RemovalSummary {
        games: chosen.games.len(),
        plies: known.plies_of(&chosen.games)?,
        sources: chosen.sources.len() as u64,
        returned,
        lost,
        file_bytes: std::fs::metadata(target).map_or(0, |metadata| metadata.len()),
        free_bytes: database.free_bytes()?,
        elapsed: started.elapsed(),
        ..RemovalSummary::default()
    })
}

/// What is to be taken out.
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

/// One transaction in which games are taken out. If none are, the levels are merged.
struct Taking<'t> {
    database: &'t Database,
    lock: &'t WriterLock,
    options: &'t IndexOptions,
    progress: &'t Progress,
}

/// What came of it.
struct Taken {
    games: u64,
    plies: u64,
    sources: u64,
    returned: u64,
    lost: Vec<LostDuplicates>,
}

impl Taking<'_> {
    fn run(&self, chosen: &Chosen) -> Result<Taken> {
        let Self { database, lock, options, progress } = *self;
        let Chosen { games, sources } = chosen;
        let target = lock.target();
        progress.enter(Phase::Reading);
        let known = Known::open_snapshot(target)?;
        let skipped = known.skipped_duplicates(games, sources)?;
        let (visited, rows, last_game) = (known.visited_keys()?, known.positions()?, known.last_game()?);
        let plies = known.plies_of(games)?;
        drop(known);
        let returning = Returning::open(skipped, options, progress)?;
        let threshold = database.continuation_threshold()?;
        let options = IndexOptions {
            continuation_threshold: threshold,
            openings: database.opening_book()?.into(),
            duplicates: Duplicates::Moves,
            ..options.clone()
        };
        let spill = directory(&options, target);
        keep_temporary_files_in(&spill, database.connection());
        let plan = Plan::without_sources(&options);
        let reports = Reports::create(&options, &plan.sources, SourceId(0), Some(target))?;
        let intake = Intake {
            starts: returning.starts(),
            import: ImportId(0),
            target: Some(target.to_owned()),
            removed: games.clone(),
            has_known: true,
            ..Intake::all(&plan.sources)
        };
        let run = Run::new(&plan, intake, progress, Instant::now(), spill, reports)?;
        let pool = &run.pool;
        let removed = Removed { target, games, visited: &visited, threshold, pool, progress };
        let decreases = Decreases::of(removed)?;
        let taken_out = TakenOut { sources: sources.clone(), returning: returning.places(), last_game };
        let merges_all = games.is_empty() && taken_out.sources.is_empty();
        let reason = if merges_all { Reason::ReadAgain(&[]) } else { Reason::TakenOut(&taken_out) };
        let leaving = Leaving { games, positions: decreases.positions, threshold, reason };
        let update = Update { visited: &visited, decreases: &decreases, replaced: &[] };
        let rule = LevelRule { rows, small: options.small_level, merges_all };
        let pages = match options.writer {
            Writer::Direct => AddedPages::new(database, lock, options.memory / 8, rule, leaving)?,
            Writer::Sql => None,
        };
        let returned = match pages {
            Some(pages) => run.take_out(pages, &update, &returning, !merges_all)?,
            None => {
                run.take_out(AddedRows::new(database, rule, leaving)?, &update, &returning, !merges_all)?
            }
        };
        let sources = taken_out.sources.len() as u64;
        Ok(Taken { games: games.len(), plies, sources, returned, lost: returning.lost })
    }
}

/// Gives the free pages of a database back to the file system: the file is written anew, without them.
///
/// # Errors
/// When the database cannot be written, or the run is [stopped](Progress::stop).
pub fn shrink(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<u64> {
    let lock = WriterLock::acquire(target)?;
    let database = Database::open(lock.target())?;
    progress.watch(database.connection());
    keep_temporary_files_in(&directory(options, lock.target()), database.connection());
    progress.enter(Phase::Finishing);
    // The new file, and the log that brings it into place.
    let bytes = std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len());
    let vacuum = database.vacuum().map_err(Error::from);
    vacuum.map_err(|error| error.needing_room(Need::UpTo(2 * bytes)))?;
    Ok(std::fs::metadata(lock.target()).map_or(0, |metadata| metadata.len()))
}
