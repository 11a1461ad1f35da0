//! Removes games from a database, and the rows of [tails](Tail) that are read again. The tail of a source is
//! its last game and everything after it.

use rusqlite::params;

use crate::store::error::{ErrorKind, Result};
use crate::store::game_set::GameSet;
use crate::store::layout::Layout;
use crate::store::read::source::{READINGS, Tail};
use crate::store::row::{GameId, HeaderBatch, SourceId};
use crate::store::write::bulk::BulkLoader;

/// The problems of a tail: problems of the last game, and problems of the text after it. The former are selected
/// by the game's id: a damaged line before the first tag pair of a game is a problem of the game, but is before
/// the game's offset.
const PROBLEMS: &str = "SELECT problem_id, source_id FROM problem
     WHERE source_id IN (SELECT source_id FROM reading)
         AND (game_id = ?4 OR game_id IS NULL AND byte_offset >= ?2 AND ifnull(game_number > ?3, TRUE))";

/// The row of `duplicate` for a tail's game, if this game was skipped as a duplicate.
const SKIPPED: &str = "SELECT source_id, byte_offset, import_id FROM duplicate
     WHERE source_id IN (SELECT source_id FROM reading) AND byte_offset >= ?2 AND game_id IS NULL";

/// Removes the problems of a tail, and the row of `duplicate` or `removed_game` that records the tail's game as
/// skipped or removed. Subtracts the number of these rows from the counts of sources and runs.
const REMOVE_NOTES: [&str; 7] = [
    "UPDATE source SET problems = max(0, problems - (SELECT count(*) FROM gone WHERE gone.source_id = source.source_id))
     WHERE source_id IN (SELECT source_id FROM gone)",
    "UPDATE import SET problems = max(0, problems -
         (SELECT count(*) FROM gone JOIN source USING (source_id) WHERE source.import_id = import.import_id))
     WHERE import_id IN (SELECT import_id FROM gone JOIN source USING (source_id))",
    "UPDATE source SET duplicates = max(0, duplicates - 1) WHERE source_id IN (SELECT source_id FROM skipped)",
    "UPDATE import SET duplicates = max(0, duplicates - 1) WHERE import_id IN (SELECT import_id FROM skipped)",
    "DELETE FROM problem WHERE problem_id IN (SELECT problem_id FROM gone)",
    "DELETE FROM duplicate WHERE (source_id, byte_offset) IN (SELECT source_id, byte_offset FROM skipped)",
    "DELETE FROM removed_game WHERE source_id IN (SELECT source_id FROM reading) AND byte_offset >= ?2",
];

/// Creates the list of the removed games. For each game, the list has the number of its positions, and the ids
/// of its names, because the removal can leave these names unused. In [`ADD_TO_LIST`], `?2` is the number of the
/// game's rows in the table `game_position` if they are already removed, otherwise NULL. In a compact database,
/// this number is 0, and the moves are counted instead.
const LIST: &str = "CREATE TEMP TABLE IF NOT EXISTS removing (
     game_id INTEGER PRIMARY KEY, event_id INTEGER, site_id INTEGER, white_id INTEGER, black_id INTEGER, positions INTEGER)";
const ADD_TO_LIST: &str = "INSERT OR IGNORE INTO temp.removing
     SELECT game_id, event_id, site_id, white_id, black_id,
         CASE WHEN ?2 ISNULL THEN (SELECT count(*) FROM game_position AS p WHERE p.game_id = game.game_id)
             ELSE ifnull((SELECT length(moves) / 4 + 1 FROM game_moves AS m WHERE m.game_id = game.game_id), ?2) END
     FROM main.game WHERE game_id = ?1";
const DROP_LIST: &str = "DROP TABLE IF EXISTS temp.removing";

/// Subtracts the removed games from the counts of sources and runs. A count that a user made too small becomes
/// 0. Problems are counted elsewhere: [`REMOVE_NOTES`] subtracts those of tails, and [`RECOUNT`] counts all
/// problems after a removal by the user.
const UNCOUNT: [&str; 2] = [
    "UPDATE source SET games = max(0, source.games - gone.games), plies = max(0, source.plies - gone.plies)
     FROM (SELECT source_id, count(*) AS games, sum(ply_count) AS plies
           FROM temp.removing CROSS JOIN game USING (game_id) GROUP BY 1) AS gone
     WHERE gone.source_id = source.source_id",
    "UPDATE import SET games = max(0, import.games - gone.games), plies = max(0, import.plies - gone.plies),
         positions = max(0, import.positions - gone.positions)
     FROM (SELECT import_id, count(*) AS games, sum(ply_count) AS plies, sum(removing.positions) AS positions
           FROM temp.removing CROSS JOIN game USING (game_id) GROUP BY 1) AS gone
     WHERE gone.import_id = import.import_id",
];

/// Records that `occurrence`, `visit_set` and `game_set` still contain the removed games.
const KEEP_OCCURRENCES: &str = "INSERT OR IGNORE INTO deleted_game SELECT game_id FROM temp.removing";

/// Removes the names of removed games that no remaining game uses.
const REMOVE_NAMES: [&str; 3] = [
    "DELETE FROM player WHERE player_id IN (SELECT white_id FROM temp.removing UNION SELECT black_id FROM temp.removing)
         AND NOT EXISTS (SELECT 1 FROM game WHERE white_id = player_id)
         AND NOT EXISTS (SELECT 1 FROM game WHERE black_id = player_id)",
    "DELETE FROM event WHERE event_id IN (SELECT event_id FROM temp.removing)
         AND NOT EXISTS (SELECT 1 FROM game WHERE game.event_id = event.event_id)",
    // `game` has no index on `site_id`. A site that `game_column` contains is kept. For other sites, all
    // games are searched, because `game_column` can be outdated.
    "DELETE FROM site WHERE site_id IN (SELECT site_id FROM temp.removing EXCEPT
             SELECT value FROM game_column, json_each(cells) WHERE name = 'site_id')
         AND site_id NOT IN (SELECT site_id FROM game WHERE site_id IS NOT NULL)",
];

/// Records where the text of each removed game is, unless the source of the game is removed too.
const NOTE: &str = "INSERT INTO removed_game (source_id, byte_offset, byte_length)
     SELECT source_id, byte_offset, byte_length FROM temp.removing CROSS JOIN main.game USING (game_id)
     WHERE source_id NOT IN (SELECT value FROM json_each(?1))";
const COUNT: &str =
    "INSERT INTO setting (name, value) SELECT 'removed_games', count(*) FROM temp.removing WHERE true
     ON CONFLICT DO UPDATE SET value = value + excluded.value";
/// Records the greatest id of the removed games, so that it is not used again. A level can still contain
/// these games.
const KEEP_NUMBER: &str =
    "INSERT INTO setting (name, value) SELECT 'last_game', game_id FROM temp.removing WHERE true
     ORDER BY game_id DESC LIMIT 1 ON CONFLICT DO UPDATE SET value = max(value, excluded.value)";

/// Removes the rows of `duplicate` and `problem` for the skipped games that are read again. `?1` is a JSON array of
/// arrays, one for each of these games, with the columns of [`RemovedRows::returning`].
const REMOVE_REPLACED: [&str; 2] = [
    "DELETE FROM duplicate
     WHERE (source_id, byte_offset) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))",
    "DELETE FROM problem
     WHERE game_id IS NULL AND (source_id, game_number) IN (SELECT value ->> 0, value ->> 2 FROM json_each(?1))",
];

/// Updates the counts of sources and runs for the games that were read again. The ids of these games are
/// greater than `?1`.
const COUNT_RETURNED: [&str; 2] = [
    "UPDATE source SET games = source.games + new.games, plies = source.plies + new.plies
     FROM (SELECT source_id, count(*) AS games, sum(ply_count) AS plies FROM game WHERE game_id > ?1 GROUP BY 1) AS new
     WHERE new.source_id = source.source_id",
    "UPDATE import SET games = import.games + new.games, plies = import.plies + new.plies,
         positions = import.positions + new.positions
     FROM (SELECT import_id, count(*) AS games, sum(ply_count) AS plies,
               sum((SELECT count(*) FROM game_position AS p WHERE p.game_id = game.game_id)) AS positions
           FROM game WHERE game_id > ?1 GROUP BY 1) AS new
     WHERE new.import_id = import.import_id",
];

/// Recounts the problems of sources and runs, and the games skipped as duplicates. This reads only small
/// tables.
pub(super) const RECOUNT: [&str; 4] = [
    "UPDATE source SET problems = ifnull(there.problems, 0)
     FROM source AS s LEFT JOIN (SELECT source_id, count(*) AS problems FROM problem GROUP BY 1) AS there USING (source_id)
     WHERE s.source_id = source.source_id",
    "UPDATE source SET duplicates = ifnull(there.duplicates, 0)
     FROM source AS s LEFT JOIN (SELECT source_id, count(*) AS duplicates FROM duplicate
                                 WHERE game_id IS NULL GROUP BY 1) AS there USING (source_id)
     WHERE s.source_id = source.source_id",
    "UPDATE import SET problems = ifnull(there.problems, 0)
     FROM import AS i LEFT JOIN (SELECT import_id, sum(problems) AS problems FROM source GROUP BY 1) AS there
         USING (import_id)
     WHERE i.import_id = import.import_id",
    "UPDATE import SET duplicates = ifnull(there.duplicates, 0)
     FROM import AS i LEFT JOIN (SELECT import_id, count(*) AS duplicates FROM duplicate
                                 WHERE game_id IS NULL GROUP BY 1) AS there USING (import_id)
     WHERE i.import_id = import.import_id",
];

/// The games and other data that a run removes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsToRemove<'l> {
    /// The games to remove.
    pub(crate) games: &'l GameSet,
    /// The number of positions of the games to remove.
    pub(crate) positions: u64,
    /// The tails of sources that are read again; the games are from these sources. Empty if the user removes games.
    pub(crate) tails: &'l [Tail],
    /// If the user removes the games: the other data to remove.
    pub(crate) by_user: Option<&'l RemovedRows>,
}

/// Other data that the user removes together with games.
#[derive(Debug, Default)]
pub(crate) struct RemovedRows {
    /// Sources that are removed together with all their games.
    pub(crate) sources: Vec<SourceId>,
    /// Games that were skipped as duplicates. They are read again because their originals are removed. Each
    /// has its source, its offset in bytes, and its ordinal number in the source.
    pub(crate) returning: Vec<(SourceId, u64, u32)>,
}

impl BulkLoader<'_> {
    /// Removes the rows of `duplicate` and `problem` for skipped games that are read again, because new rows
    /// replace them.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn remove_replaced(&self, leaving: RowsToRemove<'_>) -> Result<()> {
        let Some(RemovedRows { returning, .. }) = leaving.by_user else { return Ok(()) };
        if returning.is_empty() {
            return Ok(());
        }
        let returning = returning.iter().map(|&(source, offset, number)| (source.0, offset, number));
        let returning = serde_json::json!(returning.collect::<Vec<_>>()).to_string();
        REMOVE_REPLACED.into_iter().try_for_each(|sql| self.execute("remove duplicates", sql, [&returning]))
    }

    /// Removes the games in `leaving` from all tables except `occurrence`, `visit_set` and `game_set`. Also removes
    /// the other data in `leaving`. Does not update the visited positions. Unused names stay until
    /// [`remove_names`](Self::remove_names).
    ///
    /// `rewritten` is given if `game_position` and `move_eval` have already been rewritten without the games. It
    /// lists the games that had rows in the table `game_position`, in order, each with the number of these rows.
    ///
    /// # Errors
    /// [`ErrorKind::Kept`] if a trigger keeps a row of `game`; errors of SQLite.
    pub(crate) fn remove(
        &mut self,
        leaving: RowsToRemove<'_>,
        rewritten: Option<&[(GameId, u32)]>,
    ) -> Result<()> {
        leaving.tails.iter().try_for_each(|tail| self.remove_notes(tail))?;
        if leaving.games.is_empty() && leaving.by_user.is_none() {
            return Ok(());
        }
        self.list_removed(leaving.games, rewritten)?;
        self.execute("record the removed games", KEEP_NUMBER, [])?;
        let Some(removed_rows) = leaving.by_user else {
            return self.remove_games(leaving.games, rewritten.is_some());
        };
        let sources: Vec<u32> = removed_rows.sources.iter().map(|source| source.0).collect();
        let sources = serde_json::json!(sources).to_string();
        self.execute("record the removed games", NOTE, [&sources])?;
        self.execute("record the removed games", COUNT, [])?;
        self.remove_games(leaving.games, rewritten.is_some())?;
        for table in ["problem", "duplicate", "removed_game", "source"] {
            let sql = format!("DELETE FROM {table} WHERE source_id IN (SELECT value FROM json_each(?1))");
            self.execute("remove sources", &sql, [&sources])?;
        }
        Ok(())
    }

    /// Updates the counts of sources and runs after games that had been skipped as duplicates were read
    /// again. `last` is the last game that existed before the removal.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn count_returned(&self, last: GameId) -> Result<()> {
        const ACTION: &str = "count the restored games";
        COUNT_RETURNED.into_iter().try_for_each(|sql| self.execute(ACTION, sql, [last.0]))?;
        RECOUNT.into_iter().try_for_each(|sql| self.execute(ACTION, sql, []))
    }

    /// Removes the problems of a tail, and the row of `duplicate` or `removed_game` that records the tail's game
    /// as skipped or removed. The other rows of a kept game stay.
    fn remove_notes(&self, tail: &Tail) -> Result<()> {
        let (offset, games) = (tail.byte_offset.cast_signed(), tail.games.cast_signed());
        let game = tail.game.map(|game| game.0);
        for sql in REMOVE_NOTES {
            let sql =
                format!("WITH reading AS ({READINGS}), gone AS ({PROBLEMS}), skipped AS ({SKIPPED}) {sql}");
            self.execute("remove the end of a source", &sql, params![tail.readings, offset, games, game])?;
        }
        Ok(())
    }

    /// Writes the list of the games to remove into a temporary table.
    fn list_removed(&self, games: &GameSet, rewritten: Option<&[(GameId, u32)]>) -> Result<()> {
        const ACTION: &str = "list removed games";
        self.execute(ACTION, LIST, [])?;
        let mut counts = rewritten.map(|counts| counts.iter().peekable());
        games.iter().try_for_each(|game| {
            let count = counts.as_mut().map(|counts| {
                counts.next_if(|(next, _)| *next == game).map_or(0, |&(_, positions)| positions)
            });
            self.execute(ACTION, ADD_TO_LIST, params![game.0, count])
        })
    }

    /// Removes the rows of the listed games, except those of `game_position` and `move_eval` if `is_rewritten`.
    /// Also subtracts the games from the counts of sources and runs, and records them in `deleted_game`.
    fn remove_games(&self, games: &GameSet, is_rewritten: bool) -> Result<()> {
        const ACTION: &str = "remove games";
        UNCOUNT.into_iter().try_for_each(|sql| self.execute(ACTION, sql, []))?;
        self.execute(ACTION, KEEP_OCCURRENCES, [])?;
        // The rows of `game` are removed last, because rows of the other tables refer to them.
        let sides = HeaderBatch::SIDE_TABLES.iter().map(|table| table.name);
        let layout = self.run(ACTION, Layout::of)?;
        let positions = (layout == Layout::Open).then_some("game_position");
        let tables = ["problem", "duplicate"].into_iter().chain(positions).chain(sides).chain(["game"]);
        let is_left = |table: &&str| !is_rewritten || !["game_position", "move_eval"].contains(table);
        for table in tables.filter(is_left) {
            let sql = format!("DELETE FROM {table} WHERE game_id IN (SELECT game_id FROM temp.removing)");
            let removed = self.changed(ACTION, &sql, [])?;
            if table == "game" && removed as u64 != games.len() {
                return Err(ErrorKind::Kept.at(self.path()));
            }
        }
        self.remove_from_columns(games)
    }

    /// Removes the names that only removed games used. Called after all other rows are written.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn remove_names(&self, leaving: RowsToRemove<'_>) -> Result<()> {
        const ACTION: &str = "remove names";
        if leaving.games.is_empty() {
            return Ok(());
        }
        REMOVE_NAMES.into_iter().try_for_each(|sql| self.execute(ACTION, sql, []))?;
        self.connection().flush_prepared_statement_cache();
        self.execute(ACTION, DROP_LIST, [])
    }
}
