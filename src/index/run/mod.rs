//! A whole run: sources in, finished database out.

pub(crate) mod worker;

use std::collections::BTreeMap;
use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::board::PositionKey;
use crate::index::add;
use crate::index::error::{Error, Result};
use crate::index::game::parse::Standard;
use crate::index::game::problem::Kind;
use crate::index::number::duplicates::Originals;
use crate::index::number::prefixes::Prefixes;
use crate::index::number::sequence::{Numbering, Sequencer, SourceCount, SourceStart, Turnstile};
use crate::index::number::signature::Comparison;
use crate::index::plan::options::{Duplicates, IndexOptions, OnProblem, Writer};
use crate::index::plan::space::Estimate;
use crate::index::read::feed::Feed;
use crate::index::read::stream::{CutOptions, SourceEnd};
use crate::index::report::files::Reports;
use crate::index::report::progress::{Phase, Progress};
use crate::index::report::summary::{DuplicateCounts, ProblemCounts, Stages, Summary};
use crate::index::run::worker::{Destination, Load, Outlet, Shared};
use crate::index::sort::occurrence::Visit;
use crate::index::sort::partition::{Partitions, RECORD};
use crate::index::spill::{KeyHash, SpillMap};
use crate::index::visited::counted_game::Outcomes;
use crate::index::visited::position::{Counter, Crossroads};
use crate::index::visited::rows;
use crate::index::visited::update::{Found, Tracker};
use crate::opening::OpeningBook;
use crate::source::{self, DecodeOptions, Mapped, Opened, SourceFile, Sources};
use crate::store::pages::{LeafWriter, OccurrenceRecord, PageFile, PageNumber, Segment, assemble};
use crate::store::row::{DuplicateKind, GameId, Severity, SourceId};
use crate::store::{
    self, Build, BuildOptions, BulkLoader, ImportId, ImportTotals, Known, LoadMode, NewImport, SourceDigest,
    SourceTotals, directory_of, keep_temporary_files_in,
};

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
        let read = run.read(None, Destination::Nowhere)?;
        run.check_result(&read)?;
        let stages = Stages { read: started.elapsed(), ..Stages::default() };
        Ok(Summary { dry_run: true, stages, elapsed: started.elapsed(), ..run.summary(read) })
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
        let (mut summary, crossroads) = match options.writer {
            Writer::Sql => {
                progress.watch(build.connection());
                let loader = BulkLoader::begin(build.connection(), build.path(), LoadMode::Fresh)?;
                run.load(loader, Way::Rows)?
            }
            Writer::Direct => {
                let roots = Roots::of(&build)?;
                let headers = build.scratch("headers")?;
                progress.watch(headers.connection());
                let (mut summary, crossroads) = build.with_closed(|path| {
                    let file = Arc::new(PageFile::open(path)?);
                    let loader = BulkLoader::begin(headers.connection(), headers.path(), LoadMode::Fresh)?;
                    let loaded = run.load(loader, Way::Pages(&file, roots))?;
                    file.finish()?;
                    Ok::<_, Error>(loaded)
                })?;
                let copying = Instant::now();
                progress.watch(build.connection());
                build.take_rows(headers)?;
                summary.stages.headers += copying.elapsed();
                (summary, crossroads)
            }
        };
        let clock = Instant::now();
        let mut loader = BulkLoader::begin(build.connection(), build.path(), LoadMode::Append)?;
        rows::write(crossroads, &mut loader)?;
        if options.duplicates != Duplicates::Keep {
            summary.duplicates.add(DuplicateKind::Prefix, run.note_prefixes(&loader, GameId(0), &[])?);
        }
        loader.finish()?;
        summary.stages.continuations = clock.elapsed();
        progress.check()?;
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
fn occurrence_memory(options: &IndexOptions, sources: &Sources) -> u64 {
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

/// Root pages of the two big tables.
#[derive(Clone, Copy)]
pub(crate) struct Roots {
    game_position: PageNumber,
    position_game: PageNumber,
}

impl Roots {
    fn of(build: &Build) -> Result<Self> {
        Ok(Self {
            game_position: build.root_page("game_position")?,
            position_game: build.root_page("position_game")?,
        })
    }
}

/// How the big tables are written.
#[derive(Clone, Copy)]
pub(crate) enum Way<'f> {
    /// As pages that are built directly, into the trees they belong to.
    Pages(&'f Arc<PageFile>, Roots),
    /// Through SQL, into empty tables.
    Rows,
    /// Through SQL, into tables that have rows.
    Added(&'f Update<'f>),
}

/// What is to be brought up to date in a database that is added to.
#[derive(Clone, Copy)]
pub(crate) struct Update<'u> {
    /// The keys of the positions that have their continuations counted.
    pub(crate) visited: &'u [PositionKey],
    /// How many games a position must have been reached by for that.
    pub(crate) threshold: u32,
    /// Keys of the positions of games that are removed: these are counted afresh.
    pub(crate) removed: &'u [PositionKey],
    /// Games whose duplicates are given to those that were read in their place.
    pub(crate) replaced: &'u [Replaced],
}

impl Update<'_> {
    pub(crate) fn tracker<'o>(&self, outcomes: &'o Outcomes) -> Tracker<'o> {
        Tracker::new(self.visited.iter().copied(), self.removed.iter().copied(), outcomes, self.threshold)
    }
}

/// A game that was removed, and where its text is read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    pub(crate) game: GameId,
    pub(crate) source: SourceId,
    pub(crate) byte_offset: u64,
}

/// What is to be read, and how it is numbered.
#[derive(Debug)]
pub(crate) struct Intake<'s> {
    pub(crate) sources: &'s Sources,
    /// Of each source.
    pub(crate) starts: Vec<SourceStart>,
    /// The greatest source id there is.
    pub(crate) last_source: SourceId,
    /// The id of this run.
    pub(crate) import: ImportId,
    /// The database that is added to.
    pub(crate) target: Option<PathBuf>,
    /// Games that it no longer has.
    pub(crate) removed: Vec<GameId>,
    /// Whether there were other sources, all of which it has.
    pub(crate) has_known: bool,
}

impl<'s> Intake<'s> {
    /// All of some sources, into a new database.
    fn all(sources: &'s Sources) -> Self {
        let starts = vec![SourceStart::default(); sources.files.len()];
        let (last_source, import) = (SourceId(0), ImportId(1));
        Self { sources, starts, last_source, import, target: None, removed: Vec::new(), has_known: false }
    }

    fn ids(&self) -> impl Iterator<Item = SourceId> {
        (self.last_source.0 + 1..).map(SourceId)
    }
}

pub(crate) struct Run<'r> {
    pub(crate) intake: Intake<'r>,
    options: &'r IndexOptions,
    pub(crate) progress: &'r Progress,
    started: Instant,
    pub(crate) pool: ThreadPool,
    pub(crate) partitions: Partitions,
    /// The directory of temporary files.
    directory: PathBuf,
    hash: KeyHash,
    reports: Mutex<Reports>,
}

/// What sorting gave.
struct Sorted {
    distinct: u64,
    crossroads: Vec<Crossroads>,
}

/// What reading the sources gave.
pub(crate) struct ReadResult {
    counts: Vec<SourceCount>,
    pub(crate) outcomes: Outcomes,
    ends: Vec<SourceEnd>,
    /// The leaves of `game_position` in order, where they are built directly.
    pub(crate) segments: Vec<Segment>,
    tally: Tally,
    /// The game before the first that was read.
    last_game: GameId,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        plan: &'r Plan<'_>,
        intake: Intake<'r>,
        progress: &'r Progress,
        started: Instant,
        directory: std::path::PathBuf,
        reports: Reports,
    ) -> Result<Self> {
        let Plan { options, estimate, .. } = plan;
        let pool = ThreadPoolBuilder::new()
            .num_threads(
                options.threads_for(intake.sources.bytes().map_or(u64::MAX, |_| estimate.text_bytes)),
            )
            .thread_name(|index| format!("worker-{index}"))
            .build()
            .map_err(Error::Threads)?;
        // A stream may bring anything: enough partitions for a large one.
        const LARGE: u64 = 100_000_000;
        let unknown = if intake.sources.bytes().is_none() { LARGE } else { 0 };
        let expected = estimate.plies + estimate.games + unknown;
        let memory = occurrence_memory(options, intake.sources);
        // They are merged with rows that are there, side by side, and somebody may ask to stop between them.
        let least = if intake.target.is_some() { 64 * Partitions::RECORDS } else { 0 };
        let partitions = Partitions::new(expected.max(least), memory, directory.clone())?;
        let reports = Mutex::new(reports);
        let hash = KeyHash::new(plan.hash_bits);
        Ok(Self { intake, options, progress, started, pool, partitions, directory, hash, reports })
    }

    /// Fills all tables, those that are not built directly through `loader`, and commits. Gives back also the crossroads that are
    /// still to be written.
    pub(crate) fn load(
        &self,
        mut loader: BulkLoader<'_>,
        way: Way<'_>,
    ) -> Result<(Summary, Vec<Crossroads>)> {
        self.begin(&mut loader)?;
        let mut stages = Stages::default();
        let clock = Instant::now();
        let destination = match way {
            Way::Pages(file, _) => Destination::Pages(file),
            Way::Rows | Way::Added(_) => Destination::Rows,
        };
        let mut read = self.read(Some(&mut loader), destination)?;
        stages.read = clock.elapsed();
        self.check_result(&read)?;
        self.progress.enter(Phase::Sorting);
        let clock = Instant::now();
        let sorted = match way {
            Way::Pages(file, roots) => std::thread::scope(|scope| {
                let (segments, outcomes) = (std::mem::take(&mut read.segments), &read.outcomes);
                let built = scope.spawn(move || self.build_trees(file, roots, segments, outcomes));
                // Meanwhile, in another file:
                loader.make_indexes()?;
                built.join().map_err(|_| Error::Panicked)?
            })?,
            Way::Rows => self.append_occurrences(&mut loader, &read.outcomes)?,
            Way::Added(update) => {
                let tracker = update.tracker(&read.outcomes);
                let found = self.add_occurrences(&mut loader, &tracker)?;
                let distinct = found.distinct;
                tracker.finish(found, self, &mut loader)?;
                Sorted { distinct, crossroads: Vec::new() }
            }
        };
        let Sorted { distinct: distinct_positions, crossroads } = sorted;
        stages.sort = clock.elapsed();
        let clock = Instant::now();
        let replaced = if let Way::Added(update) = way { update.replaced } else { &[] };
        let mut summary = self.complete(&mut loader, read, distinct_positions, replaced)?;
        loader.finish()?;
        stages.headers = clock.elapsed();
        summary.stages = stages;
        Ok((summary, crossroads))
    }

    /// Writes what can be told only when all rows are there: the ends of sources, duplicates of a database that is added to, the
    /// row of the run.
    pub(crate) fn complete(
        &self,
        loader: &mut BulkLoader<'_>,
        read: ReadResult,
        distinct_positions: u64,
        replaced: &[Replaced],
    ) -> Result<Summary> {
        self.progress.enter(Phase::Finishing);
        self.finish_sources(loader, &read.counts, &read.ends)?;
        let last_game = read.last_game;
        let mut summary = Summary { distinct_positions, ..self.summary(read) };
        if self.intake.target.is_some() {
            let prefixes = self.settle_duplicates(loader, replaced, last_game)?;
            summary.duplicates.add(DuplicateKind::Prefix, prefixes);
        }
        loader.finish_import(&ImportTotals {
            games: summary.games,
            plies: summary.plies,
            positions: summary.positions,
            distinct_positions,
            problems: summary.problems.iter().map(|(.., count)| count).sum(),
            duplicates: summary.duplicates.skipped(),
            elapsed: self.started.elapsed(),
        })?;
        Ok(summary)
    }

    /// What reading tells of the run.
    fn summary(&self, read: ReadResult) -> Summary {
        let total = |count: fn(&SourceCount) -> u64| read.counts.iter().map(count).sum::<u64>();
        let (games, plies) = (total(|count| count.games), total(|count| count.plies));
        Summary {
            games,
            left_out: total(|count| count.left_out),
            plies,
            threads: self.pool.current_num_threads(),
            positions: games - read.tally.skipped + plies,
            variants: read.tally.variants,
            problems: read.tally.problems,
            duplicates: read.tally.duplicates,
            unreadable: read.tally.unreadable,
            damaged: read.tally.damaged,
            gameless: read.tally.gameless,
            added: self.intake.target.is_some(),
            bytes: self.text_read(&read.ends),
            spilled_bytes: self.partitions.spilled(),
            ..Summary::default()
        }
    }

    /// Completes the duplicates of a database that is added to. Gives back how many prefixes were found.
    fn settle_duplicates(
        &self,
        loader: &BulkLoader<'_>,
        replaced: &[Replaced],
        last_game: GameId,
    ) -> Result<u64> {
        let mut freed = Vec::new();
        for &Replaced { game, source, byte_offset } in replaced {
            freed.extend(loader.move_duplicates(game, last_game, source, byte_offset)?);
        }
        match self.options.duplicates {
            Duplicates::Keep => Ok(0),
            Duplicates::Skip | Duplicates::Moves => self.note_prefixes(loader, last_game, &freed),
        }
    }

    /// Finds the games that break off and are whole elsewhere, as [`Prefixes`] does.
    fn note_prefixes(&self, loader: &BulkLoader<'_>, last: GameId, freed: &[GameId]) -> Result<u64> {
        let keys = SpillMap::new(self.options.memory / 16, self.directory.clone());
        Prefixes::new(keys, self.hash.clone(), last, self.progress).note(loader, freed)
    }

    /// Fails if what was read is not to become a database: before the rest of the work.
    pub(crate) fn check_result(&self, read: &ReadResult) -> Result<()> {
        let Tally { unreadable, problems, .. } = &read.tally;
        let is_all = unreadable.len() == self.intake.sources.files.len() && !self.intake.has_known;
        if let Some(reason) = unreadable.first().filter(|_| is_all) {
            // They could be read a moment ago: no reason to replace a database by an empty one.
            return Err(Error::NoSource(reason.clone()));
        }
        let (errors, warnings) = (problems.of(Severity::Error), problems.of(Severity::Warning));
        if self.options.strict && errors + warnings > 0 {
            return Err(Error::Strict { errors, warnings });
        }
        Ok(())
    }

    pub(crate) fn begin(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        // Only what the tables depend on: not threads, memory and the like.
        let openings = self.options.openings.digest();
        let options = serde_json::json!({
            "strict": self.options.strict,
            "duplicates": self.options.duplicates.as_str(),
            "on_problem": self.options.on_problem.as_str(),
            "continuation_threshold": self.options.continuation_threshold,
            "openings": openings,
        });
        loader.add_import(&NewImport {
            id: self.intake.import,
            program_version: env!("CARGO_PKG_VERSION"),
            options: &options.to_string(),
        })?;
        if self.intake.target.is_none() {
            loader.add_setting("continuation_threshold", self.options.continuation_threshold)?;
            loader.add_setting("openings", openings)?;
            loader.add_openings(&self.options.openings)?;
        }
        for (id, file) in self.intake.ids().zip(&self.intake.sources.files) {
            let (path, first_byte) = match file {
                Ok(file) => (file.path.as_path(), file.first_byte),
                Err(error) => (error.path(), 0),
            };
            loader.add_source(id, path, first_byte)?;
        }
        Ok(())
    }

    fn finish_sources(
        &self,
        loader: &mut BulkLoader<'_>,
        counts: &[SourceCount],
        ends: &[SourceEnd],
    ) -> Result<()> {
        for ((id, count), &SourceEnd { bytes, digest, is_damaged }) in self.intake.ids().zip(counts).zip(ends)
        {
            loader.finish_source(
                id,
                &SourceTotals {
                    bytes,
                    digest,
                    is_damaged,
                    games: count.games,
                    plies: count.plies,
                    problems: count.problems,
                    duplicates: count.duplicates,
                    last_game: count.last_game,
                },
            )?;
        }
        Ok(())
    }

    /// Reads all sources: workers parse and replay, this thread writes what they hand it, if there is a `loader`.
    pub(crate) fn read(
        &self,
        mut loader: Option<&mut BulkLoader<'_>>,
        destination: Destination<'_>,
    ) -> Result<ReadResult> {
        let numbering = if loader.is_some() { Numbering::All } else { Numbering::Places };
        let shared = Shared {
            feed: Mutex::new(Feed::new(self.intake.sources, self.intake.last_source, self.cut_options())),
            sequencer: Mutex::new(self.sequencer(numbering)?),
            turn: Turnstile::default(),
            append_turn: Turnstile::default(),
            partitions: &self.partitions,
            scatter_bytes: self.scatter_bytes(),
            standard: Standard::new(),
            openings: &self.options.openings,
            progress: self.progress,
            reports: &self.reports,
            leave_out: self.options.on_problem == OnProblem::Skip,
            comparison: self.comparison(numbering),
            segments: Mutex::default(),
        };
        let (loads, load_queue) = crossbeam_channel::bounded(2 * self.pool.current_num_threads() + 2);
        let (headers_back, empty_headers) = crossbeam_channel::unbounded();
        let (positions_back, empty_positions) = crossbeam_channel::unbounded();
        let outlet = Outlet { loads, empty_headers, empty_positions };
        let mut tally = Tally::default();
        let digests = std::thread::scope(|scope| {
            let digests = (numbering == Numbering::All).then(|| scope.spawn(|| self.digests(&shared)));
            let workers = scope.spawn(|| {
                let outlet = outlet;
                let results = self.pool.broadcast(|_| shared.work(&outlet, destination));
                first_failure(results)
            });
            let written = load_queue.iter().try_for_each(|load| {
                match load {
                    Load::Headers(mut batch) => {
                        tally.count(&batch);
                        loader.as_mut().map_or(Ok(()), |loader| loader.append_headers(&batch))?;
                        batch.clear();
                        let _ = headers_back.send(batch);
                    }
                    Load::Positions(mut batch) => {
                        loader.as_mut().map_or(Ok(()), |loader| loader.append_positions(&batch))?;
                        batch.clear();
                        let _ = positions_back.send(batch);
                    }
                }
                Ok::<_, Error>(())
            });
            if written.is_err() {
                shared.stop();
            }
            drop(load_queue);
            let worked = workers.join().map_err(|_| Error::Panicked)?;
            let digests =
                digests.map_or(Ok(Vec::new()), ScopedJoinHandle::join).map_err(|_| Error::Panicked)?;
            // The writer's error is the cause of the workers' being stopped, if it has one.
            written.and(worked).map(|()| digests)
        })?;
        let sequencer = shared.sequencer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut segments = shared.segments.into_inner().unwrap_or_else(PoisonError::into_inner);
        segments.sort_by_key(|&(chunk, part, _)| (chunk, part));
        let feed = shared.feed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ends = feed.ends.into_iter().zip(digests.into_iter().chain(std::iter::repeat(None)));
        Ok(ReadResult {
            counts: sequencer.sources,
            last_game: sequencer.outcomes.before(),
            outcomes: sequencer.outcomes,
            ends: ends
                .enumerate()
                .map(|(index, (end, digested))| self.end_of(index, end, digested))
                .collect(),
            segments: segments.into_iter().map(|(_, _, segment)| segment).collect(),
            tally,
        })
    }

    fn cut_options(&self) -> CutOptions {
        let threads = self.pool.current_num_threads();
        let most = usize::try_from(self.options.memory / 8 / threads as u64).unwrap_or(usize::MAX);
        CutOptions {
            chunk_size: self.options.chunk_size,
            most_in_memory: most.clamp(4 << 20, 32 << 20),
            directory: self.directory.clone(),
            decode: DecodeOptions { threads, memory: self.options.memory },
        }
    }

    /// PGN text that was read, in bytes.
    fn text_read(&self, ends: &[SourceEnd]) -> u64 {
        let files = self.intake.sources.files.iter();
        let first = files.map(|file| file.as_ref().map_or(0, |file| file.first_byte));
        ends.iter().zip(first).map(|(end, first)| end.bytes.unwrap_or(0).saturating_sub(first)).sum()
    }

    fn sequencer(&self, numbering: Numbering) -> Result<Sequencer> {
        let Intake { starts, last_source, target, removed, .. } = &self.intake;
        let known = target.as_deref().map(Known::open).transpose()?;
        let memory = self.options.memory / 16;
        let originals = Originals::new(self.comparison(numbering), removed, memory, &self.directory);
        let (ids, hash) = (SpillMap::new(memory, self.directory.clone()), self.hash.clone());
        Sequencer::new(numbering, starts.clone(), *last_source, known, originals, ids, hash)
    }

    /// What games are compared by, if they are.
    fn comparison(&self, numbering: Numbering) -> Comparison {
        let rule = match numbering {
            Numbering::All => self.options.duplicates,
            Numbering::Places => Duplicates::Keep,
        };
        Comparison { rule, hash: self.hash.clone() }
    }

    /// The digests of all plain files that can be read, and of how many bytes they are; those of other sources are made where they
    /// are decoded.
    fn digests(&self, shared: &Shared<'_>) -> Vec<Option<(u64, SourceDigest)>> {
        let of = |path: &Path| {
            let map = Mapped::open(path).ok()?;
            let is_stopped = || self.progress.is_stopped() || shared.turn.is_stopped();
            let bytes = map.bytes().len();
            Some((bytes as u64, digest(&map, bytes, is_stopped)?))
        };
        let file =
            |file: &source::Result<SourceFile>| of(&file.as_ref().ok().filter(|file| file.is_plain())?.path);
        self.intake.sources.files.iter().map(file).collect()
    }

    /// The end of a plain file with its digest, which is made again if the file grew between the two looks at it.
    fn end_of(&self, index: usize, end: SourceEnd, digested: Option<(u64, SourceDigest)>) -> SourceEnd {
        let again = |bytes: u64| {
            let map = Mapped::open(&self.intake.sources.files[index].as_ref().ok()?.path).ok()?;
            let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= map.bytes().len())?;
            digest(&map, bytes, || self.progress.is_stopped())
        };
        let made = match (digested, end.bytes) {
            (Some((bytes, digest)), Some(read)) if bytes == read => Some(digest),
            (Some(_), Some(read)) => again(read),
            _ => None,
        };
        SourceEnd { digest: end.digest.or(made), ..end }
    }

    /// Memory for each worker's blocks: 8 MiB, or less where that would be much of what is allowed.
    fn scatter_bytes(&self) -> usize {
        const BYTES: u64 = 8 << 20;
        (self.options.memory / 8 / self.pool.current_num_threads() as u64).min(BYTES) as usize
    }

    /// Records of a partition that are sorted at once.
    pub(crate) fn sorted_at_once(&self) -> usize {
        let bytes = self.options.memory / 8 / self.pool.current_num_threads() as u64;
        usize::try_from(bytes).unwrap_or(usize::MAX).max(1 << 20) / RECORD
    }

    /// Completes the two big tables, of which `game_position` has its leaves already.
    fn build_trees(
        &self,
        file: &Arc<PageFile>,
        roots: Roots,
        segments: Vec<Segment>,
        outcomes: &Outcomes,
    ) -> Result<Sorted> {
        let (occurrences, sorted) = self.build_occurrences(file, outcomes)?;
        assemble(file, roots.game_position, segments)?;
        assemble(file, roots.position_game, occurrences)?;
        Ok(sorted)
    }

    /// Builds the leaves of `position_game`, a segment a partition.
    fn build_occurrences(&self, file: &Arc<PageFile>, outcomes: &Outcomes) -> Result<(Vec<Segment>, Sorted)> {
        let build = |writer: &mut LeafWriter, index| {
            let sorted = self.drain(index, outcomes, |piece| {
                piece.iter().try_for_each(|row| Ok(writer.push(&OccurrenceRecord(row.occurrence()))?))
            })?;
            Ok((writer.finish_segment()?, sorted))
        };
        let built: Vec<(Segment, Sorted)> = self.pool.install(|| {
            (0..self.partitions.len())
                .into_par_iter()
                .map_init(|| LeafWriter::new(Arc::clone(file)), build)
                .collect::<Result<_>>()
        })?;
        let (segments, sorted): (Vec<_>, Vec<_>) = built.into_iter().unzip();
        Ok((segments, sorted.into_iter().sum()))
    }

    /// Writes `position_game` through SQL.
    fn append_occurrences(&self, loader: &mut BulkLoader<'_>, outcomes: &Outcomes) -> Result<Sorted> {
        let mut rows = Vec::new();
        (0..self.partitions.len())
            .map(|index| {
                self.drain(index, outcomes, |piece| {
                    rows.clear();
                    rows.extend(piece.iter().map(|visit| visit.occurrence()));
                    Ok(loader.append_occurrences(&rows)?)
                })
            })
            .sum()
    }

    /// Adds to `position_game` through SQL.
    pub(crate) fn add_occurrences(
        &self,
        loader: &mut BulkLoader<'_>,
        tracker: &Tracker<'_>,
    ) -> Result<Found> {
        let mut rows = Vec::new();
        let mut watch = tracker.watch();
        for index in 0..self.partitions.len() {
            self.partitions.drain_sorted(index, self.sorted_at_once(), |piece| {
                self.progress.check()?;
                rows.clear();
                rows.extend(piece.iter().map(|visit| visit.occurrence()));
                loader.append_occurrences(&rows)?;
                piece.chunk_by(|a, b| a.key() == b.key()).try_for_each(|run| {
                    watch.see(run, |threshold, _| Ok(loader.has_visits(run[0].key(), threshold)?))
                })
            })?;
        }
        Ok(watch.end())
    }

    /// Shows `sink` all visits of a partition, sorted, and counts them by position.
    fn drain(
        &self,
        index: usize,
        outcomes: &Outcomes,
        mut sink: impl FnMut(&[Visit]) -> Result<()>,
    ) -> Result<Sorted> {
        let mut counter = Counter::new(outcomes, self.options.continuation_threshold);
        self.partitions.drain_sorted(index, self.sorted_at_once(), |piece| {
            self.progress.check()?;
            counter.see(piece);
            sink(piece)
        })?;
        let (distinct, crossroads) = counter.finish();
        Ok(Sorted { distinct, crossroads })
    }
}

impl Sum for Sorted {
    /// What sorting all partitions gave, in their order.
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self { distinct: 0, crossroads: Vec::new() }, |mut all, part| {
            all.distinct += part.distinct;
            all.crossroads.extend(part.crossroads);
            all
        })
    }
}

/// The digest of the first `end` bytes of a file; `None` if `is_stopped` says so.
fn digest(map: &Mapped, end: usize, is_stopped: impl Fn() -> bool) -> Option<SourceDigest> {
    const BLOCK: usize = 1 << 20;
    let mut hasher = blake3::Hasher::new();
    for (index, block) in map.bytes()[..end].chunks(BLOCK).enumerate() {
        if is_stopped() {
            return None;
        }
        hasher.update(block);
        map.release(index * BLOCK..index * BLOCK + block.len());
    }
    Some(SourceDigest(*hasher.finalize().as_bytes()))
}

/// The first error that is not the consequence of another.
fn first_failure(results: Vec<Result<()>>) -> Result<()> {
    let (stopped, failed): (Vec<Error>, Vec<Error>) =
        results.into_iter().filter_map(Result::err).partition(|error| matches!(error, Error::Stopped));
    failed.into_iter().chain(stopped).next().map_or(Ok(()), Err)
}

/// What the writer counts as it goes.
#[derive(Default)]
struct Tally {
    problems: ProblemCounts,
    unreadable: Vec<String>,
    damaged: Vec<String>,
    skipped: u64,
    duplicates: DuplicateCounts,
    variants: BTreeMap<String, u64>,
    gameless: Vec<String>,
}

impl Tally {
    fn count(&mut self, batch: &crate::store::row::HeaderBatch) {
        use crate::store::row::GameStatus;
        for problem in &batch.problems {
            self.problems.add(problem.severity, problem.kind);
            let message = || problem.message.of(&batch.text).to_owned();
            if problem.kind == Kind::UnreadableSource.as_str() {
                self.unreadable.push(message());
            } else if problem.kind == Kind::DamagedArchive.as_str() {
                self.damaged.push(message());
            } else if problem.kind == Kind::NoGame.as_str() {
                self.gameless.push(message());
            } else if problem.kind == Kind::UnsupportedVariant.as_str() {
                self.count_variant(problem.token.map_or("", |token| token.of(&batch.text)));
            }
        }
        batch.duplicates.iter().for_each(|duplicate| self.duplicates.add(duplicate.kind, 1));
        self.skipped += batch.games.iter().filter(|game| game.status == GameStatus::Skipped).count() as u64;
    }

    fn count_variant(&mut self, name: &str) {
        /// Any text can be a name: garbage must not fill the memory.
        const MOST: usize = 100;
        let is_known = self.variants.len() < MOST || self.variants.contains_key(name);
        *self.variants.entry(if is_known { name } else { "others" }.to_owned()).or_default() += 1;
    }
}
