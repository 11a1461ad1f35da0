//! The PGN files in a zip archive.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::Crc;
use zip::{CompressionMethod, ZipArchive};

use super::{Error, Result};

/// A file in a zip archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) archive: PathBuf,
    /// Where its packed bytes stand.
    pub(super) range: Range<u64>,
    pub(super) method: Method,
    /// Size of its text, in bytes.
    size: u64,
    crc: u32,
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
    Bzip2,
    Zstd,
}

/// Lists the `.pgn` files of an archive in the order of their paths, each with its path for people.
pub(super) fn members(archive: &Path) -> Result<Vec<Result<(PathBuf, Member)>>> {
    let mut zip = open(archive)?;
    let mut members = names(&mut zip);
    // As a directory with these files is listed.
    members.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    let member = |(name, index): (String, usize)| {
        let path = path_of(archive, &name);
        let member = member(&mut zip, archive, &path, index)?;
        Ok((path, member))
    };
    Ok(members.into_iter().map(member).collect())
}

/// The `.pgn` file of an archive that has this path for people.
pub(super) fn find(archive: &Path, path: &Path) -> Result<Member> {
    let mut zip = open(archive)?;
    let found = names(&mut zip).into_iter().find(|(name, _)| path_of(archive, name) == path);
    match found {
        Some((_, index)) => member(&mut zip, archive, path, index),
        None => Err(Error::Missing { path: path.to_owned() }),
    }
}

type Archive = ZipArchive<BufReader<File>>;

fn open(archive: &Path) -> Result<Archive> {
    let file = File::open(archive).map_err(|error| Error::io(archive, error))?;
    let damaged =
        |error: zip::result::ZipError| Error::Damaged { path: archive.to_owned(), reason: error.to_string() };
    ZipArchive::new(BufReader::new(file)).map_err(damaged)
}

/// Names and numbers of the `.pgn` files.
fn names(zip: &mut Archive) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    for index in 0..zip.len() {
        let Ok(entry) = zip.by_index_data(index) else { continue };
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if entry.is_file() && is_pgn(&name) {
            names.push((name, index));
        }
    }
    names
}

fn path_of(archive: &Path, name: &str) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push("/");
    path.push(name);
    PathBuf::from(path)
}

/// Whether a name is that of a PGN file. What macOS keeps beside each file (`._name`) is none.
fn is_pgn(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    let end = name.len().checked_sub(4).and_then(|at| name.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(".pgn")) && !name.starts_with("._")
}

fn member(zip: &mut Archive, archive: &Path, path: &Path, index: usize) -> Result<Member> {
    let refused = |form| Error::Form { path: path.to_owned(), form, remedy: "unpack it first (unzip)" };
    let damaged = |reason: String| Error::Damaged { path: path.to_owned(), reason };
    let entry = zip.by_index_raw(index).map_err(|error| damaged(error.to_string()))?;
    if entry.encrypted() {
        return Err(refused("encrypted"));
    }
    let method = match entry.compression() {
        CompressionMethod::STORE => Method::Stored,
        CompressionMethod::DEFLATE => Method::Deflate,
        CompressionMethod::BZIP2 => Method::Bzip2,
        CompressionMethod::ZSTD => Method::Zstd,
        _ => return Err(refused("packed by a method that is seldom used")),
    };
    let start =
        entry.data_start().ok_or_else(|| damaged("its place in the archive is not told".to_owned()))?;
    let range = start..start.saturating_add(entry.compressed_size());
    Ok(Member { archive: archive.to_owned(), range, method, size: entry.size(), crc: entry.crc32() })
}

/// Reads a member's text and holds it, at its end, to the size and the sum that the archive tells.
pub(super) struct Checked<R> {
    reader: R,
    crc: Crc,
    read: u64,
    size: u64,
    expected: u32,
}

impl<R: Read> Checked<R> {
    pub(super) fn new(reader: R, member: &Member) -> Self {
        Self { reader, crc: Crc::new(), read: 0, size: member.size, expected: member.crc }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.read += read as u64;
        if read == 0 && !buffer.is_empty() && (self.read, self.crc.sum()) != (self.size, self.expected) {
            return Err(std::io::Error::other(
                "its text does not have the size and the sum that the archive tells",
            ));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgn_files_are_told_by_their_names() {
        for name in ["a.pgn", "b/A.PGN", "b/c/é.pgn", ".pgn"] {
            assert!(is_pgn(name), "{name}");
        }
        for name in ["a.txt", "__MACOSX/._a.pgn", "pgn", "a.pgn/b", "épgn", ""] {
            assert!(!is_pgn(name), "{name}");
        }
    }
}
