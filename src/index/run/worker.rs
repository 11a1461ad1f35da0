//! The work of each worker thread: it parses chunks into batches, and converts batches to numbered rows.

use std::sync::Mutex;

use crate::channel::{Receiver, Sender};
use crate::index::game::{
    ChunkParser, Comparison, GameBatch, ParseOptions, Standard, for_each_position, moves_of, record_features,
};
use crate::index::number::Sequencer;
use crate::index::read::{Chunk, Feed, SourceProblem, Task, Work};
use crate::index::run::Run;
use crate::index::{Error, OnProblem, PlayedOccurrence, ProblemKind, RecentSetups, Result};
use crate::parallel::{OrderedQueue, lock};
use crate::sort::Scatter;
use crate::source::shown_path;
use crate::store::row::{EvalRow, GameId, HeaderBatch, ProblemRow, SourceId};
use crate::store::sink::{BatchNumber, PositionEncoder, PositionView, Takes};

/// State shared by all workers of a run.
pub(crate) struct Shared<'s> {
    pub(crate) run: &'s Run<'s>,
    pub(crate) feed: Mutex<Feed<'s>>,
    pub(crate) sequencer: Mutex<Sequencer>,
    /// Lets the workers assign ids to games chunk by chunk, in the order of the chunks.
    pub(crate) turn: OrderedQueue,
    /// Lets the workers send positions chunk by chunk, in the order of the chunks, if the sink requires this
    /// order.
    pub(crate) append_turn: OrderedQueue,
    pub(crate) standard: Standard,
    pub(crate) comparison: Comparison,
}

/// Data that workers pass to the thread that calls the sink.
#[derive(Debug)]
pub(crate) enum SinkMessage<B> {
    Headers(Box<HeaderBatch>),
    Positions(BatchNumber, B),
}

/// The channel from a worker to the sink, and the channels that return emptied buffers to the workers for
/// reuse: those of headers, and those of encoded data.
#[derive(Clone, Debug)]
pub(crate) struct SinkSender<B> {
    pub(crate) messages: Sender<SinkMessage<B>>,
    pub(crate) empty_headers: Receiver<HeaderBatch>,
    pub(crate) empty_encoded: Receiver<B>,
}

impl<B> SinkSender<B> {
    fn send(&self, message: SinkMessage<B>) -> Result<()> {
        // The sink's thread disconnects only if the sink failed. The run then reports the error of the sink.
        self.messages.send(message).map_err(|_| Error::Stopped)
    }
}

/// Stops all workers when a worker ends with an error or a panic. A worker that succeeds must forget this
/// value.
struct StopOnDrop<'a, 's>(&'a Shared<'s>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Shared<'_> {
    /// Stops all workers. A worker that is not waiting for its turn stops when it next waits.
    pub(crate) fn stop(&self) {
        self.turn.stop();
        self.append_turn.stop();
    }

    /// Processes work until none is left.
    pub(crate) fn work<E: PositionEncoder>(&self, sender: &SinkSender<E::Encoded>, encoder: E) -> Result<()> {
        let guard = StopOnDrop(self);
        let run = self.run;
        let mut worker = Worker {
            shared: self,
            sender,
            encoder,
            scatter: run.scatter(),
            batch: GameBatch::default(),
            evals: Vec::new(),
            setups: RecentSetups::default(),
        };
        loop {
            let work = lock(&self.feed).next(|| run.progress.is_stopped() || self.turn.is_stopped());
            let Some(work) = work? else { break };
            worker.do_work(work)?;
        }
        worker.scatter.finish()?;
        std::mem::forget(guard);
        Ok(())
    }

    /// Replaces the contents of a batch with a problem of a whole source, and reports this problem. Must be
    /// called during the worker's turn.
    fn report(&self, source: SourceId, problem: &SourceProblem, batch: &mut GameBatch) -> Result<()> {
        let &SourceProblem { kind, offset, ref message } = problem;
        batch.clear();
        let message = batch.headers.push_text(message);
        batch.headers.problems.push(ProblemRow {
            source,
            byte_offset: offset,
            line: 0,
            column: 1,
            game_number: 0,
            game: None,
            ply: None,
            token: None,
            kind: kind.as_str(),
            severity: kind.severity(),
            message,
        });
        lock(&self.sequencer).number(source, batch)?;
        if offset == 0 {
            batch.headers.problems[0].line = 1;
        }
        lock(&self.run.reports).take(batch, &[])
    }
}

/// Waits for the turn of a chunk. Fails if the workers were stopped.
fn wait(turn: &OrderedQueue, chunk: u64) -> Result<()> {
    if turn.wait(chunk) { Ok(()) } else { Err(Error::Stopped) }
}

struct Worker<'w, 's, E: PositionEncoder> {
    shared: &'w Shared<'s>,
    sender: &'w SinkSender<E::Encoded>,
    encoder: E,
    scatter: Scatter<'s, PlayedOccurrence>,
    batch: GameBatch,
    /// The batch's rows of `move_eval`, if the encoder takes them.
    evals: Vec<EvalRow>,
    setups: RecentSetups,
}

impl<E: PositionEncoder> Worker<'_, '_, E> {
    fn do_work(&mut self, Work { number, source, task }: Work) -> Result<()> {
        let shared = self.shared;
        let problem = match task {
            Task::Chunk(chunk) => return self.chunk(number, source, &chunk),
            Task::Report(problem) => {
                wait(&shared.turn, number)?;
                Some(problem)
            }
            Task::End(path) => {
                wait(&shared.turn, number)?;
                let wrong = lock(&shared.sequencer).without_game(source, path.as_os_str() == "-");
                wrong.map(|wrong| SourceProblem {
                    kind: ProblemKind::NoGame,
                    offset: 0,
                    message: format!("{}: {wrong}", shown_path(&path)),
                })
            }
        };
        if let Some(problem) = problem {
            shared.report(source, &problem, &mut self.batch)?;
            self.send_headers()?;
        }
        shared.turn.pass();
        self.end_appending(number)
    }

    fn chunk(&mut self, number: u64, source: SourceId, chunk: &Chunk) -> Result<()> {
        let shared = self.shared;
        let &Run { options, progress, .. } = shared.run;
        let text = chunk.bytes();
        let _small = chunk.keep_small();
        let parse_options = ParseOptions {
            start: &shared.standard.position,
            openings: &options.openings,
            annotations: options.annotations,
            leave_out: options.on_problem == OnProblem::Skip,
            comparison: &shared.comparison,
            layout: self.encoder.layout(),
        };
        let mut parser = ChunkParser::new(text, chunk.size, source, chunk.offset, parse_options);
        let mut read = 0;
        for batch_number in 0.. {
            progress.check()?;
            let done = parser.parse_batch(&mut self.batch);
            let lines = if done { parser.line_count() } else { 0 };
            if E::TAKES.keeps() {
                record_features(&mut self.batch, &shared.standard);
            }
            wait(&shared.turn, number)?;
            let first = {
                let mut sequencer = lock(&shared.sequencer);
                sequencer.note_text(source, text, batch_number == 0 && chunk.offset == 0);
                let first = sequencer.number(source, &mut self.batch)?;
                sequencer.pass_lines(lines);
                first
            };
            lock(&shared.run.reports).take(&self.batch, text)?;
            if matches!(E::TAKES, Takes::Moves | Takes::Games) {
                self.batch.headers.names.extend(self.batch.games.iter().map(|game| game.names));
            }
            // Headers are sent before the turn ends, because sinks need them in the order of the games.
            // `send_headers` also sets `evals`, which `positions` encodes. With `Takes::Games`, headers are
            // sent later, because the encoder still reads them. Their order does not matter then, because the
            // sink ignores headers.
            if E::TAKES != Takes::Games {
                self.send_headers()?;
            }
            if done {
                shared.turn.pass();
            }
            let (games, plies) = (self.batch.games.len() as u64, self.batch.codes.len() as u64);
            self.positions(number, batch_number, first)?;
            if E::TAKES == Takes::Games {
                self.send_headers()?;
            }
            let offset = if done { text.len() } else { parser.offset() };
            progress.add(chunk.input_share(read..offset), games, plies);
            chunk.release(read..offset);
            read = offset;
            if done {
                break;
            }
        }
        self.end_appending(number)
    }

    /// Sends the batch's headers, and replaces them with empty ones. With [`Takes::Positions`], first moves
    /// the rows of `move_eval` to `evals`.
    fn send_headers(&mut self) -> Result<()> {
        if E::TAKES == Takes::Positions {
            std::mem::swap(&mut self.evals, &mut self.batch.headers.evals);
        }
        let empty = self.sender.empty_headers.try_recv().unwrap_or_default();
        let headers = std::mem::replace(&mut self.batch.headers, empty);
        self.sender.send(SinkMessage::Headers(Box::new(headers)))
    }

    /// Encodes what the encoder takes from the batch, and sends the result. With [`Takes::Positions`], also
    /// adds the occurrences to the partitions. The first game of the batch has the id `first`.
    fn positions(&mut self, chunk: u64, batch_number: u32, first: GameId) -> Result<()> {
        let Self { shared, sender, encoder, scatter, batch, evals, setups } = self;
        match E::TAKES {
            Takes::Nothing => return Ok(()),
            Takes::Games => encoder.push_games(first, &batch.headers, moves_of(batch, first)),
            Takes::Moves => moves_of(batch, first).for_each(|moves| encoder.push_moves(&moves)),
            Takes::Positions => {
                evals.drain(..).try_for_each(|row| encoder.push_eval(&row))?;
                for_each_position(batch, first, &shared.standard, encoder.layout(), |view| {
                    scatter.push(played_occurrence(&view, setups))?;
                    Ok::<_, Error>(encoder.push(&view)?)
                })?;
            }
        }
        let Some(encoded) = encoder.take(sender.empty_encoded.try_recv().ok())? else { return Ok(()) };
        if E::IN_ORDER {
            wait(&shared.append_turn, chunk)?;
        }
        sender.send(SinkMessage::Positions(BatchNumber { chunk, batch: batch_number }, encoded))
    }

    /// Lets the worker of the next chunk send its positions, if the sink requires them in order.
    fn end_appending(&self, number: u64) -> Result<()> {
        if E::IN_ORDER {
            wait(&self.shared.append_turn, number)?;
            self.shared.append_turn.pass();
        }
        Ok(())
    }
}

pub(crate) fn played_occurrence(view: &PositionView<'_>, setups: &mut RecentSetups) -> PlayedOccurrence {
    PlayedOccurrence::new(view.position.key(), view.game, view.ply, view.move_code).of(setups.origin(view))
}
