//! Looks up single rows of `game_position` and `occurrence`.

use super::MOST_LEVELS;
use super::cursor::OccurrenceCursor;
use crate::board::{MoveCode, PositionKey};
use crate::id::{GameId, Level, Ply};
use crate::store::pages::merge::LevelRange;
use crate::store::pages::page::PageView;
use crate::store::pages::record_reader::{played_in, position_place};
use crate::store::pages::{BtreeError, PageFile, PageNumber, Tree};
use crate::store::partition_point::partition_point;
use crate::store::row::Occurrence;

/// The trees of `game_position` and `occurrence`. These fields are valid until pages of these trees
/// are overwritten.
#[derive(Clone, Copy, Debug)]
pub struct PositionTrees<'f> {
    /// The database file.
    pub file: &'f PageFile,
    /// The root page of `game_position`.
    pub positions: PageNumber,
    /// The tree of `occurrence`.
    pub occurrences: &'f Tree,
    /// The levels of `occurrence`, in order.
    pub levels: &'f [Level],
}

/// Looks up rows. Rows of `game_position` are found fastest in ascending order, because the pages on the path
/// to the last row found are cached.
///
/// Reading scattered rows page by page is far faster than through a memory map. With a memory map, the first
/// access to each page is a page fault, which also reads many of the following pages.
#[derive(Debug)]
pub struct PositionReader<'f> {
    trees: PositionTrees<'f>,
    /// The pages on the path from the root to the row looked up last, with their numbers.
    way: Vec<(PageNumber, Vec<u8>)>,
}

impl<'f> PositionReader<'f> {
    /// A reader that has not read anything yet.
    #[must_use]
    pub const fn new(trees: PositionTrees<'f>) -> Self {
        Self { trees, way: Vec::new() }
    }

    /// Calls `see` with each game and ply in which a key occurs, in the order of games, then plies.
    ///
    /// # Errors
    /// If a page cannot be read or is invalid.
    pub fn for_each_occurrence(
        &self,
        key: PositionKey,
        mut see: impl FnMut(GameId, Ply),
    ) -> Result<(), BtreeError> {
        let PositionTrees { file, occurrences, levels, .. } = self.trees;
        let first = Occurrence::new(key, GameId(0), Ply(0));
        let nexts = levels.iter().skip(1).copied().map(Some).chain([None]);
        for (&level, next) in levels.iter().zip(nexts) {
            let range = LevelRange::new(level, next, (first, None));
            let mut cursor = OccurrenceCursor::new(file, occurrences, range)?;
            while let Some(row) = cursor.row().filter(|row| row.key() == key) {
                see(row.game(), row.ply());
                cursor.advance()?;
            }
        }
        Ok(())
    }

    /// Calls `see` with the FEN of a position of a game and the move played there. Returns `None` if the
    /// position has no row.
    ///
    /// # Errors
    /// If a page cannot be read or is invalid: a row may be too long for its page, or contain wrong values.
    pub fn played_at<T>(
        &mut self,
        game: GameId,
        ply: Ply,
        see: impl FnOnce(&str, Option<MoveCode>) -> T,
    ) -> Result<Option<T>, BtreeError> {
        let place = (i64::from(game.0), i64::from(ply.0));
        let mut number = self.trees.positions;
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
        Err(BtreeError::Damaged { page: self.trees.positions })
    }

    /// Loads page `number`, which is `level` levels below the root, unless it is cached.
    fn load(&mut self, level: usize, number: PageNumber) -> Result<&[u8], BtreeError> {
        let file = self.trees.file;
        if number.0 == 0 || number.0 > file.page_count() {
            return Err(BtreeError::Damaged { page: number });
        }
        if self.way.len() == level {
            self.way.push((PageNumber(0), vec![0; file.page_size().bytes()]));
        }
        let (loaded, page) = &mut self.way[level];
        if *loaded != number {
            // If reading fails, the buffer contains neither the old page nor the new one.
            *loaded = PageNumber(0);
            file.read_page(number, page)?;
            *loaded = number;
        }
        Ok(page)
    }
}
