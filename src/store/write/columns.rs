//! Updates the table `game_column` when games are added or removed, and rebuilds it from the rows of `game`.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::id::GameId;
use crate::store::block_set::{block_of, games_of};
use crate::store::blocks::blocks_with_games;
use crate::store::cell::{Cells, GAME_COLUMN};
use crate::store::error::Result;
use crate::store::game_column::{COLUMNS, ColumnBuilder, StoredColumns, places};
use crate::store::game_set::GameSet;
use crate::store::read::game_column::BlockColumns;
use crate::store::row::virtual_table::{Cell, Rows as _};
use crate::store::row::{GameRow, HeaderBatch};
use crate::store::write::bulk::BulkLoader;

const WRITE_COLUMNS: &str = "write table game_column";

impl BulkLoader<'_> {
    /// Continues the last block of columns of a database, but without the games in `removed`, which will be
    /// removed from the database later. The continued block then replaces the stored block as a whole.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn resume_columns(&mut self, database: &Connection, removed: &GameSet) -> Result<()> {
        let resumed = self.run("read table game_column", |_| {
            let last = "SELECT max(block) AS block FROM game_column";
            let read = |row: &Row<'_>| Cells::new(row, GAME_COLUMN).get::<Option<u16>>("block");
            let Some(block) = database.query_row(last, [], read)?.map(u32::from) else { return Ok(None) };
            let Some(columns) = BlockColumns::new(database, block).all()? else { return Ok(None) };
            let mut builder = ColumnBuilder::resume(block, &columns);
            let [first, last] = games_of(block);
            let gone = removed.iter().skip_while(|game| game.0 < first).take_while(|game| game.0 <= last);
            gone.for_each(|game| builder.remove(block_of(game).1));
            Ok(Some(builder))
        });
        resumed.map(|builder| self.columns = builder.unwrap_or_default())
    }

    /// Adds the games of a batch to the columns.
    pub(super) fn push_columns(&mut self, batch: &HeaderBatch) -> Result<()> {
        let places = places();
        for (index, game) in batch.games.iter().enumerate() {
            let cell = |column: usize| GameRow::cell(batch, index, places[column]).unwrap_or(Cell::Null);
            if let Some(done) = self.columns.push(game.game, cell) {
                self.put_columns(&done)?;
            }
        }
        Ok(())
    }

    /// Writes the current block of columns.
    pub(super) fn end_columns(&mut self) -> Result<()> {
        match self.columns.take() {
            Some(done) => self.put_columns(&done),
            None => Ok(()),
        }
    }

    fn put_columns(&self, columns: &StoredColumns) -> Result<()> {
        self.run(WRITE_COLUMNS, |connection| put_columns(connection, columns))
    }

    /// Removes games from the columns. If no game of a block is left, also removes the block's rows of
    /// `visit_set`: readers of these rows need the columns, and do not read blocks after the last game.
    pub(super) fn remove_from_columns(&self, games: &GameSet) -> Result<()> {
        self.run(WRITE_COLUMNS, |connection| {
            let mut games = games.iter().map(block_of).peekable();
            while let Some(&(block, _)) = games.peek() {
                let columns = BlockColumns::new(connection, block).all()?;
                let mut builder =
                    columns.map(|columns| ColumnBuilder::resume(block, &columns)).unwrap_or_default();
                while let Some((_, number)) = games.next_if(|game| game.0 == block) {
                    builder.remove(number);
                }
                let Some(done) = builder.take() else { continue };
                put_columns(connection, &done)?;
                if done.1.iter().all(|(_, column)| column.is_none()) {
                    let sql = "DELETE FROM visit_set WHERE level IN (SELECT level FROM occurrence_level) AND block = ?1";
                    connection.execute(sql, [block])?;
                }
            }
            Ok(())
        })
    }
}

/// Replaces the stored columns of a block.
fn put_columns(connection: &Connection, (block, columns): &StoredColumns) -> rusqlite::Result<()> {
    const PUT: &str =
        "INSERT OR REPLACE INTO game_column (name, block, cells, games) VALUES (?1, ?2, ?3, ?4)";
    const REMOVE: &str = "DELETE FROM game_column WHERE name = ?1 AND block = ?2";
    for (name, stored) in columns {
        match stored {
            Some((cells, games)) => {
                connection.prepare_cached(PUT)?.execute(params![name, block, cells, games])?;
            }
            None => _ = connection.prepare_cached(REMOVE)?.execute(params![name, block])?,
        }
    }
    Ok(())
}

/// Builds a block's columns from the rows of `game`; `None` if the block has no games.
pub(crate) fn columns_of_games(
    connection: &Connection,
    block: u32,
) -> rusqlite::Result<Option<StoredColumns>> {
    let sql = format!(
        "SELECT game_id, {} FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY 1",
        COLUMNS.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(games_of(block))?;
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

/// Rebuilds the table `game_column` from the rows of `game`.
pub(crate) fn fill_columns(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM game_column")?;
    for block in blocks_with_games(connection)? {
        if let Some(columns) = columns_of_games(connection, block)? {
            put_columns(connection, &columns)?;
        }
    }
    Ok(())
}
