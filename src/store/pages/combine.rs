//! Merges two trees of an index.

use std::cmp::Ordering;
use std::sync::Arc;

use super::assemble::assemble_after;
use super::record_reader::compare;
use super::tree::leaves::Leaves;
use super::{BtreeError, LeafWriter, PageFile, PageRun, RebuiltTree, Tree};
use crate::store::partition_point::{near_partition_point, partition_point};

/// The maximum length, in bytes, of the cell of a row that can be merged. This includes one byte for the
/// row's length.
pub const LONGEST_COMBINED: usize = 128;

/// The result of merging two trees of an index.
#[derive(Debug)]
pub enum Combined {
    /// A tree with the rows of both trees.
    Tree(RebuiltTree),
    /// No tree, because a row is too long, has columns of an unknown type, or is in both trees. These pages
    /// were written and can be reused.
    Nothing(Vec<PageRun>),
}

/// The number of leaves, from the first one on, that stay unchanged when the rows of another tree are merged
/// into an index.
///
/// # Errors
/// If a page cannot be read, or is damaged.
pub fn count_unchanged_leaves(old: &Tree, (new_file, new): (&PageFile, &Tree)) -> Result<usize, BtreeError> {
    let rows = Rows::starting(new_file, new, 0)?;
    let Next::Row(first) = rows.next()? else { return Ok(0) };
    let end = partition_point(0..old.divider_count(), |leaf| {
        let order = old.divider(leaf).and_then(|divider| compare(divider, first));
        // Rows that cannot be compared are detected when the trees are merged.
        Ok::<_, BtreeError>(order == Some(Ordering::Less))
    })?;
    // The last leaf must be a new one that can be changed, so the leaf before the first change is written
    // again.
    Ok(end.saturating_sub(1))
}

/// Merges the rows of two trees of an index, in order, into new leaves of `file`. The tree `old` is in this
/// file, and the tree `new` in another file. Both must have the same columns, all ascending and compared as
/// bytes. Leaves of the old tree that [stay unchanged](count_unchanged_leaves) are not read.
///
/// # Errors
/// If a page cannot be read, is damaged, or cannot be written.
pub fn combine(
    file: &Arc<PageFile>,
    (old, stay): (&Tree, usize),
    (new_file, new): (&PageFile, &Tree),
) -> Result<Combined, BtreeError> {
    let (mut old_rows, mut new) = (Rows::starting(file, old, stay)?, Rows::starting(new_file, new, 0)?);
    let mut writer = LeafWriter::new(Arc::clone(file));
    let is_whole = loop {
        match new.next()? {
            Next::Row(row) => {
                if !old_rows.copy(Some(row), &mut writer)? {
                    break false;
                }
                writer.push_cell(row)?;
            }
            Next::End => break old_rows.copy(None, &mut writer)?,
            Next::Other => break false,
        }
        new.advance()?;
    };
    let segment = writer.finish_segment()?;
    if !is_whole {
        return Ok(Combined::Nothing(segment.runs().to_vec()));
    }
    assemble_after(file, old, stay, [segment]).map(Combined::Tree)
}

/// The row at the current place of a tree.
enum Next<'r> {
    Row(&'r [u8]),
    /// A row that cannot be merged.
    Other,
    End,
}

/// Iterates over the rows of a tree in order.
struct Rows<'t> {
    tree: &'t Tree,
    leaves: Leaves<'t>,
    leaf: usize,
    /// The index of a cell on the leaf. The index after the last cell refers to the leaf's divider.
    cell: usize,
}

impl<'t> Rows<'t> {
    /// The rows of the tree, from the first row of this leaf on.
    fn starting(file: &'t PageFile, tree: &'t Tree, leaf: usize) -> Result<Self, BtreeError> {
        let mut leaves = Leaves::new(file, tree);
        leaves.load(leaf)?;
        Ok(Self { tree, leaves, leaf, cell: 0 })
    }

    fn next(&self) -> Result<Next<'_>, BtreeError> {
        let page = self.leaves.get(self.leaf)?;
        let row = if self.cell < page.count() {
            page.row(self.cell)
        } else {
            let Some(divider) = self.tree.divider(self.leaf) else { return Ok(Next::End) };
            Some(divider)
        };
        Ok(row.filter(|row| row.len() <= LONGEST_COMBINED).map_or(Next::Other, Next::Row))
    }

    fn advance(&mut self) -> Result<(), BtreeError> {
        if self.cell < self.leaves.get(self.leaf)?.count() {
            self.cell += 1;
        } else {
            self.leaf += 1;
            self.cell = 0;
            self.leaves.load(self.leaf)?;
        }
        Ok(())
    }

    /// Copies the rows before `end`, or all rows. Returns whether all of them could be copied.
    fn copy(&mut self, end: Option<&[u8]>, writer: &mut LeafWriter) -> Result<bool, BtreeError> {
        loop {
            let page = self.leaves.get(self.leaf)?;
            let to = match end {
                Some(end) => {
                    let is_before = |index| match page.row(index).and_then(|row| compare(row, end)) {
                        Some(Ordering::Less) => Ok(true),
                        Some(Ordering::Greater) => Ok(false),
                        Some(Ordering::Equal) | None => Err(()),
                    };
                    let Ok(to) = near_partition_point(self.cell..page.count(), is_before) else {
                        return Ok(false);
                    };
                    to
                }
                None => page.count(),
            };
            if to > self.cell && self.leaves.is_packed(self.leaf)? {
                writer.push_packed(page, self.cell..to)?;
            } else {
                for index in self.cell..to {
                    let Some(row) = page.row(index).filter(|row| row.len() <= LONGEST_COMBINED) else {
                        return Ok(false);
                    };
                    writer.push_cell(row)?;
                }
            }
            self.cell = to;
            if to < page.count() {
                return Ok(true);
            }
            match (self.next()?, end) {
                (Next::End, _) => return Ok(true),
                (Next::Other, _) => return Ok(false),
                (Next::Row(divider), Some(end)) if compare(divider, end) == Some(Ordering::Greater) => {
                    return Ok(true);
                }
                (Next::Row(divider), end) => {
                    if end.is_some_and(|end| compare(divider, end) != Some(Ordering::Less)) {
                        return Ok(false);
                    }
                    writer.push_cell(divider)?;
                }
            }
            self.advance()?;
        }
    }
}
