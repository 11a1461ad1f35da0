//! Reads the rows of a level of `occurrence` in order.

use super::leaves::Leaves;
use crate::board::PositionKey;
use crate::id::{GameId, Ply};
use crate::store::game_set::GameSet;
use crate::store::pages::merge::LevelRange;
use crate::store::pages::record_reader::{is_before, occurrence_of};
use crate::store::pages::{BtreeError, PageFile, Tree};
use crate::store::partition_point::near_partition_point;
use crate::store::row::{Occurrence, OccurrenceRow};

/// A place in a range of a level. It only moves forwards.
#[derive(Debug)]
pub struct OccurrenceCursor<'t> {
    tree: &'t Tree,
    range: LevelRange,
    leaves: Leaves<'t>,
    leaf: usize,
    /// The index of a cell on the leaf. The index after the last cell refers to the leaf's divider.
    cell: usize,
    /// The row at this place.
    row: Option<Occurrence>,
}

impl<'t> OccurrenceCursor<'t> {
    /// A cursor at the first row of the range.
    ///
    /// # Errors
    /// If a page cannot be read or is damaged.
    pub fn new(file: &'t PageFile, tree: &'t Tree, range: LevelRange) -> Result<Self, BtreeError> {
        let leaves = Leaves::new(file, tree);
        let mut cursor =
            Self { tree, range, leaves, leaf: tree.leaves_before(range.start)?, cell: 0, row: None };
        cursor.leaves.load(cursor.leaf)?;
        cursor.go_in_leaf(range.start)?;
        Ok(cursor)
    }

    /// The row at this place; `None` at the end.
    #[must_use]
    pub const fn row(&self) -> Option<Occurrence> {
        self.row
    }

    /// Moves to the next row. After the last row of the range, the cursor has no row.
    ///
    /// # Errors
    /// If a page cannot be read or is damaged.
    pub fn advance(&mut self) -> Result<(), BtreeError> {
        if self.cell < self.leaves.get(self.leaf)?.count() {
            self.cell += 1;
        } else if self.leaf < self.tree.divider_count() {
            self.leaf += 1;
            self.cell = 0;
            self.leaves.load(self.leaf)?;
        }
        self.read_row()
    }

    /// The number of rows of a key, at most `most`. Keys must be passed in ascending order.
    ///
    /// # Errors
    /// If a page cannot be read or is damaged.
    pub fn count(&mut self, key: PositionKey, most: u32) -> Result<u32, BtreeError> {
        self.go_to(Occurrence::new(key, GameId(0), Ply(0)))?;
        let mut count = 0;
        while count < most && self.row.is_some_and(|row| row.key() == key) {
            count += 1;
            self.advance()?;
        }
        Ok(count)
    }

    /// Whether a key has rows of games outside a set. Keys must be passed in ascending order.
    ///
    /// # Errors
    /// If a page cannot be read or is damaged.
    pub fn has_other(&mut self, key: PositionKey, games: &GameSet) -> Result<bool, BtreeError> {
        self.go_to(Occurrence::new(key, GameId(0), Ply(0)))?;
        while let Some(row) = self.row.filter(|row| row.key() == key) {
            if !games.contains(row.game()) {
                return Ok(true);
            }
            self.advance()?;
        }
        Ok(false)
    }

    /// Moves to the first row that is not before `occurrence`.
    fn go_to(&mut self, occurrence: Occurrence) -> Result<(), BtreeError> {
        let row = OccurrenceRow { level: self.range.level, occurrence };
        let count = self.tree.divider_count();
        if self.leaf < count && self.is_divider_before(self.leaf, row)? {
            self.leaf = near_partition_point(self.leaf + 1..count, |leaf| self.is_divider_before(leaf, row))?;
            self.cell = 0;
            self.leaves.load(self.leaf)?;
        }
        self.go_in_leaf(row)
    }

    fn go_in_leaf(&mut self, row: OccurrenceRow) -> Result<(), BtreeError> {
        let page = self.leaves.get(self.leaf)?;
        self.cell = near_partition_point(self.cell..page.count(), |index| {
            page.row(index)
                .and_then(|cell| is_before(cell, row))
                .ok_or_else(|| self.leaves.damaged(self.leaf))
        })?;
        self.read_row()
    }

    fn read_row(&mut self) -> Result<(), BtreeError> {
        let page = self.leaves.get(self.leaf)?;
        let cell = if self.cell < page.count() { page.row(self.cell) } else { self.tree.divider(self.leaf) };
        self.row = None;
        // The last leaf has no divider.
        if cell.is_some() || self.cell < page.count() {
            let row = cell.and_then(occurrence_of).ok_or_else(|| self.leaves.damaged(self.leaf))?;
            self.row = Some(row.occurrence).filter(|_| self.range.end.is_none_or(|end| row < end));
        }
        Ok(())
    }

    fn is_divider_before(&self, leaf: usize, row: OccurrenceRow) -> Result<bool, BtreeError> {
        self.tree.divider(leaf).and_then(|cell| is_before(cell, row)).ok_or_else(|| self.leaves.damaged(leaf))
    }
}
