//! An archive, or a file in another encoding, that grows gives the same database as when it is read at once.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{Duplicates, IndexOptions, Summary};
use tempfile::TempDir;

use crate::index::adding::{BY_OFFSET, assert_equal, assert_whole};
use crate::index::archives::*;
use crate::index::inputs::text;
use crate::support::*;

/// Queries for rows about the file, but not for its games.
const FILE_ROWS: [&str; 2] = [
    "SELECT byte_offset, line, column_number, game_number, game_id IS NULL, ply, token, kind, severity, message
     FROM problem ORDER BY 1, game_number, kind",
    "SELECT sum(games), sum(plies), sum(problems) FROM source",
];

/// The latest reading of each file.
const LAST: &str = "SELECT path, bytes, digest, indexed_at IS NULL FROM source
    WHERE source_id IN (SELECT max(source_id) FROM source GROUP BY path) ORDER BY 1";

struct Workspace(TempDir);

impl Workspace {
    fn new() -> Self {
        Self(directory_for(0))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("in.pgn")
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("out.db")
    }

    fn add(&self, archive: impl AsRef<[u8]>, options: &IndexOptions) -> Summary {
        fs::write(self.file(), archive).unwrap();
        run(&self.database(), &[self.file()], options).unwrap()
    }

    /// Indexes an archive at once into another database.
    fn once(&self, archive: impl AsRef<[u8]>, options: &IndexOptions) -> PathBuf {
        fs::write(self.file(), archive).unwrap();
        let target = self.0.path().join("once.db");
        run(&target, &[self.file()], &IndexOptions { overwrite: true, ..options.clone() }).unwrap();
        target
    }

    fn assert_like(&self, once: &Path, what: &str) {
        println!("{what}");
        assert_whole(&self.database());
        assert_equal(&self.database(), once, &BY_OFFSET);
        assert_equal(&self.database(), once, &[LAST]);
    }

    fn number(&self, query: &str) -> u64 {
        number(&open(&self.database()), query)
    }
}

type Pack = fn(&[u8]) -> Vec<u8>;

fn utf_16_of(text: &[u8], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    utf_16(std::str::from_utf8(text).expect("UTF-8"), bytes)
}

const FORMS: [(&str, Pack); 10] = [
    ("zstd", |text| zstd_frame(text, true)),
    ("zstd, frames of 5 kB", |text| zstd_frames(text, 5000)),
    ("gzip", |text| gzip(text, usize::MAX)),
    ("gzip, members of 777 bytes", |text| gzip(text, 777)),
    ("bzip2", |text| bzip2(text, 20_000)),
    ("zip", |text| zip(&[("a/b.pgn", text, Packing::Deflated)])),
    ("zip, stored", |text| zip(&[("a/b.pgn", text, Packing::Stored)])),
    ("UTF-16, little", |text| utf_16_of(text, u16::to_le_bytes)),
    ("UTF-16, big", |text| utf_16_of(text, u16::to_be_bytes)),
    ("UTF-16 in gzip", |text| gzip(&utf_16_of(text, u16::to_be_bytes), 3000)),
];

#[test]
fn only_the_new_games_of_growing_archives_are_read() {
    let any = text();
    for (number, (what, pack)) in FORMS.into_iter().enumerate() {
        let text = if what.starts_with("UTF-16") { GAMES.as_bytes() } else { &any };
        let options = IndexOptions {
            threads: 1 + number % 3,
            chunk_size: [1 << 20, 3000, 1][number % 3],
            continuation_threshold: 3,
            ..options()
        };
        let place = Workspace::new();
        let once = place.once(pack(text), &options);
        // Cuts within games and at the beginning of games.
        let boundary = |at| pgndex::pgn::next_boundary(text, at);
        let fifth = text.len() / 5;
        let cuts =
            [40, fifth + number, boundary(2 * fifth), boundary(boundary(2 * fifth)), 4 * fifth, text.len()];
        for (step, cut) in cuts.into_iter().enumerate() {
            let summary = place.add(pack(&text[..cut]), &options);
            assert_eq!(summary.known_sources, 0, "{what}");
            if step == 3 {
                assert_eq!((summary.games, summary.bytes), (1, (cut - cuts[2]) as u64), "{what}");
            }
        }
        place.assert_like(&once, what);
        assert_equal(&place.database(), &once, &FILE_ROWS);
        let readings = lines(&open(&place.database()), "SELECT first_byte, bytes FROM source");
        assert_eq!(readings.len(), 6, "{what}");
        assert_eq!(readings[3], format!("{}|{}", cuts[2], cuts[3]), "{what}");
        let again = place.add(pack(text), &options);
        assert_eq!((again.known_sources, again.games), (1, 0), "{what}");
    }
}

/// The text of a file is the same with any compression and without.
#[test]
fn a_file_may_grow_and_change_its_compression() {
    let place = Workspace::new();
    let text = GAMES.as_bytes();
    let once = place.once(text, &options());
    let half = text.len() / 2;
    place.add(gzip(&text[..half], 1000), &options());
    place.add(&text[..half + 5000], &options());
    place.add(zstd_frames(&text[..half + 5001], 1000), &options());
    place.add(bzip2(text, usize::MAX), &options());
    place.assert_like(&once, "packed in four ways");
}

#[test]
fn only_the_grown_member_of_a_zip_archive_is_read() {
    let place = Workspace::new();
    let games = GAMES.as_bytes();
    let other = b"[Event \"other\"]\n\n1. d4 Ke4 *\n";
    let pack = |text: &[u8]| {
        zip(&[
            ("a.pgn", other, Packing::Stored),
            ("b.pgn", text, Packing::Zstd),
            ("c.pgn", games, Packing::Bzip2),
        ])
    };
    let once = place.once(pack(games), &options());
    place.add(pack(&games[..20_000]), &options());
    let summary = place.add(pack(games), &options());
    // The text of `b.pgn` now equals that of `c.pgn`, which is already in the database.
    assert_eq!((summary.known_sources, summary.games), (3, 0));
    let longer = [games, b"\n[Event \"new\"]\n\n1. d4 d5 *\n"].concat();
    let summary = place.add(pack(&longer), &options());
    assert_eq!((summary.known_sources, summary.bytes), (2, longer.len() as u64 - first_byte(&place)));
    assert!(once.exists() && first_byte(&place) > 19_000);
    let from_it = "SELECT count(*) FROM game JOIN source USING (source_id) WHERE path LIKE '%/b.pgn'";
    assert_eq!(place.number(from_it), GAMES.matches("[Event \"").count() as u64 + 1);
    assert_whole(&place.database());
}

/// The offset at which the latest reading began.
fn first_byte(place: &Workspace) -> u64 {
    place.number("SELECT first_byte FROM source ORDER BY source_id DESC LIMIT 1")
}

/// For example, when a nightly run reads a file that is still being written.
#[test]
fn the_rest_of_a_cut_archive_is_read_when_it_is_complete() {
    let text = GAMES.as_bytes();
    for (what, archive) in [
        ("zstd", zstd_frames(text, 3000)),
        ("gzip", gzip(text, usize::MAX)),
        ("gzip, members", gzip(text, 4000)),
        ("bzip2", bzip2(text, 3000)),
    ] {
        let place = Workspace::new();
        let once = place.once(&archive, &options());
        let cut = &archive[..archive.len() * 2 / 3];
        let first = place.add(cut, &options());
        assert_eq!((first.damaged.len(), first.games > 10), (1, true), "{what}");
        let again = place.add(cut, &options());
        assert_eq!((again.known_sources, again.damaged.len()), (1, 0), "{what}");
        let rest = place.add(&archive, &options());
        assert!(rest.games < 40 && rest.damaged.is_empty() && first_byte(&place) > 10_000, "{what}");
        place.assert_like(&once, what);
        let reported = "SELECT count(*) FROM source WHERE indexed_at IS NULL";
        assert_eq!(place.number(reported), 1, "{what}");
    }
}

/// The damage is the beginning of another frame or stream at the end, or garbage between two frames.
#[test]
fn damage_of_an_archive_whose_text_is_known_is_reported_once() {
    let text = GAMES.as_bytes();
    let begun = |mut archive: Vec<u8>, more: Vec<u8>| {
        archive.extend(&more[..8]);
        archive
    };
    let frames = text.chunks(text.len() / 2 + 1).map(|piece| zstd_frame(piece, true)).collect::<Vec<_>>();
    for (what, whole, damaged) in [
        ("zstd", zstd_frame(text, true), begun(zstd_frame(text, true), zstd_frame(text, true))),
        ("bzip2", bzip2(text, 3000), begun(bzip2(text, 3000), bzip2(text, 3000))),
        ("zstd, garbage", frames.concat(), frames.join(&b"garbage!"[..])),
    ] {
        let place = Workspace::new();
        let games = place.add(whole, &options()).games;
        let first = place.add(&damaged, &options());
        assert_eq!((first.games, first.damaged.len()), (0, 1), "{what}");
        assert_eq!(place.number("SELECT count(*) FROM problem WHERE kind = 'damaged-archive'"), 1, "{what}");
        let again = place.add(&damaged, &options());
        assert_eq!((again.known_sources, again.damaged.len()), (1, 0), "{what}");
        assert_eq!(place.number("SELECT count(*) FROM game"), games, "{what}");
        assert_whole(&place.database());
    }
}

/// Games lost in the damaged part stay lost, and what follows is read as if all had been read at once.
#[test]
fn an_archive_grows_after_a_damaged_frame() {
    let games: String =
        (0..6000).map(|game| format!("[Event \"{game}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n")).collect();
    let mut frames: Vec<Vec<u8>> =
        games.as_bytes().chunks(50_000).map(|text| zstd_frame(text, true)).collect();
    let options = IndexOptions { continuation_threshold: 10_000, ..options() };
    for broken in [1, 2] {
        let middle = frames[broken].len() / 2;
        frames[broken][middle] ^= 0x10;
        let place = Workspace::new();
        let once = place.once(frames.concat(), &options);
        place.add(frames[..3].concat(), &options);
        let (rest, start) = (place.add(frames.concat(), &options), first_byte(&place));
        place.assert_like(&once, &format!("frame {broken}"));
        // Frame 2 was the last frame of the first run. If it was damaged, no text after the damage had been read, and
        // the end of the game before the damage was unknown.
        assert!(broken == 2 || (rest.damaged.is_empty() && start > 90_000), "{broken}: {:?}", rest.damaged);
        frames[broken][middle] ^= 0x10;
    }
}

#[test]
fn a_changed_file_is_read_as_new_and_reported() {
    let place = Workspace::new();
    let text = GAMES.as_bytes();
    let name = place.file().display().to_string();
    let skip = IndexOptions { duplicates: Duplicates::Skip, ..options() };
    let games = place.add(text, &skip).games;
    let reported = |summary: Summary| {
        summary.rewritten.iter().map(|reported| reported.replace(&name, "in.pgn")).collect::<String>()
    };
    let (half, shorter) = (&text[..20_000], format!("20000 bytes of text instead of {}", text.len()));
    let skipped = "and is read as a new file; its earlier games stay, and games already in the database are skipped as duplicates";
    assert_eq!(
        reported(place.add(half, &skip)),
        format!("in.pgn has changed since it was indexed ({shorter}) {skipped}")
    );
    assert_eq!(reported(place.add(gzip(text, 1000), &skip)), "", "known");
    let other = [b"[Event \"other\"]\n\n1. a3 *\n\n", text].concat();
    let other_reported = format!("in.pgn has changed since it was indexed (it begins differently) {skipped}");
    assert_eq!(reported(place.add(zstd_frames(&other, 1000), &skip)), other_reported);
    assert_eq!(
        reported(place.add(&other[3..], &skip)),
        other_reported.replace(
            "it begins differently",
            &format!("{} bytes of text instead of {}", other.len() - 3, other.len())
        )
    );
    let kept = reported(place.add(zstd_frames(&other[4..40], 7), &options()));
    assert!(
        kept.ends_with(" and is read as a new file; its earlier games stay, and games already in the database are added once more"),
        "{kept}"
    );
    // A text that begins with the latest reading is a growth of it.
    assert_eq!(reported(place.add(&other[4..], &skip)), "");
    assert_whole(&place.database());
    let kept_games = "SELECT count(*) FROM game WHERE status = 'ok'";
    assert!(place.number(kept_games) >= games, "{games}");
    // An emptied file has changed. When it is filled again, it counts as a growth of the empty text.
    assert_eq!(reported(place.add(b"", &skip)).matches("(0 bytes of text").count(), 1);
    assert_eq!(reported(place.add(b"1. e4 *\n", &skip)), "");
}
