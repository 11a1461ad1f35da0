//! Games that repeat others, once all rows are there.

use std::collections::HashSet;

use rusqlite::{Params, Row, params};

use crate::store::error::Result;
use crate::store::read::compared::ComparedGame;
use crate::store::row::{GameId, SourceId};
use crate::store::write::bulk::BulkLoader;

/// Values of `prefix_hash` that more than one game has: reads one index in order.
const SHARED: &str =
    "SELECT prefix_hash FROM game WHERE prefix_hash IS NOT NULL GROUP BY prefix_hash HAVING count(*) > 1";

/// Those of games later than game `?1`.
const ADDED: &str = "SELECT prefix_hash FROM game WHERE game_id > ?1";

/// That of game `?1`.
const OWN: &str = "SELECT prefix_hash FROM game WHERE game_id = ?1";

/// The games with some values of `prefix_hash`, where they are not all equally long: whether it is to be told of which longer one
/// each is the beginning, and whether it is longer than another one. Which games these are is told by the small tables, so
/// that the large ones, of which hardly a page is in the cache, are asked for few.
fn candidates(values: &str) -> String {
    format!(
        "WITH lengths AS MATERIALIZED (
             SELECT prefix_hash, min(ply_count) AS least, max(ply_count) AS most FROM game
             WHERE prefix_hash IN ({values}) GROUP BY prefix_hash HAVING least < most)
         SELECT game_id,
             ply_count < most AND NOT EXISTS (
                 SELECT 1 FROM duplicate
                 WHERE duplicate.source_id = game.source_id AND duplicate.byte_offset = game.byte_offset),
             ply_count > least
         FROM lengths CROSS JOIN game USING (prefix_hash)"
    )
}

/// A game that may be the beginning of another one, or go on where another one breaks off, as far as hashes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrefixCandidate {
    /// The game.
    pub game: GameId,
    /// Whether it may be the beginning of another one, and no row says so yet.
    pub is_short: bool,
    /// Whether it may go on where another one breaks off.
    pub is_long: bool,
}

impl BulkLoader<'_> {
    /// The games that may be prefixes of others or have such, each once, in order, where a game like them in
    /// this is later than `last` or `freed`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn prefix_candidates(&self, last: GameId, freed: &HashSet<GameId>) -> Result<Vec<PrefixCandidate>> {
        let read = |row: &Row<'_>| {
            let game = GameId(row.get(0)?);
            Ok(PrefixCandidate { game, is_short: row.get(1)?, is_long: row.get(2)? })
        };
        let mut found = match last {
            GameId(0) => self.column(&candidates(SHARED), [], read)?,
            GameId(last) => self.column(&candidates(ADDED), [last], read)?,
        };
        let mut hashes = HashSet::new();
        for game in freed {
            let own: Vec<Option<i64>> = self.column(OWN, [game.0], |row| row.get(0))?;
            if own.into_iter().flatten().any(|hash| hashes.insert(hash)) {
                found.extend(self.column(&candidates(OWN), [game.0], read)?);
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// A game with all that it is compared by; `None` if it is not there.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn compared_game(&self, game: GameId) -> Result<Option<ComparedGame>> {
        let sql = format!("SELECT {} FROM game WHERE game_id = ?1", ComparedGame::COLUMNS);
        let read = |row: &Row<'_>| ComparedGame::read(row, self.connection());
        Ok(self.column(&sql, [game.0], read)?.pop())
    }

    /// Notes a game down as a prefix of another one.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn note_prefix(&self, short: GameId, long: GameId) -> Result<()> {
        const NOTE: &str = "INSERT INTO duplicate (source_id, byte_offset, byte_length, game_id, original_id, kind, import_id)
             SELECT short.source_id, short.byte_offset, short.byte_length, short.game_id, long.game_id, 'prefix',
                 max(short.import_id, long.import_id)
             FROM game AS short, game AS long WHERE short.game_id = ?1 AND long.game_id = ?2";
        self.changed("write table duplicate", NOTE, [short.0, long.0])?;
        Ok(())
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
        let freed = self.column(sql, [removed.0], |row| row.get(0))?;
        let sql = "UPDATE duplicate SET kind = 'cut', original_id = ifnull(
                 (SELECT game_id FROM game WHERE game_id > ?2 AND source_id = ?3 AND byte_offset = ?4),
                 (SELECT original_id FROM duplicate WHERE source_id = ?3 AND byte_offset = ?4))
             WHERE original_id = ?1";
        let params = params![removed.0, last.0, source.0, byte_offset.cast_signed()];
        self.execute("write table duplicate", sql, params)?;
        Ok(freed.into_iter().map(GameId).collect())
    }

    /// Lets the duplicates of games that are taken out belong to none: of those that could not be read again it is known no longer what
    /// they repeat. Gives back the games that were prefixes of those taken out: they may be prefixes of others.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn release_duplicates(&self) -> Result<Vec<GameId>> {
        let sql = "DELETE FROM duplicate WHERE kind = 'prefix' AND original_id IN (SELECT game_id FROM temp.removing)
             RETURNING game_id";
        let freed = self.column(sql, [], |row| row.get(0))?;
        let sql = "UPDATE duplicate SET original_id = NULL WHERE original_id IN (SELECT game_id FROM temp.removing)";
        self.execute("write table duplicate", sql, [])?;
        Ok(freed.into_iter().map(GameId).collect())
    }

    fn column<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut query| query.query_map(params, read)?.collect())
            .map_err(|source| self.failed("look for duplicates", source))
    }
}
