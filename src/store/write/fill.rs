//! Rebuilds the table `game_column` from the rows of `game`.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use crate::id::GameId;
use crate::store::block_set::games_of;
use crate::store::game_column::{COLUMNS, ColumnBuilder, StoredColumns};
use crate::store::read::block::blocks_with_games;
use crate::store::row::virtual_table::Cell;

const PUT_COLUMN: &str =
    "INSERT OR REPLACE INTO game_column (name, block, cells, games) VALUES (?1, ?2, ?3, ?4)";
const REMOVE_COLUMN: &str = "DELETE FROM game_column WHERE name = ?1 AND block = ?2";

/// Replaces the stored columns of a block.
pub(super) fn put_columns(connection: &Connection, (block, columns): &StoredColumns) -> rusqlite::Result<()> {
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
