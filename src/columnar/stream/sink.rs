//! The sink that passes rows to a caller during the run.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;

use super::super::game_column::OpeningNames;
use super::choice::LeastRanks;
use super::encoder::{RankEncoder, StreamEncoder};
use super::query::StreamQuery;
use crate::opening::OpeningBook;
use crate::store::sink::{BatchNumber, Sink};
use crate::store::{Error, Result};

/// Passes batches to a caller. The caller can end the run.
pub(crate) struct StreamSink<F> {
    question: Arc<StreamQuery>,
    openings: Arc<OpeningNames>,
    take: F,
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> StreamSink<F> {
    pub(crate) fn new(question: StreamQuery, openings: &OpeningBook, take: F) -> Self {
        Self { question: Arc::new(question), openings: Arc::new(OpeningNames::from_book(openings)), take }
    }
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> Sink for StreamSink<F> {
    type Encoder = StreamEncoder;

    fn encoder(&self) -> StreamEncoder {
        StreamEncoder::new(Arc::clone(&self.question), Arc::clone(&self.openings))
    }

    fn positions(&mut self, _: BatchNumber, batches: Vec<RecordBatch>) -> Result<Option<Vec<RecordBatch>>> {
        let flow = batches.into_iter().try_for_each(&mut self.take);
        if flow.is_break() { Err(Error::Interrupted) } else { Ok(None) }
    }
}

/// Finds the ranks of the positions in the sample.
pub(crate) struct RankSink<'r> {
    question: Arc<StreamQuery>,
    openings: Arc<OpeningNames>,
    ranks: &'r mut LeastRanks,
    cutoff: Arc<AtomicU64>,
}

impl<'r> RankSink<'r> {
    pub(crate) fn new(question: StreamQuery, openings: &OpeningBook, ranks: &'r mut LeastRanks) -> Self {
        let (question, openings) = (Arc::new(question), Arc::new(OpeningNames::from_book(openings)));
        Self { question, openings, ranks, cutoff: Arc::new(AtomicU64::new(u64::MAX)) }
    }
}

impl Sink for RankSink<'_> {
    type Encoder = RankEncoder;

    fn encoder(&self) -> RankEncoder {
        RankEncoder::new(Arc::clone(&self.question), Arc::clone(&self.openings), Arc::clone(&self.cutoff))
    }

    fn positions(&mut self, _: BatchNumber, ranks: Vec<u64>) -> Result<Option<Vec<u64>>> {
        self.ranks.add(ranks);
        self.cutoff.store(self.ranks.cutoff(), Ordering::Relaxed);
        Ok(None)
    }
}
