//! Rows of `level_position` and `level_continuation`.

use serde::Serialize;

use super::description::{Text, batch, columns};
use crate::board::{Color, MoveCode, PositionKey};
use crate::id::Level;

/// The sum and the number of known ratings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatingSum {
    /// The sum of the ratings.
    pub sum: u64,
    /// The number of ratings.
    pub games: u32,
}

impl RatingSum {
    /// Adds the rating of one game, if known.
    #[inline]
    pub(crate) fn count(&mut self, elo: Option<u16>) {
        self.sum += u64::from(elo.unwrap_or(0));
        self.games += u32::from(elo.is_some());
    }

    /// Adds other ratings.
    pub(crate) fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.games += other.games;
    }

    /// The mean, rounded; `None` if there are no ratings.
    #[must_use]
    pub const fn mean(self) -> Option<u64> {
        // Adding half of the divisor rounds the quotient to the nearest integer.
        let games = self.games as u64;
        (self.sum + games / 2).checked_div(games)
    }
}

/// The results of games, with the players' ratings and the years. Serialised as the number of games by
/// result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultCounts {
    /// Number of games won by White.
    #[serde(rename = "white")]
    pub white_wins: u32,
    /// Number of drawn games.
    pub draws: u32,
    /// Number of games won by Black.
    #[serde(rename = "black")]
    pub black_wins: u32,
    /// The ratings of the players with White.
    #[serde(skip)]
    pub white_elo: RatingSum,
    /// The ratings of the players with Black.
    #[serde(skip)]
    pub black_elo: RatingSum,
    /// The earliest year of games whose year is known.
    #[serde(skip)]
    pub first_year: Option<u16>,
    /// The latest year of games whose year is known.
    #[serde(skip)]
    pub last_year: Option<u16>,
}

impl ResultCounts {
    /// Adds the games that `other` counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.white_wins += other.white_wins;
        self.draws += other.draws;
        self.black_wins += other.black_wins;
        self.white_elo.add(other.white_elo);
        self.black_elo.add(other.black_elo);
        self.first_year = [self.first_year, other.first_year].into_iter().flatten().min();
        self.last_year = self.last_year.max(other.last_year);
    }

    /// The number of games with a result.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.white_wins as u64 + self.draws as u64 + self.black_wins as u64
    }

    /// The mean rating of one side, rounded; `None` if no rating is known.
    #[must_use]
    pub const fn mean_elo(&self, side: Color) -> Option<u64> {
        match side {
            Color::White => self.white_elo.mean(),
            Color::Black => self.black_elo.mean(),
        }
    }
}

/// One row of `level_position`. The lists of games are JSON arrays.
#[derive(Clone, Copy, Debug)]
pub struct VisitedPositionRow {
    /// The level.
    pub level: Level,
    /// The position's key.
    pub key: PositionKey,
    /// The position's canonical FEN.
    pub fen: Text,
    /// The results of the games that reached the position.
    pub counts: ResultCounts,
    /// The number of games that reached the position and have no result. `counts` does not include them.
    pub unfinished: u32,
    /// The best-rated games' ids, best first.
    pub top_games: Text,
    /// The latest games' ids, latest first.
    pub recent_games: Text,
}

columns! {
    VisitedPositionRow: VisitedPositionRow in "level_position",
    |row| {
        "level" => row.level.0,
        "key" => row.key,
        "fen" => row.fen,
        "games" => row.counts.games(),
        "white_wins" => row.counts.white_wins,
        "draws" => row.counts.draws,
        "black_wins" => row.counts.black_wins,
        "unfinished" => row.unfinished,
        "white_elo_sum" => row.counts.white_elo.sum,
        "white_elo_games" => row.counts.white_elo.games,
        "black_elo_sum" => row.counts.black_elo.sum,
        "black_elo_games" => row.counts.black_elo.games,
        "top_games" => row.top_games,
        "recent_games" => row.recent_games,
    }
}

/// One row of `level_continuation`.
#[derive(Clone, Copy, Debug)]
pub struct ContinuationRow {
    /// The level.
    pub level: Level,
    /// The position's key.
    pub key: PositionKey,
    /// The move.
    pub move_code: MoveCode,
    /// The results of the games whose last move from this position was this move.
    pub counts: ResultCounts,
}

columns! {
    ContinuationRow: ContinuationRow in "level_continuation",
    |row| {
        "level" => row.level.0,
        "key" => row.key,
        "move_code" => row.move_code,
        "games" => row.counts.games(),
        "white_wins" => row.counts.white_wins,
        "draws" => row.counts.draws,
        "black_wins" => row.counts.black_wins,
        "white_elo_sum" => row.counts.white_elo.sum,
        "white_elo_games" => row.counts.white_elo.games,
        "black_elo_sum" => row.counts.black_elo.sum,
        "black_elo_games" => row.counts.black_elo.games,
        "first_year" => row.counts.first_year,
        "last_year" => row.counts.last_year,
    }
}

/// Rows of `level_position` and `level_continuation`, in key order.
#[derive(Debug, Default)]
pub struct VisitedPositionBatch {
    /// Rows of `level_position`.
    pub positions: Vec<VisitedPositionRow>,
    /// Rows of `level_continuation`.
    pub continuations: Vec<ContinuationRow>,
    /// All texts, concatenated.
    pub text: String,
}

batch! {
    VisitedPositionBatch {
        VisitedPositionRow: positions,
        ContinuationRow: continuations,
    }
}

impl VisitedPositionBatch {
    /// Clears the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.continuations.clear();
        self.text.clear();
    }
}
