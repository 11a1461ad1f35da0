//! The rows of a tree of occurrences, on their way into another one.

use super::page::PageView;
use super::record_reader::{game_of, is_before, is_row, key_of, occurrence_of};
use super::tree::leaves::Leaves;
use super::{BtreeError, LeafWriter, PageFile, Tree};
use crate::board::PositionKey;
use crate::id::Level;
use crate::store::frequent_keys::FrequentKeyCounter;
use crate::store::game_set::GameSet;
use crate::store::partition_point::near_partition_point;
use crate::store::row::{Occurrence, OccurrenceRow};

/// A part of a level: the rows from one on that come before another.
#[derive(Clone, Copy, Debug)]
pub struct LevelRange {
    /// The level.
    pub level: Level,
    /// The first row that can be there.
    pub start: OccurrenceRow,
    /// The first one behind it that can be there; `None`: it goes to the end of the table.
    pub end: Option<OccurrenceRow>,
}

impl LevelRange {
    /// The part of a level, behind which comes the level `next`, from the start of a range of occurrences to its end.
    #[must_use]
    pub fn new(level: Level, next: Option<Level>, (start, end): (Occurrence, Option<Occurrence>)) -> Self {
        let end = end.map(|occurrence| OccurrenceRow { level, occurrence });
        Self {
            level,
            start: OccurrenceRow { level, occurrence: start },
            end: end.or(next.map(OccurrenceRow::first_of)),
        }
    }
}

/// The rows of one level and key range of a tree of `occurrence`, copied in order between those that are new.
#[derive(Debug)]
pub struct OldRows<'t> {
    tree: &'t Tree,
    level: Level,
    /// Where the range ends.
    end: Option<OccurrenceRow>,
    leaves: Leaves<'t>,
    /// Where the next row stands: behind the last one of a leaf its divider follows.
    leaf: usize,
    cell: usize,
    /// The key of the row that was copied last, and how many rows with it were.
    run: Option<(PositionKey, u32)>,
    most_counted: u32,
    /// Games whose rows are left out.
    removed: &'t GameSet,
    /// Whether the keys of all of these are noted.
    notes_all: bool,
    /// Keys of rows that were left out and may have, or have had, `most_counted` rows.
    thinned: Vec<PositionKey>,
    /// The key of the row that was left out last.
    left_out: Option<PositionKey>,
    /// The same if no row with it was copied so far.
    going: Option<PositionKey>,
    /// How many keys there were all of whose rows were left out.
    gone: u64,
}

/// Keys of rows that were left out.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// In order, all keys that have had as many rows as are counted, and some that had fewer: of those, rows may stand on several pages.
    pub thinned: Vec<PositionKey>,
    /// How many keys have no rows left in this level.
    pub gone: u64,
}

impl<'t> OldRows<'t> {
    /// The rows of a level from the start of a range on that come before its end, without those of `removed` games. Of each key up to
    /// `most_counted` rows are counted.
    ///
    /// # Errors
    /// When a page cannot be read or is damaged.
    pub fn new(
        file: &'t PageFile,
        tree: &'t Tree,
        range: LevelRange,
        removed: &'t GameSet,
        most_counted: u32,
    ) -> Result<Self, BtreeError> {
        let LevelRange { level, start, end } = range;
        let leaves = Leaves::new(file, tree);
        let mut rows = Self {
            tree,
            level,
            end,
            leaves,
            leaf: tree.leaves_before(start)?,
            cell: 0,
            run: None,
            most_counted,
            removed,
            notes_all: false,
            thinned: Vec::new(),
            left_out: None,
            going: None,
            gone: 0,
        };
        rows.leaves.load(rows.leaf)?;
        rows.cell = rows.first_from(start)?;
        Ok(rows)
    }

    /// The same, but [`copy_rest`](Self::copy_rest) gives back the keys of all rows that were left out.
    #[must_use]
    pub fn noting_all(self) -> Self {
        Self { notes_all: true, ..self }
    }

    /// Copies the rows that come before `row`, and counts their keys.
    ///
    /// # Errors
    /// When a page cannot be read, is damaged, or cannot be written.
    pub fn copy_before(
        &mut self,
        row: Occurrence,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        self.copy(Some(OccurrenceRow { level: self.level, occurrence: row }), writer, keys)
    }

    /// Copies all rows that are left. Tells the keys of which rows of removed games were left out.
    ///
    /// # Errors
    /// As [`copy_before`](Self::copy_before).
    pub fn copy_rest(
        mut self,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<LeftOut, BtreeError> {
        self.copy(self.end, writer, keys)?;
        self.end_going(None);
        Ok(LeftOut { thinned: self.thinned, gone: self.gone })
    }

    /// How many of the rows copied last have this key, if it is that of the last one.
    #[must_use]
    pub fn rows_of(&self, key: PositionKey) -> u32 {
        self.run.filter(|(last, _)| *last == key).map_or(0, |(_, count)| count)
    }

    fn copy(
        &mut self,
        end: Option<OccurrenceRow>,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        while self.leaf < self.tree.leaves().len() {
            let to = match end {
                Some(end) => self.first_from(end)?,
                None => self.page()?.count(),
            };
            while to > self.cell {
                self.copy_next(to, writer, keys)?;
            }
            if to < self.page()?.count() {
                // A row that is new and there already: the table does not fit its games.
                let Some(end) = end else { return Ok(()) };
                let is_there = self.page()?.row(to).and_then(|cell| is_row(cell, end));
                return if is_there == Some(false) { Ok(()) } else { Err(self.damaged()) };
            }
            match self.divider(self.leaf)? {
                Some((_, divider)) if end == Some(divider) => return Err(self.damaged()),
                Some((_, divider)) if end.is_some_and(|end| divider > end) => return Ok(()),
                Some((_, divider)) if self.removed.contains(divider.occurrence.game()) => {
                    let key = divider.occurrence.key();
                    self.left_out = Some(key);
                    self.thinned.push(key);
                    self.begin_going(key);
                }
                Some((cell, divider)) => {
                    writer.push_cell(cell)?;
                    let key = divider.occurrence.key();
                    keys.see(key, 1);
                    self.end_going(Some(key));
                    self.run = Some((key, (self.rows_of(key) + 1).min(self.most_counted)));
                }
                None => {}
            }
            self.leaf += 1;
            self.cell = 0;
            if self.leaf < self.tree.leaves().len() {
                self.leaves.load(self.leaf)?;
            }
        }
        Ok(())
    }

    /// Copies the leaf's rows up to the one numbered `to`, or to the first of a removed game, which is passed over.
    fn copy_next(
        &mut self,
        to: usize,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        let mut next = to;
        if !self.removed.is_empty() {
            let page = self.page()?;
            for index in self.cell..to {
                let game = page.row(index).and_then(game_of).ok_or_else(|| self.damaged())?;
                if self.removed.contains(game) {
                    next = index;
                    break;
                }
            }
        }
        if next > self.cell {
            self.copy_cells(next, writer, keys)?;
        }
        if next < to {
            self.leave_out(next)?;
            self.cell = next + 1;
        } else {
            self.cell = to;
        }
        Ok(())
    }

    /// Notes the key of a row that is left out, unless its rows are all on this page and too few. The rows of a key are looked at once a
    /// page.
    fn leave_out(&mut self, index: usize) -> Result<(), BtreeError> {
        let page = self.page()?;
        let key = self.key(page, index)?;
        if self.left_out == Some(key) {
            return Ok(());
        }
        self.begin_going(key);
        let page = self.page()?;
        if self.notes_all {
            self.left_out = Some(key);
            self.thinned.push(key);
            return Ok(());
        }
        let (mut first, mut last) = (index, index);
        let most = self.most_counted as usize;
        while first > 0 && last - first < most && self.key(page, first - 1)? == key {
            first -= 1;
        }
        while last + 1 < page.count() && last - first < most && self.key(page, last + 1)? == key {
            last += 1;
        }
        let may_go_on = first == 0 || last + 1 == page.count();
        self.left_out = Some(key);
        if may_go_on || last - first + 1 >= most {
            self.thinned.push(key);
        }
        Ok(())
    }

    /// Notes that the next row, which has this key, is left out.
    fn begin_going(&mut self, key: PositionKey) {
        if self.going != Some(key) {
            self.end_going(None);
            self.going = Some(key).filter(|_| self.rows_of(key) == 0);
        }
    }

    /// Notes that a row with this key is copied, or that there are none left.
    fn end_going(&mut self, copied: Option<PositionKey>) {
        if let Some(key) = self.going.take() {
            self.gone += u64::from(copied != Some(key));
        }
    }

    /// Copies the leaf's rows up to the one numbered `to`.
    fn copy_cells(
        &mut self,
        to: usize,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        if self.going.is_some() {
            self.end_going(Some(self.key(self.page()?, self.cell)?));
        }
        let page = self.page()?;
        if self.leaves.is_packed(self.leaf)? {
            writer.push_packed(page, self.cell..to)?;
        } else {
            for index in self.cell..to {
                writer.push_cell(page.row(index).ok_or_else(|| self.damaged())?)?;
            }
        }
        for index in self.cell..to {
            keys.see(self.key(page, index)?, 1);
        }
        let key = self.key(page, to - 1)?;
        let mut count = 1;
        let mut first = to - 1;
        while first > self.cell && count < self.most_counted && self.key(page, first - 1)? == key {
            first -= 1;
            count += 1;
        }
        if first == self.cell {
            count = (count + self.rows_of(key)).min(self.most_counted);
        }
        self.run = Some((key, count));
        self.cell = to;
        Ok(())
    }

    /// The number of the leaf's first row, from the next one on, that does not come before `end`.
    fn first_from(&self, end: OccurrenceRow) -> Result<usize, BtreeError> {
        let page = self.page()?;
        near_partition_point(self.cell..page.count(), |index| {
            page.row(index).and_then(|cell| is_before(cell, end)).ok_or_else(|| self.damaged())
        })
    }

    fn key(&self, page: PageView<'_>, index: usize) -> Result<PositionKey, BtreeError> {
        page.row(index).and_then(key_of).ok_or_else(|| self.damaged())
    }

    fn divider(&self, leaf: usize) -> Result<Option<(&'t [u8], OccurrenceRow)>, BtreeError> {
        let Some(cell) = self.tree.divider(leaf) else { return Ok(None) };
        Ok(Some((cell, occurrence_of(cell).ok_or_else(|| self.damaged())?)))
    }

    /// The leaf whose rows come next.
    fn page(&self) -> Result<PageView<'_>, BtreeError> {
        self.leaves.get(self.leaf)
    }

    fn damaged(&self) -> BtreeError {
        self.leaves.damaged(self.leaf)
    }
}
