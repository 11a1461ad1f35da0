//! Reads tables directly from PGN.

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Sender, bounded};
use pgndex::columnar::{PositionChoice, StreamQuery};
use pgndex::index::{IndexOptions, OnProblem, Plan, Progress};
use pgndex::query::Sample;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{bug, of_question, of_run};
use crate::filter::filter;
use crate::rows::{Failure, Item, Rows, Source, WAITING};

/// The size of a chunk of PGN text, in bytes.
const CHUNK_SIZE: usize = 512 << 10;

/// Reads rows of a table from the games in some files.
#[pyfunction]
#[pyo3(signature = (paths, table, columns=None, games=None, *, threads=None, memory=None, strict=false, skip_errors=false,
    range=None, shard=0, plies=None, evaluated=false, sample=None, seed=0, per_game=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn read(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    table: &str,
    columns: Option<Vec<String>>,
    games: Option<&Bound<'_, PyDict>>,
    threads: Option<usize>,
    memory: Option<u64>,
    strict: bool,
    skip_errors: bool,
    range: Option<(u64, u64)>,
    shard: u32,
    plies: Option<(u32, u32)>,
    evaluated: bool,
    sample: Option<u64>,
    seed: u64,
    per_game: Option<u32>,
) -> PyResult<Rows> {
    let games = filter(games)?;
    let question = StreamQuery::new(table, columns.as_deref())
        .and_then(|question| question.with_filter(games))
        .and_then(|question| question.with_positions(choice(plies, evaluated, sample, seed, per_game)))
        .map_err(|error| of_question(&error))?
        .in_shard(shard);
    let mut options = IndexOptions { most_errors: strict.then_some(0), ..IndexOptions::default() };
    // Small chunks save memory: the batches that all threads build are in memory at the same time.
    options.chunk_size = CHUNK_SIZE;
    options.threads = threads.unwrap_or(options.threads);
    options.memory = memory.unwrap_or(options.memory);
    if skip_errors {
        options.on_problem = OnProblem::Skip;
    }
    let range = range.map(|(start, end)| start..end);
    py.detach(|| start(paths, question, options, range))
}

/// Which positions to return: a range of plies, only evaluated positions, a sample with a total size and a size per
/// game.
pub(crate) fn choice(
    plies: Option<(u32, u32)>,
    evaluated: bool,
    sample: Option<u64>,
    seed: u64,
    per_game: Option<u32>,
) -> PositionChoice {
    let plies = plies.map_or(0..=u32::MAX, |(first, last)| first..=last);
    let is_drawn = sample.is_some() || per_game.is_some();
    let sample = is_drawn.then(|| Sample {
        positions: sample.unwrap_or(u64::MAX),
        per_game: per_game.unwrap_or(Sample::MOST_PER_GAME).min(Sample::MOST_PER_GAME),
        seed,
    });
    PositionChoice { plies, evaluated, sample }
}

/// Starts reading in a thread. Waits until the files are found, so that an error in their paths is raised now.
fn start(
    paths: Vec<PathBuf>,
    question: StreamQuery,
    options: IndexOptions,
    range: Option<Range<u64>>,
) -> PyResult<Rows> {
    let schema = question.schema();
    let progress = Arc::new(Progress::default());
    let (sender, items) = bounded(WAITING);
    let (planned, plan) = bounded(1);
    let of_thread = Arc::clone(&progress);
    let work = move || {
        let plan = match Plan::new(&paths, &options, &of_thread) {
            Ok(plan) => plan,
            Err(error) => {
                let _ = planned.send(Err(error));
                return;
            }
        };
        let _ = planned.send(Ok(()));
        let plan = match &range {
            Some(range) => plan.with_range(range),
            None => plan,
        };
        run(plan, question, &of_thread, &sender);
    };
    let thread = std::thread::Builder::new().name("pgndex".to_owned()).spawn(work).map_err(bug)?;
    let stop = Box::new(move || progress.stop());
    let source = Source { schema, items, stop, thread: Some(thread), is_done: false };
    match plan.recv() {
        Ok(Ok(())) => Ok(Rows::new(source)),
        Ok(Err(error)) => Err(of_run(&error)),
        Err(_) => Err(bug(Failure::Panicked)),
    }
}

fn run(plan: Plan<'_>, question: StreamQuery, progress: &Progress, sender: &Sender<Item>) {
    let take = |batch| match sender.send(Ok(batch)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    if let Err(error) = plan.stream(question, take, progress) {
        // If reading was stopped, this error is not received.
        let _ = sender.send(Err(error.into()));
    }
}
