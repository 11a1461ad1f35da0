//! Compares columns of games and sets of games with the rows from which they are built.

use rusqlite::Connection;

use crate::board::{PositionKey, ShortMove};
use crate::sorted::{SortedMap, distinct};
use crate::store::block_set::block_of;
use crate::store::read::occurrence::visit::{for_each_occurrence, played_at};
use crate::store::visit_set::{PlayedMove, pack_block};
use crate::store::write::fill::{blocks_with_games, columns_of_games};
use crate::store::{Cells, GAME_COLUMN, VISIT_SET, read_rows};
use crate::verify::finding::{Collector, FindingKind, Id, RowId};

const COLUMNS: &str = GAME_COLUMN.name;
const VISITS: &str = VISIT_SET.name;

/// The blocks to compare: those that have games, columns or sets.
pub(crate) fn blocks(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut blocks: Vec<i64> = blocks_with_games(connection)?.into_iter().map(i64::from).collect();
    let of_rows = "SELECT block FROM game_column UNION SELECT block FROM visit_set";
    let mut statement = connection.prepare(of_rows)?;
    blocks.extend(read_rows(&mut statement, [], |row| Cells::new(row, GAME_COLUMN).get::<i64>("block"))?);
    Ok(distinct(blocks))
}

/// Compares the columns of a block with the rows of `game`.
pub(crate) fn compare_columns(
    connection: &Connection,
    block: i64,
    findings: &Collector,
) -> rusqlite::Result<()> {
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
        let row_id = || RowId::default().and("name", Id::Text(name.to_owned())).and("block", block);
        let Some((values, games)) = expected.remove(name) else {
            findings.about(FindingKind::SurplusRow, COLUMNS, row_id(), "no game has such a column");
            continue;
        };
        if cells.get::<&str>("cells")? != values {
            let found = "column `cells` does not hold the distinct values of the games in this block";
            findings.about(FindingKind::WrongValue, COLUMNS, row_id(), found);
        } else if cells.get::<&[u8]>("games")? != games {
            let found = "column `games` does not hold the value of each game of the block";
            findings.about(FindingKind::WrongValue, COLUMNS, row_id(), found);
        }
    }
    for (name, _) in expected {
        let row = RowId::default().and("name", Id::Text(name.to_owned())).and("block", block);
        findings.about(FindingKind::MissingRow, COLUMNS, row, "the row is missing");
    }
    Ok(())
}

/// The keys of the visited positions.
pub(crate) fn visited_keys(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare("SELECT key FROM visited_position ORDER BY key")?;
    read_rows(&mut statement, [], |row| row.get(0))
}

/// Compares the sets of a visited position, in these blocks, with the games that reached it.
pub(crate) fn compare_visits(
    connection: &Connection,
    key: i64,
    blocks: &[i64],
    findings: &Collector,
) -> rusqlite::Result<()> {
    let mut visits: SortedMap<i64, Vec<(u16, PlayedMove)>> = SortedMap::new();
    let mut places = Vec::new();
    for_each_occurrence(connection, PositionKey::from_i64(key), |game, ply| places.push((game, ply)))?;
    // A game counts with the last move that it played from the position.
    for places in places.chunk_by(|(game, _), (next, _)| game == next) {
        let mut last = None;
        for &(game, ply) in places {
            if let Some(code) = played_at(connection, game, ply, |_, code| code)? {
                last = Some(code.or(last.flatten()));
            }
        }
        if let Some(code) = last {
            let (block, number) = block_of(places[0].0);
            let played = PlayedMove::new(code.map(ShortMove::new));
            visits.entry(block.into()).push((number, played));
        }
    }
    let row_id = |block: i64| RowId::new([("key", key), ("block", block)]);
    let sql = "SELECT block, key, games FROM visit_set WHERE block = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for &block in blocks {
        let mut rows = statement.query([block, key])?;
        let Some(row) = rows.next()? else { continue };
        let games: &[u8] = Cells::new(row, VISIT_SET).get("games")?;
        match visits.remove(&block).map(pack_block) {
            None => findings.about(
                FindingKind::SurplusRow,
                VISITS,
                row_id(block),
                "no game of the block reached the position",
            ),
            Some(expected) if games != expected => {
                let found = "column `games` does not hold the games of the block that reached the position, with their moves";
                findings.about(FindingKind::WrongValue, VISITS, row_id(block), found);
            }
            Some(_) => {}
        }
    }
    for (block, _) in visits {
        findings.about(FindingKind::MissingRow, VISITS, row_id(block), "the row is missing");
    }
    Ok(())
}
