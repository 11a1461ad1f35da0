//! Tests that need internals: a panicking worker, parts of files, and hashes with few bits.

mod duplicates;
mod parts;

use std::fs;
use std::sync::mpsc;
use std::time::Duration;

use crate::index::{Error, IndexOptions, Progress, index};

/// In tests, a game that begins with this tag makes its worker panic.
pub(super) const PANIC: &str = "[Event \"please panic\"]";

#[test]
fn a_panic_of_a_worker_ends_the_run_with_an_error() {
    let good = "[Event \"good\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n".repeat(2000);
    for (place, text) in [
        ("first", format!("{PANIC}\n\n{good}")),
        ("in the middle", format!("{good}{PANIC}\n\n1. e4 *\n\n{good}{good}")),
        ("last", format!("{good}{PANIC}\n")),
        ("everywhere", format!("{PANIC}\n\n1. e4 *\n\n").repeat(500)),
    ] {
        for threads in [1, 4] {
            let directory = tempfile::tempdir().unwrap();
            let input = directory.path().join("in.pgn");
            fs::write(&input, &text).unwrap();
            let options = IndexOptions { threads, chunk_size: 1000, ..IndexOptions::default() };
            let (done, result) = mpsc::channel();
            let target = directory.path().join("out.db");
            std::thread::spawn(move || {
                let result = index(&target, &[input], &options, &Progress::default());
                done.send(result).expect("a receiver");
            });
            let result = result.recv_timeout(Duration::from_secs(30)).expect("an end within 30 seconds");
            assert!(matches!(result, Err(Error::Panicked)), "{place}, {threads} threads: {result:?}");
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "a file is left behind");
        }
    }
}
