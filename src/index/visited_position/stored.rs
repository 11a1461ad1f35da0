//! Reads the positions of stored games, so that their level can be written again.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::id::{GameId, Level};
use crate::index::run::Run;
use crate::index::visited_position::CountedGames;
use crate::index::visited_position::counted_game::StoredGames;
use crate::index::{Origin, PlayedOccurrence, Result};
use crate::parallel;
use crate::sort::Scatter;
use crate::store::Snapshot;
use crate::store::row::CountedGame;
use crate::store::write::level::level_for;

impl Run<'_> {
    /// Chooses the level to write in the target. With `merges_all`, this is the first level, which then has
    /// all games. Otherwise, returns `None` if `games` has no new games. If the level also has stored games,
    /// adds their occurrences to the partitions, and the games to `games`.
    pub(crate) fn level_to_write(&self, games: &mut CountedGames, merges_all: bool) -> Result<Option<Level>> {
        let known = Snapshot::open_snapshot(self.target())?;
        let (last, count) = (games.before(), games.count());
        let level = if merges_all {
            Level::FIRST
        } else if count == 0 {
            return Ok(None);
        } else {
            let levels = known.levels()?.into_iter().map(|games| games.level);
            level_for(levels, GameId(last.0.saturating_add(1)), count, self.options.small_level)
        };
        let first = GameId(level.0);
        if first <= last {
            games.stored = self.scatter_stored(&known, [first, last])?;
        }
        Ok(Some(level))
    }

    /// Adds the occurrences of the games in `range` (the first and the last id) of the database `known` to the
    /// partitions. Returns the results, ratings and dates of these games. Leaves out games that the run
    /// removes.
    fn scatter_stored(&self, known: &Snapshot, range: [GameId; 2]) -> Result<StoredGames> {
        let starts = known.starts_of_games(range, StoredGames::AT_ONCE)?;
        let (path, next) = (known.path(), AtomicUsize::new(0));
        let scatter = || {
            let known = Snapshot::open_snapshot(path)?;
            let mut scatter = self.scatter();
            let mut counted = Vec::new();
            while let Some(&start) = starts.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.progress.check()?;
                let last = range[1].0.min(start.0.saturating_add(StoredGames::AT_ONCE - 1));
                counted.push((start, self.scatter_games(&known, [start, GameId(last)], &mut scatter)?));
            }
            scatter.finish()?;
            Ok(counted)
        };
        let parts: Vec<_> = parallel::broadcast(&self.pool, scatter).into_iter().collect::<Result<_>>()?;
        Ok(StoredGames::new(range[0], parts.into_iter().flatten()))
    }

    fn scatter_games(
        &self,
        known: &Snapshot,
        range: [GameId; 2],
        scatter: &mut Scatter<'_, PlayedOccurrence>,
    ) -> Result<Box<[CountedGame]>> {
        /// The first ply that does not fit into an occurrence. No game that this program wrote has so many
        /// plies.
        const TOO_MANY: u32 = 1 << 28;
        let [first, last] = range;
        let mut games = vec![(CountedGame::NONE, None); (last.0 - first.0) as usize + 1];
        let index = |game: GameId| (game.0 - first.0) as usize;
        known.for_each_outcome(range, |game, counted, is_setup| {
            let origin = if is_setup { Origin::SetupToCompare } else { Origin::Standard };
            if !self.intake.removed.contains(game) {
                games[index(game)] = (counted, Some(origin));
            }
        })?;
        let mut pushed = Ok(());
        known.for_each_position_in(range, |game, ply, key, code| {
            // `None`: the run removes the game, or a user has deleted its row.
            let Some(origin) = games[index(game)].1 else { return };
            if pushed.is_ok() && ply.0 < TOO_MANY {
                pushed = scatter.push(PlayedOccurrence::new(key, game, ply, code).of(origin));
            }
        })?;
        pushed?;
        Ok(games.into_iter().map(|(counted, _)| counted).collect())
    }
}
