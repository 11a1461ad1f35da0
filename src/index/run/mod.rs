//! Executes a run: reads the sources and writes rows through a sink.

pub(crate) mod read;
pub(crate) mod worker;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::id::{GameId, ImportId, Level, SourceId};
use crate::index::number::{Prefixes, SourceCount, SourceStart};
use crate::index::plan::{Plan, occurrence_memory};
use crate::index::read::SourceEnd;
use crate::index::visited_position::{CountedGames, Decreases, LevelOccurrences, Sorting};
use crate::index::{
    Annotations, Duplicates, Error, IndexOptions, KeyHash, Phase, PlayedOccurrence, Progress, Reports,
    Result, SpillMap, Summary,
};
use crate::parallel::lock;
use crate::sort::Partitions;
use crate::source::{self, SourceFile, Sources, TextEncoding};
use crate::store::row::{DuplicateKind, Severity};
use crate::store::sink::{AddedPages, KeepingSink, NewRun, RunTotals, Sink};
use crate::store::write::duplicate::Replaced;
use crate::store::write::level::level_for;
use crate::store::{BulkLoader, GameSet, ImportTotals, Snapshot, SourceTotals};

/// What to read, and with which ids the run continues.
#[derive(Debug)]
pub(crate) struct Intake<'s> {
    pub(crate) sources: &'s Sources,
    /// For each source, how many games and lines precede the first byte to read.
    pub(crate) starts: Vec<SourceStart>,
    /// The greatest existing source id; 0 if there is none.
    pub(crate) last_source: SourceId,
    /// The id of this run.
    pub(crate) import: ImportId,
    /// The existing database that the run changes, or whose stored games it reads.
    pub(crate) target: Option<PathBuf>,
    /// The existing database, or the existing directory of Parquet files, that the run replaces.
    pub(crate) replaced: Option<PathBuf>,
    /// Games that the run removes from the database.
    pub(crate) removed: GameSet,
    /// The approximate number of stored occurrences that the run writes again.
    pub(crate) merged: u64,
    /// Whether other sources were ignored because the database already has their texts. Also set for
    /// removals, which read no sources.
    pub(crate) has_known: bool,
}

impl<'s> Intake<'s> {
    /// An intake that reads the sources completely, for a new database.
    pub(crate) fn all(sources: &'s Sources) -> Self {
        let starts = vec![SourceStart::default(); sources.files.len()];
        let (last_source, import) = (SourceId(0), ImportId(1));
        Self {
            sources,
            starts,
            last_source,
            import,
            target: None,
            replaced: None,
            removed: GameSet::default(),
            merged: 0,
            has_known: false,
        }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = SourceId> {
        (self.last_source.0 + 1..).map(SourceId)
    }
}

pub(crate) struct ReadResult {
    pub(crate) counts: Vec<SourceCount>,
    pub(crate) counted_games: CountedGames,
    pub(crate) ends: Vec<SourceEnd>,
    /// The parts of the summary that are counted while reading, and the time that reading took.
    pub(crate) counted: Summary,
}

pub(crate) struct Run<'r> {
    pub(crate) intake: Intake<'r>,
    pub(crate) options: &'r IndexOptions,
    pub(crate) progress: &'r Progress,
    started: Instant,
    pub(crate) pool: ThreadPool,
    pub(crate) partitions: Partitions<PlayedOccurrence>,
    /// The directory for temporary files.
    directory: PathBuf,
    pub(crate) hash: KeyHash,
    reports: Mutex<Reports>,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        plan: &'r Plan<'_>,
        intake: Intake<'r>,
        progress: &'r Progress,
        started: Instant,
        directory: PathBuf,
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
        // The size of a stream is unknown, so create enough partitions for a large stream.
        const LARGE: u64 = 100_000_000;
        let unknown = if intake.sources.bytes().is_none() { LARGE } else { 0 };
        let expected = estimate.plies + estimate.games + unknown + intake.merged;
        let memory = occurrence_memory(options, intake.sources);
        // Partitions are sorted in parallel, and the run can stop between two of them. So create at least 64
        // for a run on an existing database, even if few occurrences are expected.
        let least = if intake.target.is_some() { 64 * Partitions::<PlayedOccurrence>::RECORDS } else { 0 };
        let partitions = Partitions::new(expected.max(least), memory, directory.clone())?;
        let reports = Mutex::new(reports);
        let hash = KeyHash::new(plan.hash_bits);
        Ok(Self { intake, options, progress, started, pool, partitions, directory, hash, reports })
    }

    /// Reads the sources into a sink that writes no file.
    pub(crate) fn read_into<S: Sink>(&self, mut sink: S) -> Result<Summary> {
        Ok(self.summary(&self.read_all(&mut sink)?))
    }

    /// Writes everything through `sink`: reads the sources, sorts the occurrences, and completes all tables.
    pub(crate) fn fill(&self, mut sink: impl KeepingSink) -> Result<Summary> {
        sink.begin(&self.new_run())?;
        let read = self.read_all(&mut sink)?;
        let (sorting, none) = (self.sorting(Some(Level::FIRST), &read.counted_games), Decreases::default());
        self.complete(sink, &read, &LevelOccurrences::new(sorting, &none), &[])
    }

    /// Like [`fill`](Self::fill), but adds everything to an existing database. `decreases` are the changes
    /// that removing games makes to the visited positions. `replaced` lists the removed games, and where each
    /// of them is read again.
    pub(crate) fn add(
        &self,
        mut sink: AddedPages<'_>,
        decreases: &Decreases,
        replaced: &[Replaced],
    ) -> Result<Summary> {
        sink.begin(&self.new_run())?;
        let mut read = self.read_all(&mut sink)?;
        let clock = Instant::now();
        let level = self.level_to_write(&mut read.counted_games, false)?;
        read.counted.stages.read += clock.elapsed();
        let sorting = self.sorting(level, &read.counted_games);
        self.complete(sink, &read, &LevelOccurrences::new(sorting, decreases), replaced)
    }

    /// Chooses the level to write in the target. With `merges_all`, this is the first level, which then has
    /// all games. Otherwise, returns `None` if `games` has no new games. If the level also has stored games,
    /// adds their occurrences to the partitions, and the games to `games`.
    pub(crate) fn level_to_write(&self, games: &mut CountedGames, merges_all: bool) -> Result<Option<Level>> {
        let target = self.intake.target.as_deref().expect("a run on an existing database");
        let known = Snapshot::open_snapshot(target)?;
        let (last, count) = (games.before(), games.count());
        let level = if merges_all {
            Level::FIRST
        } else if count == 0 {
            return Ok(None);
        } else {
            let levels: Vec<Level> = known.levels()?.into_iter().map(|games| games.level).collect();
            level_for(&levels, GameId(last.0.saturating_add(1)), count, self.options.small_level)
        };
        let first = GameId(level.0);
        if first <= last {
            games.insert_stored(self.scatter_stored(&known, [first, last])?);
        }
        Ok(Some(level))
    }

    fn read_all<S: Sink>(&self, sink: &mut S) -> Result<ReadResult> {
        let clock = Instant::now();
        let mut read = self.read(sink)?;
        read.counted.stages.read = clock.elapsed();
        self.check_result(&read)?;
        Ok(read)
    }

    /// Writes the data that is known only after all games have been read. The duplicates of the `replaced`
    /// games are reassigned to the games that were read from the same places.
    fn complete(
        &self,
        mut sink: impl KeepingSink,
        read: &ReadResult,
        sorted: &LevelOccurrences<'_>,
        replaced: &[Replaced],
    ) -> Result<Summary> {
        let last_game = read.counted_games.before();
        self.progress.enter(Phase::Sorting);
        let clock = Instant::now();
        sink.occurrences(sorted)?;
        let mut summary = Summary { distinct_positions: sorted.distinct(), ..self.summary(read) };
        summary.stages.sort = clock.elapsed();
        self.progress.enter(Phase::Finishing);
        let clock = Instant::now();
        sink.end(&self.totals(read, &summary))?;
        summary.stages.headers = clock.elapsed();
        let clock = Instant::now();
        self.progress.check()?;
        let linked = sink.finish(sorted, |loader| {
            let mut freed = Vec::new();
            for replaced in replaced {
                freed.extend(loader.move_duplicates(replaced, last_game)?);
            }
            let keeps = self.options.duplicates == Duplicates::Keep;
            let linked = if keeps { 0 } else { self.note_prefixes(loader, last_game, &freed)? };
            self.progress.check().map(|()| linked)
        })?;
        summary.duplicates.add(DuplicateKind::Prefix, linked);
        summary.stages.continuations = clock.elapsed();
        Ok(summary)
    }

    /// The data for the run's row in `import` and for the rows of its sources. Options that do not affect the
    /// tables, such as threads and memory, are not included.
    fn new_run(&self) -> NewRun<'_> {
        let options = serde_json::json!({
            "strict": self.options.strict,
            "duplicates": self.options.duplicates.as_str(),
            "annotations": self.options.annotations.as_str(),
            "encoding": self.options.encoding.map(TextEncoding::name),
            "on_problem": self.options.on_problem.as_str(),
            "continuation_threshold": self.options.continuation_threshold,
            "openings": self.options.openings.digest(),
        });
        let source = |(id, file): (SourceId, &'r source::Result<SourceFile>)| match file {
            Ok(file) => (id, file.path.as_path(), file.range().map_or(file.first_byte, |range| range.start)),
            Err(error) => (id, error.path(), 0),
        };
        NewRun {
            import: self.intake.import,
            options: options.to_string(),
            continuation_threshold: self.options.continuation_threshold,
            openings: &self.options.openings,
            settings: [
                (Duplicates::SETTING, self.options.duplicates.as_str()),
                (Annotations::SETTING, self.options.annotations.as_str()),
                (TextEncoding::SETTING, TextEncoding::name_or_auto(self.options.encoding)),
            ],
            sources: self.intake.ids().zip(&self.intake.sources.files).map(source).collect(),
        }
    }

    /// The totals that complete the run's row in `import` and the rows of its sources.
    fn totals(&self, read: &ReadResult, summary: &Summary) -> RunTotals {
        let sources = self.intake.ids().zip(&read.counts).zip(&read.ends);
        let source = |((id, count), end): ((SourceId, &SourceCount), &SourceEnd)| {
            let &SourceEnd { bytes, digest, is_damaged } = end;
            (id, SourceTotals { bytes, digest, is_damaged, ..count.totals })
        };
        RunTotals {
            sources: sources.map(source).collect(),
            import: ImportTotals {
                games: summary.games,
                plies: summary.plies,
                positions: summary.positions,
                distinct_positions: summary.distinct_positions,
                problems: summary.problems.iter().map(|(.., count)| count).sum(),
                duplicates: summary.duplicates.skipped(),
                elapsed: self.started.elapsed(),
            },
        }
    }

    /// Summarizes what the run has read.
    fn summary(&self, read: &ReadResult) -> Summary {
        let total = |count: fn(&SourceCount) -> u64| read.counts.iter().map(count).sum::<u64>();
        Summary {
            games: total(|count| count.totals.games),
            left_out: total(|count| count.left_out),
            plies: total(|count| count.totals.plies),
            threads: self.pool.current_num_threads(),
            first_errors: lock(&self.reports).first_errors.clone(),
            added: self.intake.target.is_some(),
            bytes: self.text_read(&read.ends),
            spilled_bytes: self.partitions.spilled(),
            ..read.counted.clone()
        }
    }

    /// Records games of which the database has a longer version. See [`Prefixes`].
    pub(crate) fn note_prefixes(
        &self,
        loader: &BulkLoader<'_>,
        last: GameId,
        freed: &[GameId],
    ) -> Result<u64> {
        let keys = SpillMap::new(SpillMap::share_of(self.options.memory), self.directory.clone());
        Prefixes::new(keys, self.hash.clone(), last, self.progress).note(loader, freed)
    }

    /// Fails if what was read must not be written to the database. Called before occurrences are sorted.
    pub(crate) fn check_result(&self, read: &ReadResult) -> Result<()> {
        let Summary { unreadable, damaged, gameless, problems, .. } = &read.counted;
        let is_all = unreadable.len() == self.intake.sources.files.len() && !self.intake.has_known;
        if let Some(reason) = unreadable.first().filter(|_| is_all) {
            // At least one source could be read when the run was planned, but none could be read now. Without
            // this error, an empty database could replace an existing one.
            return Err(Error::NoSource(reason.clone()));
        }
        let (errors, warnings) = (problems.of(Severity::Error), problems.of(Severity::Warning));
        if self.options.strict && errors + warnings > 0 {
            let first = lock(&self.reports).first.clone().unwrap_or_default();
            return Err(Error::Strict { first, errors, warnings });
        }
        if let Some(target) = &self.intake.replaced
            && self.options.must_have_games
            && read.counts.iter().all(|count| count.totals.games + count.left_out == 0)
        {
            let reason = unreadable.iter().chain(damaged).chain(gameless).next().cloned();
            return Err(Error::NoGame { target: target.clone(), reason });
        }
        self.check_contents(read)
    }

    /// Fails if a source has fewer games or bytes than [required](IndexOptions::at_least).
    fn check_contents(&self, read: &ReadResult) -> Result<()> {
        if self.options.at_least.is_empty() {
            return Ok(());
        }
        let mut contents: HashMap<&Path, (u64, u64)> = HashMap::new();
        for ((file, count), end) in self.intake.sources.files.iter().zip(&read.counts).zip(&read.ends) {
            let path = file.as_ref().map_or_else(source::Error::path, |file| &file.path);
            let (games, bytes) = contents.entry(path).or_default();
            // A zip archive can contain two files with the same name.
            *games += count.games_found();
            *bytes = end.bytes.unwrap_or(0).max(*bytes);
        }
        for had in &self.options.at_least {
            let (games, bytes) = contents.get(had.path.as_path()).copied().unwrap_or_default();
            if games < had.games || had.bytes.is_some_and(|had| bytes < had) {
                return Err(Error::Shrunk { had: had.clone(), games, bytes });
            }
        }
        Ok(())
    }

    pub(crate) fn sorting<'s>(
        &'s self,
        level: Option<Level>,
        counted_games: &'s CountedGames,
    ) -> Sorting<'s> {
        let bytes = self.options.memory / 8 / self.pool.current_num_threads() as u64;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(1 << 20);
        Sorting {
            level,
            partitions: &self.partitions,
            at_once: bytes / size_of::<PlayedOccurrence>(),
            threshold: self.options.continuation_threshold,
            counted_games,
            progress: self.progress,
            pool: &self.pool,
        }
    }

    /// The memory for each worker's unsorted occurrences, in bytes: the worker's share of an eighth of the
    /// memory limit, but at most 8 MiB.
    pub(crate) fn scatter_bytes(&self) -> usize {
        const BYTES: u64 = 8 << 20;
        (self.options.memory / 8 / self.pool.current_num_threads() as u64).min(BYTES) as usize
    }
}
