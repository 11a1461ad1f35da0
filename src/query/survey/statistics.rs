//! Statistics of the games of a selection.

use serde::Serialize;

use crate::store::{self, Database, GameCharts, Outcomes, Selection};

/// Number of games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameCounts {
    /// Number of all games.
    pub games: u64,
    /// Number of games won by White.
    pub white: u64,
    /// Number of drawn games.
    pub draws: u64,
    /// Number of games won by Black.
    pub black: u64,
    /// Number of games without a result.
    pub unfinished: u64,
}

impl From<Outcomes> for GameCounts {
    fn from(outcomes: Outcomes) -> Self {
        let Outcomes { white_wins: white, draws, black_wins: black, unfinished } = outcomes;
        Self { games: white + draws + black + unfinished, white, draws, black, unfinished }
    }
}

/// Games by result, year, rating and length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// All games.
    #[serde(flatten)]
    pub all: GameCounts,
    /// Games by year, in ascending order.
    pub years: Vec<YearCount>,
    /// Games without a known year.
    pub undated: GameCounts,
    /// Width of each step of `ratings`, in rating points.
    pub rating_step: u16,
    /// Games by the mean rating of both players, in ascending order. Steps without games are omitted.
    pub ratings: Vec<RatingCount>,
    /// Games in which a player's rating is unknown.
    pub unrated: GameCounts,
    /// Width of each step of `lengths`, in half-moves.
    pub length_step: u32,
    /// Games by length, the shortest first. Steps without games are omitted.
    pub lengths: Vec<LengthCount>,
}

/// The games of one year, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct YearCount {
    /// The year.
    pub year: u16,
    /// Its games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The games of one step of mean ratings, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingCount {
    /// Lowest mean rating of the step.
    pub rating: u16,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The games of one step of lengths, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// Lowest number of half-moves of the step.
    pub plies: u32,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

impl Statistics {
    /// Counts the games of a selection.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, selection: &Selection) -> store::Result<Self> {
        let GameCharts { all, years, undated, ratings, unrated, lengths } =
            database.game_charts(selection)?;
        let years = years.into_iter().map(|(year, found)| YearCount { year, counted: found.into() });
        let ratings =
            ratings.into_iter().map(|(rating, found)| RatingCount { rating, counted: found.into() });
        let lengths = lengths.into_iter().map(|(plies, found)| LengthCount { plies, counted: found.into() });
        Ok(Self {
            all: all.into(),
            years: years.collect(),
            undated: undated.into(),
            rating_step: GameCharts::RATING_STEP,
            ratings: ratings.collect(),
            unrated: unrated.into(),
            length_step: GameCharts::LENGTH_STEP,
            lengths: lengths.collect(),
        })
    }
}
