//! Assigns ids to names.

use crate::index::error::{Error, Result};
use crate::index::spill::{KeyHash, SpillMap};
use crate::store::NameTable;
use crate::store::row::NameId;

/// Assigns a number to each distinct name of a table: 1, 2, 3 … in order of first appearance, after the numbers
/// of an existing database.
#[derive(Debug)]
pub(crate) struct Names {
    ids: SpillMap,
    hash: KeyHash,
    /// The last ids of players, events and sites.
    last: [u32; 3],
    /// A buffer for a key of `ids`: the number of the table, followed by the name.
    key: Vec<u8>,
}

impl Names {
    /// Continues after the ids `last` of players, events and sites.
    pub(crate) const fn after(last: [NameId; 3], ids: SpillMap, hash: KeyHash) -> Self {
        let [players, events, sites] = last;
        Self { ids, hash, last: [players.0, events.0, sites.0], key: Vec::new() }
    }

    /// The id of a name, if it was found or assigned before, or if `known` returns it.
    pub(crate) fn find(
        &mut self,
        table: NameTable,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>>,
    ) -> Result<Option<NameId>> {
        self.key.clear();
        self.key.push(table as u8);
        self.key.extend_from_slice(name.as_bytes());
        let hash = self.hash.of(&self.key);
        if let Some(id) = self.ids.find(hash, &self.key)? {
            return Ok(Some(NameId(id)));
        }
        let id = known(name)?;
        if let Some(NameId(id)) = id {
            self.ids.insert(hash, &self.key, id)?;
        }
        Ok(id)
    }

    /// The id of a name, and whether the name is new. `known` is called only for a name that was not found or
    /// assigned before.
    pub(crate) fn intern(
        &mut self,
        table: NameTable,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>>,
    ) -> Result<(NameId, bool)> {
        if let Some(id) = self.find(table, name, known)? {
            return Ok((id, false));
        }
        let last = &mut self.last[table as usize];
        *last = last.checked_add(1).ok_or(Error::TooManyNames)?;
        self.ids.insert(self.hash.of(&self.key), &self.key, *last)?;
        Ok((NameId(*last), true))
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
        fn ids_are_consecutive_with_any_memory_limit(
            names in proptest::collection::vec((0..3usize, 0..150u32, any::<bool>()), 0..400),
            memory in prop_oneof![Just(0), Just(10_000), Just(u64::MAX)],
            bits in prop_oneof![Just(8), Just(64)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let map = SpillMap::new(memory, directory.path().to_owned());
            let last = [NameId(400), NameId(0), NameId(7)];
            let mut table = Names::after(last, map, KeyHash::new(bits));
            let (mut plain, mut next) = (HashMap::new(), last.map(|id| id.0));
            for (kind, number, only_found) in names {
                let names = [NameTable::Player, NameTable::Event, NameTable::Site][kind];
                let name = format!("name {number}");
                // Some players existed before.
                let was_there = (kind == 0 && number % 5 == 0).then_some(NameId(number + 1));
                let known = |_: &str| Ok(was_there);
                let there = plain.get(&(kind, number)).copied().or(was_there);
                if only_found {
                    prop_assert_eq!(table.find(names, &name, known).unwrap(), there);
                    continue;
                }
                let expected = there.unwrap_or_else(|| {
                    next[kind] += 1;
                    NameId(next[kind])
                });
                prop_assert_eq!(table.intern(names, &name, known).unwrap(), (expected, there.is_none()));
                plain.insert((kind, number), expected);
            }
        }
    }
}
