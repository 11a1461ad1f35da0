//! The blocks of games that a database has.

use rusqlite::Connection;

use crate::id::GameId;
use crate::store::block_set::{block_of, games_of};
use crate::store::cell::GAME;

/// The game with the greatest id; `None` if there are no games.
pub(crate) fn last_game(connection: &Connection) -> rusqlite::Result<Option<GameId>> {
    let sql = "SELECT max(game_id) AS game_id FROM game";
    Ok(GAME.first(connection, sql, [], |cells| cells.get("game_id"))?.flatten())
}

/// The block of the last game; 0 if there are no games.
pub(crate) fn last_block(connection: &Connection) -> rusqlite::Result<u32> {
    Ok(block_of(last_game(connection)?.unwrap_or_default()).0)
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
