//! Merges two trees of an index.

use std::cmp::Ordering;
use std::sync::Arc;

use super::assemble::assemble_after;
use super::record_reader::compare;
use super::tree::Place;
use super::{BtreeError, LeafWriter, PageFile, PageRun, RebuiltTree, Tree};
use crate::store::partition_point::{near_partition_point, partition_point};

/// The maximum length, in bytes, of the cell of a row that can be merged: one byte for the row's length, and
/// 127 bytes for the row.
pub const LONGEST_COMBINED: usize = 128;

/// The result of merging two trees of an index.
#[derive(Debug)]
pub enum Combined {
    /// A tree with the rows of both trees.
    Tree(RebuiltTree),
    /// The trees could not be merged, because a row is too long, cannot be compared, or is in both trees. The
    /// pages in this list were written and can be reused.
    Nothing(Vec<PageRun>),
}

/// The number of leading leaves of the tree `old` that stay unchanged when the rows of the tree `new` are
/// merged into `old`.
///
/// # Errors
/// If a page cannot be read, or is damaged.
pub fn count_unchanged_leaves(old: &Tree, (new_file, new): (&PageFile, &Tree)) -> Result<usize, BtreeError> {
    let place = Place::new(new_file, new, 0)?;
    let Next::Row(first) = current(&place)? else { return Ok(0) };
    let end = partition_point(0..old.divider_count(), |leaf| {
        let order = old.divider(leaf).and_then(|divider| compare(divider, first));
        // If rows cannot be compared, this is detected later, when the trees are merged.
        Ok::<_, BtreeError>(order == Some(Ordering::Less))
    })?;
    // The last leaf before the first new row is written again: if it became the last leaf of the new tree,
    // assembling the tree could change it.
    Ok(end.saturating_sub(1))
}

/// Merges the rows of two trees of an index, in order, into new leaves of `file`. The tree `old` is in this
/// file, and the tree `new` is in `new_file`. Both trees must have the same columns, all in ascending order
/// and with texts compared as bytes. The first `stay` leaves of the old tree ([`count_unchanged_leaves`])
/// become part of the result without being read.
///
/// # Errors
/// If a page cannot be read, is damaged, or cannot be written.
pub fn combine(
    file: &Arc<PageFile>,
    (old, stay): (&Tree, usize),
    (new_file, new): (&PageFile, &Tree),
) -> Result<Combined, BtreeError> {
    let (mut old_rows, mut new) = (Place::new(file, old, stay)?, Place::new(new_file, new, 0)?);
    let mut writer = LeafWriter::new(Arc::clone(file));
    let is_whole = loop {
        match current(&new)? {
            Next::Row(row) => {
                if !copy_rows(&mut old_rows, Some(row), &mut writer)? {
                    break false;
                }
                writer.push_cell(row)?;
            }
            Next::End => break copy_rows(&mut old_rows, None, &mut writer)?,
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

/// The current row of a tree.
enum Next<'r> {
    Row(&'r [u8]),
    /// A row that cannot be merged.
    Other,
    End,
}

/// The current row at `place`.
fn current<'r>(place: &'r Place<'_>) -> Result<Next<'r>, BtreeError> {
    Ok(match place.row()?.filter(|row| row.len() <= LONGEST_COMBINED) {
        Some(row) => Next::Row(row),
        None if place.is_at_end()? => Next::End,
        None => Next::Other,
    })
}

/// Copies the rows from `place` up to `end` (exclusive); all remaining rows if `end` is `None`. Returns `false` if
/// one of them cannot be merged, or is equal to `end`.
fn copy_rows(place: &mut Place<'_>, end: Option<&[u8]>, writer: &mut LeafWriter) -> Result<bool, BtreeError> {
    loop {
        let page = place.page()?;
        let to = match end {
            Some(end) => {
                let is_before = |index| match page.row(index).and_then(|row| compare(row, end)) {
                    Some(Ordering::Less) => Ok(true),
                    Some(Ordering::Greater) => Ok(false),
                    Some(Ordering::Equal) | None => Err(()),
                };
                let Ok(to) = near_partition_point(place.cell..page.count(), is_before) else {
                    return Ok(false);
                };
                to
            }
            None => page.count(),
        };
        if to > place.cell && place.is_packed()? {
            writer.push_packed(page, place.cell..to)?;
        } else {
            for index in place.cell..to {
                let Some(row) = page.row(index).filter(|row| row.len() <= LONGEST_COMBINED) else {
                    return Ok(false);
                };
                writer.push_cell(row)?;
            }
        }
        let is_left = to < page.count();
        place.cell = to;
        if is_left {
            return Ok(true);
        }
        match (current(place)?, end) {
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
        place.advance()?;
    }
}
