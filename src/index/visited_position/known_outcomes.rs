//! What games of a database came to, for those who ask again and again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::index::error::Result;
use crate::index::visited_position::counted_game::CountedGame;
use crate::store::block_set::block_of;
use crate::store::read::game_column::Outcomes;
use crate::store::row::GameId;
use crate::store::{GameOutcome, Known};

/// What games of a database came to before anything was added to it. Their columns are read a block at a time: nearly all blocks are
/// asked for, and to read a row of `game` takes far longer.
#[derive(Debug)]
pub(crate) struct KnownOutcomes<'t> {
    target: Option<&'t Path>,
    known: Mutex<Option<Known>>,
    /// `None`: its columns do not tell it. A game that they do not tell of may be there all the same, if somebody changed them.
    blocks: RwLock<HashMap<u32, Option<Outcomes>>>,
}

impl<'t> KnownOutcomes<'t> {
    /// So many blocks are kept, of half a mebibyte each. Games of others are looked up one by one.
    const MOST_BLOCKS: usize = 192;

    /// Those of the database at `target`; without one there are no games.
    pub(crate) fn new(target: Option<&'t Path>) -> Self {
        Self { target, known: Mutex::default(), blocks: RwLock::default() }
    }

    /// What a game came to; `None` if there is no such game.
    pub(crate) fn of(&self, game: GameId) -> Result<Option<CountedGame>> {
        if let Some(counted) = self.kept(game) {
            return Ok(Some(counted));
        }
        let Some(target) = self.target else { return Ok(None) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &mut *known {
            Some(known) => known,
            none => none.insert(Known::open_snapshot(target)?),
        };
        // Another thread may have read the block meanwhile.
        self.keep(block_of(game).0, known)?;
        if let Some(counted) = self.kept(game) {
            return Ok(Some(counted));
        }
        let by_row =
            |GameOutcome { result, elos, date }: GameOutcome| CountedGame::new(result, elos, date.as_deref());
        Ok(known.game_outcome(game)?.map(by_row))
    }

    /// What a game came to, if its block is kept and tells it.
    fn kept(&self, game: GameId) -> Option<CountedGame> {
        let (block, number) = block_of(game);
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let outcomes = blocks.get(&block)?.as_ref()?;
        let result = outcomes.result(number)?;
        Some(CountedGame::of_parts(result, outcomes.elo_sum(number), outcomes.day(number)))
    }

    /// Reads a block, unless it is kept or there are enough.
    fn keep(&self, block: u32, known: &Known) -> Result<()> {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        if blocks.contains_key(&block) || blocks.len() >= Self::MOST_BLOCKS {
            return Ok(());
        }
        drop(blocks);
        let outcomes = known.outcomes(block)?;
        self.blocks.write().unwrap_or_else(PoisonError::into_inner).insert(block, outcomes);
        Ok(())
    }
}
