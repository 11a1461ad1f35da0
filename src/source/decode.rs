//! Opens sources: a plain file is memory-mapped; anything else becomes a stream of text.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::{DeflateDecoder, GzDecoder};

use super::encoding::{TextEncoding, Transcoder};
use super::file::{Location, SourceFile};
use super::form::Form;
use super::frames::{self, Frames, PartEnd};
use super::input::{Input, Position, read_head};
use super::zip::{Checked, Member, Method};
use super::{Error, Mapped, Result};

/// Options for decoding archives.
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptions {
    /// The number of threads for an archive that can be decoded in parallel.
    pub threads: usize,
    /// The memory limit of the whole program run, in bytes. Decoding takes a part of this memory.
    pub memory: u64,
}

impl DecodeOptions {
    /// The limit for the window of a zstd frame, in bytes. Windows of up to [`frames::USUAL_WINDOW`] are
    /// always allowed.
    const fn window(self) -> u64 {
        self.memory / 2
    }

    /// The text of a part of a zstd archive. With a clone of `position`, other code can follow the progress.
    fn frames(self, map: Mapped, part: &Range<u64>, position: &Position) -> Frames {
        const AHEAD: u64 = 64 << 20;
        // Decoding takes about a twentieth of the time of processing the games.
        let threads = (self.threads / 4).clamp(2, 8).min(self.threads.max(1));
        let ahead = (self.memory / 16).min(AHEAD);
        Frames::new(Arc::new(map), part, position.clone(), threads, ahead, self.window())
    }
}

/// An opened source.
#[derive(Debug)]
pub enum Opened {
    /// A plain file: its bytes are its text.
    Mapped(Mapped),
    /// A source whose text must be read in order.
    Packed(Packed),
}

/// An archive, a stream, or a file in UTF-16 or in a given encoding, not yet decoded.
#[derive(Debug)]
pub struct Packed {
    path: PathBuf,
    kind: Kind,
    encoding: Option<TextEncoding>,
}

#[derive(Debug)]
enum Kind {
    File(Mapped, Form),
    /// The frames of a zstd archive that begin in these bytes.
    Part(Mapped, Range<u64>),
    Member(Mapped, Member),
    Stream,
    /// A source from which no games are read.
    Nothing,
}

/// Opens a source. Does not read from a stream yet.
///
/// # Errors
/// If the source cannot be opened, or has an unsupported format.
pub fn open(file: &SourceFile) -> Result<Opened> {
    let packed = |kind| Opened::Packed(Packed { path: file.path.clone(), kind, encoding: file.encoding });
    if file.range().is_some_and(|range| range.is_empty()) {
        return Ok(packed(Kind::Nothing));
    }
    match &file.place {
        Location::Stream => Ok(packed(Kind::Stream)),
        Location::Member(member) => Ok(packed(Kind::Member(Mapped::open(&member.archive)?, member.clone()))),
        Location::File => {
            let map = Mapped::open(&file.path)?;
            let form = Form::of(map.bytes());
            match (form, file.range()) {
                (Form::Text, _) if file.encoding.is_none() => Ok(Opened::Mapped(map)),
                (Form::Other(..), _) => Err(refused(&file.path, form)),
                (Form::Zstd, Some(part)) => Ok(packed(Kind::Part(map, part))),
                _ => Ok(packed(Kind::File(map, form))),
            }
        }
    }
}

/// Opens a source and begins to decode it. Unlike [`open`], treats a plain file like an archive: its text is
/// read in order.
///
/// # Errors
/// The errors of [`open`] and [`Packed::decode`].
pub fn open_text(file: &SourceFile, options: DecodeOptions) -> Result<Decoded> {
    let packed = match open(file)? {
        Opened::Mapped(map) => {
            Packed { path: file.path.clone(), kind: Kind::File(map, Form::Text), encoding: None }
        }
        Opened::Packed(packed) => packed,
    };
    packed.decode(options)
}

fn refused(path: &Path, form: Form) -> Error {
    let (form, error_advice) = match form {
        Form::Other(form, error_advice) => (form, error_advice),
        _ => ("a zip archive on a stream", "give it as a file"),
    };
    Error::Form { path: path.to_owned(), form, error_advice }
}

impl Packed {
    /// Whether the source can be decoded quickly in little memory: it is short, and its format cannot expand
    /// very much.
    pub(crate) fn is_small(&self) -> bool {
        /// The maximum size of a small source, in compressed bytes. Deflated text expands by a factor of at
        /// most 1,032.
        const SMALL: u64 = 16 << 10;
        match &self.kind {
            Kind::File(map, Form::Text | Form::Utf16(_) | Form::Gzip) => map.bytes().len() as u64 <= SMALL,
            Kind::Member(_, Member { range, method: Method::Stored | Method::Deflate, .. }) => {
                range.end.saturating_sub(range.start) <= SMALL
            }
            Kind::Nothing => true,
            _ => false,
        }
    }

    /// Begins to decode.
    ///
    /// # Errors
    /// If a stream cannot be opened, or the format of a stream or of an archive's contents is not supported.
    pub fn decode(self, options: DecodeOptions) -> Result<Decoded> {
        let Self { path, kind, encoding } = self;
        let io = |error| Error::io(&path, error);
        let position = Position::default();
        let (reader, start): (Box<dyn Read + Send>, u64) = match kind {
            Kind::File(map, Form::Zstd) => {
                let frames = options.frames(map, &(0..u64::MAX), &position);
                return Decoded::new(Box::new(frames), position, 0, Decoded::MOST_ERRORS, encoding, &path);
            }
            Kind::Part(map, part) => {
                let frames = options.frames(map, &part, &position);
                let end = frames.part_end();
                return Ok(Decoded::from_part(Box::new(frames), position, end));
            }
            Kind::Nothing => {
                return Ok(Decoded::from_part(Box::new(io::empty()), position, PartEnd::default()));
            }
            Kind::File(map, form) => {
                let range = 0..map.bytes().len();
                let input = Input::mapped(Arc::new(map), range, position.clone());
                (unpack(input, form, options, &path)?, 0)
            }
            Kind::Member(map, member) => {
                let length = map.bytes().len();
                let at = |offset: u64| usize::try_from(offset).unwrap_or(length).min(length);
                let range = at(member.range.start)..at(member.range.end);
                let input = Input::mapped(Arc::new(map), range, position.clone());
                (unpack_member(input, &member, options).map_err(io)?, position.get())
            }
            Kind::Stream => {
                let reader: Box<dyn Read + Send> = if path.as_os_str() == "-" {
                    Box::new(io::stdin())
                } else {
                    Box::new(std::fs::File::open(&path).map_err(io)?)
                };
                let (input, form) = Input::stream(reader, position.clone()).map_err(io)?;
                (unpack(input, form, options, &path)?, 0)
            }
        };
        const PIECE: usize = 64 << 10;
        let reader = Box::new(FixedSizeReader(BufReader::with_capacity(PIECE, reader)));
        Decoded::new(reader, position, start, 1, encoding, &path)
    }
}

/// Reads in pieces of one size, whatever size is requested. The amount of text that a decoder returns before
/// a damaged place depends on the requested size. The same archive must always yield the same text.
struct FixedSizeReader(BufReader<Box<dyn Read + Send>>);

impl Read for FixedSizeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Unlike `BufReader::read`, this never passes the buffer of the caller to the decoder.
        let read = self.0.fill_buf()?.read(buffer)?;
        self.0.consume(read);
        Ok(read)
    }
}

/// The text of an input in this format, not yet converted to UTF-8.
fn unpack(input: Input, form: Form, options: DecodeOptions, path: &Path) -> Result<Box<dyn Read + Send>> {
    Ok(match form {
        Form::Text | Form::Utf16(_) => Box::new(input),
        Form::Zstd => {
            let text = frames::decoder(input, options.window());
            Box::new(text.map_err(|error| Error::io(path, error))?)
        }
        Form::Gzip => Box::new(Members::new(input, 0x1f, GzDecoder::new, GzDecoder::into_inner)),
        Form::Bzip2 => bzip2_text(input),
        Form::Zip | Form::Other(..) => return Err(refused(path, form)),
    })
}

fn unpack_member(input: Input, member: &Member, options: DecodeOptions) -> io::Result<Box<dyn Read + Send>> {
    let text: Box<dyn Read + Send> = match member.method {
        Method::Stored => Box::new(input),
        Method::Deflate => Box::new(DeflateDecoder::new(input)),
        Method::Bzip2 => bzip2_text(input),
        Method::Zstd => Box::new(frames::decoder(input, options.window())?),
    };
    Ok(Box::new(Checked::new(text, member)))
}

fn bzip2_text(input: Input) -> Box<dyn Read + Send> {
    Box::new(Members::new(input, b'B', BzDecoder::new, BzDecoder::into_inner))
}

/// The text of all members of a gzip or bzip2 archive; a `D` decodes one member. Zeros after the last member
/// are ignored, because tapes and block devices add them.
struct Members<D> {
    member: Option<D>,
    /// The byte with which every member begins.
    first_byte: u8,
    open: fn(Input) -> D,
    into_input: fn(D) -> Input,
}

impl<D: Read> Members<D> {
    fn new(input: Input, first_byte: u8, open: fn(Input) -> D, into_input: fn(D) -> Input) -> Self {
        Self { member: Some(open(input)), first_byte, open, into_input }
    }

    /// Moves to the next member. Returns whether there is one.
    fn next_member(&mut self) -> io::Result<bool> {
        let Some(member) = self.member.take() else { return Ok(false) };
        let mut input = (self.into_input)(member);
        loop {
            let bytes = input.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            match bytes.get(zeros) {
                _ if bytes.is_empty() => return Ok(false),
                None => input.consume(zeros),
                Some(&byte) if byte == self.first_byte && zeros == 0 => {
                    self.member = Some((self.open)(input));
                    return Ok(true);
                }
                Some(_) => {
                    return Err(io::Error::other(
                        "data that does not belong to the archive follows the compressed text",
                    ));
                }
            }
        }
    }
}

impl<D: Read> Read for Members<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() || !self.next_member()? {
                return Ok(read);
            }
        }
        Ok(0)
    }
}

/// Decoded text, in pieces.
pub struct Decoded {
    reader: Box<dyn Read + Send>,
    /// The beginning of the text, read to detect the format and not returned yet. `error` is the error that
    /// ended this reading, if there was one.
    head: Vec<u8>,
    error: Option<io::Error>,
    position: Position,
    start: u64,
    /// The number of further errors after which reading stops.
    errors_left: u32,
    /// The offset at which the text of the part's own frames ends; `None` if this is not a part of an
    /// archive.
    part_end: Option<PartEnd>,
}

impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoded").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Decoded {
    /// The number of damaged places after which reading a zstd archive stops: garbage must not fill the database.
    const MOST_ERRORS: u32 = 100;

    fn new(
        mut reader: Box<dyn Read + Send>,
        position: Position,
        start: u64,
        errors_left: u32,
        encoding: Option<TextEncoding>,
        path: &Path,
    ) -> Result<Self> {
        let (mut head, error) = read_head(&mut reader);
        let encoding = match Form::of(&head) {
            Form::Text => encoding,
            Form::Utf16(encoding) => Some(encoding),
            _ => {
                let (form, error_advice) = ("an archive of binary data", "unpack it first");
                return Err(Error::Form { path: path.to_owned(), form, error_advice });
            }
        };
        if let Some(encoding) = encoding {
            let text = Cursor::new(std::mem::take(&mut head)).chain(reader);
            reader = Box::new(Transcoder::new(text, encoding));
        }
        Ok(Self { reader, head, error, position, start, errors_left, part_end: None })
    }

    fn from_part(reader: Box<dyn Read + Send>, position: Position, end: PartEnd) -> Self {
        let (start, part_end) = (position.get(), Some(end));
        let errors_left = Self::MOST_ERRORS;
        Self { reader, head: Vec::new(), error: None, position, start, errors_left, part_end }
    }

    /// Whether this is the text of a part of an archive.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.part_end.is_some()
    }

    /// Whether this is the text of a part of an archive, but not of its first part. The beginning of the text
    /// then belongs to the previous part.
    #[must_use]
    pub fn begins_within(&self) -> bool {
        self.is_part() && self.start > 0
    }

    /// For a part, the offset in its text at which the text of the part's own frames ends; `None` until this
    /// offset is reached. The text continues after it, so that the last games of the part can be completed.
    #[must_use]
    pub fn end_of_part(&self) -> Option<u64> {
        self.part_end.as_ref()?.get().copied()
    }

    /// Appends up to `most` bytes of text to `text`; the first call can append a few more. Returns the number
    /// of bytes appended, which is 0 at the end.
    ///
    /// If reading fails, the text before the error is still appended. Later calls can return more text, but
    /// it does not continue the text before the error.
    ///
    /// # Errors
    /// If the source is damaged or cannot be read further.
    pub fn read(&mut self, text: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        let before = text.len();
        text.append(&mut self.head);
        let result = match self.error.take() {
            Some(error) => Err(error),
            None if self.errors_left == 0 => Ok(0),
            None => {
                let reader: &mut dyn Read = &mut self.reader;
                reader.take(most as u64).read_to_end(text)
            }
        };
        match result {
            Ok(_) => Ok(text.len() - before),
            Err(error) => {
                self.errors_left -= 1;
                Err(frames::explain(error))
            }
        }
    }

    /// The read position in the file, in bytes from its start. For an archive, these are compressed bytes.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position.get()
    }

    /// The number of bytes read from the source. For an archive, these are compressed bytes.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.position().saturating_sub(self.start)
    }

    /// Describes an error that [`read`](Self::read) returned after `text` bytes of text.
    #[must_use]
    pub fn describe(&self, error: &io::Error, text: u64) -> String {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => ": it ends too early".to_owned(),
            // zstd gives no cause.
            _ if error.to_string() == "Data corruption detected" => String::new(),
            _ => format!(": {error}"),
        };
        let at = self.position();
        // zstd and Rust report a lack of memory in different ways. If a thread cannot be started, the error
        // is `WouldBlock`.
        let is_memory = reason.contains("not enough memory") || error.kind() == io::ErrorKind::OutOfMemory;
        if is_memory || error.kind() == io::ErrorKind::WouldBlock {
            let why = if is_memory {
                "the system provides no more memory to this process"
            } else {
                "the system cannot start another thread for this process"
            };
            return format!("not read beyond byte {at} of the file: {why}");
        }
        let error_advice = if reason.contains(frames::MORE_MEMORY) {
            ""
        } else {
            ". Download the file again, or create it again"
        };
        format!("damaged near byte {at} of the file (byte {text} of the unpacked text){reason}{error_advice}")
    }
}
