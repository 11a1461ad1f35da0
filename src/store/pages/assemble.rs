//! Joins segments, in key order, into one B-tree.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::interior::Interior;
use super::leaf_writer::Cells;
use super::page::{LEAF, PageBuilder, PageView};
use super::record_reader::{first_number, is_before};
use super::tree::{Place, Spine, read_page};
use super::{BtreeError, LeafWriter, PageFile, PageNumber, Segment, Tree};
use crate::id::GameId;
use crate::store::game_set::GameSet;
use crate::store::row::OccurrenceRow;

/// Builds the B-tree with the root page `root` from `segments`.
///
/// The segments must be in key order: each key of a segment must be greater than all keys of the segment
/// before (this is not checked). Segments can be empty. `root` is the root page of an empty `WITHOUT ROWID`
/// table or index, as stored in `sqlite_schema`. Trees of different tables can be assembled concurrently.
///
/// # Errors
/// If `root` is not the root page of an empty tree, or a page cannot be written or read back.
pub fn assemble(
    file: &Arc<PageFile>,
    root: PageNumber,
    segments: impl IntoIterator<Item = Segment>,
) -> Result<(), BtreeError> {
    file.check_root(root, |page| PageBuilder::from_leaf(page).is_some_and(|fill| fill.count() == 0))?;
    let page = Assembly::new(file).run(segments)?;
    file.write_pages(root, &page)
}

/// The result of changing a tree.
#[derive(Clone, Debug, Default)]
pub struct RebuiltTree {
    /// The new contents of the tree's root page, which is not written yet.
    pub root: Vec<u8>,
    /// Pages that the tree no longer needs.
    pub freed: Vec<PageNumber>,
}

/// Appends segments to the tree with the root page `root`. All keys of the segments must be greater than the
/// existing keys. Does not write to existing pages of the tree.
///
/// # Errors
/// [`BtreeError::Damaged`] if the tree is invalid, or if a row that must be read continues on an overflow
/// page; another error if a page cannot be written or read.
pub fn extend(
    file: &Arc<PageFile>,
    root: PageNumber,
    segments: impl IntoIterator<Item = Segment>,
) -> Result<RebuiltTree, BtreeError> {
    let Spine { numbers, mut pages } = Spine::read(file, root)?;
    let damaged = || BtreeError::Damaged { page: root };
    let mut assembly = Assembly::new(file);
    let last_leaf = pages.pop().ok_or_else(damaged)?;
    pages.reverse();
    assembly.interior = Interior::resume(file, &pages).ok_or_else(damaged)?;
    let last_leaf = PageView::new(&last_leaf).ok_or_else(damaged)?;
    if last_leaf.rows().count() != last_leaf.count() {
        return Err(damaged());
    }
    last_leaf.rows().try_for_each(|row| assembly.loose.push_cell(row))?;
    Ok(RebuiltTree { root: assembly.run(segments)?, freed: numbers[1..].to_vec() })
}

/// Keeps the rows of a tree that come before `row`, and replaces all other rows with segments. Most leaves
/// that contain only kept rows stay as they are. Does not write to existing pages of the tree.
///
/// # Errors
/// As [`extend`].
pub fn replace_end(
    file: &Arc<PageFile>,
    tree: &Tree,
    row: OccurrenceRow,
    segments: impl IntoIterator<Item = Segment>,
) -> Result<RebuiltTree, BtreeError> {
    // The last leaf with only kept rows is written again, too: if the new tree ended with an old leaf, the
    // assembly could change that leaf.
    let kept = tree.leaves_before(row)?.saturating_sub(1);
    let mut assembly = Assembly::new(file);
    assembly.push_first_leaves(tree, kept)?;
    let mut place = Place::new(file, tree, kept)?;
    while !place.is_at_end()? {
        let cell = place.row()?.ok_or_else(|| place.damaged())?;
        if !is_before(cell, row).ok_or_else(|| place.damaged())? {
            break;
        }
        assembly.loose.push_cell(cell)?;
        place.advance()?;
    }
    let root = assembly.run(segments)?;
    Ok(RebuiltTree { root, freed: tree.pages_without(kept).collect() })
}

/// Keeps the first `stay` leaves of a tree, each with the row after it, and replaces all other rows with
/// segments. At least one leaf must be replaced. Does not write to existing pages of the tree.
///
/// # Errors
/// As [`extend`].
pub(super) fn assemble_after(
    file: &Arc<PageFile>,
    tree: &Tree,
    stay: usize,
    segments: impl IntoIterator<Item = Segment>,
) -> Result<RebuiltTree, BtreeError> {
    let mut assembly = Assembly::new(file);
    assembly.push_first_leaves(tree, stay)?;
    let root = assembly.run(segments)?;
    Ok(RebuiltTree { root, freed: tree.pages_without(stay).collect() })
}

/// Builds a new tree from the rows of `tree`, except those of `games`, and appends segments. The first column
/// of the rows must be the id of a game. All keys of the segments must be greater than the existing keys.
/// Most leaves without removed rows are kept. Does not write to existing pages of the tree. Calls `see` with
/// the game of each removed row, in order.
///
/// # Errors
/// As [`extend`].
pub fn copy_without_games(
    file: &Arc<PageFile>,
    tree: &Tree,
    games: &GameSet,
    segments: impl IntoIterator<Item = Segment>,
    mut see: impl FnMut(GameId),
) -> Result<RebuiltTree, BtreeError> {
    let game = |cell: &[u8], leaf| {
        let number = first_number(cell).and_then(|number| u32::try_from(number).ok());
        Ok::<_, BtreeError>(GameId(number.ok_or_else(|| tree.damaged(leaf))?))
    };
    // Finds the leaves that can contain rows of these games, or are followed by such a row.
    let (mut first, mut changes) = (GameId(0), Vec::with_capacity(tree.leaves().len()));
    for leaf in 0..tree.divider_count() {
        let last = game(tree.divider(leaf).ok_or_else(|| tree.damaged(leaf))?, leaf)?;
        changes.push(games.has_any(first..=last));
        first = last;
    }
    changes.push(true);
    // The last leaf of the new tree must be a new page, because `finish` can change it. If the leaves after
    // the last unchanged leaf lose all their rows, this leaf becomes the last leaf of the new tree. So the
    // last unchanged leaf is written again, too.
    if let Some(last_kept) = changes.iter().rposition(|changes| !changes) {
        changes[last_kept] = true;
    }
    let mut assembly = Assembly::new(file);
    let mut freed: Vec<PageNumber> = tree.pages_without(tree.leaves().len()).collect();
    let mut page = vec![0; file.page_size().bytes()];
    for (leaf, &number) in tree.leaves().iter().enumerate() {
        let divider = tree.divider(leaf);
        if let Some(divider) = divider
            && !changes[leaf]
            && assembly.flush_rows_before(number)?
        {
            assembly.push_leaf(number, divider)?;
            continue;
        }
        file.read_page(number, &mut page)?;
        let view = PageView::new(&page).filter(|view| view.is_leaf()).ok_or_else(|| tree.damaged(leaf))?;
        for cell in (0..view.count()).map(|index| view.row(index)).chain(divider.map(Some)) {
            let cell = cell.ok_or_else(|| tree.damaged(leaf))?;
            let game = game(cell, leaf)?;
            if games.contains(game) {
                see(game);
            } else {
                assembly.loose.push_cell(cell)?;
            }
        }
        freed.push(number);
    }
    // The root page is not freed, because the new tree has the same root page.
    freed.retain(|&page| page != tree.root());
    Ok(RebuiltTree { root: assembly.run(segments)?, freed })
}

/// Builds a tree from segments, which are added one after another.
struct Assembly<'f> {
    file: &'f PageFile,
    interior: Interior<'f>,
    /// The last leaf and the row after it. They are added to `interior` once another leaf follows.
    tail: Option<(PageNumber, Vec<u8>)>,
    /// Packs two kinds of rows into leaves: the rows of segments without leaves, and rows copied from old
    /// leaves.
    loose: LeafWriter,
}

impl<'f> Assembly<'f> {
    /// The number of pages that `loose` buffers.
    const LOOSE_PAGES: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

    fn new(file: &'f Arc<PageFile>) -> Self {
        let loose = LeafWriter::with_buffer(Arc::clone(file), Self::LOOSE_PAGES);
        Self { file, interior: Interior::new(file), tail: None, loose }
    }

    /// Starts the tree with the first `count` leaves of another tree.
    fn push_first_leaves(&mut self, tree: &Tree, count: usize) -> Result<(), BtreeError> {
        (0..count).try_for_each(|leaf| {
            let number = tree.leaves()[leaf];
            self.push_leaf(number, tree.divider(leaf).ok_or(BtreeError::Damaged { page: number })?)
        })
    }

    fn run(mut self, segments: impl IntoIterator<Item = Segment>) -> Result<Vec<u8>, BtreeError> {
        segments.into_iter().try_for_each(|segment| self.add(&segment))?;
        self.finish()
    }

    fn add(&mut self, segment: &Segment) -> Result<(), BtreeError> {
        let Some(first) = segment.leaves.first() else {
            return segment.rows.iter().try_for_each(|row| self.loose.push_cell(row));
        };
        let loose = self.loose.finish_segment()?;
        if loose.leaves.is_empty() {
            self.place_rows(&loose.rows, first.first)?;
        }
        self.push_leaves(&loose)?;
        self.push_leaves(segment)
    }

    /// Writes the rows in `loose` before the leaf `next`, without changing this leaf. Returns `false` if
    /// there is only one row, which cannot be inserted without changing `next`. This row stays in `loose`.
    fn flush_rows_before(&mut self, next: PageNumber) -> Result<bool, BtreeError> {
        let loose = self.loose.finish_segment()?;
        if loose.leaves.is_empty() {
            let mut rows = loose.rows.iter();
            if let (Some(row), None) = (rows.next(), rows.next()) {
                self.loose.push_cell(row)?;
                return Ok(false);
            }
            self.place_rows(&loose.rows, next)?;
        }
        self.push_leaves(&loose)?;
        Ok(true)
    }

    fn finish(mut self) -> Result<Vec<u8>, BtreeError> {
        let loose = self.loose.finish_segment()?;
        self.push_leaves(&loose)?;
        let rows: Vec<&[u8]> = if loose.leaves.is_empty() { loose.rows.iter().collect() } else { Vec::new() };
        match self.tail.take() {
            None if self.interior.is_empty() => Ok(self.leaf(&rows)),
            None => self.finish_with(&rows),
            Some((leaf, divider)) if rows.is_empty() => self.finish_after(leaf, divider),
            Some((leaf, divider)) => {
                self.interior.push(leaf, &divider)?;
                self.finish_with(&rows)
            }
        }
    }

    /// Writes a leaf of these rows, and ends the tree with it.
    fn finish_with(self, rows: &[&[u8]]) -> Result<Vec<u8>, BtreeError> {
        let last = self.file.append_page(&self.leaf(rows))?;
        self.interior.finish(last)
    }

    /// Adds a segment's leaves, if it has any.
    fn push_leaves(&mut self, segment: &Segment) -> Result<(), BtreeError> {
        segment.leaves().try_for_each(|(leaf, divider)| self.push_leaf(leaf, divider))
    }

    fn push_leaf(&mut self, leaf: PageNumber, divider: &[u8]) -> Result<(), BtreeError> {
        match &mut self.tail {
            Some((tail, tail_divider)) => {
                self.interior.push(*tail, tail_divider)?;
                *tail = leaf;
                tail_divider.clear();
                tail_divider.extend_from_slice(divider);
            }
            None => self.tail = Some((leaf, divider.to_vec())),
        }
        Ok(())
    }

    /// Inserts rows before the leaf `next`. All rows except the last must fit on one leaf; the last row
    /// becomes the divider after it. Inserting a single row [changes `next`](Self::place_row).
    fn place_rows(&mut self, rows: &Cells, next: PageNumber) -> Result<(), BtreeError> {
        let rows: Vec<&[u8]> = rows.iter().collect();
        match *rows {
            [] => Ok(()),
            [row] => self.place_row(row, next),
            [ref leaf @ .., divider] => {
                let leaf = self.file.append_page(&self.leaf(leaf))?;
                self.push_leaf(leaf, divider)
            }
        }
    }

    /// Inserts one row before the leaf `next`. This leaf can be full, and the row cannot be a divider if
    /// another divider precedes it. So the row gets a leaf of its own, and the first row of `next` becomes
    /// the divider between the two leaves.
    fn place_row(&mut self, row: &[u8], next: PageNumber) -> Result<(), BtreeError> {
        let (page, fill) = self.read_leaf(next)?;
        let mut rows = fill.cells(&page);
        let divider = rows.next().ok_or(BtreeError::Damaged { page: next })?;
        // The leaf does not become empty: `next` is the first leaf of a segment, so it was full, and has lost
        // at most one row since then.
        self.file.write_pages(next, &self.leaf(&rows.collect::<Vec<_>>()))?;
        let leaf = self.file.append_page(&self.leaf(&[row]))?;
        self.push_leaf(leaf, divider)
    }

    /// Ends the tree with `leaf` and `row`, the row after this leaf. If `row` fits on the leaf, adds it
    /// there. Otherwise it gets a leaf of its own, and the last row of `leaf` becomes the divider between the
    /// two leaves.
    fn finish_after(mut self, leaf: PageNumber, row: Vec<u8>) -> Result<Vec<u8>, BtreeError> {
        let (mut page, mut fill) = self.read_leaf(leaf)?;
        if fill.fits(row.len()) {
            fill.push(&mut page, [&row]);
            fill.seal(&mut page, LEAF);
            self.file.write_pages(leaf, &page)?;
            return self.interior.finish(leaf);
        }
        let divider = fill.pop(&page).to_vec();
        fill.seal(&mut page, LEAF);
        self.file.write_pages(leaf, &page)?;
        self.interior.push(leaf, &divider)?;
        self.finish_with(&[&row])
    }

    /// Builds a leaf of `rows`, which must fit.
    fn leaf(&self, rows: &[&[u8]]) -> Vec<u8> {
        let size = self.file.page_size();
        let mut page = vec![0; size.bytes()];
        let mut fill = PageBuilder::leaf(size);
        for row in rows {
            fill.push(&mut page, [*row]);
        }
        fill.seal(&mut page, LEAF);
        page
    }

    fn read_leaf(&self, number: PageNumber) -> Result<(Vec<u8>, PageBuilder), BtreeError> {
        let page = read_page(self.file, number)?;
        let fill = PageBuilder::from_leaf(&page).filter(|fill| fill.count() > 0);
        let fill = fill.ok_or(BtreeError::Damaged { page: number })?;
        Ok((page, fill))
    }
}
