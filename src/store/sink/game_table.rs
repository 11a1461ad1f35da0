//! Writes the tables `game` and `game_moves` as pages, and collects the rows of the indexes of `game`.

use std::sync::Arc;

use rusqlite::Connection;

use super::game_index::IndexRows;
use crate::id::ImportId;
use crate::store::cell::read_rows;
use crate::store::error::Result;
use crate::store::pages::{PageFile, PageNumber, RowRecord, TableWriter};
use crate::store::row::virtual_table::{Cell, Columns as _, Rows as _};
use crate::store::row::{GameRow, HeaderBatch, MovesRow};

/// Where the values of a column come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// The id of the game, which is the rowid and is not stored in the record.
    Rowid,
    /// The value of the column with this index in `GameRow::COLUMNS`.
    Value(usize),
    /// The id of the run.
    Import,
}

/// The columns of `game`, in order.
pub(crate) fn columns_of_game(connection: &Connection) -> rusqlite::Result<Vec<Column>> {
    let column = |name: String, is_key: bool| match GameRow::COLUMNS.iter().position(|own| *own == name) {
        Some(_) if is_key => Column::Rowid,
        Some(index) => Column::Value(index),
        // `import_id` is the only column of the table that `GameRow` does not have.
        None => Column::Import,
    };
    let mut query = connection.prepare("SELECT name, pk FROM pragma_table_info('game') ORDER BY cid")?;
    read_rows(&mut query, [], |row| Ok(column(row.get(0)?, row.get(1)?)))
}

/// Writes the rows of `game` and `game_moves`, and collects the rows of the indexes of `game` for sorting.
#[derive(Debug)]
pub(crate) struct GameTables {
    columns: Vec<Column>,
    indexes: Vec<IndexRows>,
    games: TableWriter,
    moves: TableWriter,
    /// The root pages of `game` and `game_moves`.
    roots: [PageNumber; 2],
    record: RowRecord,
}

impl GameTables {
    /// Begins to write the tables. `columns` and `indexes` are those of `game`. `roots` are the root pages of the
    /// empty tables `game` and `game_moves`.
    pub(crate) fn new(
        columns: Vec<Column>,
        indexes: Vec<IndexRows>,
        roots: [PageNumber; 2],
        file: &Arc<PageFile>,
    ) -> Self {
        let [games, moves] = [(); 2].map(|()| TableWriter::new(Arc::clone(file)));
        Self { columns, indexes, games, moves, roots, record: RowRecord::default() }
    }

    /// Writes the games of a batch for the run `import`, and their moves. The ids of these games must be in
    /// ascending order, and greater than those of earlier batches.
    pub(crate) fn append(&mut self, batch: &HeaderBatch, import: ImportId) -> Result<()> {
        let Self { columns, indexes, games, moves, record, .. } = self;
        let mut cells = Vec::with_capacity(columns.len());
        for (index, game) in batch.games.iter().enumerate() {
            let rowid = game.game.0;
            cells.clear();
            cells.extend(columns.iter().map(|column| match *column {
                Column::Rowid => Cell::Integer(rowid.into()),
                Column::Import => Cell::Integer(import.0.into()),
                Column::Value(column) => {
                    GameRow::cell(batch, index, column).expect("a row's texts are in its batch")
                }
            }));
            indexes.iter_mut().try_for_each(|index| index.push(&cells, rowid))?;
            let values = cells.iter().zip(columns.iter()).map(|(&cell, column)| match column {
                Column::Rowid => Cell::Null,
                Column::Import | Column::Value(_) => cell,
            });
            games.push(rowid, record.of(values))?;
        }
        for MovesRow { game, moves: codes } in &batch.moves {
            moves.push(game.0, record.of([Cell::Null, Cell::Blob(codes)]))?;
        }
        Ok(())
    }

    /// Completes the tables. Returns the indexes of `game`, which the caller must build. They can be built in
    /// parallel.
    pub(crate) fn finish(self) -> Result<Vec<IndexRows>> {
        let [games, moves] = self.roots;
        self.games.finish(games)?;
        self.moves.finish(moves)?;
        Ok(self.indexes)
    }
}
