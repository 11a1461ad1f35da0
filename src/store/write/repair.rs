//! Removes inconsistent rows, and rebuilds the data that is derived from other rows.

use rusqlite::{Connection, params};

use crate::board::{MoveCode, PositionKey};
use crate::id::GameId;
use crate::store::cell::{Cells, GAME, read_rows};
use crate::store::database::Database;
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::layout::Layout;
use crate::store::lock::WriterLock;
use crate::store::read::game::first_moves;
use crate::store::row::HeaderBatch;
use crate::store::schema::{schema_of, version_of};
use crate::store::write::build::{Build, BuildOptions};
use crate::store::write::columns::fill_columns;
use crate::store::write::features::rebuild_sets;
use crate::store::write::remove::RECOUNT;

/// Creates a row with the path `unknown source N` for each missing source of games. So the games can be kept,
/// and can later be removed by source.
const NAME_UNKNOWN: &str = "INSERT INTO source (source_id, path, import_id)
     SELECT source_id, 'unknown source ' || source_id, min(import_id) FROM game
     WHERE source_id NOT IN (SELECT source_id FROM source) GROUP BY source_id";

/// Creates the row of each missing run to which games, sources or duplicates refer. The run gets the options in
/// `setting`. Other statements set its counts.
const ADD_RUNS: &str = "INSERT INTO import (import_id, started_at, finished_at, program_version, options)
     SELECT import_id, ifnull(min(indexed_at), strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), max(indexed_at), 'unknown',
         (SELECT json_group_object(name, CAST(value AS TEXT)) FROM setting WHERE name IN ('annotations', 'duplicates', 'encoding'))
     FROM (SELECT import_id FROM game UNION SELECT import_id FROM source UNION SELECT import_id FROM duplicate)
     LEFT JOIN source USING (import_id)
     WHERE import_id NOT IN (SELECT import_id FROM import) GROUP BY import_id";

/// Removes rows that refer to missing games or sources. Rows with NULL instead of a reference stay, because
/// `NOT IN` is not true for NULL.
const REMOVE: [&str; 6] = [
    "DELETE FROM problem WHERE source_id NOT IN (SELECT source_id FROM source)",
    "DELETE FROM problem WHERE game_id IS NOT NULL AND game_id NOT IN (SELECT game_id FROM game)",
    "DELETE FROM duplicate WHERE source_id NOT IN (SELECT source_id FROM source)",
    "DELETE FROM duplicate WHERE game_id IS NOT NULL AND game_id NOT IN (SELECT game_id FROM game)",
    "DELETE FROM duplicate WHERE kind = 'prefix' AND original_id NOT IN (SELECT game_id FROM game)",
    "DELETE FROM removed_game WHERE source_id NOT IN (SELECT source_id FROM source)",
];

/// Sets references to missing rows to NULL.
const CLEAR: [&str; 6] = [
    "UPDATE duplicate SET original_id = NULL
     WHERE original_id IS NOT NULL AND original_id NOT IN (SELECT game_id FROM game)",
    "UPDATE game SET white_id = NULL WHERE white_id IS NOT NULL AND white_id NOT IN (SELECT player_id FROM player)",
    "UPDATE game SET black_id = NULL WHERE black_id IS NOT NULL AND black_id NOT IN (SELECT player_id FROM player)",
    "UPDATE game SET event_id = NULL WHERE event_id IS NOT NULL AND event_id NOT IN (SELECT event_id FROM event)",
    "UPDATE game SET site_id = NULL WHERE site_id IS NOT NULL AND site_id NOT IN (SELECT site_id FROM site)",
    "UPDATE game SET opening_id = NULL WHERE opening_id IS NOT NULL AND opening_id NOT IN (SELECT opening_id FROM opening)",
];

/// Removes names that no game uses.
const REMOVE_NAMES: [&str; 3] = [
    "DELETE FROM player WHERE player_id IN
         (SELECT player_id FROM player EXCEPT SELECT white_id FROM game EXCEPT SELECT black_id FROM game)",
    "DELETE FROM event WHERE event_id IN (SELECT event_id FROM event EXCEPT SELECT event_id FROM game)",
    "DELETE FROM site WHERE site_id IN (SELECT site_id FROM site EXCEPT SELECT site_id FROM game)",
];

/// Corrects the number of plies of games whose positions are complete, and of skipped games without
/// positions. Because the query has `max(ply)`, SQLite takes `move_code` from the row with the greatest ply.
const COUNT_PLIES: [&str; 2] = [
    "UPDATE game SET ply_count = there.last
     FROM (SELECT game_id, count(*) AS positions, max(ply) AS last, move_code FROM game_position GROUP BY 1) AS there
     WHERE there.game_id = game.game_id AND positions = last + 1 AND move_code IS NULL AND ply_count IS NOT last",
    "UPDATE game SET ply_count = 0 WHERE status = 'skipped' AND ply_count IS NOT 0
     AND game_id NOT IN (SELECT game_id FROM game_position)",
];

/// Recounts the games and plies of sources and runs, and the positions of runs.
const COUNT: [&str; 2] = [
    "UPDATE source SET games = ifnull(there.games, 0), plies = ifnull(there.plies, 0)
     FROM source AS s LEFT JOIN (SELECT source_id, count(*) AS games, sum(ply_count) AS plies FROM game GROUP BY 1) AS there
         USING (source_id)
     WHERE s.source_id = source.source_id",
    "UPDATE import SET games = ifnull(there.games, 0), plies = ifnull(there.plies, 0), positions = ifnull(there.positions, 0)
     FROM import AS i LEFT JOIN (
         SELECT import_id, count(*) AS games, sum(ply_count) AS plies, total(positions) AS positions
         FROM game LEFT JOIN (SELECT game_id, count(*) AS positions FROM game_position GROUP BY 1) USING (game_id)
         GROUP BY 1) AS there USING (import_id)
     WHERE i.import_id = import.import_id",
];

/// Removes sources in which games were found, but to which no row of another table refers. So these sources
/// can be indexed again.
const FORGET: &str = "DELETE FROM source WHERE last_game IS NOT NULL AND source_id NOT IN (
     SELECT source_id FROM game UNION SELECT source_id FROM duplicate UNION SELECT source_id FROM removed_game)
     AND source_id NOT IN (SELECT source_id FROM problem)";

/// Removes sources whose games are all missing, unless the user removed some of these games. So the sources
/// can be indexed again. [`REMOVE`] then removes the duplicates that were found in them.
const FORGET_EMPTIED: &str =
    "DELETE FROM source WHERE last_game IS NOT NULL AND games > 0 AND source_id NOT IN (
     SELECT source_id FROM game UNION SELECT source_id FROM removed_game)";

/// Clears all levels. The caller writes a single level afterwards.
const CLEAR_LEVELS: [&str; 6] = [
    "DELETE FROM occurrence",
    "DELETE FROM occurrence_level",
    "DELETE FROM deleted_game",
    "DELETE FROM visit_set",
    "DELETE FROM level_continuation",
    "DELETE FROM level_position",
];

/// The least possible value of the setting `last_game`; 0 if the setting need not exist. It follows from the
/// setting `removed_games` and the tables `game` and `deleted_game`. Each id up to the last one belongs to a
/// game, to a removed game, or to a game that was read again.
pub(crate) const LEAST_LAST_GAME: &str =
    "SELECT min(max(removed, iif(games + removed > last, games + removed, 0), deleted), 4294967295) AS least
     FROM (SELECT
         ifnull((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'removed_games'), 0) AS removed,
         (SELECT count(*) FROM game) AS games,
         (SELECT ifnull(max(game_id), 0) FROM game) AS last,
         (SELECT ifnull(max(game_id), 0) FROM deleted_game) AS deleted)";

/// The least possible value of the setting `removed_games`: the number of rows of `removed_game` or the number
/// of unused game ids before the last game, whichever is greater. If there are several runs, ids can also be
/// unused because games were read again, so they are not counted.
pub(crate) const LEAST_REMOVED_GAMES: &str = "SELECT max((SELECT count(*) FROM removed_game),
         iif((SELECT count(*) FROM import) > 1, 0, (SELECT ifnull(max(game_id), 0) - count(*) FROM game))) AS least";

/// Removes these two settings if their values are invalid.
const REMOVE_INVALID: &str = "DELETE FROM setting WHERE name IN ('last_game', 'removed_games')
     AND NOT (typeof(value) = 'integer' AND value BETWEEN 0 AND 4294967295)";

/// If the database has only one run, sets its number of distinct positions.
const COUNT_DISTINCT: &str =
    "UPDATE import SET distinct_positions = (SELECT count(DISTINCT key) FROM game_position)
     WHERE (SELECT count(*) FROM import) = 1";

/// The result of [`Build::repair_rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairCounts {
    /// Rows that were removed because their game or source is missing.
    pub rows: u64,
    /// References replaced with NULL because the name, opening or game is missing.
    pub cleared: u64,
    /// Games whose number of plies was corrected.
    pub ply_counts: u64,
    /// Names that were removed because no game uses them.
    pub names: u64,
    /// Sources that were removed because all of their games are missing, or because no row of another table
    /// refers to them. They can be indexed again.
    pub sources: u64,
    /// Missing sources of existing games. For each of them, a row with an unknown path was created.
    pub unknown_sources: u64,
}

impl Build {
    /// Starts with a copy of the lock's target instead of an empty database, and updates the schema of the
    /// copy. Until the build replaces the target, no other program can write to the target, because its
    /// changes would be lost.
    ///
    /// # Errors
    /// If the target cannot be read or copied, the path of the copy is not valid UTF-8, or another program is
    /// writing to the target.
    pub fn copy_of(database: &Database, lock: WriterLock, cache_bytes: u64) -> Result<Self> {
        let options = BuildOptions { overwrite: true, cache_bytes, layout: database.layout() };
        let build = Self::of_target(database, lock, options)?;
        let Some(path) = build.path().to_str() else {
            return Err(ErrorKind::PathNotUtf8.at(build.path()));
        };
        let failed = |source| Error::sqlite(build.target(), "copy the database", source);
        database.connection().execute("VACUUM INTO ?1", [path]).map_err(failed)?;
        build.begun()
    }

    /// Removes rows that refer to missing games or sources, names that no game uses, and sources whose games
    /// are all missing or to which no row refers. Adds rows for missing sources of games, and for missing
    /// runs. Replaces references to missing names, openings and original games with NULL. Rebuilds
    /// `game_column`, `game_set` and `position_key`. Clears `occurrence` and the tables of visited positions.
    /// Recounts the plies of games, and the games, problems and duplicates of sources and runs.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn repair_rows(&self) -> Result<RepairCounts> {
        let changed = |sql: &str| self.run(|connection| Ok(connection.execute(sql, [])? as u64));
        let sum = |statements: &[&str]| statements.iter().map(|sql| changed(sql)).sum::<Result<u64>>();
        let positions = (self.layout() == Layout::Open).then_some("game_position");
        let tables = HeaderBatch::SIDE_TABLES.iter().map(|table| table.name).chain(positions);
        let (sources, unknown_sources) = (changed(FORGET_EMPTIED)?, changed(NAME_UNKNOWN)?);
        changed(ADD_RUNS)?;
        let mut counts = RepairCounts { sources, unknown_sources, ..RepairCounts::default() };
        for table in tables {
            let sql = format!("DELETE FROM {table} WHERE game_id NOT IN (SELECT game_id FROM game)");
            counts.rows += changed(&sql)?;
        }
        counts.rows += sum(&REMOVE)?;
        counts.cleared = sum(&CLEAR)?;
        counts.ply_counts = sum(&COUNT_PLIES)?;
        counts.names = sum(&REMOVE_NAMES)?;
        changed(COUNT_DISTINCT)?;
        changed(REMOVE_INVALID)?;
        // Raises these two settings if they are too small. `last_game` depends on `removed_games`.
        for (name, least, from) in
            [("removed_games", LEAST_REMOVED_GAMES, 0), ("last_game", LEAST_LAST_GAME, 1)]
        {
            changed(&format!(
                "INSERT INTO setting (name, value) SELECT '{name}', least FROM ({least}) WHERE least >= {from}
                 ON CONFLICT DO UPDATE SET value = max(value, excluded.value)"
            ))?;
        }
        sum(&CLEAR_LEVELS)?;
        if self.layout() == Layout::Compact {
            self.run(write_constants)?;
        }
        sum(&COUNT)?;
        sum(&RECOUNT)?;
        counts.sources += changed(FORGET)?;
        self.run(fill_columns)?;
        self.run(rebuild_sets)?;
        Ok(counts)
    }

    /// Recomputes the prefix hashes of all games. For each game that has positions and two known players,
    /// stores the result of `hash`. Calls `hash` with the key of the start position, both names, the date and
    /// the first moves (at most `most_moves`). Clears the hashes of all other games. Returns the number of
    /// changed hashes.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn set_prefix_hashes(
        &self,
        most_moves: u32,
        mut hash: impl FnMut(PositionKey, [&str; 2], Option<&str>, &[MoveCode]) -> Option<u64>,
    ) -> Result<u64> {
        self.run(|connection| {
            let mut games = connection.prepare(
                "SELECT game_id, prefix_hash, white.name, black.name, date FROM game
                 LEFT JOIN player AS white ON white.player_id = white_id
                 LEFT JOIN player AS black ON black.player_id = black_id",
            )?;
            let mut update = connection.prepare("UPDATE game SET prefix_hash = ?2 WHERE game_id = ?1")?;
            let (mut rows, mut wrong) = (games.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, GAME);
                let (game, found): (GameId, Option<i64>) = (cells.get(0)?, cells.get(1)?);
                let names: (Option<&str>, Option<&str>) = (cells.get(2)?, cells.get(3)?);
                let expected = match names {
                    (Some(white), Some(black)) => first_moves(connection, game, most_moves)?
                        .and_then(|(start, codes)| hash(start, [white, black], cells.get(4).ok()?, &codes)),
                    _ => None,
                };
                let expected = expected.map(u64::cast_signed);
                if expected != found {
                    wrong.push((game, expected));
                }
            }
            drop(rows);
            for (game, expected) in &wrong {
                update.execute(params![game.0, expected])?;
            }
            Ok(wrong.len() as u64)
        })
    }

    /// The first games, at most `most`, that have missing or surplus positions.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn broken_games(&self, most: u32) -> Result<Vec<GameId>> {
        self.run(|connection| {
            let mut statement = connection.prepare(
                "SELECT game_id FROM game LEFT JOIN
                     (SELECT game_id, count(*) AS positions, max(ply) AS last FROM game_position GROUP BY 1) USING (game_id)
                 WHERE status <> 'skipped' AND (positions IS NOT ply_count + 1 OR last IS NOT ply_count)
                 ORDER BY game_id LIMIT ?1",
            )?;
            read_rows(&mut statement, [most], |row| Ok(GameId(row.get(0)?)))
        })
    }

    fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(self.connection()).map_err(|source| Error::sqlite(self.target(), "repair the database", source))
    }
}

/// Writes the constants of `position_key` again.
fn write_constants(connection: &Connection) -> rusqlite::Result<()> {
    let fresh = schema_of(version_of(connection)?, Layout::Compact)?;
    connection.execute("DELETE FROM position_key", [])?;
    let mut insert = connection.prepare("INSERT INTO position_key VALUES (?1, ?2, ?3)")?;
    let mut constants = fresh.prepare("SELECT letter, place, value FROM position_key")?;
    let mut rows = constants.query([])?;
    while let Some(row) = rows.next()? {
        insert.execute(params![row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?])?;
    }
    Ok(())
}
