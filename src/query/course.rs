//! What a game passes, one thing after the other.

use std::ops::RangeInclusive;

use crate::board::{Description, MoveCode};
use crate::id::Ply;
use crate::store::{GameRecord, PassedQuestion, Seek};

/// Positions that follow each other and all fit a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What each of them is like.
    pub description: Description,
    /// How many positions in a row fit, at least; no less than 1.
    pub lasting: u32,
    /// The plies at which they stand.
    pub plies: RangeInclusive<u32>,
}

impl Step {
    fn map(&self, turn: fn(&Description) -> Description) -> Self {
        Self { description: turn(&self.description), ..self.clone() }
    }
}

/// Steps that come one after the other in a game, with anything between them.
///
/// A step is done with the last of the positions that it asks for; the next one begins after it.
#[derive(Clone, Debug)]
pub struct Course {
    /// The steps as they are asked for, and turned round.
    ways: Vec<Vec<Step>>,
}

impl Course {
    /// Some steps, of which there is at least one: also with the colours `reversed`, also with left and right `mirrored`.
    #[must_use]
    pub fn new(steps: Vec<Step>, reversed: bool, mirrored: bool) -> Self {
        let mut ways = vec![steps];
        let turns = [(reversed, Description::reversed as fn(&_) -> _), (mirrored, Description::mirrored)];
        for (_, turn) in turns.into_iter().filter(|(is_asked, _)| *is_asked) {
            let turned: Vec<Vec<Step>> =
                ways.iter().map(|steps| steps.iter().map(|step| step.map(turn)).collect()).collect();
            // What is the same turned round need not be looked for twice.
            for steps in turned {
                if !ways.contains(&steps) {
                    ways.push(steps);
                }
            }
        }
        Self { ways }
    }

    /// Where stands the first position of a game's main line with which the course is complete.
    pub(in crate::query) fn place_in(&self, record: &GameRecord) -> Option<Ply> {
        let mut line = self.begin();
        record.positions.iter().find_map(|position| {
            let fen = position.fen.as_bytes();
            let matters = self.matters(fen, position.move_code);
            matters.then(|| self.see(&mut line, position.ply, fen, position.move_code)).flatten()
        })
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.ways.iter().flatten()
    }
}

/// How far a line has come on one way.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Steps that are done.
    done: usize,
    /// How many positions of the next one have come in a row.
    lasted: u32,
    /// Where the first of them stands.
    first: Ply,
}

impl Seek for Course {
    type Line = Vec<Reached>;

    fn asks_for_moves(&self) -> bool {
        self.steps().any(|step| step.description.played.is_some())
    }

    fn matters(&self, fen: &[u8], played: Option<MoveCode>) -> bool {
        // A position that does not fit ends those in a row.
        self.steps().any(|step| step.lasting > 1 || step.description.matches(fen, played))
    }

    fn passed(&self) -> PassedQuestion {
        let of_step = |step: &Step| {
            let question = PassedQuestion::of(&step.description);
            if step.lasting == 1 && step.plies == (0..=u32::MAX) { question } else { question.at_most() }
        };
        let of_way = |steps: &Vec<Step>| PassedQuestion::all(steps.iter().map(of_step).collect());
        PassedQuestion::either(self.ways.iter().map(of_way).collect())
    }

    fn begin(&self) -> Vec<Reached> {
        vec![Reached { done: 0, lasted: 0, first: Ply(0) }; self.ways.len()]
    }

    fn see(&self, line: &mut Vec<Reached>, ply: Ply, fen: &[u8], played: Option<MoveCode>) -> Option<Ply> {
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
