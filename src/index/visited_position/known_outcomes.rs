//! Caches the outcomes of games of a database.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::index::error::Result;
use crate::index::visited_position::counted_game::CountedGame;
use crate::store::block_set::block_of;
use crate::store::read::game_column::Outcomes;
use crate::store::row::GameId;
use crate::store::{GameOutcome, Snapshot};

/// The outcomes of the games of a database, as it was before the run. Columns of games are read one block at a
/// time: nearly all blocks are needed, and reading rows of `game` takes far longer.
#[derive(Debug)]
pub(crate) struct KnownOutcomes<'t> {
    target: Option<&'t Path>,
    known: Mutex<Option<Snapshot>>,
    /// One entry for each possible block; `None` if the columns do not have the data of the block. A game that
    /// is missing from the columns may still exist, if a user changed the columns.
    blocks: Vec<OnceLock<Option<Box<Outcomes>>>>,
    /// The number of cached blocks.
    kept: AtomicUsize,
}

impl<'t> KnownOutcomes<'t> {
    /// The maximum number of cached blocks, of half a mebibyte each. Games of other blocks are looked up one by
    /// one.
    const MOST_BLOCKS: usize = 192;

    /// The outcomes of the games of the database at `target`. Without a target, there are no games.
    pub(crate) fn new(target: Option<&'t Path>) -> Self {
        let last = if target.is_some() { block_of(GameId(u32::MAX)).0 } else { 0 };
        let blocks = (0..=last).map(|_| OnceLock::new()).collect();
        Self { target, known: Mutex::default(), blocks, kept: AtomicUsize::new(0) }
    }

    /// The outcome of a game; `None` if there is no such game.
    pub(crate) fn of(&self, game: GameId) -> Result<Option<CountedGame>> {
        if let Some(counted) = self.kept(game) {
            return Ok(Some(counted));
        }
        let Some(target) = self.target else { return Ok(None) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &mut *known {
            Some(known) => known,
            none => none.insert(Snapshot::open_snapshot(target)?),
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

    /// The outcome of a game, if its block is cached and contains the game.
    fn kept(&self, game: GameId) -> Option<CountedGame> {
        let (block, number) = block_of(game);
        let outcomes = self.blocks.get(block as usize)?.get()?.as_ref()?;
        let result = outcomes.result(number)?;
        Some(CountedGame::from_parts(result, outcomes.elos(number), outcomes.day(number)))
    }

    /// Reads a block, unless it is cached or the cache is full. Only one thread at a time can read a block,
    /// because there is only one connection.
    fn keep(&self, block: u32, known: &Snapshot) -> Result<()> {
        let Some(place) = self.blocks.get(block as usize) else { return Ok(()) };
        if place.get().is_some() || self.kept.load(Ordering::Relaxed) >= Self::MOST_BLOCKS {
            return Ok(());
        }
        let outcomes = known.outcomes(block)?;
        if place.set(outcomes.map(Box::new)).is_ok() {
            self.kept.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
