//! The built-in list of openings.
//!
//! `examples/openings.rs` generates `eco.tsv`. That TSV file contains the key and the FEN of each position in
//! addition to the moves, because replaying thousands of lines takes longer than indexing a few games.

use std::sync::{Arc, LazyLock};

use super::book::{NamedPosition, Opening, OpeningBook};
use crate::board::PositionKey;

static BUILT_IN: LazyLock<Arc<OpeningBook>> = LazyLock::new(|| {
    const HEADER: &str = "eco\tname\tpgn\tkey\tfen\n";
    let (_, mut lines) = include_str!("eco.tsv").split_once(HEADER).expect("the tests have read it");
    let mut openings = Vec::new();
    while !lines.is_empty() {
        openings.push(take_line(&mut lines).expect("the tests have read it"));
    }
    Arc::new(OpeningBook::new(openings))
});

/// Removes the first line from the text and parses it.
fn take_line(lines: &mut &'static str) -> Option<NamedPosition> {
    let mut field = |end| {
        let at = memchr::memchr(end, lines.as_bytes())?;
        let (field, rest) = (&lines[..at], &lines[at + 1..]);
        *lines = rest;
        Some(field)
    };
    let opening = Opening { eco: field(b'\t')?.to_owned(), name: field(b'\t')?.to_owned() };
    let _pgn = field(b'\t')?;
    let key = u64::from_str_radix(field(b'\t')?, 16).ok()?;
    Some(NamedPosition::from_parts(opening, PositionKey(key), field(b'\n')?.into()))
}

impl OpeningBook {
    /// The built-in list: the names of Lichess's `chess-openings`, more than 3,000.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }
}
