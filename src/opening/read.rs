//! Reads openings from files in any format.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::book::{NamedPosition, OpeningBook};
use super::error::{Error, Result};
use super::{pgn, scid, tsv};
use crate::sorted::sort;

/// The maximum size of a file, in bytes; the largest lists have about one MiB.
const MOST_BYTES: u64 = 16 << 20;

impl OpeningBook {
    /// Reads a file, or all files ending in `.tsv`, `.eco` and `.pgn` of a directory, in the order of their
    /// names.
    ///
    /// If a position occurs more than once, the last entry counts.
    ///
    /// # Errors
    /// If a file cannot be read or has none of the formats, or if an opening in it is invalid; the error
    /// contains the line number.
    pub fn read(path: &Path) -> Result<Self> {
        let mut openings = Vec::new();
        for file in files(path)? {
            let text = read_file(&file)?;
            openings.append(&mut parse(&file, &text)?);
        }
        Ok(Self::new(openings))
    }
}

/// The file itself, or the lists in a directory, ordered by name.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Unreadable { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = paths.map_err(failed)?;
    let is_list = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        ["tsv", "eco", "pgn"].iter().any(|known| extension.eq_ignore_ascii_case(known)) && path.is_file()
    };
    paths.retain(is_list);
    sort(&mut paths);
    if paths.is_empty() { Err(Error::NoFile { path: path.to_owned() }) } else { Ok(paths) }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text))
        .map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), most: MOST_BYTES });
    }
    Ok(text)
}

fn parse(path: &Path, text: &[u8]) -> Result<Vec<NamedPosition>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let openings = match form(text) {
        Some(Form::Tsv) => tsv::read(text),
        Some(Form::Scid) => scid::read(text),
        Some(Form::Pgn) => pgn::read(text),
        None if text.trim_ascii().is_empty() => Ok(Vec::new()),
        None => return Err(Error::Form { path: path.to_owned() }),
    };
    let openings = openings.map_err(|(offset, source)| {
        let line = memchr::memchr_iter(b'\n', &text[..offset.min(text.len())]).count() as u64 + 1;
        Error::Line { path: path.to_owned(), line, source }
    })?;
    if openings.is_empty() { Err(Error::Empty { path: path.to_owned() }) } else { Ok(openings) }
}

/// A format of lists of openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Tsv,
    Scid,
    Pgn,
}

/// The format of a file, detected by the first line that is neither blank nor a Scid comment.
fn form(text: &[u8]) -> Option<Form> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.filter(|line| !line.is_empty()).find(|line| !line.starts_with(b"#"))?;
    if tsv::Header::read(first).is_some() {
        Some(Form::Tsv)
    } else if scid::starts_entry(first) {
        Some(Form::Scid)
    } else if matches!(first[0], b'[' | b'{' | b';' | b'%') {
        Some(Form::Pgn)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_content() {
        for (text, expected) in [
            ("eco\tname\tpgn\nA00\tX\t1. b4\n", Some(Form::Tsv)),
            ("\n\nname\tpgn\tuci\teco\tepd\r\n", Some(Form::Tsv)),
            ("# scid\n\nA00a \"Start position\" *\n", Some(Form::Scid)),
            ("A00 \"Polish\"\n  1.b4 *", Some(Form::Scid)),
            ("{ A file of openings }\n[ECO \"A00\"]\n", Some(Form::Pgn)),
            ("[ECO \"A00\"]\n", Some(Form::Pgn)),
            ("eco,name,pgn\n", None),
            ("SQLite format 3\0", None),
            ("1. e4 e5 *", None),
            ("", None),
        ] {
            assert_eq!(form(text.as_bytes()), expected, "{text}");
        }
    }
}
