//! The levels of a database. Chooses the level that an addition writes.

use rusqlite::Row;

use crate::id::{GameId, Level};
use crate::store::cell::read_rows;
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::features::deleted_games;
use crate::store::write::bulk::BulkLoader;
use crate::store::write::features::remove_from_block;

const WRITE_LEVELS: &str = "write table occurrence_level";

/// The level to which new games are added: an existing level, which absorbs all later levels, or a new level.
///
/// The levels are examined from the last to the first. A level is absorbed if the added games and the games
/// of later levels together are at least half as many as its own games. The first level for which this is not
/// true ends the search. So large levels are not rewritten often, and there are never many levels: each level
/// has more than twice as many games as the next one.
///
/// A level of at most `small` games is always absorbed. `first` is the first new game, and `games` the number
/// of new games.
pub(crate) fn level_for(
    levels: impl DoubleEndedIterator<Item = Level>,
    first: GameId,
    games: u32,
    small: u32,
) -> Level {
    const TIMES: u32 = 2;
    let (mut chosen, mut newer) = (Level(first.0), games);
    for level in levels.rev() {
        let older = chosen.0.saturating_sub(level.0);
        if older > small.max(newer.saturating_mul(TIMES)) {
            break;
        }
        newer = newer.saturating_add(older);
        chosen = level;
    }
    chosen
}

impl Database {
    /// The number of levels, and the number of removed games that `occurrence`, `visit_set` and `game_set` can
    /// still contain.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn count_levels(&self) -> Result<[u64; 2]> {
        let sql = "SELECT (SELECT count(*) FROM occurrence_level), (SELECT count(*) FROM deleted_game)";
        let read = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?].map(i64::cast_unsigned));
        let counted = self.connection().query_row(sql, [], read);
        counted.map_err(|source| Error::sqlite(self.path(), "read table occurrence_level", source))
    }
}

impl BulkLoader<'_> {
    /// Makes `level` the last level. Removes the rows of this level and of all later levels from the tables of
    /// visited positions. Removes the removed games of these levels from `game_set` and `deleted_game`. The
    /// rows of `occurrence` are replaced separately.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn set_last_level(&self, level: Level) -> Result<()> {
        self.run("remove games from table game_set", |connection| {
            let blocks = "SELECT DISTINCT game_id >> 16 FROM deleted_game WHERE game_id >= ?1";
            let blocks = read_rows(&mut connection.prepare(blocks)?, [level.0], |row| row.get(0))?;
            let remove = |block| remove_from_block(connection, block, &deleted_games(connection, block)?);
            blocks.into_iter().try_for_each(remove)
        })?;
        for table in ["visit_set", "level_continuation", "level_position", "occurrence_level"] {
            self.execute(WRITE_LEVELS, &format!("DELETE FROM {table} WHERE level >= ?1"), [level.0])?;
        }
        self.execute(WRITE_LEVELS, "DELETE FROM deleted_game WHERE game_id >= ?1", [level.0])?;
        self.execute(WRITE_LEVELS, "INSERT INTO occurrence_level (level) VALUES (?1)", [level.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds games in several steps: each element of `counts` is the number of games of one step. Returns the
    /// resulting levels.
    fn add(counts: &[u32]) -> Vec<u32> {
        let (mut levels, mut first) = (vec![Level::FIRST], 1);
        for &count in counts {
            let level = level_for(levels.iter().copied(), GameId(first), count, 1000);
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
