//! Lists the contents of a zip archive, from its central directory or, if that is missing, from the headers
//! of its files.

/// The contents of an archive.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// The files, in the order of the archive.
    pub(super) entries: Vec<Entry>,
    /// The damage, if there is any.
    pub(super) damage: Option<&'static str>,
}

/// A file in an archive.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) is_encrypted: bool,
    pub(super) is_link: bool,
    pub(super) method: u16,
    /// The compressed size in bytes; `None` if unknown, because the archive is cut off within the file.
    pub(super) packed: Option<u64>,
    /// The uncompressed size in bytes, and the checksum (CRC-32), if given.
    pub(super) expected: Option<(u64, u32)>,
    /// The offset of its header in the archive.
    pub(super) header: u64,
}

const FILE: &[u8] = b"PK\x03\x04";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// This value means that the real value does not fit in 32 bits. The real value is in an extra field or in
/// the end record for large archives.
const LARGE: u64 = u32::MAX as u64;

impl Directory {
    /// Reads the list from the bytes of an archive. Finds the end record (a comment can follow it), and reads
    /// the central directory to which this record refers. Without an end record, finds the files by their
    /// headers.
    pub(super) fn of(bytes: &[u8]) -> Self {
        const MOST_COMMENT: usize = 0xffff + 22;
        let from = bytes.len().saturating_sub(MOST_COMMENT);
        let mut ends = memchr::memmem::rfind_iter(&bytes[from..], END);
        ends.find_map(|at| Self::before(bytes, from + at)).unwrap_or_else(|| Self {
            entries: scan(bytes),
            damage: Some("the table of contents at its end is missing"),
        })
    }

    /// Reads the central directory before the end record at `end`; `None` if there is no such directory.
    /// Reads up to the end of the directory, even beyond the stored number of files. If there are more files
    /// than 16 bits can count, some programs store too small a number.
    fn before(bytes: &[u8], end: usize) -> Option<Self> {
        let record = &bytes[end..];
        let comment = number(record, 20, 2)?;
        if comment > (record.len() - 22) as u64 {
            return None;
        }
        let [mut entries, mut size, mut offset] =
            [number(record, 10, 2)?, number(record, 12, 4)?, number(record, 16, 4)?];
        let mut table_end = end;
        if (entries == 0xffff || size == LARGE || offset == LARGE)
            && let Some(end_64) = end_64(bytes, end)
        {
            let record = &bytes[end_64..];
            [entries, size, offset] =
                [number(record, 32, 8)?, number(record, 40, 8)?, number(record, 48, 8)?];
            table_end = end_64;
        }
        let starts_table = |start: usize| bytes.get(start..).is_some_and(|table| table.starts_with(CENTRAL));
        let expected = usize::try_from(offset).ok()?;
        let before_end = table_end.checked_sub(usize::try_from(size).ok()?)?;
        let start = [expected, before_end].into_iter().find(|&start| entries == 0 || starts_table(start))?;
        // The number of bytes that precede the archive in its file. The offsets in the archive do not count
        // these bytes.
        let shift = start.saturating_sub(expected) as u64;
        let mut directory = Self::default();
        let mut rest = bytes.get(start..).unwrap_or_default();
        while rest.starts_with(CENTRAL) {
            let Some((mut entry, length)) = central(rest) else { break };
            entry.header = entry.header.saturating_add(shift);
            directory.entries.push(entry);
            rest = &rest[length..];
        }
        if (directory.entries.len() as u64) < entries {
            directory.damage = Some("its table of contents is damaged, so some files are possibly missing");
        }
        Some(directory)
    }
}

impl Entry {
    /// The offset at which the compressed data of the file starts, if the file's header exists.
    pub(super) fn data_start(&self, bytes: &[u8]) -> Option<u64> {
        let header = bytes.get(usize::try_from(self.header).ok()?..)?;
        let lengths = number(header, 26, 2)? + number(header, 28, 2)?;
        header.starts_with(FILE).then_some(self.header + 30 + lengths)
    }
}

/// The offset of the end record for large archives, if there is one; `end` is the offset of the usual end
/// record.
fn end_64(bytes: &[u8], end: usize) -> Option<usize> {
    let locator = bytes.get(end.checked_sub(20)?..)?;
    let at = usize::try_from(number(locator, 8, 8)?).ok()?;
    let has_record = locator.starts_with(LOCATOR_64) && bytes.get(at..)?.starts_with(END_64);
    has_record.then_some(at)
}

/// The file that a header describes, and the offset in `record` after the name and the extra field. Headers
/// in the central directory and headers before files have the same fields at different offsets. The fields
/// begin at `at`, and the name begins at `name`. `offset` is the offset of the file's header in the archive.
/// Of the size, the compressed size and the offset, the extra field can replace the first `numbers`.
fn entry(record: &[u8], at: usize, name: usize, offset: u64, numbers: usize) -> Option<(Entry, usize)> {
    let field = |from: usize, length| number(record, at + from, length);
    let name_end = name + field(22, 2)? as usize;
    let end = name_end + field(24, 2)? as usize;
    let mut sizes = [field(18, 4)?, field(14, 4)?, offset];
    widen(&mut sizes[..numbers], record.get(name_end..end)?);
    let [size, packed, header] = sizes;
    let entry = Entry {
        name: record.get(name..name_end)?.to_vec(),
        is_encrypted: field(2, 2)? & 1 != 0,
        is_link: false,
        method: field(4, 2)? as u16,
        packed: Some(packed),
        expected: Some((size, field(10, 4)? as u32)),
        header,
    };
    Some((entry, end))
}

/// The entry of the central directory at the start of `record`, and its length in bytes.
fn central(record: &[u8]) -> Option<(Entry, usize)> {
    const LINK: u64 = 0o120_000;
    const UNIX: u64 = 3;
    let (mut entry, end) = entry(record, 6, 46, number(record, 42, 4)?, 3)?;
    let is_unix = number(record, 4, 2)? >> 8 == UNIX;
    entry.is_link = is_unix && (number(record, 38, 4)? >> 16) & 0o170_000 == LINK;
    let length = end + number(record, 32, 2)? as usize;
    record.get(..length).map(|_| (entry, length))
}

/// Replaces each number that did not fit in 32 bits with its real value, which is in the extra field.
fn widen(numbers: &mut [u64], mut extra: &[u8]) {
    while let (Some(id), Some(length)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let end = extra.len().min(4 + length as usize);
        if id == 1 {
            let large = numbers.iter_mut().filter(|number| **number == LARGE);
            for (wide, at) in large.zip((4..end).step_by(8)) {
                *wide = number(&extra[..end], at, 8).unwrap_or(*wide);
            }
            return;
        }
        extra = &extra[end..];
    }
}

/// Finds the files by their headers.
fn scan(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memmem::find(rest, FILE)) {
        let header = at + found;
        let Some((entry, end)) = local(bytes, header) else {
            at = header + FILE.len();
            continue;
        };
        entries.push(entry);
        at = end;
    }
    entries
}

/// The file whose header is at the offset `header`, and the offset of its end.
fn local(bytes: &[u8], header: usize) -> Option<(Entry, usize)> {
    /// The flag of a file whose sizes can be stored after its data, in a descriptor.
    const HAS_DESCRIPTOR: u64 = 8;
    let record = &bytes[header..];
    let (mut entry, length) = entry(record, 4, 30, header as u64, 2)?;
    let (start, packed) = (header + length, entry.packed?);
    if number(record, 6, 2)? & HAS_DESCRIPTOR == 0 || ![0, LARGE].contains(&packed) {
        return Some((entry, start.saturating_add(usize::try_from(packed).ok()?)));
    }
    let (expected, packed, end) = match descriptor(bytes, start) {
        Some((expected, packed, end)) => (Some(expected), Some(packed as u64), end),
        None => (None, None, bytes.len()),
    };
    (entry.expected, entry.packed) = (expected, packed);
    Some((entry, end))
}

/// Finds the descriptor after the compressed data that begins at `start`. It is recognised by the length of
/// this data, which it contains.
fn descriptor(bytes: &[u8], start: usize) -> Option<((u64, u32), usize, usize)> {
    let data = bytes.get(start..)?;
    // The checksum (4 bytes), then the compressed and the original size, of 4 or of 8 bytes each.
    let read = |from: usize, packed: usize| {
        let record = data.get(from..)?;
        let crc = number(record, 0, 4)? as u32;
        [4, 8].into_iter().find_map(|width| {
            let found = number(record, 4, width)? == packed as u64;
            let size = number(record, 4 + width, width)?;
            found.then_some(((size, crc), packed, start + from + 4 + 2 * width))
        })
    };
    memchr::memmem::find_iter(data, b"PK").find_map(|at| match data.get(at..at + FILE.len()) {
        Some(DESCRIPTOR) => read(at + DESCRIPTOR.len(), at),
        // Some programs omit the descriptor's signature. Then the header of the next file shows where the
        // descriptor ends.
        Some(FILE) => [12, 20].into_iter().find_map(|length| {
            let from = at.checked_sub(length)?;
            read(from, from).filter(|&(.., end)| end == start + at)
        }),
        _ => None,
    })
}

/// The little-endian number of `length` bytes at the offset `at`.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
