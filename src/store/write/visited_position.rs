//! Updates `visited_position` and `continuation` when games are added or removed.

use rusqlite::params;

use crate::board::{MoveCode, PositionKey};
use crate::store::error::Result;
use crate::store::read::occurrence::visit::{
    VisitedPositionLists, VisitedRows, has_occurrences, visited_lists, visits,
};
use crate::store::row::{ResultCounts, VisitedPositionBatch};
use crate::store::write::bulk::BulkLoader;

/// SQL that adds the [`numbers`], which are the parameters `?2` to `?8`, to the counts of a row.
macro_rules! add_counts {
    () => {
        "games = games + ?2 + ?3 + ?4, white_wins = white_wins + ?2, draws = draws + ?3, black_wins = black_wins + ?4,
         white_elo_sum = white_elo_sum + ?5, white_elo_games = white_elo_games + ?6,
         black_elo_sum = black_elo_sum + ?7, black_elo_games = black_elo_games + ?8"
    };
}

/// The counts of results, and the sum and the number of ratings of each side, in the order of the columns.
fn numbers(counts: &ResultCounts) -> [i64; 7] {
    let ResultCounts { white_wins, draws, black_wins, white_elo, black_elo, .. } = *counts;
    let [white_sum, black_sum] = [white_elo.sum, black_elo.sum].map(u64::cast_signed);
    let [wins, draws, losses] = [white_wins, draws, black_wins].map(i64::from);
    [wins, draws, losses, white_sum, white_elo.games.into(), black_sum, black_elo.games.into()]
}

impl BulkLoader<'_> {
    /// Whether `position_game` has at least `count` rows of a key. `count` must be at least 1.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_occurrences(&self, key: PositionKey, count: u32) -> Result<bool> {
        self.run("read table position_game", |connection| has_occurrences(connection, key, count))
    }

    /// Adds the counts of the batch to the counts of existing rows. Replaces a list of games unless the new
    /// list is an empty text. Inserts missing continuations.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`](crate::store::Error::DiskFull).
    pub fn add_to_visited(&self, batch: &VisitedPositionBatch) -> Result<()> {
        for row in &batch.positions {
            let [wins, draws, losses, w_sum, w_rated, b_sum, b_rated] = numbers(&row.counts);
            let (top, recent) = (row.top_games.of(&batch.text), row.recent_games.of(&batch.text));
            let (key, unfinished) = (row.key.as_i64(), row.unfinished);
            self.execute(
                "write table visited_position",
                concat!(
                    "UPDATE visited_position SET ",
                    add_counts!(),
                    ", unfinished = unfinished + ?9,
                     top_games = iif(?10 = '', top_games, ?10), recent_games = iif(?11 = '', recent_games, ?11) WHERE key = ?1"
                ),
                params![key, wins, draws, losses, w_sum, w_rated, b_sum, b_rated, unfinished, top, recent],
            )?;
        }
        for row in &batch.continuations {
            let [wins, draws, losses, w_sum, w_rated, b_sum, b_rated] = numbers(&row.counts);
            let ResultCounts { first_year: first, last_year: last, .. } = row.counts;
            let (key, code) = (row.key.as_i64(), row.move_code.bits());
            self.execute(
                "write table continuation",
                concat!(
                    "INSERT INTO continuation (key, move_code, games, white_wins, draws, black_wins,
                     white_elo_sum, white_elo_games, black_elo_sum, black_elo_games, first_year, last_year)
                     VALUES (?1, ?9, ?2 + ?3 + ?4, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?11)
                     ON CONFLICT DO UPDATE SET ",
                    add_counts!(),
                    ", first_year = min(ifnull(first_year, ?10), ifnull(?10, first_year)),
                     last_year = max(ifnull(last_year, ?11), ifnull(?11, last_year))"
                ),
                params![key, wins, draws, losses, w_sum, w_rated, b_sum, b_rated, code, first, last],
            )?;
        }
        Ok(())
    }

    /// Subtracts the counts of games from a row of `visited_position`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn decrease_visited(
        &self,
        key: PositionKey,
        counts: &ResultCounts,
        unfinished: u32,
    ) -> Result<()> {
        let [wins, draws, losses, w_sum, w_rated, b_sum, b_rated] = numbers(counts).map(|number| -number);
        let sql = concat!(
            "UPDATE visited_position SET ",
            add_counts!(),
            ", unfinished = unfinished - ?9 WHERE key = ?1"
        );
        let params = params![key.as_i64(), wins, draws, losses, w_sum, w_rated, b_sum, b_rated, unfinished];
        self.execute("write table visited_position", sql, params)
    }

    /// Subtracts the counts of games from a row of `continuation`, and removes the row if no games remain.
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
        let [wins, draws, losses, w_sum, w_rated, b_sum, b_rated] = numbers(counts).map(|number| -number);
        let (key, code) = (key.as_i64(), code.bits());
        let sql = concat!("UPDATE continuation SET ", add_counts!(), " WHERE key = ?1 AND move_code = ?9");
        self.execute(ACTION, sql, params![key, wins, draws, losses, w_sum, w_rated, b_sum, b_rated, code])?;
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

    /// Sets the lists of the best-rated and the latest games in a row of `visited_position`. Both lists are
    /// JSON arrays.
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
        self.run("read table visited_position", |connection| visited_lists(connection, key))
    }

    fn visits(&self, key: PositionKey, block: u32) -> Result<Option<Vec<u8>>> {
        self.run("read table visit_set", |connection| visits(connection, key, block))
    }
}
