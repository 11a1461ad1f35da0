//! Finds the readings of a file by its path.

use std::path::{Path, PathBuf};

use crate::id::SourceId;
use crate::sorted::sort;
use crate::store::cell::{Cells, SOURCE, read_rows};
use crate::store::database::Database;
use crate::store::error::{Error, ErrorKind, Result};

/// The maximum number of suggested paths.
const SUGGESTED: usize = 3;

impl Database {
    /// All readings of a file, by its path in the database. If no source has this path, and the path is the
    /// number of a reading, returns all readings of that reading's file.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`] if there is no such file; errors of SQLite.
    pub fn readings_of(&self, path: &Path) -> Result<Vec<SourceId>> {
        let sources =
            self.sources().map_err(|source| Error::sqlite(self.path(), "read table source", source))?;
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

    fn sources(&self) -> rusqlite::Result<Vec<(SourceId, PathBuf)>> {
        let mut statement = self.connection().prepare("SELECT source_id, path FROM source")?;
        read_rows(&mut statement, [], |row| {
            let cells = Cells::new(row, SOURCE);
            Ok((SourceId(cells.get("source_id")?), cells.get("path")?))
        })
    }
}

/// Similar paths, at most [`SUGGESTED`]: first paths with the same file name, then paths for which at most a
/// third of the letters of `wanted` must be changed, added, removed or swapped.
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
