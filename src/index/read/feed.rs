//! Supplies chunks of sources, in order, to the workers.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{self, Receiver};
use crate::index::read::stream::{self, Chunk, CutOptions, Piece, SourceEnd, SourceProblem, Text};
use crate::index::{Error, ProblemKind, Result};
use crate::pgn::{LOOK_BACK, boundary_in, next_boundary};
use crate::source::{Mapped, Opened, SourceFile, Sources, open, shown_path};
use crate::store::SourceDigest;
use crate::store::row::SourceId;

/// A piece of work for a worker. The pieces are numbered 0, 1, 2 … in input order.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) number: u64,
    pub(crate) source: SourceId,
    pub(crate) task: Task,
}

#[derive(Debug)]
pub(crate) enum Task {
    /// Whole games of a source.
    Chunk(Chunk),
    Report(SourceProblem),
    /// The end of a source that was read from its beginning to its end, with the path of the source.
    End(PathBuf),
}

/// Opens one source after the other and cuts it into chunks.
#[derive(Debug)]
pub(crate) struct Feed<'s> {
    sources: std::slice::Iter<'s, crate::source::Result<SourceFile>>,
    options: CutOptions,
    number: u64,
    source: SourceId,
    open: Option<Open>,
    /// The path of the open source, if the source is to be read from its beginning to its end.
    path: Option<PathBuf>,
    /// The results of the sources that were read to the end or could not be opened, in order.
    pub(crate) ends: Vec<SourceEnd>,
}

#[derive(Debug)]
enum Open {
    /// A plain file, with the start of its next chunk and the end of its last chunk.
    File(Arc<Mapped>, Range<usize>),
    Stream(Receiver<Piece>),
}

impl<'s> Feed<'s> {
    /// A feed of the sources, whose ids follow `last`.
    pub(crate) fn new(sources: &'s Sources, last: SourceId, options: CutOptions) -> Self {
        let sources = sources.files.iter();
        Self { sources, options, number: 0, source: last, open: None, path: None, ends: Vec::new() }
    }

    /// The next piece of work, or `None` at the end. Fails if `is_stopped` returns true while this function
    /// waits or searches.
    pub(crate) fn next(&mut self, is_stopped: impl Fn() -> bool) -> Result<Option<Work>> {
        loop {
            let task = match self.open.take() {
                None => {
                    let Some(file) = self.sources.next() else { return Ok(None) };
                    self.open_source(file)?
                }
                Some(Open::File(map, range)) => self.cut(map, range, &is_stopped)?,
                Some(Open::Stream(pieces)) => self.receive(pieces, &is_stopped)?,
            };
            let Some(task) = task else { continue };
            let number = self.number;
            self.number += 1;
            return Ok(Some(Work { number, source: self.source, task }));
        }
    }

    /// Opens `file`, the next source. Returns a report if the source cannot be opened, otherwise `None`.
    fn open_source(&mut self, file: &crate::source::Result<SourceFile>) -> Result<Option<Task>> {
        self.source.0 += 1;
        let opened = file
            .as_ref()
            .map_err(crate::source::Error::full_message)
            .and_then(|file| open(file).map_err(|error| error.full_message()).map(|opened| (opened, file)));
        let is_whole = |file: &&SourceFile| file.first_byte == 0 && file.range().is_none();
        self.path = file.as_ref().ok().filter(is_whole).map(|file| file.path.clone());
        match opened {
            Ok((Opened::Mapped(map), file)) => {
                let range = games_of(map.bytes(), file);
                self.open = Some(Open::File(Arc::new(map), range));
            }
            Ok((Opened::Packed(packed), file)) => {
                let path = shown_path(&file.path);
                self.open = Some(Open::Stream(stream::start(
                    packed,
                    path,
                    (file.first_byte, file.is_damage_known),
                    self.options.clone(),
                )?));
            }
            Err(message) => {
                self.ends.push(SourceEnd::default());
                let kind = ProblemKind::UnreadableSource;
                return Ok(Some(Task::Report(SourceProblem { kind, offset: 0, message })));
            }
        }
        Ok(None)
    }

    /// Cuts the next chunk off a plain file. After the last chunk, returns [`Task::End`] if the file was read
    /// completely, otherwise `None`.
    fn cut(
        &mut self,
        map: Arc<Mapped>,
        Range { start, end: last }: Range<usize>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<Task>> {
        /// After this number of bytes, the part that was searched is released from memory.
        const WINDOW: usize = 8 << 20;
        let text = map.bytes();
        if start >= last {
            let digest = text.is_empty().then(|| SourceDigest(*blake3::hash(text).as_bytes()));
            self.ends.push(SourceEnd { bytes: Some(text.len() as u64), digest, ..SourceEnd::default() });
            return Ok(self.path.take().map(Task::End));
        }
        let mut from = start.saturating_add(self.options.chunk_size.max(1)).min(last) - 1;
        let end = loop {
            let to = from.saturating_add(WINDOW);
            if to >= text.len() {
                break next_boundary(text, from);
            }
            if let Some(boundary) = boundary_in(text, from..to) {
                break boundary;
            }
            if is_stopped() {
                return Err(Error::Stopped);
            }
            map.release(from.saturating_sub(LOOK_BACK)..to - LOOK_BACK);
            from = to - 8;
        };
        self.open = Some(Open::File(Arc::clone(&map), end..last));
        let (text, input) = (Text::Mapped(map, start..end), (end - start) as u64);
        Ok(Some(Task::Chunk(Chunk { text, offset: start as u64, size: self.options.chunk_size, input })))
    }

    /// Waits for the next piece of a decoded source. After the last chunk, returns [`Task::End`] if the whole source
    /// was to be read, otherwise `None`.
    fn receive(&mut self, pieces: Receiver<Piece>, is_stopped: impl Fn() -> bool) -> Result<Option<Task>> {
        /// The interval for checking whether to stop. Otherwise, the wait for input from a terminal could not be
        /// stopped.
        const PATIENCE: Duration = Duration::from_millis(50);
        let piece = loop {
            if is_stopped() {
                return Err(Error::Stopped);
            }
            match pieces.recv_timeout(PATIENCE) {
                Ok(piece) => break piece,
                Err(channel::Error::Timeout) => {}
                Err(channel::Error::Closed) => return Err(Error::Panicked),
            }
        };
        let task = match piece {
            Piece::Failed(error) => return Err(error),
            Piece::End(end) => {
                // If nothing could be read, this is reported already.
                let path = self.path.take().filter(|_| end.bytes.is_some());
                self.ends.push(end);
                return Ok(path.map(Task::End));
            }
            Piece::Chunk(chunk) => Task::Chunk(chunk),
            Piece::Report(problem) => Task::Report(problem),
        };
        self.open = Some(Open::Stream(pieces));
        Ok(Some(task))
    }
}

/// The range of a plain file that contains the games to read.
fn games_of(text: &[u8], file: &SourceFile) -> Range<usize> {
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(text.len());
    let game_from = |byte: u64| if at(byte) == 0 { 0 } else { next_boundary(text, at(byte) - 1) };
    match file.range() {
        None => at(file.first_byte)..text.len(),
        Some(range) => game_from(range.start)..game_from(range.end),
    }
}
