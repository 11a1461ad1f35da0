//! Subtracts removed games from the rows of visited positions.

use std::path::Path;

use rayon::ThreadPool;

use crate::board::{GameResult, KeyMap, KeySet, MoveCode, PositionKey, ShortMove};
use crate::id::Level;
use crate::index::visited_position::{KnownOutcomes, opened, to_json};
use crate::index::{Error, Progress, Result};
use crate::parallel;
use crate::store::read::occurrence::visit::LevelGames;
use crate::store::row::{GameId, GameList, LISTED_GAMES, ResultCounts};
use crate::store::visit_set::PlayedMove;
use crate::store::{BulkLoader, CountedGame, GameSet, Snapshot, VisitedCounts};

/// The changes that removed games make to the rows of one position.
#[derive(Debug, Default)]
struct Decrease {
    counts: ResultCounts,
    unfinished: u32,
    moves: Vec<(MoveCode, ResultCounts)>,
    /// Whether too few games are left. Then the rows are removed.
    goes: bool,
    /// The lists of the best-rated and of the latest games, as JSON, if a listed game is removed.
    lists: Option<[String; 2]>,
    /// The moves whose first or last year can change, each with counts whose first and last year are the new
    /// ones.
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

/// The changes that removed games make to visited positions.
#[derive(Debug, Default)]
pub(crate) struct Decreases {
    /// The decrease of each position that has a row and that removed games reached, in ascending order of
    /// levels and keys.
    visited: Vec<(LevelGames, PositionKey, Decrease)>,
    /// The number of positions of the removed games.
    pub(crate) positions: u64,
}

/// The input for computing decreases.
#[derive(Clone, Copy)]
pub(crate) struct Removed<'r> {
    /// The database, as it was before the run.
    pub(crate) target: &'r Path,
    pub(crate) games: &'r GameSet,
    pub(crate) threshold: u32,
    pub(crate) pool: &'r ThreadPool,
    pub(crate) progress: &'r Progress,
}

impl Decreases {
    /// Computes the decreases from the positions of the removed games.
    pub(crate) fn compute(removed: Removed<'_>) -> Result<Self> {
        let mut all = Self::default();
        if removed.games.is_empty() {
            return Ok(all);
        }
        let known = Snapshot::open_snapshot(removed.target)?;
        let outcomes = KnownOutcomes::new(removed.target);
        let mut gone = known.deleted_games()?;
        removed.games.iter().for_each(|game| gone.insert(game));
        let gone = &gone;
        let mut games = removed.games.iter().peekable();
        for level in known.levels()? {
            let games: Vec<GameId> =
                std::iter::from_fn(|| games.next_if(|&game| game <= level.last)).collect();
            if !games.is_empty() {
                let level =
                    LevelDecreases { level, visited: known.visited_keys(level.level)?, removed, gone };
                level.compute(&games, &outcomes, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Subtracts the removed games from the rows of the levels before `end`; `None`: of all levels.
    pub(crate) fn write(
        &self,
        progress: &Progress,
        end: Option<Level>,
        loader: &BulkLoader<'_>,
    ) -> Result<()> {
        let stay = |level: LevelGames| end.is_none_or(|end| level.level < end);
        for (level, key, decrease) in self.visited.iter().take_while(|&&(level, ..)| stay(level)) {
            progress.check()?;
            let at = (level.level, *key);
            let Decrease { counts, unfinished, moves, goes, lists, years } = decrease;
            if *goes {
                loader.remove_visited(*level, *key)?;
                continue;
            }
            loader.decrease_visited(at, counts, *unfinished)?;
            for (code, counts) in moves {
                loader.decrease_continuation(at, *code, counts)?;
            }
            if let Some([top, recent]) = lists {
                loader.set_listed_games(at, top, recent)?;
            }
            for (code, counts) in years {
                loader.set_years(at, *code, counts)?;
            }
        }
        Ok(())
    }
}

/// The input for computing the decreases of a level.
struct LevelDecreases<'r> {
    level: LevelGames,
    /// The keys that have a row.
    visited: KeySet,
    removed: Removed<'r>,
    /// The games to remove, and the games that earlier runs removed but that are still in `visit_set`.
    gone: &'r GameSet,
}

impl LevelDecreases<'_> {
    /// Computes how much the counts decrease if `games` are removed from the level. Adds these decreases to
    /// `all`.
    fn compute(&self, games: &[GameId], outcomes: &KnownOutcomes<'_>, all: &mut Decreases) -> Result<()> {
        const GAMES_AT_ONCE: usize = 256;
        const POSITIONS_AT_ONCE: usize = 256;
        const GAMES: usize = 1 << 17;
        let pool = Some(self.removed.pool);
        let mut visited: KeyMap<Decrease> = KeyMap::default();
        let connection = || WorkerState { known: None, outcomes };
        for games in games.chunks(GAMES) {
            let parts: Vec<_> = games.chunks(GAMES_AT_ONCE).collect();
            let parts = parallel::consume(pool, parts, connection, |known, games| known.games(self, games))?;
            for (part, positions) in parts {
                all.positions += positions;
                for (key, decrease) in part {
                    visited.entry(key).or_default().absorb(&decrease);
                }
            }
        }
        let mut visited: Vec<_> = visited.into_iter().collect();
        let parts: Vec<_> = visited.chunks_mut(POSITIONS_AT_ONCE).collect();
        parallel::consume(pool, parts, connection, |known, positions| {
            for (key, decrease) in positions {
                known.complete(self, *key, decrease)?;
            }
            Ok::<_, Error>(())
        })?;
        visited.sort_unstable_by_key(|(key, _)| key.as_i64());
        all.visited.extend(visited.into_iter().map(|(key, decrease)| (self.level, key, decrease)));
        Ok(())
    }
}

/// A thread's connection, and the outcomes of all games.
struct WorkerState<'o> {
    known: Option<Snapshot>,
    outcomes: &'o KnownOutcomes<'o>,
}

impl WorkerState<'_> {
    fn of(&mut self, removed: Removed<'_>) -> Result<&Snapshot> {
        removed.progress.check()?;
        opened(&mut self.known, removed.target)
    }

    /// The decreases that `games`, some of the removed games, cause; and the number of positions of these
    /// games.
    fn games(&mut self, level: &LevelDecreases<'_>, games: &[GameId]) -> Result<(KeyMap<Decrease>, u64)> {
        let outcomes = self.outcomes;
        let known = self.of(level.removed)?;
        let (mut decreases, mut positions) = (KeyMap::<Decrease>::default(), 0);
        // A game that reached a position several times is counted under the last move played there.
        let mut last_moves: KeyMap<Option<MoveCode>> = KeyMap::default();
        for &game in games {
            let counted = outcomes.of(game)?;
            last_moves.clear();
            known.for_each_position_in([game, game], |_, _, key, code| {
                positions += 1;
                if level.visited.contains(&key) {
                    let last = last_moves.entry(key).or_default();
                    *last = code.or(*last);
                }
            })?;
            // A game that a user deleted cannot be subtracted, because its data is gone.
            let Some(counted) = counted else { continue };
            for (&key, &code) in &last_moves {
                decreases.entry(key).or_default().count(code, counted);
            }
        }
        Ok((decreases, positions))
    }

    /// Completes the changes of a position's rows: sets whether the rows are removed, the lists of games, and
    /// the years of moves.
    fn complete(
        &mut self,
        level: &LevelDecreases<'_>,
        key: PositionKey,
        decrease: &mut Decrease,
    ) -> Result<()> {
        let removed = level.removed;
        let row = self.of(removed)?.visited_counts(level.level.level, key)?;
        let Some(row) = row else { return Ok(()) };
        let VisitedCounts { games, listed, years } = row;
        let left = games.saturating_sub(decrease.counts.games() + u64::from(decrease.unfinished));
        if left < u64::from(removed.threshold) {
            decrease.goes = true;
            return Ok(());
        }
        let is_listed = listed.into_iter().any(|game| removed.games.contains(game));
        // If a removed game was played in the first or last year of a move, perhaps no other game of that
        // year has this move.
        let is_doubtful = |(code, gone): &&(MoveCode, ResultCounts)| {
            let known = years.iter().find(|(other, ..)| other == code);
            known.is_some_and(|&(_, first, last)| {
                first.is_some() && first == gone.first_year || last.is_some() && last == gone.last_year
            })
        };
        let doubtful: Vec<MoveCode> =
            decrease.moves.iter().filter(is_doubtful).map(|&(code, _)| code).collect();
        if is_listed || !doubtful.is_empty() {
            let (lists, years) = self.recount(level, key, &doubtful)?;
            decrease.lists = is_listed.then_some(lists);
            decrease.years = doubtful.into_iter().zip(years).collect();
        }
        Ok(())
    }

    /// The lists of the best-rated and of the latest remaining games. Also, for each move in `moves`, counts
    /// whose years are the first and the last year of the remaining games with this move.
    fn recount(
        &mut self,
        level: &LevelDecreases<'_>,
        key: PositionKey,
        moves: &[MoveCode],
    ) -> Result<([String; 2], Vec<ResultCounts>)> {
        let (mut top, mut recent) = (GameList::best_rated(LISTED_GAMES), GameList::latest(LISTED_GAMES));
        let shorts: Vec<PlayedMove> =
            moves.iter().map(|&code| PlayedMove::new(Some(ShortMove::new(code)))).collect();
        let mut years = vec![ResultCounts::NONE; moves.len()];
        let outcomes = self.outcomes;
        let mut visits = Vec::new();
        self.of(level.removed)?.for_each_visit(level.level, key, |game, played| {
            if !level.gone.contains(game) {
                visits.push((game, played));
            }
        })?;
        for (game, played) in visits {
            let Some(counted) = outcomes.of(game)?.filter(|counted| counted.result() != GameResult::Unknown)
            else {
                continue;
            };
            if let Some(rating) = counted.elo_sum() {
                top.insert(rating, game);
            }
            recent.insert(counted.day(), game);
            if let Some(at) = shorts.iter().position(|&other| other == played) {
                counted.add_to(&mut years[at]);
            }
        }
        Ok(([to_json(&top.ids()), to_json(&recent.ids())], years))
    }
}
