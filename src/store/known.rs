//! What a database has already, asked while another connection adds to it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::cell::{Cells, EVENT, GAME, GAME_POSITION, IMPORT, PLAYER, SITE, SOURCE, Table, VISITED_POSITION};
use super::database::open_file;
use super::error::{Error, Result};
use super::row::{GameId, GameStatus, NameId, Ply, SourceId};
use super::visited::GameOutcome;
use crate::board::{GameResult, MoveCode, PositionKey};
use crate::id::ImportId;

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
    const fn table(self) -> Table {
        match self {
            Self::Player => PLAYER,
            Self::Event => EVENT,
            Self::Site => SITE,
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

/// The moves of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameMoves {
    /// `moves_hash`
    pub hash: u64,
    /// `ply_count`
    pub plies: u32,
    /// How much of the game they are.
    pub status: GameStatus,
}

/// Who played, when, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing<'a> {
    /// White's player.
    pub white: NameId,
    /// Black's player.
    pub black: NameId,
    /// The date; `None` if it is not known.
    pub date: Option<&'a str>,
    /// The result.
    pub result: GameResult,
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
        self.last(table.table()).map(NameId)
    }

    /// The greatest id of a game; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_game(&self) -> Result<GameId> {
        self.last(GAME).map(GameId)
    }

    /// Whether tables have rows of games that are not there: somebody deleted games through SQL.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn has_orphans(&self) -> Result<bool> {
        let last: u32 = self.last(GAME_POSITION)?;
        Ok(last > self.last_game()?.0)
    }

    /// The greatest id of a source; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_source(&self) -> Result<SourceId> {
        self.last(SOURCE).map(SourceId)
    }

    /// The greatest id of a run; 0 if there is none.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_import(&self) -> Result<ImportId> {
        self.last(IMPORT).map(ImportId)
    }

    /// How many rows `position_game` has, as the runs say.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn positions(&self) -> Result<u64> {
        let mut sum: u64 = 0;
        self.each("SELECT import_id, positions FROM import", [], |row| {
            sum = sum.saturating_add(Cells::new(row, IMPORT).get("positions")?);
            Ok(true)
        })?;
        Ok(sum)
    }

    /// The keys of all rows of `visited_position`.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn visited_keys(&self) -> Result<Vec<PositionKey>> {
        let mut keys = Vec::new();
        self.each("SELECT key FROM visited_position", [], |row| {
            keys.push(PositionKey::from_i64(Cells::new(row, VISITED_POSITION).get("key")?));
            Ok(true)
        })?;
        Ok(keys)
    }

    /// The keys of the positions of a game, each once.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn keys_of(&self, game: GameId) -> Result<Vec<PositionKey>> {
        let mut keys = Vec::new();
        self.each("SELECT DISTINCT key FROM game_position WHERE game_id = ?1", [game.0], |row| {
            keys.push(PositionKey::from_i64(Cells::new(row, GAME_POSITION).get("key")?));
            Ok(true)
        })?;
        Ok(keys)
    }

    /// Shows `see` all games that reached a position, in order, until it gives `false`: each with the ply of its last visit, the FEN
    /// there and the move played, and what it came to.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn for_each_last_visit(
        &self,
        key: PositionKey,
        mut see: impl FnMut(GameId, Ply, (&str, Option<MoveCode>), &GameOutcome) -> bool,
    ) -> Result<()> {
        let sql = "SELECT o.game_id, o.ply, p.move_code, g.result, g.white_elo, g.black_elo, g.date, p.fen
                   FROM (SELECT game_id, max(ply) AS ply FROM position_game WHERE key = ?1 GROUP BY game_id) AS o
                   JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                   JOIN game AS g ON g.game_id = o.game_id";
        self.each(sql, [key.as_i64()], |row| {
            let cells = Cells::new(row, GAME_POSITION);
            let code = cells.get::<Option<u32>>(2)?.map(MoveCode::from_stored);
            let fen: String = cells.get(7)?;
            Ok(see(GameId(cells.get(0)?), Ply(cells.get(1)?), (&fen, code), &GameOutcome::read(row, 3)?))
        })
    }

    /// The greatest number that a table has in the first column of its key; 0 if it is empty.
    fn last(&self, table: Table) -> Result<u32> {
        let (name, column) = (table.name, table.key[0]);
        let sql = format!("SELECT max({column}) AS {column} FROM {name}");
        let last = self.row(&sql, [], |row| Cells::new(row, table).get::<Option<u32>>(0))?;
        Ok(last.flatten().unwrap_or(0))
    }

    /// Makes sure that each table whose rows are numbered has a number left.
    ///
    /// # Errors
    /// [`Error::NumbersUsedUp`]; what SQLite says.
    pub fn check_numbers(&self) -> Result<()> {
        for table in [IMPORT, SOURCE, GAME, PLAYER, EVENT, SITE] {
            let last = self.last(table)?;
            if last == u32::MAX {
                return Err(Error::NumbersUsedUp { path: self.path.clone(), table: table.name, last });
            }
        }
        Ok(())
    }

    fn each(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut see: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<()> {
        let seen = self.connection.prepare_cached(sql).and_then(|mut query| {
            let mut rows = query.query(params)?;
            while let Some(row) = rows.next()? {
                if !see(row)? {
                    break;
                }
            }
            Ok(())
        });
        seen.map_err(|source| Error::sqlite(&self.path, "look up what is there", source))
    }

    /// The id of a name, if it is there.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn name(&self, table: NameTable, name: &str) -> Result<Option<NameId>> {
        Ok(self.row(table.find(), [name], |row| Cells::new(row, table.table()).get(0))?.map(NameId))
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
            let cells = Cells::new(row, SOURCE);
            Ok(KnownSource {
                id: SourceId(cells.get(0)?),
                path: PathBuf::from(cells.get::<String>(1)?),
                bytes: cells.get(2)?,
                digest: cells.get(3)?,
                games: cells.get(4)?,
                last_game: cells.get(5)?,
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
        let Some(byte_offset) =
            self.of_readings(last_game, [reading.0], |row| Cells::new(row, SOURCE).get::<i64>(0))?
        else {
            return Ok(Tail { reading, byte_offset: 0, games: 0, game: None });
        };
        let kept =
            "SELECT game_id, byte_offset FROM game WHERE source_id IN reading ORDER BY game_id DESC LIMIT 1";
        let kept = self.of_readings(kept, [reading.0], |row| {
            let cells = Cells::new(row, GAME);
            Ok((GameId(cells.get(0)?), cells.get::<i64>(1)?))
        })?;
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

    /// The first game with these moves; with a pairing, of these players with this date and result. Those that are `removed`
    /// do not count.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn game_like(
        &self,
        moves: &GameMoves,
        pairing: Option<&Pairing<'_>>,
        removed: &[GameId],
    ) -> Result<Option<GameId>> {
        let failed = |source| Error::sqlite(&self.path, "look for duplicates", source);
        let GameMoves { hash, plies, status } = *moves;
        let (hash, status) = (hash.cast_signed(), status.as_str());
        let first = |mut rows: rusqlite::Rows<'_>| {
            while let Some(row) = rows.next()? {
                let game = GameId(Cells::new(row, GAME).get(0)?);
                if !removed.contains(&game) {
                    return Ok(Some(game));
                }
            }
            Ok(None)
        };
        let sql = match pairing {
            Some(_) => {
                "SELECT game_id FROM game
                 WHERE moves_hash = ?1 AND ply_count = ?2 AND status = ?3
                     AND white_id = ?4 AND black_id = ?5 AND date IS ?6 AND result = ?7 ORDER BY game_id"
            }
            None => {
                "SELECT game_id FROM game
                 WHERE moves_hash = ?1 AND ply_count = ?2 AND status = ?3 ORDER BY game_id"
            }
        };
        let mut query = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = match pairing {
            Some(&Pairing { white, black, date, result }) => {
                query.query(params![hash, plies, status, white.0, black.0, date, result.as_str()])
            }
            None => query.query(params![hash, plies, status]),
        };
        rows.and_then(first).map_err(failed)
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
