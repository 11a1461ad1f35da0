//! Which files to read.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::form::Form;
use super::zip::{self, Member};
use super::{Error, Result, frames};

/// A file to be read, or a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as given or as found in a given directory; of a file in a zip archive, the archive's path, a slash and the file's
    /// path in it; `-` is standard input.
    pub path: PathBuf,
    /// Its size when it was listed, packed if it is: in bytes. `None`: nobody knows, it is a stream.
    pub bytes: Option<u64>,
    /// Where reading begins, in bytes of its text: what is before it was read in an earlier run.
    pub first_byte: u64,
    pub(super) place: Place,
    /// What its first bytes say, as far as they could be read.
    pub(super) form: Form,
    /// Memory that decoding takes, in bytes, if it is much.
    window: u64,
}

impl SourceFile {
    fn new(path: &Path, bytes: Option<u64>, place: Place) -> Self {
        Self { path: path.to_owned(), bytes, first_byte: 0, place, form: Form::Text, window: 0 }
    }

    /// A file, which may be an archive of one.
    fn of_file(path: &Path, bytes: u64) -> Self {
        let head = head(path);
        let form = Form::of(&head);
        let window = if form == Form::Zstd { frames::window(&head) } else { 0 };
        Self { form, window, ..Self::new(path, Some(bytes), Place::File) }
    }

    fn of_member(path: &Path, member: Member) -> Self {
        let bytes = member.range.end - member.range.start;
        Self::new(path, Some(bytes), Place::Member(member))
    }

    /// Whether its bytes are its text: it is mapped.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        (&self.place, self.form) == (&Place::File, Form::Text)
    }

    /// The memory that decoding takes beyond what it always may, in bytes: of an archive that was packed with a long window.
    #[must_use]
    pub fn extra_memory(&self) -> u64 {
        self.window.saturating_sub(frames::USUAL_WINDOW)
    }
}

/// Where a source's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the file at its path.
    File,
    /// In an archive.
    Member(Member),
    /// On standard input or in a named pipe.
    Stream,
}

/// The files to be read, in order, and what cannot be.
#[derive(Debug, Default)]
pub struct Sources {
    /// Files that are there, and in their places errors for those that are not.
    pub files: Vec<Result<SourceFile>>,
    /// What was left out, and why: a sentence each.
    pub notes: Vec<String>,
}

impl Sources {
    /// How much is to be read of all files together, in bytes, archives packed. `None`: there is a stream among them.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let left = |file: &SourceFile| {
            // An archive has to be decoded from its start.
            let passed = if file.is_plain() { file.first_byte } else { 0 };
            Some(file.bytes?.saturating_sub(passed))
        };
        self.files.iter().flatten().map(left).sum()
    }
}

/// Lists files in the order given, each once.
///
/// - A directory stands for all PGN files below it, packed or not, in the order of their paths: names that end in `.pgn`,
///   `.pgn.zst`, `.pgn.gz`, `.pgn.bz2` or `.zip`. Of a file that is there packed and unpacked the unpacked one is read.
/// - A zip archive stands for its `.pgn` files.
/// - `-` is standard input.
/// - A path that does not exist stands for all paths that fit it, if it has one of `*?[`, and for those listed in a file, one a
///   line, if it is `@` and the path of that file; blank lines and lines that begin with `#` say nothing.
#[must_use]
pub fn list<P: AsRef<Path>>(paths: &[P]) -> Sources {
    let mut lister = Lister::default();
    for path in paths {
        lister.add(path.as_ref(), true);
    }
    lister.sources
}

/// Finds the one file that was listed with this path; a stream is not found again.
///
/// # Errors
/// When it is not there, or cannot be read.
pub fn find(path: &Path) -> Result<SourceFile> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(SourceFile::of_file(path, metadata.len())),
        Ok(_) => Err(Error::Missing { path: path.to_owned() }),
        Err(error) => {
            let mut archives = path.ancestors().skip(1);
            match archives.find(|archive| fs::metadata(archive).is_ok_and(|metadata| metadata.is_file())) {
                Some(archive) => zip::find(archive, path).map(|member| SourceFile::of_member(path, member)),
                None => Err(Error::io(path, error)),
            }
        }
    }
}

#[derive(Default)]
struct Lister {
    sources: Sources,
    /// What has been listed: real paths of files.
    listed: HashSet<PathBuf>,
}

impl Lister {
    /// Lists what a path stands for. `is_argument`: whether it may be a list of paths.
    fn add(&mut self, path: &Path, is_argument: bool) {
        if path.as_os_str() == "-" {
            return self.add_stream(path);
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.add_directory(path),
            Ok(metadata) if metadata.is_file() => self.add_file(path, metadata.len()),
            Ok(metadata) if is_pipe(&metadata) => self.add_stream(path),
            Ok(_) => self.fail(Error::NotAFile { path: path.to_owned() }),
            Err(error) => {
                let text = path.to_str().unwrap_or_default();
                match text.strip_prefix('@') {
                    Some(list) if is_argument => self.add_list(Path::new(list)),
                    _ if text.contains(['*', '?', '[']) => self.add_pattern(text),
                    _ => self.fail(Error::io(path, error)),
                }
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.sources.files.push(Err(error));
    }

    /// Whether a file is new; if not, this is noted.
    fn is_new(&mut self, path: &Path) -> bool {
        let is_new = self.listed.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
        if !is_new {
            self.sources.notes.push(format!("{}: given more than once, read once", path.display()));
        }
        is_new
    }

    fn add_stream(&mut self, path: &Path) {
        if self.is_new(path) {
            self.sources.files.push(Ok(SourceFile::new(path, None, Place::Stream)));
        }
    }

    fn add_file(&mut self, path: &Path, bytes: u64) {
        if !self.is_new(path) {
            return;
        }
        let file = SourceFile::of_file(path, bytes);
        if file.form != Form::Zip {
            return self.sources.files.push(Ok(file));
        }
        match zip::members(path) {
            Ok(members) if members.is_empty() => self.fail(Error::Form {
                path: path.to_owned(),
                form: "a zip archive without a .pgn file",
                remedy: "check what is in it (unzip -l)",
            }),
            Ok(members) => self.sources.files.extend(members.into_iter().map(|member| {
                let (path, member) = member?;
                Ok(SourceFile::of_member(&path, member))
            })),
            Err(error) => self.fail(error),
        }
    }

    /// Adds the PGN files of a directory and those below it. Links to directories are not followed, so there is no circle.
    fn add_directory(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(Error::io(directory, error)),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let names: HashSet<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        for entry in entries {
            let path = entry.path();
            let file_type = match entry.file_type() {
                Ok(file_type) => file_type,
                Err(error) => {
                    self.fail(Error::io(&path, error));
                    continue;
                }
            };
            if file_type.is_dir() {
                self.add_directory(&path);
                continue;
            }
            let unpacked = match wanted(&path) {
                Wanted::No => continue,
                Wanted::Plain | Wanted::Zip => None,
                Wanted::Packed => path.file_stem().filter(|name| names.contains(*name)),
            };
            if let Some(unpacked) = unpacked {
                let unpacked = unpacked.display();
                self.sources.notes.push(format!("{}: left out, {unpacked} is beside it", path.display()));
                continue;
            }
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => {
                    // Any archive may lie there; one that was given must have games.
                    if wanted(&path) != Wanted::Zip
                        || zip::members(&path).is_ok_and(|members| !members.is_empty())
                    {
                        self.add_file(&path, metadata.len());
                    }
                }
                Ok(_) => {}
                Err(error) => self.fail(Error::io(&path, error)),
            }
        }
    }

    fn add_pattern(&mut self, pattern: &str) {
        let files = self.sources.files.len();
        let notes = self.sources.notes.len();
        for path in glob::glob(pattern).into_iter().flatten() {
            match path {
                Ok(path) => self.add(&path, false),
                Err(error) => {
                    let path = error.path().to_owned();
                    self.fail(Error::io(&path, error.into()));
                }
            }
        }
        if (self.sources.files.len(), self.sources.notes.len()) == (files, notes) {
            self.fail(Error::NoMatch { path: pattern.into() });
        }
    }

    fn add_list(&mut self, list: &Path) {
        match fs::read(list) {
            Ok(text) => {
                for line in String::from_utf8_lossy(&text).lines() {
                    let line = line.trim();
                    if !line.is_empty() && !line.starts_with('#') {
                        self.add(Path::new(line), false);
                    }
                }
            }
            Err(error) => self.fail(Error::io(list, error)),
        }
    }
}

/// A file's first bytes, enough for the header of a zstd frame; none if they cannot be read, which will be told when the file is.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::with_capacity(64);
    let _ = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    head
}

/// Whether a file in a directory is to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    Plain,
    /// One archive, one PGN file: `a.pgn.gz`.
    Packed,
    Zip,
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

    /// The paths or messages, and then the notes, without the directory.
    fn listed<P: AsRef<Path>>(directory: &Path, paths: &[P]) -> Vec<String> {
        let sources = list(paths);
        let files = sources.files.iter().map(|file| match file {
            Ok(file) => file.path.display().to_string(),
            Err(error) => error.to_string(),
        });
        let root = format!("{}/", directory.display());
        files.chain(sources.notes.iter().cloned()).map(|text| text.replace(&root, "")).collect()
    }

    #[test]
    fn directories_stand_for_their_pgn_files_in_order() {
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
        assert_eq!(list(&paths).bytes(), Some(8));
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
                "a.pgn: given more than once, read once",
                "a.pgn.zst: left out, a.pgn is beside it",
                "./b.pgn.zst: given more than once, read once",
            ]
        );
        assert_eq!(listed(place, &["-", "-"]), ["-", "-: given more than once, read once"]);
    }

    #[test]
    fn patterns_and_lists_stand_for_paths() {
        let directory = directory(&["a.pgn", "b.pgn", "c[1].pgn", "c1.pgn", "x/d.pgn"]);
        let place = directory.path();
        assert_eq!(listed(place, &[place.join("?.pgn")]), ["a.pgn", "b.pgn"]);
        assert_eq!(listed(place, &[place.join("c[1].pgn")]), ["c[1].pgn"]);
        assert_eq!(listed(place, &[place.join("[c-x]*")]), ["c1.pgn", "c[1].pgn", "x/d.pgn"]);
        let none = ["z*.pgn: no file fits this pattern; check it"];
        assert_eq!(listed(place, &[place.join("z*.pgn")]), none);
        let list = place.join("list.txt");
        let lines = format!("# mine\n\n{0}/b.pgn\r\n  {0}/x \n{0}/z.pgn\n@x\n", place.display());
        fs::write(&list, lines).unwrap();
        let expected = ["b.pgn", "x/d.pgn", "z.pgn: no such file or directory; check the path"];
        let last = "@x: no such file or directory; check the path";
        let argument = format!("@{}", list.display());
        assert_eq!(listed(place, &[argument]), [&expected[..], &[last]].concat());
        let missing = format!("@{}/no.txt", place.display());
        assert_eq!(listed(place, &[missing]), ["no.txt: no such file or directory; check the path"]);
    }
}
