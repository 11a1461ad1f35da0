//! Finds the games that reached positions, one position after the other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::board::{MoveCode, Position, ShortMove};
use crate::store::block_games::BlockGames;
use crate::store::block_set::game_of;
use crate::store::database::Database;
use crate::store::error::Result;
use crate::store::read::game_column::{BlockColumns, ColumnError, Outcomes};
use crate::store::read::occurrence::target::{ExploreTarget, ReachedGame};
use crate::store::read::occurrence::visit::for_each_visit_set;
use crate::store::read::selection::Selection;
use crate::store::visit_set::{PlayedMove, for_each_visit_within};

/// Finds the games of a selection that reached positions. For all positions with sets of games, the filters
/// are evaluated only once per block.
pub struct ReachedGames<'d> {
    database: &'d Database,
    selection: &'d Selection,
    /// The blocks read so far.
    blocks: HashMap<u32, SelectedBlock>,
}

/// The games of a block that match the filters, and the results of all its games.
struct SelectedBlock {
    selected: BlockGames,
    outcomes: Outcomes,
}

impl<'d> ReachedGames<'d> {
    /// Prepares a search. Nothing is read yet.
    #[must_use]
    pub fn new(database: &'d Database, selection: &'d Selection) -> Self {
        Self { database, selection, blocks: HashMap::new() }
    }

    /// Folds over the games of the selection that reached a position, each once, in no particular order.
    /// `see` updates the accumulator, which `new` creates.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn fold<T>(
        &mut self,
        position: &Position,
        new: impl Fn() -> T,
        mut see: impl FnMut(&mut T, ReachedGame),
    ) -> Result<T> {
        let fen = position.canonical_fen();
        let asked = ExploreTarget { database: self.database, key: position.key(), fen: &fen };
        let has_sets = asked.has_sets().map_err(asked.failed())?;
        let mut made = new();
        if has_sets {
            match self.visit_sets(position, |game| see(&mut made, game)) {
                Ok(()) => return Ok(made),
                // If sets or columns cannot answer, start again and read all rows.
                Err(ColumnError::Missing) => made = new(),
                Err(ColumnError::Sql(error)) => return Err(asked.failed()(error)),
            }
        }
        let visited = asked.for_each_game(self.selection, has_sets, &mut |game| see(&mut made, game));
        visited.map_err(asked.failed())?;
        Ok(made)
    }

    /// Calls `see` with the games of the selection that are in the sets of a visited position.
    fn visit_sets(
        &mut self,
        position: &Position,
        mut see: impl FnMut(ReachedGame),
    ) -> std::result::Result<(), ColumnError> {
        let (connection, selection, blocks) = (self.database.connection(), self.selection, &mut self.blocks);
        let mut codes = Codes { position, last: None };
        let mut has_block = false;
        for_each_visit_set(connection, position.key(), |block, games| {
            has_block = true;
            let SelectedBlock { selected, outcomes } = match blocks.entry(block) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let columns = BlockColumns::new(connection, block);
                    unknown.insert(SelectedBlock {
                        selected: columns.selected(selection)?,
                        outcomes: columns.outcomes()?,
                    })
                }
            };
            let mut fits = true;
            let is_whole = for_each_visit_within(
                games,
                |word| selected.word(word),
                |number, played| {
                    // A game that somebody deleted through SQL is still in the set.
                    let Some(result) = outcomes.result(number) else { return };
                    let Some(played) = codes.of(played) else {
                        fits = false;
                        return;
                    };
                    let (elos, day) = (outcomes.elos(number), outcomes.day(number));
                    see(ReachedGame { game: game_of(block, number), played, result, elos, day });
                },
            );
            if is_whole && fits { Ok(()) } else { Err(ColumnError::Missing) }
        })?;
        if has_block { Ok(()) } else { Err(ColumnError::Missing) }
    }
}

/// Converts short moves to codes. Many successive games in sets have the same move, so the last result is
/// kept.
struct Codes<'p> {
    position: &'p Position,
    last: Option<(PlayedMove, Option<Option<MoveCode>>)>,
}

impl Codes<'_> {
    /// The code of the move, or `Some(None)` if no move was played; `None` if the move is not possible in the
    /// position.
    fn of(&mut self, played: PlayedMove) -> Option<Option<MoveCode>> {
        if let Some((last, code)) = self.last
            && last == played
        {
            return code;
        }
        let code = |short: ShortMove| self.position.clone().make_short(short);
        let code = match played.played() {
            Some(short) => code(short).map(Some),
            None => Some(None),
        };
        self.last = Some((played, code));
        code
    }
}
