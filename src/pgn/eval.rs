//! Evaluations of positions.

/// The evaluation of a position, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eval {
    /// Centipawns.
    Centipawns(i32),
    /// Moves to mate; negative if Black mates.
    Mate(i32),
}

impl Eval {
    /// The evaluation in two columns, centipawns and moves to mate, of which at most one has a value.
    #[must_use]
    pub(crate) fn from_columns(centipawns: Option<i32>, mate: Option<i32>) -> Option<Self> {
        centipawns.map(Self::Centipawns).or(mate.map(Self::Mate))
    }

    /// The values of the two columns for an evaluation: centipawns and moves to mate.
    #[must_use]
    pub(crate) const fn columns(value: Option<Self>) -> (Option<i32>, Option<i32>) {
        match value {
            Some(Self::Centipawns(value)) => (Some(value), None),
            Some(Self::Mate(moves)) => (None, Some(moves)),
            None => (None, None),
        }
    }

    /// The evaluation from the other side's view.
    pub(super) const fn for_other_side(self) -> Self {
        match self {
            Self::Centipawns(value) => Self::Centipawns(value.saturating_neg()),
            Self::Mate(moves) => Self::Mate(moves.saturating_neg()),
        }
    }

    /// White's [winning chances](winning_chances). A mate counts as 1000 centipawns. The result is `None` for
    /// a mate in 0, because it is unknown which side is mated.
    #[must_use]
    pub fn winning_chances(self) -> Option<f64> {
        match self {
            Self::Centipawns(value) => Some(winning_chances(value.into())),
            Self::Mate(0) => None,
            Self::Mate(moves) => Some(winning_chances(CEILING.copysign(moves.into()))),
        }
    }
}

/// The maximum number of centipawns that has an effect.
const CEILING: f64 = 1000.0;

/// White's chances, from -1 (Black wins) to 1 (White wins), by Lichess's formula
/// (<https://lichess.org/page/accuracy>; the maximum and the value of mates are those of scalachess's
/// `WinPercent`).
#[must_use]
pub fn winning_chances(centipawns: f64) -> f64 {
    const MULTIPLIER: f64 = -0.003_682_08;
    2.0 / (1.0 + (MULTIPLIER * centipawns.clamp(-CEILING, CEILING)).exp()) - 1.0
}
