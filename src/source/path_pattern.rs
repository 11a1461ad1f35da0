//! Finds paths that match a pattern such as `twic/**/*.pgn`.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::search_observer::Flow;
use super::{Error, SearchObserver};
use crate::path_bytes::ends_in_separator;
use crate::sorted::sort_by_key;

/// A pattern, split into the parts of a path.
pub(super) struct Pattern {
    /// The path before the first part.
    start: PathBuf,
    parts: Vec<Part>,
    only_directories: bool,
}

enum Part {
    Name(OsString),
    /// A pattern for one name.
    Fits(glob::Pattern),
    /// `**`: any number of directories, including none. It is never the last part.
    AnyDepth,
}

/// Receives matching paths, and errors of directories that cannot be read.
type Found<'f> = dyn FnMut(Result<PathBuf, Error>) -> Flow + 'f;

impl Pattern {
    /// Whether a path is a pattern, provided that no file or directory has this path.
    pub(super) fn is_one(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
    }

    /// Parses a pattern; `None` if it is invalid, so that nothing can match.
    pub(super) fn new(path: &Path) -> Option<Self> {
        let (mut start, mut parts) = (PathBuf::new(), Vec::new());
        for component in path.components() {
            match component {
                Component::Prefix(_) | Component::RootDir => start.push(component),
                Component::CurDir => {}
                Component::ParentDir => parts.push(Part::Name(component.as_os_str().to_owned())),
                Component::Normal(name) if name == "**" => {
                    if !matches!(parts.last(), Some(Part::AnyDepth)) {
                        parts.push(Part::AnyDepth);
                    }
                }
                Component::Normal(name) if Self::is_one(Path::new(name)) => {
                    parts.push(Part::Fits(glob::Pattern::new(&name.to_string_lossy()).ok()?));
                }
                Component::Normal(name) => parts.push(Part::Name(name.to_owned())),
            }
        }
        let mut only_directories = ends_in_separator(path);
        // A directory represents everything below it, so `a/**` means the directory `a`.
        if matches!(parts.last(), Some(Part::AnyDepth)) {
            parts.pop();
            only_directories = true;
        }
        Some(Self { start, parts, only_directories })
    }

    /// Calls `found` with each matching path, in order. A path is searched and found only once, even if the
    /// pattern can match it in several ways. `**` does not follow links, and a link that leads to a cycle is
    /// never followed.
    pub(super) fn find(&self, watch: &dyn SearchObserver, found: &mut Found<'_>) -> Flow {
        if self.parts.is_empty() {
            return found(Ok(real(&self.start).to_owned()));
        }
        Search { pattern: self, watch, found }.walk(&self.start, &[0])
    }
}

/// A search for the paths that match a pattern.
struct Search<'s, 'f> {
    pattern: &'s Pattern,
    watch: &'s dyn SearchObserver,
    found: &'s mut Found<'f>,
}

impl Search<'_, '_> {
    /// Searches a directory for entries that match a part of the pattern. `wanted` contains the indexes of
    /// these parts, in ascending order.
    fn walk(&mut self, directory: &Path, wanted: &[usize]) -> Flow {
        let mut parts = wanted.to_vec();
        // `**` also matches zero directories.
        let is_any_depth = |part: &&usize| matches!(self.pattern.parts[**part], Part::AnyDepth);
        parts.extend(wanted.iter().filter(is_any_depth).map(|part| part + 1));
        parts.sort_unstable();
        parts.dedup();
        if let [part] = parts[..]
            && let Part::Name(name) = &self.pattern.parts[part]
        {
            // A file with a known name can be found in a directory that is not readable.
            self.watch.looked_at(1, 0)?;
            let path = directory.join(name);
            return match fs::symlink_metadata(&path) {
                Ok(metadata) => self.enter(directory, &path, metadata.file_type(), vec![part + 1]),
                Err(_) => Flow::Continue(()),
            };
        }
        let names_and_types = |entries: Vec<fs::DirEntry>| -> io::Result<Vec<_>> {
            entries.into_iter().map(|entry| Ok((entry.file_name(), entry.file_type()?))).collect()
        };
        let entries = match sorted_entries(real(directory), self.watch)?.and_then(names_and_types) {
            Ok(entries) => entries,
            Err(error) => return (self.found)(Err(Error::io(real(directory), error))),
        };
        for (name, file_type) in entries {
            self.watch.looked_at(1, 0)?;
            let shown = name.to_string_lossy();
            let next = |&part: &usize| match &self.pattern.parts[part] {
                Part::AnyDepth => file_type.is_dir().then_some(part),
                Part::Name(wanted) => (*wanted == name).then_some(part + 1),
                Part::Fits(pattern) => pattern.matches(&shown).then_some(part + 1),
            };
            let mut next: Vec<usize> = parts.iter().filter_map(next).collect();
            next.dedup();
            if !next.is_empty() {
                self.enter(directory, &directory.join(&name), file_type, next)?;
            }
        }
        Flow::Continue(())
    }

    /// Reports an entry of a directory if it matches the whole pattern. If the entry is a directory, searches
    /// it for the parts `next` of the pattern.
    fn enter(
        &mut self,
        directory: &Path,
        path: &Path,
        file_type: fs::FileType,
        mut next: Vec<usize>,
    ) -> Flow {
        let parts = &self.pattern.parts;
        if next.last() == Some(&parts.len()) {
            next.pop();
            if !self.pattern.only_directories || path.is_dir() {
                (self.found)(Ok(path.to_owned()))?;
            }
        }
        if file_type.is_symlink() {
            next.retain(|&part| !parts[part..].iter().any(|part| matches!(part, Part::AnyDepth)));
        }
        let is_entered =
            !next.is_empty() && (file_type.is_dir() || path.is_dir() && !self.is_circle(directory, path));
        if is_entered { self.walk(path, &next) } else { Flow::Continue(()) }
    }

    /// Whether a link in a directory leads to that directory, or to one of its parents within the search.
    fn is_circle(&self, directory: &Path, link: &Path) -> bool {
        let target = fs::canonicalize(link).ok();
        let passed = directory.ancestors().take_while(|passed| passed.starts_with(&self.pattern.start));
        passed.into_iter().any(|passed| fs::canonicalize(real(passed)).ok() == target)
    }
}

/// The path of a directory: `.` if `directory` is empty.
fn real(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// The entries of a directory, sorted by name.
pub(super) fn sorted_entries(
    directory: &Path,
    watch: &dyn SearchObserver,
) -> ControlFlow<(), io::Result<Vec<fs::DirEntry>>> {
    let mut entries = Vec::new();
    let read = match fs::read_dir(directory) {
        Ok(read) => read,
        Err(error) => return ControlFlow::Continue(Err(error)),
    };
    for entry in read {
        watch.looked_at(0, 0)?;
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => return ControlFlow::Continue(Err(error)),
        }
    }
    sort_by_key(&mut entries, fs::DirEntry::file_name);
    ControlFlow::Continue(Ok(entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts entries, and stops after the given number of them.
    struct Count(Cell<u64>, u64);

    impl SearchObserver for Count {
        fn looked_at(&self, entries: u64, _: u64) -> ControlFlow<()> {
            self.0.set(self.0.get() + entries);
            if self.0.get() > self.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    fn tree(paths: &[&str]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for path in paths {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "*").unwrap();
        }
        tree
    }

    fn found(tree: &Path, pattern: &str, watch: &dyn SearchObserver) -> Vec<String> {
        let mut paths = Vec::new();
        let mut take = |path: Result<PathBuf, Error>| {
            paths.push(path.unwrap().strip_prefix(tree).unwrap().to_string_lossy().into_owned());
            ControlFlow::Continue(())
        };
        let _ = Pattern::new(&tree.join(pattern)).unwrap().find(watch, &mut take);
        paths
    }

    const FILES: [&str; 8] =
        ["a.pgn", "b/a.pgn", "b/c/a.pgn", "b/c/a.txt", "b/c/d/a.pgn", "b/d/c/x.pgn", "c/.a.pgn", "c[1].pgn"];

    #[test]
    fn patterns_match_paths() {
        let tree = tree(&FILES);
        for (pattern, expected) in [
            ("*.pgn", vec!["a.pgn", "c[1].pgn"]),
            ("?.pgn", vec!["a.pgn"]),
            ("*/*.pgn", vec!["b/a.pgn", "c/.a.pgn"]),
            ("b/*/a.pgn", vec!["b/c/a.pgn"]),
            ("**/a.pgn", vec!["a.pgn", "b/a.pgn", "b/c/a.pgn", "b/c/d/a.pgn"]),
            ("**/**/c/**/**/a.*", vec!["b/c/a.pgn", "b/c/a.txt", "b/c/d/a.pgn"]),
            ("b/**", vec!["b"]),
            ("[bc]/**", vec!["b", "c"]),
            ("[bc]*/", vec!["b", "c"]),
            ("b/../*.pgn", vec!["b/../a.pgn", "b/../c[1].pgn"]),
            ("z*/*", vec![]),
        ] {
            assert_eq!(found(tree.path(), pattern, &()), expected, "{pattern}");
        }
        assert!(Pattern::new(Path::new("a**b")).is_none());
    }

    /// Compares the results with those of the crate `glob`, which has the same patterns.
    #[test]
    fn matches_agree_with_glob() {
        let tree = tree(&FILES);
        for pattern in ["*", "*/*", "**/*", "**/c/*", "b/**/*.pgn", "**/[ab]*", "**/*/**/*.pgn"] {
            let expected: Vec<_> = glob::glob(tree.path().join(pattern).to_str().unwrap())
                .unwrap()
                .map(|path| path.unwrap().strip_prefix(tree.path()).unwrap().to_string_lossy().into_owned())
                .collect();
            // `glob` finds some paths in several ways.
            let mut seen = std::collections::HashSet::new();
            let unique: Vec<_> = expected.iter().filter(|path| seen.insert(*path)).cloned().collect();
            assert!(!unique.is_empty());
            assert_eq!(found(tree.path(), pattern, &()), unique, "{pattern}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_in_circles() {
        use std::os::unix::fs::symlink;
        let tree = tree(&["a/b/c/x.pgn", "d/y.pgn"]);
        let place = tree.path();
        for name in ["l1", "l2", "l3"] {
            symlink(".", place.join("a").join(name)).unwrap();
            symlink("../..", place.join("a/b").join(name)).unwrap();
            symlink(place.join("a"), place.join("d").join(name)).unwrap();
        }
        let count = Count(Cell::new(0), 10_000);
        assert_eq!(found(place, "**/*.pgn", &count), ["a/b/c/x.pgn", "d/y.pgn"]);
        assert_eq!(found(place, "**/*/**/*.pgn", &count), ["a/b/c/x.pgn", "d/y.pgn"]);
        assert_eq!(found(place, "**/nothing", &count), [""; 0]);
        assert_eq!(found(place, "a/*/*/*/*/*/*/x.pgn", &count), [""; 0]);
        // A link that does not lead to a cycle is followed if a part of the pattern matches it.
        assert_eq!(found(place, "d/l1/b/c/x.pgn*", &count), ["d/l1/b/c/x.pgn"]);
        assert_eq!(found(place, "**/l1/b/*/x.pgn", &count), ["d/l1/b/c/x.pgn"]);
        assert!(count.0.get() < 500, "{} entries visited", count.0.get());
    }

    #[test]
    fn a_search_stops_on_request() {
        let tree = tree(&FILES);
        let count = Count(Cell::new(0), 3);
        let pattern = Pattern::new(&tree.path().join("**/nothing")).unwrap();
        assert_eq!(pattern.find(&count, &mut |_| unreachable!()), ControlFlow::Break(()));
        assert_eq!(count.0.get(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_match_too() {
        use std::os::unix::ffi::OsStrExt as _;
        let tree = tree(&[]);
        let name = std::ffi::OsStr::from_bytes(b"\xff.pgn");
        fs::write(tree.path().join(name), "*").unwrap();
        let mut paths = Vec::new();
        let mut take = |path: Result<PathBuf, Error>| {
            paths.push(path.unwrap());
            ControlFlow::Continue(())
        };
        let _ = Pattern::new(&tree.path().join("*.pgn")).unwrap().find(&(), &mut take);
        assert_eq!(paths, [tree.path().join(name)]);
    }
}
