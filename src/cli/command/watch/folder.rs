//! Tracks the files of a directory, and which of them are ready to be read.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use pgndex::source::has_name_of_games;

/// The data that shows whether a file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), changed: metadata.modified().ok() }
    }

    /// Whether the last change is at least this old. A time in the future counts as unknown.
    fn is_older_than(self, age: Duration) -> bool {
        self.changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|elapsed| elapsed >= age)
    }
}

#[derive(Debug)]
struct KnownFile {
    mark: FileStamp,
    since: Instant,
    is_done: bool,
}

/// The known files of a directory.
#[derive(Debug, Default)]
pub(super) struct Folder {
    seen: HashMap<PathBuf, KnownFile>,
    /// The number of files that other programs may still have been writing at the last scan.
    settling: usize,
    /// Directories that could not be read in the last scan.
    unreadable: HashSet<PathBuf>,
}

/// The result of a scan.
#[derive(Debug)]
pub(super) struct Scan {
    /// Files that are ready and not yet done, sorted by path.
    pub(super) ready: Vec<PathBuf>,
    /// Unreadable directories, except those that were unreadable in the scan before.
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

impl Folder {
    /// Scans a directory and all directories below it.
    ///
    /// # Errors
    /// If the directory itself cannot be read.
    pub(super) fn scan(&mut self, directory: &Path, settle: Duration) -> io::Result<Scan> {
        let (now, before) = (Instant::now(), std::mem::take(&mut self.seen));
        let mut directories = vec![fs::read_dir(directory)?];
        let (mut ready, mut unreadable) = (Vec::new(), Vec::new());
        let told = std::mem::take(&mut self.unreadable);
        self.settling = 0;
        while let Some(entries) = directories.pop() {
            // An entry that cannot be read is ignored: its file has probably just been removed.
            for entry in entries.filter_map(Result::ok) {
                let path = entry.path();
                if is_temporary(&path) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    match fs::read_dir(&path) {
                        Ok(entries) => directories.push(entries),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => {
                            self.unreadable.insert(path.clone());
                            if !told.contains(&path) {
                                unreadable.push((path, error));
                            }
                        }
                    }
                    continue;
                }
                let Ok(metadata) = fs::metadata(&path) else { continue };
                if !metadata.is_file() || !has_name_of_games(&path) {
                    continue;
                }
                let mark = FileStamp::of(&metadata);
                let seen = match before.get(&path) {
                    Some(seen) if seen.mark == mark => KnownFile { mark, ..*seen },
                    _ => KnownFile { mark, since: now, is_done: false },
                };
                let has_stayed = now.duration_since(seen.since) >= settle || mark.is_older_than(settle);
                if !seen.is_done && mark.bytes > 0 {
                    if has_stayed {
                        ready.push(path.clone());
                    } else {
                        self.settling += 1;
                    }
                }
                self.seen.insert(path, seen);
            }
        }
        ready.sort();
        Ok(Scan { ready, unreadable })
    }

    /// How many files of the last scan other programs may still be writing.
    pub(super) const fn settling(&self) -> usize {
        self.settling
    }

    /// Marks all files to be read again.
    pub(super) fn read_again(&mut self) {
        for seen in self.seen.values_mut() {
            seen.is_done = false;
        }
    }

    /// Marks files as done until they change.
    pub(super) fn done(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if let Some(seen) = self.seen.get_mut(path) {
                seen.is_done = true;
            }
        }
    }
}

/// Whether a file or directory is hidden, or has a temporary name.
fn is_temporary(path: &Path) -> bool {
    const ENDINGS: [&str; 4] = [".part", ".tmp", ".partial", ".crdownload"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.starts_with('.') || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn names(ready: &[PathBuf]) -> Vec<&str> {
        ready.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn ready_files_are_listed_until_done_or_changed() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        fs::create_dir(place.join("below")).unwrap();
        for name in ["a.pgn", "below/b.pgn.zst", ".c.pgn", "d.pgn.part", "e.tmp", "f.txt"] {
            fs::write(place.join(name), "1. e4 *").unwrap();
        }
        fs::write(place.join("empty.pgn"), "").unwrap();
        let mut folder = Folder::default();
        assert_eq!(names(&folder.scan(place, HOUR).unwrap().ready), [""; 0], "the files are new");
        assert_eq!(folder.settling(), 2);
        let ready = folder.scan(place, Duration::ZERO).unwrap().ready;
        assert_eq!(names(&ready), ["a.pgn", "b.pgn.zst"]);
        assert_eq!(folder.settling(), 0);
        folder.done(&ready);
        assert_eq!(names(&folder.scan(place, Duration::ZERO).unwrap().ready), [""; 0]);
        fs::write(place.join("a.pgn"), "1. e4 e5 *").unwrap();
        fs::rename(place.join("d.pgn.part"), place.join("d.pgn")).unwrap();
        assert_eq!(names(&folder.scan(place, Duration::ZERO).unwrap().ready), ["a.pgn", "d.pgn"]);
    }

    #[test]
    fn an_old_file_is_ready_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pgn");
        fs::write(&path, "1. e4 *").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - HOUR).unwrap();
        let ready = Folder::default().scan(directory.path(), HOUR / 2).unwrap().ready;
        assert_eq!(names(&ready), ["a.pgn"]);
    }
}
