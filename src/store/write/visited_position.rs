//! Corrects `level_position`, `level_continuation` and `visit_set` when games are removed. Also writes new
//! rows of `visit_set`.

use rusqlite::params;

use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Level};
use crate::store::block_set::block_of;
use crate::store::error::Result;
use crate::store::read::occurrence::visit::LevelGames;
use crate::store::row::ResultCounts;
use crate::store::write::bulk::BulkLoader;

const ACTION: &str = "correct the visited positions";

/// SQL that subtracts the parameters `?3` to `?9` from the counts of a row.
macro_rules! subtract_counts {
    () => {
        "games = games - ?3 - ?4 - ?5, white_wins = white_wins - ?3, draws = draws - ?4, black_wins = black_wins - ?5,
         white_elo_sum = white_elo_sum - ?6, white_elo_games = white_elo_games - ?7,
         black_elo_sum = black_elo_sum - ?8, black_elo_games = black_elo_games - ?9"
    };
}

/// Errors of all methods: errors of SQLite.
impl BulkLoader<'_> {
    /// Subtracts the counts of games from a row of `level_position`.
    pub(crate) fn decrease_visited(
        &self,
        row: (Level, PositionKey),
        counts: &ResultCounts,
        unfinished: u32,
    ) -> Result<()> {
        let sql = concat!(
            "UPDATE level_position SET ",
            subtract_counts!(),
            ", unfinished = unfinished - ?10 WHERE level = ?1 AND key = ?2"
        );
        self.subtract(sql, row, counts, unfinished)
    }

    /// Subtracts the counts of games from a row of `level_continuation`, and removes the row if no games
    /// remain.
    pub(crate) fn decrease_continuation(
        &self,
        row: (Level, PositionKey),
        code: MoveCode,
        counts: &ResultCounts,
    ) -> Result<()> {
        let sql = concat!(
            "UPDATE level_continuation SET ",
            subtract_counts!(),
            " WHERE level = ?1 AND key = ?2 AND move_code = ?10"
        );
        self.subtract(sql, row, counts, code.bits())?;
        let sql =
            "DELETE FROM level_continuation WHERE level = ?1 AND key = ?2 AND move_code = ?3 AND games <= 0";
        self.execute(ACTION, sql, params![row.0.0, row.1.as_i64(), code.bits()])
    }

    /// Runs a statement with [`subtract_counts`]. `last` is its parameter `?10`.
    fn subtract(
        &self,
        sql: &str,
        (level, key): (Level, PositionKey),
        counts: &ResultCounts,
        last: u32,
    ) -> Result<()> {
        let ResultCounts { white_wins, draws, black_wins, white_elo: white, black_elo: black, .. } = *counts;
        let [white_sum, black_sum] = [white.sum, black.sum].map(u64::cast_signed);
        let (level, key, wins, losses) = (level.0, key.as_i64(), white_wins, black_wins);
        let params =
            params![level, key, wins, draws, losses, white_sum, white.games, black_sum, black.games, last];
        self.execute(ACTION, sql, params)
    }

    /// Sets the first and the last year of a continuation.
    pub(crate) fn set_years(
        &self,
        (level, key): (Level, PositionKey),
        code: MoveCode,
        years: &ResultCounts,
    ) -> Result<()> {
        let sql = "UPDATE level_continuation SET first_year = ?4, last_year = ?5
                   WHERE level = ?1 AND key = ?2 AND move_code = ?3";
        let params = params![level.0, key.as_i64(), code.bits(), years.first_year, years.last_year];
        self.execute(ACTION, sql, params)
    }

    /// Sets the lists of the best-rated and the latest games in a row of `level_position`. Both lists are JSON
    /// arrays.
    pub(crate) fn set_listed_games(
        &self,
        (level, key): (Level, PositionKey),
        top: &str,
        recent: &str,
    ) -> Result<()> {
        let sql = "UPDATE level_position SET top_games = ?3, recent_games = ?4 WHERE level = ?1 AND key = ?2";
        self.execute(ACTION, sql, params![level.0, key.as_i64(), top, recent])
    }

    /// Removes a row of `level_position`, its continuations, and its sets of games.
    pub(crate) fn remove_visited(
        &self,
        LevelGames { level, last }: LevelGames,
        key: PositionKey,
    ) -> Result<()> {
        for table in ["level_continuation", "level_position"] {
            let sql = format!("DELETE FROM {table} WHERE level = ?1 AND key = ?2");
            self.execute(ACTION, &sql, [level.0.into(), key.as_i64()])?;
        }
        let sql = "DELETE FROM visit_set WHERE level = ?1 AND block = ?2 AND key = ?3";
        let mut blocks = block_of(GameId(level.0)).0..=block_of(last).0;
        blocks.try_for_each(|block| self.execute(ACTION, sql, params![level.0, block, key.as_i64()]))
    }

    /// Stores which games of a block and level reached a visited position. `games` is in stored form.
    pub(crate) fn put_visits(
        &self,
        (level, key): (Level, PositionKey),
        block: u32,
        games: &[u8],
    ) -> Result<()> {
        let sql = "INSERT INTO visit_set (level, block, key, games) VALUES (?1, ?2, ?3, ?4)";
        self.execute("write table visit_set", sql, params![level.0, block, key.as_i64(), games])
    }
}
