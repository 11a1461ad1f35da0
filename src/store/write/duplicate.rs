//! Finds games that are prefixes of other games, and updates the table `duplicate`. A prefix is a game whose
//! moves are the first moves of a longer game with the same players, date and start position. Used once all
//! games are written.

use std::collections::HashSet;

use rusqlite::{Params, Row, params};

use crate::sorted::sort;
use crate::store::blocks::last_game;
use crate::store::cell::read_rows;
use crate::store::error::Result;
use crate::store::game_indexes::HASH_BLOCKS;
use crate::store::read::game::ComparedGame;
use crate::store::row::{GameId, SourceId};
use crate::store::write::bulk::BulkLoader;

/// SQL that selects the values of `prefix_hash` from `?1` to `?2`. In each block of the index, it reads one
/// range.
fn hashes() -> String {
    format!(
        "WITH RECURSIVE {HASH_BLOCKS} SELECT prefix_hash FROM hash_block CROSS JOIN game
         WHERE game_id >> 18 = number AND prefix_hash BETWEEN ?1 AND ?2"
    )
}

/// The hashes in the JSON array `?1`.
const LISTED: &str = "SELECT value FROM json_each(?1)";

/// The hashes of games later than game `?1`.
const ADDED: &str = "SELECT prefix_hash FROM game WHERE game_id > ?1";

/// The hash of game `?1`.
const OWN: &str = "SELECT prefix_hash FROM game WHERE game_id = ?1";

/// SQL that searches for prefixes in groups of games. The games of a group have the same `prefix_hash`, but
/// at least two different lengths. The SQL text `values` selects the hashes to search for. The query returns
/// each game of these groups with two flags. The first says whether the game is shorter than another game of
/// its group, and is not yet recorded as a duplicate. The second says whether the game is longer than another
/// game of its group. The query reads only small tables. The later comparison reads the large tables, which
/// are hardly cached, but only for the few games found.
fn candidates(values: &str) -> String {
    format!(
        "WITH RECURSIVE {HASH_BLOCKS},
         -- Sorted like the index in each block.
         looked_for (hash) AS MATERIALIZED (SELECT DISTINCT * FROM ({values}) ORDER BY 1),
         alike AS MATERIALIZED (
             SELECT prefix_hash, game_id, ply_count, source_id, byte_offset
             FROM hash_block CROSS JOIN looked_for CROSS JOIN game
             WHERE game_id >> 18 = number AND prefix_hash = hash),
         lengths AS MATERIALIZED (
             SELECT prefix_hash, min(ply_count) AS least, max(ply_count) AS most FROM alike
             GROUP BY prefix_hash HAVING least < most)
         SELECT game_id,
             ply_count < most AND NOT EXISTS (
                 SELECT 1 FROM duplicate
                 WHERE duplicate.source_id = alike.source_id AND duplicate.byte_offset = alike.byte_offset),
             ply_count > least
         FROM lengths JOIN alike USING (prefix_hash)"
    )
}

/// Divides the hashes into `ranges` ranges of about equal size, and returns the first and the last hash of
/// the range with the index `range`. Both are signed integers, as SQLite stores hashes.
fn hash_range(range: u64, ranges: u64) -> [i64; 2] {
    let start = |range: u64| (u128::from(range) << u64::BITS) / u128::from(ranges);
    [start(range), start(range + 1) - 1].map(|hash| (hash as u64 ^ 1 << 63).cast_signed())
}

/// A game that, according to its hash, can be a prefix of another game, or have another game as its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrefixCandidate {
    /// The game.
    pub game: GameId,
    /// Whether the game can be a prefix of another game, and has no row of `duplicate` yet.
    pub is_short: bool,
    /// Whether another game can be a prefix of this game.
    pub is_long: bool,
}

/// A removed game, and the place (source and offset in bytes) from which its text is read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    pub(crate) game: GameId,
    pub(crate) source: SourceId,
    pub(crate) byte_offset: u64,
}

impl BulkLoader<'_> {
    /// The games that can be prefixes of other games, or have other games as prefixes; each once, in order.
    /// Games with the same hash are a group. Examines only groups that contain a game later than `last`, or a
    /// game in `freed`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn prefix_candidates(&self, last: GameId, freed: &HashSet<GameId>) -> Result<Vec<PrefixCandidate>> {
        let read = |row: &Row<'_>| {
            let game = GameId(row.get(0)?);
            Ok(PrefixCandidate { game, is_short: row.get(1)?, is_long: row.get(2)? })
        };
        let mut found = match last {
            GameId(0) => self.all_candidates(read)?,
            GameId(last) => self.column(&candidates(ADDED), [last], read)?,
        };
        let mut hashes = HashSet::new();
        for game in freed {
            let own: Vec<Option<i64>> = self.column(OWN, [game.0], |row| row.get(0))?;
            if own.into_iter().flatten().any(|hash| hashes.insert(hash)) {
                found.extend(self.column(&candidates(OWN), [game.0], read)?);
            }
        }
        sort(&mut found);
        found.dedup();
        Ok(found)
    }

    /// The candidates among all games, in no particular order.
    fn all_candidates(
        &self,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<PrefixCandidate>,
    ) -> Result<Vec<PrefixCandidate>> {
        // How many hashes are sorted at a time, and how many shared hashes one statement looks up. A hash is
        // shared if at least two games have it.
        const SORTED: u64 = 1 << 22;
        const HASHES_AT_ONCE: usize = 1 << 14;
        let last = self.run("look for duplicates", last_game)?.unwrap_or_default();
        let ranges = 1 + u64::from(last.0) / SORTED;
        let mut found = Vec::new();
        for range in 0..ranges {
            let mut hashes: Vec<i64> = self.column(&hashes(), hash_range(range, ranges), |row| row.get(0))?;
            hashes.sort_unstable();
            let shared = hashes.chunk_by(|a, b| a == b).filter(|alike| alike.len() > 1).map(|alike| alike[0]);
            let shared: Vec<i64> = shared.collect();
            for listed in shared.chunks(HASHES_AT_ONCE) {
                let listed: Vec<String> = listed.iter().map(i64::to_string).collect();
                let listed = format!("[{}]", listed.join(","));
                found.extend(self.column(&candidates(LISTED), [listed], &mut read)?);
            }
        }
        Ok(found)
    }

    /// The data of a game that is compared with other games; `None` if the game does not exist.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn compared_game(&self, game: GameId) -> Result<Option<ComparedGame>> {
        let sql = format!("SELECT {} FROM game WHERE game_id = ?1", ComparedGame::COLUMNS);
        let read = |row: &Row<'_>| ComparedGame::read(row, self.connection());
        Ok(self.column(&sql, [game.0], read)?.pop())
    }

    /// Records the game `short` as a prefix of the game `long`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn note_prefix(&self, short: GameId, long: GameId) -> Result<()> {
        const NOTE: &str = "INSERT INTO duplicate (source_id, byte_offset, byte_length, game_id, original_id, kind, import_id)
             SELECT short.source_id, short.byte_offset, short.byte_length, short.game_id, long.game_id, 'prefix',
                 max(short.import_id, long.import_id)
             FROM game AS short, game AS long WHERE short.game_id = ?1 AND long.game_id = ?2";
        self.execute("write table duplicate", NOTE, [short.0, long.0])
    }

    /// Reassigns the skipped duplicates of a removed game to the game that was read instead, and sets their
    /// kind to `cut`. The new original is the game that was read from the same place. If the text there was
    /// skipped as a duplicate, the new original is the original of this duplicate. If there is neither, the
    /// duplicates have no original. `last` is the last game that existed before the run. Deletes the rows of
    /// games that were prefixes of the removed game, and returns these games, because they can be prefixes of
    /// other games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn move_duplicates(&self, replaced: &Replaced, last: GameId) -> Result<Vec<GameId>> {
        let &Replaced { game, source, byte_offset } = replaced;
        let sql = "DELETE FROM duplicate WHERE kind = 'prefix' AND original_id = ?1 RETURNING game_id";
        let freed = self.column(sql, [game.0], |row| row.get(0).map(GameId))?;
        let sql = "UPDATE duplicate SET kind = 'cut', original_id = ifnull(
                 (SELECT game_id FROM game WHERE game_id > ?2 AND source_id = ?3 AND byte_offset = ?4),
                 (SELECT original_id FROM duplicate WHERE source_id = ?3 AND byte_offset = ?4))
             WHERE original_id = ?1";
        let params = params![game.0, last.0, source.0, byte_offset.cast_signed()];
        self.execute("write table duplicate", sql, params)?;
        Ok(freed)
    }

    /// Removes the references from duplicates to removed games. These duplicates could not be read again, and
    /// no longer have an original. Deletes the rows of games that were prefixes of removed games, and returns
    /// these games, because they can be prefixes of other games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn release_duplicates(&self) -> Result<Vec<GameId>> {
        let sql = "DELETE FROM duplicate WHERE kind = 'prefix' AND original_id IN (SELECT game_id FROM temp.removing)
             RETURNING game_id";
        let freed = self.column(sql, [], |row| row.get(0).map(GameId))?;
        let sql = "UPDATE duplicate SET original_id = NULL WHERE original_id IN (SELECT game_id FROM temp.removing)";
        self.execute("write table duplicate", sql, [])?;
        Ok(freed)
    }

    fn column<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.run("look for duplicates", |connection| {
            read_rows(&mut *connection.prepare_cached(sql)?, params, read)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_consecutive_and_cover_all_hashes() {
        for ranges in [1, 2, 3, 7, 1000] {
            let all: Vec<[i64; 2]> = (0..ranges).map(|range| hash_range(range, ranges)).collect();
            assert_eq!((all[0][0], all[all.len() - 1][1]), (i64::MIN, i64::MAX));
            assert!(all.windows(2).all(|pair| pair[0][1] + 1 == pair[1][0]), "{ranges}");
            assert!(all.iter().all(|[first, last]| first < last), "{ranges}");
        }
    }
}
