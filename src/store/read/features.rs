//! Reads the sets of games that have a feature, one block of games at a time.

use std::ops::RangeInclusive;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use crate::id::GameId;
use crate::store::FeatureQuery;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, decode_whole, games_of};
use crate::store::cell::{Cells, DELETED_GAME, GAME, GAME_POSITION, GAME_SET};
use crate::store::features::{BlockSets, FeatureBlock, FeatureKind, FeatureRows, each_set};

/// The games of a block that can match a query: games in the sets, and games whose features are unknown.
pub(crate) struct FeatureMatches {
    /// Games that match according to the sets.
    pub(crate) matching: BlockGames,
    /// Games whose features are unknown. The set can also contain numbers that no game has.
    pub(crate) unknown: BlockGames,
}

impl FeatureMatches {
    /// Evaluates a query on the sets of a block.
    ///
    /// # Errors
    /// Errors of SQLite; a cell with an invalid value.
    pub(crate) fn read(connection: &Connection, block: u32, query: &FeatureQuery) -> rusqlite::Result<Self> {
        let mut known = BlockGames::default();
        let all_games = (block, FeatureKind::Game);
        visit_sets(connection, all_games, 0..=0, &|_| true, |_, number| known.insert(number))?;
        let unknown = known.others();
        known.keep(&deleted_games(connection, block)?.others());
        let mut matching = known.clone();
        if !known.is_empty() {
            matching.keep(&query.answer(&mut |kind, values, is_wanted, games| {
                visit_sets(connection, (block, kind), values, is_wanted, |_, number| games.insert(number))
            })?);
        }
        Ok(Self { matching, unknown })
    }
}

/// The removed games of a block that `occurrence`, `visit_set` and `game_set` can still contain.
pub(crate) fn deleted_games(connection: &Connection, block: u32) -> rusqlite::Result<BlockGames> {
    let mut deleted = BlockGames::default();
    let sql = "SELECT game_id FROM deleted_game WHERE game_id BETWEEN ?1 AND ?2";
    DELETED_GAME.each(connection, sql, games_of(block), |cells| {
        deleted.insert(block_of(cells.get("game_id")?).1);
        Ok(())
    })?;
    Ok(deleted)
}

/// Reads the sets of this block and kind whose value is in the range `values` and is accepted by `is_wanted`.
/// For each game in each of these sets, calls `see` with the value of the set and the number of the game in the
/// block.
pub(crate) fn visit_sets(
    connection: &Connection,
    (block, kind): (u32, FeatureKind),
    values: RangeInclusive<i64>,
    is_wanted: &dyn Fn(i64) -> bool,
    mut see: impl FnMut(i64, u16),
) -> rusqlite::Result<()> {
    // A row contains the sets of several values. Its column `value` is the first of these values, so the
    // first wanted set can be in the middle of a row.
    let sql = "SELECT block, kind, value, sets FROM game_set WHERE block = ?1 AND kind = ?2 AND value <= ?4 AND value >= ifnull(
                   (SELECT max(value) FROM game_set WHERE block = ?1 AND kind = ?2 AND value <= ?3), ?3)";
    GAME_SET.each(connection, sql, params![block, kind.as_str(), values.start(), values.end()], |cells| {
        each_set_of(cells, |value, set| {
            if !values.contains(&value) || !is_wanted(value) {
                return Some(());
            }
            decode_whole(set, |number| see(value, number))
        })
    })
}

/// Decodes the sets in a row of `game_set`. Passes each set, with its value, to `see`.
fn each_set_of<'r>(cells: Cells<'r>, see: impl FnMut(i64, &'r [u8]) -> Option<()>) -> rusqlite::Result<()> {
    let first = cells.get("value")?;
    cells.read("sets", "sets of games without repeated values", |value| match value {
        ValueRef::Blob(bytes) => each_set(first, bytes, see),
        _ => None,
    })
}

/// All sets of a block.
pub(crate) fn block_sets(connection: &Connection, schema: &str, block: u32) -> rusqlite::Result<BlockSets> {
    let mut sets = BlockSets::new();
    each_block_set(connection, schema, block, |kind, value, set| {
        let mut numbers = Vec::new();
        decode_whole(set, |number| numbers.push(number))?;
        // A second set for the same value is an error.
        sets.insert((kind, value), numbers).is_none().then_some(())
    })?;
    Ok(sets)
}

/// Passes each set of a block to `see`, in stored form. `see` returns `None` if the set is invalid; then this
/// function fails.
pub(crate) fn each_block_set(
    connection: &Connection,
    schema: &str,
    block: u32,
    mut see: impl FnMut(FeatureKind, i64, &[u8]) -> Option<()>,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT block, kind, value, sets FROM {schema}.game_set WHERE block = ?1 ORDER BY block, kind, value"
    );
    GAME_SET.each(connection, &sql, [block], |cells| {
        let kind = cells.read("kind", "the name of a kind of game set", |value| match value {
            ValueRef::Text(name) => FeatureKind::from_name(std::str::from_utf8(name).ok()?),
            _ => None,
        })?;
        each_set_of(cells, |value, set| see(kind, value, set))
    })
}

/// Adds the games of block `number` to `block`. Computes their features from their rows in `game_position`.
/// Skips a game with an unreadable row, and a game for which `is_wanted` returns `false`. The arguments of
/// `is_wanted` are the number of the game in the block, and the number of the game's rows.
pub(crate) fn fill_block(
    connection: &Connection,
    number: u32,
    is_wanted: impl Fn(u16, u64) -> bool,
    block: &mut FeatureBlock,
) -> rusqlite::Result<()> {
    let games = "SELECT game_id FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id";
    let positions = "SELECT ply, fen, move_code FROM game_position WHERE game_id = ?1 ORDER BY ply";
    let mut features = FeatureRows::default();
    GAME.each(connection, games, games_of(number), |cells| {
        let game: GameId = cells.get(0)?;
        let (mut rows, mut is_readable) = (0, true);
        GAME_POSITION.each(connection, positions, [game.0], |cells| {
            rows += 1;
            match (cells.get::<&str>(1), cells.get(2)) {
                (Ok(fen), Ok(code)) => features.observe(fen.as_bytes(), code),
                _ => is_readable = false,
            }
            Ok(())
        })?;
        let number = block_of(game).1;
        features.finish(|seen| {
            if is_readable && is_wanted(number, rows) {
                block.push(number, seen);
            }
        });
        Ok(())
    })
}

/// The numbers of the blocks that have sets, in ascending order.
#[cfg(feature = "index")]
pub(crate) fn blocks(connection: &Connection) -> rusqlite::Result<Vec<u32>> {
    let last = block_of(GameId(u32::MAX)).0;
    let sql = "SELECT DISTINCT block FROM game_set WHERE block BETWEEN 0 AND ?1 ORDER BY 1";
    GAME_SET.all(connection, sql, [last], |cells| cells.get(0))
}
