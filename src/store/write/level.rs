//! The levels of `occurrence`. Decides to which level the positions of new games are added, and stores the
//! frequent keys of each level.

use rusqlite::{Connection, params};

use crate::board::PositionKey;
use crate::id::{GameId, Level};
use crate::store::cell::{Cells, OCCURRENCE_LEVEL, read_rows};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::frequent_keys::{FrequentKeyCounter, FrequentKeys};
use crate::store::read::snapshot::Snapshot;
use crate::store::write::bulk::BulkLoader;

const READ_LEVELS: &str = "read table occurrence_level";
const WRITE_LEVELS: &str = "write table occurrence_level";

/// The levels of a database, in order.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn levels(connection: &Connection) -> rusqlite::Result<Vec<Level>> {
    let sql = "SELECT level FROM occurrence_level ORDER BY level";
    let read = |row: &rusqlite::Row<'_>| Ok(Level(Cells::new(row, OCCURRENCE_LEVEL).get("level")?));
    read_rows(&mut *connection.prepare_cached(sql)?, [], read)
}

/// The level to which new games are added: an existing level, which absorbs all later levels, or a new level.
///
/// A level is rewritten if the added games and the games of later levels together are at least half as many
/// as its own games. So large levels are not rewritten often, and there are never many levels: each level has
/// more than twice as many games as the next one.
///
/// A level of at most `small` games is always rewritten.
pub(crate) fn level_for(levels: &[Level], first: GameId, games: u32, small: u32) -> Level {
    const TIMES: u32 = 2;
    let (mut chosen, mut newer) = (Level(first.0), games);
    for &level in levels.iter().rev() {
        let older = chosen.0.saturating_sub(level.0);
        if older > small.max(newer.saturating_mul(TIMES)) {
            break;
        }
        newer = newer.saturating_add(older);
        chosen = level;
    }
    chosen
}

/// The number of existing games whose occurrences are rewritten if `games` games are added after the game
/// `last`.
pub(crate) fn games_to_merge(levels: &[Level], last: GameId, games: u64, small: u32) -> u32 {
    let first = GameId(last.0.saturating_add(1));
    first.0.saturating_sub(level_for(levels, first, u32::try_from(games).unwrap_or(u32::MAX), small).0)
}

/// Recounts the frequent keys of all levels from the rows of `occurrence`.
pub(crate) fn fill_frequent_keys(connection: &Connection) -> rusqlite::Result<()> {
    let mut keys = connection.prepare(
        "SELECT key, count(*) FROM occurrence WHERE level = ?1 GROUP BY key HAVING count(*) > 1 ORDER BY key",
    )?;
    for level in levels(connection)? {
        let mut counter = FrequentKeyCounter::default();
        let mut rows = keys.query([level.0])?;
        while let Some(row) = rows.next()? {
            // A user can have put any value into a cell, but only integers are searched for.
            if let Ok(key) = row.get_ref(0)?.as_i64() {
                counter.observe(PositionKey::from_i64(key), row.get(1)?);
            }
        }
        put_frequent_keys(connection, level, &counter.finish())?;
    }
    Ok(())
}

/// Writes the frequent keys of a level.
fn put_frequent_keys(connection: &Connection, level: Level, keys: &FrequentKeys) -> rusqlite::Result<()> {
    let sql = "UPDATE occurrence_level SET frequent_keys = ?2 WHERE level = ?1";
    connection.execute(sql, params![level.0, keys.to_bytes()]).map(|_| ())
}

impl Database {
    /// The levels of `occurrence`, in order.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn levels(&self) -> Result<Vec<Level>> {
        levels(self.connection()).map_err(|source| Error::sqlite(self.path(), READ_LEVELS, source))
    }
}

impl Snapshot {
    /// The frequent keys of a level; `None` if they were not counted, or if the stored list is invalid.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn frequent_keys(&self, level: Level) -> Result<Option<FrequentKeys>> {
        let sql = "SELECT frequent_keys FROM occurrence_level WHERE level = ?1";
        let read =
            |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)?.as_blob().ok().and_then(FrequentKeys::from_bytes));
        self.connection()
            .query_row(sql, [level.0], read)
            .map_err(|source| Error::sqlite(self.path(), READ_LEVELS, source))
    }
}

impl BulkLoader<'_> {
    /// Makes `level` the last level: removes all later levels from the list of levels. Stores the frequent
    /// keys of `level`, if they were counted.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn set_last_level(
        &mut self,
        level: Level,
        frequent_keys: Option<&FrequentKeys>,
    ) -> Result<()> {
        self.execute(WRITE_LEVELS, "DELETE FROM occurrence_level WHERE level >= ?1", [level.0])?;
        let sql = "INSERT INTO occurrence_level (level, frequent_keys) VALUES (?1, ?2)";
        self.execute(WRITE_LEVELS, sql, params![level.0, frequent_keys.map(FrequentKeys::to_bytes)])
    }

    /// Stores the frequent keys of a level.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn set_frequent_keys(&self, level: Level, keys: &FrequentKeys) -> Result<()> {
        self.run(WRITE_LEVELS, |connection| put_frequent_keys(connection, level, keys))
    }

    /// Whether a level has at least `rows` rows of a key, or at least one such row if `rows` is 0.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn has_in_level(&self, level: Level, key: PositionKey, rows: u32) -> Result<bool> {
        let sql = "SELECT 1 FROM occurrence WHERE level = ?1 AND key = ?2 LIMIT 1 OFFSET ?3";
        let asked = params![level.0, key.as_i64(), rows.saturating_sub(1)];
        self.run("read table occurrence", |connection| connection.prepare_cached(sql)?.exists(asked))
    }

    /// The keys with at least `rows` rows in a level.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn keys_in_level(&self, level: Level, rows: u32) -> Result<Vec<PositionKey>> {
        let sql = "SELECT key FROM occurrence WHERE level = ?1 GROUP BY key HAVING count(*) >= ?2";
        let read = |row: &rusqlite::Row<'_>| row.get(0).map(PositionKey::from_i64);
        self.run("read table occurrence", |connection| {
            read_rows(&mut connection.prepare(sql)?, [level.0, rows], read)
        })
    }

    /// Moves the rows of all levels after `level` to this level.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn merge_levels(&self, level: Level) -> Result<()> {
        let sql = "UPDATE occurrence SET level = ?1 WHERE level > ?1";
        self.execute("write table occurrence", sql, [level.0])
    }

    /// The existing levels.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn levels(&self) -> Result<Vec<Level>> {
        self.run(READ_LEVELS, levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds these numbers of games, one number after another. Returns the resulting levels.
    fn add(counts: &[u32]) -> Vec<u32> {
        let (mut levels, mut first) = (vec![Level::FIRST], 1);
        for &count in counts {
            let level = level_for(&levels, GameId(first), count, 1000);
            levels.retain(|&other| other < level);
            levels.push(level);
            first += count;
        }
        levels.into_iter().map(|level| level.0).collect()
    }

    #[test]
    fn small_additions_leave_large_levels_alone() {
        assert_eq!(add(&[]), [1]);
        assert_eq!(add(&[0]), [1]);
        assert_eq!(add(&[400_000]), [1]);
        assert_eq!(add(&[400_000, 10_000]), [1, 400_001]);
        assert_eq!(add(&[400_000, 10_000, 10_000]), [1, 400_001]);
        assert_eq!(add(&[400_000, 10_000, 10_000, 10_000]), [1, 400_001]);
        assert_eq!(add(&[400_000, 10_000, 10_000, 10_000, 10_000]), [1, 400_001, 430_001]);
        assert_eq!(add(&[400_000, 200_000]), [1]);
        assert_eq!(add(&[400_000, 1]), [1, 400_001]);
        assert_eq!(add(&[400_000, 1, 1, 998, 1]), [1, 400_001]);
        assert_eq!(add(&[400_000, 1, 1, 998, 1, 1]), [1, 400_001, 401_002]);
    }

    #[test]
    fn there_are_few_levels_after_many_additions() {
        for count in [1, 10, 999, 1001, 10_000] {
            let mut counts = vec![count; 3000];
            counts.insert(0, 400_000);
            assert!(add(&counts).len() <= 12, "{count}: {:?}", add(&counts));
        }
    }
}
