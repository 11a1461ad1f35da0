//! What a database knows of the files that it was made from.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::store::row::{GameId, SourceId};

/// One reading of a source: a row of `source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSource {
    /// Its number.
    pub id: SourceId,
    /// How long its text was, in bytes.
    pub bytes: u64,
    /// The digest of all of its text, also of what an earlier reading had read; of a damaged archive, of what could be decoded.
    pub digest: String,
    /// How many games this and the earlier readings of the same file found, those too that were left out or skipped as duplicates.
    pub games: u64,
    /// Where the last of these games begins, in bytes; 0 if there is none.
    pub last_game: u64,
    /// The reading of the same file that it goes on with, by its place among all readings.
    pub(super) before: Option<usize>,
}

/// All readings whose digest is known. To look one up takes no longer when there are more.
#[derive(Debug, Default)]
pub struct KnownSources {
    /// Those of later readings later.
    readings: Vec<KnownSource>,
    /// The latest of each path, by its place.
    latest: HashMap<PathBuf, usize>,
    /// Lengths and digests of all texts.
    texts: HashSet<(u64, String)>,
    lengths: HashSet<u64>,
    longest: Option<u64>,
}

impl KnownSources {
    pub(super) fn add(&mut self, path: PathBuf, first_byte: u64, mut reading: KnownSource) {
        let before = self.latest.get(&path).copied();
        // A file that was written anew begins again with its first byte.
        reading.before = before.filter(|_| first_byte > 0 || reading.bytes == 0);
        if let Some(before) = reading.before.map(|before| &self.readings[before]) {
            reading.games += before.games;
            reading.last_game = reading.last_game.max(before.last_game);
        }
        self.texts.insert((reading.bytes, reading.digest.clone()));
        self.lengths.insert(reading.bytes);
        self.longest = self.longest.max(Some(reading.bytes));
        self.latest.insert(path, self.readings.len());
        self.readings.push(reading);
    }

    /// The latest reading of the file with this path, as it was given.
    #[must_use]
    pub fn latest(&self, path: &Path) -> Option<&KnownSource> {
        self.latest.get(path).map(|&place| &self.readings[place])
    }

    /// Whether some text has this length, in bytes, and this digest.
    #[must_use]
    pub fn has_text(&self, bytes: u64, digest: String) -> bool {
        self.texts.contains(&(bytes, digest))
    }

    /// Whether some text has this length, in bytes.
    #[must_use]
    pub fn has_length(&self, bytes: u64) -> bool {
        self.lengths.contains(&bytes)
    }

    /// The length of the longest text, in bytes.
    #[must_use]
    pub const fn longest(&self) -> Option<u64> {
        self.longest
    }

    /// The readings of a file up to this one, since it was last read from its first byte on; the latest is the first.
    pub(super) fn readings<'s>(&'s self, reading: &'s KnownSource) -> impl Iterator<Item = SourceId> {
        let before = |reading: &&'s KnownSource| reading.before.map(|place| &self.readings[place]);
        std::iter::successors(Some(reading), before).map(|reading| reading.id)
    }
}

/// The end of a file's text that is read again when it goes on: the last game that was found, and what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The readings of the file since it was last read from its first byte on: a JSON array of their numbers.
    pub readings: String,
    /// Where it begins, in bytes: with the file if no game was found.
    pub byte_offset: u64,
    /// How many games of the file come before it.
    pub games: u64,
    /// The game, if it was kept.
    pub game: Option<GameId>,
}

/// The readings of a file, of which `?1` is a JSON array.
pub(crate) const READINGS: &str = "SELECT value AS source_id FROM json_each(?1)";
