//! A player's results in some games.

use serde::Serialize;

use crate::id::GameId;
use crate::query::performance::{opponent_rating, performance, rounded};
use crate::store::PlayedGame;
use crate::store::row::RatedScore;

/// A player's results in some games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(with = "RecordFields"))]
#[serde(into = "RecordFields")]
pub struct Record {
    /// Number of games, with or without a result. A game of the player against himself counts once here, and
    /// for both sides in all other numbers.
    pub games: u64,
    /// Number of games won.
    pub wins: u32,
    /// Number of games drawn.
    pub draws: u32,
    /// Number of games lost.
    pub losses: u32,
    /// Number of games without a result.
    pub unfinished: u32,
    /// Sum of the player's known ratings, and their number.
    ratings: (u64, u32),
    rated: RatedScore,
    /// The game that was counted last.
    last: Option<GameId>,
}

impl Record {
    pub(super) fn count(&mut self, game: &PlayedGame) {
        self.games += u64::from(self.last.replace(game.game) != Some(game.game));
        if let Some(rating) = game.rating {
            self.ratings.0 += u64::from(rating);
            self.ratings.1 += 1;
        }
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

    /// Games with a result.
    #[must_use]
    pub fn finished(&self) -> u64 {
        u64::from(self.wins) + u64::from(self.draws) + u64::from(self.losses)
    }

    /// What was scored in games with a result, in half points.
    #[must_use]
    pub fn half_points(&self) -> u64 {
        2 * u64::from(self.wins) + u64::from(self.draws)
    }

    /// The player's mean rating.
    #[must_use]
    pub fn rating(&self) -> Option<u64> {
        let (sum, ratings) = self.ratings;
        (ratings > 0).then(|| rounded(sum, ratings.into()))
    }

    /// The mean rating of the opponents in games with a result.
    #[must_use]
    pub fn opponent_rating(&self) -> Option<u64> {
        opponent_rating(&self.rated)
    }

    /// The performance rating by the table of FIDE, from games with a result against opponents whose ratings are known.
    #[must_use]
    pub fn performance(&self) -> Option<i32> {
        performance(&self.rated)
    }

    /// The number of games from which the performance rating is computed.
    #[must_use]
    pub fn performance_games(&self) -> u64 {
        self.rated.games.into()
    }
}

/// A player's results in some games.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RecordFields {
    /// Number of games, with or without a result. A game of the player against himself counts once here, and
    /// for both sides in all other numbers.
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
    /// Performance rating by FIDE's table, from the same games; `null` if there are none.
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
