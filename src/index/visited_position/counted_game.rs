//! The results, ratings and dates of games, from which the counts of positions are computed.

use std::path::Path;
use std::sync::{Mutex, OnceLock};

use crate::index::Result;
use crate::parallel::lock;
use crate::store::Snapshot;
use crate::store::block_set::block_of;
use crate::store::read::game_column::Outcomes;
use crate::store::row::{CountedGame, GameId};

/// The results, ratings and dates of the games of a level: first the stored games, then the games that the run
/// adds.
#[derive(Debug)]
pub(crate) struct CountedGames {
    /// The last id before the games that the run adds.
    before: GameId,
    pub(super) stored: StoredGames,
    counted_games: Vec<CountedGame>,
}

/// Stored games, in pieces of consecutive ids. Pieces without games have no elements: a user can have left
/// large gaps between ids.
#[derive(Debug, Default)]
pub(crate) struct StoredGames {
    first: GameId,
    pieces: Vec<Box<[CountedGame]>>,
}

impl StoredGames {
    /// The number of ids in a piece.
    pub(crate) const AT_ONCE: u32 = 2048;

    /// Builds the list from its pieces with games, each with its first id. `first` is the first id of the
    /// first piece, whether or not this piece has games.
    pub(crate) fn new(first: GameId, pieces: impl Iterator<Item = (GameId, Box<[CountedGame]>)>) -> Self {
        let mut all = Self { first, pieces: Vec::new() };
        for (start, piece) in pieces {
            let index = all.index(start);
            if all.pieces.len() <= index {
                all.pieces.resize_with(index + 1, Box::default);
            }
            all.pieces[index] = piece;
        }
        all
    }

    const fn index(&self, game: GameId) -> usize {
        ((game.0 - self.first.0) / Self::AT_ONCE) as usize
    }

    fn of(&self, game: GameId) -> CountedGame {
        self.pieces[self.index(game)][((game.0 - self.first.0) % Self::AT_ONCE) as usize]
    }
}

impl CountedGames {
    /// An empty list. `before` is the last id before the games that the run adds.
    pub(crate) fn new(before: GameId) -> Self {
        Self { before, stored: StoredGames::default(), counted_games: Vec::new() }
    }

    /// The last id before the games that the run adds.
    pub(crate) const fn before(&self) -> GameId {
        self.before
    }

    /// Whether the run adds this game.
    pub(crate) const fn is_new(&self, game: GameId) -> bool {
        game.0 > self.before.0
    }

    /// The number of games that the run adds.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.counted_games.len()).unwrap_or(u32::MAX)
    }

    /// The number of elements: one for each game, and one for each id without a game in a stored piece.
    pub(crate) fn len(&self) -> usize {
        self.stored.pieces.iter().map(|piece| piece.len()).sum::<usize>() + self.counted_games.len()
    }

    pub(crate) fn extend(&mut self, counted_games: impl Iterator<Item = CountedGame>) {
        self.counted_games.extend(counted_games);
    }

    /// The result, ratings and date of one of the games.
    #[inline]
    pub(crate) fn of(&self, game: GameId) -> CountedGame {
        if self.is_new(game) {
            self.counted_games[(game.0 - self.before.0 - 1) as usize]
        } else {
            self.stored.of(game)
        }
    }
}

/// The database at `target`, as it was before the run. The first call opens it and sets `known`.
pub(crate) fn opened<'k>(known: &'k mut Option<Snapshot>, target: &Path) -> Result<&'k Snapshot> {
    Ok(match known {
        Some(known) => known,
        none => none.insert(Snapshot::open_snapshot(target)?),
    })
}

/// The outcomes (result, ratings and date) of the games of a database, as it was before the run. The outcomes
/// are read from `game_column`, one block at a time: nearly all blocks are needed, and reading rows of `game`
/// takes far longer.
#[derive(Debug)]
pub(crate) struct KnownOutcomes<'t> {
    target: &'t Path,
    reader: Mutex<OutcomeReader>,
    /// One entry for each possible block, set when the block has been read: `None` if `game_column` does not
    /// have the data of the block. A game that is missing from `game_column` can still exist, if a user
    /// changed that table.
    blocks: Vec<OnceLock<Option<Box<Outcomes>>>>,
}

/// The connection for reading outcomes, and the number of blocks read.
#[derive(Debug, Default)]
struct OutcomeReader {
    known: Option<Snapshot>,
    blocks: usize,
}

impl<'t> KnownOutcomes<'t> {
    /// The maximum number of cached blocks, of half a mebibyte each. Games of other blocks are looked up one by
    /// one.
    const MOST_BLOCKS: usize = 192;

    /// The outcomes of the games of the database at `target`.
    pub(crate) fn new(target: &'t Path) -> Self {
        let blocks = (0..=block_of(GameId(u32::MAX)).0).map(|_| OnceLock::new()).collect();
        Self { target, reader: Mutex::default(), blocks }
    }

    /// The outcome of a game; `None` if there is no such game.
    pub(crate) fn of(&self, game: GameId) -> Result<Option<CountedGame>> {
        if let Some(counted) = self.cached(game) {
            return Ok(Some(counted));
        }
        let block = block_of(game).0;
        let mut reader = lock(&self.reader);
        let OutcomeReader { known, blocks } = &mut *reader;
        let known = opened(known, self.target)?;
        // Another thread may have read the block meanwhile.
        let cache = &self.blocks[block as usize];
        if cache.get().is_none() && *blocks < Self::MOST_BLOCKS {
            let outcomes = known.outcomes(block)?;
            cache.get_or_init(|| outcomes.map(Box::new));
            *blocks += 1;
        }
        match self.cached(game) {
            Some(counted) => Ok(Some(counted)),
            None => Ok(known.game_outcome(game)?),
        }
    }

    /// The outcome of a game, if its block is cached and contains the game.
    fn cached(&self, game: GameId) -> Option<CountedGame> {
        let (block, number) = block_of(game);
        let outcomes = self.blocks[block as usize].get()?.as_ref()?;
        Some(CountedGame::new(outcomes.result(number)?, outcomes.elos(number), outcomes.day(number)))
    }
}
