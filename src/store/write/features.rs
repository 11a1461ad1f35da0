//! Writes the table `game_set`, which contains sets of games by feature, block by block.

use rusqlite::{Connection, params};

use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, decode_whole, encode, encode_with};
use crate::store::blocks::blocks_with_games;
use crate::store::cell::read_rows;
use crate::store::features::{BlockSets, FeatureBlock, FeatureKind, SetRows};
use crate::store::read::features::{block_sets, each_block_set, fill_block};
use crate::store::row::HeaderBatch;

/// Collects the games of the current block and writes their sets.
#[derive(Debug, Default)]
pub(super) struct FeatureSetWriter {
    number: u32,
    block: FeatureBlock,
}

impl FeatureSetWriter {
    /// Adds the games of a batch. Writes a block as soon as a game of another block follows.
    pub(super) fn append(&mut self, connection: &Connection, batch: &HeaderBatch) -> rusqlite::Result<()> {
        for (game, features) in batch.games.iter().zip(batch.features.iter()) {
            let (block, number) = block_of(game.game);
            if block != self.number {
                self.write(connection)?;
                self.number = block;
            }
            self.block.push(number, features);
        }
        Ok(())
    }

    /// Writes the sets of the current block. If the block already has sets in the database, adds the games to
    /// them.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        if has_block(connection, self.number)? {
            let mut more = BlockSets::new();
            self.block.take(&mut |kind, value, numbers| _ = more.insert((kind, value), numbers.to_vec()));
            return add_to_block(connection, self.number, more);
        }
        let mut sets = EncodedSets::default();
        self.block.take(&mut |kind, value, numbers| sets.push(kind, value, numbers));
        sets.write(connection, self.number)
    }
}

/// Whether a block has sets.
fn has_block(connection: &Connection, block: u32) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM main.game_set WHERE block = ?1")?.exists([block])
}

/// Sets of a block in stored form, concatenated. They are buffered, because rows of the table must not be
/// replaced while a query reads the table.
#[derive(Default)]
struct EncodedSets {
    bytes: Vec<u8>,
    /// For each set: the kind, the value, and the end of the set in `bytes`.
    ends: Vec<(FeatureKind, i64, usize)>,
}

impl EncodedSets {
    fn push(&mut self, kind: FeatureKind, value: i64, numbers: &[u16]) {
        encode(numbers, &mut self.bytes);
        self.end(kind, value);
    }

    /// Ends a set, which consists of the bytes appended since the last call.
    fn end(&mut self, kind: FeatureKind, value: i64) {
        self.ends.push((kind, value, self.bytes.len()));
    }

    /// Replaces the existing sets of a block with these sets.
    fn write(&self, connection: &Connection, block: u32) -> rusqlite::Result<()> {
        connection.prepare_cached("DELETE FROM main.game_set WHERE block = ?1")?.execute([block])?;
        let sql = "INSERT INTO main.game_set (block, kind, value, sets) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = connection.prepare_cached(sql)?;
        let mut write = |kind: FeatureKind, first: i64, sets: &[u8]| {
            insert.execute(params![block, kind.as_str(), first, sets]).map(drop)
        };
        let (mut rows, mut start) = (SetRows::default(), 0);
        for &(kind, value, end) in &self.ends {
            rows.push(kind, value, &self.bytes[start..end], &mut write)?;
            start = end;
        }
        rows.finish(&mut write)
    }
}

/// Adds games to the sets of a block. Sets without new games are copied in stored form.
fn add_to_block(connection: &Connection, block: u32, more: BlockSets) -> rusqlite::Result<()> {
    let mut sets = EncodedSets::default();
    let mut more = more.into_iter().peekable();
    each_block_set(connection, "main", block, |kind, value, set| {
        while let Some(((kind, value), numbers)) = more.next_if(|new| new.0 < (kind, value)) {
            sets.push(kind, value, &numbers);
        }
        match more.next_if(|new| new.0 == (kind, value)) {
            Some((_, numbers)) => encode_with(set, &numbers, &mut sets.bytes)?.is_empty().then_some(())?,
            None => sets.bytes.extend_from_slice(set),
        }
        sets.end(kind, value);
        Some(())
    })?;
    more.for_each(|((kind, value), numbers)| sets.push(kind, value, &numbers));
    sets.write(connection, block)
}

/// Copies the sets of the attached side database. If a block already has sets, the sets are merged.
pub(super) fn copy_sets(main: &Connection) -> rusqlite::Result<()> {
    let mut statement = main.prepare("SELECT DISTINCT block FROM side.game_set ORDER BY 1")?;
    for block in read_rows(&mut statement, [], |row| row.get(0))? {
        if has_block(main, block)? {
            add_to_block(main, block, block_sets(main, "side", block)?)?;
        } else {
            main.execute("INSERT INTO main.game_set SELECT * FROM side.game_set WHERE block = ?1", [block])?;
        }
    }
    Ok(())
}

/// Removes games from the sets of a block. Unchanged sets are copied in stored form.
pub(super) fn remove_from_block(
    connection: &Connection,
    block: u32,
    games: &BlockGames,
) -> rusqlite::Result<()> {
    let mut left = EncodedSets::default();
    let mut numbers = Vec::new();
    each_block_set(connection, "main", block, |kind, value, set| {
        numbers.clear();
        let mut loses = false;
        decode_whole(set, |number| if games.contains(number) { loses = true } else { numbers.push(number) })?;
        if numbers.is_empty() {
            return Some(());
        }
        if loses {
            left.push(kind, value, &numbers);
        } else {
            left.bytes.extend_from_slice(set);
            left.end(kind, value);
        }
        Some(())
    })?;
    left.write(connection, block)
}

/// Rebuilds all sets from the rows of the games. A game with an unreadable row is not in any set.
pub(super) fn rebuild_sets(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM game_set")?;
    let mut writer = FeatureSetWriter::default();
    for block in blocks_with_games(connection)? {
        writer.number = block;
        fill_block(connection, block, |_, _| true, &mut writer.block)?;
        writer.write(connection)?;
    }
    Ok(())
}
