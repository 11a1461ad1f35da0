//! The PGN files in a zip archive.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::directory::{Directory, Entry};
use super::{Error, Mapped, Result};
use crate::path_bytes::path_of_bytes;
use crate::sorted::{sort_by, sort_by_key};

/// A file in a zip archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) archive: PathBuf,
    /// The range of its compressed data in the archive.
    pub(super) range: Range<u64>,
    pub(super) method: Method,
    /// The size of its text, in bytes, and its checksum, if the archive contains them.
    expected: Option<(u64, u32)>,
}

/// The compression method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
    Bzip2,
    Zstd,
}

/// Why a file cannot be read.
#[derive(Clone, Debug)]
enum Fault {
    /// The file has this unsupported format.
    Form(&'static str),
    /// The file, or the archive, is damaged in this way.
    Damage(String),
}

impl Fault {
    fn error(self, path: PathBuf) -> Error {
        match self {
            Self::Form(form) => Error::Form { path, form, error_advice: "unpack it first (unzip)" },
            Self::Damage(reason) => Error::Damaged { path, reason },
        }
    }
}

/// The `.pgn` files of an archive.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The files in the order of their paths, as if they were in a directory.
    members: Vec<(PathBuf, std::result::Result<Member, Fault>)>,
    /// The damage of the archive as a whole.
    pub(super) damage: Option<Error>,
}

impl Members {
    /// Lists the `.pgn` files of an archive. If several have the same name, all but the first get a number.
    pub(super) fn of(archive: &Path) -> Self {
        let map = match Mapped::open(archive) {
            Ok(map) => map,
            Err(error) => return Self { damage: Some(error), ..Self::default() },
        };
        let Directory { mut entries, damage } = Directory::of(map.bytes());
        let damage = damage.map(str::to_owned).or(drop_overlapping(map.bytes(), &mut entries));
        let damage = damage.map(|reason| Fault::Damage(reason).error(archive.to_owned()));
        entries.retain(|entry| !entry.is_link && is_pgn(&entry.name));
        number(&mut entries);
        let member = |entry: Entry| (path_of(archive, &entry.name), member(map.bytes(), archive, &entry));
        let mut members: Vec<_> = entries.into_iter().map(member).collect();
        sort_by(&mut members, |(one, _), (other, _)| one.cmp(other));
        Self { members, damage }
    }

    /// Whether the archive has no `.pgn` files.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All files with their listed paths, followed by the damage of the archive.
    pub(super) fn into_all(self) -> impl Iterator<Item = Result<(PathBuf, Member)>> {
        let members = self.members.into_iter().map(|(path, member)| match member {
            Ok(member) => Ok((path, member)),
            Err(fault) => Err(fault.error(path)),
        });
        members.chain(self.damage.map(Err))
    }

    /// The file that is listed with this path.
    pub(super) fn find(&self, path: &Path) -> Result<Member> {
        let Ok(place) = self.members.binary_search_by(|(other, _)| other.as_path().cmp(path)) else {
            return Err(Error::Missing { path: path.to_owned() });
        };
        self.members[place].1.clone().map_err(|fault| fault.error(path.to_owned()))
    }
}

/// Drops the entries whose compressed data overlaps the next entry: otherwise a small archive could represent
/// any amount of text. Returns a description of the problem, if there is one.
fn drop_overlapping(bytes: &[u8], entries: &mut Vec<Entry>) -> Option<String> {
    let mut order: Vec<usize> =
        (0..entries.len()).filter(|&index| entries[index].data_start(bytes).is_some()).collect();
    sort_by_key(&mut order, |&index| entries[index].header);
    let overlaps: HashSet<usize> = order
        .windows(2)
        .filter(|pair| {
            let (entry, next) = (&entries[pair[0]], &entries[pair[1]]);
            let start = entry.data_start(bytes).unwrap_or(entry.header);
            start.saturating_add(entry.packed.unwrap_or(0)) > next.header
        })
        .map(|pair| pair[0])
        .collect();
    let mut indices = 0..;
    entries.retain(|_| !overlaps.contains(&indices.next().unwrap_or_default()));
    let count = overlaps.len();
    (count > 0).then(|| format!("files in it overlap, as in a zip bomb; files not read: {count}"))
}

fn path_of(archive: &Path, name: &[u8]) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push("/");
    path.push(path_of_bytes(name));
    PathBuf::from(path)
}

/// Makes names unique: the second `a.pgn` becomes `a.pgn#2`.
fn number(entries: &mut [Entry]) {
    // For each name, the last number given to it; 0 if it has none yet.
    let mut numbers: HashMap<Vec<u8>, u32> = entries.iter().map(|entry| (entry.name.clone(), 0)).collect();
    for entry in entries {
        let mut last = numbers[&entry.name] + 1;
        let mut name = entry.name.clone();
        while last > 1 && numbers.contains_key(&name) {
            name = [&entry.name[..], format!("#{last}").as_bytes()].concat();
            last += u32::from(numbers.contains_key(&name));
        }
        numbers.insert(entry.name.clone(), last);
        numbers.entry(name.clone()).or_insert(1);
        entry.name = name;
    }
}

/// Whether a name is that of a PGN file. A name such as `._a.pgn` is not: macOS adds these files.
fn is_pgn(name: &[u8]) -> bool {
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let end = name.len().checked_sub(4).map(|at| &name[at..]);
    end.is_some_and(|end| end.eq_ignore_ascii_case(b".pgn")) && !name.starts_with(b"._")
}

fn member(bytes: &[u8], archive: &Path, entry: &Entry) -> std::result::Result<Member, Fault> {
    if entry.is_encrypted {
        return Err(Fault::Form("an encrypted file"));
    }
    let method = match entry.method {
        0 => Method::Stored,
        8 => Method::Deflate,
        12 => Method::Bzip2,
        93 => Method::Zstd,
        _ => return Err(Fault::Form("a file in an unsupported compression format")),
    };
    let start = entry
        .data_start(bytes)
        .ok_or_else(|| Fault::Damage("the archive does not say where this file is".to_owned()))?;
    let length = bytes.len() as u64;
    let end = entry.packed.map_or(length, |packed| start.saturating_add(packed));
    let range = start.min(length)..end.min(length);
    Ok(Member { archive: archive.to_owned(), range, method, expected: entry.expected })
}

/// Reads a member's text and checks, at its end, the size and the checksum in the archive.
pub(super) struct Checked {
    reader: Box<dyn Read + Send>,
    crc: Crc,
    read: u64,
    expected: Option<(u64, u32)>,
}

impl Checked {
    pub(super) fn new(reader: Box<dyn Read + Send>, member: &Member) -> Self {
        Self { reader, crc: Crc::new(), read: 0, expected: member.expected }
    }
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.read += read as u64;
        let is_as_expected = self.expected.is_none_or(|expected| expected == (self.read, self.crc.sum()));
        if read == 0 && !buffer.is_empty() && !is_as_expected {
            return Err(std::io::Error::other(
                "its text does not match the size and the checksum in the archive",
            ));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_made_unique() {
        let entry = |name: &&str| Entry { name: name.as_bytes().to_vec(), ..Entry::default() };
        let mut entries: Vec<_> = ["a", "a", "b", "a", "a#3", "a", "a#3"].iter().map(entry).collect();
        number(&mut entries);
        let names: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(&entry.name)).collect();
        assert_eq!(names, ["a", "a#2", "b", "a#4", "a#3", "a#5", "a#3#2"]);
        let mut entries: Vec<_> = std::iter::repeat_n(&"a", 50_000).map(entry).collect();
        number(&mut entries);
        assert_eq!(entries[49_999].name, b"a#50000");
    }

    #[test]
    fn pgn_files_are_recognised_by_their_names() {
        for name in ["a.pgn", "b/A.PGN", "b/c/é.pgn", ".pgn"] {
            assert!(is_pgn(name.as_bytes()), "{name}");
        }
        for name in ["a.txt", "__MACOSX/._a.pgn", "pgn", "a.pgn/b", "épgn", ""] {
            assert!(!is_pgn(name.as_bytes()), "{name}");
        }
    }
}
