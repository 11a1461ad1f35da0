//! Taking a game out of a database.

use rusqlite::Row;

use super::bulk::BulkLoader;
use super::error::Result;
use super::row::{GameId, SourceId};
use crate::board::PositionKey;

/// All readings of the game's source.
const READINGS: &str = "SELECT source_id FROM source WHERE path = (SELECT path FROM source JOIN game USING (source_id) WHERE game_id = ?1)";

/// The problems of the game, and of what follows it in its source and belongs to no game.
const PROBLEMS: &str = "SELECT problem_id, source_id FROM problem
     WHERE game_id = ?1 OR (game_id IS NULL AND source_id IN (SELECT source_id FROM reading)
                            AND byte_offset >= (SELECT byte_offset FROM game WHERE game_id = ?1))";

/// Brings the counts of its source and import down; `gone` are its problems, `reading` the readings of its source.
const UNCOUNT: [&str; 4] = [
    "UPDATE source SET problems = problems - (SELECT count(*) FROM gone WHERE gone.source_id = source.source_id)
     WHERE source_id IN (SELECT source_id FROM gone)",
    "UPDATE import SET problems = problems -
         (SELECT count(*) FROM gone JOIN source USING (source_id) WHERE source.import_id = import.import_id)
     WHERE import_id IN (SELECT import_id FROM gone JOIN source USING (source_id))",
    "UPDATE source SET games = games - 1, plies = plies - g.ply_count
     FROM game AS g WHERE g.game_id = ?1 AND source.source_id = g.source_id",
    "UPDATE import SET games = games - 1, plies = plies - g.ply_count,
         positions = positions - (SELECT count(*) FROM game_position WHERE game_id = ?1)
     FROM game AS g WHERE g.game_id = ?1 AND import.import_id = g.import_id",
];

/// Removes its rows, those first that others are found by.
const REMOVE: [&str; 6] = [
    "DELETE FROM problem WHERE problem_id IN (SELECT problem_id FROM gone)",
    "DELETE FROM position_game WHERE (key, game_id, ply) IN
     (SELECT key, game_id, ply FROM game_position WHERE game_id = ?1)",
    "DELETE FROM game_position WHERE game_id = ?1",
    "DELETE FROM duplicate WHERE kind = 'prefix' AND (game_id = ?1 OR original_id = ?1)",
    "DELETE FROM tag WHERE game_id = ?1",
    "DELETE FROM game WHERE game_id = ?1",
];

/// All readings of the file that source `?1` is a reading of.
const READINGS_OF_SOURCE: &str =
    "SELECT source_id FROM source WHERE path = (SELECT path FROM source WHERE source_id = ?1)";

/// The problems that belong to no game of the file, from byte `?2` on.
const PROBLEMS_FROM: &str = "SELECT problem_id, source_id FROM problem
     WHERE game_id IS NULL AND byte_offset >= ?2 AND source_id IN (SELECT source_id FROM reading)";

/// Brings the counts down and removes the rows.
const UNCOUNT_DUPLICATE: [&str; 6] = [
    UNCOUNT[0],
    UNCOUNT[1],
    "UPDATE source SET duplicates = duplicates - 1 WHERE source_id = ?1",
    "UPDATE import SET duplicates = duplicates - 1
     WHERE import_id = (SELECT import_id FROM duplicate WHERE source_id = ?1 AND byte_offset = ?2)",
    "DELETE FROM duplicate WHERE source_id = ?1 AND byte_offset = ?2",
    REMOVE[0],
];

impl BulkLoader<'_> {
    /// Removes all rows of a game and of what follows it in its source outside of games, and the rows of `visited_position` and
    /// `continuation` that count it. Gives back the keys of its positions: they must be counted again. Names that no other game
    /// has stay. The duplicates of the game must be [moved](Self::move_duplicates) before the commit.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn remove_game(&self, game: GameId) -> Result<Vec<PositionKey>> {
        let sql = "SELECT DISTINCT key FROM game_position WHERE game_id = ?1";
        let keys: Vec<PositionKey> = self
            .connection()
            .prepare_cached(sql)
            .and_then(|mut query| {
                let read = |row: &Row<'_>| row.get(0).map(PositionKey::from_i64);
                query.query_map([game.0], read)?.collect()
            })
            .map_err(|source| self.failed("read the positions of a game", source))?;
        for sql in UNCOUNT.into_iter().chain(REMOVE) {
            let sql = format!("WITH reading AS ({READINGS}), gone AS ({PROBLEMS}) {sql}");
            self.execute("remove a game", &sql, [game.0])?;
        }
        for &key in &keys {
            self.remove_visited(key)?;
        }
        Ok(keys)
    }

    /// Removes what is noted of a game that was skipped as a duplicate, and of what follows it in its source outside of games.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn remove_duplicate(&self, source: SourceId, byte_offset: u64) -> Result<()> {
        for sql in UNCOUNT_DUPLICATE {
            let sql = format!("WITH reading AS ({READINGS_OF_SOURCE}), gone AS ({PROBLEMS_FROM}) {sql}");
            self.execute("remove a duplicate", &sql, [i64::from(source.0), byte_offset.cast_signed()])?;
        }
        Ok(())
    }
}
