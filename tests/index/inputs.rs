//! Archives, streams and other encodings give the same database as the plain file.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pgndex::index::{IndexOptions, Summary};
use pgndex::source::{DecodeOptions, Decoded, Opened, list, open as open_source};
use pgndex::store::row::Severity;
use pgndex::verify::{Progress as VerifyProgress, Sample, VerifyOptions, verify};
use proptest::prelude::*;

use crate::properties::cases;

use crate::index::archives::*;
use crate::support::*;

/// Games that are difficult to divide: open comments, no blank lines, byte order marks, text between games.
pub(crate) fn text() -> Vec<u8> {
    let odd: [&[u8]; 6] = [
        b"[Event \"open\"]\n\n1. e4 {never closed\n\n",
        b"\xef\xbb\xbf[Event \"marked\"]\n\n1. d4 d5 *\n\n",
        b"[Event \"no blank\"]\n1. c4 *\n[Event \"next\"]\n1. c4 c5 1-0\n\n",
        b"Dear Sir,\n\nhere they are:\n\n",
        b"[Event \"\xe9t\xe9\"]\r\n\r\n1. Nf3 Ke4 0-1\r\n\r\n",
        b"1. e4 e5 2. Ke2 *\n\n",
    ];
    let some_games = &GAMES.as_bytes()[..pgndex::pgn::next_boundary(GAMES.as_bytes(), GAMES.len() / 5)];
    [GAMES.as_bytes(), ANNOTATED.as_bytes(), &odd.concat(), some_games, &odd.concat()].concat()
}

/// A text and its database.
struct Plain<'p> {
    place: &'p Path,
    text: &'p [u8],
    summary: Summary,
}

impl<'p> Plain<'p> {
    fn new(place: &'p Path, text: &'p [u8]) -> Self {
        let (input, target) = (place.join("in.pgn"), place.join("plain.db"));
        fs::write(&input, text).unwrap();
        let summary = run(&target, &[&input], &IndexOptions { overwrite: true, ..options() }).unwrap();
        Self { place, text, summary }
    }

    /// Indexes an archive of the text under the same name, and asserts that the database is the same.
    fn assert_same(&self, archive: &[u8], options: &IndexOptions, what: &str) {
        let (input, target) = (self.place.join("in.pgn"), self.place.join("packed.db"));
        let options = IndexOptions { overwrite: true, ..options.clone() };
        fs::write(&input, archive).unwrap();
        let packed = run(&target, &[&input], &options).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_same(&self.place.join("plain.db"), &target, what);
        assert_eq!((packed.bytes, packed.games), (self.text.len() as u64, self.summary.games), "{what}");
    }
}

#[test]
fn archives_of_every_kind() {
    let place = directory();
    let text = text();
    let archives: [(&str, Vec<u8>); 10] = [
        ("zstd", zstd_frame(&text, true)),
        ("zstd without size", zstd_frame(&text, false)),
        ("zstd, long window", zstd_long(&text, 27)),
        ("zstd, frames of 20 kB", zstd_frames(&text, 20_000)),
        ("zstd, frames of 100 bytes", zstd_frames(&text, 100)),
        ("gzip", gzip(&text, usize::MAX)),
        ("gzip, members of 1000 bytes", gzip(&text, 1000)),
        ("gzip with zeros", [gzip(&text, 9000), vec![0; 1000]].concat()),
        ("bzip2", bzip2(&text, usize::MAX)),
        ("bzip2, streams of 1000 bytes", bzip2(&text, 1000)),
    ];
    let variants = [
        IndexOptions { threads: 1, ..options() },
        IndexOptions { threads: 4, chunk_size: 1, memory: 0, ..options() },
        IndexOptions { threads: 2, chunk_size: 5000, ..options() },
    ];
    let plain = Plain::new(place.path(), &text);
    for (what, archive) in &archives {
        for options in &variants {
            plain.assert_same(archive, options, what);
        }
    }
    let plain = Plain::new(place.path(), GAMES.as_bytes());
    for options in &variants {
        plain.assert_same(&gzip(&utf_16(GAMES, u16::to_le_bytes), 777), options, "gzip of UTF-16");
    }
}

#[test]
fn utf_16_is_read_as_utf_8() {
    let place = directory();
    let text = GAMES.replace("Fischer", "Фишер \u{1f3c6}");
    let plain = Plain::new(place.path(), text.as_bytes());
    for (what, archive) in
        [("little", utf_16(&text, u16::to_le_bytes)), ("big", utf_16(&text, u16::to_be_bytes))]
    {
        plain.assert_same(&archive, &options(), what);
        let games = "SELECT count(*) FROM games WHERE white LIKE 'Фишер \u{1f3c6}%'";
        assert!(number(&open(&place.path().join("packed.db")), games) > 0);
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn archives_cut_anywhere(start in 0..30_000usize, length in 0..40_000usize, size in 1..4000usize,
        chunk_size in 1..20_000usize, threads in 1..4usize, kind in 0..3)
    {
        let text = text();
        let text = &text[start..(start + length).min(text.len())];
        let archive = match kind {
            0 => zstd_frames(text, size),
            1 => gzip(text, size),
            _ => bzip2(text, size.max(200)),
        };
        let options = IndexOptions { threads, chunk_size, ..options() };
        Plain::new(directory_for(text.len()).path(), text).assert_same(&archive, &options, "cut");
    }
}

/// Enough text for several frames of a megabyte, which several threads decompress.
#[test]
fn large_archives() {
    let place = directory();
    let text = text().repeat(40);
    let plain = Plain::new(place.path(), &text);
    for (what, archive) in [
        ("one frame", zstd_frame(&text, true)),
        ("frames of a megabyte", zstd_frames(&text, 1 << 20)),
        ("gzip", gzip(&text, 1 << 20)),
    ] {
        let options = IndexOptions { threads: 4, chunk_size: 100_000, ..options() };
        plain.assert_same(&archive, &options, what);
    }
}

#[test]
fn text_without_boundaries_goes_through_a_temporary_file() {
    let place = directory();
    // Each piece is longer than the 4 MiB that are kept in memory.
    let remark = " a remark that makes it long".repeat(30);
    let untagged = format!("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 {{{remark} }} 1-0\n").repeat(6_000).into_bytes();
    let comment =
        [b"[Event \"a\"]\n\n1. e4 {".to_vec(), b" x".repeat(2_500_000), b"} e5 *\n\n".to_vec()].concat();
    let blank = [b"1. d4 *".to_vec(), b"\n ".repeat(2_500_000)].concat();
    let text = [&untagged[..], &comment, GAMES.as_bytes(), &comment, &blank, GAMES.as_bytes()].concat();
    let (plain, archive) = (Plain::new(place.path(), &text), zstd_frame(&text, true));
    for threads in [1, 3] {
        let options = IndexOptions { threads, memory: MIB, ..options() };
        plain.assert_same(&archive, &options, "long");
    }
    assert_eq!(names(place.path()), ["in.pgn", "packed.db", "plain.db"]);
}

#[test]
fn zip_archives_expand_to_their_pgn_files() {
    let place = directory();
    let root = place.path().join("games.zip");
    let games: Vec<&str> = GAMES.split_inclusive("*\n").collect();
    let files: [(&str, &str, Packing); 5] = [
        ("b.pgn", games[0], Packing::Stored),
        ("a/z.PGN", GAMES, Packing::Deflated),
        ("c.pgn", &GAMES[..5000], Packing::Bzip2),
        ("d.pgn", &GAMES[..6000], Packing::Zstd),
        ("a.pgn", "", Packing::Stored),
    ];
    for (name, text, _) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (expected, target) = (place.path().join("plain.db"), place.path().join("packed.db"));
    let unpacked = run(&expected, &[&root], &options()).unwrap();
    fs::remove_dir_all(&root).unwrap();
    let others: [(&str, &[u8], Packing); 2] =
        [("read.me", b"1. e4 *", Packing::Stored), ("__MACOSX/._b.pgn", b"\0\x05\x16\x07", Packing::Stored)];
    let packed: Vec<_> = others
        .into_iter()
        .chain(files.map(|(name, text, packing)| (name, text.as_bytes(), packing)))
        .collect();
    fs::write(&root, zip(&packed)).unwrap();
    let summary = run(&target, &[&root], &options()).unwrap();
    assert_same(&expected, &target, "zip");
    assert_sound(&target, &summary);
    assert_eq!(summary.bytes, unpacked.bytes);
}

/// Entries with the same name are separate files, each with its own path.
#[test]
fn files_with_equal_names_in_a_zip_archive_are_all_read() {
    let place = directory();
    let (archive, target) = (place.path().join("a.zip"), place.path().join("a.db"));
    let files = [
        ("a.pgn", &b"1. e4 *\n"[..], Packing::Stored),
        ("b.pgn", b"1. c4 *\n", Packing::Zstd),
        ("a.pgn", b"1. d4 d5 *\n", Packing::Deflated),
        ("a.pgn", b"1. a4 a5 2. b4 *\n", Packing::Bzip2),
    ];
    fs::write(&archive, zip(&files)).unwrap();
    let summary = run(&target, &[&archive], &options()).unwrap();
    assert_eq!((summary.games, summary.plies), (4, 7));
    let paths = "SELECT replace(path, rtrim(path, replace(path, '/', '')), '') || ' ' || plies FROM source";
    assert_eq!(lines(&open(&target), paths), ["a.pgn 1", "a.pgn#2 2", "a.pgn#3 3", "b.pgn 1"]);
    let again = run(&target, &[&archive], &options()).unwrap();
    assert_eq!((again.games, again.known_sources), (0, 4));
    let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
    let report = verify(&target, &options, &VerifyProgress::default()).unwrap();
    assert_eq!((report.findings.total(), report.reread_games, report.sources_same), (0, 4, 4));
}

/// The same archive with the sizes after each file: the form in which programs write archives to a stream.
fn with_sizes_behind(archive: &[u8], files: &[(&str, &[u8], Packing)], marked: bool) -> Vec<u8> {
    let (mut streamed, mut at) = (Vec::new(), 0);
    for (name, ..) in files {
        let mut header = archive[at..at + 30 + name.len()].to_vec();
        let packed = u32::from_le_bytes(header[18..22].try_into().unwrap()) as usize;
        let sizes = header[14..26].to_vec();
        header[6] |= 8;
        header[14..26].fill(0);
        let start = at + header.len();
        streamed.extend(header);
        streamed.extend(&archive[start..start + packed]);
        if marked {
            streamed.extend(b"PK\x07\x08");
        }
        streamed.extend(sizes);
        at = start + packed;
    }
    streamed
}

/// All complete files of a zip archive without its end are read.
#[test]
fn complete_files_of_cut_zip_archives_are_read() {
    let place = directory();
    let (path, target) = (place.path().join("a.zip"), place.path().join("a.db"));
    let text = "[White \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n".repeat(30);
    let text = text.as_bytes();
    let packings = [Packing::Stored, Packing::Deflated, Packing::Bzip2, Packing::Deflated, Packing::Zstd];
    let names = ["a.pgn", "b.pgn", "read.me", "c.pgn", "d.pgn"];
    let files: Vec<_> =
        names.into_iter().zip(packings).map(|(name, packing)| (name, text, packing)).collect();
    let whole = zip(&files);
    let ends: Vec<usize> = memchr::memmem::find_iter(&whole, b"PK\x03\x04").skip(1).collect();
    let table = memchr::memmem::find(&whole, b"PK\x01\x02").unwrap();
    let options = IndexOptions { overwrite: true, ..options() };
    let games = |archive: &[u8]| {
        fs::write(&path, archive).unwrap();
        let summary = run(&target, &[&path], &options).unwrap();
        assert!(summary.problems.of(Severity::Error) > 0, "the damage is reported");
        let whole = "SELECT count(*) FROM source WHERE games = 30";
        (number(&open(&target), whole), summary.games)
    };
    for cut in [ends[0], ends[1], ends[2], ends[3], table, table + 20, whole.len() - 22, whole.len() - 1] {
        let expected =
            ends.iter().chain([&table]).enumerate().filter(|(index, end)| **end <= cut && *index != 2);
        let expected = expected.count() as u64;
        assert_eq!(games(&whole[..cut]), (expected, 30 * expected), "{cut}");
    }
    // If a stored file is cut, its beginning is read.
    assert_eq!(games(&whole[..ends[0] - text.len() / 2]), (0, 15));
    for marked in [true, false] {
        let streamed = with_sizes_behind(&whole, &files, marked);
        let all = if marked { 4 } else { 3 };
        let (read, _) = games(&[&streamed[..], b"PK\x03\x04"].concat());
        assert_eq!(read, 4, "{marked}");
        let (read, _) = games(&streamed[..streamed.len() - 4]);
        assert!(read >= all, "{marked} {read}");
    }
}

/// A text in the database is not read again, whatever its compression.
#[test]
fn archives_are_added_once() {
    let place = directory();
    let path = |name: &str| place.path().join(name);
    let target = path("out.db");
    let more = b"[Event \"more\"]\n\n1. e4 *\n";
    fs::write(path("a.pgn"), GAMES).unwrap();
    fs::write(path("b.pgn.gz"), gzip(GAMES.as_bytes(), 5000)).unwrap();
    fs::write(
        path("c.zip"),
        zip(&[("a.pgn", GAMES.as_bytes(), Packing::Deflated), ("b.pgn", more, Packing::Stored)]),
    )
    .unwrap();
    fs::write(path("d.pgn.zst"), zstd_frames(more, 7)).unwrap();
    let first = run(&target, &[path("b.pgn.gz")], &options()).unwrap();
    let paths = ["a.pgn", "b.pgn.gz", "c.zip", "d.pgn.zst"].map(path);
    let second = run(&target, &paths, &options()).unwrap();
    assert_eq!((second.known_sources, second.games), (3, 2));
    let third = run(&target, &paths, &options()).unwrap();
    assert_eq!((third.known_sources, third.games), (5, 0));
    let database = open(&target);
    assert_eq!(number(&database, "SELECT count(*) FROM game"), first.games + 2);
    assert_eq!(lines(&database, "PRAGMA integrity_check"), ["ok"]);
}

/// The messages of the problems of a run, without the path of the directory.
fn messages(target: &Path) -> Vec<String> {
    let root = format!("{}/", target.parent().unwrap().display());
    let problems = "SELECT kind || '|' || line || '|' || byte_offset || '|' || message FROM problem
        WHERE kind IN ('damaged-archive', 'unreadable-source') ORDER BY problem_id";
    column::<String>(&open(target), problems).iter().map(|line| line.replace(&root, "")).collect()
}

#[test]
fn unreadable_members_of_zip_archives_are_reported() {
    let place = directory();
    let path = |name: &str| place.path().join(name);
    let good: &[u8] = b"1. e4 *\n";
    let mut damaged = zip(&[("e.pgn", b"1. e4 e5 2. d4 *\n", Packing::Stored)]);
    let at = damaged.windows(2).position(|pair| pair == b"e5").unwrap();
    damaged[at + 1] = b'6';
    let files = [
        ("a.zip", zip(&[("secret.pgn", good, Packing::Encrypted), ("open.pgn", good, Packing::Stored)])),
        ("b.zip", zip(&[("odd.pgn", good, Packing::Unknown)])),
        ("c.zip", zip(&[("read.me", good, Packing::Stored)])),
        ("d.zip", b"PK\x03\x04 and no more".to_vec()),
        ("e.zip", damaged),
        ("f.zip", zip(&[])),
    ];
    for (name, archive) in &files {
        fs::write(path(name), archive).unwrap();
    }
    fs::write(path("g.pgn"), gzip(&files[0].1, usize::MAX)).unwrap();
    let paths: Vec<_> = files.iter().map(|(name, _)| path(name)).chain([path("g.pgn")]).collect();
    let target = path("out.db");
    let summary = run(&target, &paths, &options()).unwrap();
    assert_sound(&target, &summary);
    insta::assert_snapshot!(messages(&target).join("\n"), @r#"
    unreadable-source|1|0|a.zip/secret.pgn: an encrypted file, not PGN text; unpack it first (unzip)
    unreadable-source|1|0|b.zip/odd.pgn: a file in an unsupported compression format, not PGN text; unpack it first (unzip)
    unreadable-source|1|0|c.zip: no file in this zip archive has a name ending in .pgn; `unzip -l` lists its files
    unreadable-source|1|0|d.zip: damaged: the table of contents at its end is missing. Download the file again, or create it again
    damaged-archive|2|17|e.zip/e.pgn: damaged near byte 52 of the file (byte 17 of the unpacked text): its text does not match the size and the checksum in the archive. Download the file again, or create it again. The games before this point are kept
    unreadable-source|1|0|f.zip: no file in this zip archive has a name ending in .pgn; `unzip -l` lists its files
    unreadable-source|1|0|g.pgn: an archive of binary data, not PGN text; unpack it first
    "#);
    // In a directory, unusable archives are ignored.
    fs::create_dir(path("d")).unwrap();
    for name in ["c.zip", "d.zip", "f.zip"] {
        fs::rename(path(name), path("d").join(name)).unwrap();
    }
    fs::write(path("d/good.pgn"), good).unwrap();
    let options = IndexOptions { overwrite: true, ..options() };
    let summary = run(&target, &[path("d")], &options).unwrap();
    assert_eq!((summary.games, summary.problems.of(Severity::Error)), (1, 0));
}

/// An archive of many games is cut or damaged. The games before the damage are kept, and its place is reported.
#[test]
fn games_before_the_damage_of_an_archive_are_kept() {
    let place = directory();
    let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
    let games: String =
        (0..6_000).map(|game| format!("[Event \"{game}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n")).collect();
    let options = IndexOptions { overwrite: true, ..options() };
    for (what, archive) in [
        ("zstd", zstd_frames(games.as_bytes(), usize::MAX)),
        ("gzip", gzip(games.as_bytes(), usize::MAX)),
        ("bzip2", bzip2(games.as_bytes(), 10_000)),
        ("zip", zip(&[("a.pgn", games.as_bytes(), Packing::Deflated)])),
    ] {
        let cut = archive.len() * 7 / 10;
        let mut flipped = archive.clone();
        flipped[cut] ^= 0x20;
        for (how, archive) in [("cut", &archive[..cut]), ("flipped", &flipped)] {
            if (what, how) == ("zip", "cut") {
                continue; // Its table of contents is lost.
            }
            fs::write(&input, archive).unwrap();
            let summary = run(&target, &[&input], &options).unwrap();
            assert_sound(&target, &summary);
            // A flipped bit may damage or divide some games before it is detected.
            assert!(summary.games > 1000 && summary.games <= 6_500, "{what} {how}: {}", summary.games);
            assert_eq!(summary.damaged.len(), 1, "{what} {how}");
            let database = open(&target);
            let whole = "SELECT count(*) FROM game WHERE ply_count = 5 AND status = 'ok'";
            let spoilt = if how == "cut" { 1 } else { 500 };
            assert!(number(&database, whole) >= summary.games - spoilt, "{what} {how}");
            assert_eq!(lines(&database, "SELECT indexed_at, digest IS NULL FROM source"), ["-|0"]);
            let reported = messages(&target);
            let place = "SELECT count(*) FROM problem JOIN source USING (source_id)
                WHERE kind = 'damaged-archive' AND byte_offset = bytes AND line > 4 * 1000";
            assert_eq!((number(&database, place), reported.len()), (1, 1), "{what} {how}: {reported:?}");
            let at = reported[0].split("damaged near byte ").nth(1).and_then(|rest| rest.split(' ').next());
            let at: usize = at.and_then(|at| at.parse().ok()).expect("an offset");
            assert!(at > archive.len() / 2 && at <= archive.len(), "{what} {how}: {reported:?}");
            let end = ": it ends too early. Download the file again, or create it again. The games before this point are kept";
            assert!(how == "flipped" || reported[0].ends_with(end), "{what}: {reported:?}");
            // As long as the archive does not change, it has nothing new, whatever the chunk size.
            let other = IndexOptions { overwrite: false, chunk_size: 100, memory: 0, ..options.clone() };
            let again = run(&target, &[&input], &other).unwrap();
            assert_eq!((again.known_sources, again.games), (1, 0), "{what} {how}");
            assert_eq!(messages(&target), reported, "{what} {how}");
        }
    }
}

/// The games of the frames after a damaged one are read, from the first game that begins there.
#[test]
fn frames_after_a_damaged_one_are_read() {
    let place = directory();
    let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
    let games: String =
        (0..3000).map(|game| format!("[Event \"{game}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n")).collect();
    let frames: Vec<Vec<u8>> = games.as_bytes().chunks(33_000).map(|text| zstd_frame(text, true)).collect();
    for broken in 0..frames.len() {
        let mut archive = frames.clone();
        let middle = archive[broken].len() / 2;
        archive[broken][middle] ^= 0x10;
        fs::write(&input, archive.concat()).unwrap();
        for (threads, chunk_size) in [(1, 1 << 20), (3, 1000)] {
            let options = IndexOptions { overwrite: true, threads, chunk_size, ..options() };
            let summary = run(&target, &[&input], &options).unwrap();
            assert_sound(&target, &summary);
            // A move may have been divided.
            let errors = summary.problems.of(Severity::Error);
            assert!((errors == 1 || errors == 2) && summary.damaged.len() == 1, "{errors} errors");
            assert!(summary.games > 2000 && summary.games <= 3000, "{}", summary.games);
            let spliced = "SELECT count(*) FROM game WHERE ply_count <> 5";
            assert!(number(&open(&target), spliced) <= 1, "a game was combined from two");
        }
    }
}

/// The text of an archive and the number of errors.
fn decode(path: &Path) -> Option<(Vec<u8>, usize)> {
    let sources = list(&[path], DecodeOptions { threads: 1, memory: 0 }, &()).unwrap();
    let file = sources.files.first()?.as_ref().ok()?;
    let mut decoded: Decoded = match open_source(file).ok()? {
        Opened::Packed(packed) => packed.decode(DecodeOptions { threads: 2, memory: 0 }).ok()?,
        Opened::Mapped(_) => return None,
    };
    let (mut text, mut errors) = (Vec::new(), 0);
    loop {
        match decoded.read(&mut text, 1 << 16) {
            Ok(0) => return Some((text, errors)),
            Ok(_) => {}
            Err(_) => errors += 1,
        }
        assert!(errors < 200 && text.len() < 100 << 20, "decoding does not end");
    }
}

#[test]
fn archives_damaged_at_every_byte() {
    let text = &text()[..900];
    let place = directory_for(text.len());
    let path = place.path().join("in.pgn");
    for (what, archive) in [
        ("zstd", zstd_frames(text, 300)),
        ("gzip", gzip(text, 300)),
        ("bzip2", bzip2(text, 300)),
        ("zip", zip(&[("a.pgn", text, Packing::Deflated)])),
    ] {
        let started = Instant::now();
        fs::write(&path, &archive).unwrap();
        assert_eq!(decode(&path).unwrap(), (text.to_vec(), 0), "{what}");
        for at in 0..archive.len() {
            let mut flipped = archive.clone();
            flipped[at] ^= 1 << (at % 8);
            for archive in [&flipped[..], &archive[..at]] {
                fs::write(&path, archive).unwrap();
                // The result does not matter, as long as it does not panic and ends.
                let _ = decode(&path);
            }
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: {:?}", started.elapsed());
        // A complete run over archives that are damaged at some of the places.
        let (damaged, target) = (place.path().join(what), place.path().join(format!("{what}.db")));
        let at_some = (0..archive.len()).step_by(47).flat_map(|at| {
            let mut flipped = archive.clone();
            flipped[at] ^= 1 << (at % 8);
            [flipped, archive[..at].to_vec()]
        });
        write_all(&damaged, at_some);
        let summary = run(&target, &[damaged], &options()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_sound(&target, &summary);
    }
}

/// Some games, and after them this many MiB of text that compresses to almost nothing.
fn check_archive_made_to_fill_disks(size: usize) {
    let place = directory();
    let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, GAMES.as_bytes()).unwrap();
    for _ in 0..size {
        std::io::Write::write_all(&mut encoder, &vec![b'x'; 1 << 20]).unwrap();
    }
    fs::write(&input, encoder.finish().unwrap()).unwrap();
    let summary: Summary = run(&target, &[&input], &options()).unwrap();
    assert_eq!(summary.games, GAMES.matches("[Event \"").count() as u64 - 1);
    let reported = messages(&target);
    assert!(reported.len() == 1 && reported[0].contains("no game begins in"), "{reported:?}");
}

#[test]
fn decompression_bombs() {
    check_archive_made_to_fill_disks(400);
}

#[test]
#[ignore = "takes seconds"]
fn large_decompression_bombs() {
    check_archive_made_to_fill_disks(1500);
}

#[test]
fn windows_longer_than_the_memory_allows() {
    let place = directory();
    let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
    fs::write(&input, zstd_long(text().repeat(3).as_slice(), 29)).unwrap();
    let error = run(&target, &[&input], &options()).unwrap_err();
    assert!(message(&error).contains("allow more memory"), "{}", message(&error));
    let more = IndexOptions { memory: 1 << 30, ..options() };
    assert!(run(&target, &[&input], &more).unwrap().games > 100);
}

#[test]
fn archives_with_many_empty_files() {
    let place = directory();
    let (input, target) = (place.path().join("in.zip"), place.path().join("out.db"));
    let names: Vec<String> = (0..3000).map(|number| format!("{number}.pgn")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..], Packing::Stored)).collect();
    fs::write(&input, zip(&files)).unwrap();
    assert_eq!(run(&target, &[&input], &options()).unwrap().games, 0);
    // In the second run each file is known.
    let again = run(&target, &[&input], &options()).unwrap();
    assert_eq!((again.known_sources, again.threads), (3000, 0));
}

#[test]
fn archives_whose_files_overlap() {
    let place = directory();
    let (input, target) = (place.path().join("in.zip"), place.path().join("out.db"));
    let text = &b"1. e4 *\n"[..];
    let mut archive = zip(&["a.pgn", "b.pgn", "c.pgn"].map(|name| (name, text, Packing::Stored)));
    // The second entry of the table of contents points to the same offset as the first.
    let second = memchr::memmem::find_iter(&archive, b"PK\x01\x02").nth(1).unwrap();
    archive[second + 42..second + 46].fill(0);
    fs::write(&input, archive).unwrap();
    let summary = run(&target, &[&input], &options()).unwrap();
    assert_eq!(summary.games, 2);
    let reported = &summary.unreadable;
    assert!(
        reported.len() == 1 && reported[0].contains("in.zip: damaged: files in it overlap"),
        "{reported:?}"
    );
    assert!(reported[0].contains("not read: 1"), "{reported:?}");
}
