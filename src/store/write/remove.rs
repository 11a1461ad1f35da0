//! Removes games from a database, and the rows of [tails](Tail) that are read again. The tail of a source is
//! its last game and everything after it.

use rusqlite::params;

use crate::store::error::{ErrorKind, Result};
use crate::store::game_set::GameSet;
use crate::store::layout::Layout;
use crate::store::read::source::{READINGS, Tail};
use crate::store::row::{GameId, HeaderBatch, SourceId};
use crate::store::write::bulk::BulkLoader;

/// The problems of a tail that do not belong to a kept game: problems of the last game if it was not kept,
/// and problems of the text after the last game.
const PROBLEMS: &str = "SELECT problem_id, source_id FROM problem
     WHERE game_id IS NULL AND source_id IN (SELECT source_id FROM reading)
         AND byte_offset >= ?2 AND ifnull(game_number > ?3, TRUE)";

/// The row of `duplicate` for a tail's game, if this game was skipped as a duplicate.
const SKIPPED: &str = "SELECT source_id, byte_offset, import_id FROM duplicate
     WHERE source_id IN (SELECT source_id FROM reading) AND byte_offset >= ?2 AND game_id IS NULL";

/// Removes the rows of a tail except those of a kept game, and subtracts their number from the counts of
/// sources and runs.
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

/// Creates the list of the removed games. For each game, the list has the number of its rows in
/// `game_position`, and the ids of its names, because the removal can leave these names unused. In
/// [`ADD_TO_LIST`], `?2` is the number of these rows if they are already removed, otherwise NULL.
const LIST: &str = "CREATE TEMP TABLE IF NOT EXISTS removing (
     game_id INTEGER PRIMARY KEY, event_id INTEGER, site_id INTEGER, white_id INTEGER, black_id INTEGER, positions INTEGER)";
const ADD_TO_LIST: &str = "INSERT OR IGNORE INTO temp.removing
     SELECT game_id, event_id, site_id, white_id, black_id,
         ifnull(?2, (SELECT count(*) FROM game_position AS p WHERE p.game_id = game.game_id))
     FROM main.game WHERE game_id = ?1";
const DROP_LIST: &str = "DROP TABLE IF EXISTS temp.removing";

/// Subtracts the removed games and their problems from the counts of sources and runs. A count that a user made
/// too small becomes 0.
const UNCOUNT: [&str; 4] = [
    "UPDATE source SET games = max(0, source.games - gone.games), plies = max(0, source.plies - gone.plies)
     FROM (SELECT source_id, count(*) AS games, sum(ply_count) AS plies
           FROM temp.removing CROSS JOIN game USING (game_id) GROUP BY 1) AS gone
     WHERE gone.source_id = source.source_id",
    "UPDATE import SET games = max(0, import.games - gone.games), plies = max(0, import.plies - gone.plies),
         positions = max(0, import.positions - gone.positions)
     FROM (SELECT import_id, count(*) AS games, sum(ply_count) AS plies, sum(removing.positions) AS positions
           FROM temp.removing CROSS JOIN game USING (game_id) GROUP BY 1) AS gone
     WHERE gone.import_id = import.import_id",
    "UPDATE source SET problems = max(0, source.problems - gone.problems)
     FROM (SELECT source_id, count(*) AS problems FROM problem
           WHERE game_id IN (SELECT game_id FROM temp.removing) GROUP BY 1) AS gone
     WHERE gone.source_id = source.source_id",
    "UPDATE import SET problems = max(0, import.problems - gone.problems)
     FROM (SELECT source.import_id, count(*) AS problems FROM problem JOIN source USING (source_id)
           WHERE game_id IN (SELECT game_id FROM temp.removing) GROUP BY 1) AS gone
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
    "INSERT INTO setting (name, value) SELECT 'last_game', max(game_id) FROM temp.removing
     WHERE true ON CONFLICT DO UPDATE SET value = max(value, excluded.value)";

/// Creates the list of the games that were skipped as duplicates and are read again. For each game, the list
/// has the source, the offset in bytes, and the ordinal number of the game in the source.
const LIST_RETURNING: &str = "CREATE TEMP TABLE IF NOT EXISTS coming_back (
     source_id INTEGER, byte_offset INTEGER, game_number INTEGER, PRIMARY KEY (source_id, byte_offset))";
const ADD_TO_RETURNING: &str = "INSERT INTO temp.coming_back VALUES (?1, ?2, ?3)";

/// Removes the rows of `duplicate` and `problem` for the skipped games that are read again. Then removes the
/// list of these games.
const REMOVE_REPLACED: [&str; 3] = [
    "DELETE FROM duplicate WHERE (source_id, byte_offset) IN (SELECT source_id, byte_offset FROM temp.coming_back)",
    "DELETE FROM problem
     WHERE game_id IS NULL AND (source_id, game_number) IN (SELECT source_id, game_number FROM temp.coming_back)",
    "DROP TABLE temp.coming_back",
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

/// Which rows of removed games still exist in `game_position` and `move_eval`. The rows of `occurrence` stay
/// until their level is written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemainingRows<'r> {
    /// All rows.
    There,
    /// No rows: the tables have already been rewritten without the rows of removed games.
    Gone {
        /// The removed games that had rows in `game_position`, in order, each with the number of these rows.
        positions: &'r [(GameId, u32)],
    },
}

impl RemainingRows<'_> {
    const fn are_removed(self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}

/// The games and other data that a run removes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsToRemove<'l> {
    /// The games to remove.
    pub(crate) games: &'l GameSet,
    /// The number of positions of the games to remove.
    pub(crate) positions: u64,
    pub(crate) reason: Reason<'l>,
}

/// Why games are removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason<'l> {
    /// The tails of their sources are read again.
    ReadAgain(&'l [Tail]),
    /// The user removes the games and this other data.
    RemovedRows(&'l RemovedRows),
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

impl RemovedRows {
    fn sources_json(&self) -> String {
        serde_json::json!(self.sources).to_string()
    }
}

impl BulkLoader<'_> {
    /// Removes the rows of `duplicate` and `problem` for skipped games that are read again, because new rows
    /// replace them.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn remove_replaced(&self, leaving: RowsToRemove<'_>) -> Result<()> {
        const ACTION: &str = "remove duplicates";
        let Reason::RemovedRows(RemovedRows { returning, .. }) = leaving.reason else { return Ok(()) };
        if returning.is_empty() {
            return Ok(());
        }
        self.execute(ACTION, LIST_RETURNING, [])?;
        for &(source, offset, number) in returning {
            self.execute(ACTION, ADD_TO_RETURNING, params![source.0, offset.cast_signed(), number])?;
        }
        REMOVE_REPLACED.into_iter().try_for_each(|sql| self.execute(ACTION, sql, []))
    }

    /// Removes the games to remove from all tables except `occurrence`, `visit_set` and `game_set`, and the other
    /// data that is removed with these games. Does not update the visited positions. Unused names stay until
    /// [`remove_names`](Self::remove_names).
    ///
    /// # Errors
    /// [`ErrorKind::Kept`] if a trigger keeps a row of `game`; errors of SQLite.
    pub(crate) fn remove(&mut self, leaving: RowsToRemove<'_>, rows: RemainingRows<'_>) -> Result<()> {
        if let Reason::ReadAgain(tails) = leaving.reason {
            tails.iter().try_for_each(|tail| self.remove_notes(tail))?;
            if leaving.games.is_empty() {
                return Ok(());
            }
        }
        self.list_removed(leaving.games, rows)?;
        if !leaving.games.is_empty() {
            self.execute("record the removed games", KEEP_NUMBER, [])?;
        }
        let Reason::RemovedRows(removed_rows) = leaving.reason else {
            return self.remove_games(leaving.games, rows);
        };
        let sources = removed_rows.sources_json();
        self.execute("record the removed games", NOTE, [&sources])?;
        self.execute("record the removed games", COUNT, [])?;
        self.remove_games(leaving.games, rows)?;
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

    /// Removes these rows of a tail: problems that do not belong to a kept game, and a row of `duplicate` or
    /// `removed_game` that records the tail's game as skipped or removed. The rows of a kept game stay.
    ///
    /// # Errors
    /// Errors of SQLite.
    fn remove_notes(&self, tail: &Tail) -> Result<()> {
        let (offset, games) = (tail.byte_offset.cast_signed(), tail.games.cast_signed());
        for sql in REMOVE_NOTES {
            let sql =
                format!("WITH reading AS ({READINGS}), gone AS ({PROBLEMS}), skipped AS ({SKIPPED}) {sql}");
            self.execute("remove the end of a source", &sql, params![tail.readings, offset, games])?;
        }
        Ok(())
    }

    /// Writes the list of the games to remove into a temporary table.
    fn list_removed(&self, games: &GameSet, rows: RemainingRows<'_>) -> Result<()> {
        const ACTION: &str = "list removed games";
        self.execute(ACTION, LIST, [])?;
        let mut positions = match rows {
            RemainingRows::Gone { positions } => positions,
            RemainingRows::There => &[],
        }
        .iter()
        .peekable();
        games.iter().try_for_each(|game| {
            let known = positions.next_if(|(next, _)| *next == game).map(|&(_, count)| count);
            let count = known.or(rows.are_removed().then_some(0));
            self.execute(ACTION, ADD_TO_LIST, params![game.0, count])
        })
    }

    /// Removes the rows of the listed games, except rows that are [already removed](RemainingRows). Also
    /// subtracts the games from the counts of sources and runs, and records them in `deleted_game`.
    fn remove_games(&self, games: &GameSet, rows: RemainingRows<'_>) -> Result<()> {
        const ACTION: &str = "remove games";
        UNCOUNT.into_iter().try_for_each(|sql| self.execute(ACTION, sql, []))?;
        self.execute(ACTION, KEEP_OCCURRENCES, [])?;
        // The rows of `game` are removed last, because rows of the other tables refer to them.
        let sides = HeaderBatch::SIDE_TABLES.iter().map(|table| table.name);
        let layout = self.run(ACTION, Layout::of)?;
        let positions = (layout == Layout::Open).then_some("game_position");
        let tables = ["problem", "duplicate"].into_iter().chain(positions).chain(sides).chain(["game"]);
        let is_left = |table: &&str| !rows.are_removed() || !["game_position", "move_eval"].contains(table);
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
