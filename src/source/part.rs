//! A part of a zstd archive of many frames: the frames that begin in a range of its bytes, and the text around theirs.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Mapped;
use super::frames::{begins_frame, decoder, frame_before, frame_from};
use super::input::{Input, Position};

/// Where the text of a part begins and ends, in bytes of all text that is read for it, as far as that is known.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// Whether the part begins with the archive.
    pub(super) is_first: bool,
    text: Arc<[AtomicU64; 2]>,
}

const UNKNOWN: u64 = u64::MAX;

impl Marks {
    fn new(is_first: bool) -> Self {
        Self { is_first, text: Arc::new([AtomicU64::new(UNKNOWN), AtomicU64::new(UNKNOWN)]) }
    }

    fn set(&self, mark: usize, text: u64) {
        let _ = self.text[mark].compare_exchange(UNKNOWN, text, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> [Option<u64>; 2] {
        [0, 1].map(|mark| Some(self.text[mark].load(Ordering::Relaxed)).filter(|text| *text != UNKNOWN))
    }
}

/// Reads the text before a part, as much of it as tells where a game begins, that of the part, and what follows it.
pub(super) struct Part {
    map: Arc<Mapped>,
    position: Position,
    window: u64,
    marks: Marks,
    /// What is left to be read of each of the three.
    ranges: [Range<usize>; 3],
    /// Which of them is read.
    now: usize,
    open: Option<zstd::Decoder<'static, Input>>,
    text: u64,
}

/// Whether an archive can be read from the middle: it has a second frame that can be found.
pub(super) fn has_parts(bytes: &[u8]) -> bool {
    frame_from(bytes, 1) < bytes.len()
}

impl Part {
    pub(super) fn new(map: Arc<Mapped>, range: &Range<u64>, position: Position, window: u64) -> Self {
        /// Packed bytes that are more text than is looked at to tell whether a game begins at a place.
        const BEFORE: usize = 128 << 10;
        let bytes = map.bytes();
        let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(bytes.len());
        let (start, end) = (frame_from(bytes, at(range.start)), frame_from(bytes, at(range.end)));
        let mut before = start;
        while start - before < BEFORE
            && start < end
            && let Some(frame) = frame_before(bytes, before)
        {
            before = frame;
        }
        let after = if start < end { end..bytes.len() } else { end..end };
        let ranges = [before..start, start..end.max(start), after];
        Self { map, position, window, marks: Marks::new(start == 0), ranges, now: 0, open: None, text: 0 }
    }

    pub(super) fn marks(&self) -> Marks {
        self.marks.clone()
    }

    /// Goes on with the next of the three.
    fn pass(&mut self) {
        (self.open, self.now) = (None, self.now + 1);
        if self.now <= 2 {
            self.marks.set(self.now - 1, self.text);
        }
    }

    /// After damage: the next frame, if there is one.
    fn skip(&mut self) {
        self.open = None;
        let bytes = self.map.bytes();
        let range = &mut self.ranges[self.now];
        let at = usize::try_from(self.position.get()).unwrap_or(usize::MAX).clamp(range.start, range.end);
        let mut next = (at + 1).max(range.start + 1);
        while next < range.end && !begins_frame(&bytes[next..]) {
            next += 1;
        }
        range.start = next.min(range.end);
    }
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.now < 3 {
            let range = &self.ranges[self.now];
            if range.is_empty() {
                self.pass();
                continue;
            }
            let read = match &mut self.open {
                Some(open) => open.read(buffer),
                none => {
                    let input = Input::mapped(Arc::clone(&self.map), range.clone(), self.position.clone());
                    none.insert(decoder(input, self.window)?).read(buffer)
                }
            };
            match read {
                Ok(0) if buffer.is_empty() => return Ok(0),
                Ok(0) => self.pass(),
                Ok(read) => {
                    self.text += read as u64;
                    return Ok(read);
                }
                Err(error) if self.now == 1 => {
                    self.skip();
                    return Err(error);
                }
                // It is told by whoever reads that part.
                Err(_) if self.now == 0 => self.skip(),
                Err(_) => return Ok(0),
            }
        }
        Ok(0)
    }
}
