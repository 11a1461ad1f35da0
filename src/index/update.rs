//! Continuations of a database to which games are added.

use std::collections::{HashMap, HashSet};
use std::iter::Sum;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

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
    /// The key that came by last, and how many visits to it did.
    last: Option<(PositionKey, u32)>,
    found: Found,
}

/// What the sorted visits told.
#[derive(Default)]
pub(super) struct Found {
    /// Distinct keys that came by.
    pub(super) distinct: u64,
    /// New visits to positions that have a row.
    crossroads: Vec<Crossroads>,
    /// Other positions that are to be counted afresh: there are enough visits now.
    risen: Vec<PositionKey>,
}

impl Watch<'_> {
    /// Looks at the next visits, all of one key. `has` tells whether there are so many with that key in all; it is given how
    /// many are new.
    pub(super) fn see(&mut self, run: &[Visit], has: impl FnOnce(u32, u32) -> Result<bool>) -> Result<()> {
        let Some(key) = run.first().map(|visit| visit.key()) else { return Ok(()) };
        let earlier = self.last.filter(|(last, _)| *last == key).map(|(_, count)| count);
        self.found.distinct += u64::from(earlier.is_none());
        let count = earlier.unwrap_or(0).saturating_add(u32::try_from(run.len()).unwrap_or(u32::MAX));
        self.last = Some((key, count));
        if self.tracker.visited.contains(&key) {
            self.counter.see(run);
        } else if self.found.risen.last() != Some(&key) && has(self.tracker.threshold, count)? {
            self.found.risen.push(key);
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> Found {
        (_, self.found.crossroads) = self.counter.finish();
        self.found
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
        Watch { tracker: self, counter: Counter::new(self.outcomes, 1), last: None, found: Found::default() }
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
        let Found { crossroads, risen: mut recounted, .. } = found;
        recounted.extend_from_slice(removed);
        recounted.sort_unstable_by_key(|key| key.as_i64());
        recounted.dedup();
        let counted = std::thread::scope(|scope| {
            let counted = scope.spawn(|| count_known(&recounted, run));
            write_others(loader)?;
            add_all(crossroads, run, loader)?;
            counted.join().map_err(|_| Error::Panicked)?
        })?;
        let mut risen = Vec::new();
        for (key, earlier) in recounted.iter().zip(counted) {
            risen.extend(self.count_added(*key, earlier, loader)?);
        }
        continuations::write(risen, loader)
    }

    /// Adds to what the games that were there made of a position what the added ones did; `None` if fewer games than the
    /// threshold reached it.
    fn count_added(
        &self,
        key: PositionKey,
        mut crossroads: Option<Crossroads>,
        loader: &BulkLoader<'_>,
    ) -> Result<Option<Crossroads>> {
        for (game, ply, code) in loader.last_visits(key, self.outcomes.before())? {
            let visit = Visit::new(key, game, ply, code);
            crossroads.get_or_insert_with(|| Crossroads::new(visit)).count(visit, self.outcomes.of(game));
        }
        Ok(crossroads.filter(|crossroads| crossroads.games() >= u64::from(self.threshold)))
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

/// Counts positions from all games that were there and were not removed. Nearly each row stands on another page, so all threads
/// read.
fn count_known(keys: &[PositionKey], run: &Run<'_>) -> Result<Vec<Option<Crossroads>>> {
    let Intake { target: Some(target), removed, .. } = &run.intake else { return Ok(Vec::new()) };
    let count = |known: &mut Option<Known>, &key: &PositionKey| {
        run.progress.check()?;
        let known = match known {
            Some(known) => known,
            None => known.insert(Known::open(target)?),
        };
        let mut crossroads: Option<Crossroads> = None;
        known.for_each_last_visit(key, |game, ply, code, outcome| {
            if !removed.contains(&game) {
                let visit = Visit::new(key, game, ply, code);
                let outcome = Outcome::new(outcome.result, outcome.elos, outcome.date.as_deref());
                crossroads.get_or_insert_with(|| Crossroads::new(visit)).count(visit, outcome);
            }
        })?;
        Ok(crossroads)
    };
    run.pool.install(|| keys.par_iter().map_init(|| None, count).collect())
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
