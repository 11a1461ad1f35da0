//! Runs a [`Plan`]: builds a new database, adds games to an existing database, or performs a dry run.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;

use crate::index::plan::{Plan, directory};
use crate::index::run::{Intake, Run};
use crate::index::sink::FreshPages;
use crate::index::{Estimate, IndexOptions, Phase, Progress, Reports, Result, Summary, add};
use crate::opening::OpeningBook;
use crate::store::sink::{NullSink, Sink};
use crate::store::space::file_size;
use crate::store::write::alias::write_player_aliases;
use crate::store::{self, Build, BuildOptions, ErrorKind, Layout, keep_temporary_files_in};

/// Indexes PGN files, and directories of PGN files, into a new or existing database. Creates a [`Plan`] and
/// runs it.
///
/// # Errors
/// The errors of [`Plan::new`] and [`Plan::run`].
pub fn index<P: AsRef<Path>>(
    target: &Path,
    paths: &[P],
    options: &IndexOptions,
    progress: &Progress,
) -> Result<Summary> {
    Plan::new(paths, options, progress)?.run(target, progress)
}

impl Plan<'_> {
    /// Indexes the sources into a new database, or adds them to an existing database that is not to be
    /// replaced.
    ///
    /// A new database is built in a temporary file beside `target` and renamed at the end; until then
    /// `target` is unchanged. The same sources in the same order give the same tables, except for times. The
    /// number of threads, the memory limit and the chunk size have no influence.
    ///
    /// Games are added to an existing database in one transaction. Readers see the old state until the
    /// transaction is committed.
    ///
    /// # Errors
    /// If the database cannot be written, if there is clearly not enough space for it, if no source can be
    /// read, if the options do not fit the database, if the sources contain less than the options require, or
    /// if the run is [stopped](Progress::stop). Each problem within the sources becomes a row of `problem`,
    /// and is counted in the summary. It is an error only if the options make it one.
    pub fn run(self, target: &Path, progress: &Progress) -> Result<Summary> {
        let (estimate, is_all_known) = (self.estimate, self.sources.bytes().is_some());
        self.write(target, progress).map_err(|error| error.needing(&estimate, is_all_known))
    }

    fn write(self, target: &Path, progress: &Progress) -> Result<Summary> {
        let length =
            std::fs::metadata(target).ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        if length.is_some_and(|length| length > 0) && !self.options.overwrite {
            return add::run(self, target, progress);
        }
        let started = Instant::now();
        let cache_bytes = (self.options.memory / 8).min(256 << 20);
        let overwrite = self.options.overwrite || length == Some(0);
        let layout = self.options.layout.unwrap_or_default();
        let build_options = BuildOptions { overwrite, cache_bytes, layout };
        match Build::create(target, build_options) {
            Ok(build) => {
                self.check_target(target)?;
                self.build(build, progress, started)
            }
            // Another run has created the database since the file was examined above.
            Err(store::Error::File { kind: ErrorKind::TargetExists, .. }) => add::run(self, target, progress),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads and replays all games of the sources. Finds the same problems as [`run`](Self::run) finds for a
    /// new database, but writes no database.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run) that concern the sources or the options for problems.
    pub fn dry_run(self, progress: &Progress) -> Result<Summary> {
        let started = Instant::now();
        let openings = Arc::new(OpeningBook::new(Vec::new()));
        let options = IndexOptions { openings, ..self.options.clone() };
        let text_bytes = self.estimate.text_bytes;
        let estimate = Estimate { text_bytes, ..Estimate::default() };
        let plan = Plan { options: &options, estimate, ..self };
        progress.enter(Phase::Reading);
        progress.expect(plan.sources.bytes().unwrap_or(0));
        let summary = plan.read_into(NullSink, progress)?;
        Ok(Summary { dry_run: true, elapsed: started.elapsed(), ..summary })
    }

    /// Reads all games of the sources into a sink that writes no file.
    pub(crate) fn read_into<S: Sink>(&self, mut sink: S, progress: &Progress) -> Result<Summary> {
        let intake = Intake::all(&self.sources);
        let directory = self.options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let reports = Reports::create(self.options, &self.sources, intake.last_source, None)?;
        let run = Run::new(self, intake, progress, Instant::now(), directory, reports)?;
        Ok(run.summary(&run.read_all(&mut sink)?))
    }

    fn build(&self, mut build: Build, progress: &Progress, started: Instant) -> Result<Summary> {
        let (sources, options) = (&self.sources, self.options);
        progress.enter(Phase::Reading);
        progress.expect(sources.bytes().unwrap_or(0));
        let spill = directory(options, build.path());
        keep_temporary_files_in(&spill, build.connection())?;
        match build.layout() {
            Layout::Open => self.estimate.check_open(build.path(), &spill)?,
            Layout::Compact => self.estimate.check(build.path(), &spill)?,
        }
        let target = Some(build.target()).filter(|target| file_size(target) > 0);
        let intake = Intake { replaced: target.map(Path::to_owned), ..Intake::all(sources) };
        let reports = Reports::create(options, sources, intake.last_source, Some(build.target()))?;
        let run = Run::new(self, intake, progress, started, spill.clone(), reports)?;
        progress.estimated(&self.estimate);
        let watch = |connection: &Connection| progress.watch(connection);
        let mut summary = run.fill(FreshPages::new(&mut build, &watch, &spill, run.intake.import)?)?;
        if !options.player_aliases.is_empty() {
            write_player_aliases(build.connection(), build.path(), &options.player_aliases)?;
        }
        let syncing = Instant::now();
        let path = build.target().to_owned();
        build.finish()?;
        summary.stages.sync = syncing.elapsed();
        summary.file_bytes = file_size(&path);
        summary.elapsed = started.elapsed();
        Ok(summary)
    }
}
