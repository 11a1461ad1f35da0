//! Lists the files to read.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::decode::DecodeOptions;
use super::error::shown_path;
use super::file::{Location, SourceFile, head};
use super::form::Form;
use super::path_list::{listed_paths, read_list};
use super::path_pattern::{Pattern, sorted_entries};
use super::search_observer::Flow;
use super::unpacked::{UnpackedState, compare};
use super::{Error, Result, SearchObserver, zip};
use crate::parallel::lock;
use crate::path_bytes::path_of_bytes;

/// The files to read, in order, with errors.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files, with an error instead of each file that is missing or cannot be read.
    pub files: Vec<Result<SourceFile>>,
    /// Notes, one sentence each. They say why a file is ignored or read only once, why two files with similar
    /// names are both read, or that a list is empty.
    pub notes: Vec<String>,
}

impl Sources {
    /// The number of bytes to read from all files together; for archives, the compressed size. `None` if one
    /// of the files is a stream.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let left = |file: &SourceFile| {
            // Other files must be decoded from their start.
            let passed = if file.is_plain() { file.first_byte } else { 0 };
            Some(file.bytes?.saturating_sub(passed))
        };
        self.files.iter().flatten().map(left).sum()
    }
}

/// Lists files in the given order, each once. `None` if `watch` stopped the search.
///
/// - A directory represents all files below it whose names end in `.pgn`, `.pgn.zst`, `.pgn.gz`, `.pgn.bz2`
///   or `.zip`, in the order of their paths. If a plain file begins with the whole text of the compressed
///   file beside it, the compressed file is ignored. If the compressed file continues where the plain file
///   ends, the plain file is ignored. Otherwise, both are listed.
/// - A zip archive represents its `.pgn` files.
/// - `-` is standard input.
/// - A path that does not exist and begins with `@` names a list: the file after the `@`. It represents the
///   paths in that file, one per line; blank lines and lines that begin with `#` are ignored.
/// - Any other path that does not exist represents all matching paths if it contains one of `*?[`.
#[must_use]
pub fn list<P: AsRef<Path>>(
    paths: &[P],
    decode: DecodeOptions,
    watch: &dyn SearchObserver,
) -> Option<Sources> {
    let mut lister = Lister { sources: Sources::default(), listed: HashSet::new(), decode, watch };
    let listed = paths.iter().try_for_each(|path| lister.add(path.as_ref(), true));
    listed.is_continue().then_some(lister.sources)
}

/// Finds single files by the paths with which they were listed. The list of files in a zip archive is read
/// only once.
#[derive(Debug, Default)]
pub struct Finder {
    archives: Mutex<HashMap<PathBuf, Arc<OnceLock<zip::Members>>>>,
}

impl Finder {
    /// Finds a file. Streams cannot be found.
    ///
    /// # Errors
    /// If it does not exist, or cannot be read.
    pub fn find(&self, path: &Path) -> Result<SourceFile> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(SourceFile::from_file(path, metadata.len())),
            Ok(_) => Err(Error::Missing { path: path.to_owned() }),
            Err(error) => {
                let mut archives = path.ancestors().skip(1);
                match archives.find(|archive| fs::metadata(archive).is_ok_and(|metadata| metadata.is_file()))
                {
                    Some(archive) => self.find_in(archive, path),
                    None => Err(Error::io(path, error)),
                }
            }
        }
    }

    fn find_in(&self, archive: &Path, path: &Path) -> Result<SourceFile> {
        let members = {
            let mut archives = lock(&self.archives);
            Arc::clone(archives.entry(archive.to_owned()).or_default())
        };
        let member = members.get_or_init(|| zip::Members::of(archive)).find(path)?;
        Ok(SourceFile::from_member(path, member))
    }
}

struct Lister<'w> {
    sources: Sources,
    /// The real paths of the files listed so far.
    listed: HashSet<PathBuf>,
    decode: DecodeOptions,
    watch: &'w dyn SearchObserver,
}

impl Lister<'_> {
    /// Lists the files that a path represents. `is_argument`: the path was given as an argument, so `@FILE`
    /// names a list of paths.
    fn add(&mut self, path: &Path, is_argument: bool) -> Flow {
        self.watch.looked_at(1, 0)?;
        if path.as_os_str() == "-" {
            return self.add_stream(path);
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.add_directory(path),
            Ok(metadata) if metadata.is_file() => self.add_file(path, metadata.len()),
            Ok(metadata) if is_pipe(&metadata) => self.add_stream(path),
            Ok(_) => self.fail(Error::NotAFile { path: path.to_owned() }),
            Err(error) => match path.as_os_str().as_encoded_bytes().strip_prefix(b"@") {
                Some(b"") if is_argument => self.fail(Error::List {
                    path: path.to_owned(),
                    reason: "no list is given; write the name of a file with one path per line after the @"
                        .to_owned(),
                }),
                Some(list) if is_argument => self.add_list(&path_of_bytes(list)),
                _ if Pattern::is_one(path) => self.add_pattern(path),
                _ => self.fail(Error::io(path, error)),
            },
        }
    }

    fn fail(&mut self, error: Error) -> Flow {
        self.sources.files.push(Err(error));
        Flow::Continue(())
    }

    /// Adds the real path of a file to `listed`. Returns whether the path is new there; if not, adds a note.
    fn is_new(&mut self, path: &Path) -> bool {
        let is_new = self.listed.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
        if !is_new {
            self.sources
                .notes
                .push(format!("{}: named more than once, but read only once", shown_path(path)));
        }
        is_new
    }

    fn add_stream(&mut self, path: &Path) -> Flow {
        if self.is_new(path) {
            self.sources.files.push(Ok(SourceFile::new(path, None, Location::Stream)));
        }
        Flow::Continue(())
    }

    fn add_file(&mut self, path: &Path, bytes: u64) -> Flow {
        if !self.is_new(path) {
            return Flow::Continue(());
        }
        let file = SourceFile::from_file(path, bytes);
        if file.form != Form::Zip {
            self.sources.files.push(Ok(file));
            return Flow::Continue(());
        }
        let members = zip::Members::of(path);
        if members.is_empty() && members.damage.is_none() {
            return self.fail(Error::NoMember { path: path.to_owned() });
        }
        self.add_members(members);
        Flow::Continue(())
    }

    fn add_members(&mut self, members: zip::Members) {
        self.sources.files.extend(members.into_all().map(|member| {
            let (path, member) = member?;
            Ok(SourceFile::from_member(&path, member))
        }));
    }

    /// Adds the PGN files of a directory and of all directories below it. Links to directories are not
    /// followed, so there are no cycles.
    fn add_directory(&mut self, directory: &Path) -> Flow {
        let entries = match sorted_entries(directory, self.watch)? {
            Ok(entries) => entries,
            Err(error) => return self.fail(Error::io(directory, error)),
        };
        let mut left_out = self.left_out(&entries)?;
        for entry in entries {
            self.watch.looked_at(1, 0)?;
            let path = entry.path();
            match entry.file_type() {
                Ok(file_type) if file_type.is_dir() => self.add_directory(&path)?,
                Ok(_) if wanted(&path) == Wanted::No => {}
                Ok(_) => match left_out.remove(&path) {
                    Some(note) => self.sources.notes.push(note),
                    None => self.add_found(&path)?,
                },
                Err(error) => self.fail(Error::io(&path, error))?,
            }
        }
        Flow::Continue(())
    }

    /// Adds a file that was found in a directory.
    fn add_found(&mut self, path: &Path) -> Flow {
        match fs::metadata(path) {
            // A zip archive found in a directory need not contain PGN files, unlike an archive given by its
            // path.
            Ok(metadata) if metadata.is_file() && wanted(path) == Wanted::Zip => {
                if let Err(error) = fs::File::open(path) {
                    return self.fail(Error::io(path, error));
                }
                if Form::of(&head(path)) == Form::Zip {
                    let members = zip::Members::of(path);
                    match &members.damage {
                        Some(damage) if members.is_empty() => {
                            self.sources.notes.push(format!("{}; ignored", damage.full_message()));
                        }
                        _ if !members.is_empty() && self.is_new(path) => self.add_members(members),
                        _ => {}
                    }
                }
                Flow::Continue(())
            }
            Ok(metadata) if metadata.is_file() => self.add_file(path, metadata.len()),
            Ok(_) => Flow::Continue(()),
            Err(error) => self.fail(Error::io(path, error)),
        }
    }

    /// The files of a directory that are ignored because another file contains their whole text, each with a
    /// note. For files with similar names but different texts, a note is added immediately.
    fn left_out(&mut self, entries: &[fs::DirEntry]) -> ControlFlow<(), HashMap<PathBuf, String>> {
        let names: HashSet<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        let mut left_out = HashMap::new();
        for path in entries.iter().map(fs::DirEntry::path).filter(|path| wanted(path) == Wanted::Packed) {
            let plain = path.with_extension("");
            if !plain.file_name().is_some_and(|name| names.contains(name)) {
                continue;
            }
            let file = |path: &Path| {
                let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
                Some(SourceFile::from_file(path, metadata.len()))
            };
            let Some((plain_file, packed_file)) = file(&plain).zip(file(&path)) else { continue };
            let (plain_name, packed_name) = (plain.display(), path.display());
            match compare(&plain_file, &packed_file, self.decode, self.watch)? {
                UnpackedState::Unpacked => {
                    let note = format!(
                        "{packed_name}: ignored, because {plain_name} beside it contains its whole text"
                    );
                    left_out.insert(path, note);
                }
                UnpackedState::Cut => {
                    let note = format!(
                        "{plain_name}: ignored, because {packed_name} beside it contains the same text and more"
                    );
                    left_out.insert(plain, note);
                }
                UnpackedState::Other => self.sources.notes.push(format!(
                    "{packed_name}: read in addition to {plain_name} beside it, because their texts differ; games that are in both files are duplicates"
                )),
            }
        }
        ControlFlow::Continue(left_out)
    }

    fn add_pattern(&mut self, pattern: &Path) -> Flow {
        let before = (self.sources.files.len(), self.sources.notes.len());
        if let Some(pattern) = Pattern::new(pattern) {
            let watch = self.watch;
            pattern.find(watch, &mut |path| match path {
                // Reading could block forever, because the pipe can be without a writer.
                Ok(path) if fs::metadata(&path).is_ok_and(|metadata| is_pipe(&metadata)) => {
                    self.fail(Error::Pipe { path })
                }
                Ok(path) => self.add(&path, false),
                Err(error) => self.fail(error),
            })?;
        }
        if (self.sources.files.len(), self.sources.notes.len()) == before {
            return self.fail(Error::NoMatch { path: pattern.to_owned() });
        }
        Flow::Continue(())
    }

    fn add_list(&mut self, list: &Path) -> Flow {
        let text = match read_list(list, self.watch)? {
            Ok(text) => text,
            Err(Error::Missing { path }) => {
                let reason = "no such list of paths; check the path after the @".to_owned();
                return self.fail(Error::List { path, reason });
            }
            Err(error) => return self.fail(error),
        };
        if listed_paths(&text).next().is_none() {
            self.sources.notes.push(format!("{}: the list is empty", list.display()));
        }
        for (path, line) in listed_paths(&text) {
            let before = self.sources.files.len();
            self.add(&path_of_bytes(path), false)?;
            let found = self.sources.files.split_off(before).into_iter();
            self.sources.files.extend(found.map(|file| {
                file.map_err(|source| Error::Listed { list: list.to_owned(), line, source: source.into() })
            }));
        }
        Flow::Continue(())
    }
}

/// How a file found in a directory is read, according to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    Plain,
    /// An archive of one PGN file, such as `a.pgn.gz`.
    Packed,
    Zip,
}

/// Whether the name of a file in a directory is that of a PGN file, or of an archive that can contain PGN
/// files.
#[must_use]
pub fn has_name_of_games(path: &Path) -> bool {
    wanted(path) != Wanted::No
}

fn wanted(path: &Path) -> Wanted {
    let ends_in =
        |path: &Path, end: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(end));
    let is_archive = ["zst", "gz", "bz2"].iter().any(|end| ends_in(path, end));
    if ends_in(path, "pgn") {
        Wanted::Plain
    } else if ends_in(path, "zip") {
        Wanted::Zip
    } else if is_archive && path.file_stem().is_some_and(|stem| ends_in(Path::new(stem), "pgn")) {
        Wanted::Packed
    } else {
        Wanted::No
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    const DECODE: DecodeOptions = DecodeOptions { threads: 1, memory: 0 };

    /// A directory with these files, each of one byte.
    fn directory(names: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "*").unwrap();
        }
        directory
    }

    /// The listed paths or error messages, then the notes, all without the path of the directory.
    fn listed<P: AsRef<Path>>(directory: &Path, paths: &[P]) -> Vec<String> {
        let sources = list(paths, DECODE, &()).unwrap();
        let files = sources.files.iter().map(|file| match file {
            Ok(file) => file.path.display().to_string(),
            Err(error) => error.to_string(),
        });
        let root = format!("{}/", directory.display());
        files.chain(sources.notes.iter().cloned()).map(|text| text.replace(&root, "")).collect()
    }

    #[test]
    fn directories_expand_to_their_pgn_files_in_order() {
        let directory = directory(&[
            "b.pgn",
            "a/z.PGN",
            "a/y.txt",
            "c.pgn",
            "a/b/x.pgn",
            "d.pgn.gz",
            "d.zst",
            "e.pgn.bz2",
            "f.pgn.ZST",
            "g.zip",
        ]);
        let place = directory.path();
        let paths = [place.to_owned(), place.join("missing.pgn"), place.join("a/y.txt")];
        let files = ["a/b/x.pgn", "a/z.PGN", "b.pgn", "c.pgn", "d.pgn.gz", "e.pgn.bz2", "f.pgn.ZST"];
        let rest = ["missing.pgn: no such file or directory; check the path", "a/y.txt"];
        assert_eq!(listed(place, &paths), [&files[..], &rest].concat());
        assert_eq!(list(&paths, DECODE, &()).unwrap().bytes(), Some(8));
    }

    #[test]
    fn a_file_is_read_once() {
        let directory = directory(&["a.pgn", "a.pgn.zst", "b.pgn.zst"]);
        let place = directory.path();
        let paths =
            [place.join("a.pgn"), place.to_owned(), place.join("./b.pgn.zst"), place.join("a.pgn.zst")];
        assert_eq!(
            listed(place, &paths),
            [
                "a.pgn",
                "b.pgn.zst",
                "a.pgn.zst",
                "a.pgn: named more than once, but read only once",
                "a.pgn.zst: ignored, because a.pgn beside it contains its whole text",
                "./b.pgn.zst: named more than once, but read only once",
            ]
        );
        assert_eq!(
            listed(place, &["-", "-"]),
            ["-", "standard input: named more than once, but read only once"]
        );
    }

    #[test]
    fn patterns_and_lists_expand_to_paths() {
        let directory = directory(&["a.pgn", "b.pgn", "c[1].pgn", "c1.pgn", "x/d.pgn"]);
        let place = directory.path();
        assert_eq!(listed(place, &[place.join("?.pgn")]), ["a.pgn", "b.pgn"]);
        assert_eq!(listed(place, &[place.join("c[1].pgn")]), ["c[1].pgn"]);
        assert_eq!(listed(place, &[place.join("[c-x]*")]), ["c1.pgn", "c[1].pgn", "x/d.pgn"]);
        let none = ["z*.pgn: no file matches this pattern; check the pattern"];
        assert_eq!(listed(place, &[place.join("z*.pgn")]), none);
        let list = place.join("list.txt");
        let lines = format!("# mine\n\n{0}/b.pgn\r\n  {0}/x \n{0}/z.pgn\n@x\n", place.display());
        fs::write(&list, lines).unwrap();
        let expected = ["b.pgn", "x/d.pgn", "list.txt:5: z.pgn: no such file or directory; check the path"];
        let last = "list.txt:6: @x: no such file or directory; check the path";
        let argument = format!("@{}", list.display());
        assert_eq!(listed(place, &[argument]), [&expected[..], &[last]].concat());
        let missing = format!("@{}/no.txt", place.display());
        assert_eq!(listed(place, &[missing]), ["no.txt: no such list of paths; check the path after the @"]);
        for (text, message) in [
            (&b"\n# none\n"[..], "list.txt: the list is empty"),
            (b"a\0b\n", "list.txt: binary data, not a list of paths (one path per line)"),
            (b"\x1f\x8b", "list.txt: binary data, not a list of paths (one path per line)"),
            (
                b"[Event \"a\"]\n\n1. e4 *\n",
                "list.txt: PGN, not a list of paths (one path per line); omit the @",
            ),
        ] {
            fs::write(&list, text).unwrap();
            assert_eq!(listed(place, &[format!("@{}", list.display())]), [message]);
        }
        assert_eq!(
            listed(place, &["@"]),
            ["@: no list is given; write the name of a file with one path per line after the @"]
        );
    }

    #[test]
    fn lists_may_have_a_byte_order_mark_and_any_bytes() {
        let directory = directory(&["a.pgn", "b é.pgn"]);
        let place = directory.path();
        let list = place.join("list.txt");
        let text = format!("{0}/a.pgn\r\n\u{feff}# no comment\n{0}/b é.pgn\n", place.display());
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| {
            "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
        };
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        let argument = format!("@{}", list.display());
        for bytes in [text.clone().into_bytes(), marked, utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes)] {
            fs::write(&list, bytes).unwrap();
            let missing = "list.txt:2: \u{feff}# no comment: no such file or directory; check the path";
            assert_eq!(listed(place, &[&argument]), ["a.pgn", missing, "b é.pgn"]);
        }
        #[cfg(unix)]
        {
            let odd = path_of_bytes(&[place.as_os_str().as_encoded_bytes(), b"/\xff\n"].concat());
            let odd = odd.as_os_str().as_encoded_bytes();
            fs::write(path_of_bytes(&odd[..odd.len() - 1]), "*").unwrap();
            fs::write(&list, odd).unwrap();
            let sources = super::list(&[&argument], DECODE, &()).unwrap();
            assert_eq!(
                sources.files[0].as_ref().unwrap().path.as_os_str().as_encoded_bytes(),
                &odd[..odd.len() - 1]
            );
        }
    }

    /// Stops a search after this many files and directories.
    struct StopAfter(std::cell::Cell<u64>);

    impl SearchObserver for StopAfter {
        fn looked_at(&self, entries: u64, _: u64) -> ControlFlow<()> {
            let left = self.0.get().checked_sub(entries).filter(|&left| left > 0);
            self.0.set(left.unwrap_or(0));
            left.map_or(ControlFlow::Break(()), |_| ControlFlow::Continue(()))
        }
    }

    #[test]
    fn a_search_can_be_stopped_anywhere() {
        let directory = directory(&["a/a.pgn", "a/b.pgn", "a/b.pgn.zst", "b.pgn", "c/d/e/f.pgn"]);
        let place = directory.path();
        fs::write(place.join("list.txt"), format!("{0}/b.pgn\n{0}/a\n", place.display())).unwrap();
        let list_file = format!("@{}/list.txt", place.display());
        let arguments = [place.to_owned(), place.join("**/*.pgn"), PathBuf::from(list_file)];
        for argument in &arguments {
            let is_listed =
                |most| list(&[argument], DECODE, &StopAfter(std::cell::Cell::new(most))).is_some();
            let enough = (1..100).find(|&most| is_listed(most)).unwrap();
            assert!(enough > 4 && (1..enough).all(|most| !is_listed(most)), "{enough}");
        }
    }

    /// Stops a search after 100 milliseconds.
    struct StopSoon(std::time::Instant);

    impl SearchObserver for StopSoon {
        fn looked_at(&self, _: u64, _: u64) -> ControlFlow<()> {
            let is_over = self.0.elapsed() > std::time::Duration::from_millis(100);
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_search_can_be_stopped_while_it_waits_for_a_list() {
        let directory = directory(&[]);
        let pipe = directory.path().join("list");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let list_pipe = [format!("@{}", pipe.display())];
        assert!(list(&list_pipe, DECODE, &StopSoon(std::time::Instant::now())).is_none());
        // The reading thread still waits for a writer; otherwise this would block.
        fs::write(&pipe, "").unwrap();
    }

    /// The time to find a file hardly depends on the number of files.
    #[test]
    fn files_in_a_large_zip_archive_are_found() {
        use std::io::Write as _;
        const COUNT: usize = 20_000;
        let directory = directory(&[]);
        let path = directory.path().join("a.zip");
        let mut archive = ::zip::ZipWriter::new(File::create(&path).unwrap());
        let stored =
            ::zip::write::SimpleFileOptions::default().compression_method(::zip::CompressionMethod::Stored);
        for number in 0..COUNT {
            archive.start_file(format!("{number}.pgn"), stored).unwrap();
            archive.write_all(b"*").unwrap();
        }
        archive.finish().unwrap();
        let sources = list(&[&path], DECODE, &()).unwrap();
        assert_eq!(sources.files.len(), COUNT);
        let (finder, started) = (Finder::default(), std::time::Instant::now());
        for file in sources.files.iter().flatten() {
            assert_eq!(&finder.find(&file.path).unwrap(), file);
        }
        // Reading the central directory again for each file would take minutes.
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }
}
