//! Sets of games.

use std::ops::RangeInclusive;

use crate::id::GameId;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, game_of};

/// A set of games: a bitmap for each block in which the set has a game. So large gaps in the ids take hardly
/// any memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSet {
    /// All blocks up to the last one with a game; `None` for a block without games.
    blocks: Vec<Option<BlockGames>>,
    count: u64,
}

impl GameSet {
    /// Adds a game.
    pub fn insert(&mut self, game: GameId) {
        let (block, number) = block_of(game);
        if block as usize >= self.blocks.len() {
            self.blocks.resize(block as usize + 1, None);
        }
        let games = self.blocks[block as usize].get_or_insert_default();
        self.count += u64::from(!games.contains(number));
        games.insert(number);
    }

    /// Whether a game is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, game: GameId) -> bool {
        let (block, number) = block_of(game);
        self.block(block).is_some_and(|games| games.contains(number))
    }

    /// Whether any game of a range is in the set.
    #[must_use]
    pub fn has_any(&self, games: RangeInclusive<GameId>) -> bool {
        let ((first, from), (last, to)) = (block_of(*games.start()), block_of(*games.end()));
        let blocks = first..=last.min(self.blocks.len() as u32);
        blocks.filter_map(|block| Some((block, self.block(block)?))).any(|(block, games)| {
            let from = if block == first { from } else { 0 };
            let to = if block == last { to } else { u16::MAX };
            games.has_any(from..=to)
        })
    }

    /// The number of games in the set.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The games in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = GameId> {
        let blocks = (0..).zip(&self.blocks);
        let blocks = blocks.filter_map(|(block, games)| Some((block, games.as_ref()?)));
        blocks.flat_map(|(block, games)| games.iter().map(move |number| game_of(block, number)))
    }

    #[inline]
    fn block(&self, block: u32) -> Option<&BlockGames> {
        self.blocks.get(block as usize)?.as_ref()
    }
}

impl FromIterator<GameId> for GameSet {
    fn from_iter<I: IntoIterator<Item = GameId>>(games: I) -> Self {
        let mut set = Self::default();
        games.into_iter().for_each(|game| set.insert(game));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_returned_once_and_in_order() {
        let numbers = [130, 1, 63, 64, 65, 1, 0, 4096];
        let set: GameSet = numbers.map(GameId).into_iter().collect();
        assert_eq!(set.iter().map(|game| game.0).collect::<Vec<_>>(), [0, 1, 63, 64, 65, 130, 4096]);
        assert_eq!(set.len(), 7);
        assert!(numbers.iter().all(|&number| set.contains(GameId(number))));
        assert!(![2, 62, 129, 4097, u32::MAX].iter().any(|&number| set.contains(GameId(number))));
        assert!(GameSet::default().is_empty() && !set.is_empty());
    }

    #[test]
    fn games_are_found_in_ranges() {
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
        let far: GameSet = [GameId(70_000), GameId(u32::MAX)].into_iter().collect();
        for (range, expected) in [
            (0..=69_999, false),
            (0..=u32::MAX, true),
            (65_536..=70_000, true),
            (70_001..=u32::MAX - 1, false),
            (70_001..=u32::MAX, true),
        ] {
            assert_eq!(far.has_any(GameId(*range.start())..=GameId(*range.end())), expected, "{range:?}");
        }
        assert!(far.iter().eq([GameId(70_000), GameId(u32::MAX)]));
    }
}
