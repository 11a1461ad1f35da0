//! What removed games had added to the rows of visited positions, taken out again.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSlice as _;

use crate::board::{GameResult, MoveCode, PositionKey};
use crate::index::error::Result;
use crate::index::progress::Progress;
use crate::index::visited_position::counted_game::{CountedGame, KnownOutcomes};
use crate::index::visited_position::counter::to_json;
use crate::store::row::{GameId, GameList, LISTED_GAMES, Ply, ResultCounts};
use crate::store::{BulkLoader, GameSet, Known, VisitedCounts};

/// What is taken out of the rows of one position.
#[derive(Debug, Default)]
struct Decrease {
    counts: ResultCounts,
    unfinished: u32,
    moves: Vec<(MoveCode, ResultCounts)>,
    change: Change,
}

/// What becomes of the rows beside their counts.
#[derive(Debug, Default)]
struct Change {
    /// Whether too few games are left: the rows go, and the position is counted afresh.
    goes: bool,
    /// The best-rated and the latest games as JSON, if others are among them now.
    lists: Option<[String; 2]>,
    /// The first and the last year of moves, if they are other ones now.
    years: Vec<(MoveCode, ResultCounts)>,
}

impl Decrease {
    fn count(&mut self, played: Option<MoveCode>, game: CountedGame) {
        if game.result() == GameResult::Unknown {
            self.unfinished += 1;
            return;
        }
        game.add_to(&mut self.counts);
        if let Some(code) = played {
            game.add_to(self.counts_of(code));
        }
    }

    fn counts_of(&mut self, code: MoveCode) -> &mut ResultCounts {
        let at = self.moves.iter().position(|(other, _)| *other == code).unwrap_or_else(|| {
            self.moves.push((code, ResultCounts::NONE));
            self.moves.len() - 1
        });
        &mut self.moves[at].1
    }

    fn absorb(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.unfinished += other.unfinished;
        for (code, counts) in &other.moves {
            self.counts_of(*code).add(counts);
        }
    }
}

/// What removed games change for visited positions.
#[derive(Debug, Default)]
pub(crate) struct Decreases {
    /// By the key of a position that has a row, in order.
    visited: Vec<(PositionKey, Decrease)>,
    /// Keys that are counted afresh: those of positions that too few games are left of, if no new ones come.
    pub(crate) doubtful: HashSet<PositionKey>,
    /// How many positions the removed games have.
    pub(crate) positions: u64,
}

/// What it goes by.
#[derive(Clone, Copy)]
pub(crate) struct Removed<'r> {
    /// The database, as it was before.
    pub(crate) target: &'r Path,
    pub(crate) games: &'r GameSet,
    /// The keys that have a row of `visited_position`.
    pub(crate) visited: &'r HashSet<PositionKey>,
    pub(crate) threshold: u32,
    pub(crate) pool: &'r ThreadPool,
    pub(crate) progress: &'r Progress,
}

/// What was found among the positions of some games.
#[derive(Default)]
struct Found {
    visited: HashMap<PositionKey, Decrease>,
    positions: u64,
}

impl Decreases {
    /// Goes through the positions of the removed games.
    pub(crate) fn of(removed: Removed<'_>) -> Result<Self> {
        const GAMES_AT_ONCE: usize = 256;
        const GAMES: usize = 1 << 17;
        let games: Vec<GameId> = removed.games.iter().collect();
        let mut visited: HashMap<PositionKey, Decrease> = HashMap::new();
        let mut all = Self::default();
        let all_outcomes = if games.len() > MANY { removed.outcomes()? } else { None };
        let connection = || Connection { all_outcomes: all_outcomes.as_ref(), ..Connection::default() };
        for games in games.chunks(GAMES) {
            let parts = games.par_chunks(GAMES_AT_ONCE);
            let parts: Vec<Found> = removed.pool.install(|| {
                parts.map_init(connection, |known, games| known.games(removed, games)).collect::<Result<_>>()
            })?;
            for Found { visited: part, positions } in parts {
                all.positions += positions;
                for (key, decrease) in part {
                    visited.entry(key).or_default().absorb(&decrease);
                }
            }
        }
        let found: Vec<(PositionKey, Decrease)> = visited.into_iter().collect();
        let decide = |known: &mut Connection<'_>, (key, mut decrease): (PositionKey, Decrease)| {
            decrease.change = known.change(removed, key, &decrease)?;
            Ok((key, decrease))
        };
        all.visited = removed
            .pool
            .install(|| found.into_par_iter().map_init(connection, decide).collect::<Result<_>>())?;
        all.visited.sort_unstable_by_key(|(key, _)| key.as_i64());
        let going = all.visited.iter().filter(|(_, decrease)| decrease.change.goes);
        all.doubtful = going.map(|(key, _)| *key).collect();
        Ok(all)
    }

    /// Writes the rows, before anything is added to them.
    pub(crate) fn write(&self, progress: &Progress, loader: &BulkLoader<'_>) -> Result<()> {
        for (key, Decrease { counts, unfinished, moves, change }) in &self.visited {
            progress.check()?;
            if change.goes {
                loader.remove_visited(*key)?;
                continue;
            }
            loader.decrease_visited(*key, counts, *unfinished)?;
            for (code, counts) in moves {
                loader.decrease_continuation(*key, *code, counts)?;
            }
            if let Some([top, recent]) = &change.lists {
                loader.set_listed_games(*key, top, recent)?;
            }
            for (code, counts) in &change.years {
                loader.set_years(*key, *code, counts.first_year, counts.last_year)?;
            }
        }
        Ok(())
    }
}

/// How many removed games are so many that it is quicker to read what all games came to than to look up those that are needed.
const MANY: usize = 1000;

/// What all games came to, by their numbers; those that are not there are unfinished.
type Outcomes = Vec<CountedGame>;

impl Removed<'_> {
    /// What all games came to; `None` if far too many numbers are of no game.
    fn outcomes(self) -> Result<Option<Outcomes>> {
        const MOST_GAPS: usize = 1 << 24;
        let known = Known::open(self.target)?;
        let (mut outcomes, mut gaps) = (Outcomes::new(), 0);
        known.for_each_outcome(|game, outcome| {
            gaps += game.0 as usize - outcomes.len();
            if gaps > MOST_GAPS || self.progress.is_stopped() {
                return false;
            }
            outcomes.resize(game.0 as usize, CountedGame::UNFINISHED);
            outcomes.push(CountedGame::of_outcome(&outcome));
            true
        })?;
        self.progress.check()?;
        Ok((gaps <= MOST_GAPS).then_some(outcomes))
    }
}

/// A thread's connection, and games that it has looked up.
#[derive(Default)]
struct Connection<'o> {
    known: Option<Known>,
    /// What all games came to, if that was read.
    all_outcomes: Option<&'o Outcomes>,
    outcomes: KnownOutcomes,
}

impl Connection<'_> {
    fn of(&mut self, removed: Removed<'_>) -> Result<&Known> {
        removed.progress.check()?;
        if self.known.is_none() {
            let known = Known::open(removed.target)?;
            known.begin_reading()?;
            self.known = Some(known);
        }
        Ok(self.known.as_ref().expect("it was just opened"))
    }

    fn games(&mut self, removed: Removed<'_>, games: &[GameId]) -> Result<Found> {
        let known = self.of(removed)?;
        let mut found = Found::default();
        // A game counts by its last visit.
        let mut last_visits: HashMap<PositionKey, Option<MoveCode>> = HashMap::new();
        for &game in games {
            let Some(outcome) = known.game_outcome(game)? else { continue };
            let counted = CountedGame::of_outcome(&outcome);
            last_visits.clear();
            known.for_each_position_of(game, |key, code| {
                found.positions += 1;
                if removed.visited.contains(&key) {
                    last_visits.insert(key, code);
                }
            })?;
            for (&key, &code) in &last_visits {
                found.visited.entry(key).or_default().count(code, counted);
            }
        }
        Ok(found)
    }

    /// What a game came to.
    fn outcome(&mut self, removed: Removed<'_>, game: GameId) -> Result<CountedGame> {
        if let Some(all) = self.all_outcomes {
            return Ok(all.get(game.0 as usize).copied().unwrap_or(CountedGame::UNFINISHED));
        }
        self.of(removed)?;
        let Self { known, outcomes, .. } = self;
        outcomes.of(game, || Ok(known.as_ref().map(|known| known.game_outcome(game)).transpose()?.flatten()))
    }

    /// Counts a game for the move that it played at a ply.
    fn see_move(
        &mut self,
        removed: Removed<'_>,
        (game, ply): (GameId, Ply),
        counted: CountedGame,
        moves: &mut [DoubtfulMove],
    ) -> Result<()> {
        let code = self.of(removed)?.move_at(game, ply)?;
        moves.iter_mut().filter(|wanted| Some(wanted.code) == code).for_each(|wanted| wanted.see(counted));
        Ok(())
    }

    /// What becomes of a position's rows, beside their counts.
    fn change(&mut self, removed: Removed<'_>, key: PositionKey, decrease: &Decrease) -> Result<Change> {
        let Some(row) = self.of(removed)?.visited_counts(key)? else { return Ok(Change::default()) };
        let VisitedCounts { games, listed, years } = row;
        let left = games.saturating_sub(decrease.counts.games() + u64::from(decrease.unfinished));
        if left < u64::from(removed.threshold) {
            return Ok(Change { goes: true, ..Change::default() });
        }
        let is_listed = listed.into_iter().any(|game| removed.games.contains(game));
        // A removed game may have been the only one of a move's first or last year.
        let mut doubtful = Vec::new();
        for (code, gone) in &decrease.moves {
            let known = years.iter().find(|(other, ..)| other == code);
            if let Some(&(_, first, last)) = known
                && (first.is_some() && first == gone.first_year || last.is_some() && last == gone.last_year)
            {
                doubtful.push(DoubtfulMove { code: *code, first, last, found: ResultCounts::NONE });
            }
        }
        if !is_listed && doubtful.is_empty() {
            return Ok(Change::default());
        }
        let mut visits = self.of(removed)?.last_visits(key)?;
        visits.retain(|(game, _)| !removed.games.contains(*game));
        let lists = if is_listed { Some(self.lists(removed, &visits)?) } else { None };
        let years = if doubtful.is_empty() { Vec::new() } else { self.years(removed, &visits, doubtful)? };
        Ok(Change { goes: false, lists, years })
    }

    /// The best-rated and the latest of some games.
    fn lists(&mut self, removed: Removed<'_>, visits: &[(GameId, Ply)]) -> Result<[String; 2]> {
        let (mut top, mut recent) = (GameList::best_rated(LISTED_GAMES), GameList::latest(LISTED_GAMES));
        for &(game, _) in visits {
            let counted = self.outcome(removed, game)?;
            if counted.result() == GameResult::Unknown {
                continue;
            }
            if let Some(rating) = counted.elo_sum() {
                top.insert(rating, game);
            }
            recent.insert(counted.day(), game);
        }
        Ok([to_json(&top.ids()), to_json(&recent.ids())])
    }

    /// The first and the last year of moves in some games. Where the years of before are found again, nothing more is looked for.
    fn years(
        &mut self,
        removed: Removed<'_>,
        visits: &[(GameId, Ply)],
        mut moves: Vec<DoubtfulMove>,
    ) -> Result<Vec<(MoveCode, ResultCounts)>> {
        // Only games of these years can show that they stay as they are.
        for &(game, ply) in visits {
            let counted = self.outcome(removed, game)?;
            let wanted = |wanted: &DoubtfulMove| wanted.waits_for(counted);
            if counted.result() == GameResult::Unknown || !moves.iter().any(wanted) {
                continue;
            }
            self.see_move(removed, (game, ply), counted, &mut moves)?;
            if moves.iter().all(DoubtfulMove::is_settled) {
                return Ok(Vec::new());
            }
        }
        moves.retain(|wanted| !wanted.is_settled());
        moves.iter_mut().for_each(|wanted| wanted.found = ResultCounts::NONE);
        for &(game, ply) in visits {
            let counted = self.outcome(removed, game)?;
            if counted.result() == GameResult::Unknown || counted.year().is_none() {
                continue;
            }
            self.see_move(removed, (game, ply), counted, &mut moves)?;
        }
        Ok(moves.into_iter().map(|DoubtfulMove { code, found, .. }| (code, found)).collect())
    }
}

/// A move whose first or last year may be another one.
struct DoubtfulMove {
    code: MoveCode,
    /// As they were.
    first: Option<u16>,
    last: Option<u16>,
    /// Of the games that were seen.
    found: ResultCounts,
}

impl DoubtfulMove {
    fn waits_for(&self, game: CountedGame) -> bool {
        let year = game.year();
        year.is_some()
            && (year == self.first && self.found.first_year != self.first
                || year == self.last && self.found.last_year != self.last)
    }

    fn see(&mut self, game: CountedGame) {
        game.add_to(&mut self.found);
    }

    fn is_settled(&self) -> bool {
        self.found.first_year == self.first && self.found.last_year == self.last
    }
}
