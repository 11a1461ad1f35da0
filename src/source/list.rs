//! Which files to read.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Result};

/// A file to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as given or as found in a given directory.
    pub path: PathBuf,
    /// Its size when it was listed, in bytes.
    pub bytes: u64,
    /// Where reading begins, in bytes of its text: what is before it was read in an earlier run.
    pub first_byte: u64,
}

/// The files to be read, in order, and what cannot be.
#[derive(Debug, Default)]
pub struct Sources {
    /// Files that are there, and in their places errors for those that are not.
    pub files: Vec<Result<SourceFile>>,
}

impl Sources {
    /// How much is to be read of all files together, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().flatten().map(|file| file.bytes.saturating_sub(file.first_byte)).sum()
    }
}

/// Lists files in the order given; a directory stands for all `.pgn` files below it, in the order of their paths.
#[must_use]
pub fn list<P: AsRef<Path>>(paths: &[P]) -> Sources {
    let mut sources = Sources::default();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => list_directory(path, &mut sources.files),
            Ok(metadata) if metadata.is_file() => {
                sources.files.push(Ok(SourceFile {
                    path: path.to_owned(),
                    bytes: metadata.len(),
                    first_byte: 0,
                }));
            }
            Ok(_) => sources.files.push(Err(Error::NotAFile { path: path.to_owned() })),
            Err(error) => sources.files.push(Err(Error::io(path, error))),
        }
    }
    sources
}

/// Adds the `.pgn` files of a directory and those below it. Links to directories are not followed, so there is no circle.
fn list_directory(directory: &Path, files: &mut Vec<Result<SourceFile>>) {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            files.push(Err(Error::io(directory, error)));
            return;
        }
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list_directory(&path, files),
            Ok(_) if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn")) => {
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_file() => {
                        files.push(Ok(SourceFile { path, bytes: metadata.len(), first_byte: 0 }));
                    }
                    Ok(_) => {}
                    Err(error) => files.push(Err(Error::io(&path, error))),
                }
            }
            Ok(_) => {}
            Err(error) => files.push(Err(Error::io(&path, error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_stand_for_their_pgn_files_in_order() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b.pgn", "a/z.PGN", "a/y.txt", "c.pgn", "a/b/x.pgn"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "*").unwrap();
        }
        let missing = directory.path().join("missing.pgn");
        let sources = list(&[directory.path().to_owned(), missing, directory.path().join("a/y.txt")]);
        let names: Vec<String> = sources
            .files
            .iter()
            .map(|file| match file {
                Ok(file) => file.path.strip_prefix(directory.path()).unwrap().display().to_string(),
                Err(error) => error.to_string().split("; ").next().unwrap().to_owned(),
            })
            .collect();
        assert_eq!(names[..4], ["a/b/x.pgn", "a/z.PGN", "b.pgn", "c.pgn"]);
        assert!(names[4].ends_with("missing.pgn: no such file or directory"), "{}", names[4]);
        assert_eq!(names[5], "a/y.txt");
        assert_eq!(sources.bytes(), 5);
    }
}
