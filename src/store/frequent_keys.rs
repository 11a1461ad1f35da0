//! A compact list of the keys that many rows of a level of `occurrence` share. With this list, an upper bound
//! of the number of rows of any key is known without reading the level.
//!
//! A list is stored as
//!
//! 1. the smallest number of rows that a listed key can have;
//! 2. the number of listed keys;
//! 3. for each key, in the order of signed integers: the difference from the key before (for the first key,
//!    from the least possible key), then the number of the key's rows;
//! 4. the sum of all these numbers modulo 2^64, so that nearly every change of a list is noticed.
//!
//! Numbers are varints, as in [sets of games](super::block_set). Deleting rows from a level through SQL does
//! not change its list, which remains an upper bound.

use super::block_set::{push_number, take_long_number};
use crate::board::PositionKey;

/// The smallest number of rows of a listed key, unless the list gets too long.
const FEWEST: u32 = 8;

/// The maximum number of keys of a list: 32 MiB in memory.
const MOST_KEYS: usize = 1 << 21;

/// The keys that many rows of a level share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrequentKeys {
    /// A key that is not listed has fewer rows than this.
    fewest: u32,
    /// The keys in ascending order, each with the number of its rows.
    keys: Vec<(i64, u32)>,
}

impl Default for FrequentKeys {
    fn default() -> Self {
        Self { fewest: FEWEST, keys: Vec::new() }
    }
}

impl FrequentKeys {
    /// Concatenates lists. The keys of each list must be greater than those of the list before.
    #[must_use]
    pub fn join(lists: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for list in lists {
            joined.raise(list.fewest);
            let fewest = joined.fewest;
            joined.keys.extend(list.keys.into_iter().filter(|&(_, rows)| rows >= fewest));
            joined.shorten(MOST_KEYS);
        }
        joined
    }

    /// An upper bound of the number of rows of `key`, which is the integer that SQLite stores.
    #[must_use]
    pub fn most_rows(&self, key: i64) -> u32 {
        match self.keys.binary_search_by_key(&key, |&(listed, _)| listed) {
            Ok(index) => self.keys[index].1,
            Err(_) => self.fewest - 1,
        }
    }

    /// The listed keys with at least `rows_in_level(threshold)` rows in this level. Their positions get a row
    /// of `visited_position` if at least `threshold` games in total reached them. Empty if no row can be
    /// delayed with this threshold (see `rows_in_level`).
    #[must_use]
    pub fn with_rows(&self, threshold: u32) -> Vec<PositionKey> {
        if !may_be_delayed(threshold) {
            return Vec::new();
        }
        let enough = self.keys.iter().filter(|&&(_, rows)| rows >= rows_in_level(threshold));
        enough.map(|&(key, _)| PositionKey::from_i64(key)).collect()
    }

    /// Encodes the list for the database.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(9 * self.keys.len() + 20);
        let mut sum = 0_u64;
        let mut push = |number: u64| {
            sum = sum.wrapping_add(number);
            push_number(number, &mut bytes);
        };
        push(self.fewest.into());
        push(self.keys.len() as u64);
        let mut last = i64::MIN;
        for &(key, rows) in &self.keys {
            push(key.wrapping_sub(last).cast_unsigned());
            push(rows.into());
            last = key;
        }
        push_number(sum, &mut bytes);
        bytes
    }

    /// Decodes a stored list; `None` if it is invalid.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut rest, mut sum) = (bytes, 0_u64);
        let mut take = || {
            let (number, behind) = take_long_number(rest)?;
            rest = behind;
            sum = sum.wrapping_add(number);
            Some(number)
        };
        let rows = |number: u64| u32::try_from(number).ok().filter(|&rows| rows > 0);
        let (fewest, count) = (rows(take()?)?, take()?);
        let mut keys: Vec<(i64, u32)> = Vec::new();
        for _ in 0..count {
            let more = take()?;
            let key = keys.last().map_or(i64::MIN, |&(last, _)| last).checked_add_unsigned(more)?;
            if more == 0 && !keys.is_empty() {
                return None;
            }
            keys.push((key, rows(take()?)?));
        }
        let expected = sum;
        (take_long_number(rest) == Some((expected, &[]))).then_some(Self { fewest, keys })
    }

    /// Removes keys, those with the fewest rows first, until at most `most` are left.
    fn shorten(&mut self, most: usize) {
        while self.keys.len() > most {
            self.raise(self.fewest.saturating_mul(2));
        }
    }

    /// Raises the minimum number of rows, and removes the keys with fewer rows.
    fn raise(&mut self, fewest: u32) {
        if fewest > self.fewest {
            self.fewest = fewest;
            self.keys.retain(|&(_, rows)| rows >= fewest);
        }
    }
}

/// Finds the frequent keys among rows sorted by key.
#[derive(Debug, Default)]
pub struct FrequentKeyCounter {
    /// The last key, and the number of its rows so far.
    run: Option<(PositionKey, u32)>,
    found: FrequentKeys,
}

impl FrequentKeyCounter {
    /// Counts the next `rows` rows, which all have this key.
    #[inline]
    pub fn observe(&mut self, key: PositionKey, rows: u32) {
        match &mut self.run {
            Some((last, count)) if *last == key => *count = count.saturating_add(rows),
            _ => {
                self.end_run();
                self.run = Some((key, rows));
            }
        }
    }

    /// Returns the frequent keys of all rows counted.
    #[must_use]
    pub fn finish(mut self) -> FrequentKeys {
        self.end_run();
        self.found
    }

    #[inline]
    fn end_run(&mut self) {
        if let Some((key, rows)) = self.run.take()
            && rows >= self.found.fewest
        {
            if self.found.keys.is_empty() {
                // Letting the list grow step by step would be slower.
                self.found.keys.reserve(1 << 8);
            }
            self.found.keys.push((key.as_i64(), rows));
            self.found.shorten(MOST_KEYS);
        }
    }
}

/// Looks up upper bounds of numbers of rows. The keys must be given in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct FrequentKeyCursor<'k> {
    list: &'k FrequentKeys,
    /// The keys that are not less than the last key looked up.
    rest: &'k [(i64, u32)],
}

impl<'k> FrequentKeyCursor<'k> {
    /// A cursor that starts at a key.
    pub(crate) fn new(list: &'k FrequentKeys, start: PositionKey) -> Self {
        let at = list.keys.partition_point(|&(key, _)| key < start.as_i64());
        Self { list, rest: &list.keys[at..] }
    }

    /// An upper bound of the number of rows of a key.
    pub(crate) fn most_rows(&mut self, key: PositionKey) -> u32 {
        let key = key.as_i64();
        while let Some((&(listed, rows), rest)) = self.rest.split_first() {
            if listed == key {
                return rows;
            }
            if listed > key {
                break;
            }
            self.rest = rest;
        }
        self.list.fewest - 1
    }
}

/// The lowest threshold at which rows of `visited_position` can be delayed (see [`rows_in_level`]). It is
/// twice [`FEWEST`], so that a list of frequent keys contains every key with at least
/// `rows_in_level(threshold)` rows, unless the list gets too long.
const MIN_DELAYED: u32 = 16;

/// The minimum number of rows that a position's key must have in the level being written, so that the
/// position can get a row of `visited_position`. In addition, at least `threshold` games in total must have
/// reached the position.
///
/// A new position gets its row as soon as enough games have reached it. But when games are added level by
/// level, each addition brings many old positions to the threshold. The games of these positions are spread
/// over the whole database: the larger the database, the longer it would take to write the positions' rows
/// and sets. Therefore a position that is already in older levels gets its row only when the level being
/// written has at least half as many rows with its key as the threshold. Until then the row is delayed, and
/// look-ups read the position's rows in `occurrence`. Each level has only few of these rows. Merging all
/// levels writes all delayed rows.
pub(crate) const fn rows_in_level(threshold: u32) -> u32 {
    if may_be_delayed(threshold) { threshold / 2 } else { 1 }
}

/// Whether a position can lack its row of `visited_position` for some time although enough games reached it.
pub(crate) const fn may_be_delayed(threshold: u32) -> bool {
    threshold >= MIN_DELAYED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(runs: &[(i64, u32)]) -> FrequentKeys {
        let mut counter = FrequentKeyCounter::default();
        for &(key, rows) in runs {
            counter.observe(PositionKey::from_i64(key), rows);
        }
        counter.finish()
    }

    #[test]
    fn unlisted_keys_have_fewer_rows() {
        let found =
            list(&[(i64::MIN, 9), (-5, 3), (-5, 4), (-1, 4), (-1, 4), (0, 8), (7, 1), (i64::MAX, 300)]);
        assert_eq!(found.keys, [(i64::MIN, 9), (-1, 8), (0, 8), (i64::MAX, 300)]);
        let mut cursor = FrequentKeyCursor::new(&found, PositionKey::from_i64(-6));
        let mut most = |key| cursor.most_rows(PositionKey::from_i64(key));
        assert_eq!([-6, -1, -1, 0, 1, i64::MAX].map(&mut most), [7, 8, 8, 8, 7, 300]);
    }

    #[test]
    fn lists_can_be_decoded_and_invalid_lists_are_reported() {
        for keys in [&[][..], &[(i64::MIN, 9)], &[(i64::MIN, 8), (i64::MAX, u32::MAX)], &[(-1, 8), (0, 9)]] {
            let found = list(keys);
            let bytes = found.to_bytes();
            assert_eq!(FrequentKeys::from_bytes(&bytes), Some(found));
            // A list that is truncated, or changed in one bit, is invalid.
            assert!((0..bytes.len()).all(|end| FrequentKeys::from_bytes(&bytes[..end]).is_none()));
            for bit in 0..8 * bytes.len() {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(FrequentKeys::from_bytes(&changed), None, "{keys:?}, bit {bit}");
            }
        }
        let list = |numbers: &[u64]| {
            let mut bytes = Vec::new();
            let sum = numbers.iter().fold(0, |sum: u64, number| sum.wrapping_add(*number));
            numbers.iter().chain([&sum]).for_each(|&number| push_number(number, &mut bytes));
            FrequentKeys::from_bytes(&bytes)
        };
        assert!(list(&[8, 0]).is_some() && list(&[8, 2, 7, 8, 1, 9]).is_some());
        for numbers in [
            &[0, 0][..],
            &[8],
            &[8, 1, 7],
            &[8, 1, 7, 0],
            &[8, 1, 7, 1 << 32],
            &[8, 2, 7, 8, 0, 9],
            &[8, 2, u64::MAX, 9, 1, 9],
            &[8, u64::MAX, 7, 8],
            &[8, 0, 7],
        ] {
            assert_eq!(list(numbers), None, "{numbers:?}");
        }
    }

    #[test]
    fn long_lists_keep_the_keys_with_the_most_rows() {
        let mut found = list(&(0..100).map(|key| (key, 8 + key as u32)).collect::<Vec<_>>());
        found.shorten(80);
        assert_eq!((found.fewest, found.keys.len()), (32, 76));
        let joined = FrequentKeys::join([list(&[(-9, 31), (-8, 32)]), found.clone()]);
        assert_eq!((joined.fewest, joined.keys.len()), (32, 77));
        assert_eq!(FrequentKeys::from_bytes(&joined.to_bytes()), Some(joined));
    }
}
