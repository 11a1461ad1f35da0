//! Writes Parquet files instead of a database, or passes rows to a caller while games are read.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::RecordBatch;

use crate::columnar::{
    LeastRanks, Output, ParquetFiles, PartitionBy, RankSink, StreamQuery, StreamSink, Totals, WriteOptions,
    Writer, WrittenBy, file_bytes,
};
use crate::index::plan::Plan;
use crate::index::run::{Intake, Run};
use crate::index::{Annotations, Error, Estimate, IndexOptions, Phase, Progress, Reports, Result, Summary};
use crate::opening::OpeningBook;

/// The output directory for Parquet files, and how games are distributed to the files.
#[derive(Clone, Debug, Default)]
pub struct ParquetOptions {
    /// The output directory.
    pub directory: PathBuf,
    /// A number that distinguishes this run from other runs, so that their files can be used together. The
    /// number is the upper half of each `game_id`.
    pub shard: u32,
    /// The part of the date by which games are partitioned into directories.
    pub partition_by: PartitionBy,
    /// Whether the run or a later job writes the tables that are sorted by key.
    pub by_key: WrittenBy,
    /// Whether existing files of this shard may be replaced.
    pub overwrite: bool,
}

impl Plan<'_> {
    /// Indexes the sources into Parquet files. They contain the tables of a new database, except tables that
    /// are specific to SQLite.
    ///
    /// The files are renamed when all of them are complete, and the manifest is written last: a shard with a
    /// manifest is complete. The same sources in the same order give the same files, whatever the
    /// number of threads and the memory limit.
    ///
    /// # Errors
    /// The same errors as [`run`](Self::run), about the Parquet files instead of a database. Also fails if
    /// there are existing files that must not be replaced.
    pub fn write_parquet(self, parquet: &ParquetOptions, progress: &Progress) -> Result<Summary> {
        let started = Instant::now();
        let options = self.options;
        let output = Output::create(&parquet.directory, parquet.shard, parquet.overwrite)?;
        let replaced = output.has_files().then(|| parquet.directory.clone());
        let temp_dir = options.temp_dir.clone().unwrap_or_else(|| parquet.directory.clone());
        progress.enter(Phase::Reading);
        progress.expect(self.sources.bytes().unwrap_or(0));
        let estimate = self.parquet_estimate();
        estimate.check(&parquet.directory.join("game"), &temp_dir)?;
        let intake = Intake { replaced, ..Intake::all(&self.sources) };
        let reports = Reports::create(options, &self.sources, intake.last_source, None)?;
        let run = Run::new(&self, intake, progress, started, temp_dir.clone(), reports)?;
        progress.estimated(&estimate);
        let write = WriteOptions {
            partition_by: parquet.partition_by,
            continuation_threshold: options.continuation_threshold,
            by_key: parquet.by_key,
            memory: options.memory / 4 * 3,
            temp_dir,
        };
        let is_stopped = || progress.is_stopped();
        let sink = ParquetFiles::new(Writer::new(output, write, &is_stopped)?, &options.openings);
        let summary = run.fill_files(sink).map_err(|error| self.needing(error, &estimate))?;
        Ok(Summary { elapsed: started.elapsed(), ..summary })
    }

    /// Reads the sources and passes the requested rows to `take`, in the order of the games, until `take`
    /// returns [`Break`](ControlFlow::Break).
    ///
    /// Rows and batches do not depend on the number of threads. Duplicate games are included. To sample a
    /// limited number of positions, the sources are read twice.
    ///
    /// # Errors
    /// Errors of [`run`](Self::run) about the sources; [`Error::Stopped`] if `take` returns `Break`;
    /// [`Error::ReadOnce`] if a source must be read twice, but can be read only once.
    pub fn stream(
        self,
        query: StreamQuery,
        take: impl FnMut(RecordBatch) -> ControlFlow<()>,
        progress: &Progress,
    ) -> Result<Summary> {
        let started = Instant::now();
        let options = options_for(&query, self.options);
        let estimate = Estimate { text_bytes: self.estimate.text_bytes, ..Estimate::default() };
        let plan = Plan { options: &options, estimate, ..self };
        let bytes = plan.sources.bytes();
        progress.enter(Phase::Reading);
        let query = match query.drawn() {
            None => {
                progress.expect(bytes.unwrap_or(0));
                query
            }
            Some(drawn) => {
                progress.expect(2 * bytes.ok_or(Error::ReadOnce)?);
                let mut ranks = LeastRanks::new(drawn);
                plan.read_into(RankSink::new(query.clone(), &options.openings, &mut ranks), progress)?;
                let Some(last) = ranks.last() else { return Ok(Summary::default()) };
                query.up_to(last)
            }
        };
        let summary = plan.read_into(StreamSink::new(query, &options.openings, take), progress)?;
        Ok(Summary { elapsed: started.elapsed(), ..summary })
    }

    /// The expected output of the run.
    fn parquet_estimate(&self) -> Estimate {
        /// Bytes per ply: a move code in one temporary file, and a record to sort in another.
        const SCRATCH_A_PLY: u64 = 4 + 20;
        let Estimate { games, plies, text_bytes, .. } = self.estimate;
        let memory = self.options.memory / 4 * 3;
        let database_bytes = file_bytes(games, plies);
        let spill_bytes = plies.saturating_mul(SCRATCH_A_PLY).saturating_sub(memory);
        Estimate { games, plies, text_bytes, database_bytes, spill_bytes, ..Estimate::default() }
    }
}

impl Run<'_> {
    /// Reads the sources and writes all Parquet files.
    fn fill_files(&self, mut sink: ParquetFiles<'_>) -> Result<Summary> {
        let read = self.read_all(&mut sink)?;
        self.progress.enter(Phase::Sorting);
        let clock = Instant::now();
        sink.write_positions(&self.pool)?;
        let mut summary = self.summary(&read);
        summary.stages.sort = clock.elapsed();
        self.progress.enter(Phase::Finishing);
        for ((id, path, first_byte), totals) in self.sources().zip(read.totals()) {
            sink.add_source(id, path, first_byte, &totals)?;
        }
        self.progress.check()?;
        let clock = Instant::now();
        let Totals { distinct_positions, files, bytes, spilled_bytes, .. } = sink.finish()?;
        summary.stages.continuations = clock.elapsed();
        Ok(Summary { distinct_positions, parquet_files: files, file_bytes: bytes, spilled_bytes, ..summary })
    }
}

/// The options with which a run reads only what the requested rows need.
fn options_for(query: &StreamQuery, options: &IndexOptions) -> IndexOptions {
    let openings = if query.needs_openings() {
        Arc::clone(&options.openings)
    } else {
        Arc::new(OpeningBook::new(Vec::new()))
    };
    let annotations = if query.needs_annotations() {
        Annotations::All
    } else if query.needs_numbers() {
        Annotations::Numbers
    } else {
        Annotations::None
    };
    IndexOptions { openings, annotations, ..options.clone() }
}
