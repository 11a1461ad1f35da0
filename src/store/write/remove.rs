//! Taking the end of a source out of a database.

use std::borrow::Cow;

use rusqlite::params;

use crate::store::error::Result;
use crate::store::read::known::{READINGS, Tail};
use crate::store::row::HeaderBatch;
use crate::store::write::bulk::BulkLoader;

/// The problems of the game, if it was kept, and those that belong to no game that was: what follows the game, or all of it.
const PROBLEMS: &str = "SELECT problem_id, source_id FROM problem
     WHERE game_id = ?4 OR (game_id IS NULL AND source_id IN (SELECT source_id FROM reading)
                            AND byte_offset >= ?2 AND ifnull(game_number > ?3, TRUE))";

/// The game as a duplicate that was skipped.
const SKIPPED: &str = "SELECT source_id, byte_offset, import_id FROM duplicate
     WHERE source_id IN (SELECT source_id FROM reading) AND byte_offset >= ?2 AND game_id IS NULL";

/// Brings the counts of sources and imports down; `gone` are the problems.
const UNCOUNT: [&str; 6] = [
    "UPDATE source SET problems = problems - (SELECT count(*) FROM gone WHERE gone.source_id = source.source_id)
     WHERE source_id IN (SELECT source_id FROM gone)",
    "UPDATE import SET problems = problems -
         (SELECT count(*) FROM gone JOIN source USING (source_id) WHERE source.import_id = import.import_id)
     WHERE import_id IN (SELECT import_id FROM gone JOIN source USING (source_id))",
    "UPDATE source SET games = games - 1, plies = plies - g.ply_count
     FROM game AS g WHERE g.game_id = ?4 AND source.source_id = g.source_id",
    "UPDATE import SET games = games - 1, plies = plies - g.ply_count,
         positions = positions - (SELECT count(*) FROM game_position WHERE game_id = ?4)
     FROM game AS g WHERE g.game_id = ?4 AND import.import_id = g.import_id",
    "UPDATE source SET duplicates = duplicates - 1 WHERE source_id IN (SELECT source_id FROM skipped)",
    "UPDATE import SET duplicates = duplicates - 1 WHERE import_id IN (SELECT import_id FROM skipped)",
];

/// Removes the rows, those first that others are found by. Those of side tables go before the last.
const REMOVE: [&str; 7] = [
    "DELETE FROM problem WHERE problem_id IN (SELECT problem_id FROM gone)",
    "DELETE FROM duplicate WHERE (source_id, byte_offset) IN (SELECT source_id, byte_offset FROM skipped)",
    "DELETE FROM continuation WHERE key IN (SELECT key FROM game_position WHERE game_id = ?4)",
    "DELETE FROM visited_position WHERE key IN (SELECT key FROM game_position WHERE game_id = ?4)",
    "DELETE FROM position_game WHERE (key, game_id, ply) IN
     (SELECT key, game_id, ply FROM game_position WHERE game_id = ?4)",
    "DELETE FROM game_position WHERE game_id = ?4",
    "DELETE FROM duplicate WHERE game_id = ?4",
];
const REMOVE_GAME: &str = "DELETE FROM game WHERE game_id = ?4";

impl BulkLoader<'_> {
    /// Removes the last game of a source, or what is noted of it if it was not kept, and what follows it outside of games; and
    /// the rows of `visited_position` and `continuation` that count it: its positions must be counted again. Names that no other
    /// game has stay. The duplicates of the game must be [moved](Self::move_duplicates) before the commit.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn remove_tail(&self, tail: &Tail) -> Result<()> {
        let game = tail.game.map(|game| game.0);
        let (offset, games) = (tail.byte_offset.cast_signed(), tail.games.cast_signed());
        let side_rows = HeaderBatch::SIDE_TABLES
            .iter()
            .map(|table| Cow::Owned(format!("DELETE FROM {} WHERE game_id = ?4", table.name)));
        let all = UNCOUNT.into_iter().chain(REMOVE).map(Cow::Borrowed).chain(side_rows);
        for sql in all.chain([Cow::Borrowed(REMOVE_GAME)]) {
            let sql =
                format!("WITH reading AS ({READINGS}), gone AS ({PROBLEMS}), skipped AS ({SKIPPED}) {sql}");
            self.execute("remove a game", &sql, params![tail.readings, offset, games, game])?;
        }
        Ok(())
    }
}
