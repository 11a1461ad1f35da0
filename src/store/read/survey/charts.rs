//! Counts the games of a selection by year, rating, length and opening.

use rusqlite::Row;
use serde::Serialize;

use crate::board::GameResult;
use crate::sorted::SortedMap;
use crate::store::cell::{Cells, GAME, OPENING};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::selection::Selection;

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

impl GameCounts {
    fn count(&mut self, result: GameResult) {
        self.games += 1;
        match result {
            GameResult::White => self.white += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Black => self.black += 1,
            GameResult::Unknown => self.unfinished += 1,
        }
    }
}

/// Counts of the games of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameCharts {
    /// All games.
    pub all: GameCounts,
    /// By year.
    pub years: SortedMap<u16, GameCounts>,
    /// Games with an unknown year.
    pub undated: GameCounts,
    /// By the players' mean rating, in steps of [`RATING_STEP`](Self::RATING_STEP). The key is the lowest rating of
    /// a step.
    pub ratings: SortedMap<u16, GameCounts>,
    /// Games in which at least one rating is unknown.
    pub unrated: GameCounts,
    /// By the number of half-moves, in steps of [`LENGTH_STEP`](Self::LENGTH_STEP). The key is the lowest
    /// number of a step.
    pub lengths: SortedMap<u32, GameCounts>,
}

/// An opening, with the games of a selection that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedOpening {
    /// ECO code; `None` for games without a named opening.
    pub eco: Option<String>,
    /// Name; `None` for games without a named opening.
    pub name: Option<String>,
    /// The results of the games with this opening.
    pub counted: GameCounts,
}

impl GameCharts {
    /// The width of a rating step.
    pub const RATING_STEP: u16 = 100;
    /// The width of a length step, in half-moves.
    pub const LENGTH_STEP: u32 = 10;

    fn add(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let cells = Cells::new(row, GAME);
        let result = cells.get(1)?;
        self.all.count(result);
        let date: Option<&str> = cells.get(2)?;
        let year = date.and_then(|date| date.get(..4)).and_then(|year| year.parse().ok());
        year.map_or(&mut self.undated, |year| self.years.entry(year)).count(result);
        let ratings = cells.get::<Option<u16>>(3)?.zip(cells.get::<Option<u16>>(4)?);
        let mean = ratings.map(|(white, black)| white.midpoint(black));
        let step = mean.map(|mean| mean - mean % Self::RATING_STEP);
        step.map_or(&mut self.unrated, |step| self.ratings.entry(step)).count(result);
        let plies: u32 = cells.get(5)?;
        self.lengths.entry(plies - plies % Self::LENGTH_STEP).count(result);
        Ok(())
    }
}

impl Database {
    /// Counts the games of a selection. Reads the row of each game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_charts(&self, selection: &Selection) -> Result<GameCharts> {
        let count = || {
            let sql = format!(
                "SELECT game_id, result, date, white_elo, black_elo, ply_count FROM game WHERE true{}",
                selection.sql()
            );
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            let mut rows = statement.raw_query();
            let mut charts = GameCharts::default();
            while let Some(row) = rows.next()? {
                charts.add(row)?;
            }
            Ok(charts)
        };
        count().map_err(|source| Error::sqlite(self.path(), "count the games", source))
    }

    /// The openings of a selection's games, found by positions. Openings with the most games come first;
    /// openings with equally many games are ordered by code and name.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn played_openings(&self, selection: &Selection) -> Result<Vec<PlayedOpening>> {
        let count = || {
            let sql = format!(
                "SELECT eco, name, sum(white_wins) AS white_wins, sum(draws) AS draws, sum(black_wins) AS black_wins,
                     sum(unfinished) AS unfinished FROM (
                     SELECT game.opening_id AS opening_id, count(*) AS games, sum(game.result = '1-0') AS white_wins,
                         sum(game.result = '1/2-1/2') AS draws, sum(game.result = '0-1') AS black_wins,
                         sum(game.result = '*') AS unfinished
                     FROM game WHERE true{} GROUP BY game.opening_id)
                 LEFT JOIN opening USING (opening_id) GROUP BY eco, name ORDER BY sum(games) DESC, eco, name",
                selection.sql()
            );
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            let mut rows = statement.raw_query();
            let mut openings = Vec::new();
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, OPENING);
                let [white, draws, black, unfinished]: [u64; 4] = [
                    cells.get("white_wins")?,
                    cells.get("draws")?,
                    cells.get("black_wins")?,
                    cells.get("unfinished")?,
                ];
                let games = white + draws + black + unfinished;
                openings.push(PlayedOpening {
                    eco: cells.get("eco")?,
                    name: cells.get("name")?,
                    counted: GameCounts { games, white, draws, black, unfinished },
                });
            }
            Ok(openings)
        };
        count().map_err(|source| Error::sqlite(self.path(), "count the openings", source))
    }
}
