//! Decodes a source and cuts its text into chunks of whole games, in a separate thread unless the source is
//! small.

use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::channel::{Receiver, Sender, bounded, unbounded};
use crate::index::{Error, ProblemKind, Result};
use crate::pgn::{LOOK_AHEAD, LOOK_BACK, boundary_in};
use crate::source::{DecodeOptions, Decoded, Mapped, MemoryLimitGuard, Packed};
use crate::store::SourceDigest;

/// A problem of a whole source.
#[derive(Debug)]
pub(crate) struct SourceProblem {
    pub(crate) kind: ProblemKind,
    /// The offset of the problem in the text of the source.
    pub(crate) offset: u64,
    pub(crate) message: String,
}

/// Consecutive whole games of a source.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) text: Text,
    /// The offset of the chunk in the text of its source.
    pub(crate) offset: u64,
    /// Each game of the chunk begins less than this number of bytes after the start of the chunk.
    pub(crate) size: usize,
    /// The number of bytes of the source from which the chunk was read; for an archive, compressed bytes.
    /// Used to report progress.
    pub(crate) input: u64,
}

#[derive(Debug)]
pub(crate) enum Text {
    /// A part of a plain file, or decoded text that was so long that it was written to a temporary file.
    Mapped(Arc<Mapped>, Range<usize>),
    Owned(Vec<u8>),
}

impl Chunk {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Mapped(map, range) => &map.bytes()[range.clone()],
            Text::Owned(text) => text,
        }
    }

    /// How many bytes of the source correspond to a part of the chunk.
    pub(crate) fn input_share(&self, range: Range<usize>) -> u64 {
        let length = self.bytes().len().max(1) as u128;
        let upto = |end: usize| (u128::from(self.input) * end as u128 / length) as u64;
        upto(range.end) - upto(range.start)
    }

    /// Releases the memory of a part that has been read, if the chunk is memory-mapped.
    pub(crate) fn release(&self, piece: Range<usize>) {
        if let Text::Mapped(map, range) = &self.text {
            map.release(range.start + piece.start..range.start + piece.end);
        }
    }

    /// Prevents a long chunk from accumulating in memory while the returned value exists.
    pub(crate) fn keep_small(&self) -> Option<MemoryLimitGuard> {
        match &self.text {
            Text::Mapped(map, range) => map.keep_small(range.clone()),
            Text::Owned(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CutOptions {
    /// The approximate size of a chunk, in bytes.
    pub(crate) chunk_size: usize,
    /// The maximum size of a chunk in memory, in bytes. A longer chunk is written to a temporary file.
    pub(crate) most_in_memory: usize,
    /// The directory for temporary files.
    pub(crate) directory: PathBuf,
    pub(crate) decode: DecodeOptions,
}

/// A piece of a decoded source. Pieces are sent in order.
#[derive(Debug)]
pub(crate) enum Piece {
    Chunk(Chunk),
    Report(SourceProblem),
    /// The error ends the run.
    Failed(Error),
    End(SourceEnd),
}

/// The result of reading a source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceEnd {
    /// Size of the source's text, in bytes; `None` if the source could not be read.
    pub(crate) bytes: Option<u64>,
    /// Digest of the text that could be decoded. `None` if the source could not be read, or was not read
    /// completely; also `None` if the digest is computed elsewhere.
    pub(crate) digest: Option<SourceDigest>,
    /// Whether a part of the source could not be decoded.
    pub(crate) is_damaged: bool,
}

/// Starts to decode a source, and to cut its text into chunks from byte `first_byte` on. `is_damage_known`:
/// damage before this byte has been reported. `path` is used in messages.
pub(crate) fn start(
    packed: Packed,
    path: String,
    (first_byte, is_damage_known): (u64, bool),
    options: CutOptions,
) -> Result<Receiver<Piece>> {
    /// The maximum number of chunks that wait for a worker.
    const WAITING: usize = 3;
    let is_small = packed.is_small();
    let (pieces, receiver) = if is_small { unbounded() } else { bounded(WAITING) };
    let read = move || match packed.decode(options.decode) {
        Ok(decoded) => Cutter {
            decoded,
            path,
            first_byte,
            is_damage_known,
            options,
            pieces,
            hasher: blake3::Hasher::new(),
            text: Vec::new(),
            offset: 0,
            searched: 0,
            spill: None,
            is_torn: false,
            early: Vec::new(),
            is_damaged: false,
            is_given_up: false,
            is_complete: false,
            input: 0,
        }
        .run(),
        Err(error) => {
            let (kind, message) = (ProblemKind::UnreadableSource, error.full_message());
            let report = Piece::Report(SourceProblem { kind, offset: 0, message });
            let _ = pieces.send(report).and_then(|()| pieces.send(Piece::End(SourceEnd::default())));
        }
    };
    if is_small {
        // A zip archive can contain very many small files: starting a thread for each file would take longer
        // than reading it.
        read();
        return Ok(receiver);
    }
    // The thread is not joined, because it can wait for input from a terminal. If the receiver is dropped, the
    // thread ends when it sends the next piece.
    std::thread::Builder::new().name("read".into()).spawn(read).map_err(Error::Thread)?;
    Ok(receiver)
}

struct Cutter {
    decoded: Decoded,
    path: String,
    /// The offset in the source's text at which cutting begins.
    first_byte: u64,
    /// Whether an earlier run has reported the damage before this offset.
    is_damage_known: bool,
    options: CutOptions,
    pieces: Sender<Piece>,
    hasher: blake3::Hasher,
    /// Text that is not yet cut into chunks. If the next chunk is long, its beginning is in `spill` instead.
    text: Vec<u8>,
    /// The offset of `text` in the text of the source.
    offset: u64,
    /// The offset in `text` at which the search for a boundary continues.
    searched: usize,
    /// The beginning of the next chunk, if the chunk is long.
    spill: Option<Spill>,
    /// Whether `text` must be dropped up to the next boundary. This text is the rest of a damaged game, or
    /// belongs to the previous part.
    is_torn: bool,
    /// Messages about damage that was found before any text could be decoded.
    early: Vec<String>,
    is_damaged: bool,
    /// Whether reading was given up before the end of the source.
    is_given_up: bool,
    /// If only a part of the source is read: whether the chunks already contain all games of this part.
    /// Otherwise always `false`.
    is_complete: bool,
    /// The number of bytes of the source that were read for the chunks sent so far.
    input: u64,
}

/// The beginning of a long chunk, in a temporary file.
struct Spill {
    file: File,
    bytes: u64,
}

impl Cutter {
    /// If only a part of the source is read: the greatest offset in `text` at which a game of the part can
    /// start. `None` until this offset is known.
    fn end_of_part(&self) -> Option<usize> {
        let end = (self.decoded.end_of_part()? + LOOK_BACK as u64).saturating_sub(self.offset);
        usize::try_from(end).ok()
    }

    fn run(mut self) {
        if let Err(error) = self.cut_all() {
            // If the receiver of the pieces is gone, nobody needs the error.
            let _ = self.pieces.send(Piece::Failed(error));
        }
    }

    fn cut_all(&mut self) -> Result<()> {
        let at_once = (self.options.chunk_size / 16).clamp(4 << 10, 1 << 20);
        self.pass_known()?;
        if self.decoded.begins_within() {
            // A game belongs to this part if it starts more than `LOOK_BACK` bytes after the start of the
            // part's text. Otherwise the previous part contains it. So this part has all the text that is
            // needed to find the start of its first game.
            self.is_torn = true;
            self.searched = LOOK_BACK;
        }
        while !self.is_complete {
            let before = self.text.len();
            // Read up to the size of a chunk at once, then a little at a time until there is a boundary.
            let most = self.options.chunk_size.saturating_sub(before).clamp(at_once, 4 << 20);
            let read = self.decoded.read(&mut self.text, most);
            self.hasher.update(&self.text[before..]);
            match read {
                Ok(0) => break,
                Ok(_) => self.cut(false)?,
                Err(error) => self.meet_damage(&error)?,
            }
            if self.is_bomb() {
                let bytes = self.spill.take().map_or(0, |spill| spill.bytes);
                let message = format!(
                    "not read beyond byte {}: no game begins in {bytes} bytes of text",
                    self.decoded.position()
                );
                self.damage(message)?;
                self.is_given_up = true;
                return self.end();
            }
        }
        if !self.is_complete {
            self.cut(true)?;
        }
        self.end()
    }

    /// Skips the text that an earlier run read. Damage in this text is reported only if no earlier run
    /// reported it.
    fn pass_known(&mut self) -> Result<()> {
        const PIECE: u64 = 1 << 20;
        while self.offset < self.first_byte {
            let most = (self.first_byte - self.offset).min(PIECE);
            let read = self.decoded.read(&mut self.text, most as usize);
            self.hasher.update(&self.text);
            // The text can be longer than `most`: the first piece also has the bytes from which the format
            // was detected.
            let passed =
                self.text.len().min(usize::try_from(self.first_byte - self.offset).unwrap_or(usize::MAX));
            self.text.drain(..passed);
            self.offset += passed as u64;
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) if self.offset < self.first_byte && self.is_damage_known => self.is_damaged = true,
                Err(error) if self.offset < self.first_byte => {
                    self.damage(self.decoded.describe(&error, self.offset))?;
                }
                Err(error) => self.meet_damage(&error)?,
            }
        }
        Ok(())
    }

    /// Sends the text before a damaged place, and reports the damage. The text after this place is dropped up
    /// to the next game.
    fn meet_damage(&mut self, error: &std::io::Error) -> Result<()> {
        self.cut(true)?;
        if self.is_complete {
            return Ok(());
        }
        let message = self.decoded.describe(error, self.offset);
        self.damage(message)?;
        self.is_torn = true;
        Ok(())
    }

    /// Cuts off all complete chunks and, if `is_end`, also the text after them.
    fn cut(&mut self, is_end: bool) -> Result<()> {
        if !self.text.is_empty() {
            for message in std::mem::take(&mut self.early) {
                self.damage(message)?;
            }
        }
        loop {
            let least =
                if self.is_torn || self.spill.is_some() { 0 } else { self.options.chunk_size.max(1) - 1 };
            // Boundaries near the end of the text can be found only when more of it has arrived.
            let end = if is_end { self.text.len() } else { self.text.len().saturating_sub(LOOK_AHEAD) };
            let last = self.end_of_part();
            let from = self.searched.max(least).min(last.unwrap_or(usize::MAX));
            let Some(boundary) = boundary_in(&self.text, from..end) else {
                self.searched = self.searched.max(end.saturating_sub(8));
                break;
            };
            self.cut_at(boundary)?;
            if last.is_some_and(|last| boundary > last) {
                self.is_complete = true;
                return Ok(());
            }
        }
        if is_end {
            return self.cut_at(self.text.len());
        }
        self.bound_memory()
    }

    /// Sends all text up to `end` as a chunk, or drops this text if `is_torn` is set.
    fn cut_at(&mut self, end: usize) -> Result<()> {
        // Capacity for a chunk, and for the text between the intended end of the chunk and the next boundary.
        let mut rest =
            Vec::with_capacity(self.options.chunk_size.min(1 << 20) / 8 * 9 + self.text.len() - end);
        rest.extend_from_slice(&self.text[end..]);
        self.text.truncate(end);
        let text = std::mem::replace(&mut self.text, rest);
        self.searched = 0;
        let spill = self.spill.take();
        let start = self.offset - spill.as_ref().map_or(0, |spill| spill.bytes);
        self.offset += end as u64;
        if std::mem::take(&mut self.is_torn) || (text.is_empty() && spill.is_none()) {
            return Ok(());
        }
        let input = self.decoded.bytes_read() - self.input;
        self.input += input;
        let text = match spill {
            None => Text::Owned(text),
            Some(mut spill) => {
                let map = spill.write(&text).and_then(|()| Mapped::from_file(&spill.file));
                let map = map.map_err(|error| self.failed(error))?;
                let range = 0..map.bytes().len();
                Text::Mapped(Arc::new(map), range)
            }
        };
        self.send(Piece::Chunk(Chunk { text, offset: start, size: self.options.chunk_size, input }))
    }

    /// Limits the text in memory: moves the beginning of a long chunk to a temporary file.
    fn bound_memory(&mut self) -> Result<()> {
        const KEPT: usize = LOOK_BACK + 8;
        let most = if self.spill.is_some() { 4 << 20 } else { self.options.most_in_memory };
        if self.text.len() < most {
            return Ok(());
        }
        if self.spill.is_none() && !self.is_torn {
            // The text before the long game becomes a chunk, however short it is.
            let next = |from: &usize| boundary_in(&self.text, *from..self.searched);
            if let Some(boundary) = std::iter::successors(next(&0), next).last() {
                self.cut_at(boundary)?;
                return self.cut(false);
            }
        }
        let gone = self.searched.saturating_sub(KEPT);
        if gone == 0 {
            return Ok(());
        }
        if !self.is_torn {
            if self.spill.is_none() {
                let file =
                    tempfile::tempfile_in(&self.options.directory).map_err(|error| self.failed(error))?;
                self.spill = Some(Spill { file, bytes: 0 });
            }
            if let Some(Err(error)) = self.spill.as_mut().map(|spill| spill.write(&self.text[..gone])) {
                return Err(self.failed(error));
            }
        }
        self.text.drain(..gone);
        self.text.shrink_to(8 << 20);
        self.searched -= gone;
        self.offset += gone as u64;
        Ok(())
    }

    /// Whether the source seems to be endless or designed to fill disks: no game begins in a very long text.
    fn is_bomb(&self) -> bool {
        const MUCH: u64 = 256 << 20;
        /// A compression ratio that games cannot have. For text with a higher ratio, the limit is `MUCH`
        /// instead of `MOST`.
        const MOST_RATIO: u64 = 100;
        const MOST: u64 = 1 << 30;
        let input = self.decoded.bytes_read() - self.input;
        self.spill
            .as_ref()
            .is_some_and(|spill| spill.bytes > MOST || spill.bytes > MUCH && spill.bytes / MOST_RATIO > input)
    }

    fn damage(&mut self, message: String) -> Result<()> {
        self.is_damaged = true;
        if self.offset == 0 && self.text.is_empty() {
            self.early.push(message);
            return Ok(());
        }
        let message = format!("{}: {message}. The games before this point are kept", self.path);
        self.report(ProblemKind::DamagedArchive, self.offset, message)
    }

    fn end(&mut self) -> Result<()> {
        let mut end = SourceEnd::default();
        if let Some(message) = self.early.first() {
            let message = format!("{}: {message}", self.path);
            self.report(ProblemKind::UnreadableSource, 0, message)?;
        } else {
            end.bytes = Some(self.offset);
            let is_all = !self.is_given_up && !self.decoded.is_part();
            end.digest = is_all.then(|| SourceDigest(*self.hasher.finalize().as_bytes()));
            end.is_damaged = self.is_damaged;
        }
        self.send(Piece::End(end))
    }

    fn report(&self, kind: ProblemKind, offset: u64, message: String) -> Result<()> {
        self.send(Piece::Report(SourceProblem { kind, offset, message }))
    }

    /// Sends a piece. Fails if the receiver of the pieces is gone.
    fn send(&self, piece: Piece) -> Result<()> {
        self.pieces.send(piece).map_err(|_| Error::Stopped)
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Spill { directory: self.options.directory.clone(), need: None, source }
    }
}

impl Spill {
    fn write(&mut self, text: &[u8]) -> std::io::Result<()> {
        self.bytes += text.len() as u64;
        self.file.write_all(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Opened, list, open};

    #[test]
    fn small_sources_are_read_at_once() {
        const DECODE: DecodeOptions = DecodeOptions { threads: 1, memory: 0 };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.zip");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        // Like some other programs, this zip writer deflates even an empty file.
        for (name, text) in [("a.pgn", ""), ("b.pgn", "[White \"A\"]\n\n1. e4 *\n")] {
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        let options = CutOptions {
            chunk_size: 1,
            most_in_memory: 1 << 20,
            directory: directory.path().to_owned(),
            decode: DECODE,
        };
        let read = |file: &crate::source::Result<crate::source::SourceFile>| {
            let Opened::Packed(packed) = open(file.as_ref().unwrap()).unwrap() else { panic!("an archive") };
            // If a thread decoded the text, its pieces would not have arrived yet.
            let receiver = start(packed, "a".into(), (0, false), options.clone()).unwrap();
            let pieces: Vec<Piece> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
            assert!(
                matches!(pieces.last(), Some(Piece::End(SourceEnd { digest: Some(_), .. }))),
                "{pieces:?}"
            );
            pieces.len()
        };
        let sources = list(&[&path], DECODE, &()).unwrap();
        assert_eq!(sources.files.iter().map(read).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn shares_add_up() {
        let chunk = |length, input| Chunk { text: Text::Owned(vec![0; length]), offset: 0, size: 1, input };
        for (length, input) in [(10, 3), (3, 10), (1, 0), (7, 7)] {
            let chunk = chunk(length, input);
            let shares: u64 = (0..length).map(|at| chunk.input_share(at..at + 1)).sum();
            assert_eq!(shares, input);
        }
        assert_eq!(chunk(0, 5).input_share(0..0), 0);
    }
}
