//! Finds places in a log by hash.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::positioned_io::{read_at, write_at};

/// A hash table of slots. It is in memory until it exceeds its memory limit, then in a temporary file.
///
/// A slot is stored at the place given by the top bits of its hash or, if that is occupied, at the next free
/// place.
#[derive(Debug)]
pub(crate) struct Table {
    memory: usize,
    slots: Slots,
    /// The number of slots is 2 to this power.
    bits: u32,
    taken: usize,
}

#[derive(Debug)]
enum Slots {
    Memory(Vec<Slot>),
    /// In a file. One byte per slot is in memory, unless these bytes exceed the memory limit.
    File(File, Option<Vec<u8>>),
}

/// A hash, and the place of a record plus one; 0 marks an empty slot.
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

    /// A byte that differs between most slots; 0 for an empty slot. A slot is read from the file only if its
    /// byte matches.
    const fn tag(self) -> u8 {
        if self.is_empty() { 0 } else { tag(self.hash) }
    }
}

impl Table {
    const FIRST_BITS: u32 = 8;

    /// An empty table with at most about `memory` bytes in memory.
    pub(crate) fn new(memory: usize) -> Self {
        let slots = Slots::Memory(vec![Slot::default(); 1 << Self::FIRST_BITS]);
        Self { memory, slots, bits: Self::FIRST_BITS, taken: 0 }
    }

    /// Calls `see` with the places of a hash until it returns a result.
    pub(crate) fn find<T>(
        &self,
        hash: u64,
        mut see: impl FnMut(u64) -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
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

    pub(crate) fn insert(&mut self, hash: u64, place: u64, directory: &Path) -> io::Result<()> {
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

    /// The number of slots of a file read at once to find one slot.
    const FEW: usize = 16;
    /// The number of slots of a file read at once if many are needed.
    const MANY: usize = 4096;

    /// Calls `see` with the slots from index `from` on, wrapping around at the end, until it returns a result.
    fn walk<T>(
        &self,
        from: usize,
        at_once: usize,
        mut see: impl FnMut(usize, Slot) -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let count = 1 << self.bits;
        let mut from = from;
        loop {
            let mut at = from;
            match &self.slots {
                Slots::Memory(slots) => {
                    for &slot in &slots[from..] {
                        if let Some(made) = see(at, slot)? {
                            return Ok(made);
                        }
                        at += 1;
                    }
                }
                Slots::File(file, _) => {
                    let mut space = vec![0; at_once.min(count - from) * Slot::BYTES];
                    read_at(file, &mut space, (from * Slot::BYTES) as u64)?;
                    for &slot in space.as_chunks().0 {
                        if let Some(made) = see(at, Slot::of(slot))? {
                            return Ok(made);
                        }
                        at += 1;
                    }
                }
            }
            from = at % count;
        }
    }

    /// Builds a table of twice the size, from the first slot to the last.
    fn grow(&mut self, directory: &Path) -> io::Result<()> {
        const REGION: usize = 1 << 15;
        let bits = self.bits + 1;
        let count = 1 << bits;
        // The old table exists until the new one is complete.
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

    /// Calls `see` with all slots whose hashes belong to a range of places.
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

/// The place of a hash in a table of `bits` bits.
const fn home(hash: u64, bits: u32) -> usize {
    (hash >> (u64::BITS - bits)) as usize
}

/// The byte in memory for a slot with this hash. It consists of bits that do not determine the place.
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
