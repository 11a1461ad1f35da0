//! Splits a file into parts that several machines can read in parallel.
//!
//! A part of a zstd archive is a range of its compressed bytes. It contains the frames that begin in this
//! range, and the games that begin in the text of these frames. But a game that begins at most `LOOK_BACK`
//! bytes after the start of this text belongs to the previous part, if there is one. The reason: whether a
//! game begins at an offset depends on up to `LOOK_BACK` bytes of text before the offset. A part is read
//! without the frames before it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::form::Form;
use super::frames::{self, FRAME};
use super::input::{Input, Position, read_head};
use super::{Error, Mapped, Result};

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
