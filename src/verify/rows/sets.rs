//! Compares the tables `game_column`, `game_set` and `visit_set` with the rows from which they are built.

use std::cmp::Ordering;

use rusqlite::Connection;

use crate::board::ShortMove;
use crate::id::GameId;
use crate::sorted::{SortedMap, distinct, sort};
use crate::store::block_set::{BLOCK_GAMES, block_of, game_of};
use crate::store::blocks::blocks_with_games;
use crate::store::cell::{DELETED_GAME, OCCURRENCE_LEVEL};
use crate::store::features::{FeatureBlock, FeatureKind};
pub(crate) use crate::store::read::features::blocks as feature_blocks;
use crate::store::read::features::{block_sets, deleted_games, fill_block};
use crate::store::read::occurrence::visit::played_at;
use crate::store::visit_set::{PlayedMove, for_each_visit};
use crate::store::write::columns::columns_of_games;
use crate::store::{Cells, GAME_COLUMN, GAME_SET, OCCURRENCE, VISIT_SET, read_rows};
use crate::verify::FindingKind::{MissingRow, SurplusRow, WrongValue};
use crate::verify::rows::{LevelKey, Reader, visited_row};
use crate::verify::{Collector, Progress, RowId};

pub(crate) const FEATURES: &str = GAME_SET.name;
const COLUMNS: &str = GAME_COLUMN.name;
const VISITS: &str = VISIT_SET.name;

/// The blocks that have games, or rows of `game_column` or `visit_set`.
pub(crate) fn blocks(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut blocks: Vec<i64> = blocks_with_games(connection)?.into_iter().map(i64::from).collect();
    let of_rows = "SELECT block FROM game_column UNION SELECT block FROM visit_set";
    let mut statement = connection.prepare(of_rows)?;
    blocks.extend(read_rows(&mut statement, [], |row| Cells::new(row, GAME_COLUMN).get::<i64>("block"))?);
    Ok(distinct(blocks))
}

/// Compares the columns of a block with the rows of `game`.
pub(crate) fn compare_columns(reader: Reader<'_>, block: i64) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let made = match u32::try_from(block) {
        Ok(block) if block <= u32::from(u16::MAX) => columns_of_games(connection, block)?,
        _ => None,
    };
    let expected = made.into_iter().flat_map(|(_, columns)| columns);
    let mut expected: SortedMap<&str, _> =
        expected.filter_map(|(name, stored)| Some((name, stored?))).collect();
    let mut statement =
        connection.prepare_cached("SELECT name, block, cells, games FROM game_column WHERE block = ?1")?;
    let mut rows = statement.query([block])?;
    while let Some(row) = rows.next()? {
        let cells = Cells::new(row, GAME_COLUMN);
        let name: &str = cells.get("name")?;
        let row_id = || RowId::new([("name", name)]).and("block", block);
        let Some((values, games)) = expected.remove(name) else {
            findings.about(SurplusRow, COLUMNS, row_id(), "no game of this block has a value in this column");
            continue;
        };
        if cells.get::<&str>("cells")? != values {
            let found = "column `cells` differs from the list of distinct values in this block of games";
            findings.about(WrongValue, COLUMNS, row_id(), found);
        } else if cells.get::<&[u8]>("games")? != games {
            let found = "column `games` does not match the values in the table `game`";
            findings.about(WrongValue, COLUMNS, row_id(), found);
        }
    }
    for (name, _) in expected {
        let row = RowId::new([("name", name)]).and("block", block);
        findings.about(MissingRow, COLUMNS, row, "the row is missing");
    }
    Ok(())
}

/// The levels and keys of all rows of `level_position`, in order.
pub(crate) fn visited_keys(connection: &Connection) -> rusqlite::Result<Vec<LevelKey>> {
    let mut statement = connection.prepare("SELECT level, key FROM level_position ORDER BY level, key")?;
    read_rows(&mut statement, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Compares the rows of `visit_set` for a position in a level with the games of the level that reached the
/// position, and returns the number of these games. Reads only the rows of `blocks`.
pub(crate) fn compare_visits(
    reader: Reader<'_>,
    (level, key): LevelKey,
    blocks: &[i64],
) -> rusqlite::Result<u64> {
    let Reader { connection, findings } = reader;
    let mut visits: SortedMap<i64, Vec<(u16, PlayedMove)>> = SortedMap::new();
    let sql = "SELECT level, key, game_id, ply FROM occurrence WHERE level = ?1 AND key = ?2
               ORDER BY game_id, ply";
    let places = OCCURRENCE
        .all(connection, sql, [level, key], |cells| Ok((cells.get("game_id")?, cells.get("ply")?)))?;
    // A game is counted under the last move that it played from the position.
    for places in places.chunk_by(|(game, _), (next, _)| game == next) {
        let mut last = None;
        for &(game, ply) in places {
            if let Some(code) = played_at(connection, game, ply)? {
                last = Some(code.or(last.flatten()));
            }
        }
        if let Some(code) = last {
            let (block, number) = block_of(places[0].0);
            let played = PlayedMove::new(code.map(ShortMove::new));
            visits.entry(block.into()).push((number, played));
        }
    }
    let games = visits.values().map(|visits| visits.len() as u64).sum();
    let row_id = |block: i64| visited_row(level, key).and("block", block);
    let sql = "SELECT level, block, key, games FROM visit_set WHERE level = ?1 AND block = ?2 AND key = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    for &block in blocks {
        let mut rows = statement.query([level, block, key])?;
        let Some(row) = rows.next()? else { continue };
        let expected = visits.remove(&block).unwrap_or_default();
        let stored = Cells::new(row, VISIT_SET).get("games")?;
        if let Ok(block) = u16::try_from(block)
            && has_visits(connection, block.into(), stored, &expected)?
        {
            continue;
        }
        if expected.is_empty() {
            let found = "no game of the block and level reached the position";
            findings.about(SurplusRow, VISITS, row_id(block), found);
        } else {
            let found = "column `games` differs from the list of games in this block that reached the position, with their moves";
            findings.about(WrongValue, VISITS, row_id(block), found);
        }
    }
    for (block, _) in visits {
        findings.about(MissingRow, VISITS, row_id(block), "the row is missing");
    }
    Ok(games)
}

/// Whether `stored`, the encoded visits of a block, contains exactly the `expected` visits, which are sorted by
/// game. Additional visits of removed games are ignored, because they stay until their level is written again.
fn has_visits(
    connection: &Connection,
    block: u32,
    stored: &[u8],
    expected: &[(u16, PlayedMove)],
) -> rusqlite::Result<bool> {
    let mut visits = Vec::new();
    let is_valid = for_each_visit(stored, |number, played| {
        // Each game of the block has at most one visit, but damaged bytes can contain any number of visits.
        if visits.len() <= BLOCK_GAMES as usize {
            visits.push((number, played));
        }
    });
    let mut deleted = connection.prepare_cached("SELECT 1 FROM deleted_game WHERE game_id = ?1")?;
    let mut left = Vec::new();
    for visit in visits {
        if expected.binary_search(&visit).is_ok() || !deleted.exists([game_of(block, visit.0).0])? {
            left.push(visit);
        }
    }
    sort(&mut left);
    Ok(is_valid && !stored.is_empty() && left == expected)
}

/// Compares the rows of `game_set` for a block with the positions of its games.
pub(crate) fn compare_features(reader: Reader<'_>, block: u32, progress: &Progress) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    // Removed games stay in the sets until their level is written again.
    let deleted = deleted_games(connection, block)?;
    let stored = block_sets(connection, "main", block)?;
    let known = stored.get(&(FeatureKind::Game, 0)).cloned().unwrap_or_default();
    let mut made = FeatureBlock::default();
    let is_known = |number, rows| {
        progress.add_rows(rows);
        known.binary_search(&number).is_ok()
    };
    fill_block(connection, block, is_known, &mut made)?;
    let surplus = |(kind, value)| {
        let row = feature_row((block, kind, value));
        findings.about(SurplusRow, FEATURES, row, "no game of the block has this feature");
    };
    let without_deleted = |(set, mut games): (_, Vec<u16>)| {
        let is_invalid = games.is_empty();
        games.retain(|&number| !deleted.contains(number));
        (is_invalid || !games.is_empty()).then_some((set, games))
    };
    let mut stored = stored.into_iter().filter_map(without_deleted).peekable();
    made.take(&mut |kind, value, games| {
        while let Some((key, _)) = stored.next_if(|(key, _)| *key < (kind, value)) {
            surplus(key);
        }
        match stored.next_if(|(key, _)| *key == (kind, value)) {
            Some((_, set)) => compare_feature((block, kind, value), &set, games, findings),
            None => {
                findings.about(MissingRow, FEATURES, feature_row((block, kind, value)), "the set is missing");
            }
        }
    });
    for (key, _) in stored {
        surplus(key);
    }
    Ok(())
}

/// Identifies the row of a set by block, kind and value.
fn feature_row((block, kind, value): (u32, FeatureKind, i64)) -> RowId {
    RowId::new([("block", i64::from(block))]).and("kind", kind.as_str()).and("value", value)
}

/// Reports the first game that is in only one of two sets.
fn compare_feature(set: (u32, FeatureKind, i64), found: &[u16], expected: &[u16], findings: &Collector) {
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let at = differs.unwrap_or(found.len().min(expected.len()));
    let next = |games: &[u16]| games.get(at).map_or(u32::from(u16::MAX) + 1, |&number| number.into());
    let game_id = |number: u32| GameId(game_of(set.0, 0).0 + number).0;
    let (found, expected) = (next(found), next(expected));
    let (found, expected) = match found.cmp(&expected) {
        Ordering::Equal => return,
        Ordering::Less => {
            (format!("a set that contains game {}", game_id(found)), "a set that does not contain it")
        }
        Ordering::Greater => {
            (format!("a set that does not contain game {}", game_id(expected)), "a set that contains it")
        }
    };
    findings.wrong(WrongValue, FEATURES, feature_row(set), "sets", expected, found);
}

/// Reports levels of `occurrence` that are missing from `occurrence_level`. Queries do not find the rows of
/// these levels.
pub(crate) fn find_unlisted(reader: Reader<'_>) -> rusqlite::Result<()> {
    // The query takes one step per level, not one per row.
    let sql = "WITH RECURSIVE found (level) AS (
                   SELECT min(level) FROM occurrence
                   UNION ALL
                   SELECT (SELECT min(level) FROM occurrence AS o WHERE o.level > found.level) FROM found
                   WHERE level NOTNULL)
               SELECT level FROM found WHERE level NOTNULL AND level NOT IN (SELECT level FROM occurrence_level)";
    let found = "the row is missing, so queries do not find the rows of this level in occurrence";
    reader.report_rows(MissingRow, OCCURRENCE_LEVEL, sql, found)
}

/// Reports games in `deleted_game` that still exist in `game`.
pub(crate) fn find_deleted(reader: Reader<'_>) -> rusqlite::Result<()> {
    let sql = "SELECT game_id FROM deleted_game WHERE game_id IN (SELECT game_id FROM game)";
    let found = "the game exists, so it must not be listed here";
    reader.report_rows(SurplusRow, DELETED_GAME, sql, found)
}
