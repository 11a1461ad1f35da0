//! Continuations of a database to which games are added.

use std::collections::{HashMap, HashSet};
use std::iter::Sum;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::continuations::{self, count_untold};
use super::crossroads::{Counter, Crossroads, to_json};
use super::error::{Error, Result};
use super::outcome::{Outcome, Outcomes};
use super::run::{Intake, Run};
use super::visit::Visit;
use crate::board::{Position, PositionKey};
use crate::store::row::{ContinuationRow, GameId, Text, VisitedBatch, VisitedRow};
use crate::store::{BulkLoader, GameOutcome, Known};

/// What the added games change.
pub(super) struct Tracker<'o> {
    /// The keys that have a row of `visited_position`.
    visited: HashSet<PositionKey>,
    threshold: u32,
    outcomes: &'o Outcomes,
}

/// Counts what comes by of a range of keys, in order.
pub(super) struct Watch<'t> {
    tracker: &'t Tracker<'t>,
    /// Counts the new visits to positions that have a row.
    counter: Counter<'t>,
    /// The same for others that are to have one.
    rising: Counter<'t>,
    /// The key that came by last, and how many visits to it did.
    last: Option<(PositionKey, u32)>,
    /// Those visits, as long as they are too few, or whether there are enough.
    pending: Vec<Visit>,
    is_rising: bool,
    distinct: u64,
}

/// What the sorted visits told.
#[derive(Default)]
pub(super) struct Found {
    /// Distinct keys that came by.
    pub(super) distinct: u64,
    /// New visits to positions that have a row.
    crossroads: Vec<Crossroads>,
    /// New visits to others that were reached often enough by now.
    risen: Vec<Crossroads>,
}

impl Watch<'_> {
    /// Looks at the next visits, all of one key. `has` tells whether there are so many with that key in all; it is given how
    /// many are new.
    pub(super) fn see(&mut self, run: &[Visit], has: impl FnOnce(u32, u32) -> Result<bool>) -> Result<()> {
        let Some(key) = run.first().map(|visit| visit.key()) else { return Ok(()) };
        let earlier = self.last.filter(|(last, _)| *last == key).map(|(_, count)| count);
        if earlier.is_none() {
            self.distinct += 1;
            self.pending.clear();
            self.is_rising = false;
        }
        let count = earlier.unwrap_or(0).saturating_add(u32::try_from(run.len()).unwrap_or(u32::MAX));
        self.last = Some((key, count));
        if self.tracker.visited.contains(&key) {
            self.counter.see(run);
        } else if self.is_rising {
            self.rising.see(run);
        } else {
            self.pending.extend_from_slice(run);
            if has(self.tracker.threshold, count)? {
                self.rising.see(&self.pending);
                self.is_rising = true;
            }
        }
        Ok(())
    }

    pub(super) fn end(self) -> Found {
        let (crossroads, risen) = (self.counter.finish().1, self.rising.finish().1);
        Found { distinct: self.distinct, crossroads, risen }
    }
}

impl<'o> Tracker<'o> {
    /// A tracker for games with these outcomes.
    pub(super) fn new(
        visited: impl IntoIterator<Item = PositionKey>,
        outcomes: &'o Outcomes,
        threshold: u32,
    ) -> Self {
        Self { visited: visited.into_iter().collect(), threshold, outcomes }
    }

    /// How many visits are enough for a row of `visited_position`.
    pub(super) const fn threshold(&self) -> u32 {
        self.threshold
    }

    pub(super) fn watch(&self) -> Watch<'_> {
        Watch {
            tracker: self,
            counter: Counter::new(self.outcomes, 1),
            rising: Counter::new(self.outcomes, 1),
            last: None,
            pending: Vec::new(),
            is_rising: false,
            distinct: 0,
        }
    }

    /// Brings the tables up to date. Positions with a `removed` key are counted afresh. All other rows must be written, or are
    /// written by `write_others`; meanwhile what was there is counted.
    pub(super) fn finish(
        &self,
        found: Found,
        removed: &[PositionKey],
        run: &Run<'_>,
        loader: &mut BulkLoader<'_>,
        write_others: impl FnOnce(&mut BulkLoader<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut removed: HashSet<PositionKey> = removed.iter().copied().collect();
        let Found { mut crossroads, risen, .. } = found;
        // The rows of those are no more.
        let gone: Vec<Crossroads> =
            crossroads.extract_if(.., |visited| removed.contains(&visited.key)).collect();
        let new_visits = risen.into_iter().chain(gone);
        let mut counted: Vec<_> = new_visits.map(|visited| (visited.key, Some(visited))).collect();
        counted.iter().for_each(|(key, _)| {
            removed.remove(key);
        });
        counted.extend(removed.into_iter().map(|key| (key, None)));
        counted.sort_unstable_by_key(|(key, _)| key.as_i64());
        let counted = std::thread::scope(|scope| {
            let counted = scope.spawn(|| count_known(counted, self.threshold, run));
            write_others(loader)?;
            add_all(crossroads, run, loader)?;
            counted.join().map_err(|_| Error::Panicked)?
        })?;
        continuations::write(counted, loader)
    }
}

impl Sum for Found {
    /// What all ranges told, in their order.
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut all, part| {
            all.distinct += part.distinct;
            all.crossroads.extend(part.crossroads);
            all.risen.extend(part.risen);
            all
        })
    }
}

/// Adds what is new of positions that have a row.
fn add_all(crossroads: Vec<Crossroads>, run: &Run<'_>, loader: &mut BulkLoader<'_>) -> Result<()> {
    let mut known = KnownOutcomes::default();
    let mut batch = VisitedBatch::default();
    for mut visited in crossroads {
        count_untold(&mut visited, loader)?;
        if !add(&mut batch, visited, &mut known, loader)? {
            continue;
        }
        if batch.positions.len() >= 1024 {
            run.progress.check()?;
            loader.add_to_visited(&batch)?;
            batch.clear();
        }
    }
    Ok(loader.add_to_visited(&batch)?)
}

/// Adds to new visits all those of games that were there and were not removed. Gives back the positions that at least `threshold`
/// games reached. Nearly each row stands on another page, so all threads read.
fn count_known(
    counted: Vec<(PositionKey, Option<Crossroads>)>,
    threshold: u32,
    run: &Run<'_>,
) -> Result<Vec<Crossroads>> {
    let Intake { target: Some(target), removed, .. } = &run.intake else { return Ok(Vec::new()) };
    let count = |known: &mut Option<Known>, (key, mut crossroads): (PositionKey, Option<Crossroads>)| {
        run.progress.check()?;
        let known = match known {
            Some(known) => known,
            None => known.insert(Known::open(target)?),
        };
        known.for_each_last_visit(key, |game, ply, code, outcome| {
            if !removed.contains(&game) {
                let visit = Visit::new(key, game, ply, code);
                let outcome = Outcome::new(outcome.result, outcome.elos, outcome.date.as_deref());
                crossroads.get_or_insert_with(|| Crossroads::new(visit)).count(visit, outcome);
            }
        })?;
        Ok(crossroads.filter(|crossroads| crossroads.games() >= u64::from(threshold)))
    };
    let counted: Vec<Option<Crossroads>> =
        run.pool.install(|| counted.into_par_iter().map_init(|| None, count).collect::<Result<_>>())?;
    Ok(counted.into_iter().flatten().collect())
}

/// Adds to `batch` what is new of a position that has a row. If the new moves do not fit the position, two positions share the
/// key: the row is removed, and `false` given back.
fn add(
    batch: &mut VisitedBatch,
    visited: Crossroads,
    known: &mut KnownOutcomes,
    loader: &BulkLoader<'_>,
) -> Result<bool> {
    let key = visited.key;
    let Some(old) = loader.visited_position(key)? else { return Ok(false) };
    let position = Position::from_fen(old.fen.as_bytes()).ok().map(|(position, _)| position);
    let codes: Option<Vec<_>> = position.and_then(|position| {
        visited.moves.iter().map(|(short, _)| position.clone().make_short(*short)).collect()
    });
    let Some(codes) = codes else {
        loader.remove_visited(key)?;
        return Ok(false);
    };
    let top_games = visited
        .top
        .with(&old.top_games, |game| Ok::<_, Error>(known.of(game, loader)?.elo_sum().unwrap_or(0)))?;
    let recent_games =
        visited.recent.with(&old.recent_games, |game| Ok::<_, Error>(known.of(game, loader)?.day()))?;
    batch.positions.push(VisitedRow {
        key,
        fen: Text::default(),
        counts: visited.counts,
        unfinished: visited.unfinished,
        top_games: Text::push(&mut batch.text, &to_json(&top_games)),
        recent_games: Text::push(&mut batch.text, &to_json(&recent_games)),
    });
    let rows = visited.moves.iter().zip(codes);
    batch.continuations.extend(rows.map(|(&(_, counts), move_code)| ContinuationRow {
        key,
        move_code,
        counts,
    }));
    Ok(true)
}

/// Outcomes of games that have been looked up: the same games are the best everywhere.
#[derive(Default)]
struct KnownOutcomes(HashMap<GameId, Outcome>);

impl KnownOutcomes {
    fn of(&mut self, game: GameId, loader: &BulkLoader<'_>) -> Result<Outcome> {
        /// About 16 MiB.
        const MOST: usize = 1 << 20;
        if let Some(&outcome) = self.0.get(&game) {
            return Ok(outcome);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let GameOutcome { result, elos, date } = loader.game_outcome(game)?;
        let outcome = Outcome::new(result, elos, date.as_deref());
        self.0.insert(game, outcome);
        Ok(outcome)
    }
}
