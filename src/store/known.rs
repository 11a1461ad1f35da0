//! What a database has already, asked while another connection adds to it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::bulk::ImportId;
use super::compared::ComparedGame;
use super::database::open_file;
use super::error::{Error, Result};
use super::row::{GameId, NameId, Ply, SourceId};
use super::visited::GameOutcome;
use crate::board::{MoveCode, PositionKey};

/// A table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameTable {
    /// `player`
    Player,
    /// `event`
    Event,
    /// `site`
    Site,
}

impl NameTable {
    const fn last(self) -> &'static str {
        match self {
            Self::Player => "SELECT max(player_id) FROM player",
            Self::Event => "SELECT max(event_id) FROM event",
            Self::Site => "SELECT max(site_id) FROM site",
        }
    }

    const fn find(self) -> &'static str {
        match self {
            Self::Player => "SELECT player_id FROM player WHERE name = ?1",
            Self::Event => "SELECT event_id FROM event WHERE name = ?1",
            Self::Site => "SELECT site_id FROM site WHERE name = ?1",
        }
    }
}

/// One reading of a source: a row of `source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSource {
    /// Its number.
    pub id: SourceId,
    /// Its path, as it was given.
    pub path: PathBuf,
    /// How long its text was, in bytes.
    pub bytes: u64,
    /// The digest of all of its text, also of what an earlier reading had read; of a damaged archive, of what could be decoded.
    pub digest: String,
    /// How many games this and the earlier readings of the same file found, those too that were left out or skipped as duplicates.
    pub games: u64,
    /// Where the last of these games begins, in bytes; 0 if there is none.
    pub last_game: u64,
}

/// The end of a file's text that is read again when it goes on: the last game that was found, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The latest reading of the file.
    pub reading: SourceId,
    /// Where it begins, in bytes: with the file if no game was found.
    pub byte_offset: u64,
    /// How many games of the file come before it.
    pub games: u64,
    /// The game, if it was kept.
    pub game: Option<GameId>,
}

/// The readings of a file up to its reading `?1`: those since it was last read from its first byte on.
pub(super) const READINGS: &str = "SELECT source_id FROM source
     WHERE digest IS NOT NULL AND path = (SELECT path FROM source WHERE source_id = ?1) AND source_id BETWEEN
         (SELECT max(source_id) FROM source WHERE digest IS NOT NULL AND first_byte = 0 AND bytes > 0 AND source_id <= ?1
              AND path = (SELECT path FROM source WHERE source_id = ?1)) AND ?1";

/// A read-only connection to a database to which another connection adds: it sees what was there before.
#[derive(Debug)]
pub struct Known {
    connection: Connection,
    path: PathBuf,
}

impl Known {
    /// Opens the database at `path`, which is one of ours.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = open_file(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // More would be filled once, with pages from all over, and thrown away.
        connection
            .pragma_update(None, "cache_size", -8 * 1024) // KiB
            .map_err(|source| Error::sqlite(path, "configure the database", source))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// The greatest id of a table of names; 0 if it is empty.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_name(&self, table: NameTable) -> Result<NameId> {
        self.last(table.last()).map(NameId)
    }

    /// The greatest id of a game; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_game(&self) -> Result<GameId> {
        self.last("SELECT max(game_id) FROM game").map(GameId)
    }

    /// Whether tables have rows of games that are not there: somebody deleted games through SQL.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn has_orphans(&self) -> Result<bool> {
        let last: u32 = self.last("SELECT max(game_id) FROM game_position")?;
        Ok(last > self.last_game()?.0)
    }

    /// The greatest id of a source; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_source(&self) -> Result<SourceId> {
        self.last("SELECT max(source_id) FROM source").map(SourceId)
    }

    /// The greatest id of a run; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_import(&self) -> Result<ImportId> {
        self.last("SELECT max(import_id) FROM import").map(ImportId)
    }

    /// How many rows `position_game` has, as the runs say.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn positions(&self) -> Result<u64> {
        let sum = self.row("SELECT ifnull(sum(positions), 0) FROM import", [], |row| row.get::<_, i64>(0))?;
        Ok(sum.unwrap_or(0).cast_unsigned())
    }

    /// The keys of all rows of `visited_position`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn visited_keys(&self) -> Result<Vec<PositionKey>> {
        let keys = self.connection.prepare("SELECT key FROM visited_position").and_then(|mut query| {
            query.query_map([], |row| row.get(0).map(PositionKey::from_i64))?.collect()
        });
        keys.map_err(|source| Error::sqlite(&self.path, "read table visited_position", source))
    }

    /// The keys of the positions of a game, each once.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn keys_of(&self, game: GameId) -> Result<Vec<PositionKey>> {
        let sql = "SELECT DISTINCT key FROM game_position WHERE game_id = ?1";
        let keys = self.connection.prepare_cached(sql).and_then(|mut query| {
            query.query_map([game.0], |row| row.get(0).map(PositionKey::from_i64))?.collect()
        });
        keys.map_err(|source| Error::sqlite(&self.path, "read the positions of a game", source))
    }

    /// Shows `see` all games that reached a position, in order: each with the ply of its last visit, the move played there, and
    /// what it came to.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn for_each_last_visit(
        &self,
        key: PositionKey,
        mut see: impl FnMut(GameId, Ply, Option<MoveCode>, &GameOutcome),
    ) -> Result<()> {
        let sql = "SELECT o.game_id, o.ply, p.move_code, g.result, g.white_elo, g.black_elo, g.date
                   FROM (SELECT game_id, max(ply) AS ply FROM position_game WHERE key = ?1 GROUP BY game_id) AS o
                   JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                   JOIN game AS g ON g.game_id = o.game_id";
        let seen = self.connection.prepare_cached(sql).and_then(|mut query| {
            let mut rows = query.query([key.as_i64()])?;
            while let Some(row) = rows.next()? {
                let code = row.get::<_, Option<u32>>(2)?.map(MoveCode::from_stored);
                see(GameId(row.get(0)?), Ply(row.get(1)?), code, &GameOutcome::read(row, 3)?);
            }
            Ok(())
        });
        seen.map_err(|source| Error::sqlite(&self.path, "read the games of a position", source))
    }

    fn last(&self, sql: &str) -> Result<u32> {
        self.row(sql, [], |row| row.get(0)).map(|last| last.flatten().unwrap_or(0))
    }

    /// The id of a name, if it is there.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn name(&self, table: NameTable, name: &str) -> Result<Option<NameId>> {
        Ok(self.row(table.find(), [name], |row| row.get(0))?.map(NameId))
    }

    /// All sources whose digest is known, those of later readings later.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn sources(&self) -> Result<Vec<KnownSource>> {
        // A file that was written anew begins again with its first byte.
        let sql = "WITH left_out AS (
                SELECT source_id, count(*) AS left_out FROM (
                    SELECT source_id, game_number FROM problem WHERE game_id IS NULL AND game_number IS NOT NULL
                    EXCEPT SELECT source_id, game_number FROM duplicate WHERE game_id IS NULL)
                GROUP BY source_id),
            reading AS (
                SELECT *, count(*) FILTER (WHERE first_byte = 0 AND bytes > 0) OVER (PARTITION BY path ORDER BY source_id) AS text
                FROM source LEFT JOIN left_out USING (source_id) WHERE digest IS NOT NULL)
            SELECT source_id, path, bytes, digest,
                sum(games + duplicates + ifnull(left_out, 0)) OVER so_far, ifnull(max(last_game) OVER so_far, 0)
            FROM reading WINDOW so_far AS (PARTITION BY path, text ORDER BY source_id) ORDER BY source_id";
        let read = |row: &Row<'_>| {
            Ok(KnownSource {
                id: SourceId(row.get(0)?),
                path: PathBuf::from(row.get::<_, String>(1)?),
                bytes: row.get::<_, i64>(2)?.cast_unsigned(),
                digest: row.get(3)?,
                games: row.get::<_, i64>(4)?.cast_unsigned(),
                last_game: row.get::<_, i64>(5)?.cast_unsigned(),
            })
        };
        self.connection
            .prepare(sql)
            .and_then(|mut query| query.query_map([], read)?.collect())
            .map_err(|source| Error::sqlite(&self.path, "read table source", source))
    }

    /// The tail of a file's text, of which a `source` is the latest reading.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn tail(&self, source: &KnownSource) -> Result<Tail> {
        let KnownSource { id: reading, games, .. } = *source;
        let last_game = "SELECT last_game FROM source WHERE source_id IN reading AND last_game IS NOT NULL
             ORDER BY source_id DESC LIMIT 1";
        let Some(byte_offset) = self.of_readings(last_game, [reading.0], |row| row.get::<_, i64>(0))? else {
            return Ok(Tail { reading, byte_offset: 0, games: 0, game: None });
        };
        let kept =
            "SELECT game_id, byte_offset FROM game WHERE source_id IN reading ORDER BY game_id DESC LIMIT 1";
        let kept =
            self.of_readings(kept, [reading.0], |row| Ok((GameId(row.get(0)?), row.get::<_, i64>(1)?)))?;
        let game = kept.filter(|(_, offset)| *offset == byte_offset).map(|(game, _)| game);
        // When text went on before, what had been taken for a game may have become none.
        let other = "SELECT 1 FROM duplicate
             WHERE source_id IN reading AND byte_offset >= ?2 AND game_id IS NULL
             UNION ALL SELECT 1 FROM problem
             WHERE source_id IN reading AND byte_offset >= ?2 AND game_id IS NULL AND game_number = ?3 LIMIT 1";
        let params = params![reading.0, byte_offset, games.cast_signed()];
        let is_game = game.is_some() || self.of_readings(other, params, |_| Ok(()))?.is_some();
        let games = games - u64::from(is_game && games > 0);
        Ok(Tail { reading, byte_offset: byte_offset.cast_unsigned(), games, game })
    }

    /// The first row of a query about the `reading`s of a file, of which `?1` is the latest.
    fn of_readings<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.row(&format!("WITH reading AS ({READINGS}) {sql}"), params, read)
    }

    /// Shows `see` all games with a `moves_hash`, and with this White, if one is given, in order. Their moves may differ.
    ///
    /// # Errors
    /// What SQLite and `see` say.
    pub fn for_each_alike<E: From<Error>>(
        &self,
        moves_hash: u64,
        white: Option<NameId>,
        mut see: impl FnMut(&ComparedGame) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let failed = |source| Error::sqlite(&self.path, "look for duplicates", source);
        let (columns, hash) = (ComparedGame::COLUMNS, moves_hash.cast_signed());
        let and_white = if white.is_some() { "AND white_id = ?2" } else { "" };
        let sql = format!("SELECT {columns} FROM game WHERE moves_hash = ?1 {and_white} ORDER BY game_id");
        let mut query = self.connection.prepare_cached(&sql).map_err(failed)?;
        let rows = match white {
            Some(white) => query.query(params![hash, white.0]),
            None => query.query([hash]),
        };
        let mut rows = rows.map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let game = ComparedGame::read(row, &self.connection).map_err(failed)?;
            see(&game)?;
        }
        Ok(())
    }

    fn row<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut query| query.query_row(params, read).optional())
            .map_err(|source| Error::sqlite(&self.path, "look up what is there", source))
    }
}
