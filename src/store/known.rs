//! What a database has already, asked while another connection adds to it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use super::database::open_file;
use super::error::{Error, Result};
use super::row::{GameId, NameId, SourceId};

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
    /// Its path, as it was given.
    pub path: PathBuf,
    /// How long its text was, in bytes.
    pub bytes: u64,
    /// The digest of all of its text, also of what an earlier reading had read.
    pub digest: String,
    /// How many games this and the earlier readings of the same file found, those too that were left out.
    pub games: u64,
}

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

    /// The greatest id of a source; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_source(&self) -> Result<SourceId> {
        self.last("SELECT max(source_id) FROM source").map(SourceId)
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
        let sql = "SELECT path, bytes, digest, sum(games + ifnull(left_out, 0)) OVER (PARTITION BY path ORDER BY source_id)
                   FROM source LEFT JOIN (SELECT source_id, count(DISTINCT game_number) AS left_out
                                          FROM problem WHERE game_id IS NULL GROUP BY source_id) USING (source_id)
                   WHERE digest IS NOT NULL ORDER BY source_id";
        let read = |row: &Row<'_>| {
            Ok(KnownSource {
                path: PathBuf::from(row.get::<_, String>(0)?),
                bytes: row.get::<_, i64>(1)?.cast_unsigned(),
                digest: row.get(2)?,
                games: row.get::<_, i64>(3)?.cast_unsigned(),
            })
        };
        self.connection
            .prepare(sql)
            .and_then(|mut query| query.query_map([], read)?.collect())
            .map_err(|source| Error::sqlite(&self.path, "read table source", source))
    }

    /// The last game of the latest reading of a source that found one, and where its text begins.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_game_of(&self, path: &str) -> Result<Option<(GameId, u64)>> {
        let sql = "SELECT game_id, byte_offset FROM game WHERE game_id =
                   (SELECT max(game_id) FROM game WHERE source_id IN (SELECT source_id FROM source WHERE path = ?1))";
        self.row(sql, [path], |row| Ok((GameId(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned())))
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
