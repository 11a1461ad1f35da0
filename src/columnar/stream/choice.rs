//! Chooses positions of games: all positions, those at given plies, those with an evaluation, or a random
//! sample.

use std::ops::RangeInclusive;

use crate::id::{GameId, Ply};
use crate::query::{Draw, Sample};
use crate::store::row::EvalRow;

/// Which positions of games to return.
#[derive(Clone, Debug)]
pub struct PositionChoice {
    /// Only positions at these plies are returned; ply 0 is the start position.
    pub plies: RangeInclusive<u32>,
    /// Whether to return only positions with an engine evaluation.
    pub evaluated: bool,
    /// The random sample of these positions to return, in the order of the games; `None` for all of them.
    pub sample: Option<Sample>,
}

impl Default for PositionChoice {
    /// All positions.
    fn default() -> Self {
        Self { plies: 0..=u32::MAX, evaluated: false, sample: None }
    }
}

impl PositionChoice {
    pub(super) fn is_all(&self) -> bool {
        !self.evaluated && self.sample.is_none() && self.plies == (0..=u32::MAX)
    }

    /// The plies of the wanted positions of a game with `positions` positions, before a sample is drawn.
    fn wanted<'w>(&'w self, positions: u32, evals: &'w [EvalRow]) -> impl Iterator<Item = Ply> + 'w {
        let last = (*self.plies.end()).min(positions.saturating_sub(1));
        let all = (!self.evaluated && positions > 0).then(|| *self.plies.start()..=last);
        let evaluated = evals.iter().filter(|row| row.eval_cp.is_some() || row.eval_mate.is_some());
        let evaluated = evaluated
            .map(|row| row.ply)
            .filter(move |ply| self.evaluated && ply.0 < positions && self.plies.contains(&ply.0));
        all.into_iter().flatten().map(Ply).chain(evaluated)
    }

    /// The plies of those positions of a game that are returned, in ascending order. With a sample, these are
    /// the positions drawn with a rank (see `Sample::rank_of`) of at most `last`.
    pub(super) fn plies(&self, game: GameId, positions: u32, evals: &[EvalRow], last: u64) -> Vec<u32> {
        let wanted: Vec<Ply> = self.wanted(positions, evals).collect();
        let Some(sample) = self.sample else { return wanted.into_iter().map(|ply| ply.0).collect() };
        let draws = (0..sample.per_game).map(|number| Draw::new(game, number));
        let drawn = draws.filter(|&draw| sample.rank_of(draw) <= last);
        let mut plies: Vec<u32> = sample.positions_of(drawn, wanted).flatten().map(|ply| ply.0).collect();
        plies.sort_unstable();
        plies
    }

    /// Adds to `ranks` the ranks (see `Sample::rank_of`) of those positions of a game that can be in the sample.
    /// Omits ranks of `cutoff` or more.
    pub(super) fn rank(
        &self,
        game: GameId,
        positions: u32,
        evals: &[EvalRow],
        cutoff: u64,
        ranks: &mut Vec<u64>,
    ) {
        let Some(sample) = self.sample else { return };
        let offered = self.wanted(positions, evals).take(sample.per_game as usize).count() as u32;
        let offered = (0..offered).map(|number| sample.rank_of(Draw::new(game, number)));
        ranks.extend(offered.filter(|rank| *rank < cutoff));
    }
}

/// Collects the `most` lowest ranks. A rank is a pseudo-random number for a position (see `Sample::rank_of`).
#[derive(Debug)]
pub(crate) struct LeastRanks {
    most: usize,
    /// The lowest ranks at the last selection, and the ranks added since then.
    ranks: Vec<u64>,
    /// Ranks of this value or more are not needed.
    pub(super) cutoff: u64,
}

impl LeastRanks {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, ranks: Vec::new(), cutoff: if most == 0 { 0 } else { u64::MAX } }
    }

    pub(super) fn add(&mut self, ranks: Vec<u64>) {
        self.ranks.extend(ranks.into_iter().filter(|&rank| rank < self.cutoff));
        // The lowest ranks are selected only sometimes, because a selection takes a pass over all ranks.
        if self.ranks.len() > self.most.saturating_add(self.most / 4 + 1024) {
            self.pick();
        }
    }

    /// Removes all but the `most` lowest ranks.
    fn pick(&mut self) {
        if self.most > 0 && self.ranks.len() >= self.most {
            self.cutoff = *self.ranks.select_nth_unstable(self.most - 1).1;
            self.ranks.truncate(self.most);
        }
    }

    /// The greatest rank of the sample; `None` if the sample is empty.
    pub(crate) fn last(mut self) -> Option<u64> {
        self.pick();
        self.ranks.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_the_least_ranks_agrees_with_sorting_all() {
        for most in [0, 1, 2, 999, 1_000, 5_000, 20_000, 30_000] {
            // Each number below 20,000 occurs once, because 7,919 and 20,000 are coprime.
            let all = (0..20_000_u64).map(|number| number * 7_919 % 20_000);
            let mut least = LeastRanks::new(most);
            for some in all.collect::<Vec<_>>().chunks(300) {
                least.add(some.to_vec());
                assert!(least.ranks.len() <= most + most / 4 + 1_024);
            }
            let expected = (most as u64).min(20_000).checked_sub(1);
            assert_eq!(least.last(), expected, "{most}");
        }
    }
}
