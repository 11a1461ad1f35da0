//! Columns and sets of games: written as games come, changed as they go, and made anew from the rows of games.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use crate::board::{MoveCode, PositionKey, ShortMove};
use crate::id::GameId;
use crate::store::block_set::{BLOCK_GAMES, block_of, game_of};
use crate::store::cell::{Cells, GAME_POSITION, VISIT_SET, VISITED_POSITION};
use crate::store::error::Result;
use crate::store::game_column::{COLUMNS, ColumnBuilder, StoredColumns, places};
use crate::store::game_set::GameSet;
use crate::store::read::game_column::BlockColumns;
use crate::store::row::GameRow;
use crate::store::row::virtual_table::{Cell, Rows as _};
use crate::store::visit_set::{PlayedMove, for_each_visit, pack_block};
use crate::store::write::bulk::BulkLoader;

const WRITE_COLUMNS: &str = "write table game_column";
const WRITE_VISITS: &str = "write table visit_set";
const PUT_COLUMN: &str =
    "INSERT OR REPLACE INTO game_column (name, block, cells, games) VALUES (?1, ?2, ?3, ?4)";
const REMOVE_COLUMN: &str = "DELETE FROM game_column WHERE name = ?1 AND block = ?2";
const PUT_VISITS: &str = "INSERT OR REPLACE INTO visit_set (key, block, games) VALUES (?1, ?2, ?3)";

/// The games of one block, as numbers that `BETWEEN` takes.
const fn games_of(block: u32) -> (u32, u32) {
    (block * BLOCK_GAMES, block * BLOCK_GAMES + (BLOCK_GAMES - 1))
}

/// Writes a block of columns in the place of what stands there.
fn put_columns(connection: &Connection, (block, columns): &StoredColumns) -> rusqlite::Result<()> {
    for (name, stored) in columns {
        match stored {
            Some((cells, games)) => {
                connection.prepare_cached(PUT_COLUMN)?.execute(params![name, block, cells, games])?;
            }
            None => _ = connection.prepare_cached(REMOVE_COLUMN)?.execute(params![name, block])?,
        }
    }
    Ok(())
}

/// A block's columns made of the rows of `game`.
pub(crate) fn columns_of_games(
    connection: &Connection,
    block: u32,
) -> rusqlite::Result<Option<StoredColumns>> {
    let sql = format!(
        "SELECT game_id, {} FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY 1",
        COLUMNS.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![games_of(block).0, games_of(block).1])?;
    let mut builder = ColumnBuilder::default();
    while let Some(row) = rows.next()? {
        let cell = |index| match row.get_ref(index + 1) {
            Ok(ValueRef::Integer(number)) => Cell::Integer(number),
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).map_or(Cell::Null, Cell::Text),
            _ => Cell::Null,
        };
        builder.push(GameId(row.get(0)?), cell);
    }
    Ok(builder.take())
}

/// What games of a block played from visited positions when they were there last, by the positions' keys as SQLite orders them.
pub(crate) fn visits_of_games(
    connection: &Connection,
    block: u32,
    visited: &HashMap<PositionKey, String>,
) -> rusqlite::Result<BTreeMap<i64, Vec<u8>>> {
    let sql = "SELECT game_id, ply, key, fen, move_code FROM game_position WHERE game_id BETWEEN ?1 AND ?2 ORDER BY 1, 2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![games_of(block).0, games_of(block).1])?;
    let mut visits: HashMap<PositionKey, Vec<(u16, PlayedMove)>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let cells = Cells::new(row, GAME_POSITION);
        let key = PositionKey::from_i64(cells.get(2)?);
        if visited.get(&key).is_none_or(|fen| cells.get(3) != Ok(fen.as_str())) {
            continue;
        }
        let code = cells.get::<Option<u32>>(4)?.map(MoveCode::from_stored);
        let visit = (block_of(GameId(cells.get(0)?)).1, PlayedMove::new(code.map(ShortMove::new)));
        let visits = visits.entry(key).or_default();
        match visits.last_mut() {
            Some(last) if last.0 == visit.0 => *last = visit,
            _ => visits.push(visit),
        }
    }
    Ok(visits.into_iter().map(|(key, visits)| (key.as_i64(), pack_block(visits))).collect())
}

/// The keys of the visited positions, with their FENs.
pub(crate) fn visited_fens(connection: &Connection) -> rusqlite::Result<HashMap<PositionKey, String>> {
    let mut statement = connection.prepare("SELECT key, fen FROM visited_position")?;
    let rows = statement.query_map([], |row| {
        let cells = Cells::new(row, VISITED_POSITION);
        Ok((PositionKey::from_i64(cells.get("key")?), cells.get("fen")?))
    })?;
    rows.collect()
}

/// The blocks that have games.
pub(crate) fn blocks_with_games(connection: &Connection) -> rusqlite::Result<Vec<u32>> {
    let last: Option<u32> = connection.query_row("SELECT max(game_id) FROM game", [], |row| row.get(0))?;
    let mut some =
        connection.prepare("SELECT EXISTS (SELECT 1 FROM game WHERE game_id BETWEEN ?1 AND ?2)")?;
    let blocks = last.map_or(0..0, |last| 0..block_of(GameId(last)).0 + 1);
    let mut found = Vec::new();
    for block in blocks {
        if some.query_row(params![games_of(block).0, games_of(block).1], |row| row.get(0))? {
            found.push(block);
        }
    }
    Ok(found)
}

/// Makes the columns of games anew from the rows of `game`.
pub(crate) fn fill_columns(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM game_column")?;
    for block in blocks_with_games(connection)? {
        if let Some(columns) = columns_of_games(connection, block)? {
            put_columns(connection, &columns)?;
        }
    }
    Ok(())
}

/// Makes the sets of games that reached visited positions anew from the rows of `game_position`.
pub(crate) fn fill_visit_sets(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM visit_set")?;
    let visited = visited_fens(connection)?;
    if visited.is_empty() {
        return Ok(());
    }
    let mut put = connection.prepare(PUT_VISITS)?;
    for block in blocks_with_games(connection)? {
        for (key, games) in visits_of_games(connection, block, &visited)? {
            put.execute(params![key, block, games])?;
        }
    }
    Ok(())
}

impl BulkLoader<'_> {
    /// Goes on with the last block of columns that a database has, where some games are about to be `removed`: what is written in
    /// its place is whole.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn resume_columns(&mut self, database: &Connection, removed: &GameSet) -> Result<()> {
        let resume = || -> rusqlite::Result<Option<ColumnBuilder>> {
            let last = "SELECT max(block) FROM game_column";
            let Some(block) = database.query_row(last, [], |row| row.get(0))? else { return Ok(None) };
            let Some(columns) = BlockColumns::new(database, block).all()? else { return Ok(None) };
            let mut builder = ColumnBuilder::resume(block, columns);
            let (first, last) = games_of(block);
            let gone = removed.iter().skip_while(|game| game.0 < first).take_while(|game| game.0 <= last);
            gone.for_each(|game| builder.remove(block_of(game).1));
            Ok(Some(builder))
        };
        if let Some(builder) = resume().map_err(|source| self.failed("read table game_column", source))? {
            self.columns = builder;
        }
        Ok(())
    }

    /// Puts rows of `game` into columns.
    pub(super) fn push_columns(&mut self, batch: &crate::store::row::HeaderBatch) -> Result<()> {
        let places = places::<GameRow>();
        for (index, game) in batch.games.iter().enumerate() {
            let cell = |column: usize| GameRow::cell(batch, index, places[column]).unwrap_or(Cell::Null);
            if let Some(done) = self.columns.push(game.game, cell) {
                self.put_columns(&done)?;
            }
        }
        Ok(())
    }

    /// Writes the block of columns that was begun.
    pub(super) fn end_columns(&mut self) -> Result<()> {
        match self.columns.take() {
            Some(done) => self.put_columns(&done),
            None => Ok(()),
        }
    }

    fn put_columns(&self, columns: &StoredColumns) -> Result<()> {
        put_columns(self.connection(), columns).map_err(|source| self.failed(WRITE_COLUMNS, source))
    }

    /// Takes games out of the columns.
    pub(super) fn remove_from_columns(&self, games: &GameSet) -> Result<()> {
        let remove = || -> rusqlite::Result<()> {
            let mut builder = ColumnBuilder::default();
            let mut current = None;
            for game in games.iter() {
                let (block, number) = block_of(game);
                if current != Some(block) {
                    current = Some(block);
                    if let Some(done) = builder.take() {
                        put_columns(self.connection(), &done)?;
                    }
                    if let Some(columns) = BlockColumns::new(self.connection(), block).all()? {
                        builder = ColumnBuilder::resume(block, columns);
                    }
                }
                builder.remove(number);
            }
            builder.take().map_or(Ok(()), |done| put_columns(self.connection(), &done))
        };
        remove().map_err(|source| self.failed(WRITE_COLUMNS, source))
    }

    /// Writes who reached a visited position in a block of games, in the place of what stands there; without games the row goes.
    pub(crate) fn put_visits(&self, key: PositionKey, block: u32, games: &[u8]) -> Result<()> {
        if games.is_empty() {
            let sql = "DELETE FROM visit_set WHERE key = ?1 AND block = ?2";
            return self.execute(WRITE_VISITS, sql, params![key.as_i64(), block]);
        }
        self.execute(WRITE_VISITS, PUT_VISITS, params![key.as_i64(), block, games])
    }

    /// Adds games of a block that reached a visited position to those that are there.
    pub(crate) fn add_visits(&self, key: PositionKey, block: u32, games: &[u8]) -> Result<()> {
        let Some(old) =
            visits(self.connection(), key, block).map_err(|source| self.failed(WRITE_VISITS, source))?
        else {
            return self.put_visits(key, block, games);
        };
        let mut all = Vec::new();
        for bytes in [old.as_slice(), games] {
            for_each_visit(bytes, |number, played| all.push((number, played)));
        }
        all.sort_unstable();
        self.put_visits(key, block, &pack_block(all))
    }

    /// Takes removed games of a block out of those that reached a visited position.
    pub(crate) fn remove_visits(&self, key: PositionKey, block: u32, removed: &GameSet) -> Result<()> {
        let old =
            visits(self.connection(), key, block).map_err(|source| self.failed(WRITE_VISITS, source))?;
        let mut left = Vec::new();
        for_each_visit(old.as_deref().unwrap_or_default(), |number, played| {
            if !removed.contains(game_of(block, number)) {
                left.push((number, played));
            }
        });
        left.sort_unstable();
        self.put_visits(key, block, &pack_block(left))
    }

    /// Removes the sets of a position that is no visited one any more.
    pub(super) fn remove_visit_sets(&self, key: PositionKey) -> Result<()> {
        self.execute(WRITE_VISITS, "DELETE FROM visit_set WHERE key = ?1", [key.as_i64()])
    }
}

/// Who reached a visited position in a block of games.
pub(crate) fn visits(
    connection: &Connection,
    key: PositionKey,
    block: u32,
) -> rusqlite::Result<Option<Vec<u8>>> {
    use rusqlite::OptionalExtension as _;
    let sql = "SELECT key, block, games FROM visit_set WHERE key = ?1 AND block = ?2";
    connection
        .prepare_cached(sql)?
        .query_row(params![key.as_i64(), block], |row| {
            Cells::new(row, VISIT_SET).get::<&[u8]>("games").map(<[u8]>::to_vec)
        })
        .optional()
}
