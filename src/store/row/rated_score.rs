//! The score of a side, and the ratings of its opponents.

/// The score of a side in games with a result against opponents with known ratings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatedScore {
    /// The number of games with a result against opponents with known ratings.
    pub games: u32,
    /// The sum of the opponents' ratings.
    pub rating_sum: u64,
    /// The score in half points.
    pub half_points: u32,
}

impl RatedScore {
    /// Counts a game with a result, unless the opponent's rating is unknown.
    pub(crate) fn count(&mut self, opponent: Option<u16>, half_points: u32) {
        if let Some(rating) = opponent {
            self.games += 1;
            self.rating_sum += u64::from(rating);
            self.half_points += half_points;
        }
    }

    /// Adds the games of another score.
    pub(crate) fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.rating_sum += other.rating_sum;
        self.half_points += other.half_points;
    }
}
