//! The blocks of games that a database has.

use rusqlite::Connection;

use crate::id::GameId;
use crate::store::block_set::{block_of, games_of};

/// The last game; 0 if there are no games.
pub(crate) fn last_game(connection: &Connection) -> rusqlite::Result<GameId> {
    let mut last = connection.prepare_cached("SELECT max(game_id) FROM game")?;
    let last = last.query_row([], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0);
    Ok(GameId(u32::try_from(last).unwrap_or(u32::MAX)))
}

/// The block of the last game; 0 if there are no games.
pub(crate) fn last_block(connection: &Connection) -> rusqlite::Result<u32> {
    Ok(block_of(last_game(connection)?).0)
}

/// Whether there is a game whose id is in this range, both ends included.
pub(crate) fn has_games(connection: &Connection, first_and_last: [u32; 2]) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM game WHERE game_id BETWEEN ?1 AND ?2";
    connection.prepare_cached(sql)?.exists(first_and_last)
}

/// The numbers of the blocks that have games, in ascending order.
pub(crate) fn blocks_with_games(connection: &Connection) -> rusqlite::Result<Vec<u32>> {
    let mut found = Vec::new();
    for block in 0..=last_block(connection)? {
        if has_games(connection, games_of(block))? {
            found.push(block);
        }
    }
    Ok(found)
}
