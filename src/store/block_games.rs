//! A subset of the games of a [block](super::block_set), stored as a bitmap.

use std::ops::RangeInclusive;

use crate::store::block_set::BLOCK_GAMES;

/// A subset of the games of a block: game `n` is bit `n % 64` of word `n / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockGames(Vec<u64>);

impl Default for BlockGames {
    fn default() -> Self {
        Self(vec![0; BLOCK_GAMES as usize / 64])
    }
}

impl BlockGames {
    #[inline]
    pub(crate) fn insert(&mut self, number: u16) {
        self.0[usize::from(number / 64)] |= 1 << (number % 64);
    }

    #[inline]
    pub(crate) fn contains(&self, number: u16) -> bool {
        self.0[usize::from(number / 64)] >> (number % 64) & 1 == 1
    }

    /// Whether any game of a range is in the set.
    pub(crate) fn has_any(&self, games: RangeInclusive<u16>) -> bool {
        let (first, last) = (usize::from(games.start() / 64), usize::from(games.end() / 64));
        let Some(words) = self.0.get(first..=last) else { return false };
        words.iter().enumerate().any(|(index, word)| {
            let from = if index == 0 { u64::MAX << (games.start() % 64) } else { u64::MAX };
            let to = if first + index == last { u64::MAX >> (63 - games.end() % 64) } else { u64::MAX };
            word & from & to != 0
        })
    }

    /// The games in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        let mut words = (0..=u16::MAX).step_by(64).zip(&self.0);
        let (mut first, mut rest) = (0, 0);
        std::iter::from_fn(move || {
            while rest == 0 {
                let (next, &word) = words.next()?;
                (first, rest) = (next, word);
            }
            let number = first + rest.trailing_zeros() as u16;
            rest &= rest - 1;
            Some(number)
        })
    }

    /// The bits of the 64 games that begin with game `64 * index`; 0 if there are no such games in a block.
    #[inline]
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// The games `n` for which `is_in(&items[n])` returns 1. For all other games `is_in` must return 0.
    pub(crate) fn of<T>(items: &[T], is_in: impl Fn(&T) -> u64) -> Self {
        let mut games = Self::default();
        for (word, items) in games.0.iter_mut().zip(items.chunks(64)) {
            for (bit, item) in items.iter().enumerate() {
                *word |= is_in(item) << bit;
            }
        }
        games
    }

    /// Adds all games of the block.
    pub(crate) fn fill(&mut self) {
        self.0.fill(u64::MAX);
    }

    /// Adds all games of another set.
    pub(crate) fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(games, others)| *games |= others);
    }

    /// Removes all games that are not in another set.
    pub(crate) fn keep(&mut self, others: &Self) {
        self.0.iter_mut().zip(&others.0).for_each(|(games, others)| *games &= others);
    }

    /// The complement: all other games of the block.
    pub(crate) fn others(&self) -> Self {
        Self(self.0.iter().map(|games| !games).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&games| games == 0)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|games| games.count_ones()).sum()
    }

    /// Removes the games outside a range.
    pub(crate) fn limit(&mut self, range: RangeInclusive<u16>) {
        for (games, first) in self.0.iter_mut().zip((0..=u16::MAX).step_by(64)) {
            for number in first..=first + 63 {
                if !range.contains(&number) {
                    *games &= !(1 << (number % 64));
                }
            }
        }
    }

    /// The games as ranges of consecutive numbers.
    pub(crate) fn runs(&self) -> Vec<RangeInclusive<u16>> {
        let mut runs: Vec<RangeInclusive<u16>> = Vec::new();
        for number in self.iter() {
            match runs.last_mut() {
                Some(run) if *run.end() + 1 == number => *run = *run.start()..=number,
                _ => runs.push(number..=number),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_a_block_are_returned_as_runs() {
        let mut games = BlockGames::default();
        assert!(games.is_empty() && games.runs().is_empty());
        for number in [0, 1, 63, 64, 65, 100, 65_535] {
            games.insert(number);
        }
        assert_eq!(games.runs(), [0..=1, 63..=65, 100..=100, 65_535..=65_535]);
        assert_eq!((games.len(), games.others().len()), (7, 65_536 - 7));
        games.limit(1..=64);
        assert_eq!(games.runs(), [1..=1, 63..=64]);
        games.fill();
        assert_eq!(games.runs(), [0..=u16::MAX]);
    }
}
