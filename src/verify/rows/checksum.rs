//! Order-independent checksums of rows, to compare two tables.

use crate::id::{GameId, Ply};
use crate::store::row::StoredId;

/// Checksums of `(key, game, ply)` per group of games. If two checksums differ, only the groups that differ
/// must be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checksum {
    groups: Box<[(u64, u64)]>,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { groups: vec![(0, 0); Self::GROUPS].into_boxed_slice() }
    }
}

impl Checksum {
    const GROUPS: usize = 1 << 12;

    /// The group of a game. Consecutive games are in the same group or in consecutive groups; the first group
    /// follows the last one.
    pub(crate) const fn group(game: StoredId<GameId>) -> usize {
        (game.number() >> 4).cast_unsigned() as usize % Self::GROUPS
    }

    pub(crate) fn add(&mut self, key: i64, game: StoredId<GameId>, ply: StoredId<Ply>) {
        let (rows, sum) = &mut self.groups[Self::group(game)];
        *rows += 1;
        let place = mix(game.number().cast_unsigned() ^ mix(ply.number().cast_unsigned()));
        *sum = sum.wrapping_add(mix(key.cast_unsigned() ^ place));
    }

    /// Adds the sums of another checksum.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for ((rows, sum), (more_rows, more)) in self.groups.iter_mut().zip(&other.groups) {
            *rows += more_rows;
            *sum = sum.wrapping_add(*more);
        }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.groups.iter().map(|(rows, _)| rows).sum()
    }

    /// For each group, whether the sums differ.
    pub(crate) fn differences(&self, other: &Self) -> Vec<bool> {
        self.groups.iter().zip(&other.groups).map(|(ours, theirs)| ours != theirs).collect()
    }
}

/// Mixes all bits of a number (the finalizer of SplitMix64).
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_ignore_order_and_locate_changes() {
        let rows = [(5, 1, 0), (-7, 1, 1), (5, 40, 0), (9, 40, 1)];
        let sum = |rows: &[(i64, i64, i64)]| {
            let mut sum = Checksum::default();
            rows.iter().for_each(|&(key, game, ply)| sum.add(key, game.into(), ply.into()));
            sum
        };
        let mut reversed = rows;
        reversed.reverse();
        assert_eq!(sum(&rows), sum(&reversed));
        let mut parts = sum(&rows[..1]);
        parts.absorb(&sum(&rows[1..]));
        assert_eq!((parts.rows(), &parts), (4, &sum(&rows)));
        for changed in [(5, 40, 1), (6, 40, 0), (0, 40, 5)] {
            let mut other = rows;
            other[2] = changed;
            let differs = sum(&rows).differences(&sum(&other));
            let groups: Vec<usize> = (0..differs.len()).filter(|&group| differs[group]).collect();
            assert_eq!(groups, [Checksum::group(40.into())]);
        }
    }
}
