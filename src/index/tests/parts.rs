//! Tests that the parts of a file together contain each game once, wherever the file is cut.

use std::fs;
use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;

use crate::index::read::feed::{Feed, Task};
use crate::index::read::stream::CutOptions;
use crate::pgn::LOOK_BACK;
use crate::properties::cases;
use crate::source::{DecodeOptions, list, parts};
use crate::store::row::SourceId;

/// The first bytes of a zstd frame.
const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
/// The beginning of a skippable zstd frame with four bytes of data.
const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18\x04\0\0\0";

/// The text of the games in a part of a file, and the reported problems.
fn text_of(path: &Path, part: Range<u64>, chunk_size: usize) -> (Vec<u8>, Vec<String>) {
    let decode = DecodeOptions { threads: 2, memory: 64 << 20 };
    let mut sources = list(&[path], decode, &()).unwrap();
    sources.files.iter_mut().flatten().for_each(|file| file.restrict(&part));
    let directory = path.parent().unwrap().to_owned();
    let options = CutOptions { chunk_size, most_in_memory: 1 << 20, directory, decode };
    let mut feed = Feed::new(&sources, SourceId(0), options);
    let (mut text, mut problems) = (Vec::new(), Vec::new());
    while let Some(work) = feed.next(|| false).unwrap() {
        match work.task {
            Task::Chunk(chunk) => text.extend_from_slice(chunk.bytes()),
            Task::Report(problem) => problems.push(problem.message),
            Task::End(_) => {}
        }
    }
    (text, problems)
}

/// Cuts a range of this length into `pieces` ranges of equal size.
fn cut(length: u64, pieces: u64) -> Vec<Range<u64>> {
    (0..pieces).map(|piece| length * piece / pieces..length * (piece + 1) / pieces).collect()
}

/// The texts of parts of a file. Each text must consist of whole games.
fn texts(path: &Path, ranges: &[Range<u64>], chunk_size: usize) -> Vec<Vec<u8>> {
    let of_part = |range: &Range<u64>| {
        let (text, problems) = text_of(path, range.clone(), chunk_size);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(text.is_empty() || range.start == 0 || text.starts_with(b"[Event \""), "{range:?}");
        text
    };
    ranges.iter().map(of_part).collect()
}

fn hold(path: &Path, whole: &[u8], chunk_size: usize) {
    let length = fs::metadata(path).unwrap().len();
    for pieces in [1, 2, 7, 64] {
        let texts = texts(path, &cut(length, pieces), chunk_size);
        assert!(texts.concat() == whole, "{pieces} pieces");
    }
}

/// Incompressible bytes, without braces, square brackets and line ends.
fn noise(length: usize, mut seed: u64) -> Vec<u8> {
    let byte = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u8
    };
    std::iter::repeat_with(byte).filter(|byte| !b"{}[]\n\r".contains(byte)).take(length).collect()
}

fn game(number: usize, comment: &[u8]) -> Vec<u8> {
    let head = format!("[Event \"{number}\"]\n[White \"A\"]\n\n1. e4 {{");
    [head.as_bytes(), comment, b"} e5 2. Nf3 *\n\n"].concat()
}

fn frame(text: &[u8], level: i32) -> Vec<u8> {
    zstd::encode_all(text, level).unwrap()
}

/// An archive of some texts, as pzstd writes it, or the same archive without skippable frames.
fn archive(texts: &[&[u8]], like_pzstd: bool) -> Vec<u8> {
    let mut archive = Vec::new();
    for text in texts {
        let frame = frame(text, 1);
        if like_pzstd {
            archive.extend(SKIPPABLE);
            archive.extend((frame.len() as u32).to_le_bytes());
        }
        archive.extend(frame);
    }
    archive
}

fn in_pieces<'t>(text: &'t [u8], sizes: &[usize]) -> Vec<&'t [u8]> {
    let (mut pieces, mut rest, mut sizes) = (Vec::new(), text, sizes.iter().cycle());
    while !rest.is_empty() {
        let (piece, left) = rest.split_at(rest.len().min(*sizes.next().unwrap()).max(1));
        pieces.push(piece);
        rest = left;
    }
    pieces
}

fn kept(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn.zst");
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// A comment that consists of text or noise. Some kinds contain bytes that look like the beginning of a
/// frame, or nearly a whole frame.
fn comment(kind: usize, length: usize, number: usize) -> Vec<u8> {
    let noise = noise(length, number as u64 + 1);
    match kind {
        0 => b"a word ".repeat(length / 7 + 1),
        1 => noise,
        2 => [&noise, FRAME, b"\x04\x58\x01\x00\x00abc", &noise].concat(),
        3 => [&noise, SKIPPABLE, b"\x09\0\0\0", FRAME, &noise].concat(),
        _ => {
            let inner: Vec<u8> =
                frame(b"1. d4 d5 *", 1).into_iter().filter(|byte| !b"{}[]\n\r".contains(byte)).collect();
            [&noise, &inner[..], &inner, &noise].concat()
        }
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn parts_have_the_games_of_the_whole_text(
        comments in proptest::collection::vec((0..5_usize, prop_oneof![4 => 0..400_usize, 2 => 1_000..40_000_usize, 1 => 100_000..300_000_usize]), 1..60),
        sizes in proptest::collection::vec(prop_oneof![1 => 1..2_000_usize, 4 => 2_000..200_000_usize], 1..12),
        like_pzstd: bool,
        is_plain: bool,
        chunk_size in prop_oneof![Just(1000_usize), Just(1 << 20)],
        pieces in 1..100_u64,
    ) {
        let games = comments.iter().enumerate();
        let text: Vec<u8> = games.flat_map(|(number, &(kind, length))| game(number, &comment(kind, length, number))).collect();
        let bytes = if is_plain { text.clone() } else { archive(&in_pieces(&text, &sizes), like_pzstd) };
        let (_directory, path) = kept(&bytes);
        hold(&path, &text, chunk_size);
        prop_assert!(texts(&path, &cut(bytes.len() as u64, pieces), chunk_size).concat() == text);
        // The parts that `parts` suggests also contain each game once.
        let proposed = parts(&path, bytes.len() as u64 / pieces).unwrap();
        prop_assert_eq!(proposed.ranges.first().map(|range| range.start), Some(0));
        prop_assert_eq!(proposed.ranges.last().map(|range| range.end), Some(bytes.len() as u64));
        prop_assert!(proposed.ranges.is_sorted_by(|one, other| one.end == other.start));
        prop_assert!(texts(&path, &proposed.ranges, chunk_size).concat() == text);
    }
}

#[test]
fn games_and_frames_may_end_and_begin_anywhere() {
    let small = |range: Range<usize>| range.flat_map(|number| game(number, b"")).collect::<Vec<u8>>();
    // In the lists of frames below, a game begins at the start of a frame, a game extends over three frames, or
    // no game begins in some frames.
    let long = game(5000, &noise(5 * LOOK_BACK, 3));
    let (before, after) = (small(0..3000), small(6000..9000));
    let (first, rest) = long.split_at(100);
    let (second, third) = rest.split_at(2 * LOOK_BACK);
    let whole = [&before[..], &long, &after].concat();
    for frames in [
        vec![&before[..], &long, &after],
        vec![&before[..], first, second, third, &after],
        vec![&before[..5], &before[5..], first, second, &third[..10], &third[10..], &after[..7], &after[7..]],
    ] {
        for like_pzstd in [true, false] {
            let bytes = archive(&frames, like_pzstd);
            let (_directory, path) = kept(&bytes);
            hold(&path, &whole, 1000);
            // Cut exactly where a frame begins, and a byte before and after it.
            let mut at = 0;
            for frame in &frames {
                at += archive(&[frame], like_pzstd).len() as u64;
                for at in [at - 1, at, at + 1].map(|at| at.min(bytes.len() as u64)) {
                    let texts = texts(&path, &[0..at, at..bytes.len() as u64], 1000);
                    assert!(texts.concat() == whole, "{at}");
                }
            }
        }
    }
}

#[test]
fn a_false_beginning_of_a_frame_is_skipped() {
    let inner = frame(&noise(300, 9), 1);
    let inner: Vec<u8> = inner.into_iter().filter(|byte| !b"{}[]\n\r".contains(byte)).collect();
    // zstd stores noise uncompressed, so the archive contains this comment, with its false beginnings of frames,
    // byte for byte.
    let comment = [
        &noise(150_000, 4)[..],
        FRAME,
        b"\0\x01",
        &inner,
        SKIPPABLE,
        b"\x01\0\0\0",
        FRAME,
        &noise(150_000, 5),
    ]
    .concat();
    let texts: Vec<Vec<u8>> =
        (0..4).map(|number| [game(number, &comment), game(number + 10, b"x")].concat()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let bytes = archive(&texts, true);
    let found = memchr::memmem::find_iter(&bytes, FRAME).count();
    assert!(found >= 4 + 8, "only {found}");
    let (_directory, path) = kept(&bytes);
    hold(&path, &texts.concat(), 1 << 20);
    for at in memchr::memmem::find_iter(&bytes, FRAME).map(|at| at as u64) {
        let halves = self::texts(&path, &[0..at, at..bytes.len() as u64], 1 << 20);
        assert!(halves.concat() == texts.concat(), "{at}");
    }
}

#[test]
fn a_damaged_frame_is_reported_once_and_the_others_are_read() {
    let texts: Vec<Vec<u8>> = (0..8)
        .map(|part| {
            (0..1500)
                .flat_map(|number| game(part * 1500 + number, &noise(60, (part * 1500 + number) as u64)))
                .collect()
        })
        .collect();
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let mut bytes = archive(&texts, true);
    let start = archive(&texts[..3], true).len();
    // Overwrites the header of the first block in the fourth frame.
    bytes[start + 12 + 6..start + 12 + 10].copy_from_slice(b"\xff\xff\xff\xff");
    let (_directory, path) = kept(&bytes);
    for pieces in [1, 2, 7, 64] {
        let (mut text, mut problems) = (Vec::new(), Vec::new());
        for range in cut(bytes.len() as u64, pieces) {
            let (games, messages) = text_of(&path, range, 1 << 20);
            text.extend(games);
            problems.extend(messages);
        }
        assert_eq!(problems.len(), 1, "{pieces}: {problems:?}");
        let events = memchr::memmem::find_iter(&text, b"[Event \"").count();
        // The games of the other seven frames are read, except at most 700 near the damaged frame.
        assert!((1500 * 7 - 700..=1500 * 7).contains(&events), "{pieces}: {events}");
    }
}

#[test]
fn indivisible_sources_are_one_part() {
    let text = game(1, &noise(20_000, 1));
    for (bytes, is_undivided) in [
        (text.clone(), false),
        (frame(&text, 1), true),
        (archive(&[&text, &text, &text], true), false),
        (archive(&[&text, &text], false), false),
        (archive(&[b"\xff\xfe[\0E\0", &text], false), true),
        ([b"\x1f\x8b\x08".as_slice(), &text].concat(), true),
    ] {
        let (_directory, path) = kept(&bytes);
        let found = parts(&path, 15_000).unwrap();
        // If a file cannot be divided, the part with its beginning has all games.
        if is_undivided && bytes.starts_with(FRAME) {
            let halves = [0..bytes.len() as u64 / 2, bytes.len() as u64 / 2..bytes.len() as u64];
            let texts = halves.map(|half| text_of(&path, half, 1000).0);
            assert!(!texts[0].is_empty() && texts[1].is_empty());
        }
        assert_eq!(found.undivided.is_some(), is_undivided, "{found:?}");
        assert_eq!(found.ranges.len() > 1, !is_undivided, "{found:?}");
    }
}
