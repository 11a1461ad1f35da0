//! Sets of games.

use std::ops::RangeInclusive;

use crate::id::GameId;

/// A set of games: a bit for each number up to the greatest one in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSet {
    words: Vec<u64>,
    count: u64,
}

impl GameSet {
    /// Adds a game.
    pub fn insert(&mut self, game: GameId) {
        let (word, bit) = place(game);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u64::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Whether a game is in it.
    #[must_use]
    #[inline]
    pub fn contains(&self, game: GameId) -> bool {
        let (word, bit) = place(game);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether any game of a range is in it.
    #[must_use]
    pub fn has_any(&self, games: RangeInclusive<GameId>) -> bool {
        let ((first, first_bit), (last, last_bit)) = (place(*games.start()), place(*games.end()));
        let Some(words) = self.words.get(first..self.words.len().min(last + 1)) else { return false };
        words.iter().enumerate().any(|(index, word)| {
            let from = if index == 0 { !(first_bit - 1) } else { u64::MAX };
            let to = if first + index == last { last_bit | (last_bit - 1) } else { u64::MAX };
            word & from & to != 0
        })
    }

    /// How many games are in it.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether no game is in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The games, in order.
    pub fn iter(&self) -> impl Iterator<Item = GameId> {
        (0..).zip(&self.words).flat_map(|(index, &word)| {
            let rest = |&word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            words.map(move |word| GameId(index * 64 + word.trailing_zeros()))
        })
    }
}

impl Extend<GameId> for GameSet {
    fn extend<I: IntoIterator<Item = GameId>>(&mut self, games: I) {
        games.into_iter().for_each(|game| self.insert(game));
    }
}

impl FromIterator<GameId> for GameSet {
    fn from_iter<I: IntoIterator<Item = GameId>>(games: I) -> Self {
        let mut set = Self::default();
        set.extend(games);
        set
    }
}

const fn place(game: GameId) -> (usize, u64) {
    ((game.0 / 64) as usize, 1 << (game.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_come_back_in_order_and_once_each() {
        let numbers = [130, 1, 63, 64, 65, 1, 0, 4096];
        let set: GameSet = numbers.map(GameId).into_iter().collect();
        assert_eq!(set.iter().map(|game| game.0).collect::<Vec<_>>(), [0, 1, 63, 64, 65, 130, 4096]);
        assert_eq!(set.len(), 7);
        assert!(numbers.iter().all(|&number| set.contains(GameId(number))));
        assert!(![2, 62, 129, 4097, u32::MAX].iter().any(|&number| set.contains(GameId(number))));
        assert!(GameSet::default().is_empty() && !set.is_empty());
    }

    #[test]
    fn ranges_of_games_are_looked_for() {
        let numbers = [1, 63, 64, 130, 4096];
        let set: GameSet = numbers.map(GameId).into_iter().collect();
        for first in (0..200).chain(4000..4300).chain([u32::MAX]) {
            for last in [first, first.saturating_add(1), first.saturating_add(70), 4095, 4096, 4097, u32::MAX]
            {
                let range = GameId(first)..=GameId(last);
                let expected = numbers.iter().any(|&number| range.contains(&GameId(number)));
                assert_eq!(set.has_any(range), expected, "{first} to {last}");
            }
        }
        assert!(!GameSet::default().has_any(GameId(0)..=GameId(u32::MAX)));
    }
}
