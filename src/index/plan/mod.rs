//! What a run is asked to do, and the space it needs: the sources are listed, and the sink is chosen.

pub(crate) mod options;
pub(crate) mod space;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;

use crate::index::add;
use crate::index::error::{Error, Result};
use crate::index::plan::options::{IndexOptions, Writer};
use crate::index::plan::space::Estimate;
use crate::index::report::files::Reports;
use crate::index::report::progress::{Phase, Progress};
use crate::index::report::summary::Summary;
use crate::index::run::{Intake, Run};
use crate::index::spill::KeyHash;
use crate::opening::OpeningBook;
use crate::source::{self, DecodeOptions, Opened, SourceFile, Sources};
use crate::store::sink::{FreshPages, FreshRows, Nothing};
use crate::store::{self, Build, BuildOptions, directory_of, keep_temporary_files_in};

/// Indexes PGN files, and directories of them, into a new database: a [`Plan`] made and carried out.
///
/// # Errors
/// Those of [`Plan::new`] and [`Plan::run`].
pub fn index<P: AsRef<Path>>(
    target: &Path,
    paths: &[P],
    options: &IndexOptions,
    progress: &Progress,
) -> Result<Summary> {
    Plan::new(paths, options, progress)?.run(target, progress)
}

/// A run that is about to begin: its sources are listed, and what it will need is estimated.
#[derive(Debug)]
pub struct Plan<'o> {
    pub(crate) sources: Sources,
    pub(crate) options: &'o IndexOptions,
    pub(crate) estimate: Estimate,
    /// How many bits of hashes count: all, but in tests.
    pub(crate) hash_bits: u32,
}

impl<'o> Plan<'o> {
    /// Lists the sources, files and directories of them, and looks into some.
    ///
    /// # Errors
    /// When none of them can be read, or when the run is [stopped](Progress::stop).
    pub fn new<P: AsRef<Path>>(paths: &[P], options: &'o IndexOptions, progress: &Progress) -> Result<Self> {
        progress.enter(Phase::Looking);
        let decode = DecodeOptions { threads: options.threads, memory: options.memory };
        let sources = source::list(paths, decode, progress).ok_or(Error::Stopped)?;
        check_sources(&sources, options)?;
        let estimate = estimate(&sources, options);
        Ok(Self { sources, options, estimate, hash_bits: KeyHash::BITS })
    }

    /// What was left out of the sources given, and why: a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.sources.notes
    }

    /// Indexes the sources into a new database, or adds them to one that is there and is not to be replaced.
    ///
    /// A new one is built in a temporary file beside `target` and takes its place in one step at the end; until then there is
    /// what was there before. Equal sources in equal order give equal tables, whatever the number of threads, the memory,
    /// the chunk size and the writer.
    ///
    /// To an existing database the games of sources are added that are not known to it, in one transaction: readers go on
    /// reading what was there before, until all is there.
    ///
    /// # Errors
    /// When the database cannot be written, when there is clearly too little space for it, or when the run is
    /// [stopped](Progress::stop). Anything wrong within the sources is no error but a row of `problem`, counted in the summary.
    pub fn run(self, target: &Path, progress: &Progress) -> Result<Summary> {
        let length =
            std::fs::metadata(target).ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        if length.is_some_and(|length| length > 0) && !self.options.overwrite {
            return add::run(self, target, progress);
        }
        let started = Instant::now();
        let cache_bytes = (self.options.memory / 8).min(256 << 20);
        let build_options =
            BuildOptions { overwrite: self.options.overwrite || length == Some(0), cache_bytes };
        match Build::create(target, build_options) {
            Ok(build) => {
                self.check_target(target)?;
                self.build(build, progress, started)
            }
            // Another run has made it since we looked.
            Err(store::Error::TargetExists { .. }) => add::run(self, target, progress),
            Err(error) => Err(error.into()),
        }
    }

    /// Fails if the database is one of the sources.
    pub(crate) fn check_target(&self, target: &Path) -> Result<()> {
        let Ok(target) = std::fs::canonicalize(target) else { return Ok(()) };
        let is_target =
            |file: &&SourceFile| std::fs::canonicalize(&file.path).is_ok_and(|path| path == target);
        match self.sources.files.iter().flatten().find(is_target) {
            Some(file) => Err(Error::SourceIsTarget { path: file.path.clone() }),
            None => Ok(()),
        }
    }

    /// Reads and replays all games of the sources and finds what [`run`](Self::run) would find wrong, without a database.
    ///
    /// # Errors
    /// Those of [`run`](Self::run) that come of the sources and of the options on problems.
    pub fn dry_run(self, progress: &Progress) -> Result<Summary> {
        let started = Instant::now();
        let openings = Arc::new(OpeningBook::from_positions(Vec::new()));
        let options = IndexOptions { openings, ..self.options.clone() };
        let text_bytes = self.estimate.text_bytes;
        let estimate = Estimate { text_bytes, ..Estimate::default() };
        let plan = Plan { options: &options, estimate, ..self };
        let intake = Intake::all(&plan.sources);
        progress.enter(Phase::Reading);
        progress.expect(plan.sources.bytes().unwrap_or(0));
        let directory = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let reports = Reports::create(&options, &plan.sources, intake.last_source, None)?;
        let run = Run::new(&plan, intake, progress, started, directory, reports)?;
        let summary = run.fill(Nothing, None)?;
        Ok(Summary { dry_run: true, elapsed: started.elapsed(), ..summary })
    }

    fn build(&self, mut build: Build, progress: &Progress, started: Instant) -> Result<Summary> {
        let (sources, options) = (&self.sources, self.options);
        progress.enter(Phase::Reading);
        progress.expect(sources.bytes().unwrap_or(0));
        progress.estimated(&self.estimate);
        let spill = directory(options, build.path());
        keep_temporary_files_in(&spill, build.connection());
        self.estimate.check(build.path(), &spill)?;
        let intake = Intake::all(sources);
        let reports = Reports::create(options, sources, intake.last_source, Some(build.target()))?;
        let run = Run::new(self, intake, progress, started, spill, reports)?;
        let watch = |connection: &Connection| progress.watch(connection);
        let mut summary = match options.writer {
            Writer::Direct => run.fill(FreshPages::new(&mut build, &watch)?, None)?,
            Writer::Sql => run.fill(FreshRows::new(&build, &watch)?, None)?,
        };
        let syncing = Instant::now();
        let path = build.target().to_owned();
        build.finish()?;
        summary.stages.sync = syncing.elapsed();
        summary.file_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        summary.elapsed = started.elapsed();
        Ok(summary)
    }
}

/// What is to be expected of sources.
pub(crate) fn estimate(sources: &Sources, options: &IndexOptions) -> Estimate {
    Estimate::new(sources, occurrence_memory(options, sources))
}

/// Bytes of memory for occurrences; the rest is for what has no size of its own: buffers, names, SQLite.
pub(crate) fn occurrence_memory(options: &IndexOptions, sources: &Sources) -> u64 {
    let decoding = sources.files.iter().flatten().map(SourceFile::extra_memory).max().unwrap_or(0);
    // A longer window than half of the memory is refused.
    (options.memory - decoding.min(options.memory / 2)) / 4 * 3
}

/// Fails if there is nothing that can be read.
fn check_sources(sources: &Sources, options: &IndexOptions) -> Result<()> {
    let mut reason = None;
    for file in &sources.files {
        let message =
            match file.as_ref().map_err(source::Error::full_message).and_then(|file| check(file, options)) {
                Ok(()) => return Ok(()),
                Err(message) => message,
            };
        reason.get_or_insert(message);
    }
    Err(Error::NoSource(reason.unwrap_or_else(|| {
        "no PGN file was given or found; directories are searched for files ending in .pgn".to_owned()
    })))
}

/// Whether a source can be read, at least its beginning. A stream is not touched.
fn check(file: &SourceFile, options: &IndexOptions) -> std::result::Result<(), String> {
    match source::open(file).map_err(|error| error.full_message())? {
        Opened::Packed(packed) if file.bytes.is_some() => {
            let decode = DecodeOptions { threads: 1, memory: options.memory };
            let mut decoded = packed.decode(decode).map_err(|error| error.full_message())?;
            let mut failure = None;
            while let Err(error) = decoded.read(&mut Vec::new(), 1) {
                failure.get_or_insert_with(|| decoded.describe(&error, 0));
            }
            failure.map_or(Ok(()), |failure| Err(format!("{}: {failure}", file.path.display())))
        }
        _ => Ok(()),
    }
}

/// Where temporary files go.
pub(crate) fn directory(options: &IndexOptions, database: &Path) -> std::path::PathBuf {
    options.temp_dir.clone().unwrap_or_else(|| directory_of(database).to_owned())
}
