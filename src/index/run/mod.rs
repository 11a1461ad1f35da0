//! Executes a run: reads the sources and writes rows through a sink.

pub(crate) mod read;
pub(crate) mod worker;
mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::id::{ImportId, SourceId};
use crate::index::number::{SourceCount, SourceStart};
use crate::index::plan::{Plan, occurrence_memory};
use crate::index::read::SourceEnd;
use crate::index::visited_position::CountedGames;
use crate::index::{Error, IndexOptions, KeyHash, PlayedOccurrence, Progress, Reports, Result, Summary};
use crate::parallel::lock;
use crate::sort::{Partitions, Scatter};
use crate::source::{self, Sources};
use crate::store::row::Severity;
use crate::store::sink::Sink;
use crate::store::{GameSet, SourceTotals};

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
    /// Whether other sources were ignored because the database already has their texts.
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
}

pub(crate) struct ReadResult {
    pub(crate) counts: Vec<SourceCount>,
    pub(crate) counted_games: CountedGames,
    pub(crate) ends: Vec<SourceEnd>,
    /// The parts of the summary that are counted while reading, and the time that reading took.
    pub(crate) counted: Summary,
}

impl ReadResult {
    /// The totals of each source.
    pub(crate) fn totals(&self) -> impl Iterator<Item = SourceTotals> {
        self.counts.iter().zip(&self.ends).map(|(count, end)| {
            let &SourceEnd { bytes, digest, is_damaged } = end;
            SourceTotals { bytes, digest, is_damaged, ..count.totals }
        })
    }
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

    pub(crate) fn read_all<S: Sink>(&self, sink: &mut S) -> Result<ReadResult> {
        let clock = Instant::now();
        let mut read = self.read(sink)?;
        read.counted.stages.read = clock.elapsed();
        self.check_result(&read)?;
        Ok(read)
    }

    /// Summarizes what the run has read.
    pub(crate) fn summary(&self, read: &ReadResult) -> Summary {
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

    /// The memory of each worker, in bytes: all workers share an eighth of the memory limit.
    pub(crate) fn memory_of_worker(&self) -> usize {
        let share = self.options.memory / 8 / self.pool.current_num_threads() as u64;
        usize::try_from(share).unwrap_or(usize::MAX)
    }

    /// Buffers for the unsorted occurrences of a worker, of at most 8 MiB.
    pub(crate) fn scatter(&self) -> Scatter<'_, PlayedOccurrence> {
        const BYTES: usize = 8 << 20;
        Scatter::new(&self.partitions, self.memory_of_worker().min(BYTES))
    }

    /// The existing database that the run changes. Panics in a run for a new database.
    pub(crate) fn target(&self) -> &Path {
        self.intake.target.as_deref().expect("a run on an existing database")
    }
}
