//! Sort functions, and a map for few keys.
//!
//! The standard library's sorts and maps consist of much code, which is compiled again for each type. Here
//! most of the code is compiled once. Use these functions and this map where speed does not matter: for the
//! rows of an answer, not for each position.

use std::borrow::Borrow;
use std::cmp::Ordering;

use serde::{Serialize, Serializer};

/// Sorts values. Equal values keep their order.
pub(crate) fn sort<T: Ord>(values: &mut [T]) {
    sort_by(values, T::cmp);
}

/// Sorts values by a key, which is computed once for each value. Values with equal keys keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(values: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = values.iter().map(key).collect();
    put(values, places(keys.len(), &|one, other| keys[one].cmp(&keys[other])));
}

/// Sorts values with any comparison. Equal values keep their order.
pub(crate) fn sort_by<T>(values: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let places = places(values.len(), &|one, other| compare(&values[one], &values[other]));
    put(values, places);
}

/// Moves the value at each index `i` to the index `places[i]`.
fn put<T>(values: &mut [T], mut places: Vec<usize>) {
    for at in 0..places.len() {
        while places[at] != at {
            let place = places[at];
            values.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// For each of `count` values, its index after sorting. `compare` compares the values at two indexes.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    let mut places = vec![0; count];
    for (place, index) in order.into_iter().enumerate() {
        places[index] = place;
    }
    places
}

/// Sorts values, and removes repeated ones.
pub(crate) fn distinct<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    sort(&mut values);
    values.dedup();
    values
}

/// Inserts a value into sorted values, unless they contain it.
pub(crate) fn insert<T: Ord>(values: &mut Vec<T>, value: T) {
    if let Err(at) = values.binary_search(&value) {
        values.insert(at, value);
    }
}

/// A map in the order of its keys. Adding a key takes linear time, unless the key is greater than all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The number of keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys in ascending order, with their values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The keys in ascending order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        match self.0.last() {
            Some((last, _)) if last.borrow() < key => Err(self.0.len()),
            _ => self.0.binary_search_by(|(other, _)| other.borrow().cmp(key)),
        }
    }

    /// The value of a key, if the map contains the key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        Some(&self.0[self.find(key).ok()?].1)
    }

    /// The keys from `first` to `last`, both included, and their values.
    pub(crate) fn range(&self, first: K, last: K) -> &[(K, V)] {
        let start = self.0.partition_point(|(key, _)| *key < first);
        let end = self.0.partition_point(|(key, _)| *key <= last);
        &self.0[start..end.max(start)]
    }

    /// Whether the map contains this key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// The value of a key. If the map does not contain the key, adds the key with the default value.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = self.find(&key).unwrap_or_else(|at| {
            self.0.insert(at, (key, V::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Sets the value of a key. Returns the previous value, if there was one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Removes a key. Returns its value, if the map contained the key.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(self.0.remove(at).1)
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<(K, V)> = pairs.into_iter().collect();
        sort_by(&mut pairs, |(one, _), (other, _)| one.cmp(other));
        // If a key occurs several times, its last value counts, as with repeated calls of `insert`.
        // `dedup_by` keeps the first pair, so each later pair is swapped into the place of the first one.
        pairs.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        Self(pairs)
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
impl<K: schemars::JsonSchema, V: schemars::JsonSchema> schemars::JsonSchema for SortedMap<K, V> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        std::collections::BTreeMap::<K, V>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<K, V>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::properties::cases;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn values_are_sorted_like_those_of_the_standard_library(values: Vec<(u8, u16)>) {
            let (mut sorted, mut expected) = (values.clone(), values);
            sort_by_key(&mut sorted, |&(key, _)| key);
            expected.sort_by_key(|&(key, _)| key);
            prop_assert_eq!(&sorted, &expected);
            let map: SortedMap<_, _> = sorted.iter().copied().collect();
            prop_assert!(map.iter().eq(&expected.iter().copied().collect::<BTreeMap<_, _>>()));
            expected.sort();
            expected.dedup();
            prop_assert_eq!(distinct(sorted), expected);
        }

        #[test]
        fn a_map_is_like_that_of_the_standard_library(steps: Vec<(u8, u16, bool)>) {
            let (mut map, mut expected) = (SortedMap::new(), BTreeMap::new());
            for (key, value, is_removed) in steps {
                if is_removed {
                    prop_assert_eq!(map.remove(&key), expected.remove(&key));
                } else {
                    prop_assert_eq!(map.insert(key, value), expected.insert(key, value));
                }
                *map.entry(value as u8) ^= 1;
                *expected.entry(value as u8).or_default() ^= 1;
                prop_assert_eq!(map.get(&key), expected.get(&key));
            }
            prop_assert!(map.iter().eq(&expected));
        }
    }
}
