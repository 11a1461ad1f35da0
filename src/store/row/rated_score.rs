//! What a side scored, and against whom.

/// What a side scored in games with a result against opponents whose ratings are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatedScore {
    /// How many games these are.
    pub games: u32,
    /// The opponents' ratings, added up.
    pub rating_sum: u64,
    /// What was scored, in half points.
    pub half_points: u32,
}

impl RatedScore {
    /// Counts a game with a result by the opponent's rating, if it is known, and by what was scored.
    pub(crate) fn count(&mut self, opponent: Option<u16>, half_points: u32) {
        if let Some(rating) = opponent {
            self.games += 1;
            self.rating_sum += u64::from(rating);
            self.half_points += half_points;
        }
    }

    /// Counts the games that another counts too.
    pub(crate) fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.rating_sum += other.rating_sum;
        self.half_points += other.half_points;
    }
}
