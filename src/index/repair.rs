//! Rebuilds the data that is derived from games and their positions.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::board::KeySet;
use crate::index::plan::{Plan, directory};
use crate::index::run::{Intake, Run};
use crate::index::visited_position::{CountedGames, Decreases, ReachedPositions, Tracker, Update, rows};
use crate::index::{
    Error, IndexOptions, PREFIX_PLIES, Phase, Progress, Reports, Result, pairing_hash, prefix_hash,
};
use crate::store::row::{GameId, SourceId};
use crate::store::{
    Build, BulkLoader, Database, GameSet, Need, RepairCounts, WriterLock, keep_temporary_files_in,
};

/// The result of a repair.
#[derive(Clone, Debug, Default)]
pub struct RepairSummary {
    /// How many rows, names and sources were removed, changed or added.
    pub counts: RepairCounts,
    /// The number of games whose hash of players, date and first moves was changed.
    pub hashes: u64,
    /// The number of positions whose counts were rebuilt.
    pub visited_positions: u64,
    /// The first games with missing or surplus positions. The repair leaves these games as they are.
    pub broken: Vec<GameId>,
    /// Size of the database, in bytes.
    pub file_bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
}

/// The maximum number of games in [`RepairSummary::broken`].
const MOST_BROKEN: u32 = 1000;

/// Makes the tables of the database at `target` consistent after changes by other programs. Rebuilds the data
/// that is derived from `game`, `game_position` and the tables of annotations, and removes rows of missing
/// games. Works on a copy, which replaces the target at the end; readers see the old state until then.
///
/// # Errors
/// If the database cannot be read or written, or the run is [stopped](Progress::stop).
pub fn repair(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<RepairSummary> {
    let bytes = std::fs::metadata(target).map_or(0, |metadata| metadata.len());
    repair_rows(target, options, progress).map_err(|error| error.with_needed_space(Need::About(bytes)))
}

fn repair_rows(target: &Path, options: &IndexOptions, progress: &Progress) -> Result<RepairSummary> {
    let started = Instant::now();
    progress.enter(Phase::Reading);
    let lock = WriterLock::acquire(target)?;
    let database = Database::open_read_only(lock.target())?;
    progress.watch(database.connection());
    let mut build = Build::copy_of(&database, lock, options.memory / 4)?;
    drop(database);
    progress.watch(build.connection());
    let spill = directory(options, build.target());
    keep_temporary_files_in(&spill, build.connection())?;
    let mut summary = RepairSummary { counts: build.repair_rows()?, ..RepairSummary::default() };
    progress.check()?;
    summary.broken = build.broken_games(MOST_BROKEN)?;
    summary.hashes = build.set_prefix_hashes(PREFIX_PLIES, |start, [white, black], date, codes| {
        prefix_hash(start.0, codes, pairing_hash(white, black, date))
    })?;
    progress.enter(Phase::Sorting);
    let threshold = build.continuation_threshold()?;
    let keys = build.keys_with(threshold)?;
    // The recount reads the file through other connections, so this connection must be closed during the
    // recount.
    build.close()?;
    let options = IndexOptions { continuation_threshold: threshold, ..options.clone() };
    let counted = {
        let plan = Plan::without_sources(&options);
        let reports = Reports::create(&options, &plan.sources, SourceId(0), Some(build.target()))?;
        let intake = Intake::all(&plan.sources);
        let run = Run::new(&plan, intake, progress, started, spill, reports)?;
        let (games, none) = (CountedGames::new(GameId(1)), GameSet::default());
        let sorting = run.sorting(&games);
        let (visited, decreases) = (KeySet::default(), Decreases::default());
        let update = Update { visited: &visited, decreases: &decreases, replaced: &[] };
        let fens = ReachedPositions::default();
        let tracker = Tracker::new(sorting, update, &fens, build.path(), &none);
        tracker.recount_keys(keys)?
    };
    build.reopen()?;
    progress.watch(build.connection());
    progress.enter(Phase::Finishing);
    summary.visited_positions = counted.len() as u64;
    let mut loader = BulkLoader::begin(build.connection(), build.path())?;
    rows::write(counted, &mut loader)?;
    loader.finish()?;
    progress.check()?;
    let path = build.target().to_owned();
    build.finish().map_err(Error::from)?;
    summary.file_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    summary.elapsed = started.elapsed();
    Ok(summary)
}
