//! A map from byte strings to numbers that uses temporary files beyond its memory limit.

use std::borrow::Cow;
use std::fs::File;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::index::{Error, Result};
use crate::positioned_io::{read_at, write_at};

/// Keys of any length, each with a number. Data beyond the memory limit is stored in unnamed files, which the
/// system removes at the latest when the process ends.
///
/// A hash only selects candidates: keys are compared completely.
#[derive(Debug)]
pub(crate) struct SpillMap {
    log: Log,
    table: Table,
    directory: PathBuf,
}

impl SpillMap {
    /// The memory that one map of a run may use, in bytes. `memory` is the limit of the whole run.
    pub(crate) fn share_of(memory: u64) -> u64 {
        // With less memory, nearly every new key would be searched for in a file.
        const LEAST: u64 = 16 << 20;
        (memory / 16).max(LEAST)
    }

    /// An empty map that may use about `memory` bytes of memory. Its files are created in `directory`.
    pub(crate) fn new(memory: u64, directory: PathBuf) -> Self {
        let half = usize::try_from(memory / 2).unwrap_or(usize::MAX);
        let log = Log { memory: half, file: None, written: 0, tail: Vec::new(), space: Vec::new() };
        Self { log, table: Table::new(half), directory }
    }

    /// The number of a key, if the map contains the key.
    pub(crate) fn find(&mut self, hash: u64, key: &[u8]) -> Result<Option<u32>> {
        self.find_where(hash, key, |_| true)
    }

    /// The number of a key, if `wanted` accepts this number. Keys whose numbers `wanted` rejects are not compared.
    pub(crate) fn find_where(
        &mut self,
        hash: u64,
        key: &[u8],
        mut wanted: impl FnMut(u32) -> bool,
    ) -> Result<Option<u32>> {
        let Self { log, table, .. } = self;
        let found = table.find(hash, |place| log.find(place, key, &mut wanted));
        found.map_err(|source| self.failed(source))
    }

    /// Adds a key and its number. The map must not contain the key yet.
    pub(crate) fn insert(&mut self, hash: u64, key: &[u8], value: u32) -> Result<()> {
        let added = self.log.append(value, key, &self.directory);
        let added = added.and_then(|place| self.table.insert(hash, place, &self.directory));
        added.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spill { directory: self.directory.clone(), need: None, source }
    }
}

/// A list of records: the later records are in memory, the earlier ones in a temporary file. The place of a
/// record, its offset in bytes, never changes.
#[derive(Debug)]
struct Log {
    memory: usize,
    file: Option<File>,
    /// The number of bytes in the file.
    written: u64,
    tail: Vec<u8>,
    /// A buffer for reading the file.
    space: Vec<u8>,
}

impl Log {
    /// The size of a record without its key, in bytes: the number, and the length of the key.
    const HEADER: usize = 8;

    /// Adds a record. Returns its place.
    fn append(&mut self, value: u32, key: &[u8], directory: &Path) -> io::Result<u64> {
        let length = u32::try_from(key.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let needed = self.tail.len() + Self::HEADER + key.len();
        if needed > self.memory && !self.tail.is_empty() {
            self.write_tail(directory)?;
        }
        let capacity = self.tail.capacity();
        if needed > capacity {
            // By itself, the vector could allocate up to twice the memory limit.
            let wanted = needed.max((2 * capacity).min(self.memory));
            self.tail.reserve_exact(wanted - self.tail.len());
        }
        let place = self.written + self.tail.len() as u64;
        self.tail.extend_from_slice(&value.to_le_bytes());
        self.tail.extend_from_slice(&length.to_le_bytes());
        self.tail.extend_from_slice(key);
        Ok(place)
    }

    fn write_tail(&mut self, directory: &Path) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(directory)?),
        };
        write_at(file, &self.tail, self.written)?;
        self.written += self.tail.len() as u64;
        self.tail.clear();
        // The memory for one very long key must not be kept.
        self.tail.shrink_to(self.memory);
        Ok(())
    }

    /// The number in the record at a place, if `wanted` accepts this number and the record has this key.
    fn find(
        &mut self,
        place: u64,
        key: &[u8],
        wanted: &mut dyn FnMut(u32) -> bool,
    ) -> io::Result<Option<u32>> {
        let header = self.read(place, Self::HEADER)?.first_chunk::<{ Self::HEADER }>();
        let header = u64::from_le_bytes(*header.expect("as many bytes as were read"));
        let (value, length) = (header as u32, (header >> 32) as usize);
        let is_found =
            wanted(value) && length == key.len() && self.read(place + Self::HEADER as u64, length)? == key;
        Ok(is_found.then_some(value))
    }

    /// Reads `length` bytes at a place.
    fn read(&mut self, place: u64, length: usize) -> io::Result<&[u8]> {
        if let Some(at) = place.checked_sub(self.written) {
            return Ok(&self.tail[at as usize..][..length]);
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        // The memory for one very long key must not be kept.
        self.space.clear();
        self.space.shrink_to(self.memory);
        self.space.resize(length, 0);
        read_at(file, &mut self.space, place)?;
        Ok(&self.space)
    }
}

/// A hash function for keys. It differs in each run, so that nobody can prepare an input in which many keys
/// have the same hash.
#[derive(Clone, Debug)]
pub(crate) struct KeyHash {
    state: RandomState,
    /// A mask of the bits used: all bits, except in tests of equal hashes.
    mask: u64,
}

impl KeyHash {
    pub(crate) const BITS: u32 = u64::BITS;

    /// A hash function with hashes of `bits` bits.
    pub(crate) fn new(bits: u32) -> Self {
        Self { state: RandomState::new(), mask: u64::MAX.checked_shr(Self::BITS - bits).unwrap_or(0) }
    }

    pub(crate) fn of(&self, key: &[u8]) -> u64 {
        let mut hasher = self.begin();
        hasher.write(key);
        self.end(&hasher)
    }

    /// A hasher for a key that is written in pieces.
    pub(crate) fn begin(&self) -> DefaultHasher {
        self.state.build_hasher()
    }

    /// The hash of the written bytes.
    pub(crate) fn end(&self, hasher: &DefaultHasher) -> u64 {
        self.narrow(hasher.finish())
    }

    /// Clears the unused bits of a hash.
    pub(crate) const fn narrow(&self, hash: u64) -> u64 {
        hash & self.mask
    }
}

/// A hash table of slots, in memory or, beyond its memory limit, in a temporary file.
///
/// A slot is stored at the index given by the top bits of its hash. If this index is occupied, the slot is
/// stored at the next free index.
#[derive(Debug)]
struct Table {
    memory: usize,
    slots: Slots,
    /// The number of slots is 2 to this power.
    bits: u32,
    taken: usize,
}

#[derive(Debug)]
enum Slots {
    Memory(Vec<Slot>),
    /// In a file. One byte per slot is also in memory, unless these bytes exceed the memory limit.
    File(File, Option<Vec<u8>>),
}

/// A hash, and the place of a record: `record` is this place plus 1, or 0 in an empty slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    record: u64,
}

impl Slot {
    const BYTES: usize = size_of::<Self>();

    fn of(bytes: [u8; Self::BYTES]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self { hash: both as u64, record: (both >> 64) as u64 }
    }

    fn bytes(self) -> [u8; Self::BYTES] {
        (u128::from(self.record) << 64 | u128::from(self.hash)).to_le_bytes()
    }

    const fn is_empty(self) -> bool {
        self.record == 0
    }

    /// A one-byte fingerprint of the hash in a slot; 0 for an empty slot. While the fingerprints of all slots
    /// are in memory, a search reads a slot from the file only if its fingerprint equals that of the wanted
    /// hash.
    const fn tag(self) -> u8 {
        if self.is_empty() { 0 } else { tag(self.hash) }
    }
}

impl Table {
    const FIRST_BITS: u32 = 8;

    /// An empty table with at most about `memory` bytes in memory.
    fn new(memory: usize) -> Self {
        let slots = Slots::Memory(vec![Slot::default(); 1 << Self::FIRST_BITS]);
        Self { memory, slots, bits: Self::FIRST_BITS, taken: 0 }
    }

    /// Calls `see` with the place of each record that has this hash, until `see` returns a result.
    fn find<T>(&self, hash: u64, mut see: impl FnMut(u64) -> io::Result<Option<T>>) -> io::Result<Option<T>> {
        let mut see_slot = |slot: Slot| match slot.record.checked_sub(1) {
            None => Ok(Some(None)),
            Some(place) if slot.hash == hash => Ok(see(place)?.map(Some)),
            Some(_) => Ok(None),
        };
        let home = home(hash, self.bits);
        let Slots::File(file, Some(tags)) = &self.slots else {
            return self.walk(home, Self::FEW, |_, slot| see_slot(slot));
        };
        for at in (home..tags.len()).chain(0..home) {
            if tags[at] == 0 {
                break;
            }
            if tags[at] == tag(hash) {
                let mut bytes = [0; Slot::BYTES];
                read_at(file, &mut bytes, (at * Slot::BYTES) as u64)?;
                if let Some(found) = see_slot(Slot::of(bytes))? {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    fn insert(&mut self, hash: u64, place: u64, directory: &Path) -> io::Result<()> {
        if self.taken >= (1 << self.bits) / 4 * 3 {
            self.grow(directory)?;
        }
        self.taken += 1;
        self.put(Slot { hash, record: place + 1 })
    }

    fn put(&mut self, slot: Slot) -> io::Result<()> {
        let home = home(slot.hash, self.bits);
        let at = match &self.slots {
            Slots::File(_, Some(tags)) => {
                (home..tags.len()).chain(0..home).find(|&at| tags[at] == 0).expect("a quarter is free")
            }
            _ => self.walk(home, Self::FEW, |at, slot: Slot| Ok(slot.is_empty().then_some(at)))?,
        };
        match &mut self.slots {
            Slots::Memory(slots) => slots[at] = slot,
            Slots::File(file, tags) => {
                write_at(file, &slot.bytes(), (at * Slot::BYTES) as u64)?;
                if let Some(tags) = tags {
                    tags[at] = slot.tag();
                }
            }
        }
        Ok(())
    }

    /// The number of slots to read from a file at once when one slot is needed.
    const FEW: usize = 16;
    /// The number of slots to read from a file at once when many slots are needed.
    const MANY: usize = 4096;

    /// Calls `see` with the slots from index `from` on, wrapping around at the end, until `see` returns a
    /// result.
    fn walk<T>(
        &self,
        from: usize,
        at_once: usize,
        mut see: impl FnMut(usize, Slot) -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let count = 1 << self.bits;
        let mut from = from;
        loop {
            let piece = match &self.slots {
                Slots::Memory(slots) => Cow::Borrowed(&slots[from..]),
                Slots::File(file, _) => {
                    let mut bytes = vec![0; at_once.min(count - from) * Slot::BYTES];
                    read_at(file, &mut bytes, (from * Slot::BYTES) as u64)?;
                    Cow::Owned(bytes.as_chunks().0.iter().map(|&slot| Slot::of(slot)).collect())
                }
            };
            for (at, &slot) in (from..).zip(piece.iter()) {
                if let Some(made) = see(at, slot)? {
                    return Ok(made);
                }
            }
            from = (from + piece.len()) % count;
        }
    }

    /// Replaces the table with one of twice the size, and fills the new table from the first slot to the
    /// last.
    fn grow(&mut self, directory: &Path) -> io::Result<()> {
        const REGION: usize = 1 << 15;
        let bits = self.bits + 1;
        let count = 1 << bits;
        // The old table exists until the new one is complete, so both must fit within the limit.
        let mut larger = if count * Slot::BYTES / 2 * 3 <= self.memory {
            Slots::Memory(Vec::with_capacity(count))
        } else {
            let tags = (count <= self.memory).then(|| Vec::with_capacity(count));
            Slots::File(tempfile::tempfile_in(directory)?, tags)
        };
        let (mut region, mut left_over) = (Vec::new(), Vec::new());
        for first in (0..count).step_by(REGION) {
            region.clear();
            region.resize(REGION.min(count - first), Slot::default());
            for slot in std::mem::take(&mut left_over) {
                put_in(&mut region, 0, slot, &mut left_over);
            }
            let (from, to) = (first / 2, (first + region.len()) / 2);
            self.for_each_of(from, to, |slot| {
                put_in(&mut region, home(slot.hash, bits) - first, slot, &mut left_over);
            })?;
            match &mut larger {
                Slots::Memory(slots) => slots.extend_from_slice(&region),
                Slots::File(file, tags) => {
                    let bytes: Vec<u8> = region.iter().flat_map(|slot| slot.bytes()).collect();
                    write_at(file, &bytes, (first * Slot::BYTES) as u64)?;
                    if let Some(tags) = tags {
                        tags.extend(region.iter().map(|slot| slot.tag()));
                    }
                }
            }
        }
        (self.slots, self.bits) = (larger, bits);
        left_over.into_iter().try_for_each(|slot| self.put(slot))
    }

    /// Calls `see` with each occupied slot whose hash has an index of at least `from` and less than `to`.
    fn for_each_of(&self, from: usize, to: usize, mut see: impl FnMut(Slot)) -> io::Result<()> {
        let mut seen = 0;
        self.walk(from, Self::MANY, |_, slot| {
            seen += 1;
            if !slot.is_empty() && (from..to).contains(&home(slot.hash, self.bits)) {
                see(slot);
            }
            let is_end = (seen > to - from && slot.is_empty()) || seen == 1 << self.bits;
            Ok(is_end.then_some(()))
        })
    }
}

/// The index of a hash in a table of 2 to the power `bits` slots.
const fn home(hash: u64, bits: u32) -> usize {
    (hash >> (u64::BITS - bits)) as usize
}

/// The byte in memory for a slot with this hash: low bits, which do not determine the index. It is never 0, the
/// byte of an empty slot.
const fn tag(hash: u64) -> u8 {
    hash as u8 | 1
}

/// Inserts a slot into a part of a table, at index `at` or after it. If there is no space, adds the slot to
/// `left_over`.
fn put_in(region: &mut [Slot], at: usize, slot: Slot, left_over: &mut Vec<Slot>) {
    match region[at..].iter_mut().find(|slot| slot.is_empty()) {
        Some(free) => *free = slot,
        None => left_over.push(slot),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::properties::cases;

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn every_key_keeps_its_number(
            lengths in proptest::collection::vec((0..60u32, prop_oneof![0..20usize, 0..600usize]), 0..400),
            memory in prop_oneof![Just(0), Just(1000), Just(40_000), Just(u64::MAX)],
            bits in prop_oneof![Just(0), Just(1), Just(8), Just(64)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut map = SpillMap::new(memory, directory.path().to_owned());
            let (hash, mut plain) = (KeyHash::new(bits), HashMap::new());
            // The keys have equal beginnings and few different lengths.
            for (value, (seed, length)) in (7..).zip(lengths) {
                let mut key = vec![0; length];
                key.extend_from_slice(&seed.to_le_bytes());
                let found = map.find(hash.of(&key), &key).unwrap();
                prop_assert_eq!(found, plain.get(&key).copied());
                if found.is_none() {
                    map.insert(hash.of(&key), &key, value).unwrap();
                    plain.insert(key, value);
                }
            }
            for (key, value) in plain {
                prop_assert_eq!(map.find(hash.of(&key), &key).unwrap(), Some(value));
                prop_assert_eq!(map.find_where(hash.of(&key), &key, |found| found != value).unwrap(), None);
            }
        }
    }

    #[test]
    fn a_table_grows_from_memory_into_files() {
        let directory = tempfile::tempdir().unwrap();
        for memory in [0, 1 << 20, u64::MAX] {
            let mut map = SpillMap::new(memory, directory.path().to_owned());
            let hash = KeyHash::new(64);
            for value in 0..100_000_u32 {
                let key = value.to_be_bytes();
                map.insert(hash.of(&key), &key, value).unwrap();
            }
            for value in 0..200_000_u32 {
                let key = value.to_be_bytes();
                let found = map.find(hash.of(&key), &key).unwrap();
                assert_eq!(found, (value < 100_000).then_some(value), "{memory}");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_directory_is_reported_if_no_file_can_be_created() {
        let mut map = SpillMap::new(0, PathBuf::from("/nowhere"));
        let error = (0..2).find_map(|value| map.insert(1, b"key", value).err()).expect("no such directory");
        assert!(error.to_string().starts_with("/nowhere: cannot use a temporary file here"), "{error}");
    }
}
