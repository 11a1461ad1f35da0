//! A source that has to be decoded: its text is cut into chunks of whole games, by a thread of its own unless the source is small.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::index::error::{Error, Result};
use crate::index::problem::Kind;
use crate::index::read::chunk::Chunk;
use crate::pgn::{LOOK_AHEAD, LOOK_BACK, boundary_in};
use crate::source::{DecodeOptions, Decoded, Mapped, Packed};
use crate::store::SourceDigest;

/// How sources are cut.
#[derive(Clone, Debug)]
pub(crate) struct CutOptions {
    /// About the size of a chunk, in bytes.
    pub(crate) chunk_size: usize,
    /// The most text of one chunk in memory, in bytes; what is longer goes into a temporary file.
    pub(crate) most_in_memory: usize,
    /// The directory of temporary files.
    pub(crate) directory: PathBuf,
    pub(crate) decode: DecodeOptions,
}

/// What comes of a source, in order.
#[derive(Debug)]
pub(crate) enum Piece {
    Chunk(Chunk),
    /// Something is wrong, at this place in the text.
    Report {
        kind: Kind,
        offset: u64,
        message: String,
    },
    /// The run cannot go on.
    Failed(Error),
    End(SourceEnd),
}

/// What was read of a source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceEnd {
    /// Size of its text, in bytes; `None` if there is none that could be read.
    pub(crate) bytes: Option<u64>,
    /// Digest of its text, as far as it could be decoded; `None` if it was given up, or if it is made elsewhere.
    pub(crate) digest: Option<SourceDigest>,
    /// Whether not all of it could be decoded.
    pub(crate) is_damaged: bool,
}

/// Starts to decode a source, for its games from byte `first_byte` of its text on. `path` is for messages.
pub(crate) fn start(
    packed: Packed,
    path: String,
    first_byte: u64,
    options: CutOptions,
) -> Result<Receiver<Piece>> {
    /// Chunks that wait for a worker.
    const WAITING: usize = 3;
    let is_small = packed.is_small();
    let (pieces, receiver) = if is_small { unbounded() } else { bounded(WAITING) };
    let read = move || match packed.decode(options.decode) {
        Ok(decoded) => Cutter::new(decoded, path, first_byte, options, pieces).run(),
        Err(error) => {
            let report =
                Piece::Report { kind: Kind::UnreadableSource, offset: 0, message: error.full_message() };
            let _ = pieces.send(report).and_then(|()| pieces.send(Piece::End(SourceEnd::default())));
        }
    };
    if is_small {
        // A zip archive may have very many: a thread for each would take longer than the reading.
        read();
        return Ok(receiver);
    }
    // It is not waited for: it may be reading from a terminal, and ends when nobody wants its pieces.
    std::thread::Builder::new().name("read".into()).spawn(read).map_err(Error::Thread)?;
    Ok(receiver)
}

struct Cutter {
    decoded: Decoded,
    path: String,
    /// Where cutting begins, in the text of the source.
    first_byte: u64,
    options: CutOptions,
    pieces: Sender<Piece>,
    hasher: blake3::Hasher,
    /// Text that is not yet cut; of a long chunk, its end.
    text: Vec<u8>,
    /// Where that text begins in that of its source.
    offset: u64,
    /// Up to where in it there is no boundary to cut at.
    searched: usize,
    /// The beginning of a long chunk.
    spill: Option<Spill>,
    /// Whether the beginning of what is read is lost.
    is_torn: bool,
    /// What was wrong before there was any text.
    early: Vec<String>,
    is_damaged: bool,
    /// Whether not all was read that could be.
    is_given_up: bool,
    /// Whether all games of a part have been cut.
    is_complete: bool,
    /// Bytes of the source that went into chunks.
    input: u64,
}

/// The beginning of a long chunk, in a temporary file.
struct Spill {
    file: File,
    bytes: u64,
}

/// Why to stop before the end.
enum Stop {
    /// Nobody wants more pieces.
    HungUp,
    Failed(Error),
}

type Cut = std::result::Result<(), Stop>;

impl Cutter {
    fn new(
        decoded: Decoded,
        path: String,
        first_byte: u64,
        options: CutOptions,
        pieces: Sender<Piece>,
    ) -> Self {
        Self {
            decoded,
            path,
            first_byte,
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
    }

    /// Begins as late in a part as the part before ends behind its own frames, so that it is told by text of this part alone.
    fn begin_part(&mut self) {
        if self.decoded.begins_within() {
            self.is_torn = true;
            self.searched = LOOK_BACK;
        }
    }

    /// Up to where in the text games belong to the part, if that is known: the first that begins behind it does not.
    fn end_of_part(&self) -> Option<usize> {
        let end = (self.decoded.end_of_part()? + LOOK_BACK as u64).saturating_sub(self.offset);
        usize::try_from(end).ok()
    }

    fn run(mut self) {
        if let Err(Stop::Failed(error)) = self.cut_all() {
            let _ = self.pieces.send(Piece::Failed(error));
        }
    }

    fn cut_all(&mut self) -> Cut {
        let at_once = (self.options.chunk_size / 16).clamp(4 << 10, 1 << 20);
        self.pass_known()?;
        self.begin_part();
        while !self.is_complete {
            let before = self.text.len();
            // Up to the size of a chunk in one piece, and then a little more until there is a boundary.
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

    /// Passes over the text that was read in an earlier run. What is damaged there was told then.
    fn pass_known(&mut self) -> Cut {
        const BLOCK: u64 = 1 << 20;
        while self.offset < self.first_byte {
            let most = (self.first_byte - self.offset).min(BLOCK);
            let read = self.decoded.read(&mut self.text, most as usize);
            self.hasher.update(&self.text);
            // With the first block come a few bytes more, which told the form of the text.
            let passed =
                self.text.len().min(usize::try_from(self.first_byte - self.offset).unwrap_or(usize::MAX));
            self.text.drain(..passed);
            self.offset += passed as u64;
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) if self.offset < self.first_byte => self.is_damaged = true,
                Err(error) => self.meet_damage(&error)?,
            }
        }
        Ok(())
    }

    /// Hands on what stands before a damaged place, and drops what follows up to the next game.
    fn meet_damage(&mut self, error: &std::io::Error) -> Cut {
        self.cut(true)?;
        if self.is_complete {
            return Ok(());
        }
        let message = self.decoded.describe(error, self.offset);
        self.damage(message)?;
        self.is_torn = true;
        Ok(())
    }

    /// Cuts off all chunks that are complete, and at the end what is left.
    fn cut(&mut self, is_end: bool) -> Cut {
        if !self.text.is_empty() {
            for message in std::mem::take(&mut self.early) {
                self.damage(message)?;
            }
        }
        loop {
            let least =
                if self.is_torn || self.spill.is_some() { 0 } else { self.options.chunk_size.max(1) - 1 };
            // What is near the end of the text can be told when more of it is there.
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

    /// Hands on all text up to `end`, or drops it if its beginning is lost.
    fn cut_at(&mut self, end: usize) -> Cut {
        // Room for a chunk and what is read beyond it until there is a boundary.
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
        let size = self.options.chunk_size;
        let chunk = match spill {
            None => Chunk::of_text(text, start, size, input),
            Some(mut spill) => {
                let map = spill.write(&text).and_then(|()| Mapped::of(&spill.file));
                Chunk::of_spilled(map.map_err(|error| self.failed(error))?, start, size, input)
            }
        };
        self.send(Piece::Chunk(chunk))
    }

    /// Lets go of text that need not be in memory.
    fn bound_memory(&mut self) -> Cut {
        const KEPT: usize = LOOK_BACK + 8;
        let most = if self.spill.is_some() { 4 << 20 } else { self.options.most_in_memory };
        if self.text.len() < most {
            return Ok(());
        }
        if self.spill.is_none() && !self.is_torn {
            // What comes before the long game is a chunk, however short.
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

    /// Whether the source seems made to fill disks, or never ends: much text without a game in it.
    fn is_bomb(&self) -> bool {
        const MUCH: u64 = 256 << 20;
        /// Of text that was packed as no games can be.
        const MOST_RATIO: u64 = 100;
        const MOST: u64 = 1 << 30;
        let input = self.decoded.bytes_read() - self.input;
        self.spill
            .as_ref()
            .is_some_and(|spill| spill.bytes > MOST || spill.bytes > MUCH && spill.bytes / MOST_RATIO > input)
    }

    fn damage(&mut self, message: String) -> Cut {
        self.is_damaged = true;
        if self.offset == 0 && self.text.is_empty() {
            self.early.push(message);
            return Ok(());
        }
        let message = format!("{}: {message}; the games before are kept", self.path);
        self.send(Piece::Report { kind: Kind::DamagedArchive, offset: self.offset, message })
    }

    fn end(&mut self) -> Cut {
        let mut end = SourceEnd::default();
        if let Some(message) = self.early.first() {
            let message = format!("{}: {message}", self.path);
            self.send(Piece::Report { kind: Kind::UnreadableSource, offset: 0, message })?;
        } else {
            end.bytes = Some(self.offset);
            let is_all = !self.is_given_up && !self.decoded.is_part();
            end.digest = is_all.then(|| SourceDigest(*self.hasher.finalize().as_bytes()));
            end.is_damaged = self.is_damaged;
        }
        self.send(Piece::End(end))
    }

    fn send(&self, piece: Piece) -> Cut {
        self.pieces.send(piece).map_err(|_| Stop::HungUp)
    }

    fn failed(&self, source: std::io::Error) -> Stop {
        Stop::Failed(Error::Spill { directory: self.options.directory.clone(), need: None, source })
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
        // Some programs deflate empty files, too.
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
            // What a thread reads is not there yet.
            let pieces: Vec<Piece> =
                start(packed, "a".into(), 0, options.clone()).unwrap().try_iter().collect();
            assert!(
                matches!(pieces.last(), Some(Piece::End(SourceEnd { digest: Some(_), .. }))),
                "{pieces:?}"
            );
            pieces.len()
        };
        let sources = list(&[&path], DECODE, &()).unwrap();
        assert_eq!(sources.files.iter().map(read).collect::<Vec<_>>(), [1, 2]);
    }
}
