//! Builds databases from PGN.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use pgndex::index::{
    Annotations, DatabaseSettings, Duplicates, IndexOptions, OnProblem, ParquetOptions, Plan, Progress,
    Summary,
};
use pgndex::store::Layout;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{bug, of_run, of_store};
use crate::rows::Failure;

/// The time between two reports of the progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// Options of a run, without the files.
#[derive(FromPyObject)]
pub(crate) struct Options {
    threads: Option<usize>,
    memory: Option<u64>,
    temp_dir: Option<PathBuf>,
    overwrite: bool,
    strict: bool,
    on_problem: String,
    duplicates: Option<String>,
    annotations: Option<String>,
    continuation_threshold: Option<u32>,
    layout: Option<String>,
}

impl Options {
    /// Converts to the options of a run. If `duplicates` or `annotations` is not given, uses the setting in `before`.
    fn read(self, before: DatabaseSettings) -> PyResult<IndexOptions> {
        let default = IndexOptions::default();
        let wrong = |name: &str, word: &str, words: &str| {
            PyValueError::new_err(format!("{name}={word:?}: write one of {words}"))
        };
        let (on_problem, most_errors) = match self.on_problem.as_str() {
            "keep" => (OnProblem::Keep, None),
            "skip" => (OnProblem::Skip, None),
            "stop" => (OnProblem::Keep, Some(0)),
            word => return Err(wrong("on_problem", word, "keep, skip, stop")),
        };
        Ok(IndexOptions {
            threads: self.threads.unwrap_or(default.threads),
            memory: self.memory.unwrap_or(default.memory),
            temp_dir: self.temp_dir,
            overwrite: self.overwrite,
            strict: self.strict,
            on_problem,
            most_errors,
            duplicates: self.duplicates.map_or(Ok(before.duplicates), |word| {
                Duplicates::parse(&word).ok_or_else(|| wrong("duplicates", &word, "keep, skip, moves"))
            })?,
            annotations: self.annotations.map_or(Ok(before.annotations), |word| {
                Annotations::parse(&word).ok_or_else(|| wrong("annotations", &word, "all, numbers, none"))
            })?,
            layout: self
                .layout
                .map(|word| Layout::parse(&word).ok_or_else(|| wrong("layout", &word, "open, compact")))
                .transpose()?,
            any_threshold: self.continuation_threshold.is_none(),
            continuation_threshold: self.continuation_threshold.unwrap_or(default.continuation_threshold),
            ..default
        })
    }
}

/// Indexes PGN files into a database, or into Parquet files. Returns the summary as JSON.
#[pyfunction]
pub(crate) fn index(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    target: PathBuf,
    is_parquet: bool,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let overwrite = options.overwrite;
    let before = if overwrite || is_parquet {
        DatabaseSettings::default()
    } else {
        DatabaseSettings::read(&target).map_err(|error| of_store(&error))?
    };
    let options = options.read(before)?;
    let state = Arc::new(Progress::default());
    let of_thread = Arc::clone(&state);
    let (sender, done) = bounded(1);
    let path = target.clone();
    let work = move || {
        let run = || {
            let plan = Plan::new(&paths, &options, &of_thread)?;
            if is_parquet {
                let parquet = ParquetOptions { directory: path, overwrite, ..ParquetOptions::default() };
                plan.write_parquet(&parquet, &of_thread)
            } else {
                plan.run(&path, &of_thread)
            }
        };
        let _ = sender.send(run());
    };
    let thread = std::thread::Builder::new().name("pgndex".to_owned()).spawn(work).map_err(bug)?;
    let mut stopped = None;
    let result: Result<Summary, _> = loop {
        match py.detach(|| done.recv_timeout(INTERVAL)) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Panicked.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stopped.is_none()
            && let Err(error) = py.check_signals().and_then(|()| report(&state, progress.as_ref()))
        {
            state.stop();
            stopped = Some(error);
        }
    };
    py.detach(|| thread.join()).map_err(|_| bug(Failure::Panicked))?;
    match (stopped, result) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(of_run(&error)),
        (None, Ok(summary)) => {
            report(&state, progress.as_ref())?;
            serde_json::to_string(&summary.object(Some(&target))).map_err(bug)
        }
    }
}

/// Reports the progress: phase, bytes done and in total, games, plies.
fn report(state: &Progress, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let numbers = (state.phase().as_str(), state.bytes(), state.total_bytes(), state.games(), state.plies());
    progress.call1(numbers).map(|_| ())
}
