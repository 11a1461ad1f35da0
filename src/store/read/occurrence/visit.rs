//! Queries about the games that reached a position: rows and sets of visited positions, and occurrences.

use rusqlite::{Connection, params};

use super::hit::{OCCURRENCES, listed_games};
use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Ply};
use crate::store::Result;
use crate::store::block_set::block_of;
use crate::store::cell::{Cells, GAME_POSITION, POSITION_GAME, VISIT_SET, VISITED_POSITION};

/// Data of a visited position that can change when games are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitedCounts {
    /// The number of games that reached the position, including games without a result.
    pub games: u64,
    /// The listed games: first the best-rated games, then the latest games. A game can be listed twice.
    pub listed: Vec<GameId>,
    /// The moves played, each with the first and the last year of its games; `None` if no year is known.
    pub years: Vec<(MoveCode, Option<u16>, Option<u16>)>,
}

/// The FEN and the lists of games of a visited position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VisitedPositionLists {
    /// The canonical FEN.
    pub fen: String,
    /// The best-rated games, best first.
    pub top_games: Vec<GameId>,
    /// The latest games, latest first.
    pub recent_games: Vec<GameId>,
}

/// Access to the rows of visited positions through a connection.
pub(crate) trait VisitedRows {
    /// The FEN and the lists of a visited position; `None` if it has no row.
    fn lists(&self, key: PositionKey) -> Result<Option<VisitedPositionLists>>;

    /// The games of a block that reached a visited position, in stored form; `None` if there are none.
    fn visits(&self, key: PositionKey, block: u32) -> Result<Option<Vec<u8>>>;
}

/// The FEN and the lists of a visited position; `None` if it has no row.
pub(crate) fn visited_lists(
    connection: &Connection,
    key: PositionKey,
) -> rusqlite::Result<Option<VisitedPositionLists>> {
    let sql = "SELECT key, fen, top_games, recent_games FROM visited_position WHERE key = ?1";
    VISITED_POSITION.first(connection, sql, [key.as_i64()], |cells| {
        let (top_games, recent_games) =
            (listed_games(cells, "top_games")?, listed_games(cells, "recent_games")?);
        Ok(VisitedPositionLists { fen: cells.get("fen")?, top_games, recent_games })
    })
}

/// The games of a block that reached a visited position, in stored form; `None` if there are none.
pub(crate) fn visits(
    connection: &Connection,
    key: PositionKey,
    block: u32,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = "SELECT block, key, games FROM visit_set WHERE block = ?2 AND key = ?1";
    let params = params![key.as_i64(), block];
    VISIT_SET.first(connection, sql, params, |cells| cells.get::<&[u8]>("games").map(<[u8]>::to_vec))
}

/// Whether `position_game` has at least `count` rows with this key. `count` must be at least 1.
pub(crate) fn has_occurrences(
    connection: &Connection,
    key: PositionKey,
    count: u32,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM position_game WHERE key = ?1 LIMIT 1 OFFSET ?2";
    connection.prepare_cached(sql)?.exists(params![key.as_i64(), count.saturating_sub(1)])
}

/// The block of the last game; 0 if there are no games.
pub(crate) fn last_block(connection: &Connection) -> rusqlite::Result<u32> {
    let mut last = connection.prepare_cached("SELECT max(game_id) FROM game")?;
    let last = last.query_row([], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0);
    Ok(block_of(GameId(u32::try_from(last).unwrap_or(u32::MAX))).0)
}

/// Calls `see` for each block with games that reached a visited position. Passes the number of the block, and
/// these games in stored form.
pub(crate) fn for_each_visit_set<E: From<rusqlite::Error>>(
    connection: &Connection,
    key: PositionKey,
    mut see: impl FnMut(u32, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let last = last_block(connection)?;
    let sql = "SELECT block, key, games FROM visit_set WHERE block = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for block in 0..=last {
        let mut rows = statement.query(params![block, key.as_i64()])?;
        if let Some(row) = rows.next()? {
            see(block, Cells::new(row, VISIT_SET).get("games")?)?;
        }
    }
    Ok(())
}

/// Calls `see` with the game and the ply of each occurrence of a key, in the order of games and plies.
pub(crate) fn for_each_occurrence(
    connection: &Connection,
    key: PositionKey,
    mut see: impl FnMut(GameId, Ply),
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT o.key, o.game_id, o.ply FROM {OCCURRENCES} WHERE o.key = ?1 ORDER BY l.level, o.game_id, o.ply"
    );
    POSITION_GAME.each(connection, &sql, [key.as_i64()], |cells| {
        see(GameId(cells.get("game_id")?), Ply(cells.get("ply")?));
        Ok(())
    })
}

/// Calls `see` with the FEN of a position of a game and the move played there, and returns the result of
/// `see`. Returns `None` if the position has no row.
pub(crate) fn played_at<T>(
    connection: &Connection,
    game: GameId,
    ply: Ply,
    see: impl FnOnce(&str, Option<MoveCode>) -> T,
) -> rusqlite::Result<Option<T>> {
    let sql = "SELECT game_id, ply, move_code, fen FROM game_position WHERE game_id = ?1 AND ply = ?2";
    GAME_POSITION.first(connection, sql, [game.0, ply.0], |cells| {
        let code = cells.get::<Option<u32>>("move_code")?.map(MoveCode::from_stored);
        Ok(see(cells.get("fen")?, code))
    })
}
