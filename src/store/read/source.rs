//! The files that a database was built from.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::sorted::{sort, sort_by_key};
use crate::store::cell::SOURCE;
use crate::store::row::{GameId, SourceId};
use crate::store::{Database, ErrorKind, Result};

/// One reading of a file: a row of `source`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSource {
    /// The id of the row.
    pub id: SourceId,
    /// The length of the file's text, in bytes.
    pub bytes: u64,
    /// The digest of the whole text, including the part that earlier readings read. For a damaged archive,
    /// the digest of the data that could be decoded.
    pub digest: String,
    /// The number of games found by this reading and the readings that it continues. Games that were not kept,
    /// were skipped as duplicates, or were removed later are included.
    pub games: u64,
    /// The offset, in bytes, of the last game found by this reading and the readings that it continues; 0 if
    /// no game was found.
    pub last_game: u64,
    /// Whether the file was damaged.
    pub is_damaged: bool,
    /// The name of the text's encoding, as given to the run that read its beginning; `None` if none was given.
    pub encoding: Option<String>,
    /// The index in [`KnownSources`] of the file's earlier reading, if this reading continues it.
    pub(super) before: Option<usize>,
}

/// All rows of `source` that have a digest. Looking up a path or a text takes constant time.
#[derive(Debug, Default)]
pub struct KnownSources {
    /// In the order of their ids.
    readings: Vec<KnownSource>,
    /// The index of the latest reading of each path.
    latest: HashMap<PathBuf, usize>,
    /// Length and digest of each text.
    texts: HashSet<(u64, String)>,
    lengths: HashSet<u64>,
    longest: Option<u64>,
}

impl KnownSources {
    pub(super) fn add(&mut self, path: PathBuf, first_byte: u64, mut reading: KnownSource) {
        let before = self.latest.get(&path).copied();
        // If a reading began at byte 0, it covered the whole file. Such a reading continues an earlier one only if
        // its own text is empty.
        reading.before = before.filter(|_| first_byte > 0 || reading.bytes == 0);
        if let Some(before) = reading.before.map(|before| &self.readings[before]) {
            reading.games += before.games;
            reading.last_game = reading.last_game.max(before.last_game);
            reading.encoding.clone_from(&before.encoding);
        }
        self.texts.insert((reading.bytes, reading.digest.clone()));
        self.lengths.insert(reading.bytes);
        self.longest = self.longest.max(Some(reading.bytes));
        self.latest.insert(path, self.readings.len());
        self.readings.push(reading);
    }

    /// The latest reading of the file with this path. The path is compared as given, without resolving links.
    #[must_use]
    pub fn latest(&self, path: &Path) -> Option<&KnownSource> {
        self.latest.get(path).map(|&place| &self.readings[place])
    }

    /// The latest reading of each file, in the order of the readings.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &KnownSource)> {
        let mut files: Vec<_> = self.latest.iter().collect();
        sort_by_key(&mut files, |&(_, place)| *place);
        files.into_iter().map(|(path, &place)| (path.as_path(), &self.readings[place]))
    }

    /// Whether a text with this length, in bytes, and this digest was read.
    #[must_use]
    pub fn has_text(&self, bytes: u64, digest: String) -> bool {
        self.texts.contains(&(bytes, digest))
    }

    /// Whether a text with this length, in bytes, was read.
    #[must_use]
    pub fn has_length(&self, bytes: u64) -> bool {
        self.lengths.contains(&bytes)
    }

    /// The length of the longest text, in bytes; `None` if there are no readings.
    #[must_use]
    pub const fn longest(&self) -> Option<u64> {
        self.longest
    }

    /// The given reading and the earlier readings that it continues, the latest first.
    pub(super) fn readings<'s>(&'s self, reading: &'s KnownSource) -> impl Iterator<Item = SourceId> {
        let before = |reading: &&'s KnownSource| reading.before.map(|place| &self.readings[place]);
        std::iter::successors(Some(reading), before).map(|reading| reading.id)
    }
}

/// The end of a file's text: the last game found, and everything after it. The tail is read again when the
/// file grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// A JSON array of ids: of the latest reading of the file, and of the readings that it continues.
    pub readings: String,
    /// The offset of the tail, in bytes; 0 if no game was found.
    pub byte_offset: u64,
    /// The number of games of the file before the tail.
    pub games: u64,
    /// The last game found, if the database has it.
    pub game: Option<GameId>,
}

/// SQL for a row of `source`: the encoding that was given to its run; NULL if none was given.
pub(crate) const GIVEN_ENCODING: &str =
    "(SELECT CASE WHEN json_valid(options) THEN json_extract(options, '$.encoding') END FROM import
      WHERE import.import_id = source.import_id)";

/// SQL that returns the ids of readings in the JSON array `?1`, one per row.
pub(crate) const READINGS: &str = "SELECT value AS source_id FROM json_each(?1)";

/// The maximum number of suggested paths.
const SUGGESTED: usize = 3;

impl Database {
    /// All readings of a file, by its path in the database. If no reading has this path, but the path is the
    /// id of a reading, returns all readings of that reading's file.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if there is no such file; errors of SQLite.
    pub fn readings_of(&self, path: &Path) -> Result<Vec<SourceId>> {
        let sql = "SELECT source_id, path FROM source";
        let sources = self.all("read table source", SOURCE, sql, [], |cells| {
            Ok((cells.get("source_id")?, cells.get::<PathBuf>("path")?))
        })?;
        let of_path = |path: &Path| -> Vec<SourceId> {
            sources.iter().filter(|(_, other)| other == path).map(|&(id, _)| id).collect()
        };
        let mut readings = of_path(path);
        if readings.is_empty()
            && let Some(id) = path.to_str().and_then(|text| text.parse().ok()).map(SourceId)
            && let Some((_, path)) = sources.iter().find(|&&(other, _)| other == id)
        {
            readings = of_path(path);
        }
        if readings.is_empty() {
            let near = near(path, sources.into_iter().map(|(_, path)| path));
            let source_path = path.to_owned();
            return Err(ErrorKind::UnknownSource { source_path, near }.at(self.path()));
        }
        Ok(readings)
    }
}

/// Paths similar to `wanted`, at most [`SUGGESTED`]. Paths with the same file name come first. Then come paths
/// that differ from `wanted` in at most a third of its letters: changed, added, removed or swapped ones.
fn near(wanted: &Path, paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let text = wanted.to_string_lossy();
    let likeness = |path: &Path| match path.file_name() {
        name if name.is_some() && name == wanted.file_name() => Some(0),
        _ => {
            let wrong = strsim::osa_distance(&text, &path.to_string_lossy());
            (wrong <= text.chars().count() / 3).then_some(wrong)
        }
    };
    let mut near: Vec<(usize, PathBuf)> =
        paths.filter_map(|path| likeness(&path).map(|wrong| (wrong, path))).collect();
    sort(&mut near);
    near.dedup();
    near.into_iter().take(SUGGESTED).map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_similar_by_file_name_or_by_letters() {
        let paths = ["2024/march.pgn", "march.pgn", "2024/april.pgn", "2024/march.pgn", "x.pgn"];
        let near = |wanted: &str| -> Vec<String> {
            let near = near(Path::new(wanted), paths.iter().map(PathBuf::from));
            near.iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(near("march.pgn"), ["2024/march.pgn", "march.pgn"]);
        assert_eq!(near("2024/marhc.pgn"), ["2024/march.pgn", "2024/april.pgn"]);
        assert_eq!(near("7"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
    }
}
