//! Rows for somebody who takes them while games are read, instead of a database.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::RecordBatch;

use crate::columnar::{StreamQuestion, StreamSink};
use crate::index::error::Result;
use crate::index::estimate::Estimate;
use crate::index::options::{Annotations, IndexOptions};
use crate::index::plan::Plan;
use crate::index::progress::{Phase, Progress};
use crate::index::report::files::Reports;
use crate::index::report::summary::Summary;
use crate::index::run::{Intake, Run};
use crate::opening::OpeningBook;

impl Plan<'_> {
    /// Reads the sources and hands the rows that are asked for to `take`, in the order of the games, until it breaks off.
    ///
    /// Rows and batches do not depend on the number of threads. Games that repeat others are among them.
    ///
    /// # Errors
    /// Those of [`run`](Self::run) that come of the sources; [`Error::Stopped`](crate::index::Error::Stopped) if `take` breaks off.
    pub fn stream(
        self,
        question: StreamQuestion,
        take: impl FnMut(RecordBatch) -> ControlFlow<()>,
        progress: &Progress,
    ) -> Result<Summary> {
        let started = Instant::now();
        let openings = if question.needs_openings() {
            Arc::clone(&self.options.openings)
        } else {
            Arc::new(OpeningBook::from_positions(Vec::new()))
        };
        let annotations = if question.needs_annotations() {
            Annotations::All
        } else if question.needs_numbers() {
            Annotations::Numbers
        } else {
            Annotations::None
        };
        let options = IndexOptions { openings, annotations, ..self.options.clone() };
        let text_bytes = self.estimate.text_bytes;
        let estimate = Estimate { text_bytes, ..Estimate::default() };
        let plan = Plan { options: &options, estimate, ..self };
        let intake = Intake::all(&plan.sources);
        progress.enter(Phase::Reading);
        progress.expect(plan.sources.bytes().unwrap_or(0));
        let directory = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let reports = Reports::create(&options, &plan.sources, intake.last_source, None)?;
        let run = Run::new(&plan, intake, progress, started, directory, reports)?;
        let sink = StreamSink::new(question, &options.openings, take);
        let summary = run.fill(sink, None)?;
        Ok(Summary { elapsed: started.elapsed(), ..summary })
    }
}
