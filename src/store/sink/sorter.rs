//! Sorts numbers that are in blocks: all numbers of a block are less than those of the next block, and the blocks
//! arrive in order. If the numbers do not fit in memory, whole blocks are sorted and appended to a temporary
//! file. So all numbers in the file are in order.
//!
//! The module `sort` is not suitable here. It divides records into partitions by the top bits of their keys.
//! Here, the top bits contain the number of a game's block, which is small. So nearly all records would be in
//! the first partition.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::store::error::{Error, Result};

/// The size of the buffer for reading or writing the file, in bytes.
const BUFFER: usize = 64 << 10;

/// Accepts the numbers of one block after the other, and later passes all numbers on in ascending order.
#[derive(Debug)]
pub(super) struct Sorter {
    /// How many numbers are kept in memory before they are written to the file. The numbers of one block are
    /// always kept together in memory.
    most: usize,
    /// The block of a number is the number without this many of its lowest bits.
    bits_in_block: u32,
    numbers: Vec<u128>,
    /// How many numbers are in the file.
    written: u64,
    /// The temporary file. It has no name, so the operating system removes it when it is closed, or when the
    /// process ends.
    file: Option<File>,
    directory: PathBuf,
}

impl Sorter {
    /// The minimum of `most`.
    const LEAST: usize = 1 << 12;

    /// A sorter that uses about `memory` bytes, or enough for one block. If the numbers do not fit, they are
    /// written to a file in `directory`.
    pub(super) fn new(memory: u64, bits_in_block: u32, directory: PathBuf) -> Self {
        let most = usize::try_from(memory).unwrap_or(usize::MAX) / size_of::<u128>();
        let most = most.max(Self::LEAST);
        Self { most, bits_in_block, numbers: Vec::new(), written: 0, file: None, directory }
    }

    /// Adds a number. Its block must not be less than that of the number before.
    #[inline]
    pub(super) fn push(&mut self, number: u128) -> Result<()> {
        let block = |number: u128| number >> self.bits_in_block;
        let is_full = self.numbers.len() >= self.most;
        if is_full && self.numbers.last().is_some_and(|&last| block(last) != block(number)) {
            self.write().map_err(|source| io_error(&self.directory, source))?;
        }
        self.numbers.push(number);
        Ok(())
    }

    /// Calls `see` with all numbers in ascending order.
    pub(super) fn for_each(mut self, mut see: impl FnMut(u128) -> Result<()>) -> Result<()> {
        self.numbers.sort_unstable();
        if let Some(mut file) = self.file {
            let failed = |source| io_error(&self.directory, source);
            file.rewind().map_err(failed)?;
            let mut file = BufReader::with_capacity(BUFFER, file);
            let mut number = [0; size_of::<u128>()];
            for _ in 0..self.written {
                file.read_exact(&mut number).map_err(failed)?;
                see(u128::from_ne_bytes(number))?;
            }
        }
        self.numbers.into_iter().try_for_each(see)
    }

    /// Sorts the numbers in memory, and moves them to the end of the file.
    fn write(&mut self) -> io::Result<()> {
        self.numbers.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&self.directory)?),
        };
        let mut file = BufWriter::with_capacity(BUFFER, file);
        self.numbers.iter().try_for_each(|number| file.write_all(&number.to_ne_bytes()))?;
        file.flush()?;
        self.written += self.numbers.len() as u64;
        self.numbers.clear();
        Ok(())
    }
}

fn io_error(directory: &Path, source: io::Error) -> Error {
    Error::io(directory, "use a temporary file there", source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn numbers_are_sorted_with_any_memory_limit(
            blocks in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![any::<u64>(), 0..9_u64], 0..1000), 0..9),
            most in 1..3000_usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut sorter = Sorter { most, ..Sorter::new(0, 64, directory.path().to_owned()) };
            let in_block = |(block, numbers): (u128, Vec<u64>)| {
                numbers.into_iter().map(move |number| block << 64 | u128::from(number))
            };
            let numbers: Vec<u128> = (0..).zip(blocks).flat_map(in_block).collect();
            numbers.iter().try_for_each(|&number| sorter.push(number)).unwrap();
            let mut found = Vec::new();
            sorter.for_each(|number| { found.push(number); Ok(()) }).unwrap();
            let mut expected = numbers;
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
