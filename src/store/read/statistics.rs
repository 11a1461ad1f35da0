//! Statistics of the games of a database or of a selection: by result, year, rating, length and opening.

use serde::Serialize;

use crate::board::GameResult;
use crate::sorted::SortedMap;
use crate::store::cell::{Cells, GAME, OPENING, Table};
use crate::store::row::{GameId, GameStatus, year_of_date};
use crate::store::{Database, Result, Selection};

/// Statistics of all games of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameStatistics {
    /// All games, by result.
    pub counts: GameCounts,
    /// Games of which only the moves before an error in the PGN are stored.
    pub truncated: u64,
    /// Games that were not replayed, because of their variant or an invalid start position.
    pub skipped: u64,
    /// The longest game (the first one, if there are several), with its number of plies.
    pub longest: Option<(GameId, u32)>,
    /// Games by year.
    pub years: SortedMap<u16, u64>,
    /// Games with an unknown year.
    pub undated: u64,
    /// The number of known ratings, at most two per game, in each range of the width
    /// [`RATING_STEP`](GameCharts::RATING_STEP). The key is the lowest rating of a range.
    pub ratings: SortedMap<u16, u64>,
    /// The number of unknown ratings, at most two per game.
    pub unrated: u64,
}

/// An opening, and the number of games that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningCount {
    /// ECO code, such as `B90`.
    pub eco: String,
    /// Name of the opening; `null` if no game has a named opening. In that case, games are counted by the
    /// PGN's ECO code.
    pub name: Option<String>,
    /// Number of games.
    pub games: u64,
}

/// The size of a table or an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TreeSize {
    /// Name of the table or index.
    pub name: String,
    /// Name of the table that an index belongs to; for a table, its own name.
    pub table: String,
    /// Number of database pages.
    pub pages: u64,
    /// Size of these pages, in bytes.
    pub bytes: u64,
}

impl GameStatistics {
    fn add(&mut self, cells: Cells<'_>) -> rusqlite::Result<()> {
        self.counts.count(cells.get(1)?);
        match cells.get(2)? {
            GameStatus::Truncated => self.truncated += 1,
            GameStatus::Skipped => self.skipped += 1,
            GameStatus::Ok => {}
        }
        let plies = cells.get(3)?;
        if self.longest.is_none_or(|(_, most)| most < plies) {
            self.longest = Some((cells.get(0)?, plies));
        }
        match year_of_date(cells.get(4)?) {
            Some(year) => *self.years.entry(year) += 1,
            None => self.undated += 1,
        }
        for column in [5, 6] {
            match cells.get::<Option<u16>>(column)? {
                Some(elo) => *self.ratings.entry(elo - elo % GameCharts::RATING_STEP) += 1,
                None => self.unrated += 1,
            }
        }
        Ok(())
    }
}

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
    /// By the players' mean rating, in ranges of the width [`RATING_STEP`](Self::RATING_STEP). The key is the
    /// lowest rating of a range.
    pub ratings: SortedMap<u16, GameCounts>,
    /// Games in which at least one rating is unknown.
    pub unrated: GameCounts,
    /// By the number of half-moves, in ranges of the width [`LENGTH_STEP`](Self::LENGTH_STEP). The key is the
    /// lowest number of a range.
    pub lengths: SortedMap<u32, GameCounts>,
}

/// An opening, and the results of the games of a selection that have this opening.
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
    /// The width of a range of ratings.
    pub const RATING_STEP: u16 = 100;
    /// The width of a range of lengths, in half-moves.
    pub const LENGTH_STEP: u32 = 10;

    fn add(&mut self, cells: Cells<'_>) -> rusqlite::Result<()> {
        let result = cells.get(1)?;
        self.all.count(result);
        let year = year_of_date(cells.get(2)?);
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
    /// Computes the statistics. Reads the table `game` once, which takes a few hundred nanoseconds per game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_statistics(&self) -> Result<GameStatistics> {
        let sql = "SELECT game_id, result, status, ply_count, date, white_elo, black_elo FROM game ORDER BY game_id";
        let mut statistics = GameStatistics::default();
        let read = GAME.each(self.connection(), sql, [], |cells| statistics.add(cells));
        read.map_err(self.failed("count the games"))?;
        Ok(statistics)
    }

    /// Counts the games of a selection. Reads the row of each game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_charts(&self, selection: &Selection) -> Result<GameCharts> {
        let sql = format!(
            "SELECT game_id, result, date, white_elo, black_elo, ply_count FROM game WHERE true{}",
            selection.sql()
        );
        let mut charts = GameCharts::default();
        let read = selection.each(self.connection(), GAME, &sql, &[], |cells| charts.add(cells));
        read.map_err(self.failed("count the games"))?;
        Ok(charts)
    }

    /// The openings of a selection's games, determined by the games' positions. Openings with the most games
    /// come first; openings with equally many games are ordered by code and name.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn played_openings(&self, selection: &Selection) -> Result<Vec<PlayedOpening>> {
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
        let mut openings = Vec::new();
        let read = selection.each(self.connection(), OPENING, &sql, &[], |cells| {
            let [white, draws, black, unfinished]: [u64; 4] = [
                cells.get("white_wins")?,
                cells.get("draws")?,
                cells.get("black_wins")?,
                cells.get("unfinished")?,
            ];
            let counted =
                GameCounts { games: white + draws + black + unfinished, white, draws, black, unfinished };
            openings.push(PlayedOpening { eco: cells.get("eco")?, name: cells.get("name")?, counted });
            Ok(())
        });
        read.map_err(self.failed("count the openings"))?;
        Ok(openings)
    }

    /// The most frequent openings, most games first. Games are grouped by the code and the name of their opening.
    /// If no game has a named opening, they are grouped by the PGN's ECO code.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn frequent_openings(&self, limit: u32) -> Result<Vec<OpeningCount>> {
        // Counts with the index alone first, then looks up the names.
        let named = "SELECT eco, name, sum(positions.games) AS games
             FROM (SELECT opening_id, count(*) AS games FROM game WHERE opening_id IS NOT NULL GROUP BY opening_id) AS positions
             JOIN opening USING (opening_id) GROUP BY eco, name ORDER BY games DESC, eco, name LIMIT ?1";
        let by_code = "SELECT eco, NULL AS name, count(*) AS games FROM game WHERE eco IS NOT NULL
             GROUP BY eco ORDER BY games DESC, eco LIMIT ?1";
        let mut openings = Vec::new();
        for sql in [named, by_code] {
            if openings.is_empty() {
                openings = self.all("count the openings", OPENING, sql, [limit], |cells| {
                    let (eco, name) = (cells.get("eco")?, cells.get("name")?);
                    Ok(OpeningCount { eco, name, games: cells.get("games")? })
                })?;
            }
        }
        Ok(openings)
    }

    /// The sizes of all tables and indexes, largest first. Reads the whole file.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn tree_sizes(&self) -> Result<Vec<TreeSize>> {
        // In aggregate mode, `pageno` is the number of pages.
        self.all(
            "measure the tables",
            Table::new("dbstat", &["name"]),
            "SELECT s.name, ifnull(o.tbl_name, s.name) AS table_name, s.pageno AS pages, page_size AS page_bytes
             FROM dbstat AS s JOIN pragma_page_size
             LEFT JOIN sqlite_schema AS o ON o.name = s.name
             WHERE s.aggregate = TRUE ORDER BY pages DESC, s.name",
            [],
            |cells| {
                let (pages, page_bytes): (u64, u64) = (cells.get("pages")?, cells.get("page_bytes")?);
                let (name, table) = (cells.get("name")?, cells.get("table_name")?);
                Ok(TreeSize { name, table, pages, bytes: pages.saturating_mul(page_bytes) })
            },
        )
    }
}
