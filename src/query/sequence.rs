//! Sequences: descriptions that positions of a game match one after the other.

use std::ops::RangeInclusive;

use crate::board::{Description, MoveCode};
use crate::id::Ply;
use crate::store::{FeatureQuery, GameRecord, Seek};

/// Consecutive positions that all match a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The description that each of the positions must match.
    pub description: Description,
    /// The minimum number of consecutive positions; at least 1.
    pub lasting: u32,
    /// The plies at which the positions must be.
    pub plies: RangeInclusive<u32>,
}

/// Steps that follow one another in a game, with any moves in between.
///
/// A step ends with the last position that it requires. The next step begins after this position.
#[derive(Clone, Debug)]
pub struct PositionSequence {
    /// The steps as given and, on request, their reversed and mirrored forms.
    ways: Vec<Vec<Step>>,
}

impl PositionSequence {
    /// A sequence of at least one step. `reversed` adds the form with exchanged colours, and `mirrored` the
    /// form mirrored left to right. Both together also add the form with both changes.
    #[must_use]
    pub fn new(steps: Vec<Step>, reversed: bool, mirrored: bool) -> Self {
        let mut ways = vec![steps];
        let turns = [(reversed, Description::reversed as fn(&_) -> _), (mirrored, Description::mirrored)];
        for (_, turn) in turns.into_iter().filter(|(is_requested, _)| *is_requested) {
            let turn = |step: &Step| Step { description: turn(&step.description), ..step.clone() };
            let turned: Vec<Vec<Step>> = ways.iter().map(|steps| steps.iter().map(turn).collect()).collect();
            // A form that equals another one need not be searched twice.
            for steps in turned {
                if !ways.contains(&steps) {
                    ways.push(steps);
                }
            }
        }
        Self { ways }
    }

    /// If a game's main line completes the sequence, the ply of the first position of the last step;
    /// otherwise `None`.
    pub(in crate::query) fn place_in(&self, record: &GameRecord) -> Option<Ply> {
        let mut line = self.begin();
        record.positions.iter().find_map(|position| {
            let fen = position.fen.as_bytes();
            let matters = self.matters(fen, position.move_code);
            matters.then(|| self.observe(&mut line, position.ply, fen, position.move_code)).flatten()
        })
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.ways.iter().flatten()
    }
}

/// The progress of a line in one form of the sequence.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// The number of completed steps.
    done: usize,
    /// How many consecutive positions have matched the next step so far.
    lasted: u32,
    /// The ply of the first of the positions counted in `lasted`.
    first: Ply,
}

impl Seek for PositionSequence {
    type Line = Vec<Reached>;

    fn asks_for_moves(&self) -> bool {
        self.steps().any(|step| step.description.played.is_some())
    }

    fn matters(&self, fen: &[u8], played: Option<MoveCode>) -> bool {
        // A position that does not match can matter too: it interrupts a series of consecutive positions.
        self.steps().any(|step| step.lasting > 1 || step.description.matches(fen, played))
    }

    fn feature_query(&self) -> FeatureQuery {
        let of_step = |step: &Step| {
            let query = FeatureQuery::from_description(&step.description);
            if step.lasting == 1 && step.plies == (0..=u32::MAX) { query } else { query.at_most() }
        };
        let of_way = |steps: &Vec<Step>| FeatureQuery::all(steps.iter().map(of_step).collect());
        FeatureQuery::either(self.ways.iter().map(of_way).collect())
    }

    fn begin(&self) -> Vec<Reached> {
        vec![Reached { done: 0, lasted: 0, first: Ply(0) }; self.ways.len()]
    }

    fn observe(
        &self,
        line: &mut Vec<Reached>,
        ply: Ply,
        fen: &[u8],
        played: Option<MoveCode>,
    ) -> Option<Ply> {
        for (steps, reached) in self.ways.iter().zip(line) {
            let Some(step) = steps.get(reached.done) else { continue };
            if !step.plies.contains(&ply.0) || !step.description.matches(fen, played) {
                reached.lasted = 0;
                continue;
            }
            if reached.lasted == 0 {
                reached.first = ply;
            }
            reached.lasted += 1;
            if reached.lasted >= step.lasting {
                reached.done += 1;
                reached.lasted = 0;
                if reached.done == steps.len() {
                    return Some(reached.first);
                }
            }
        }
        None
    }
}
