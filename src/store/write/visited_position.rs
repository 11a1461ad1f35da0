//! Updates `visited_position` and `continuation` when games are added or removed.

use rusqlite::params;

use crate::board::{MoveCode, PositionKey};
use crate::store::error::Result;
use crate::store::read::occurrence::visit::{
    VisitedPositionLists, VisitedRows, has_occurrences, visited_lists, visits,
};
use crate::store::row::{ResultCounts, VisitedPositionBatch};
use crate::store::write::bulk::BulkLoader;

impl BulkLoader<'_> {
    /// Whether `position_game` has at least `count` rows of a key. `count` must be at least 1.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_occurrences(&self, key: PositionKey, count: u32) -> Result<bool> {
        has_occurrences(self.connection(), key, count)
            .map_err(|source| self.failed("read table position_game", source))
    }

    /// Adds the batch's counts to the counts of existing rows, and replaces their lists of games, unless a
    /// new list is an empty text. Creates missing continuations.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`](crate::store::Error::DiskFull).
    pub fn add_to_visited(&self, batch: &VisitedPositionBatch) -> Result<()> {
        for row in &batch.positions {
            let ResultCounts { white_wins, draws, black_wins, white_elo, black_elo, .. } = row.counts;
            self.execute(
                "write table visited_position",
                "UPDATE visited_position SET games = games + ?2 + ?3 + ?4, white_wins = white_wins + ?2,
                 draws = draws + ?3, black_wins = black_wins + ?4, unfinished = unfinished + ?5,
                 white_elo_sum = white_elo_sum + ?6, white_elo_games = white_elo_games + ?7,
                 black_elo_sum = black_elo_sum + ?8, black_elo_games = black_elo_games + ?9,
                 top_games = iif(?10 = '', top_games, ?10), recent_games = iif(?11 = '', recent_games, ?11)
                 WHERE key = ?1",
                params![
                    row.key.as_i64(),
                    white_wins,
                    draws,
                    black_wins,
                    row.unfinished,
                    white_elo.sum.cast_signed(),
                    white_elo.games,
                    black_elo.sum.cast_signed(),
                    black_elo.games,
                    row.top_games.of(&batch.text),
                    row.recent_games.of(&batch.text),
                ],
            )?;
        }
        for row in &batch.continuations {
            let ResultCounts { white_wins, draws, black_wins, white_elo, black_elo, first_year, last_year } =
                row.counts;
            self.execute(
                "write table continuation",
                "INSERT INTO continuation (key, move_code, games, white_wins, draws, black_wins,
                     white_elo_sum, white_elo_games, black_elo_sum, black_elo_games, first_year, last_year)
                 VALUES (?1, ?2, ?3 + ?4 + ?5, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT DO UPDATE SET games = games + excluded.games,
                 white_wins = white_wins + excluded.white_wins, draws = draws + excluded.draws,
                 black_wins = black_wins + excluded.black_wins,
                 white_elo_sum = white_elo_sum + excluded.white_elo_sum,
                 white_elo_games = white_elo_games + excluded.white_elo_games,
                 black_elo_sum = black_elo_sum + excluded.black_elo_sum,
                 black_elo_games = black_elo_games + excluded.black_elo_games,
                 first_year = min(ifnull(first_year, excluded.first_year), ifnull(excluded.first_year, first_year)),
                 last_year = max(ifnull(last_year, excluded.last_year), ifnull(excluded.last_year, last_year))",
                params![
                    row.key.as_i64(),
                    row.move_code.bits(),
                    white_wins,
                    draws,
                    black_wins,
                    white_elo.sum.cast_signed(),
                    white_elo.games,
                    black_elo.sum.cast_signed(),
                    black_elo.games,
                    first_year,
                    last_year,
                ],
            )?;
        }
        Ok(())
    }

    /// Subtracts games from the counts of a row.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn decrease_visited(
        &self,
        key: PositionKey,
        counts: &ResultCounts,
        unfinished: u32,
    ) -> Result<()> {
        let ResultCounts { white_wins, draws, black_wins, white_elo, black_elo, .. } = *counts;
        let sql = "UPDATE visited_position SET games = games - ?2 - ?3 - ?4, white_wins = white_wins - ?2,
             draws = draws - ?3, black_wins = black_wins - ?4, unfinished = unfinished - ?5,
             white_elo_sum = white_elo_sum - ?6, white_elo_games = white_elo_games - ?7,
             black_elo_sum = black_elo_sum - ?8, black_elo_games = black_elo_games - ?9 WHERE key = ?1";
        let params = params![
            key.as_i64(),
            white_wins,
            draws,
            black_wins,
            unfinished,
            white_elo.sum.cast_signed(),
            white_elo.games,
            black_elo.sum.cast_signed(),
            black_elo.games,
        ];
        self.execute("write table visited_position", sql, params)
    }

    /// Subtracts games from the counts of a continuation, and removes the continuation if no games remain.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn decrease_continuation(
        &self,
        key: PositionKey,
        code: MoveCode,
        counts: &ResultCounts,
    ) -> Result<()> {
        const ACTION: &str = "write table continuation";
        let ResultCounts { white_wins, draws, black_wins, white_elo, black_elo, .. } = *counts;
        let sql = "UPDATE continuation SET games = games - ?3 - ?4 - ?5, white_wins = white_wins - ?3,
             draws = draws - ?4, black_wins = black_wins - ?5,
             white_elo_sum = white_elo_sum - ?6, white_elo_games = white_elo_games - ?7,
             black_elo_sum = black_elo_sum - ?8, black_elo_games = black_elo_games - ?9
             WHERE key = ?1 AND move_code = ?2";
        let (key, code) = (key.as_i64(), code.bits());
        let params = params![
            key,
            code,
            white_wins,
            draws,
            black_wins,
            white_elo.sum.cast_signed(),
            white_elo.games,
            black_elo.sum.cast_signed(),
            black_elo.games,
        ];
        self.execute(ACTION, sql, params)?;
        let sql = "DELETE FROM continuation WHERE key = ?1 AND move_code = ?2 AND games <= 0";
        self.execute(ACTION, sql, params![key, code])
    }

    /// Sets the first and the last year of a continuation.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn set_years(
        &self,
        key: PositionKey,
        code: MoveCode,
        first_year: Option<u16>,
        last_year: Option<u16>,
    ) -> Result<()> {
        let sql = "UPDATE continuation SET first_year = ?3, last_year = ?4 WHERE key = ?1 AND move_code = ?2";
        let params = params![key.as_i64(), code.bits(), first_year, last_year];
        self.execute("write table continuation", sql, params)
    }

    /// Sets the best-rated and the latest games of a row, as JSON arrays.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn set_listed_games(&self, key: PositionKey, top: &str, recent: &str) -> Result<()> {
        let sql = "UPDATE visited_position SET top_games = ?2, recent_games = ?3 WHERE key = ?1";
        self.execute("write table visited_position", sql, params![key.as_i64(), top, recent])
    }

    /// Removes a row of `visited_position`, its continuations, and its sets of games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn remove_visited(&self, key: PositionKey) -> Result<()> {
        let action = "write table visited_position";
        self.remove_visit_sets(key)?;
        self.execute(action, "DELETE FROM continuation WHERE key = ?1", [key.as_i64()])?;
        self.execute(action, "DELETE FROM visited_position WHERE key = ?1", [key.as_i64()])
    }
}

impl VisitedRows for BulkLoader<'_> {
    fn lists(&self, key: PositionKey) -> Result<Option<VisitedPositionLists>> {
        visited_lists(self.connection(), key)
            .map_err(|source| self.failed("read table visited_position", source))
    }

    fn visits(&self, key: PositionKey, block: u32) -> Result<Option<Vec<u8>>> {
        visits(self.connection(), key, block).map_err(|source| self.failed("read table visit_set", source))
    }
}
