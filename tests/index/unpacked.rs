//! Compressed files next to the decompressed ones: no game of either is lost.

use std::fs;

use pgndex::index::{Duplicates, IndexOptions, Plan, Progress};

use crate::index::archives::*;
use crate::support::*;

/// Indexes a directory with these files. Returns the paths that were read, the number of games, and the notes without
/// the path of the directory.
fn indexed(files: &[(&str, &[u8])]) -> (Vec<String>, u64, Vec<String>) {
    let place = directory();
    let root = place.path().join("d");
    for (name, bytes) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let options = IndexOptions { duplicates: Duplicates::Skip, ..options() };
    let progress = Progress::default();
    let plan = Plan::new(&[&root], &options, &progress).unwrap();
    let prefix = format!("{}/", root.display());
    let notes = plan.notes().iter().map(|note| note.replace(&prefix, "")).collect();
    let target = place.path().join("out.db");
    let summary = plan.run(&target, &progress).unwrap();
    let paths: Vec<String> = column(&open(&target), "SELECT path FROM source ORDER BY source_id");
    (paths.iter().map(|path| path.replace(&prefix, "")).collect(), summary.games, notes)
}

fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    [
        ("a.pgn.zst", zstd_frame(text, true)),
        ("a.pgn.ZST", zstd_frames(text, 5000)),
        ("a.pgn.gz", gzip(text, 7000)),
        ("a.pgn.bz2", bzip2(text, usize::MAX)),
    ]
}

#[test]
fn interrupted_decompression_loses_no_games() {
    let text = GAMES.as_bytes();
    let all = indexed(&[("a.pgn", text)]).1;
    assert_eq!(all, 53);
    for (name, archive) in packed(text) {
        for length in [0, 1, 10, 5000, text.len() / 2, text.len() - 1] {
            let note = format!("a.pgn: ignored, because {name} beside it contains the same text and more");
            let expected = (vec![name.to_owned()], all, vec![note]);
            assert_eq!(indexed(&[("a.pgn", &text[..length]), (name, &archive)]), expected, "{length}");
        }
    }
}

#[test]
fn decompressed_files_are_read_once() {
    let text = GAMES.as_bytes();
    let grown = [text, b"\n[White \"x\"]\n[Black \"y\"]\n\n1. e4 *\n"].concat();
    for (name, archive) in packed(text) {
        for (plain, games) in [(text, 53), (&grown, 54)] {
            let note = format!("{name}: ignored, because a.pgn beside it contains its whole text");
            let expected = (vec!["a.pgn".to_owned()], games, vec![note]);
            assert_eq!(indexed(&[("a.pgn", plain), (name, &archive)]), expected, "{games}");
        }
    }
    // The archive contains UTF-16, and the file next to it the same text.
    let utf_16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(GAMES.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(indexed(&[("a.pgn", &utf_16), ("a.pgn.gz", &gzip(&utf_16, usize::MAX))]).0, ["a.pgn"]);
}

#[test]
fn both_files_are_read_if_their_texts_differ() {
    let text = GAMES.as_bytes();
    let note = |name: &str| {
        format!(
            "{name}: read in addition to a.pgn beside it, because their texts differ; games that are in both files are duplicates"
        )
    };
    let mut other = text.to_vec();
    let last = other.len() - 30;
    other[last] ^= 1;
    let new = b"[White \"x\"]\n[Black \"y\"]\n\n1. e4 e5 *\n";
    for (name, archive) in packed(text) {
        let both = vec!["a.pgn".to_owned(), name.to_owned()];
        let (paths, games, notes) = indexed(&[("a.pgn", &other), (name, &archive)]);
        assert_eq!((&paths, &notes), (&both, &vec![note(name)]));
        assert!((53..=54).contains(&games), "{games}");
        assert_eq!(indexed(&[("a.pgn", new), (name, &archive)]), (both.clone(), 54, vec![note(name)]));
        // A damaged archive may have contained more, so both are read. The last game of the archive may be cut.
        let (paths, games, _) = indexed(&[("a.pgn", text), (name, &archive[..archive.len() - 9])]);
        assert!(paths == both && (53..=54).contains(&games), "{name}: {paths:?}, {games}");
    }
}

#[test]
fn only_files_in_the_same_directory_are_compared() {
    let text = GAMES.as_bytes();
    let archive = gzip(text, usize::MAX);
    // A directory with the name of the file, and a file with that name in another directory.
    for name in ["a.pgn/b.pgn", "b/a.pgn"] {
        let (paths, games, notes) =
            indexed(&[(name, b"[White \"x\"]\n[Black \"y\"]\n\n1. e4 *"), ("a.pgn.gz", &archive)]);
        assert_eq!((paths.len(), games, notes.len()), (2, 54, 0), "{name}");
    }
    let zipped = zip(&[("a.pgn", text, Packing::Deflated)]);
    let (paths, games, _) = indexed(&[("a.pgn", &text[..5000]), ("a.zip", &zipped)]);
    assert_eq!((paths.len(), games >= 53), (2, true));
    // Two archives of one file that was decompressed only in part.
    let (paths, games, notes) =
        indexed(&[("a.pgn", &text[..5000]), ("a.pgn.gz", &archive), ("a.pgn.zst", &zstd_frame(text, false))]);
    assert_eq!((paths, games, notes.len()), (vec!["a.pgn.gz".to_owned(), "a.pgn.zst".to_owned()], 53, 1));
}
