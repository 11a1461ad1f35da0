//! Passes rows to a caller while games are read, instead of writing a database.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::RecordBatch;

use crate::columnar::{LeastRanks, RankSink, StreamQuery, StreamSink};
use crate::index::error::{Error, Result};
use crate::index::estimate::Estimate;
use crate::index::options::{Annotations, IndexOptions};
use crate::index::plan::Plan;
use crate::index::progress::{Phase, Progress};
use crate::index::report::summary::Summary;
use crate::opening::OpeningBook;

impl Plan<'_> {
    /// Reads the sources and passes the requested rows to `take`, in the order of the games, until `take` breaks.
    ///
    /// Rows and batches do not depend on the number of threads. Duplicate games are included. To sample
    /// positions, the sources are read twice.
    ///
    /// # Errors
    /// Errors of [`run`](Self::run) about the sources; [`Error::Stopped`] if `take` breaks;
    /// [`Error::ReadOnce`] if positions are to be sampled from a source that can be read only once.
    pub fn stream(
        self,
        question: StreamQuery,
        take: impl FnMut(RecordBatch) -> ControlFlow<()>,
        progress: &Progress,
    ) -> Result<Summary> {
        let started = Instant::now();
        let options = options_for(&question, self.options);
        let estimate = Estimate { text_bytes: self.estimate.text_bytes, ..Estimate::default() };
        let plan = Plan { options: &options, estimate, ..self };
        let bytes = plan.sources.bytes();
        progress.enter(Phase::Reading);
        let question = match question.drawn() {
            None => {
                progress.expect(bytes.unwrap_or(0));
                question
            }
            Some(drawn) => {
                progress.expect(2 * bytes.ok_or(Error::ReadOnce)?);
                let mut ranks = LeastRanks::new(drawn);
                plan.read_into(RankSink::new(question.clone(), &options.openings, &mut ranks), progress)?;
                let Some(last) = ranks.last() else { return Ok(Summary::default()) };
                question.up_to(last)
            }
        };
        let summary = plan.read_into(StreamSink::new(question, &options.openings, take), progress)?;
        Ok(Summary { elapsed: started.elapsed(), ..summary })
    }
}

/// The options with which a run reads only what the requested rows need.
fn options_for(question: &StreamQuery, options: &IndexOptions) -> IndexOptions {
    let openings = if question.needs_openings() {
        Arc::clone(&options.openings)
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
    IndexOptions { openings, annotations, ..options.clone() }
}
