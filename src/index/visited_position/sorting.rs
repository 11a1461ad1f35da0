//! Parameters for sorting and counting.

use rayon::ThreadPool;

use crate::board::KeySet;
use crate::id::{GameId, Ply};
use crate::index::error::Error;
use crate::index::progress::Progress;
use crate::index::sort::occurrence::PlayedOccurrence;
use crate::index::visited_position::counted_game::CountedGames;
use crate::index::visited_position::decrease::Decreases;
use crate::sort::Partitions;
use crate::store::row::Occurrence;
use crate::store::sink::{Replaced, UnsortedOccurrences};

/// The data of a run after all games are read.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<'r> {
    pub(crate) partitions: &'r Partitions<PlayedOccurrence>,
    /// The number of records of a partition to sort at once.
    pub(crate) at_once: usize,
    /// The minimum number of games of a visited position.
    pub(crate) threshold: u32,
    /// The counted data of all games read.
    pub(crate) counted_games: &'r CountedGames,
    pub(crate) progress: &'r Progress,
    pub(crate) pool: &'r ThreadPool,
}

impl UnsortedOccurrences for Sorting<'_> {
    type Error = Error;

    fn partitions(&self) -> usize {
        self.partitions.len()
    }

    fn count(&self) -> u64 {
        self.partitions.records()
    }

    fn games(&self) -> (GameId, u32) {
        (GameId(self.counted_games.before().0 + 1), self.counted_games.count())
    }

    fn range(&self, partition: usize) -> (Occurrence, Option<Occurrence>) {
        let first_of = |sort_key| {
            let key = PlayedOccurrence::from_sort_key(sort_key).key();
            Occurrence::new(key, GameId(0), Ply(0))
        };
        let (first, end) = self.partitions.range(partition);
        (first_of(first), end.map(first_of))
    }

    fn panicked(&self) -> Error {
        Error::Panicked
    }

    fn pool(&self) -> &ThreadPool {
        self.pool
    }
}

/// What to update in an existing database.
#[derive(Clone, Copy)]
pub(crate) struct Update<'u> {
    /// The keys of the positions whose continuations are counted.
    pub(crate) visited: &'u KeySet,
    /// The changes that removed games make.
    pub(crate) decreases: &'u Decreases,
    /// Removed games that are read again. Their duplicates are reassigned to the games as read now.
    pub(crate) replaced: &'u [Replaced],
}
