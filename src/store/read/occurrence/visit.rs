//! Looks up levels, occurrences of positions, and the sets of games that reached a position.

use rusqlite::{Connection, params};

use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Level, Ply};
use crate::store::Result;
use crate::store::block_set::block_of;
use crate::store::blocks::last_game;
use crate::store::cell::{Cells, GAME_POSITION, OCCURRENCE_LEVEL, VISIT_SET};

/// The data that can change when games are removed, for a position in a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitedCounts {
    /// The number of games that reached the position, including games without a result.
    pub games: u64,
    /// The listed games: first the best-rated games, then the latest games. A game can be listed twice.
    pub listed: Vec<GameId>,
    /// The moves played, each with the first and the last year of its games; `None` if no year is known.
    pub years: Vec<(MoveCode, Option<u16>, Option<u16>)>,
}

/// A level (a range of games whose occurrences are stored together), with its last game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LevelGames {
    pub(crate) level: Level,
    /// The last game of the level.
    pub(crate) last: GameId,
}

/// The levels of a database, in order.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn levels(connection: &Connection) -> rusqlite::Result<Vec<Level>> {
    let sql = "SELECT level FROM occurrence_level ORDER BY level";
    OCCURRENCE_LEVEL.all(connection, sql, [], |cells| cells.get("level").map(Level))
}

/// The levels in order, each with its last game.
pub(crate) fn level_games(connection: &Connection) -> rusqlite::Result<Vec<LevelGames>> {
    let levels = levels(connection)?;
    let ends = levels.iter().skip(1).map(|next| GameId(next.0.saturating_sub(1)));
    let ends = ends.chain([last_game(connection)?.unwrap_or_default()]);
    Ok(levels.iter().zip(ends).map(|(&level, last)| LevelGames { level, last }).collect())
}

/// Calls `see` for each row of `visit_set` with one of these levels and this key. Passes the number of the row's
/// block, and the games in stored form. Returns `None` at the first level that has no such row.
pub(crate) fn for_each_visit_set<E: From<rusqlite::Error>>(
    connection: &Connection,
    levels: &[LevelGames],
    key: PositionKey,
    mut see: impl FnMut(u32, &[u8]) -> Result<(), E>,
) -> Result<Option<()>, E> {
    let sql = "SELECT level, block, key, games FROM visit_set WHERE level = ?1 AND block = ?2 AND key = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    for &LevelGames { level, last } in levels {
        let mut has_row = false;
        for block in block_of(GameId(level.0)).0..=block_of(last).0 {
            let mut rows = statement.query(params![level.0, block, key.as_i64()])?;
            if let Some(row) = rows.next()? {
                see(block, Cells::new(row, VISIT_SET).get("games")?)?;
                has_row = true;
            }
        }
        if !has_row {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// The move that a game played at a ply: `Some(None)` if it played no move there, `None` if the position has
/// no row.
pub(crate) fn played_at(
    connection: &Connection,
    game: GameId,
    ply: Ply,
) -> rusqlite::Result<Option<Option<MoveCode>>> {
    let sql = "SELECT game_id, ply, move_code FROM game_position WHERE game_id = ?1 AND ply = ?2";
    GAME_POSITION.first(connection, sql, [game.0, ply.0], |cells| cells.get("move_code"))
}
