//! A map from byte strings to numbers that uses temporary files beyond its memory limit.

mod hash;
mod log;
mod table;

use std::io;
use std::path::PathBuf;

pub(crate) use hash::KeyHash;
use log::Log;
use table::Table;

use crate::index::error::{Error, Result};

/// Keys of any length, each with a number. Data beyond the memory limit is stored in unnamed files, which the
/// system removes when the process ends.
///
/// A hash only selects candidates: keys are compared completely.
#[derive(Debug)]
pub(crate) struct SpillMap {
    log: Log,
    table: Table,
    directory: PathBuf,
    /// A buffer for reading the log's file.
    space: Vec<u8>,
}

impl SpillMap {
    /// The part of a run's memory that one map may use, in bytes.
    pub(crate) fn share_of(memory: u64) -> u64 {
        // With less memory, nearly each new key would be searched for in a file.
        const LEAST: u64 = 16 << 20;
        (memory / 16).max(LEAST)
    }

    /// An empty map for about `memory` bytes, with its files in `directory`.
    pub(crate) fn new(memory: u64, directory: PathBuf) -> Self {
        let half = usize::try_from(memory / 2).unwrap_or(usize::MAX);
        Self { log: Log::new(half), table: Table::new(half), directory, space: Vec::new() }
    }

    /// The number of a key.
    pub(crate) fn find(&mut self, hash: u64, key: &[u8]) -> Result<Option<u32>> {
        self.find_where(hash, key, |_| true)
    }

    /// The number of a key, if `wanted` accepts this number. Keys with other numbers are not compared.
    pub(crate) fn find_where(
        &mut self,
        hash: u64,
        key: &[u8],
        mut wanted: impl FnMut(u32) -> bool,
    ) -> Result<Option<u32>> {
        let Self { log, table, space, .. } = self;
        let found = table.find(hash, |place| {
            let value = log.value(place)?;
            Ok((wanted(value) && log.has_key(place, key, space)?).then_some(value))
        });
        found.map_err(|source| self.failed(source))
    }

    /// Adds a key that is not in the map.
    pub(crate) fn insert(&mut self, hash: u64, key: &[u8], value: u32) -> Result<()> {
        let added = self.log.append(value, key, &self.directory);
        let added = added.and_then(|place| self.table.insert(hash, place, &self.directory));
        added.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spill { directory: self.directory.clone(), need: None, source }
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
            // Keys with equal beginnings, and of few lengths.
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
