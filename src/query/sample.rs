//! Selects random positions from games.

use crate::id::{GameId, Ply};
use crate::store::GameSet;

/// A random sample of positions, without repetition.
///
/// Each game offers at most `per_game` of its wanted positions, chosen at random. The sample is chosen at
/// random from the offered positions of all games together. With the same games, `per_game` and `seed`, the
/// sample is the same, and a larger sample begins with the positions of a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of positions in the sample. There are fewer if the games offer fewer.
    pub positions: u64,
    /// The maximum number of positions per game. A number above [`MOST_PER_GAME`](Self::MOST_PER_GAME) has
    /// the same effect as `MOST_PER_GAME`.
    pub per_game: u32,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// One random pick: a game, and the index, from 0, of one of the positions that it offers. If the game offers
/// too few, the position does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    /// The game.
    pub game: GameId,
    number: u32,
}

impl Draw {
    /// The pick of the position with this index, from 0, among the positions that a game offers.
    #[must_use]
    pub const fn new(game: GameId, number: u32) -> Self {
        Self { game, number }
    }
}

impl Sample {
    /// The maximum number of positions per game.
    pub const MOST_PER_GAME: u32 = 100;
    /// The maximum number of random picks ([`Draw`]) passed to one call of `visit`. The caller keeps a row
    /// for each pick, about 150 bytes, in memory until the rows of all these picks are read.
    pub const MOST_AT_A_TIME: usize = 1 << 18;

    /// The approximate maximum number of draws per part, unless this requires more than
    /// [`PARTS`](Self::PARTS) parts. [`visit`](Self::visit) keeps the draws of one part in memory at a time.
    const FEW: u64 = 1 << 20;
    /// The maximum number of parts. A part contains the draws whose ranks are in one range. It is sorted
    /// separately, and requires one pass over the games.
    const PARTS: u64 = 256;

    /// Passes the draws of the sample to `visit` in batches, the lowest ranks first. Batches allow `visit` to
    /// read the games of a batch in the order of the database. A batch has at most as many draws as positions
    /// are still needed, and at most [`MOST_AT_A_TIME`](Self::MOST_AT_A_TIME). `visit` must return how many
    /// draws of the batch have an existing position. This function returns the sum of these numbers.
    ///
    /// # Errors
    /// Errors of `visit`.
    pub fn visit<E>(
        &self,
        games: &GameSet,
        mut visit: impl FnMut(&[Draw]) -> Result<u64, E>,
    ) -> Result<u64, E> {
        let per_game = self.per_game.min(Self::MOST_PER_GAME);
        let all = games.len() * u64::from(per_game);
        let parts = all.div_ceil(Self::FEW).min(Self::PARTS);
        let mut drawn = 0;
        for part in 0..parts {
            let mut draws = Vec::new();
            for game in games.iter() {
                for number in 0..per_game {
                    let draw = Draw { game, number };
                    let rank = self.rank_of(draw);
                    if (u128::from(rank) * u128::from(parts)) >> u64::BITS == u128::from(part) {
                        draws.push((rank, draw));
                    }
                }
            }
            draws.sort_unstable();
            let draws: Vec<_> = draws.into_iter().map(|(_, draw)| draw).collect();
            let mut rest = draws.as_slice();
            while !rest.is_empty() {
                let most = (self.positions - drawn).min(Self::MOST_AT_A_TIME as u64) as usize;
                let (now, later) = rest.split_at(most.min(rest.len()));
                if now.is_empty() {
                    return Ok(drawn);
                }
                drawn += visit(now)?;
                rest = later;
            }
        }
        Ok(drawn)
    }

    /// The positions of several draws of one game, in the order of the draws. `wanted` are the wanted
    /// positions of the game; if they are too few, some draws have no position.
    pub fn positions_of(
        &self,
        draws: impl Iterator<Item = Draw>,
        mut wanted: Vec<Ply>,
    ) -> impl Iterator<Item = Option<Ply>> {
        let mut draws = draws.peekable();
        if let Some(&Draw { game, .. }) = draws.peek() {
            let of_game = self.of_game(game);
            // A pseudo-random number that decides the order of the positions of a game.
            let rank = |Ply(ply): Ply| mixed(!of_game.wrapping_add(u64::from(ply)));
            wanted.sort_by_cached_key(|&ply| (rank(ply), ply));
        }
        draws.map(move |draw| wanted.get(draw.number as usize).copied())
    }

    /// The rank of a draw: draws with low ranks come first.
    #[must_use]
    pub fn rank_of(&self, draw: Draw) -> u64 {
        mixed(self.of_game(draw.game).wrapping_add(u64::from(draw.number)))
    }

    fn of_game(&self, GameId(game): GameId) -> u64 {
        mixed(mixed(self.seed) ^ u64::from(game))
    }
}

/// A step of SplitMix64: a bijective function in which each output bit depends on all input bits. Source: Guy
/// Steele, Doug Lea and Christine Flood, "Fast splittable pseudorandom number generators", 2014.
const fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The random picks of a sample from the games 1 to `games`, in order.
    fn draws(sample: Sample, games: u32) -> Vec<(u32, u32)> {
        let mut draws = Vec::new();
        let games = (1..=games).map(GameId).collect();
        let drawn = sample.visit(&games, |some| {
            assert!(some.len() <= Sample::MOST_AT_A_TIME);
            draws.extend(some.iter().map(|draw| (draw.game.0, draw.number)));
            Ok::<_, Infallible>(some.len() as u64)
        });
        assert_eq!(drawn, Ok(draws.len() as u64));
        draws
    }

    #[test]
    fn mixed_numbers_equal_the_published_ones() {
        // The first numbers of the generator with seed 1234567, as printed by other programs.
        let mut state: u64 = 1_234_567;
        for expected in [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            assert_eq!(mixed(state), expected);
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
    }

    #[test]
    fn draws_are_unique_and_a_smaller_sample_is_a_prefix() {
        // More draws than one part contains.
        let (games, per_game) = (600_000, 3);
        let all = Sample { positions: u64::MAX, per_game, seed: 7 };
        let drawn = draws(all, games);
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        let expected = (1..=games).flat_map(|game| (0..per_game).map(move |number| (game, number)));
        assert!(sorted.into_iter().eq(expected));
        let few = draws(Sample { positions: 1_000, ..all }, games);
        assert_eq!(few, drawn[..1_000]);
        assert_ne!(few, draws(Sample { positions: 1_000, seed: 8, ..all }, games));
        assert_eq!(draws(all, 0), []);
    }

    #[test]
    fn games_without_a_matching_position_are_replaced() {
        let games = (1..=1_000).map(GameId).collect();
        let sample = Sample { positions: 300, per_game: 1, seed: 2 };
        let all = draws(Sample { positions: 1_000, ..sample }, 1_000);
        let mut found = Vec::new();
        let drawn = sample.visit(&games, |some| {
            let before = found.len();
            found.extend(some.iter().map(|draw| draw.game.0).filter(|game| game % 3 > 0));
            assert!(found.len() <= 300);
            Ok::<_, Infallible>((found.len() - before) as u64)
        });
        assert_eq!(drawn, Ok(300));
        let expected: Vec<u32> = all.iter().map(|(game, _)| *game).filter(|game| game % 3 > 0).collect();
        assert_eq!(found, expected[..300]);
    }

    #[test]
    fn draws_stay_the_same_in_later_versions() {
        let sample = Sample { positions: 5, per_game: 2, seed: 1 };
        assert_eq!(draws(sample, 1_000)[..5], [(287, 1), (802, 1), (701, 0), (779, 0), (535, 0)]);
    }

    #[test]
    fn positions_of_a_game_are_drawn_once_in_random_order() {
        let sample = Sample { positions: 1, per_game: 100, seed: 1 };
        let wanted: Vec<Ply> = (10..60).map(Ply).collect();
        let mut orders = std::collections::BTreeSet::new();
        for game in (1..=100).map(GameId) {
            let draws = (0..51).map(|number| Draw { game, number });
            let mut positions: Vec<Option<Ply>> = sample.positions_of(draws, wanted.clone()).collect();
            assert_eq!(positions.pop(), Some(None));
            let mut order: Vec<Ply> = positions.into_iter().flatten().collect();
            orders.insert(order.clone());
            order.sort_unstable();
            assert_eq!(order, wanted);
        }
        assert_eq!(orders.len(), 100);
    }
}
