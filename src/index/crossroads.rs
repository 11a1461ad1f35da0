//! What was played from much visited positions, counted as the sorted visits come by.

use super::outcome::Outcome;
use super::visit::{Played, Visit};
use crate::board::{GameResult, PositionKey, ShortMove};
use crate::store::row::{GameId, Ply, ResultCounts};

/// How many of a position's best-rated and latest games are kept.
const LISTED: usize = 15;

/// A position that many games reached, and what was played there.
#[derive(Debug)]
pub(super) struct Crossroads {
    pub(super) key: PositionKey,
    /// One of its visits, for looking at the position.
    pub(super) sample: (GameId, Ply),
    pub(super) counts: ResultCounts,
    pub(super) unfinished: u32,
    pub(super) moves: Vec<(ShortMove, ResultCounts)>,
    /// Games whose move must be looked up.
    pub(super) untold: Vec<(GameId, Ply)>,
    /// Best first.
    pub(super) top: Vec<GameId>,
    /// Latest first.
    pub(super) recent: Vec<GameId>,
}

impl Crossroads {
    const fn new(key: PositionKey, first: Visit) -> Self {
        Self {
            key,
            sample: (first.game(), first.ply()),
            counts: ResultCounts::NONE,
            unfinished: 0,
            moves: Vec::new(),
            untold: Vec::new(),
            top: Vec::new(),
            recent: Vec::new(),
        }
    }

    /// Counts a game by its last visit.
    fn count(&mut self, last: Visit, outcomes: &[Outcome]) {
        let outcome = outcome_of(outcomes, last.game());
        if outcome.result() == GameResult::Unknown {
            self.unfinished += 1;
            return;
        }
        count(&mut self.counts, outcome);
        match last.played() {
            Played::Nothing => {}
            Played::Untold => self.untold.push((last.game(), last.ply())),
            Played::Move(played) => self.count_move(played, outcome),
        }
        let rating = |game| outcome_of(outcomes, game).elo_sum();
        if outcome.elo_sum().is_some() {
            // Of equal ratings, the first game counts as the best, and games come in order.
            insert(&mut self.top, last.game(), |other| rating(other) >= outcome.elo_sum());
        }
        insert(&mut self.recent, last.game(), |other| outcome_of(outcomes, other).day() > outcome.day());
    }

    fn count_move(&mut self, played: ShortMove, outcome: Outcome) {
        let at = self.moves.iter().position(|(other, _)| *other == played).unwrap_or_else(|| {
            self.moves.push((played, ResultCounts::NONE));
            self.moves.len() - 1
        });
        count(&mut self.moves[at].1, outcome);
    }

    /// Counts a game whose move has been looked up.
    pub(super) fn count_told(&mut self, played: ShortMove, game: GameId, outcomes: &[Outcome]) {
        self.count_move(played, outcome_of(outcomes, game));
    }

    fn games(&self) -> u64 {
        self.counts.games() + u64::from(self.unfinished)
    }
}

fn outcome_of(outcomes: &[Outcome], game: GameId) -> Outcome {
    outcomes[game.0 as usize - 1]
}

fn count(counts: &mut ResultCounts, outcome: Outcome) {
    match outcome.result() {
        GameResult::White => counts.white_wins += 1,
        GameResult::Draw => counts.draws += 1,
        GameResult::Black => counts.black_wins += 1,
        GameResult::Unknown => {}
    }
    if let Some(sum) = outcome.elo_sum() {
        counts.elo_sum += u64::from(sum);
        counts.elo_games += 1;
    }
    if let Some(year) = outcome.year() {
        counts.first_year = Some(counts.first_year.map_or(year, |first| first.min(year)));
        counts.last_year = Some(counts.last_year.map_or(year, |last| last.max(year)));
    }
}

/// Puts a game into a list behind those that are `better`, and keeps the list short.
fn insert(list: &mut Vec<GameId>, game: GameId, better: impl Fn(GameId) -> bool) {
    if list.len() == LISTED && better(list[LISTED - 1]) {
        return;
    }
    let at = list.partition_point(|&other| better(other));
    list.truncate(LISTED - 1);
    list.insert(at, game);
}

/// Finds the crossroads in one partition's sorted visits, and counts distinct keys.
pub(super) struct Counter<'o> {
    outcomes: &'o [Outcome],
    /// How many games must have come by.
    threshold: usize,
    /// The visits of the latest key, as long as they are fewer than the threshold and the piece ended with them.
    pending: Vec<Visit>,
    /// The latest key's position, once its visits are as many.
    open: Option<Open>,
    last_key: Option<PositionKey>,
    distinct: u64,
    found: Vec<Crossroads>,
}

/// A position that is being counted, and the latest visit to it, which counts unless the same game's next one follows.
struct Open {
    crossroads: Crossroads,
    latest: Visit,
}

impl<'o> Counter<'o> {
    /// A counter of positions that at least `threshold` games reached; `outcomes` are those of all games.
    pub(super) fn new(outcomes: &'o [Outcome], threshold: u32) -> Self {
        Self {
            outcomes,
            threshold: threshold.max(1) as usize,
            pending: Vec::new(),
            open: None,
            last_key: None,
            distinct: 0,
            found: Vec::new(),
        }
    }

    /// Looks at the next piece.
    pub(super) fn see(&mut self, piece: &[Visit]) {
        let mut rest = piece;
        while let Some(first) = rest.first() {
            let key = first.key();
            let length = rest.iter().take_while(|visit| visit.key() == key).count();
            let (run, others) = rest.split_at(length);
            rest = others;
            if self.last_key != Some(key) {
                self.end_key();
                self.last_key = Some(key);
                self.distinct += 1;
                // Nearly all keys: too few visits, and the next key has come.
                if length < self.threshold && !rest.is_empty() {
                    continue;
                }
            }
            self.add(run);
        }
    }

    fn add(&mut self, run: &[Visit]) {
        if self.open.is_none() && self.pending.len() + run.len() < self.threshold {
            self.pending.extend_from_slice(run);
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        for &visit in pending.iter().chain(run) {
            let Open { crossroads, latest } = self.open.get_or_insert_with(|| Open {
                crossroads: Crossroads::new(visit.key(), visit),
                latest: visit,
            });
            if latest.game() != visit.game() {
                crossroads.count(*latest, self.outcomes);
            }
            *latest = visit;
        }
        pending.clear();
        self.pending = pending;
    }

    fn end_key(&mut self) {
        self.pending.clear();
        if let Some(Open { mut crossroads, latest }) = self.open.take() {
            crossroads.count(latest, self.outcomes);
            if crossroads.games() >= self.threshold as u64 {
                self.found.push(crossroads);
            }
        }
    }

    /// The number of distinct keys, and the crossroads in the order of their keys.
    pub(super) fn finish(mut self) -> (u64, Vec<Crossroads>) {
        self.end_key();
        (self.distinct, self.found)
    }
}
