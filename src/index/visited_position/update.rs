//! Updates the visited positions of an existing database.

use std::path::Path;

use rayon::ThreadPool;

use crate::board::{KeySet, MoveCode, PositionKey};
use crate::index::visited_position::{
    CountedGames, Counter, Decreases, Fens, KnownOutcomes, ReachedPositions, VisitedPosition, opened,
};
use crate::index::{Error, PlayedOccurrence, Progress, Result};
use crate::parallel;
use crate::sort::Partitions;
use crate::store::pages::{PositionReader, PositionTrees};
use crate::store::row::{GameId, Occurrence, Ply};
use crate::store::sink::{Replaced, UnsortedOccurrences};
use crate::store::visit_set::PackingBuffers;
use crate::store::{GameSet, Snapshot};

/// The unsorted occurrences of a run, and the parameters for sorting and counting them.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<'r> {
    pub(crate) partitions: &'r Partitions<PlayedOccurrence>,
    /// The maximum number of records of a partition to sort at once.
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
    /// The keys that have a row of `visited_position`.
    pub(crate) visited: &'u KeySet,
    /// The changes that removed games make.
    pub(crate) decreases: &'u Decreases,
    /// Removed games that are read again. Their duplicates are reassigned to the games that are read instead.
    pub(crate) replaced: &'u [Replaced],
}

/// Tracks the changes that added games make to visited positions.
pub(crate) struct Tracker<'o> {
    pub(crate) update: Update<'o>,
    /// Data of visited positions, collected while the new games were read.
    pub(crate) reached: &'o ReachedPositions,
    pub(crate) sorting: Sorting<'o>,
    /// The existing database.
    pub(crate) target: &'o Path,
    /// Games that the run removes from the database.
    pub(crate) removed_games: &'o GameSet,
    /// The outcomes of the games of the existing database.
    pub(crate) outcomes: KnownOutcomes<'o>,
}

/// Counts the new occurrences of the keys in a range, in the order of the keys.
pub(crate) struct RangeCounter<'t> {
    tracker: &'t Tracker<'t>,
    /// Counts the new occurrences of positions that have a row.
    counter: Counter<'t>,
    /// Counts the new occurrences of other positions that may get a row, and of doubtful keys.
    rising: Counter<'t>,
    /// The last key, and the number of its new occurrences so far.
    last: Option<(PositionKey, u32)>,
    /// The occurrences of the last key that are not yet counted, because the key may have too few of them.
    pending: Vec<PlayedOccurrence>,
    /// Whether `rising` counts the last key.
    is_rising: bool,
    distinct: u64,
}

/// The results of a [`RangeCounter`].
#[derive(Default)]
pub(crate) struct Found {
    /// The number of distinct keys.
    pub(crate) distinct: u64,
    /// New occurrences of positions that have a row, to be added to it.
    pub(crate) visited: Vec<VisitedPosition>,
    /// New occurrences of positions that may now have enough games.
    pub(crate) now_visited: Vec<VisitedPosition>,
    /// New occurrences of the keys whose rows were removed because too few games were left.
    pub(crate) again: Vec<VisitedPosition>,
}

impl RangeCounter<'_> {
    /// Processes the next occurrences, all of one key. `has` takes the minimum number of occurrences and the
    /// number of new ones. It returns whether two conditions hold: new and existing occurrences together
    /// reach the minimum, and the key has at least
    /// [`rows_in_level`](crate::store::frequent_keys::rows_in_level) rows in the level being written.
    pub(crate) fn observe(
        &mut self,
        run: &[PlayedOccurrence],
        has: impl FnOnce(u32, u32) -> Result<bool>,
    ) -> Result<()> {
        let Some(key) = run.first().map(|occurrence| occurrence.key()) else { return Ok(()) };
        let earlier = self.last.filter(|(last, _)| *last == key).map(|(_, count)| count);
        if earlier.is_none() {
            self.distinct += 1;
            self.pending.clear();
            self.is_rising = self.tracker.update.decreases.doubtful.contains(&key);
        }
        let count = earlier.unwrap_or(0).saturating_add(u32::try_from(run.len()).unwrap_or(u32::MAX));
        self.last = Some((key, count));
        if self.is_rising {
            self.rising.observe(run);
        } else if self.tracker.update.visited.contains(&key) {
            self.counter.observe(run);
        } else {
            self.pending.extend_from_slice(run);
            if has(self.tracker.sorting.threshold, count)? {
                self.rising.observe(&self.pending);
                self.is_rising = true;
            }
        }
        Ok(())
    }

    pub(crate) fn end(self) -> Found {
        let (visited, mut now_visited) = (self.counter.finish().visited, self.rising.finish().visited);
        let doubtful = &self.tracker.update.decreases.doubtful;
        let again = now_visited.extract_if(.., |visited| doubtful.contains(&visited.key)).collect();
        Found { distinct: self.distinct, visited, now_visited, again }
    }
}

impl<'o> Tracker<'o> {
    /// A tracker for the database at `target`, from which the run removes the games in `removed_games`.
    pub(crate) fn new(
        sorting: Sorting<'o>,
        update: Update<'o>,
        reached: &'o ReachedPositions,
        target: &'o Path,
        removed_games: &'o GameSet,
    ) -> Self {
        let outcomes = KnownOutcomes::new(target);
        Self { update, reached, sorting, target, removed_games, outcomes }
    }

    pub(crate) fn watch(&self) -> RangeCounter<'_> {
        RangeCounter {
            tracker: self,
            counter: Counter::new(self.sorting.counted_games, 1),
            rising: Counter::new(self.sorting.counted_games, 1),
            last: None,
            pending: Vec::new(),
            is_rising: false,
            distinct: 0,
        }
    }

    /// Begins to count positions again. `before` contains the trees of positions as they were before the run;
    /// `None` if their pages must not be read directly.
    pub(crate) fn recount<'r>(&'r self, before: Option<PositionTrees<'r>>) -> Recount<'r> {
        Recount {
            tracker: self,
            known: None,
            positions: before.map(PositionReader::new),
            waiting: Vec::new(),
            visits: Vec::new(),
            counted: Vec::new(),
        }
    }

    pub(crate) fn recount_keys(&self, keys: Vec<PositionKey>) -> Result<Vec<VisitedPosition>> {
        self.recount_all(keys, |recount, key| recount.add(key, None))
    }

    /// Recounts positions on all threads.
    pub(crate) fn recount_all<T: Send>(
        &self,
        positions: Vec<T>,
        add: impl Fn(&mut Recount<'_>, T) -> Result<()> + Send + Sync,
    ) -> Result<Vec<VisitedPosition>> {
        const AT_ONCE: usize = 512;
        let count = |recount: &mut Recount<'_>, positions: Vec<T>| {
            positions.into_iter().try_for_each(|position| add(recount, position))?;
            recount.finish()
        };
        let mut positions = positions.into_iter();
        let parts = std::iter::from_fn(|| {
            Some(positions.by_ref().take(AT_ONCE).collect::<Vec<_>>()).filter(|part| !part.is_empty())
        });
        let parts = parts.collect();
        let counted = parallel::consume(Some(self.sorting.pool), parts, || self.recount(None), count)?;
        Ok(counted.into_iter().flatten().collect())
    }
}

/// Recounts positions from all games, except removed games.
///
/// The moves are in rows of `game_position`, nearly every row on a different page. But positions that become
/// visited at the same time are often consecutive in the same games. So the rows of many positions are read
/// together, in row order.
pub(crate) struct Recount<'r> {
    tracker: &'r Tracker<'r>,
    known: Option<Snapshot>,
    /// Reads the rows directly from the pages, if this is allowed.
    positions: Option<PositionReader<'r>>,
    /// Positions whose rows must still be read, each with the counts of its new occurrences.
    waiting: Vec<(PositionKey, Option<VisitedPosition>)>,
    /// The games that reached these positions.
    visits: Vec<GameAtPosition>,
    counted: Vec<VisitedPosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GameAtPosition {
    game: GameId,
    /// The plies of the game's last visit and, if there is one, of the visit before it. If the game ended at
    /// its last visit, it is counted under the move that it played at the visit before.
    last: Ply,
    before: Option<Ply>,
    /// The index of the waiting position.
    waiting: usize,
}

impl Recount<'_> {
    /// The approximate number of rows to read together.
    const TOGETHER: usize = 1 << 18;

    fn open<'k>(tracker: &Tracker<'_>, known: &'k mut Option<Snapshot>) -> Result<&'k Snapshot> {
        tracker.sorting.progress.check()?;
        opened(known, tracker.target)
    }

    /// Adds all occurrences of a position in existing games, except removed games, to its new occurrences.
    /// Does nothing if too few games reached the position.
    pub(crate) fn add(&mut self, key: PositionKey, new: Option<VisitedPosition>) -> Result<()> {
        let Self { tracker, known, positions, waiting, visits, .. } = self;
        // Most keys without new occurrences have too few occurrences.
        if new.is_none() && !Self::open(tracker, known)?.has_occurrences(key, tracker.sorting.threshold)? {
            return Ok(());
        }
        let before = visits.len();
        let visit = |visits: &mut Vec<GameAtPosition>, game, ply| {
            if tracker.removed_games.contains(game) {
                return;
            }
            match visits[before..].last_mut() {
                Some(visit) if visit.game == game => {
                    visit.before = Some(visit.last);
                    visit.last = ply;
                }
                _ => visits.push(GameAtPosition { game, last: ply, before: None, waiting: waiting.len() }),
            }
        };
        let read = |positions: &PositionReader<'_>| {
            positions.for_each_occurrence(key, |game, ply| visit(visits, game, ply)).is_ok()
        };
        // Rows that cannot be read from the pages are read through SQLite, which reports errors.
        if !positions.as_ref().is_some_and(read) {
            visits.truncate(before);
            let known = Self::open(tracker, known)?;
            known.for_each_occurrence(key, |game, ply| visit(visits, game, ply))?;
        }
        // There can be too few games: the number of rows of a key was only an upper bound, a game can have
        // several of these rows, and removed games do not count.
        let games = (visits.len() - before) as u64 + new.as_ref().map_or(0, VisitedPosition::games);
        if games < u64::from(tracker.sorting.threshold) {
            visits.truncate(before);
            return Ok(());
        }
        waiting.push((key, new));
        if visits.len() >= Self::TOGETHER { self.read() } else { Ok(()) }
    }

    /// Returns the positions that enough games reached.
    pub(crate) fn finish(&mut self) -> Result<Vec<VisitedPosition>> {
        self.read()?;
        Ok(std::mem::take(&mut self.counted))
    }

    /// Reads the rows of the waiting positions, and counts their games.
    fn read(&mut self) -> Result<()> {
        let Self { tracker, known, positions, waiting, visits, counted } = self;
        visits.sort_unstable();
        let known = Self::open(tracker, known)?;
        for (number, &GameAtPosition { game, last, before, waiting: index }) in visits.iter().enumerate() {
            if number % 1024 == 0 {
                tracker.sorting.progress.check()?;
            }
            let Some(counted_game) = tracker.outcomes.of(game)? else { continue };
            let (key, visited) = &mut waiting[index];
            for (ply, earlier) in [(Some(last), before), (before, None)] {
                let Some(ply) = ply else { break };
                let mut see = |fen: &str, code: Option<MoveCode>| {
                    let counts = code.is_some() || earlier.is_none();
                    if counts {
                        let visited = visited.get_or_insert_with(|| VisitedPosition::new(*key));
                        visited.count(PlayedOccurrence::new(*key, game, ply, code), counted_game);
                        visited.fens.observe(fen);
                    }
                    counts
                };
                let read = positions.as_mut().map(|positions| positions.played_at(game, ply, &mut see));
                let counts = match read {
                    Some(Ok(counts)) => counts,
                    // Rows that cannot be read from the pages are read through SQLite, which reports errors.
                    _ => known.played_at(game, ply, see)?,
                };
                if counts != Some(false) {
                    break;
                }
            }
        }
        visits.clear();
        let mut buffers = PackingBuffers::default();
        for mut visited in waiting.drain(..).filter_map(|(_, visited)| visited) {
            if visited.fens != Fens::Several && visited.games() >= u64::from(tracker.sorting.threshold) {
                visited.visits.pack(&mut buffers);
                counted.push(visited);
            }
        }
        Ok(())
    }
}
