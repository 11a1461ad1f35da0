//! Rebuilds the data that is derived from games and their positions.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::index::plan::{Plan, directory};
use crate::index::run::{Intake, Run};
use crate::index::visited_position::{CountedGames, Decreases, LevelOccurrences};
use crate::index::{
    Error, IndexOptions, PREFIX_PLIES, Phase, Progress, Reports, Result, pairing_hash, prefix_hash,
};
use crate::store::row::GameId;
use crate::store::space::file_size;
use crate::store::{
    Build, BulkLoader, Database, Need, RepairCounts, Snapshot, WriterLock, keep_temporary_files_in,
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
    let bytes = file_size(target);
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
    summary.hashes = build.set_prefix_hashes(PREFIX_PLIES as u32, |start, [white, black], date, codes| {
        prefix_hash(start.0, codes, pairing_hash(white, black, date))
    })?;
    progress.enter(Phase::Sorting);
    let threshold = build.continuation_threshold()?;
    // The file is read through other connections, so this connection must be closed meanwhile.
    build.close()?;
    let known = Snapshot::open(build.path())?;
    let (last_game, merged) = (known.last_game()?, known.positions()?);
    drop(known);
    let options = IndexOptions { continuation_threshold: threshold, ..options.clone() };
    let plan = Plan::without_sources(&options);
    let intake = Intake { target: Some(build.path().to_owned()), merged, ..Intake::all(&plan.sources) };
    let run = Run::new(&plan, intake, progress, started, spill, Reports::default())?;
    let (mut games, none) = (CountedGames::new(last_game), Decreases::default());
    let level = run.level_to_write(&mut games, true)?;
    build.reopen()?;
    progress.watch(build.connection());
    progress.enter(Phase::Finishing);
    let loader = BulkLoader::begin(build.connection(), build.path())?;
    let sorted = LevelOccurrences::new(&run, level, &games, &none);
    if let Some(level) = level {
        loader.insert_level(level, &sorted)?;
    }
    summary.visited_positions = sorted.visited();
    sorted.write_visited(&loader)?;
    loader.finish()?;
    progress.check()?;
    let path = build.target().to_owned();
    build.finish().map_err(Error::from)?;
    summary.file_bytes = file_size(&path);
    summary.elapsed = started.elapsed();
    Ok(summary)
}
