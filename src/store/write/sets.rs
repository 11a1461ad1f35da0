//! Updates the table `game_column` when games are added or removed, and the table `game_set` when levels with
//! removed games are written again.

use rusqlite::{Connection, Row};

use crate::id::Level;
use crate::store::block_set::{block_of, games_of};
use crate::store::cell::{Cells, GAME_COLUMN, read_rows};
use crate::store::error::Result;
use crate::store::game_column::{ColumnBuilder, StoredColumns, places};
use crate::store::game_set::GameSet;
use crate::store::read::features::deleted_games;
use crate::store::read::game_column::BlockColumns;
use crate::store::row::virtual_table::{Cell, Rows as _};
use crate::store::row::{GameRow, HeaderBatch};
use crate::store::write::bulk::BulkLoader;
use crate::store::write::features::remove_from_block;
use crate::store::write::fill::put_columns;

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

    /// Removes games from the columns. If no game of a block is left, also removes its rows of `visit_set`:
    /// readers of these rows need the columns, and look for the rows only up to the last game.
    pub(super) fn remove_from_columns(&self, games: &GameSet) -> Result<()> {
        self.run(WRITE_COLUMNS, |connection| {
            let put = |done: &StoredColumns| {
                put_columns(connection, done)?;
                let (block, columns) = done;
                if columns.iter().all(|(_, column)| column.is_none()) {
                    let sql = "DELETE FROM visit_set WHERE level IN (SELECT level FROM occurrence_level) AND block = ?1";
                    connection.execute(sql, [block])?;
                }
                Ok::<_, rusqlite::Error>(())
            };
            let mut builder = ColumnBuilder::default();
            let mut current = None;
            for game in games.iter() {
                let (block, number) = block_of(game);
                if current != Some(block) {
                    current = Some(block);
                    if let Some(done) = builder.take() {
                        put(&done)?;
                    }
                    if let Some(columns) = BlockColumns::new(connection, block).all()? {
                        builder = ColumnBuilder::resume(block, &columns);
                    }
                }
                builder.remove(number);
            }
            builder.take().map_or(Ok(()), |done| put(&done))
        })
    }

    /// Removes the games in `deleted_game` from the sets of all blocks with removed games from `level` on.
    pub(super) fn remove_deleted_from_sets(&self, level: Level) -> Result<()> {
        self.run("remove games from table game_set", |connection| {
            let blocks = "SELECT DISTINCT game_id >> 16 FROM deleted_game WHERE game_id >= ?1";
            let blocks = read_rows(&mut connection.prepare(blocks)?, [level.0], |row| row.get(0))?;
            let remove = |block| remove_from_block(connection, block, &deleted_games(connection, block)?);
            blocks.into_iter().try_for_each(remove)
        })
    }
}
