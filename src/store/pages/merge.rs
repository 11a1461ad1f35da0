//! Copies rows from a tree of `occurrence` to a new tree.

use super::page::PageView;
use super::record_reader::{game_of, is_row, key_of, occurrence_of};
use super::tree::{LevelRange, Place};
use super::{BtreeError, LeafWriter, PageFile, Tree};
use crate::board::PositionKey;
use crate::id::Level;
use crate::store::frequent_keys::FrequentKeyCounter;
use crate::store::game_set::GameSet;
use crate::store::row::{Occurrence, OccurrenceRow};

/// The existing rows of one level in a range of keys. They are copied to a new tree of `occurrence` in order,
/// while the caller adds new rows between them.
#[derive(Debug)]
pub struct OldRows<'t> {
    level: Level,
    /// The exclusive end of the range; `None` if it extends to the end of the table.
    end: Option<OccurrenceRow>,
    /// The cursor at the next row.
    place: Place<'t>,
    /// The key of the last copied row, and the number of copied rows with this key (at most `most_counted`).
    run: Option<(PositionKey, u32)>,
    most_counted: u32,
    /// Games whose rows are not copied.
    removed: &'t GameSet,
    /// Whether to record the keys of all removed rows.
    notes_all: bool,
    /// The recorded keys of removed rows. With `notes_all`, these are the keys of all removed rows. Otherwise
    /// they include every key that lost rows and had at least `most_counted` rows before.
    thinned: Vec<PositionKey>,
    /// The key of the row removed last.
    left_out: Option<PositionKey>,
    /// If the previous row was removed: its key, unless a row with this key was copied before.
    going: Option<PositionKey>,
    /// The number of keys whose rows were all removed.
    gone: u64,
}

/// Keys of removed rows.
#[derive(Clone, Debug, Default)]
pub struct RemovedKeys {
    /// Keys that lost rows, in ascending order, possibly repeated: all keys that had at least `most_counted`
    /// rows (see [`OldRows::new`]), and keys with fewer rows that are possibly on several pages.
    /// After [`OldRows::noting_all`], the keys of all removed rows.
    pub thinned: Vec<PositionKey>,
    /// The number of keys that lost all their rows in this level.
    pub gone: u64,
}

impl<'t> OldRows<'t> {
    /// The rows of a level in a range, without the rows of the games in `removed`. At most `most_counted`
    /// rows are counted for each key.
    ///
    /// # Errors
    /// If a page cannot be read or is damaged.
    pub fn new(
        file: &'t PageFile,
        tree: &'t Tree,
        range: LevelRange,
        removed: &'t GameSet,
        most_counted: u32,
    ) -> Result<Self, BtreeError> {
        let LevelRange { level, start, end } = range;
        Ok(Self {
            level,
            end,
            place: Place::of(file, tree, start)?,
            run: None,
            most_counted,
            removed,
            notes_all: false,
            thinned: Vec::new(),
            left_out: None,
            going: None,
            gone: 0,
        })
    }

    /// Makes [`copy_rest`](Self::copy_rest) return the keys of all removed rows.
    #[must_use]
    pub fn noting_all(self) -> Self {
        Self { notes_all: true, ..self }
    }

    /// Copies the rows that come before `row`, and passes their keys to `keys`.
    ///
    /// # Errors
    /// If a page cannot be read, is damaged, or cannot be written, or if the tree already contains `row`.
    pub fn copy_before(
        &mut self,
        row: Occurrence,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        self.copy(Some(OccurrenceRow { level: self.level, occurrence: row }), writer, keys)
    }

    /// Copies all remaining rows, and passes their keys to `keys`. Returns keys of removed rows.
    ///
    /// # Errors
    /// As [`copy_before`](Self::copy_before).
    pub fn copy_rest(
        mut self,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<RemovedKeys, BtreeError> {
        self.copy(self.end, writer, keys)?;
        self.end_removed(None);
        Ok(RemovedKeys { thinned: self.thinned, gone: self.gone })
    }

    /// If the row copied last has this key, returns the number of copied rows with this key, at most
    /// `most_counted` (see [`new`](Self::new)). Otherwise returns 0.
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
        loop {
            let to = match end {
                Some(end) => self.place.first_from(end)?,
                None => self.page()?.count(),
            };
            while to > self.place.cell {
                self.copy_next(to, writer, keys)?;
            }
            if to < self.page()?.count() {
                // If the tree already contains the row `end`, the table does not match its games.
                let Some(end) = end else { return Ok(()) };
                let is_there = self.page()?.row(to).and_then(|cell| is_row(cell, end));
                return if is_there == Some(false) { Ok(()) } else { Err(self.damaged()) };
            }
            match self.divider()? {
                Some((_, divider)) if end == Some(divider) => return Err(self.damaged()),
                Some((_, divider)) if end.is_some_and(|end| divider > end) => return Ok(()),
                Some((_, divider)) if self.removed.contains(divider.occurrence.game()) => {
                    let key = divider.occurrence.key();
                    self.left_out = Some(key);
                    self.thinned.push(key);
                    self.begin_removed(key);
                }
                Some((cell, divider)) => {
                    writer.push_cell(cell)?;
                    let key = divider.occurrence.key();
                    keys.observe(key, 1);
                    self.end_removed(Some(key));
                    self.run = Some((key, (self.rows_of(key) + 1).min(self.most_counted)));
                }
                None => return Ok(()),
            }
            self.place.next_leaf()?;
        }
    }

    /// Copies the rows of the leaf from the current row up to index `to` (exclusive). If a row belongs to a
    /// removed game, copies only the rows before the first such row, and skips that row.
    fn copy_next(
        &mut self,
        to: usize,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        let mut next = to;
        if !self.removed.is_empty() {
            let page = self.page()?;
            for index in self.place.cell..to {
                let game = page.row(index).and_then(game_of).ok_or_else(|| self.damaged())?;
                if self.removed.contains(game) {
                    next = index;
                    break;
                }
            }
        }
        if next > self.place.cell {
            self.copy_cells(next, writer, keys)?;
        }
        if next < to {
            self.record_removed(next)?;
            self.place.cell = next + 1;
        } else {
            self.place.cell = to;
        }
        Ok(())
    }

    /// Records the key of the removed row with this index on the leaf. Without `notes_all`, ignores a key
    /// that has fewer than `most_counted` rows, all of them on this page. Examines the rows of a key only
    /// once.
    fn record_removed(&mut self, index: usize) -> Result<(), BtreeError> {
        let page = self.page()?;
        let key = self.key(page, index)?;
        if self.left_out == Some(key) {
            return Ok(());
        }
        self.begin_removed(key);
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

    /// Updates `going` when a row with this key is about to be removed.
    fn begin_removed(&mut self, key: PositionKey) {
        if self.going != Some(key) {
            self.end_removed(None);
            self.going = Some(key).filter(|_| self.rows_of(key) == 0);
        }
    }

    /// Ends a series of removed rows with the same key. `copied` is the key of the next row, or `None` if
    /// that row is removed too (and has another key) or the range has no more rows.
    fn end_removed(&mut self, copied: Option<PositionKey>) {
        if let Some(key) = self.going.take() {
            self.gone += u64::from(copied != Some(key));
        }
    }

    /// Copies the rows of the leaf from the current one up to index `to` (exclusive).
    fn copy_cells(
        &mut self,
        to: usize,
        writer: &mut LeafWriter,
        keys: &mut FrequentKeyCounter,
    ) -> Result<(), BtreeError> {
        if self.going.is_some() {
            self.end_removed(Some(self.key(self.page()?, self.place.cell)?));
        }
        let page = self.page()?;
        if self.place.is_packed()? {
            writer.push_packed(page, self.place.cell..to)?;
        } else {
            for index in self.place.cell..to {
                writer.push_cell(page.row(index).ok_or_else(|| self.damaged())?)?;
            }
        }
        for index in self.place.cell..to {
            keys.observe(self.key(page, index)?, 1);
        }
        let key = self.key(page, to - 1)?;
        let mut count = 1;
        let mut first = to - 1;
        while first > self.place.cell && count < self.most_counted && self.key(page, first - 1)? == key {
            first -= 1;
            count += 1;
        }
        if first == self.place.cell {
            count = (count + self.rows_of(key)).min(self.most_counted);
        }
        self.run = Some((key, count));
        self.place.cell = to;
        Ok(())
    }

    fn key(&self, page: PageView<'_>, index: usize) -> Result<PositionKey, BtreeError> {
        page.row(index).and_then(key_of).ok_or_else(|| self.damaged())
    }

    fn divider(&self) -> Result<Option<(&'t [u8], OccurrenceRow)>, BtreeError> {
        let Some(cell) = self.place.divider() else { return Ok(None) };
        Ok(Some((cell, occurrence_of(cell).ok_or_else(|| self.damaged())?)))
    }

    /// The leaf that contains the next row.
    fn page(&self) -> Result<PageView<'_>, BtreeError> {
        self.place.page()
    }

    fn damaged(&self) -> BtreeError {
        self.place.damaged()
    }
}
