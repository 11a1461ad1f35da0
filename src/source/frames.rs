//! Decodes Zstandard archives, in parallel if they have several frames.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use zstd::zstd_safe;

use super::Mapped;
use super::input::{Input, Position};
use crate::channel::{Receiver, Sender, bounded};
use crate::parallel::lock;

/// The magic number of a frame.
pub(super) const FRAME: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// The largest window that is always allowed, in bytes. `zstd --long` uses this window.
pub(super) const USUAL_WINDOW: u64 = 128 << 20;

/// The maximum number of damaged frames in a sequence of frames that one thread decodes (a run): garbage must
/// not fill the database.
const MOST_DAMAGED: u32 = 20;

/// The offset at which the text of a part's own frames ends, once they have been read.
pub(super) type PartEnd = Arc<OnceLock<u64>>;

/// Reads the text of the frames of a part in order, then the text of the frames after the part. After a
/// decoding error, reading continues with a later frame.
pub(super) struct Frames {
    runs: Receiver<Receiver<Block>>,
    run: Option<Receiver<Block>>,
    text: Vec<u8>,
    given: usize,
    position: Position,
    /// The number of bytes of text received so far.
    received: u64,
    part_end: PartEnd,
}

/// What a decoder thread sends for a run, which is a sequence of consecutive frames.
enum Block {
    /// The run is the first one after the frames of the part.
    AfterPart,
    /// Text, and the read position in the archive.
    Text(Vec<u8>, u64),
    /// The error of a damaged frame, and the offset of the damage in the archive.
    Damage(io::Error, u64),
    /// The end of the run.
    End,
}

/// The amount of text decoded at once, in bytes.
const BLOCK: usize = 256 << 10;

impl Frames {
    /// Begins with the first frame of a part, which is a range of bytes. Decodes with at most this number of
    /// threads. `ahead` is the memory for text that is decoded ahead, and `window` the largest window allowed,
    /// both in bytes. Windows of up to [`USUAL_WINDOW`] are always allowed.
    pub(super) fn new(
        map: Arc<Mapped>,
        part: &Range<u64>,
        position: Position,
        threads: usize,
        ahead: u64,
        window: u64,
    ) -> Self {
        let length = map.bytes().len();
        let within = |at: u64| usize::try_from(at).unwrap_or(length).min(length);
        let part = within(part.start)..within(part.end);
        let at = if part.start == 0 { Some(0) } else { next_frame(map.bytes(), &part) };
        let at = at.unwrap_or(length);
        position.set(at as u64);
        // Several decoders are used only if all their windows together take no more memory than
        // `USUAL_WINDOW`.
        let needed = self::window(&map.bytes()[at..]);
        let threads = threads.min((USUAL_WINDOW / needed.max(1)).max(1) as usize).max(1);
        let blocks = ahead / BLOCK as u64 / (2 * threads as u64 + 1);
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX).max(2);
        let (sender, runs) = bounded(threads);
        let walk = Arc::new(Mutex::new(Walk { at, part_end: part.end, runs: sender }));
        let (text, part_end) = (Vec::new(), PartEnd::default());
        let mut frames = Self { runs, run: None, text, given: 0, position, received: 0, part_end };
        for number in 0..threads {
            let (walk, map) = (Arc::clone(&walk), Arc::clone(&map));
            let decode = move || {
                while let Some((range, blocks)) = next_run(&walk, map.bytes(), blocks) {
                    decode_run(&map, range, &blocks, window);
                }
            };
            let thread = std::thread::Builder::new().name(format!("decode-{number}"));
            // The first thread must start; it can do the work of the others.
            if let Err(error) = thread.spawn(decode)
                && number == 0
            {
                let (blocks, run) = bounded(2);
                let _ = blocks.send(Block::Damage(error, at as u64));
                let _ = blocks.send(Block::End);
                (frames.runs, frames.run) = (bounded(1).1, Some(run));
                break;
            }
        }
        frames
    }

    /// The end of the part's text, which becomes known while the text is read.
    pub(super) fn part_end(&self) -> PartEnd {
        Arc::clone(&self.part_end)
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            let run = match &self.run {
                Some(run) => run,
                None => match self.runs.recv() {
                    Ok(run) => self.run.insert(run),
                    Err(_) => return Ok(0),
                },
            };
            match run.recv() {
                Ok(Block::AfterPart) => {
                    // Only the first value is kept.
                    let _ = self.part_end.set(self.received);
                }
                Ok(Block::Text(text, position)) => {
                    self.received += text.len() as u64;
                    (self.text, self.given) = (text, 0);
                    self.position.set(position);
                }
                Ok(Block::Damage(error, position)) => {
                    self.position.set(position);
                    return Err(error);
                }
                Ok(Block::End) => self.run = None,
                Err(_) => return Err(io::Error::other("a decoder thread failed")),
            }
        }
        let read = (&self.text[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

/// The start of the next run of frames, and the queue for the receivers of the runs' text.
struct Walk {
    at: usize,
    /// The end of the part, in bytes of the archive.
    part_end: usize,
    runs: Sender<Receiver<Block>>,
}

/// Returns the next run of frames, and the sender for its text; `None` if there are no more frames, or if the
/// text of further runs is not received any more.
fn next_run(walk: &Mutex<Walk>, bytes: &[u8], blocks: usize) -> Option<(Range<usize>, Sender<Block>)> {
    /// Frames are added to a run until it has this size, in bytes of the archive. The last run of a part, the
    /// runs after it, and a run before a very long or damaged frame can be shorter.
    const RUN: usize = 1 << 20;
    /// The maximum length of a frame whose end is searched for. A longer frame is decoded without knowing its
    /// end, because searching for the end would take too long.
    const LONG: usize = 32 << 20;
    let mut walk = lock(walk);
    let start = walk.at;
    if start == bytes.len() {
        return None;
    }
    let mut end = start;
    while end == start || end < walk.part_end.min(start + RUN) {
        let rest = &bytes[end..];
        // The length of a skippable frame is in its header.
        let most = if is_skippable(rest) { rest.len() } else { rest.len().min(LONG) };
        match frame_length(&rest[..most]) {
            Some(length) => end += length,
            // A very long or damaged frame: its decoder continues to the end of the part or, after it, to the
            // next frame.
            None if end == start => {
                let next = next_frame(bytes, &(walk.part_end.max(start + 1)..bytes.len()));
                end = next.unwrap_or(bytes.len());
            }
            None => break,
        }
    }
    walk.at = end;
    let (sender, receiver) = bounded(blocks);
    if start >= walk.part_end && begins_frame(bytes, start) {
        sender.send(Block::AfterPart).ok()?;
    }
    walk.runs.send(receiver).ok()?;
    Some((start..end, sender))
}

/// Decodes a run of frames. After a damaged frame, continues with the next one that can be found.
fn decode_run(map: &Arc<Mapped>, range: Range<usize>, blocks: &Sender<Block>, window: u64) {
    let mut start = range.start;
    for _ in 0..MOST_DAMAGED {
        let position = Position::default();
        let input = Input::mapped(Arc::clone(map), start..range.end, position.clone());
        let Err(error) = decode_all(input, &position, window, blocks) else { break };
        let at = position.get();
        if blocks.send(Block::Damage(error, at)).is_err() {
            return;
        }
        let from = (at as usize).clamp(start, range.end - 1) + 1;
        let Some(next) = memchr::memmem::find(&map.bytes()[from..range.end], &FRAME) else { break };
        start = from + next;
    }
    let _ = blocks.send(Block::End);
}

fn decode_all(input: Input, position: &Position, window: u64, blocks: &Sender<Block>) -> io::Result<()> {
    let mut decoder = decoder(input, window)?;
    loop {
        let mut text = Vec::with_capacity(BLOCK);
        let read = (&mut decoder).take(BLOCK as u64).read_to_end(&mut text);
        let is_empty = text.is_empty();
        if !is_empty && blocks.send(Block::Text(text, position.get())).is_err() {
            // The receiver is closed.
            return Ok(());
        }
        read?;
        if is_empty {
            return Ok(());
        }
    }
}

/// Decodes the frames of an input one after the other. Allows windows of up to `window` bytes or
/// [`USUAL_WINDOW`], whichever is larger. The limit is rounded down to a power of two, and is at most 2 GiB.
pub(super) fn decoder(input: Input, window: u64) -> io::Result<zstd::Decoder<'static, Input>> {
    let mut decoder = zstd::Decoder::with_buffer(input)?;
    decoder.window_log_max(window.max(USUAL_WINDOW).ilog2().min(31))?;
    Ok(decoder)
}

/// Replaces the decoder's error about too much memory with an error that contains advice. Returns other
/// errors unchanged.
pub(super) fn explain(error: io::Error) -> io::Error {
    if !error.to_string().contains("too much memory") {
        return error;
    }
    io::Error::other(MORE_MEMORY)
}

/// The message for an intact archive that needs more memory than is allowed.
pub(super) const MORE_MEMORY: &str = "unpacking it takes more memory than is allowed (it was compressed with zstd --long): allow more \
     memory, or unpack it first (zstd -d --long=31)";

/// The window that the first frame of an archive needs, in bytes (RFC 8878, 3.1.1.1); 0 if this is not a zstd
/// archive.
pub(super) fn window(head: &[u8]) -> u64 {
    let frame = first_frame(head);
    match frame.strip_prefix(&FRAME) {
        // A frame with this bit has no window descriptor. Its window is its whole text.
        Some([descriptor, ..]) if descriptor & 0x20 != 0 => {
            zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or(0)
        }
        Some([_, window, ..]) => {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        }
        _ => 0,
    }
}

/// The bytes after the skippable frames at the start of `bytes`; empty if one of these frames is cut off.
pub(super) fn first_frame(mut bytes: &[u8]) -> &[u8] {
    while is_skippable(bytes) {
        bytes = frame_length(bytes).map_or(&[], |length| &bytes[length..]);
    }
    bytes
}

/// Whether a skippable frame begins here.
pub(super) fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The length in bytes of the frame at the start of `bytes`, from the headers of its blocks; `None` if the
/// frame is damaged or cut off.
pub(super) fn frame_length(bytes: &[u8]) -> Option<usize> {
    zstd_safe::find_frame_compressed_size(bytes).ok()
}

/// The start of the first frame that begins in this range of an archive.
fn next_frame(bytes: &[u8], range: &Range<usize>) -> Option<usize> {
    /// The index of the byte that is searched for, within the magic number.
    const SEARCHED: usize = 3;
    // The last byte of the range can be the first byte of a frame.
    let window = &bytes[range.start..bytes.len().min(range.end.saturating_add(SEARCHED))];
    // The last byte of each magic number: plain frames, skippable frames.
    let found = memchr::memchr2_iter(FRAME[SEARCHED], 0x18, window);
    found.filter_map(|at| Some(range.start + at.checked_sub(SEARCHED)?)).find(|&at| {
        let rest = &bytes[at..];
        (rest.starts_with(&FRAME) || is_skippable(rest)) && begins_frame(bytes, at)
    })
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
        let Some(length) = frame_length(rest) else { return false };
        rest = &rest[length..];
    }
    rest.is_empty() || rest.starts_with(&FRAME) || is_skippable(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(text.len().is_multiple_of(2)).unwrap();
        if text.len().is_multiple_of(3) {
            encoder.set_pledged_src_size(Some(text.len() as u64)).unwrap();
        }
        io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 58) as u8 + b' '
        };
        (0..length).map(|_| next()).collect()
    }

    fn read(archive: &[u8], threads: usize) -> (Vec<u8>, Vec<(String, u64)>) {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, archive).unwrap();
        let position = Position::default();
        let mut frames = Frames::new(
            Arc::new(Mapped::from_file(&file).unwrap()),
            &(0..u64::MAX),
            position.clone(),
            threads,
            1 << 20,
            USUAL_WINDOW,
        );
        let (mut text, mut errors) = (Vec::new(), Vec::new());
        while let Err(error) = frames.read_to_end(&mut text) {
            errors.push((error.to_string(), position.get()));
        }
        (text, errors)
    }

    #[test]
    fn frames_are_distinguished_by_their_headers() {
        for length in [0, 1, 3, 255, 256, 300, 65_792, 70_000, 400_000, 2_000_001] {
            let packed = frame(&noise(length));
            assert_eq!(frame_length(&packed), Some(packed.len()), "{length}");
            assert_eq!(frame_length(&[&packed[..], b"rest"].concat()), Some(packed.len()), "{length}");
            assert_eq!(frame_length(&packed[..packed.len() - 1]), None, "{length}");
        }
        assert_eq!(frame_length(b"\x50\x2a\x4d\x18\x02\0\0\0xy"), Some(10));
        assert_eq!(frame_length(b"\x50\x2a\x4d\x18\x03\0\0\0xy"), None);
        assert_eq!(frame_length(b"[Event"), None);
    }

    #[test]
    fn the_window_of_a_frame_is_in_its_header() {
        for (length, expected) in [(0, 0), (300, 300), (300_000, 300_000), (1, 2 << 20), (400_000, 2 << 20)] {
            let head = [&b"\x5a\x2a\x4d\x18\x04\0\0\0size"[..], &frame(&noise(length))].concat();
            assert_eq!(window(&head), expected, "{length}");
        }
        for window_log in [10, 24, 27] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            encoder.window_log(window_log).unwrap();
            io::Write::write_all(&mut encoder, b"text").unwrap();
            assert_eq!(window(&encoder.finish().unwrap()), 1 << window_log);
        }
        // The mantissa of this window descriptor is 3.
        assert_eq!(window(b"\x28\xb5\x2f\xfd\0\x0b"), 2048 + 3 * 256);
        assert_eq!(window(b"\x5a\x2a\x4d\x18\x04\0\0\0"), 0);
        assert_eq!(window(b"[Event"), 0);
    }

    #[test]
    fn many_frames_give_their_text_in_order() {
        let text = noise(6_000_000);
        for size in [10_000, 700_000, 2_500_000] {
            let mut archive = Vec::new();
            for piece in text.chunks(size) {
                archive.extend(b"\x5a\x2a\x4d\x18\x04\0\0\0size");
                archive.extend(frame(piece));
            }
            for threads in [1, 2, 5] {
                let (read, errors) = read(&archive, threads);
                assert!(read == text && errors.is_empty(), "{size} {threads} {errors:?}");
            }
        }
    }

    #[test]
    fn after_a_damaged_frame_the_next_one_is_read() {
        let pieces = [noise(1_500_000), noise(1_000_000), noise(20)];
        let mut archive: Vec<u8> = pieces.iter().flat_map(|piece| frame(piece)).collect();
        let first = frame(&pieces[0]).len();
        archive[first / 2] ^= 0x55;
        for threads in [1, 3] {
            let (text, errors) = read(&archive, threads);
            assert!(text.ends_with(&[&pieces[1][..], &pieces[2]].concat()), "{threads}");
            assert_eq!(errors.len(), 1, "{threads} {errors:?}");
            assert!(errors[0].1 <= first as u64 && errors[0].1 > 0);
        }
    }

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
            assert_eq!(next_frame(&archive, &(from..archive.len())), expected, "{from}");
        }
        // No frame begins within a skippable frame, even if the frame after it is cut off.
        assert_eq!(next_frame(&archive[..archive.len() - 1], &(begins[10] + 1..begins[11])), None);
    }
}
