//! Continuations of a database to which games are added.

use std::collections::{HashMap, HashSet};

use super::continuations::{self, count_untold};
use super::crossroads::{Counter, Crossroads};
use super::error::Result;
use super::outcome::{Outcome, Outcomes};
use super::progress::Progress;
use super::visit::Visit;
use crate::board::{Position, PositionKey};
use crate::store::row::{ContinuationRow, GameId, Text, VisitedBatch, VisitedRow};
use crate::store::{BulkLoader, GameOutcome};

/// What the added games change: counted as their sorted visits come by, each piece after its rows are written.
pub(super) struct Tracker<'o> {
    /// The keys that have a row of `visited_position`.
    visited: HashSet<PositionKey>,
    threshold: u32,
    /// Counts the new visits to those.
    counter: Counter<'o>,
    /// Others that are to be counted afresh: there are enough rows now.
    risen: Vec<PositionKey>,
    last_key: Option<PositionKey>,
    distinct: u64,
}

impl<'o> Tracker<'o> {
    /// A tracker for games with these outcomes. Positions with a `removed` key are counted afresh.
    pub(super) fn new(
        loader: &BulkLoader<'_>,
        outcomes: &'o Outcomes,
        threshold: u32,
        removed: &[PositionKey],
    ) -> Result<Self> {
        Ok(Self {
            visited: loader.visited_keys()?.into_iter().collect(),
            threshold,
            counter: Counter::new(outcomes, 1),
            risen: removed.to_vec(),
            last_key: None,
            distinct: 0,
        })
    }

    /// Looks at the next piece, whose rows are written.
    pub(super) fn see(&mut self, piece: &[Visit], loader: &BulkLoader<'_>) -> Result<()> {
        for run in piece.chunk_by(|a, b| a.key() == b.key()) {
            let key = run[0].key();
            self.distinct += u64::from(self.last_key != Some(key));
            self.last_key = Some(key);
            if self.visited.contains(&key) {
                self.counter.see(run);
            } else if self.risen.last() != Some(&key) && loader.has_visits(key, self.threshold)? {
                self.risen.push(key);
            }
        }
        Ok(())
    }

    /// Brings the tables up to date when all other rows are written. Gives back how many distinct keys came by.
    pub(super) fn finish(mut self, loader: &mut BulkLoader<'_>, progress: &Progress) -> Result<u64> {
        let mut known = KnownOutcomes::default();
        let (_, counted) = self.counter.finish();
        let mut batch = VisitedBatch::default();
        for mut visited in counted {
            count_untold(&mut visited, loader)?;
            if !add(&mut batch, visited, &mut known, loader)? {
                continue;
            }
            if batch.positions.len() >= 1024 {
                progress.check()?;
                loader.add_to_visited(&batch)?;
                batch.clear();
            }
        }
        loader.add_to_visited(&batch)?;
        self.risen.sort_unstable_by_key(|key| key.as_i64());
        self.risen.dedup();
        let mut risen = Vec::new();
        for key in self.risen {
            progress.check()?;
            risen.extend(recount(key, self.threshold, &mut known, loader)?);
        }
        continuations::write(risen, loader)?;
        Ok(self.distinct)
    }
}

/// Adds to `batch` what is new of a position that has a row. If the new moves do not fit the position, two positions share the
/// key: the row is removed, and `false` given back.
fn add(
    batch: &mut VisitedBatch,
    mut visited: Crossroads,
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
    for &game in &old.top_games {
        visited.top.insert(known.of(game, loader)?.elo_sum().unwrap_or(0), game);
    }
    for &game in &old.recent_games {
        visited.recent.insert(known.of(game, loader)?.day(), game);
    }
    batch.positions.push(VisitedRow {
        key,
        fen: Text::default(),
        counts: visited.counts,
        unfinished: visited.unfinished,
        top_games: Text::push(&mut batch.text, &visited.top.to_json()),
        recent_games: Text::push(&mut batch.text, &visited.recent.to_json()),
    });
    let rows = visited.moves.iter().zip(codes);
    batch.continuations.extend(rows.map(|(&(_, counts), move_code)| ContinuationRow {
        key,
        move_code,
        counts,
    }));
    Ok(true)
}

/// Counts a position from all rows that there are; `None` if fewer games than `threshold` reached it.
fn recount(
    key: PositionKey,
    threshold: u32,
    known: &mut KnownOutcomes,
    loader: &BulkLoader<'_>,
) -> Result<Option<Crossroads>> {
    let visits = loader.last_visits(key)?;
    if visits.len() < threshold as usize {
        return Ok(None);
    }
    let mut crossroads: Option<Crossroads> = None;
    for (game, ply, code) in visits {
        let visit = Visit::new(key, game, ply, code);
        let outcome = known.of(game, loader)?;
        crossroads.get_or_insert_with(|| Crossroads::new(visit)).count(visit, outcome);
    }
    Ok(crossroads)
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
