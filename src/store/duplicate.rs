//! Games that repeat others, once all rows are there.

use rusqlite::{Params, Row};

use super::bulk::BulkLoader;
use super::error::Result;
use super::row::{GameId, SourceId};

/// Values of `prefix_hash` that more than one game has: reads one index in order.
const SHARED: &str =
    "SELECT prefix_hash FROM game WHERE prefix_hash IS NOT NULL GROUP BY prefix_hash HAVING count(*) > 1";

/// Those of games later than game `?1`.
const ADDED: &str = "SELECT prefix_hash FROM game WHERE game_id > ?1";

/// The games that are shorter than another one with the same of these values of `prefix_hash`. Which games these are is told by
/// the small tables, so that the large ones, of which hardly a page is in the cache, are asked for few.
fn candidates(values: &str) -> String {
    format!(
        "WITH longest AS MATERIALIZED (
             SELECT prefix_hash, max(ply_count) AS plies FROM game WHERE prefix_hash IN ({values}) GROUP BY prefix_hash)
         SELECT game_id FROM longest CROSS JOIN game USING (prefix_hash) WHERE ply_count < plies"
    )
}

/// Notes game `?1` down as a prefix of the first game that has all its moves and more. Nearly nothing else reaches a game's
/// last position at the same ply; that the moves are the same is looked at nevertheless.
const NOTE_PREFIX: &str = "INSERT INTO duplicate (source_id, byte_offset, byte_length, game_id, original_id, kind, import_id)
     SELECT short.source_id, short.byte_offset, short.byte_length, short.game_id, long.game_id, 'prefix',
         max(short.import_id, long.import_id)
     FROM game AS short
     CROSS JOIN game_position AS last ON last.game_id = short.game_id AND last.ply = short.ply_count
     CROSS JOIN position_game AS reached ON reached.key = last.key AND reached.ply = last.ply
     CROSS JOIN game AS long ON long.game_id = reached.game_id
     WHERE short.game_id = ?1
         AND long.prefix_hash = short.prefix_hash AND long.ply_count > short.ply_count
         AND long.white_id = short.white_id AND long.black_id = short.black_id AND long.date IS short.date
         AND NOT EXISTS (SELECT 1 FROM duplicate WHERE duplicate.game_id = ?1)
         AND NOT EXISTS (
             SELECT 1 FROM game_position AS a JOIN game_position AS b ON b.game_id = long.game_id AND b.ply = a.ply
             WHERE a.game_id = ?1 AND (a.key <> b.key OR a.fen <> b.fen OR a.move_code <> b.move_code))
     ORDER BY long.game_id LIMIT 1";

impl BulkLoader<'_> {
    /// Finds the games that break off and are whole elsewhere, where one of the two is later than `last` or the first is `freed`,
    /// and notes them down as duplicates of the kind `prefix`. All other tables must be complete. Gives back how many there are.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn note_prefixes(&self, last: GameId, freed: &[GameId]) -> Result<u64> {
        let mut candidates = match last {
            GameId(0) => self.column(&candidates(SHARED), [])?,
            GameId(last) => self.column(&candidates(ADDED), [last])?,
        };
        candidates.extend(freed.iter().map(|game| game.0));
        // Games that are near to each other in the tables one after the other.
        candidates.sort_unstable();
        candidates.dedup();
        let mut count = 0;
        for game in candidates {
            count += self.changed("write table duplicate", NOTE_PREFIX, [game])? as u64;
        }
        Ok(count)
    }

    /// Lets the skipped duplicates of a game that was removed belong to the one that was read in its place: the game, or the
    /// original of the duplicate, at `byte_offset` of a source; to none, if that was left out. `last` is the last game that was
    /// there before. Gives back the games that were prefixes of the one that was removed: they may be prefixes of others.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn move_duplicates(
        &self,
        removed: GameId,
        last: GameId,
        source: SourceId,
        byte_offset: u64,
    ) -> Result<Vec<GameId>> {
        let sql = "DELETE FROM duplicate WHERE kind = 'prefix' AND original_id = ?1 RETURNING game_id";
        let freed = self.column(sql, [removed.0])?;
        let sql = "UPDATE duplicate SET kind = 'cut', original_id = ifnull(
                 (SELECT game_id FROM game WHERE game_id > ?2 AND source_id = ?3 AND byte_offset = ?4),
                 (SELECT original_id FROM duplicate WHERE source_id = ?3 AND byte_offset = ?4))
             WHERE original_id = ?1";
        let params = rusqlite::params![removed.0, last.0, source.0, byte_offset.cast_signed()];
        self.execute("write table duplicate", sql, params)?;
        Ok(freed.into_iter().map(GameId).collect())
    }

    fn column(&self, sql: &str, params: impl Params) -> Result<Vec<u32>> {
        let read = |row: &Row<'_>| row.get(0);
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut query| query.query_map(params, read)?.collect())
            .map_err(|source| self.failed("look for duplicates", source))
    }
}
