//! Checks the sets of games by feature: rebuilds each set from the rows of the games.

use std::cmp::Ordering;

use rusqlite::Connection;

use crate::id::GameId;
use crate::store::GAME_SET;
use crate::store::block_set::game_of;
use crate::store::features::{FeatureBlock, FeatureKind};
pub(crate) use crate::store::read::features::blocks;
use crate::store::read::features::{block_sets, fill_block};
use crate::verify::finding::{Collector, FindingKind, Id, RowId};

pub(crate) const TABLE: &str = GAME_SET.name;

/// Compares the sets of a block with the rows of its games.
pub(crate) fn check(connection: &Connection, block: u32, findings: &Collector) -> rusqlite::Result<()> {
    let stored = block_sets(connection, "main", block)?;
    let known = stored.get(&(FeatureKind::Game, 0)).cloned().unwrap_or_default();
    let mut made = FeatureBlock::default();
    fill_block(connection, block, |number| known.binary_search(&number).is_ok(), &mut made)?;
    let surplus = |(kind, value)| {
        let row = row_id((block, kind, value));
        findings.about(FindingKind::SurplusRow, TABLE, row, "no game of the block has this feature");
    };
    let mut stored = stored.into_iter().peekable();
    made.take(|kind, value, games| {
        while let Some((key, _)) = stored.next_if(|(key, _)| *key < (kind, value)) {
            surplus(key);
        }
        match stored.next_if(|(key, _)| *key == (kind, value)) {
            Some((_, set)) => compare((block, kind, value), &set, games, findings),
            None => {
                findings.about(
                    FindingKind::MissingRow,
                    TABLE,
                    row_id((block, kind, value)),
                    "the set is missing",
                );
            }
        }
    });
    for (key, _) in stored {
        surplus(key);
    }
    Ok(())
}

/// Reports rows of `game_set` with a block number that no game can have.
pub(crate) fn check_blocks(connection: &Connection, findings: &Collector) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT block, kind, value FROM game_set WHERE typeof(block) <> 'integer' OR block NOT BETWEEN 0 AND 65535",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = RowId::read(row, 0, GAME_SET.key)?;
        findings.about(FindingKind::SurplusRow, TABLE, row, "sets of a block that no game is in");
    }
    Ok(())
}

/// Identifies the row of a set by block, kind and value.
fn row_id((block, kind, value): (u32, FeatureKind, i64)) -> RowId {
    let kind = Id::Text(kind.as_str().to_owned());
    RowId::new([("block", i64::from(block))]).and("kind", kind).and("value", value)
}

/// Reports the first game that is in only one of two sets.
fn compare(set: (u32, FeatureKind, i64), found: &[u16], expected: &[u16], findings: &Collector) {
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let at = differs.unwrap_or(found.len().min(expected.len()));
    let next = |games: &[u16]| games.get(at).map_or(u32::from(u16::MAX) + 1, |&number| number.into());
    let told = |number: u32| GameId(game_of(set.0, 0).0 + number).0;
    let (found, expected) = (next(found), next(expected));
    let (found, expected) = match found.cmp(&expected) {
        Ordering::Equal => return,
        Ordering::Less => (format!("a set with game {}", told(found)), "a set without this game"),
        Ordering::Greater => (format!("a set without game {}", told(expected)), "a set with this game"),
    };
    findings.wrong(FindingKind::WrongValue, TABLE, row_id(set), "sets", expected, found);
}
