//! Subtracts removed games from the rows of visited positions.

use crate::board::{GameResult, KeyMap, KeySet, MoveCode, PositionKey, ShortMove};
use crate::id::Level;
use crate::index::run::Run;
use crate::index::visited_position::{CountsByMove, KnownOutcomes, opened};
use crate::index::{Progress, Result};
use crate::parallel;
use crate::store::read::occurrence::visit::LevelGames;
use crate::store::row::{GameId, GameLists, ResultCounts};
use crate::store::visit_set::PlayedMove;
use crate::store::{BulkLoader, GameSet, Snapshot, VisitedCounts};

/// The changes that removed games make to the rows of one position.
#[derive(Debug, Default)]
struct Decrease {
    counts: CountsByMove<MoveCode>,
    /// Whether too few games are left. Then the rows are removed.
    goes: bool,
    /// The new lists of games, if a listed game is removed.
    lists: Option<GameLists>,
    /// The moves whose first or last year can change, each with its new years. Only the years of these counts
    /// are used.
    years: Vec<(MoveCode, ResultCounts)>,
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

impl Decreases {
    /// Computes the decreases from the positions of the games that the run removes.
    pub(crate) fn compute(run: &Run<'_>) -> Result<Self> {
        let (removed, mut all) = (&run.intake.removed, Self::default());
        if removed.is_empty() {
            return Ok(all);
        }
        let known = Snapshot::open_snapshot(run.target())?;
        let outcomes = &KnownOutcomes::new(run.target());
        let mut gone = known.deleted_games()?;
        removed.iter().for_each(|game| gone.insert(game));
        let gone = &gone;
        let mut games = removed.iter().peekable();
        for level in known.levels()? {
            let games: Vec<GameId> =
                std::iter::from_fn(|| games.next_if(|&game| game <= level.last)).collect();
            if !games.is_empty() {
                let visited = known.visited_keys(level.level)?;
                LevelDecreases { run, level, visited, gone, outcomes }.compute(&games, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Subtracts the removed games from the rows of the levels before `end`, or of all levels if it is `None`.
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
            let Decrease { counts, goes, lists, years } = decrease;
            if *goes {
                loader.remove_visited(*level, *key)?;
                continue;
            }
            loader.decrease_visited(at, &counts.all, counts.unfinished)?;
            for (code, counts) in &counts.moves {
                loader.decrease_continuation(at, *code, counts)?;
            }
            if let Some(lists) = lists {
                loader.set_listed_games(at, &lists.top.to_json(), &lists.recent.to_json())?;
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
    run: &'r Run<'r>,
    level: LevelGames,
    /// The keys that have a row.
    visited: KeySet,
    /// The games to remove, and the games that earlier runs removed but that are still in `visit_set`.
    gone: &'r GameSet,
    outcomes: &'r KnownOutcomes<'r>,
}

impl LevelDecreases<'_> {
    /// Computes how much the counts decrease if `games` are removed from the level. Adds these decreases to
    /// `all`.
    fn compute(&self, games: &[GameId], all: &mut Decreases) -> Result<()> {
        const GAMES_AT_ONCE: usize = 256;
        const POSITIONS_AT_ONCE: usize = 256;
        const GAMES: usize = 1 << 17;
        let pool = Some(&self.run.pool);
        let mut visited: KeyMap<Decrease> = KeyMap::default();
        for games in games.chunks(GAMES) {
            let parts: Vec<_> = games.chunks(GAMES_AT_ONCE).collect();
            let parts = parallel::consume(pool, parts, || None, |known, games| self.games(known, games))?;
            for (part, positions) in parts {
                all.positions += positions;
                for (key, counts) in part {
                    visited.entry(key).or_default().counts.add(&counts);
                }
            }
        }
        let mut visited: Vec<_> = visited.into_iter().collect();
        let parts: Vec<_> = visited.chunks_mut(POSITIONS_AT_ONCE).collect();
        let complete = |known: &mut Option<Snapshot>, positions: &mut [(PositionKey, Decrease)]| {
            positions.iter_mut().try_for_each(|(key, decrease)| self.complete(known, *key, decrease))
        };
        parallel::consume(pool, parts, || None, complete)?;
        visited.sort_unstable_by_key(|(key, _)| key.as_i64());
        all.visited.extend(visited.into_iter().map(|(key, decrease)| (self.level, key, decrease)));
        Ok(())
    }

    /// For each position that has a row, the counts of `games`, which are some of the removed games. Also
    /// returns the number of all positions of `games`.
    fn games(
        &self,
        known: &mut Option<Snapshot>,
        games: &[GameId],
    ) -> Result<(KeyMap<CountsByMove<MoveCode>>, u64)> {
        self.run.progress.check()?;
        let known = opened(known, self.run.target())?;
        let (mut counts, mut positions) = (KeyMap::<CountsByMove<MoveCode>>::default(), 0);
        // A game that reached a position several times is counted under the last move played there.
        let mut last_moves: KeyMap<Option<MoveCode>> = KeyMap::default();
        for &game in games {
            let counted = self.outcomes.of(game)?;
            last_moves.clear();
            known.for_each_position_in([game, game], |_, _, key, code| {
                positions += 1;
                if self.visited.contains(&key) {
                    let last = last_moves.entry(key).or_default();
                    *last = code.or(*last);
                }
            })?;
            // A game that a user deleted cannot be subtracted, because its data is gone.
            let Some(counted) = counted else { continue };
            for (&key, &code) in &last_moves {
                counts.entry(key).or_default().count(counted, code);
            }
        }
        Ok((counts, positions))
    }

    /// Completes the changes of a position's rows: sets `goes`, `lists` and `years`.
    fn complete(
        &self,
        known: &mut Option<Snapshot>,
        key: PositionKey,
        decrease: &mut Decrease,
    ) -> Result<()> {
        self.run.progress.check()?;
        let known = opened(known, self.run.target())?;
        let Some(row) = known.visited_counts(self.level.level, key)? else { return Ok(()) };
        let VisitedCounts { games, listed, years } = row;
        let left = games.saturating_sub(decrease.counts.games());
        if left < u64::from(self.run.options.continuation_threshold) {
            decrease.goes = true;
            return Ok(());
        }
        let is_listed = listed.into_iter().any(|game| self.run.intake.removed.contains(game));
        // If a removed game was played in the first or last year of a move, perhaps no other game of that
        // year has this move.
        let is_doubtful = |(code, gone): &&(MoveCode, ResultCounts)| {
            let known = years.iter().find(|(other, ..)| other == code);
            known.is_some_and(|&(_, first, last)| {
                first.is_some() && first == gone.first_year || last.is_some() && last == gone.last_year
            })
        };
        let doubtful: Vec<MoveCode> =
            decrease.counts.moves.iter().filter(is_doubtful).map(|&(code, _)| code).collect();
        if is_listed || !doubtful.is_empty() {
            let (lists, years) = self.recount(known, key, &doubtful)?;
            decrease.lists = is_listed.then_some(lists);
            decrease.years = doubtful.into_iter().zip(years).collect();
        }
        Ok(())
    }

    /// The lists of the best-rated and of the latest remaining games. Also, for each move in `moves`, counts
    /// whose years are the first and the last year of the remaining games with this move.
    fn recount(
        &self,
        known: &Snapshot,
        key: PositionKey,
        moves: &[MoveCode],
    ) -> Result<(GameLists, Vec<ResultCounts>)> {
        let moves: Vec<PlayedMove> =
            moves.iter().map(|&code| PlayedMove::new(Some(ShortMove::new(code)))).collect();
        let mut years = vec![ResultCounts::default(); moves.len()];
        let (mut lists, mut visits) = (GameLists::default(), Vec::new());
        known.for_each_visit(self.level, key, |game, played| {
            if !self.gone.contains(game) {
                visits.push((game, played));
            }
        })?;
        for (game, played) in visits {
            let counted = self.outcomes.of(game)?;
            let Some(counted) = counted.filter(|counted| counted.result() != GameResult::Unknown) else {
                continue;
            };
            lists.insert(game, counted.elos(), counted.day());
            if let Some(at) = moves.iter().position(|&other| other == played) {
                counted.add_to(&mut years[at]);
            }
        }
        Ok((lists, years))
    }
}
