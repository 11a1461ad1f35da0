//! Reads the sources: workers parse and replay games, and one thread passes the results to the sink.

use std::path::Path;
use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use crate::channel;
use crate::index::game::{Comparison, Standard};
use crate::index::number::{Originals, Sequencer};
use crate::index::read::{CutOptions, Feed, SourceEnd};
use crate::index::run::worker::{Shared, SinkMessage, SinkSender};
use crate::index::run::{Intake, ReadResult, Run};
use crate::index::{Duplicates, Error, Result, SpillMap, Summary};
use crate::parallel::{self, OrderedQueue, into_inner};
use crate::source::{self, DecodeOptions, Mapped, SourceFile};
use crate::store::sink::{PositionEncoder as _, Sink, Takes};
use crate::store::{Snapshot, SourceDigest};

impl Run<'_> {
    /// Reads all sources.
    pub(crate) fn read<S: Sink>(&self, sink: &mut S) -> Result<ReadResult> {
        let takes = S::Encoder::TAKES;
        let shared = self.shared(takes)?;
        let encoder = sink.encoder();
        let (messages, message_queue) = channel::bounded(2 * self.pool.current_num_threads() + 2);
        let (headers_back, empty_headers) = channel::unbounded();
        let (encoded_back, empty_encoded) = channel::unbounded();
        let sender = SinkSender { messages, empty_headers, empty_encoded };
        let mut counted = Summary::default();
        let digests = std::thread::scope(|scope| {
            let digests = takes.keeps().then(|| scope.spawn(|| self.digests(&shared)));
            let workers = scope.spawn(|| {
                let (sender, encoder) = (sender, encoder);
                first_failure(parallel::broadcast(&self.pool, || shared.work(&sender, encoder.another())))
            });
            let written = message_queue.iter().try_for_each(|message| {
                match message {
                    SinkMessage::Headers(mut batch) => {
                        counted.count(&batch);
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
        Ok(self.result(shared, digests, counted))
    }

    /// The result of reading, from the state of the workers. `digests` is the result of
    /// [`digests`](Self::digests).
    fn result(
        &self,
        shared: Shared<'_>,
        digests: Vec<Option<(u64, SourceDigest)>>,
        counted: Summary,
    ) -> ReadResult {
        let sequencer = into_inner(shared.sequencer);
        let feed = into_inner(shared.feed);
        let digests = digests.into_iter().chain(std::iter::repeat(None));
        let ends = feed.ends.into_iter().zip(digests).zip(&self.intake.sources.files);
        let ends = ends.map(|((end, digested), file)| self.end_of(end, digested, file)).collect();
        ReadResult { counts: sequencer.sources, counted_games: sequencer.counted_games, ends, counted }
    }

    fn shared<'s>(&'s self, takes: Takes) -> Result<Shared<'s>> {
        Ok(Shared {
            run: self,
            feed: Mutex::new(Feed::new(self.intake.sources, self.intake.last_source, self.cut_options())),
            sequencer: Mutex::new(self.sequencer(takes)?),
            turn: OrderedQueue::default(),
            append_turn: OrderedQueue::default(),
            standard: Standard::new(),
            comparison: self.comparison(takes),
        })
    }

    /// For each source, its size in bytes and its digest, if the source is a readable plain file. Digests of
    /// other sources are computed while the sources are decoded.
    fn digests(&self, shared: &Shared<'_>) -> Vec<Option<(u64, SourceDigest)>> {
        let is_stopped = || self.progress.is_stopped() || shared.turn.is_stopped();
        let of = |file: &source::Result<SourceFile>| {
            let file = file.as_ref().ok().filter(|file| file.is_plain())?;
            digest(&file.path, None, &is_stopped)
        };
        self.intake.sources.files.iter().map(of).collect()
    }

    /// Adds the digest to `end`, the result of reading a source. `digested` is the result of
    /// [`digests`](Self::digests) for this source. If the size in `digested` differs from the size that was
    /// read, the digest is computed again.
    fn end_of(
        &self,
        end: SourceEnd,
        digested: Option<(u64, SourceDigest)>,
        file: &source::Result<SourceFile>,
    ) -> SourceEnd {
        let made = match (digested, end.bytes, file) {
            (Some((bytes, _)), Some(read), _) if bytes == read => digested,
            (Some(_), Some(read), Ok(file)) => digest(&file.path, Some(read), &|| self.progress.is_stopped()),
            _ => None,
        };
        SourceEnd { digest: end.digest.or(made.map(|(_, digest)| digest)), ..end }
    }

    fn cut_options(&self) -> CutOptions {
        let threads = self.pool.current_num_threads();
        CutOptions {
            chunk_size: self.options.chunk_size,
            most_in_memory: self.memory_of_worker().clamp(4 << 20, 32 << 20),
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

    pub(crate) fn sequencer(&self, takes: Takes) -> Result<Sequencer> {
        let Intake { starts, last_source, target, removed, .. } = &self.intake;
        let known = target.as_deref().map(Snapshot::open_snapshot).transpose()?;
        let memory = SpillMap::share_of(self.options.memory);
        let originals = Originals::new(self.comparison(takes), removed, memory, &self.directory);
        let (ids, hash) = (SpillMap::new(memory, self.directory.clone()), self.hash.clone());
        Sequencer::new(takes, starts.clone(), *last_source, known, originals, ids, hash)
    }

    fn comparison(&self, takes: Takes) -> Comparison {
        let rule = if takes.keeps() { self.options.duplicates } else { Duplicates::Keep };
        Comparison { rule, hash: self.hash.clone() }
    }
}

/// The first error. Returns [`Error::Stopped`] only if there is no other error, because another error can be
/// the reason for stopping.
fn first_failure(results: Vec<Result<()>>) -> Result<()> {
    let (stopped, failed): (Vec<Error>, Vec<Error>) =
        results.into_iter().filter_map(Result::err).partition(|error| matches!(error, Error::Stopped));
    failed.into_iter().chain(stopped).next().map_or(Ok(()), Err)
}

/// The size of a file in bytes, and its digest; with `size`, those of its first `size` bytes. `None` if the file
/// cannot be read or is shorter, or if `is_stopped` returns true.
fn digest(path: &Path, size: Option<u64>, is_stopped: &dyn Fn() -> bool) -> Option<(u64, SourceDigest)> {
    const PIECE: usize = 1 << 20;
    let map = Mapped::open(path).ok()?;
    let size = size.map_or(Some(map.bytes().len()), |size| usize::try_from(size).ok())?;
    let mut hasher = blake3::Hasher::new();
    for (index, piece) in map.bytes().get(..size)?.chunks(PIECE).enumerate() {
        if is_stopped() {
            return None;
        }
        hasher.update(piece);
        map.release(index * PIECE..index * PIECE + piece.len());
    }
    Some((size as u64, SourceDigest(*hasher.finalize().as_bytes())))
}
