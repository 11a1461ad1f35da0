//! Rows of `game_position`, looked up one by one.

use super::MOST_LEVELS;
use crate::board::MoveCode;
use crate::id::{GameId, Ply};
use crate::store::pages::page::PageView;
use crate::store::pages::record::{played_in, position_place};
use crate::store::pages::{BtreeError, PageFile, PageNumber};
use crate::store::partition_point::partition_point;

/// Where the tree of `game_position` stands: as it was when the root page was asked for, as long as nobody writes to its pages.
#[derive(Clone, Copy, Debug)]
pub struct PositionTree<'f> {
    /// The file.
    pub file: &'f PageFile,
    /// Its root page.
    pub root: PageNumber,
}

/// Looks up rows, which is quickest in their order: the pages on the way to the last one are kept. Read page by page, they cost far less
/// than through a memory map, where each page that is looked at for the first time is a fault.
#[derive(Debug)]
pub struct PositionReader<'f> {
    tree: PositionTree<'f>,
    /// From the root downwards.
    way: Vec<(PageNumber, Vec<u8>)>,
}

impl<'f> PositionReader<'f> {
    /// Nothing is read yet.
    #[must_use]
    pub const fn new(tree: PositionTree<'f>) -> Self {
        Self { tree, way: Vec::new() }
    }

    /// Shows `see` the FEN of a position of a game and the move played there; `None` if it has no row.
    ///
    /// # Errors
    /// When a page cannot be read, or is not as it should be: a row may be too long for its page, or hold what does not belong there.
    pub fn played_at<T>(
        &mut self,
        game: GameId,
        ply: Ply,
        see: impl FnOnce(&str, Option<MoveCode>) -> T,
    ) -> Result<Option<T>, BtreeError> {
        let place = (i64::from(game.0), i64::from(ply.0));
        let mut number = self.tree.root;
        for level in 0..MOST_LEVELS {
            let page = self.load(level, number)?;
            let damaged = || BtreeError::Damaged { page: number };
            let view = PageView::new(page).ok_or_else(damaged)?;
            let place_of = |index| view.row(index).and_then(position_place).ok_or_else(damaged);
            let index = partition_point(0..view.count(), |index| Ok(place_of(index)? < place))?;
            if index < view.count() && place_of(index)? == place {
                let (fen, code) = view.row(index).and_then(played_in).ok_or_else(damaged)?;
                return Ok(Some(see(fen, code)));
            }
            if view.is_leaf() {
                return Ok(None);
            }
            number = view.child(index).filter(|child| child.0 > 1).ok_or_else(damaged)?;
        }
        Err(BtreeError::Damaged { page: self.tree.root })
    }

    /// The page that stands so many levels below the root.
    fn load(&mut self, level: usize, number: PageNumber) -> Result<&[u8], BtreeError> {
        let file = self.tree.file;
        if number.0 == 0 || number.0 > file.page_count() {
            return Err(BtreeError::Damaged { page: number });
        }
        if self.way.len() == level {
            self.way.push((PageNumber(0), vec![0; file.page_size().bytes()]));
        }
        let (loaded, page) = &mut self.way[level];
        if *loaded != number {
            // Until it is there, the buffer holds neither page.
            *loaded = PageNumber(0);
            file.read_page(number, page)?;
            *loaded = number;
        }
        Ok(page)
    }
}
