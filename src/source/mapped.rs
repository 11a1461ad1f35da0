//! A file mapped into memory: with `index::scratch`, the only unsafe code outside the database layer.
#![allow(unsafe_code)]

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::{Advice, Mmap, UncheckedAdvice};

use super::{Error, Result};

/// The bytes of a file, read by the operating system as they are needed.
#[derive(Debug)]
pub struct Mapped {
    map: Option<Mmap>,
}

/// First bytes of files that are no plain text, what they are, and what to do.
const FORMS: [(&[u8], &str, &str); 8] = [
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first (zstd -d)"),
    (b"\x50\x2a\x4d\x18", "a zstd archive", "unpack it first (zstd -d)"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first (gunzip)"),
    (b"BZh", "a bzip2 archive", "unpack it first (bunzip2)"),
    (b"PK\x03\x04", "a zip archive", "unpack it first (unzip)"),
    (b"SQLite format 3\0", "an SQLite database", "give a PGN file"),
    (b"\xff\xfe", "UTF-16 text", "convert it first (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "UTF-16 text", "convert it first (iconv -f UTF-16 -t UTF-8)"),
];

impl Mapped {
    /// Maps a file. One that is not plain text but an archive, or UTF-16, is refused.
    ///
    /// # Errors
    /// When the file cannot be opened or mapped, or is no plain text.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let file = File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is read only. A file that another program changes meanwhile may show other bytes: parsing makes no
        // assumption on them that a change could break. One that is cut shorter ends the process with SIGBUS, which is
        // documented for users.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let _ = map.advise(Advice::Sequential);
        match FORMS.iter().find(|(magic, ..)| map.starts_with(magic)) {
            Some(&(_, form, remedy)) => Err(Error::Form { path: path.to_owned(), form, remedy }),
            None => Ok(Self { map: Some(map) }),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Tells the operating system that these bytes will not be read again soon, so that they need not stay in memory.
    pub fn release(&self, range: Range<usize>) {
        const PAGE: usize = 4096;
        let (start, end) = (range.start.next_multiple_of(PAGE), range.end / PAGE * PAGE);
        if let Some(map) = self.map.as_ref().filter(|_| start < end) {
            // SAFETY: the map is shared, read only and backed by the file: dropped pages are read from it again.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
        }
    }
}
