//! Queries on a database while another connection changes it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, params, params_from_iter};

use crate::board::{KeySet, MoveCode, Position, PositionKey};
use crate::id::{ImportId, Level};
use crate::store::block_set::game_of;
use crate::store::cell::{
    Cells, DELETED_GAME, EVENT, GAME, GAME_POSITION, IMPORT, LEVEL_CONTINUATION, LEVEL_POSITION, PLAYER,
    SETTING, SITE, SOURCE, Table,
};
use crate::store::database::open_file;
use crate::store::game_indexes::HASH_BLOCKS;
use crate::store::game_set::GameSet;
use crate::store::layout::replayed::Replay;
use crate::store::layout::{Layout, read_quickly};
use crate::store::read::game_column::{BlockColumns, Outcomes, if_known};
use crate::store::read::occurrence::hit::listed_games;
use crate::store::read::occurrence::visit::{LevelGames, for_each_visit_set, level_games};
use crate::store::read::source::{GIVEN_ENCODING, READINGS};
use crate::store::row::{CountedGame, GameId, NameId, Ply, SourceId, day_number};
use crate::store::schema::schema_of;
use crate::store::visit_set::{PlayedMove, for_each_visit};
use crate::store::{
    ComparedGame, Error, ErrorKind, KnownSource, KnownSources, Result, SchemaVersion, Tail, VisitedCounts,
};

/// A table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameTable {
    /// The table `player`.
    Player,
    /// The table `event`.
    Event,
    /// The table `site`.
    Site,
}

impl NameTable {
    /// The table, and the SQL that finds the id of a name.
    const fn table(self) -> (Table, &'static str) {
        match self {
            Self::Player => (PLAYER, "SELECT player_id FROM player WHERE name = ?1"),
            Self::Event => (EVENT, "SELECT event_id FROM event WHERE name = ?1"),
            Self::Site => (SITE, "SELECT site_id FROM site WHERE name = ?1"),
        }
    }
}

/// A read-only connection to a database that another connection changes. Changes that are not yet committed
/// are not visible.
#[derive(Debug)]
pub struct Snapshot {
    connection: Connection,
    path: PathBuf,
    layout: Layout,
}

impl Snapshot {
    /// Opens the pgndex database at `path`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = open_file(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // A larger cache would not help: pages are read from all over the file and are hardly ever used
        // again.
        let layout = connection
            .pragma_update(None, "cache_size", -8 * 1024) // KiB
            .and_then(|()| read_quickly(&connection))
            .map_err(|source| Error::sqlite(path, "configure the database", source))?;
        Ok(Self { connection, path: path.to_owned(), layout })
    }

    /// Opens the pgndex database at `path` and begins a transaction. In it, all queries read the same state,
    /// and SQLite does not acquire a lock for each query.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn open_snapshot(path: &Path) -> Result<Self> {
        let known = Self::open(path)?;
        // SQLite maps as much of the file into memory as it supports, so that pages need not be copied.
        let mapped = known.connection.pragma_update_and_check(None, "mmap_size", isize::MAX, |_| Ok(()));
        mapped
            .and_then(|()| known.connection.execute_batch("BEGIN"))
            .map_err(|source| known.failed(source))?;
        Ok(known)
    }

    /// The results, ratings and dates of the games of a block, read from `game_column`; `None` if a row of
    /// the block is missing or invalid there.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn outcomes(&self, block: u32) -> Result<Option<Outcomes>> {
        let outcomes = BlockColumns::new(&self.connection, block).outcomes();
        if_known(outcomes).map_err(|source| self.failed(source))
    }

    /// The result, ratings and date of a game; `None` if there is no such game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn game_outcome(&self, game: GameId) -> Result<Option<CountedGame>> {
        let sql = "SELECT result, white_elo, black_elo, date, game_id FROM game WHERE game_id = ?1";
        self.row(GAME, sql, [game.0], outcome)
    }

    /// The greatest id in a table of names; 0 if the table is empty.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn last_name(&self, table: NameTable) -> Result<NameId> {
        self.last(table.table().0).map(NameId)
    }

    /// The greatest id of any game, including games that this program removed; 0 if there is no such game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn last_game(&self) -> Result<GameId> {
        let sql = "SELECT name, value FROM setting WHERE name = 'last_game'";
        let had = self.row(SETTING, sql, [], |cells| cells.get::<u32>("value"))?;
        Ok(GameId(self.last(GAME)?.max(had.unwrap_or(0))))
    }

    /// Whether `game_position` has rows for ids greater than that of the [last game](Self::last_game). If so,
    /// somebody has deleted games through SQL.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_orphans(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM game_position WHERE game_id > ?1)";
        let found = self.row(GAME_POSITION, sql, [self.last_game()?.0], |cells| cells.get::<u32>(0))?;
        Ok(found == Some(1))
    }

    /// The greatest id of a source; 0 if there is no source.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn last_source(&self) -> Result<SourceId> {
        self.last(SOURCE).map(SourceId)
    }

    /// The greatest id of a run; 0 if there is no run.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn last_import(&self) -> Result<ImportId> {
        self.last(IMPORT).map(ImportId)
    }

    /// The number of rows of `position_game`, according to the rows of `import`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn positions(&self) -> Result<u64> {
        let mut sum: u64 = 0;
        self.each(IMPORT, "SELECT import_id, positions FROM import", [], |cells| {
            sum = sum.saturating_add(cells.get("positions")?);
            Ok(())
        })?;
        Ok(sum)
    }

    /// The levels of `occurrence` in ascending order, each with its last game.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn levels(&self) -> Result<Vec<LevelGames>> {
        level_games(&self.connection).map_err(|source| self.failed(source))
    }

    /// The keys of all rows that a level has in `level_position`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn visited_keys(&self, level: Level) -> Result<KeySet> {
        let mut keys = KeySet::default();
        let sql = "SELECT level, key FROM level_position WHERE level = ?1";
        self.each(LEVEL_POSITION, sql, [level.0], |cells| {
            keys.insert(PositionKey::from_i64(cells.get("key")?));
            Ok(())
        })?;
        Ok(keys)
    }

    /// Divides a range of ids into pieces of `length` ids, the last one possibly shorter. Returns the id at
    /// which each piece with games begins, even if no game has this id.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn starts_of_games(&self, [first, last]: [GameId; 2], length: u32) -> Result<Vec<GameId>> {
        let sql = "SELECT game_id FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT 1";
        let mut starts = Vec::new();
        let mut from = first;
        while let Some(game) = self.row(GAME, sql, [from.0, last.0], |cells| cells.get::<u32>(0))? {
            let start = game - (game - first.0) % length;
            starts.push(GameId(start));
            match start.checked_add(length) {
                Some(next) => from = GameId(next),
                None => break,
            }
        }
        Ok(starts)
    }

    /// Calls `see` with each position of the games in a range and the move played from it, in the order of
    /// games and plies.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn for_each_position_in(
        &self,
        [first, last]: [GameId; 2],
        mut see: impl FnMut(GameId, Ply, PositionKey, Option<MoveCode>),
    ) -> Result<()> {
        if self.layout == Layout::Compact {
            let replayed = self.replay([first, last], &mut see);
            return replayed.map_err(|source| self.failed(source));
        }
        let sql = "SELECT game_id, ply, key, move_code FROM game_position WHERE game_id BETWEEN ?1 AND ?2
                   ORDER BY game_id, ply";
        self.each(GAME_POSITION, sql, [first.0, last.0], |cells| {
            let code = cells.get(3)?;
            see(cells.get(0)?, cells.get(1)?, PositionKey::from_i64(cells.get(2)?), code);
            Ok(())
        })
    }

    /// Like [`for_each_position_in`](Self::for_each_position_in), for a compact database: replays the moves
    /// in `game_moves`. This is faster than reading the virtual table `game_position`.
    fn replay(
        &self,
        [first, last]: [GameId; 2],
        see: &mut dyn FnMut(GameId, Ply, PositionKey, Option<MoveCode>),
    ) -> rusqlite::Result<()> {
        let sql = "SELECT p.game_id, p.moves, game.start_fen
                   FROM game_moves AS p CROSS JOIN game ON game.game_id = p.game_id
                   WHERE p.game_id BETWEEN ?1 AND ?2 ORDER BY p.game_id";
        let (mut statement, start) = (self.connection.prepare_cached(sql)?, Position::start());
        let mut rows = statement.query([first.0, last.0])?;
        while let Some(row) = rows.next()? {
            let Ok(game) = Replay::read(row, &start) else { continue };
            game.each(|game| {
                see(game.id(), game.ply(), game.key(), game.next_move().map(|(code, _)| code));
                Ok::<_, rusqlite::Error>(())
            })?;
        }
        Ok(())
    }

    /// Calls `see` with each game in a range, its result, ratings and date, and whether it starts from a set-up
    /// position.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn for_each_outcome(
        &self,
        [first, last]: [GameId; 2],
        mut see: impl FnMut(GameId, CountedGame, bool),
    ) -> Result<()> {
        let sql = "SELECT game_id, result, white_elo, black_elo, date, start_fen NOTNULL
                   FROM game WHERE game_id BETWEEN ?1 AND ?2";
        self.each(GAME, sql, [first.0, last.0], |cells| {
            see(cells.get(0)?, outcome(cells)?, cells.get::<u32>(5)? == 1);
            Ok(())
        })
    }

    /// The number of games of a level that reached a position, the games listed in the position's row, and the
    /// first and the last year of each move; `None` if `level_position` has no row with this level and key.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn visited_counts(&self, level: Level, key: PositionKey) -> Result<Option<VisitedCounts>> {
        let sql = "SELECT level, key, games, unfinished, top_games, recent_games FROM level_position
                   WHERE level = ?1 AND key = ?2";
        let params = params![level.0, key.as_i64()];
        let found = self.row(LEVEL_POSITION, sql, params, |cells| {
            let games = cells.get::<u64>("games")?.saturating_add(cells.get("unfinished")?);
            Ok((games, [listed_games(cells, "top_games")?, listed_games(cells, "recent_games")?].concat()))
        });
        let Some((games, listed)) = found? else { return Ok(None) };
        let sql = "SELECT level, key, move_code, first_year, last_year FROM level_continuation
                   WHERE level = ?1 AND key = ?2";
        let mut years = Vec::new();
        self.each(LEVEL_CONTINUATION, sql, params, |cells| {
            let code = cells.get("move_code")?;
            years.push((code, cells.get("first_year")?, cells.get("last_year")?));
            Ok(())
        })?;
        Ok(Some(VisitedCounts { games, listed, years }))
    }

    /// The removed games that `visit_set` can still contain.
    pub(crate) fn deleted_games(&self) -> Result<GameSet> {
        let mut games = GameSet::default();
        self.each(DELETED_GAME, "SELECT game_id FROM deleted_game", [], |cells| {
            games.insert(cells.get("game_id")?);
            Ok(())
        })?;
        Ok(games)
    }

    /// Calls `see` with each game in the rows of `visit_set` for a position in a level. Also passes the last move
    /// that the game played from the position, if any.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn for_each_visit(
        &self,
        level: LevelGames,
        key: PositionKey,
        mut see: impl FnMut(GameId, PlayedMove),
    ) -> Result<()> {
        let seen = for_each_visit_set(&self.connection, &[level], key, |block, games| {
            for_each_visit(games, |number, played| see(game_of(block, number), played));
            Ok(())
        });
        seen.map(drop).map_err(|source| self.failed(source))
    }

    /// The greatest value in the first key column of a table; 0 if the table is empty.
    fn last(&self, table: Table) -> Result<u32> {
        let (name, column) = (table.name, table.key[0]);
        let sql = format!("SELECT max({column}) AS {column} FROM {name}");
        Ok(self.row(table, &sql, [], |cells| cells.get::<Option<u32>>(0))?.flatten().unwrap_or(0))
    }

    /// Fails if a view has the name of a table that the program needs. Reading such a view might never end,
    /// and rows cannot be written to it.
    ///
    /// # Errors
    /// [`ErrorKind::ViewForTable`]; errors of SQLite.
    pub fn check_tables(&self) -> Result<()> {
        let tables = "SELECT json_group_array(name) FROM sqlite_schema WHERE type = 'table'";
        let tables: String = Layout::of(&self.connection)
            .and_then(|layout| schema_of(SchemaVersion::LATEST, layout))
            .and_then(|schema| schema.query_row(tables, [], |row| row.get(0)))
            .map_err(|source| self.failed(source))?;
        let sql = "SELECT name FROM sqlite_schema
             WHERE type = 'view' AND lower(name) IN (SELECT value FROM json_each(?1)) LIMIT 1";
        match self.connection.query_row(sql, [tables], |row| row.get(0)).optional() {
            Ok(None) => Ok(()),
            Ok(Some(name)) => Err(ErrorKind::ViewForTable(name).at(&self.path)),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Fails if the greatest possible id is already used in one of the tables of runs, sources, games,
    /// players, events and sites.
    ///
    /// # Errors
    /// [`ErrorKind::NumbersUsedUp`]; errors of SQLite.
    pub fn check_numbers(&self) -> Result<()> {
        for table in [IMPORT, SOURCE, GAME, PLAYER, EVENT, SITE] {
            let last = self.last(table)?;
            if last == u32::MAX {
                return Err(ErrorKind::NumbersUsedUp { table: table.name, last }.at(&self.path));
            }
        }
        Ok(())
    }

    fn each(
        &self,
        table: Table,
        sql: &str,
        params: impl Params,
        see: impl FnMut(Cells<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        table.each(&self.connection, sql, params, see).map_err(|source| self.failed(source))
    }

    fn row<T>(
        &self,
        table: Table,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(Cells<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        table.first(&self.connection, sql, params, read).map_err(|source| self.failed(source))
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn failed(&self, source: rusqlite::Error) -> Error {
        Error::sqlite(&self.path, "read the existing rows", source)
    }

    /// The id of a name; `None` if the table does not have the name.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn name(&self, table: NameTable, name: &str) -> Result<Option<NameId>> {
        let (table, find) = table.table();
        self.row(table, find, [name], |cells| cells.get(0))
    }

    /// All rows of `source` that have a digest.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn sources(&self) -> Result<KnownSources> {
        let sql = format!(
            "WITH left_out AS (
                SELECT source_id, count(*) AS left_out FROM (
                    SELECT source_id, game_number FROM problem WHERE game_id IS NULL AND game_number IS NOT NULL
                    EXCEPT SELECT source_id, game_number FROM duplicate WHERE game_id IS NULL)
                GROUP BY source_id),
            removed AS (SELECT source_id, count(*) AS removed FROM removed_game GROUP BY source_id)
            SELECT source_id, path, first_byte, bytes, digest,
                games + duplicates + ifnull(left_out, 0) + ifnull(removed, 0), ifnull(last_game, 0), {GIVEN_ENCODING},
                indexed_at IS NULL
            FROM source LEFT JOIN left_out USING (source_id) LEFT JOIN removed USING (source_id)
            WHERE digest IS NOT NULL ORDER BY source_id"
        );
        let mut sources = KnownSources::default();
        let read = SOURCE.each(&self.connection, &sql, [], |cells| {
            let reading = KnownSource {
                id: cells.get(0)?,
                bytes: cells.get(3)?,
                digest: cells.get(4)?,
                games: cells.get(5)?,
                last_game: cells.get(6)?,
                encoding: cells.get(7)?,
                is_damaged: cells.get::<i64>(8)? == 1,
                before: None,
            };
            sources.add(cells.get(1)?, cells.get(2)?, reading);
            Ok(())
        });
        read.map_err(|source| Error::sqlite(&self.path, "read table source", source))?;
        Ok(sources)
    }

    /// The [`Tail`] of a file's text: the last game found, and everything after it. `source` must be the
    /// latest reading of the file.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn tail(&self, sources: &KnownSources, source: &KnownSource) -> Result<Tail> {
        let readings: Vec<SourceId> = sources.readings(source).collect();
        let readings = serde_json::json!(readings).to_string();
        let games = source.games;
        let last_game = "SELECT last_game FROM source WHERE source_id IN reading AND last_game IS NOT NULL
             ORDER BY source_id DESC LIMIT 1";
        let last_game = self.of_readings(SOURCE, last_game, [&readings], |cells| cells.get::<i64>(0))?;
        let Some(byte_offset) = last_game else {
            return Ok(Tail { readings, byte_offset: 0, games: 0, game: None });
        };
        let kept =
            "SELECT game_id, byte_offset FROM game WHERE source_id IN reading ORDER BY game_id DESC LIMIT 1";
        let kept =
            self.of_readings(GAME, kept, [&readings], |cells| Ok((cells.get(0)?, cells.get::<i64>(1)?)))?;
        let game = kept.filter(|(_, offset)| *offset == byte_offset).map(|(game, _)| game);
        // Text that was appended to the file later can show that the text at `last_game` is not a game. Then
        // `games` does not count the text at `last_game`.
        let other = "SELECT 1 FROM duplicate
             WHERE source_id IN reading AND byte_offset >= ?2 AND game_id IS NULL
             UNION ALL SELECT 1 FROM removed_game WHERE source_id IN reading AND byte_offset >= ?2
             UNION ALL SELECT 1 FROM problem
             WHERE source_id IN reading AND byte_offset >= ?2 AND game_id IS NULL AND game_number = ?3 LIMIT 1";
        let params = params![readings, byte_offset, games.cast_signed()];
        let is_game = game.is_some() || self.of_readings(GAME, other, params, |_| Ok(()))?.is_some();
        let games = games - u64::from(is_game && games > 0);
        Ok(Tail { readings, byte_offset: byte_offset.cast_unsigned(), games, game })
    }

    /// The first row of a query. The query can use the table `reading`, which contains the readings that the
    /// JSON array `?1` lists.
    fn of_readings<T>(
        &self,
        table: Table,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(Cells<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.row(table, &format!("WITH reading AS ({READINGS}) {sql}"), params, read)
    }

    /// Calls `see` with each game whose moves have this hash, in the order of ids. If `white` is given,
    /// passes only games in which this player has White. Games with the same hash can have different moves.
    ///
    /// # Errors
    /// Errors of SQLite and of `see`.
    pub fn for_each_alike<E: From<Error>>(
        &self,
        moves_hash: u64,
        white: Option<NameId>,
        mut see: impl FnMut(&ComparedGame) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let failed = |source| Error::sqlite(&self.path, "look for duplicates", source);
        let (columns, hash) = (ComparedGame::COLUMNS, moves_hash.cast_signed());
        let and_white = if white.is_some() { "AND white_id = ?2" } else { "" };
        let sql = format!(
            "WITH RECURSIVE {HASH_BLOCKS} SELECT {columns} FROM hash_block CROSS JOIN game
             WHERE game_id >> 18 = number AND moves_hash = ?1 {and_white} ORDER BY game_id"
        );
        let params = std::iter::once(hash).chain(white.map(|white| white.0.into()));
        let mut query = self.connection.prepare_cached(&sql).map_err(failed)?;
        let mut rows = query.query(params_from_iter(params)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let game = ComparedGame::read(row, &self.connection).map_err(failed)?;
            see(&game)?;
        }
        Ok(())
    }
}

fn outcome(cells: Cells<'_>) -> rusqlite::Result<CountedGame> {
    let elos = [cells.get("white_elo")?, cells.get("black_elo")?];
    let day = cells.get::<Option<&str>>("date")?.map_or(0, day_number);
    Ok(CountedGame::new(cells.get("result")?, elos, day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Build, BuildOptions, BulkLoader, NewImport, SourceTotals};
    use std::time::{Duration, Instant};

    fn totals(bytes: u64, digest: u8, last_game: u64) -> SourceTotals {
        let digest = Some(crate::store::SourceDigest([digest; 32]));
        SourceTotals {
            bytes: Some(bytes),
            digest,
            games: 2,
            last_game: Some(last_game),
            ..SourceTotals::default()
        }
    }

    /// A database with these sources: path, first byte, length, digest.
    fn known(directory: &Path, sources: impl Iterator<Item = (String, u64, u64, u8)>) -> Snapshot {
        let target = directory.join("a.db");
        let build = Build::create(
            &target,
            BuildOptions { overwrite: true, cache_bytes: 1 << 20, layout: Layout::Open },
        )
        .unwrap();
        let mut loader = BulkLoader::begin(build.connection(), build.path()).unwrap();
        loader.add_import(&NewImport { id: ImportId(1), program_version: "1", options: "{}" }).unwrap();
        for (id, (path, first_byte, bytes, digest)) in (1..).map(SourceId).zip(sources) {
            loader.add_source(id, path, first_byte).unwrap();
            loader.finish_source(id, &totals(bytes, digest, bytes - 1)).unwrap();
        }
        loader.finish().unwrap();
        build.finish().unwrap();
        Snapshot::open(&target).unwrap()
    }

    #[test]
    fn readings_of_a_growing_file_are_linked() {
        let directory = tempfile::tempdir().unwrap();
        let rows = [("a", 0, 10, 1), ("b", 0, 10, 2), ("a", 10, 20, 3), ("a", 20, 30, 4), ("b", 0, 5, 5)];
        let known =
            known(directory.path(), rows.into_iter().map(|(path, a, b, c)| (path.to_owned(), a, b, c)));
        let sources = known.sources().unwrap();
        let [a, b] = ["a", "b"].map(|path| sources.latest(Path::new(path)).unwrap());
        assert_eq!((a.id, a.bytes, a.games, a.last_game), (SourceId(4), 30, 6, 29));
        // The file `b` was rewritten.
        assert_eq!((b.id, b.bytes, b.games, b.last_game), (SourceId(5), 5, 2, 4));
        assert_eq!(known.tail(&sources, a).unwrap().readings, "[4,3,1]");
        assert_eq!(known.tail(&sources, b).unwrap().readings, "[5]");
        assert_eq!(sources.latest(Path::new("c")), None);
        assert!(sources.has_length(20) && !sources.has_length(21) && sources.longest() == Some(30));
        assert!(
            sources.has_text(10, b.digest.replace("05", "02")) && !sources.has_text(11, b.digest.clone())
        );
    }

    #[test]
    fn many_sources_are_looked_up_as_quickly_as_few() {
        const COUNT: u32 = 100_000;
        let directory = tempfile::tempdir().unwrap();
        let path = |number: u32| format!("{}/{number}.pgn", "d".repeat(40));
        let known = known(directory.path(), (0..COUNT).map(|number| (path(number), 0, 100, 1)));
        let sources = known.sources().unwrap();
        let started = Instant::now();
        for number in 0..COUNT {
            assert_eq!(sources.latest(Path::new(&path(number))).unwrap().id, SourceId(number + 1));
            assert!(!sources.has_length(99) && !sources.has_text(100, number.to_string()));
        }
        // With one SQL query per source, this would take minutes.
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}
