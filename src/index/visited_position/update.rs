//! Visited positions of a database to which games are added.

use std::path::Path;

use crate::board::{KeySet, MoveCode, PositionKey};
use crate::index::error::Result;
use crate::index::sort::occurrence::PlayedOccurrence;
use crate::index::visited_position::counter::{Counter, Fens, VisitedPosition};
use crate::index::visited_position::decrease::Decreases;
use crate::index::visited_position::known_outcomes::KnownOutcomes;
use crate::index::visited_position::reached::{ReachedPosition, ReachedPositions};
use crate::index::visited_position::sorting::{Sorting, Update};
use crate::parallel;
use crate::store::pages::{PositionReader, PositionTrees};
use crate::store::row::{GameId, Ply};
use crate::store::visit_set::PackingRoom;
use crate::store::{BulkLoader, GameSet, Known};

/// What the added games change.
pub(crate) struct Tracker<'o> {
    /// The keys that have a row of `visited_position`.
    visited: &'o KeySet,
    /// What the new games tell of them.
    reached: &'o ReachedPositions,
    /// What removed games take out of rows; the keys that are doubtful then are counted afresh.
    decreases: &'o Decreases,
    sorting: Sorting<'o>,
    /// The database that is added to.
    target: Option<&'o Path>,
    /// Games that it no longer has.
    removed_games: &'o GameSet,
    /// What its games came to.
    outcomes: KnownOutcomes<'o>,
}

/// Counts what comes by of a range of keys, in order.
pub(crate) struct Watch<'t> {
    tracker: &'t Tracker<'t>,
    /// Counts the new occurrences of positions that have a row.
    counter: Counter<'t>,
    /// The same for others that are to have one, and for doubtful keys.
    rising: Counter<'t>,
    /// The key that came by last, and how many occurrences of it came.
    last: Option<(PositionKey, u32)>,
    /// Those occurrences, as long as they are too few, or whether there are enough.
    pending: Vec<PlayedOccurrence>,
    is_rising: bool,
    distinct: u64,
}

/// What was found among the sorted occurrences.
#[derive(Default)]
pub(crate) struct Found {
    /// Distinct keys that came by.
    pub(crate) distinct: u64,
    /// New occurrences of positions that have a row, which are to be added to it.
    pub(crate) visited: Vec<VisitedPosition>,
    /// New occurrences of others that were reached often enough by now.
    pub(crate) now_visited: Vec<VisitedPosition>,
    /// New occurrences of keys that are counted afresh.
    pub(crate) again: Vec<VisitedPosition>,
}

impl Watch<'_> {
    /// Looks at the next occurrences, all of one key. `has` tells whether there are so many with that key in all; it is given how
    /// many are new.
    pub(crate) fn see(
        &mut self,
        run: &[PlayedOccurrence],
        has: impl FnOnce(u32, u32) -> Result<bool>,
    ) -> Result<()> {
        let Some(key) = run.first().map(|occurrence| occurrence.key()) else { return Ok(()) };
        let earlier = self.last.filter(|(last, _)| *last == key).map(|(_, count)| count);
        if earlier.is_none() {
            self.distinct += 1;
            self.pending.clear();
            self.is_rising = self.tracker.decreases.doubtful.contains(&key);
        }
        let count = earlier.unwrap_or(0).saturating_add(u32::try_from(run.len()).unwrap_or(u32::MAX));
        self.last = Some((key, count));
        if self.is_rising {
            self.rising.see(run);
        } else if self.tracker.visited.contains(&key) {
            self.counter.see(run);
        } else {
            self.pending.extend_from_slice(run);
            if has(self.tracker.threshold(), count)? {
                self.rising.see(&self.pending);
                self.is_rising = true;
            }
        }
        Ok(())
    }

    pub(crate) fn end(self) -> Found {
        let (visited, mut now_visited) = (self.counter.finish().visited, self.rising.finish().visited);
        let again = now_visited
            .extract_if(.., |visited| self.tracker.decreases.doubtful.contains(&visited.key))
            .collect();
        Found { distinct: self.distinct, visited, now_visited, again }
    }
}

impl<'o> Tracker<'o> {
    /// A tracker for the database at `target`, from which some games were removed.
    pub(crate) fn new(
        sorting: Sorting<'o>,
        update: &Update<'o>,
        reached: &'o ReachedPositions,
        target: Option<&'o Path>,
        removed_games: &'o GameSet,
    ) -> Self {
        let Update { visited, decreases, .. } = *update;
        Self {
            visited,
            reached,
            decreases,
            sorting,
            target,
            removed_games,
            outcomes: KnownOutcomes::new(target),
        }
    }

    /// The database as it was before, if there was one.
    pub(crate) const fn target(&self) -> Option<&'o Path> {
        self.target
    }

    /// What the new games tell of the positions with a key.
    pub(crate) fn reached(&self, key: PositionKey) -> Option<&ReachedPosition> {
        self.reached.of(key)
    }

    /// What games of the database came to.
    pub(crate) const fn outcomes(&self) -> &KnownOutcomes<'o> {
        &self.outcomes
    }

    /// Says if somebody asks to stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.sorting.progress.check()
    }

    /// How many occurrences are enough for a row of `visited_position`.
    pub(crate) const fn threshold(&self) -> u32 {
        self.sorting.threshold
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch {
            tracker: self,
            counter: Counter::new(self.sorting.counted_games, 1),
            rising: Counter::new(self.sorting.counted_games, 1),
            last: None,
            pending: Vec::new(),
            is_rising: false,
            distinct: 0,
        }
    }

    /// Counts positions afresh.
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

    /// Counts keys afresh.
    pub(crate) fn recount_keys(&self, keys: Vec<PositionKey>) -> Result<Vec<VisitedPosition>> {
        self.recount_all(keys, |recount, key| {
            // Most have too few.
            if recount.has_occurrences(key)? { recount.add(key, None) } else { Ok(()) }
        })
    }

    /// Counts positions afresh, with the new occurrences of them.
    pub(crate) fn recount_again(&self, again: Vec<VisitedPosition>) -> Result<Vec<VisitedPosition>> {
        self.recount_all(again, |recount, visited| recount.add(visited.key, Some(visited)))
    }

    /// Whether a key has a row of `visited_position`.
    pub(crate) fn has_row(&self, key: PositionKey) -> bool {
        self.visited.contains(&key)
    }

    /// Whether games were removed.
    pub(crate) fn has_removed(&self) -> bool {
        !self.removed_games.is_empty()
    }

    /// Takes what removed games had added out of the rows that are there.
    pub(crate) fn decrease(&self, loader: &BulkLoader<'_>) -> Result<()> {
        self.decreases.write(self.sorting.progress, self.removed_games, loader)
    }

    /// Counts positions afresh. All threads read.
    fn recount_all<T: Send>(
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

/// Counts positions afresh, from all games but the removed ones.
///
/// What was played stands in rows of `game_position`, nearly each on another page. But positions that become visited ones at the same
/// time often follow each other in the same games, so those of many are read together, in the order of the rows.
pub(crate) struct Recount<'r> {
    tracker: &'r Tracker<'r>,
    known: Option<Known>,
    /// Reads them, if their pages may be read.
    positions: Option<PositionReader<'r>>,
    /// Positions whose rows are still to be read, each with its new occurrences.
    waiting: Vec<(PositionKey, Option<VisitedPosition>)>,
    /// Where games reached them.
    visits: Vec<Visit>,
    counted: Vec<VisitedPosition>,
}

/// A game at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    game: GameId,
    /// Where it was there last, and the time before: if it ended there, it counts by the move it had played before.
    last: Ply,
    before: Option<Ply>,
    /// Which of the positions that are waiting.
    waiting: usize,
}

impl Recount<'_> {
    /// How many rows are read together, or a few more.
    const TOGETHER: usize = 1 << 18;

    /// The database as it was before, if there was one: opened where it is needed first.
    fn open<'k>(tracker: &Tracker<'_>, known: &'k mut Option<Known>) -> Result<Option<&'k Known>> {
        tracker.sorting.progress.check()?;
        if known.is_none()
            && let Some(target) = tracker.target
        {
            *known = Some(Known::open_snapshot(target)?);
        }
        Ok(known.as_ref())
    }

    /// Whether so many rows of a key were there before that its position may have had a row.
    fn has_occurrences(&mut self, key: PositionKey) -> Result<bool> {
        let threshold = self.tracker.threshold();
        Ok(Self::open(self.tracker, &mut self.known)?
            .map(|known| known.has_occurrences(key, threshold))
            .transpose()?
            .unwrap_or(false))
    }

    /// Adds to new occurrences of a position all those of games that were there and were not removed, if these are enough together.
    pub(crate) fn add(&mut self, key: PositionKey, new: Option<VisitedPosition>) -> Result<()> {
        let Self { tracker, known, positions, waiting, visits, .. } = self;
        let before = visits.len();
        let visit = |visits: &mut Vec<Visit>, game, ply| {
            if tracker.removed_games.contains(game) {
                return;
            }
            match visits[before..].last_mut() {
                Some(visit) if visit.game == game => {
                    visit.before = Some(visit.last);
                    visit.last = ply;
                }
                _ => visits.push(Visit { game, last: ply, before: None, waiting: waiting.len() }),
            }
        };
        let read = |positions: &PositionReader<'_>| {
            positions.for_each_occurrence(key, |game, ply| visit(visits, game, ply)).is_ok()
        };
        // SQLite reports what cannot be read this way.
        if !positions.as_ref().is_some_and(read) {
            visits.truncate(before);
            if let Some(known) = Self::open(tracker, known)? {
                known.for_each_occurrence(key, |game, ply| visit(visits, game, ply))?;
            }
        }
        // Nearly always they are too few: how many rows a key has is not known so well before.
        let games = (visits.len() - before) as u64 + new.as_ref().map_or(0, VisitedPosition::games);
        if games < u64::from(tracker.threshold()) {
            visits.truncate(before);
            return Ok(());
        }
        waiting.push((key, new));
        if visits.len() >= Self::TOGETHER { self.read() } else { Ok(()) }
    }

    /// Gives back those positions that enough games reached.
    pub(crate) fn finish(&mut self) -> Result<Vec<VisitedPosition>> {
        self.read()?;
        Ok(std::mem::take(&mut self.counted))
    }

    /// Reads the rows that were gathered.
    fn read(&mut self) -> Result<()> {
        let Self { tracker, known, positions, waiting, visits, counted } = self;
        visits.sort_unstable();
        if let Some(known) = Self::open(tracker, known)? {
            for (number, &Visit { game, last, before, waiting: index }) in visits.iter().enumerate() {
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
                            visited.fens.see(fen);
                        }
                        counts
                    };
                    let read = positions.as_mut().map(|positions| positions.played_at(game, ply, &mut see));
                    let counts = match read {
                        Some(Ok(counts)) => counts,
                        // SQLite reports what cannot be read this way.
                        _ => known.played_at(game, ply, see)?,
                    };
                    if counts != Some(false) {
                        break;
                    }
                }
            }
        }
        visits.clear();
        let mut room = PackingRoom::default();
        for mut visited in waiting.drain(..).filter_map(|(_, visited)| visited) {
            if visited.fens != Fens::Several && visited.games() >= u64::from(tracker.threshold()) {
                visited.visits.pack(&mut room);
                counted.push(visited);
            }
        }
        Ok(())
    }
}
