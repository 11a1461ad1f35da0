//! Counts games that reached a position by another move order, and games per year.

use crate::board::{GameResult, Position};
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::block_of;
use crate::store::blocks::last_block;
use crate::store::cell::GAME;
use crate::store::game_column::{Condition, DATE, RESULT, Test};
use crate::store::read::features::deleted_games;
use crate::store::read::game_column::{BlockColumns, ColumnError, if_known};
use crate::store::read::occurrence::reached::ExploreTarget;
use crate::store::read::occurrence::tally::Games;
use crate::store::read::occurrence::visit::{LevelGames, for_each_visit_set};
use crate::store::row::year_of_date;
use crate::store::visit_set::for_each_visit_within;
use crate::store::{Database, Lines, Result, Selection};

/// Positions without usable visit sets are searched for only if their key has fewer occurrences than this.
const FEW: u32 = 5_000;

/// Counts of games by year; the key `None` is an unknown year.
type Years = SortedMap<Option<u16>, u64>;

impl Database {
    /// How many of the given games missed at least one of the positions in `before`; `None` if one of these
    /// positions has many occurrences and no usable visit sets.
    pub(super) fn count_transposed(
        &self,
        games: &Games,
        before: &[Position],
    ) -> rusqlite::Result<Option<u64>> {
        let count = |games: &Games| games.values().map(|games| u64::from(games.len())).sum::<u64>();
        let mut by_line = games.clone();
        // Check the last position first: most games with another move order did not reach it.
        for position in before.iter().rev() {
            if by_line.values().all(BlockGames::is_empty) {
                break;
            }
            match self.games_reaching(&by_line, position)? {
                Some(with) => by_line = with,
                None => return Ok(None),
            }
        }
        Ok(Some(count(games) - count(&by_line)))
    }

    /// The games among `some` that reached the position; `None` if the position has many occurrences and no
    /// usable visit sets.
    fn games_reaching(&self, some: &Games, position: &Position) -> rusqlite::Result<Option<Games>> {
        let fen = position.canonical_fen();
        let target = ExploreTarget { database: self, key: position.key(), fen: &fen };
        let [counted, others] = target.levels()?;
        let found = if counted.is_empty() {
            None
        } else {
            if_known(target.in_sets(&counted, |block| Ok(some.get(&block).cloned())))?
        };
        let levels = found.is_some().then_some(&*others);
        if levels.is_none() && self.count_position_rows(target.key, Lines::Main, FEW)? == FEW {
            return Ok(None);
        }
        let mut games = found.unwrap_or_default();
        target.for_each_game(&Selection::default(), levels, &mut |reached| {
            let (block, number) = block_of(reached.game);
            if some.get(&block).is_some_and(|games| games.contains(number)) {
                games.entry(block).insert(number);
            }
        })?;
        Ok(Some(games))
    }

    /// Counts, by year, the games of a selection that have a result, including games with an unknown year.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn finished_by_year(&self, selection: &Selection) -> Result<Years> {
        let count = || match if_known(self.finished_in_columns(selection))? {
            Some(years) => Ok(years),
            None => self.finished_in_rows(selection),
        };
        count().map_err(self.failed("count games by year"))
    }

    fn finished_in_columns(&self, selection: &Selection) -> Result<Years, ColumnError> {
        let finished = finished();
        let last = last_block(self.connection())?;
        let mut columns = BlockColumns::new(self.connection(), 0);
        let mut years = Years::new();
        for block in 0..=last {
            columns.turn_to(block);
            let mut games = columns.selected(selection)?;
            games.keep(&columns.matching(&finished)?);
            let dates = columns.column(DATE)?;
            let of_dates: Vec<_> = dates.values().map(|date| year_of_date(date.as_text())).collect();
            for number in games.iter() {
                let year = dates.rank(number).and_then(|rank| of_dates[usize::from(rank)]);
                *years.entry(year) += 1;
            }
        }
        Ok(years)
    }

    fn finished_in_rows(&self, selection: &Selection) -> rusqlite::Result<Years> {
        let sql = format!("SELECT game.date FROM game WHERE game.result <> '*'{}", selection.sql());
        let mut years = Years::new();
        selection.each(self.connection(), GAME, &sql, &[], |cells| {
            *years.entry(year_of_date(cells.get(0)?)) += 1;
            Ok(())
        })?;
        Ok(years)
    }
}

/// The condition that a game has a result.
fn finished() -> Condition {
    let results = [GameResult::White, GameResult::Black, GameResult::Draw];
    let results = results.map(|result| result.as_str().to_owned()).to_vec();
    Condition::Tests(vec![vec![(RESULT, Test::OneOfTexts(results))]])
}

impl ExploreTarget<'_> {
    /// The games with a result in the visit sets of the position in these levels. If any game in these sets
    /// has no result, `unfinished` must be greater than 0. `None` if the sets or the columns of games cannot
    /// be used.
    pub(super) fn finished_in_sets(
        &self,
        levels: &[LevelGames],
        unfinished: u64,
    ) -> rusqlite::Result<Option<Games>> {
        let finished = finished();
        let mut columns = BlockColumns::new(self.database.connection(), 0);
        let in_block = |block| {
            let mut games = deleted_games(self.database.connection(), block)?.others();
            // Nearly always, all games in the sets have a result. Then the column `result` need not be read.
            if unfinished > 0 {
                columns.turn_to(block);
                games.keep(&columns.matching(&finished)?);
            }
            Ok(Some(games))
        };
        if_known(self.in_sets(levels, in_block))
    }

    /// The games in the visit sets of the position in these levels. Keeps only games in the set that `wanted`
    /// returns for their block. `wanted` can return `None` instead of an empty set.
    fn in_sets(
        &self,
        levels: &[LevelGames],
        mut wanted: impl FnMut(u32) -> Result<Option<BlockGames>, ColumnError>,
    ) -> Result<Games, ColumnError> {
        let mut games = Games::new();
        for_each_visit_set(self.database.connection(), levels, self.key, |block, set| {
            let Some(wanted) = wanted(block)? else { return Ok(()) };
            let found = games.entry(block);
            if !for_each_visit_within(set, |word| wanted.word(word), |number, _| found.insert(number)) {
                return Err(ColumnError::Missing);
            }
            Ok(())
        })?
        .ok_or(ColumnError::Missing)?;
        Ok(games)
    }
}
