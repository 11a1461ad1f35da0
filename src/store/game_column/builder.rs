//! Builds columns from games in the order of their ids.

use std::collections::HashMap;

use serde::Serialize;

use super::{COLUMNS, StoredColumn};
use crate::id::GameId;
use crate::store::block_set::block_of;
use crate::store::row::GameRow;
use crate::store::row::virtual_table::{Cell, Columns as _};

/// Builds all columns, one block after the other.
#[derive(Debug, Default)]
pub(crate) struct ColumnBuilder {
    block: Option<u32>,
    columns: [OpenColumn; COLUMNS.len()],
    /// Whether games were added to the current block, or removed from it.
    is_changed: bool,
}

/// A column of the current block.
#[derive(Debug, Default)]
struct OpenColumn {
    /// The distinct values, in any order.
    values: Vec<ColumnValue>,
    /// For each game number up to the last one with an entry, the index of its value. All later numbers have
    /// NULL.
    games: Vec<u32>,
    numbers: HashMap<i64, u32>,
    texts: HashMap<Box<str>, u32>,
    null: Option<u32>,
    /// The index of the previous game's value. The next game often has the same value.
    last: u32,
}

impl OpenColumn {
    fn of(column: &StoredColumn) -> Self {
        let mut open = Self::default();
        let indexes: Vec<u32> = column.values().map(|cell| open.index(cell)).collect();
        open.games = column.ranks().iter().map(|&rank| indexes[usize::from(rank)]).collect();
        open
    }

    /// The index of a cell's value. Adds the value if it is new.
    fn index(&mut self, cell: Cell<'_>) -> u32 {
        let is_last = match (self.values.get(self.last as usize), cell) {
            (Some(ColumnValue::Null), Cell::Null) => true,
            (Some(ColumnValue::Integer(last)), Cell::Integer(number)) => *last == number,
            (Some(ColumnValue::Text(last)), Cell::Text(text)) => **last == *text,
            _ => false,
        };
        if is_last {
            return self.last;
        }
        let known = match cell {
            Cell::Integer(number) => self.numbers.get(&number).copied(),
            Cell::Text(text) => self.texts.get(text).copied(),
            Cell::Null | Cell::Blob(_) => self.null,
        };
        self.last = known.unwrap_or_else(|| {
            let index = self.values.len() as u32;
            self.values.push(match cell {
                Cell::Integer(number) => {
                    self.numbers.insert(number, index);
                    ColumnValue::Integer(number)
                }
                Cell::Text(text) => {
                    self.texts.insert(text.into(), index);
                    ColumnValue::Text(text.into())
                }
                // No column of `game` contains blobs.
                Cell::Null | Cell::Blob(_) => {
                    self.null = Some(index);
                    ColumnValue::Null
                }
            });
            index
        });
        self.last
    }

    /// Appends NULL until the column has entries for `count` game numbers.
    fn fill(&mut self, count: usize) {
        if self.games.len() < count {
            let null = self.index(Cell::Null);
            self.games.resize(count, null);
        }
    }

    /// Sets the value of a game number. Smaller numbers without an entry get NULL.
    fn set(&mut self, number: u16, cell: Cell<'_>) {
        self.fill(number.into());
        let index = self.index(cell);
        match self.games.get_mut(usize::from(number)) {
            Some(place) => *place = index,
            None => self.games.push(index),
        }
    }

    /// The stored form, for the columns `cells` and `games` of `game_column`; `None` if there are no entries.
    /// If all values are NULL, `games` is empty.
    fn encode(&self) -> Option<(String, Vec<u8>)> {
        let mut used = vec![false; self.values.len()];
        self.games.iter().for_each(|&index| used[index as usize] = true);
        let mut order: Vec<u32> =
            (0..self.values.len() as u32).filter(|&index| used[index as usize]).collect();
        if order.is_empty() {
            return None;
        }
        order.sort_unstable_by(|&a, &b| self.values[a as usize].cmp(&self.values[b as usize]));
        let sorted: Vec<&ColumnValue> = order.iter().map(|&index| &self.values[index as usize]).collect();
        let cells = serde_json::to_string(&sorted).expect("texts and numbers are JSON");
        if sorted == [&ColumnValue::Null] {
            return Some((cells, Vec::new()));
        }
        let mut rank = vec![0; self.values.len()];
        (0..).zip(&order).for_each(|(place, &index): (u32, _)| rank[index as usize] = place);
        let ranks = self.games.iter().map(|&index| rank[index as usize]);
        let games = match order.len() {
            ..=256 => ranks.map(|rank| rank as u8).collect(),
            _ => ranks.flat_map(|rank| (rank as u16).to_le_bytes()).collect(),
        };
        Some((cells, games))
    }
}

/// A finished block of columns: its number, and for each column the name and the stored form. The stored form
/// is `None` if the block has no games.
pub(crate) type StoredColumns = (u32, Vec<(&'static str, Option<(String, Vec<u8>)>)>);

impl ColumnBuilder {
    /// Continues a block that already has games.
    pub(crate) fn resume(block: u32, columns: &[StoredColumn; COLUMNS.len()]) -> Self {
        Self { block: Some(block), columns: columns.each_ref().map(OpenColumn::of), is_changed: false }
    }

    /// Adds a row of `game`: its id, and the cell of each of the [`COLUMNS`]. If the game begins another
    /// block, returns the previous block if it has changed.
    pub(crate) fn push<'c>(
        &mut self,
        game: GameId,
        mut cell: impl FnMut(usize) -> Cell<'c>,
    ) -> Option<StoredColumns> {
        let (block, number) = block_of(game);
        let done = if self.block == Some(block) { None } else { self.take() };
        (self.block, self.is_changed) = (Some(block), true);
        for (index, column) in self.columns.iter_mut().enumerate() {
            column.set(number, cell(index));
        }
        done
    }

    /// Sets all columns of a game to NULL, because the game was removed. `number` is its number in the block.
    pub(crate) fn remove(&mut self, number: u16) {
        self.is_changed = true;
        let columns = self.columns.iter_mut().filter(|column| usize::from(number) < column.games.len());
        columns.for_each(|column| column.set(number, Cell::Null));
    }

    /// Ends the current block, and returns it if it has changed.
    pub(crate) fn take(&mut self) -> Option<StoredColumns> {
        let block = self.block.take()?;
        let is_changed = std::mem::take(&mut self.is_changed);
        let columns = std::mem::take(&mut self.columns);
        if !is_changed {
            return None;
        }
        // If the result of a game number is NULL, no game has this number.
        let results = &columns[0];
        let is_game = |&index: &u32| results.values[index as usize] != ColumnValue::Null;
        let count = results.games.iter().rposition(is_game).map_or(0, |last| last + 1);
        let columns = columns.map(|mut column| {
            column.fill(count);
            column.games.truncate(count);
            column.encode()
        });
        Some((block, COLUMNS.into_iter().zip(columns).collect()))
    }
}

/// The indexes of the [`COLUMNS`] among the columns of [`GameRow`].
pub(crate) fn places() -> [usize; COLUMNS.len()] {
    COLUMNS
        .map(|name| GameRow::COLUMNS.iter().position(|&column| column == name).expect("a column of `game`"))
}

/// A value of a column. Values are ordered as SQLite sorts them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
enum ColumnValue {
    Null,
    Integer(i64),
    Text(Box<str>),
}
