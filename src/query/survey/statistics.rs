//! Statistics of the games of a selection.

use serde::Serialize;

use crate::store::{self, Database, GameCharts, Outcomes, Selection};

/// Games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameCounts {
    /// All of them.
    pub games: u64,
    /// Games won by White.
    pub white: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won by Black.
    pub black: u64,
    /// Games without a result.
    pub unfinished: u64,
}

impl From<Outcomes> for GameCounts {
    fn from(outcomes: Outcomes) -> Self {
        let Outcomes { white_wins: white, draws, black_wins: black, unfinished } = outcomes;
        Self { games: white + draws + black + unfinished, white, draws, black, unfinished }
    }
}

/// The games of a selection in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// All of them.
    #[serde(flatten)]
    pub all: GameCounts,
    /// By year, the first one first.
    pub years: Vec<YearCount>,
    /// Those whose year is not known.
    pub undated: GameCounts,
    /// How many points of rating each of `ratings` covers.
    pub rating_step: u16,
    /// By the players' mean rating, the lowest first.
    pub ratings: Vec<RatingCount>,
    /// Those in which a rating is not known.
    pub unrated: GameCounts,
    /// How many half-moves each of `lengths` covers.
    pub length_step: u32,
    /// By how many half-moves they have, the shortest first.
    pub lengths: Vec<LengthCount>,
}

/// The games of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct YearCount {
    /// The year.
    pub year: u16,
    /// Its games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The games with a mean rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingCount {
    /// The lowest mean rating of these games.
    pub rating: u16,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The games with a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// The fewest half-moves of these games.
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
