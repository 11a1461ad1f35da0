//! Counts the moves played from a visited position in the games of a selection, using only sets and columns
//! of games: no row of a game is read.

use crate::board::{GameResult, Position};
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{decode_within, game_of};
use crate::store::read::game_column::{BlockColumns, ColumnError, Outcomes};
use crate::store::read::occurrence::tally::{MoveTally, Tally};
use crate::store::read::occurrence::target::{ExploreTarget, ReachedGame};
use crate::store::read::occurrence::visit::for_each_visit_set;
use crate::store::read::selection::Selection;
use crate::store::visit_set::{PlayedMove, take_move};

impl ExploreTarget<'_> {
    /// Counts the games of a selection; `None` if the position [has no sets](Self::has_sets), or if sets or
    /// columns of games are missing or invalid.
    pub(super) fn tally_sets(&self, selection: &Selection, empty: Tally) -> rusqlite::Result<Option<Tally>> {
        if !self.has_sets()? {
            return Ok(None);
        }
        match self.count_blocks(selection, empty) {
            Ok(counted) => Ok(counted.into_tally(self.fen)),
            Err(ColumnError::Missing) => Ok(None),
            Err(ColumnError::Sql(error)) => Err(error),
        }
    }

    fn count_blocks(&self, selection: &Selection, empty: Tally) -> Result<Counted, ColumnError> {
        let mut counted = Counted { tally: empty, moves: SortedMap::new(), blocks: 0 };
        let connection = self.database.connection();
        let mut columns = BlockColumns::new(connection, 0);
        for_each_visit_set(connection, self.key, |block, games| {
            columns.turn_to(block);
            let selected = columns.selected(selection)?;
            counted.blocks += 1;
            if selected.is_empty() {
                return Ok(());
            }
            counted.add(block, games, &columns.outcomes()?, &selected).ok_or(ColumnError::Missing)
        })?;
        Ok(counted)
    }
}

/// The games counted so far.
struct Counted {
    tally: Tally,
    moves: SortedMap<PlayedMove, MoveTally>,
    blocks: u32,
}

impl Counted {
    /// Counts the selected games of a block; `None` if the block's set is invalid.
    fn add(
        &mut self,
        block: u32,
        mut games: &[u8],
        outcomes: &Outcomes,
        selected: &BlockGames,
    ) -> Option<()> {
        let Self { tally, moves, .. } = self;
        let mut kept = tally.games.as_mut().map(|games| games.entry(block));
        while !games.is_empty() {
            let (played, set) = take_move(games)?;
            let mut counted: Option<MoveTally> = None;
            games = decode_within(
                set,
                |word| selected.word(word),
                |number| {
                    // A game that somebody deleted through SQL is still in the set.
                    let Some(result) = outcomes.result(number) else { return };
                    if result == GameResult::Unknown {
                        tally.unfinished += 1;
                        return;
                    }
                    let (elos, day) = (outcomes.elos(number), outcomes.day(number));
                    let game = ReachedGame { game: game_of(block, number), played: None, result, elos, day };
                    counted.get_or_insert_default().add(&game, tally.side);
                    if let Some(kept) = &mut kept {
                        kept.insert(number);
                    }
                    tally.lists.insert(&game);
                },
            )?;
            if let Some(counted) = counted {
                moves.entry(played).add_all(&counted);
            }
        }
        Some(())
    }

    /// The counts, with the codes of the moves; `None` if the FEN is invalid, a move is not possible in the
    /// position, or the position has no sets.
    fn into_tally(self, fen: &str) -> Option<Tally> {
        let Self { mut tally, moves, blocks } = self;
        let (position, _) = Position::from_fen(fen.as_bytes()).ok()?;
        for (played, counted) in moves {
            tally.add_all(&counted);
            if let Some(short) = played.played() {
                tally.moves.insert(position.clone().make_short(short)?, counted);
            }
        }
        (blocks > 0).then_some(tally)
    }
}
