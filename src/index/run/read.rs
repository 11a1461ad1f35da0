//! Reads the sources: workers parse and replay, and one thread passes their results to the sink.

use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

use crate::board::KeySet;
use crate::channel;
use crate::index::error::{Error, Result};
use crate::index::game::positions::Standard;
use crate::index::game::signature::Comparison;
use crate::index::number::duplicates::Originals;
use crate::index::number::sequence::{Numbering, Sequencer};
use crate::index::options::{Duplicates, OnProblem};
use crate::index::read::feed::Feed;
use crate::index::read::stream::{CutOptions, SourceEnd};
use crate::index::run::tally::Tally;
use crate::index::run::worker::{Shared, SinkMessage, SinkSender};
use crate::index::run::{Intake, ReadResult, Run};
use crate::index::spill::SpillMap;
use crate::ordered_queue::OrderedQueue;
use crate::parallel;
use crate::source::DecodeOptions;
use crate::store::Snapshot;
use crate::store::sink::{PositionEncoder as _, Sink, Takes};

impl Run<'_> {
    /// Reads all sources, and keeps the FENs of the positions with `visited` keys.
    pub(crate) fn read<S: Sink>(&self, sink: &mut S, visited: Option<&KeySet>) -> Result<ReadResult> {
        let takes = S::Encoder::TAKES;
        let numbering = match takes {
            Takes::Positions | Takes::Moves => Numbering::All,
            Takes::Games => Numbering::Games,
            Takes::Nothing => Numbering::Places,
        };
        let shared = Shared { visited, ..self.shared(numbering)? };
        let encoder = sink.encoder();
        let (messages, message_queue) = channel::bounded(2 * self.pool.current_num_threads() + 2);
        let (headers_back, empty_headers) = channel::unbounded();
        let (encoded_back, empty_encoded) = channel::unbounded();
        let sender = SinkSender { messages, empty_headers, empty_encoded };
        let mut tally = Tally::default();
        let digests = std::thread::scope(|scope| {
            let digests = takes.keeps().then(|| scope.spawn(|| self.digests(&shared)));
            let workers = scope.spawn(|| {
                let (sender, encoder) = (sender, encoder);
                first_failure(parallel::broadcast(&self.pool, || shared.work(&sender, encoder.another())))
            });
            let written = message_queue.iter().try_for_each(|message| {
                match message {
                    SinkMessage::Headers(mut batch) => {
                        tally.count(&batch);
                        sink.headers(&batch)?;
                        batch.clear();
                        let _ = headers_back.send(*batch);
                    }
                    SinkMessage::Positions(number, encoded) => {
                        if let Some(used) = sink.positions(number, encoded)? {
                            let _ = encoded_back.send(used);
                        }
                    }
                }
                Ok::<_, Error>(())
            });
            if written.is_err() {
                shared.stop();
            }
            drop(message_queue);
            let worked = workers.join().map_err(|_| Error::Panicked)?;
            let digests =
                digests.map_or(Ok(Vec::new()), ScopedJoinHandle::join).map_err(|_| Error::Panicked)?;
            // If the sink failed, its error is the reason why the workers stopped.
            written.and(worked).map(|()| digests)
        })?;
        let sequencer = shared.sequencer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let feed = shared.feed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ends = feed.ends.into_iter().zip(digests.into_iter().chain(std::iter::repeat(None)));
        let ends =
            ends.enumerate().map(|(index, (end, digested))| self.end_of(index, end, digested)).collect();
        Ok(ReadResult {
            counts: sequencer.sources,
            last_game: sequencer.counted_games.before(),
            counted_games: sequencer.counted_games,
            ends,
            tally,
            reached: shared.reached.into_inner().unwrap_or_else(PoisonError::into_inner),
        })
    }

    fn shared(&self, numbering: Numbering) -> Result<Shared<'_>> {
        Ok(Shared {
            feed: Mutex::new(Feed::new(self.intake.sources, self.intake.last_source, self.cut_options())),
            sequencer: Mutex::new(self.sequencer(numbering)?),
            turn: OrderedQueue::default(),
            append_turn: OrderedQueue::default(),
            partitions: &self.partitions,
            scatter_bytes: self.scatter_bytes(),
            standard: Standard::new(),
            openings: &self.options.openings,
            progress: self.progress,
            reports: &self.reports,
            leave_out: self.options.on_problem == OnProblem::Skip,
            annotations: self.options.annotations,
            comparison: self.comparison(numbering),
            visited: None,
            reached: Mutex::default(),
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

    /// The size of the PGN text read, in bytes.
    pub(crate) fn text_read(&self, ends: &[SourceEnd]) -> u64 {
        let files = self.intake.sources.files.iter();
        let first = files.map(|file| file.as_ref().map_or(0, |file| file.first_byte));
        ends.iter().zip(first).map(|(end, first)| end.bytes.unwrap_or(0).saturating_sub(first)).sum()
    }

    pub(crate) fn sequencer(&self, numbering: Numbering) -> Result<Sequencer> {
        let Intake { starts, last_source, target, removed, .. } = &self.intake;
        let known = target.as_deref().map(Snapshot::open_snapshot).transpose()?;
        let memory = SpillMap::share_of(self.options.memory);
        let originals = Originals::new(self.comparison(numbering), removed, memory, &self.directory);
        let (ids, hash) = (SpillMap::new(memory, self.directory.clone()), self.hash.clone());
        Sequencer::new(numbering, starts.clone(), *last_source, known, originals, ids, hash)
    }

    /// How games are compared.
    fn comparison(&self, numbering: Numbering) -> Comparison {
        let rule = match numbering {
            Numbering::All => self.options.duplicates,
            Numbering::Games | Numbering::Places => Duplicates::Keep,
        };
        Comparison { rule, hash: self.hash.clone() }
    }
}

/// The first error other than [`Error::Stopped`], which may be a consequence of another error.
fn first_failure(results: Vec<Result<()>>) -> Result<()> {
    let (stopped, failed): (Vec<Error>, Vec<Error>) =
        results.into_iter().filter_map(Result::err).partition(|error| matches!(error, Error::Stopped));
    failed.into_iter().chain(stopped).next().map_or(Ok(()), Err)
}
