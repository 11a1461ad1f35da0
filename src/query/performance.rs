//! A player's results in some games, and FIDE performance ratings: FIDE Handbook, B.02, table 8.1.1.

use serde::Serialize;

use crate::id::GameId;
use crate::store::PlayedGame;
use crate::store::row::{RatedScore, RatingSum};

/// For each percentage scored, from 50 to 100, the difference between the performance rating and the
/// opponents' mean rating. Below 50 percent, the difference is the negative of the difference for the
/// opponents' percentage.
const ABOVE: [i32; 51] = [
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, //
    72, 80, 87, 95, 102, 110, 117, 125, 133, 141, //
    149, 158, 166, 175, 184, 193, 202, 211, 220, 230, //
    240, 251, 262, 273, 284, 296, 309, 322, 336, 351, //
    366, 383, 401, 422, 444, 470, 501, 538, 589, 677, //
    800,
];

/// The performance rating for a score; `None` without games. Percentages and the mean rating are rounded half
/// up.
pub(super) fn performance(score: &RatedScore) -> Option<i32> {
    let mean = score.opponents.mean()?;
    let games = u64::from(score.opponents.games);
    // Two half points per game are 100 percent. Adding half of the divisor rounds to the nearest integer.
    let percent = ((100 * u64::from(score.half_points) + games) / (2 * games)).min(100);
    let above = |percent: u64| ABOVE[percent as usize - 50];
    let difference = if percent < 50 { -above(100 - percent) } else { above(percent) };
    i32::try_from(mean).ok().map(|mean| mean + difference)
}

/// A player's results in some games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "RecordFields"))]
#[serde(into = "RecordFields")]
pub struct Record {
    /// Number of games, with or without a result. A game with the player on both sides counts once here, and
    /// once for each side in all other numbers.
    pub games: u64,
    /// Number of games won.
    pub wins: u32,
    /// Number of games drawn.
    pub draws: u32,
    /// Number of games lost.
    pub losses: u32,
    /// Number of games without a result.
    pub unfinished: u32,
    /// The player's known ratings.
    ratings: RatingSum,
    rated: RatedScore,
    /// The game passed to the last call of `count`. A game with the player on both sides is passed twice in
    /// succession.
    last: Option<GameId>,
}

impl Record {
    pub(super) fn of<'g>(games: impl IntoIterator<Item = &'g PlayedGame>) -> Self {
        let mut record = Self::default();
        games.into_iter().for_each(|game| record.count(game));
        record
    }

    pub(super) fn count(&mut self, game: &PlayedGame) {
        self.games += u64::from(self.last.replace(game.game) != Some(game.game));
        self.ratings.count(game.rating);
        let Some(half_points) = game.result.half_points(game.side) else {
            self.unfinished += 1;
            return;
        };
        let place = match half_points {
            2 => &mut self.wins,
            1 => &mut self.draws,
            _ => &mut self.losses,
        };
        *place += 1;
        self.rated.count(game.opponent_rating, half_points);
    }

    /// The number of games with a result.
    #[must_use]
    pub fn finished(&self) -> u64 {
        u64::from(self.wins) + u64::from(self.draws) + u64::from(self.losses)
    }

    /// The player's score in games with a result, in half points.
    #[must_use]
    pub fn half_points(&self) -> u64 {
        2 * u64::from(self.wins) + u64::from(self.draws)
    }

    /// The player's mean rating; `None` if no rating is known.
    #[must_use]
    pub const fn rating(&self) -> Option<u64> {
        self.ratings.mean()
    }

    /// The mean of the opponents' known ratings, in games with a result; `None` if there are none.
    #[must_use]
    pub const fn opponent_rating(&self) -> Option<u64> {
        self.rated.opponents.mean()
    }

    /// The performance rating by FIDE's table, from games with a result against opponents whose ratings are
    /// known; `None` if there are none.
    #[must_use]
    pub fn performance(&self) -> Option<i32> {
        performance(&self.rated)
    }

    /// The number of games from which the performance rating is computed.
    #[must_use]
    pub fn performance_games(&self) -> u64 {
        self.rated.opponents.games.into()
    }
}

/// A player's results in some games.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RecordFields {
    /// Number of games, with or without a result. A game with the player on both sides counts once here, and
    /// once for each side in all other numbers.
    games: u64,
    /// Number of games that the player won.
    wins: u32,
    /// Number of drawn games.
    draws: u32,
    /// Number of games that the player lost.
    losses: u32,
    /// Number of games without a result.
    unfinished: u32,
    /// The player's mean rating; `null` if no rating is known.
    rating: Option<u64>,
    /// Mean rating of the opponents in the games counted by `performance_games`; `null` if there are none.
    opponent_rating: Option<u64>,
    /// Performance rating by FIDE's table, from the games counted by `performance_games`; `null` if there are
    /// none.
    performance: Option<i32>,
    /// Number of games with a result against opponents with a known rating.
    performance_games: u64,
}

impl From<Record> for RecordFields {
    fn from(record: Record) -> Self {
        let Record { games, wins, draws, losses, unfinished, .. } = record;
        Self {
            games,
            wins,
            draws,
            losses,
            unfinished,
            rating: record.rating(),
            opponent_rating: record.opponent_rating(),
            performance: record.performance(),
            performance_games: record.performance_games(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performances_agree_with_the_table() {
        let performance = |games, half_points, sum| {
            performance(&RatedScore { opponents: RatingSum { sum, games }, half_points })
        };
        assert_eq!(performance(0, 0, 0), None);
        for (games, half_points, mean, expected) in [
            (9, 9, 2500, 2500),
            (9, 18, 2500, 3300),
            (9, 0, 2500, 1700),
            // 66.7 and 33.3 percent scored.
            (9, 12, 2600, 2725),
            (9, 6, 2600, 2475),
            // 5.5 of 9: 61.1 percent.
            (9, 11, 2400, 2480),
            // 62.5 percent is rounded up.
            (4, 5, 2000, 2095),
        ] {
            assert_eq!(performance(games, half_points, mean * u64::from(games)), Some(expected));
        }
        assert_eq!(performance(2, 2, 2001 + 2002), Some(2002));
        assert!(ABOVE.is_sorted_by(|one, other| one < other));
    }
}
