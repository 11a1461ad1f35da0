//! Sorts numbers. If they do not fit in memory, uses a temporary file.
//!
//! The module `sort` is not suitable here. It divides records into partitions by the top bits of their keys.
//! Here, the top bits contain the number of a game's block, which is small. So nearly all records would be in
//! the first partition.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use crate::store::error::{Error, Result};

/// The size of a number, in bytes.
const NUMBER: usize = size_of::<u128>();

/// Accepts numbers in any order, and later passes them on in ascending order.
#[derive(Debug)]
pub(super) struct Sorter {
    /// How many numbers are kept in memory before they are written to the file.
    most: usize,
    numbers: Vec<u128>,
    /// How many numbers each sorted run in the file has. The runs are consecutive.
    runs: Vec<usize>,
    /// The temporary file. It has no name, so the operating system removes it when it is closed, or when the
    /// process ends.
    file: Option<File>,
    directory: PathBuf,
}

impl Sorter {
    /// The minimum of `most`.
    const LEAST: usize = 1 << 12;

    /// A sorter that uses about `memory` bytes. If the numbers do not fit, they are written to a file in
    /// `directory`.
    pub(super) fn new(memory: u64, directory: PathBuf) -> Self {
        let most = usize::try_from(memory).unwrap_or(usize::MAX) / NUMBER;
        Self { most: most.max(Self::LEAST), numbers: Vec::new(), runs: Vec::new(), file: None, directory }
    }

    #[inline]
    pub(super) fn push(&mut self, number: u128) -> Result<()> {
        if self.numbers.len() == self.most {
            self.write_run()?;
        }
        self.numbers.push(number);
        Ok(())
    }

    /// Calls `see` with all numbers in ascending order.
    pub(super) fn for_each(mut self, mut see: impl FnMut(u128) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.numbers.sort_unstable();
            return self.numbers.into_iter().try_for_each(see);
        }
        self.write_run()?;
        // Frees the memory of the numbers, so that it can be used for reading the runs from the file.
        self.numbers = Vec::new();
        let mut runs = self.open_runs();
        let mut next = BinaryHeap::new();
        for (index, run) in runs.iter_mut().enumerate() {
            next.extend(run.next(&mut self)?.map(|number| Reverse((number, index))));
        }
        while let Some(mut least) = next.peek_mut() {
            let Reverse((number, index)) = *least;
            see(number)?;
            match runs[index].next(&mut self)? {
                Some(number) => *least = Reverse((number, index)),
                None => drop(PeekMut::pop(least)),
            }
        }
        Ok(())
    }

    /// Sorts the numbers in memory, and appends them to the file as a run.
    fn write_run(&mut self) -> Result<()> {
        const BYTES: usize = 64 << 10;
        let Self { numbers, file, directory, .. } = self;
        numbers.sort_unstable();
        let written = (|| {
            let file = match file {
                Some(file) => file,
                None => file.insert(tempfile::tempfile_in(directory)?),
            };
            let mut bytes = Vec::with_capacity(BYTES);
            for part in numbers.chunks(BYTES / NUMBER) {
                bytes.clear();
                bytes.extend(part.iter().flat_map(|number| number.to_ne_bytes()));
                file.write_all(&bytes)?;
            }
            Ok(())
        })();
        written.map_err(|source| self.failed(source))?;
        self.runs.push(self.numbers.len());
        self.numbers.clear();
        Ok(())
    }

    /// Prepares to read all runs. Each run gets an equal share of the memory.
    fn open_runs(&self) -> Vec<Run> {
        const LEAST: usize = 256;
        let at_once = (self.most / self.runs.len()).max(LEAST);
        let mut start = 0;
        let open = |&length: &usize| {
            let run = Run { start, left: length, at_once, numbers: Vec::new().into_iter() };
            start += (length * NUMBER) as u64;
            run
        };
        self.runs.iter().map(open).collect()
    }

    fn read(&mut self, start: u64, count: usize) -> Result<Vec<u128>> {
        let read = |file: &mut File| {
            let mut bytes = vec![0; count * NUMBER];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes)?;
            Ok(bytes.as_chunks().0.iter().map(|number| u128::from_ne_bytes(*number)).collect())
        };
        let file = self.file.as_mut().expect("a run is in a file");
        read(file).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::io(&self.directory, "use a temporary file there", source)
    }
}

/// A sorted run in the file, and how much of it has been read.
#[derive(Debug)]
struct Run {
    /// The offset, in bytes, of the first number not yet read from the file.
    start: u64,
    /// How many numbers have not yet been read from the file.
    left: usize,
    /// How many numbers to read at once.
    at_once: usize,
    numbers: std::vec::IntoIter<u128>,
}

impl Run {
    fn next(&mut self, sorter: &mut Sorter) -> Result<Option<u128>> {
        if let Some(number) = self.numbers.next() {
            return Ok(Some(number));
        }
        let count = self.left.min(self.at_once);
        if count == 0 {
            return Ok(None);
        }
        self.numbers = sorter.read(self.start, count)?.into_iter();
        self.start += (count * NUMBER) as u64;
        self.left -= count;
        Ok(self.numbers.next())
    }
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
            numbers in proptest::collection::vec(prop_oneof![any::<u128>(), 0..9_u128], 0..4000),
            most in 1..3000_usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut sorter = Sorter { most, ..Sorter::new(0, directory.path().to_owned()) };
            numbers.iter().try_for_each(|&number| sorter.push(number)).unwrap();
            let mut found = Vec::new();
            sorter.for_each(|number| { found.push(number); Ok(()) }).unwrap();
            let mut expected = numbers;
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
