//! Splits a file into parts that several machines can read in parallel.
//!
//! A part of a zstd archive is a range of its compressed bytes. It contains the frames that begin in this
//! range, and the games that begin in the text of these frames. But a game that begins at most `LOOK_BACK`
//! bytes after the start of this text belongs to the previous part, if there is one. The reason: whether a
//! game begins at an offset depends on up to `LOOK_BACK` bytes of text before the offset. A part is read
//! without the frames before it.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::form::Form;
use super::frames::{self, FRAME, MOST_DAMAGED};
use super::input::{Input, Position, read_head};
use super::{Error, Mapped, Result};
use crate::sorted::sort;

/// How a file can be read in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Ranges of the file's bytes, in order; the whole file, if it cannot be split.
    pub ranges: Vec<Range<u64>>,
    /// Why the file cannot be split; `None` if it can.
    pub undivided: Option<&'static str>,
}

/// Splits a file into parts of about `size` (compressed) bytes. A part of a zstd archive begins with a frame.
///
/// For an archive, reads the headers of frames and blocks; for an archive written by `pzstd`, only those of
/// frames.
///
/// # Errors
/// If the file cannot be read.
pub fn parts(path: &Path, size: u64) -> Result<Parts> {
    let map = Mapped::open(path)?;
    let length = map.bytes().len() as u64;
    let starts: std::result::Result<Vec<u64>, _> = match Form::of(map.bytes()) {
        Form::Text => {
            let start = |part: u64| part.checked_mul(size.max(1)).filter(|&at| at < length);
            Ok((1..).map_while(start).collect())
        }
        Form::Zstd => match frame_starts(map.bytes()) {
            starts if starts.len() < 2 => {
                Err("a zstd archive with a single frame; pzstd creates archives with many frames")
            }
            _ if !has_text(map, path)? => Err("an archive without UTF-8 text"),
            starts => Ok(starts),
        },
        Form::Gzip => Err("a gzip archive"),
        Form::Bzip2 => Err("a bzip2 archive"),
        Form::Zip => Err("a zip archive"),
        Form::Utf16(_) => Err("a file in UTF-16"),
        Form::Other(..) => Err("not PGN"),
    };
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut start = 0;
    for &at in starts.iter().flatten() {
        if at - start >= size {
            ranges.push(start..at);
            start = at;
        }
    }
    ranges.push(start..length);
    Ok(Parts { ranges, undivided: starts.err() })
}

/// Whether the text of an archive is UTF-8 or in an 8-bit character set, according to its first bytes.
fn has_text(map: Mapped, path: &Path) -> Result<bool> {
    let range = 0..map.bytes().len();
    let input = Input::mapped(Arc::new(map), range, Position::default());
    let decoder = frames::decoder(input, frames::USUAL_WINDOW);
    let (head, error) = read_head(&mut decoder.map_err(|error| Error::io(path, error))?);
    // Damage is reported when the archive is read.
    Ok(error.is_some() || Form::of(&head) == Form::Text)
}

/// The starts of consecutive frames with content. If skippable frames precede a frame, its start is that of
/// the first skippable frame.
fn frame_starts(bytes: &[u8]) -> Vec<u64> {
    let (mut starts, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        at = bytes.len() - frames::first_frame(&bytes[at..]).len();
        if at == bytes.len() {
            break;
        }
        starts.push(start as u64);
        match hinted_length(bytes, start, at).or_else(|| frames::frame_length(&bytes[at..])) {
            Some(length) => at += length,
            // Frames after damage are read together with those before it.
            None => break,
        }
    }
    starts
}

/// The length of the frame at `at`, if pzstd stored the length in a skippable frame of four bytes before this
/// frame. After this frame, the archive must end or continue with another such pair of frames.
fn hinted_length(bytes: &[u8], start: usize, at: usize) -> Option<usize> {
    const HINT: usize = 12;
    let hint = bytes.get(start..at)?.strip_prefix(b"\x50\x2a\x4d\x18\x04\0\0\0")?;
    let length = u32::from_le_bytes(hint.try_into().ok()?) as usize;
    let next = bytes.get(at.checked_add(length)?..)?;
    let is_next = next.is_empty() || next.get(HINT..).is_some_and(|frame| frame.starts_with(&FRAME));
    (at - start == HINT && length > 0 && is_next).then_some(length)
}

/// The start of the first frame of a part, if there is one.
fn first_frame(bytes: &[u8], part: &Range<usize>) -> Option<usize> {
    if part.start == 0 {
        return Some(0);
    }
    // The last byte of the part can be the first byte of a frame.
    let window = &bytes[part.start..bytes.len().min(part.end.saturating_add(3))];
    let plain = memchr::memmem::find_iter(window, &FRAME);
    let skippable = memchr::memmem::find_iter(window, b"\x2a\x4d\x18").filter_map(|at| at.checked_sub(1));
    let mut found: Vec<usize> =
        plain.chain(skippable).map(|at| part.start + at).filter(|&at| at < part.end).collect();
    sort(&mut found);
    found.into_iter().find(|&at| begins_frame(bytes, at))
}

/// Whether a frame begins at the offset `at`. This frame and the three after it, or all frames up to the end,
/// must be complete according to their headers. Several frames are checked, because the magic number can also
/// occur within a frame.
fn begins_frame(bytes: &[u8], at: usize) -> bool {
    const FRAMES: usize = 4;
    let mut rest = &bytes[at..];
    for _ in 0..FRAMES {
        if rest.is_empty() {
            return true;
        }
        let Some(length) = frames::frame_length(rest) else { return false };
        rest = &rest[length..];
    }
    rest.is_empty() || rest.starts_with(&FRAME) || frames::is_skippable(rest)
}

/// The offset at which the text of a part's own frames ends, once they have been read.
pub(super) type PartEnd = Arc<OnceLock<u64>>;

/// Reads the text of the frames of a part, then the text of the frames after the part. After a decoding
/// error, the next call continues with a later frame.
pub(super) struct FramesOfPart {
    map: Arc<Mapped>,
    /// The end of the part, in bytes of the archive.
    end: usize,
    /// The offset at which the next frame is expected, in bytes of the archive.
    at: usize,
    window: u64,
    position: Position,
    open: Option<zstd::Decoder<'static, Input>>,
    /// The number of bytes of text read so far.
    text: u64,
    text_end: PartEnd,
    damaged: u32,
}

impl FramesOfPart {
    /// Begins with the first frame of a part. Also returns the end of the part's text, which becomes known
    /// while the text is read.
    pub(super) fn new(
        map: Arc<Mapped>,
        part: &Range<u64>,
        position: Position,
        window: u64,
    ) -> (Self, PartEnd) {
        let length = map.bytes().len();
        let within = |at: u64| usize::try_from(at).unwrap_or(length).min(length);
        let part = within(part.start)..within(part.end);
        let first = first_frame(map.bytes(), &part);
        let text_end = PartEnd::default();
        if first.is_none() {
            let _ = text_end.set(0);
        }
        let at = first.unwrap_or(length);
        position.set(at as u64);
        let (end, known_end) = (part.end, Arc::clone(&text_end));
        let of_part = Self { map, end, at, window, position, open: None, text: 0, text_end, damaged: 0 };
        (of_part, known_end)
    }

    /// Opens the next frame; `None` if there are no more frames.
    fn open_next(&mut self) -> io::Result<Option<zstd::Decoder<'static, Input>>> {
        let bytes = self.map.bytes();
        loop {
            if self.at >= self.end && begins_frame(bytes, self.at) {
                // Only the first value is kept.
                let _ = self.text_end.set(self.text);
            }
            let rest = &bytes[self.at..];
            if !frames::is_skippable(rest) {
                break;
            }
            self.at += frames::frame_length(rest).ok_or(io::ErrorKind::UnexpectedEof)?;
        }
        if self.at == bytes.len() {
            return Ok(None);
        }
        let input = Input::mapped(Arc::clone(&self.map), self.at..bytes.len(), self.position.clone());
        frames::decoder(input, self.window).map(|decoder| Some(decoder.single_frame()))
    }

    /// Reads text from the current frame or the following ones. Fails at a damaged place.
    fn read_frames(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if self.open.is_none() {
                self.open = self.open_next()?;
            }
            let Some(open) = &mut self.open else { break };
            let read = open.read(buffer)?;
            if read > 0 {
                self.text += read as u64;
                return Ok(read);
            }
            self.open = None;
            self.at = usize::try_from(self.position.get()).unwrap_or(usize::MAX);
        }
        Ok(0)
    }

    /// Continues after a damaged place with the next frame that can be found.
    fn pass_damage(&mut self) {
        self.open = None;
        self.damaged += 1;
        let bytes = self.map.bytes();
        let from = usize::try_from(self.position.get()).unwrap_or(bytes.len()).clamp(self.at, bytes.len());
        let from = from.max(self.at + 1).min(bytes.len());
        let next = memchr::memmem::find(&bytes[from..], &FRAME).filter(|_| self.damaged < MOST_DAMAGED);
        self.at = next.map_or(bytes.len(), |next| from + next);
    }
}

impl Read for FramesOfPart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read_frames(buffer);
        if read.is_err() {
            self.pass_damage();
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with uncompressed text, in one raw block (RFC 8878, 3.1.1).
    fn stored(text: &[u8]) -> Vec<u8> {
        let length = text.len() as u32;
        [&FRAME[..], &[0xa0], &length.to_le_bytes(), &(length << 3 | 1).to_le_bytes()[..3], text].concat()
    }

    #[test]
    fn frames_are_found_from_any_byte_despite_magic_numbers_within_them() {
        const SKIPPABLE: &[u8; 12] = b"\x50\x2a\x4d\x18\x04\0\0\0size";
        let (mut archive, mut begins, mut state) = (Vec::new(), Vec::new(), 1_u32);
        for length in [0, 10, 70_000, 300, 5, 100_000] {
            begins.push(archive.len());
            archive.extend(SKIPPABLE);
            begins.push(archive.len());
            let mut text = Vec::new();
            // The text contains the magic number of a frame repeatedly.
            for at in 0..length {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.push((state >> 26) as u8 + b' ');
                if at % 64 == 63 {
                    text.extend(FRAME);
                }
            }
            archive.extend(stored(&text));
        }
        assert!(memchr::memmem::find_iter(&archive, &FRAME).count() > 1000);
        for from in (0..archive.len()).step_by(997).chain(begins.iter().copied()) {
            let expected = begins.iter().copied().find(|&begin| begin >= from);
            assert_eq!(first_frame(&archive, &(from..archive.len())), expected, "{from}");
        }
        // No frame begins within a skippable frame, even if the frame after it is cut off.
        assert_eq!(first_frame(&archive[..archive.len() - 1], &(begins[10] + 1..begins[11])), None);
    }
}
