//! Output files for answers and pictures.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use pgndex::board::{Color, MoveCode, Position};
use pgndex::pgn::starts_tag_pair;
use pgndex::picture::{Arrow, BoardPicture};
use pgndex::read_start;
use pgndex::store::{Database, Error as StoreError, Need, SourceContent, is_disk_full, is_file_of};
use tempfile::NamedTempFile;

use crate::cli::args::PictureArgs;
use crate::cli::error::{io_errors, wrong_value};
use crate::cli::terminal::note;

/// A file with a temporary name until it is complete. If an `OutputFile` is dropped before that, the file is
/// removed.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    file: NamedTempFile,
    existing: Existing,
}

/// What to do with an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Replace it, unless it is an SQLite database.
    Replaced,
    /// Fail, and suggest `--overwrite`.
    Kept,
    /// Fail, and suggest removing the file first.
    NeverReplaced,
}

impl Existing {
    /// The value for a given or missing `--overwrite`.
    pub(crate) const fn from_overwrite(overwrite: bool) -> Self {
        if overwrite { Self::Replaced } else { Self::Kept }
    }
}

impl OutputFile {
    /// Creates the file under a temporary name, in the directory of its final path.
    ///
    /// # Errors
    /// Those of [`check`]. Also fails if the file's directory cannot be written to.
    pub(crate) fn create(
        path: &Path,
        existing: Existing,
        database: Option<&Path>,
        instead: &str,
    ) -> anyhow::Result<Self> {
        check(path, existing, database, instead)?;
        // The file that a link points to is replaced, not the link.
        let target = if path.is_symlink() { path.canonicalize().ok() } else { None };
        let target = target.unwrap_or_else(|| path.to_owned());
        let path = &*target;
        let shown = path.display();
        let directory = directory(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pgndex-export-");
        #[cfg(unix)]
        {
            // These are the permissions with which any new file is created; the umask removes some of them.
            // By default, only the user could read a temporary file.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder
            .tempfile_in(directory)
            .map_err(|error| io::Error::from(error.kind()))
            .with_context(|| {
                format!(
                    "{shown}: cannot write into its directory; check its permissions, or name another file"
                )
            })?;
        Ok(Self { path: path.to_owned(), file, existing })
    }

    /// The file's final path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file to write the output to.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Adds the name of the file to an I/O error and, if the disk is full, the space needed. Other errors are
    /// returned unchanged.
    pub(crate) fn failed(&self, error: anyhow::Error) -> anyhow::Error {
        if let Some(kind) = io_errors(&error).find(|&kind| is_disk_full(kind)) {
            let need = self.file().metadata().ok().map(|metadata| Need::MoreThan(metadata.len()));
            let source = io::Error::from(kind).into();
            return StoreError::DiskFull { path: self.path.clone(), need, source }.into();
        }
        let is_of_writing = io_errors(&error).next().is_some();
        if is_of_writing {
            error.context(format!("{}: cannot be written", self.path.display()))
        } else {
            error
        }
    }

    /// Renames the file to its final path, and returns this path.
    ///
    /// # Errors
    /// If the file cannot be written or renamed.
    pub(crate) fn finish(self) -> anyhow::Result<PathBuf> {
        self.file().sync_all().map_err(|error| self.failed(error.into()))?;
        let Self { path, file, existing } = self;
        let persisted = match existing {
            Existing::Replaced => file.persist(&path),
            Existing::Kept | Existing::NeverReplaced => file.persist_noclobber(&path),
        };
        persisted
            .map_err(|error| error.error)
            .with_context(|| format!("{}: cannot move the finished file to this name", path.display()))?;
        Ok(path)
    }
}

/// The path given with an option; `None` if no path is given, or if it is `-` (standard output).
pub(crate) fn unless_standard_output(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new("-"))
}

/// Fails if an output file is the database or belongs to it.
pub(crate) fn refuse_file_of(database: &Path, path: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_file_of(database, path),
        "{}: is the database itself or one of its auxiliary files, so it is not replaced; choose another file",
        path.display()
    );
    Ok(())
}

/// Fails if an output file or directory has the name `-`, which means standard output in other commands.
pub(crate) fn refuse_standard_output(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return Err(wrong_value(
            "-: the output goes to a file, not to standard output; name a file (./- for a file called -)",
        ));
    }
    Ok(())
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Fails if the file has the name of a compressed file or archive, because this program does not write them.
fn refuse_archive(path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if matches!(extension.as_str(), "zst" | "bz2" | "xz" | "gz" | "zip") {
        let shown = path.display();
        bail!(
            "{shown}: cannot write compressed files; leave out .{extension}, and compress the file afterwards"
        );
    }
    Ok(())
}

/// Checks whether an output file can be created or replaced. An existing database is never replaced.
/// `instead` is the advice if the path is that of a directory, or of something else that is not a file.
///
/// # Errors
/// If the path has the name of an archive, or is not the path of a file. If the file is the database or
/// belongs to it, or is another SQLite database. If the file exists and must not be overwritten. If its
/// directory does not exist.
pub(crate) fn check(
    path: &Path,
    existing: Existing,
    database: Option<&Path>,
    instead: &str,
) -> anyhow::Result<()> {
    let shown = path.display();
    refuse_archive(path)?;
    if let Some(database) = database {
        refuse_file_of(database, path)?;
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!("{shown}: a directory; {instead}"),
        Ok(found) if !found.is_file() => bail!("{shown}: not a file; {instead}"),
        Ok(_) if existing == Existing::Kept => {
            bail!("{shown}: already exists; use --overwrite to replace it, or name another file")
        }
        Ok(_) if existing == Existing::NeverReplaced => {
            bail!("{shown}: already exists; remove it first, or name another file")
        }
        Ok(_) if is_sqlite(path) => {
            bail!("{shown}: an SQLite database, which this command does not replace; name another file")
        }
        Err(_) if path.is_symlink() => bail!("{shown}: a link to a missing file; {instead}"),
        Err(_) if !directory(path).is_dir() => {
            bail!("{shown}: its directory does not exist; create it first")
        }
        _ => Ok(()),
    }
}

/// Fails if a file to be replaced is probably PGN, or is compressed and therefore perhaps PGN. Do not call this
/// function for output in PGN.
///
/// # Errors
/// If the file is probably or perhaps PGN.
pub(crate) fn refuse_pgn(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    ensure!(
        !holds_games(&head(path)),
        "{shown}: a PGN file, which this command does not replace; name another file"
    );
    Ok(())
}

/// Fails if a file to be replaced is a source of the database.
///
/// # Errors
/// If the file is a source; if the database cannot be read.
pub(crate) fn refuse_source(database: &Database, path: &Path) -> anyhow::Result<()> {
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let beside = directory(database.path());
    // The path of a file in an archive contains the archive's path.
    let is_target = |source: &SourceContent| {
        let places = source.path.ancestors().filter(|place| *place != Path::new(""));
        let places = places.flat_map(|place| [place.to_owned(), beside.join(place)]);
        places.into_iter().any(|place| place.canonicalize().is_ok_and(|place| place == target))
    };
    let shown = path.display();
    ensure!(
        !database.source_contents()?.iter().any(is_target),
        "{shown}: the database was made from this file, which is never replaced; name another file"
    );
    Ok(())
}

/// Whether a file is an SQLite database.
pub(crate) fn is_sqlite(path: &Path) -> bool {
    path.is_file() && head(path).starts_with(b"SQLite format 3\0")
}

/// The first bytes of a file; empty if it cannot be read.
fn head(path: &Path) -> Vec<u8> {
    const MOST: u64 = 1 << 12;
    read_start(path, MOST).unwrap_or_default()
}

/// Whether a file that begins with `head` is probably PGN, or is compressed and therefore perhaps PGN. Output
/// of this program in other formats never begins like a tag pair or a first move.
fn holds_games(head: &[u8]) -> bool {
    const PACKED: [&[u8]; 4] = [b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh", b"PK\x03\x04"];
    // Of text in UTF-16, only the ASCII characters remain.
    let text: Vec<u8> = head.iter().copied().filter(u8::is_ascii).filter(|&byte| byte != 0).collect();
    let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii_start);
    let first = lines.find(|line| !matches!(line, [] | [b'%' | b';', ..])).unwrap_or_default();
    PACKED.iter().any(|magic| head.starts_with(magic)) || starts_tag_pair(first) || first.starts_with(b"1.")
}

/// The message that nothing matches, and that the output file is unchanged or is not written. `what` is a
/// noun, such as `game`.
pub(crate) fn not_written(what: &str, path: &Path) -> String {
    let shown = path.display();
    match path.exists() {
        true => format!("no {what} matches; {shown} is unchanged"),
        false => format!("no {what} matches; {shown} is not written"),
    }
}

/// The advice if the path is not the path of a file.
const INSTEAD: &str = "name a file for the picture";

/// The file of a picture. The file is created only after the answer is written, so that no file is left if
/// the query fails or is stopped.
pub(crate) struct PictureOutput<'a> {
    path: &'a Path,
    existing: Existing,
    database: Option<&'a Path>,
}

impl<'a> PictureOutput<'a> {
    /// The requested file, if a picture is requested. Most reasons why the file cannot be written are
    /// reported here, before the query runs.
    ///
    /// # Errors
    /// If the path is `-`; also those of [`check`] and [`refuse_pgn`].
    pub(crate) fn requested(
        args: &'a PictureArgs,
        database: Option<&'a Path>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = args.svg.as_deref() else { return Ok(None) };
        if path == Path::new("-") {
            return Err(wrong_value(format!("--svg -: the answer goes to standard output; {INSTEAD}")));
        }
        let existing = Existing::from_overwrite(args.overwrite);
        check(path, existing, database, INSTEAD)?;
        refuse_pgn(path)?;
        Ok(Some(Self { path, existing, database }))
    }

    /// Writes the picture, completes the file and prints its path.
    ///
    /// # Errors
    /// If the picture cannot be written.
    pub(crate) fn write(
        self,
        position: &Position,
        last_move: Option<MoveCode>,
        flip: bool,
        arrows: &[Arrow],
    ) -> anyhow::Result<()> {
        let orientation = if flip { Color::Black } else { Color::White };
        let picture = BoardPicture { position, orientation, last_move, arrows };
        let output = OutputFile::create(self.path, self.existing, self.database, INSTEAD)?;
        let written = output.file().write_all(picture.to_svg().as_bytes());
        written.map_err(|error| output.failed(error.into()))?;
        note(&format!("picture written to {}", output.finish()?.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_recognised_by_first_bytes() {
        let utf_16: Vec<u8> = "\u{feff}[Event \"x\"]\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let texts: [&[u8]; 8] = [
            b"[Event \"x\"]\n",
            b"\xef\xbb\xbf\r\n [Event \"x\"]\n",
            b"% of a program\n; a remark\n\n[ White \"x\" ]",
            b"1. e4 e5 *\n",
            b"1.e4 e5 *\n",
            &utf_16,
            b"\x28\xb5\x2f\xfd\x04",
            b"\x1f\x8b\x08",
        ];
        for text in texts {
            assert!(holds_games(text), "{text:?}");
        }
        for text in [
            "",
            "\n\n",
            "<svg xmlns=\"http://www.w3.org/2000/svg\">",
            "<!DOCTYPE html>\n",
            "{\"players\":[]}",
            "[{\"a\":1}]",
            "# Carlsen, Magnus: 12 games",
            "fen,game_id,ply\n",
            "[a]",
        ] {
            assert!(!holds_games(text.as_bytes()), "{text:?}");
        }
    }
}
