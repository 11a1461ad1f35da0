//! The interior pages of a tree, which are built as its leaves are added.

use super::page::{CHILD, INTERIOR, PageBuilder, PageView, child_of};
use super::{BtreeError, PageFile, PageNumber};

/// All levels above the leaves.
#[derive(Debug)]
pub(super) struct Interior<'f> {
    file: &'f PageFile,
    /// The levels in ascending order. The first is the level just above the leaves.
    levels: Vec<Level>,
}

/// One level: the page being filled, and the page before it.
#[derive(Debug)]
struct Level {
    page: InteriorPage,
    /// The complete page before `page`, if there is one, and the row between the two. The complete page is
    /// not written yet, because the last page of the level can need a child from it.
    before: Option<(InteriorPage, Divider)>,
}

/// A row between two pages, as a leaf cell.
type Divider = Vec<u8>;

#[derive(Debug)]
struct InteriorPage {
    bytes: Vec<u8>,
    fill: PageBuilder,
}

impl<'f> Interior<'f> {
    pub(super) const fn new(file: &'f PageFile) -> Self {
        Self { file, levels: Vec::new() }
    }

    /// The levels of an existing tree, to which leaves will be added. `pages` are the interior pages on the
    /// path to its last leaf, from the level just above the leaves upwards. Their right-most children are
    /// ignored. `None` if one of the pages is invalid.
    pub(super) fn resume(file: &'f PageFile, pages: &[Vec<u8>]) -> Option<Self> {
        let level = |bytes: &Vec<u8>| {
            let view = PageView::new(bytes).filter(|view| !view.is_leaf() && view.count() > 0)?;
            let mut page = InteriorPage::new(file);
            for index in 0..view.count() {
                let (child, divider) = (view.child(index)?, view.row(index)?);
                if !page.fill.fits(CHILD + divider.len()) {
                    return None;
                }
                page.push(child, divider);
            }
            Some(Level { page, before: None })
        };
        Some(Self { file, levels: pages.iter().map(level).collect::<Option<_>>()? })
    }

    /// Whether there are no pages above the leaves.
    pub(super) const fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Adds the next leaf and the row after it.
    pub(super) fn push(&mut self, leaf: PageNumber, divider: &[u8]) -> Result<(), BtreeError> {
        self.push_at(0, leaf, divider)
    }

    fn push_at(&mut self, level: usize, child: PageNumber, divider: &[u8]) -> Result<(), BtreeError> {
        if level == self.levels.len() {
            self.levels.push(Level { page: InteriorPage::new(self.file), before: None });
        }
        let Level { page, before } = &mut self.levels[level];
        if page.fill.fits(CHILD + divider.len()) {
            page.push(child, divider);
            return Ok(());
        }
        page.fill.seal_interior(&mut page.bytes, INTERIOR, child);
        let next = InteriorPage::new(self.file);
        let full = std::mem::replace(page, next);
        match before.replace((full, divider.to_vec())) {
            Some((page, divider)) => {
                let number = self.file.append_page(&page.bytes)?;
                self.push_at(level + 1, number, &divider)
            }
            None => Ok(()),
        }
    }

    /// Completes the tree with its last leaf. Returns the contents of the root page, which is not written.
    /// There must be at least one level.
    pub(super) fn finish(mut self, last_leaf: PageNumber) -> Result<Vec<u8>, BtreeError> {
        let mut child = last_leaf;
        let mut level = 0;
        loop {
            let is_top = level + 1 == self.levels.len();
            let Level { page, before } = &mut self.levels[level];
            if let (0, Some((before, divider))) = (page.fill.count(), before.as_mut()) {
                page.take_last_child(before, divider);
            }
            page.fill.seal_interior(&mut page.bytes, INTERIOR, child);
            let page = std::mem::take(&mut page.bytes);
            level += 1;
            match before.take() {
                None if is_top => return Ok(page),
                None => child = self.file.append_page(&page)?,
                Some((before, divider)) => {
                    let number = self.file.append_page(&before.bytes)?;
                    child = self.file.append_page(&page)?;
                    self.push_at(level, number, &divider)?;
                }
            }
        }
    }
}

impl InteriorPage {
    fn new(file: &PageFile) -> Self {
        let size = file.page_size();
        Self { bytes: vec![0; size.bytes()], fill: PageBuilder::interior(size) }
    }

    fn push(&mut self, child: PageNumber, divider: &[u8]) {
        self.fill.push(&mut self.bytes, [&child.0.to_be_bytes(), divider]);
    }

    /// Moves the right-most child of the complete page `before` to this page, which has no cell. Also
    /// moves `divider`, the row between the two pages. The last row of `before` becomes the new `divider`.
    fn take_last_child(&mut self, before: &mut Self, divider: &mut Divider) {
        self.push(PageBuilder::right_child(&before.bytes), divider);
        let cell = before.fill.pop(&before.bytes);
        divider.clear();
        divider.extend_from_slice(&cell[CHILD..]);
        let right = child_of(cell);
        before.fill.seal_interior(&mut before.bytes, INTERIOR, right);
    }
}
