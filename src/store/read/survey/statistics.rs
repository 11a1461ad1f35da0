//! Statistics of the games of a database.

use rusqlite::Row;
use serde::Serialize;

use crate::board::GameResult;
use crate::sorted::SortedMap;
use crate::store::cell::{Cells, GAME, OPENING, Table};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::row::{GameId, GameStatus};

/// Statistics of the games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameStatistics {
    /// Games.
    pub games: u64,
    /// Games won by White.
    pub white_wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won by Black.
    pub black_wins: u64,
    /// Games with the result `*`.
    pub unfinished: u64,
    /// Games that contain only the moves before an illegal or unreadable one.
    pub truncated: u64,
    /// Games that were not replayed, because of their variant or an invalid start position.
    pub skipped: u64,
    /// The first of the longest games, with its number of plies.
    pub longest: Option<(GameId, u32)>,
    /// Games by year.
    pub years: SortedMap<u16, u64>,
    /// Games with an unknown year.
    pub undated: u64,
    /// The number of ratings, at most two per game, in steps of [`RATING_STEP`](Self::RATING_STEP). The key
    /// is the lowest rating of a step.
    pub ratings: SortedMap<u16, u64>,
    /// The number of unknown ratings, at most two per game.
    pub unrated: u64,
}

/// The number of games with an opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningCount {
    /// ECO code, such as `B90`.
    pub eco: String,
    /// Name of the opening; `null` if no game has a named opening, so that games are counted by the PGN's ECO
    /// code.
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
    /// The width of a rating step.
    pub const RATING_STEP: u16 = 100;

    fn add(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.games += 1;
        let cells = Cells::new(row, GAME);
        match cells.get(1)? {
            GameResult::White => self.white_wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Black => self.black_wins += 1,
            GameResult::Unknown => self.unfinished += 1,
        }
        match cells.get(2)? {
            GameStatus::Truncated => self.truncated += 1,
            GameStatus::Skipped => self.skipped += 1,
            GameStatus::Ok => {}
        }
        let plies = cells.get(3)?;
        if self.longest.is_none_or(|(_, most)| most < plies) {
            self.longest = Some((GameId(cells.get(0)?), plies));
        }
        let date: Option<&str> = cells.get(4)?;
        match date.and_then(|date| date.get(..4)).and_then(|year| year.parse().ok()) {
            Some(year) => *self.years.entry(year) += 1,
            None => self.undated += 1,
        }
        for column in [5, 6] {
            match cells.get::<Option<u16>>(column)? {
                Some(elo) => *self.ratings.entry(elo - elo % Self::RATING_STEP) += 1,
                None => self.unrated += 1,
            }
        }
        Ok(())
    }
}

impl Database {
    /// Computes the statistics. Reads the table `game` once, a few hundred nanoseconds per game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_statistics(&self) -> Result<GameStatistics> {
        let count = || {
            let sql = "SELECT game_id, result, status, ply_count, date, white_elo, black_elo FROM game ORDER BY game_id";
            let mut statement = self.connection().prepare(sql)?;
            let mut rows = statement.query([])?;
            let mut statistics = GameStatistics::default();
            while let Some(row) = rows.next()? {
                statistics.add(row)?;
            }
            Ok(statistics)
        };
        count().map_err(|source| Error::sqlite(self.path(), "count the games", source))
    }

    /// The most frequent openings, most games first. Games are grouped by the code and the name of their opening,
    /// or by the PGN's ECO code if no game has a named opening.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn frequent_openings(&self, limit: u32) -> Result<Vec<OpeningCount>> {
        let read = |row: &Row<'_>| {
            let cells = Cells::new(row, OPENING);
            let (eco, name) = (cells.get("eco")?, cells.get("name")?);
            Ok(OpeningCount { eco, name, games: cells.get("games")? })
        };
        // Counts with the index alone first, then looks up the names.
        let named = self.all(
            "count the openings",
            "SELECT eco, name, sum(positions.games) AS games
             FROM (SELECT opening_id, count(*) AS games FROM game WHERE opening_id IS NOT NULL GROUP BY opening_id) AS positions
             JOIN opening USING (opening_id) GROUP BY eco, name ORDER BY games DESC, eco, name LIMIT ?1",
            [limit],
            read,
        )?;
        if !named.is_empty() {
            return Ok(named);
        }
        self.all(
            "count the openings",
            "SELECT eco, NULL AS name, count(*) AS games FROM game WHERE eco IS NOT NULL
             GROUP BY eco ORDER BY games DESC, eco LIMIT ?1",
            [limit],
            read,
        )
    }

    /// The sizes of all tables and indexes, largest first. Reads the whole file.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn tree_sizes(&self) -> Result<Vec<TreeSize>> {
        // In aggregate mode, `pageno` is the number of pages.
        self.all(
            "measure the tables",
            "SELECT s.name, ifnull(o.tbl_name, s.name) AS table_name, s.pageno AS pages, page_size AS page_bytes
             FROM dbstat AS s JOIN pragma_page_size
             LEFT JOIN sqlite_schema AS o ON o.name = s.name
             WHERE s.aggregate = TRUE ORDER BY pages DESC, s.name",
            [],
            |row| {
                let cells = Cells::new(row, Table::new("dbstat", &["name"]));
                let (pages, page_bytes): (u64, u64) = (cells.get("pages")?, cells.get("page_bytes")?);
                let (name, table) = (cells.get("name")?, cells.get("table_name")?);
                Ok(TreeSize { name, table, pages, bytes: pages.saturating_mul(page_bytes) })
            },
        )
    }
}
