//! Finds the games that can match a search by description, according to the sets of games. Only these games
//! are read.

use std::collections::VecDeque;

use crate::id::GameId;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{BLOCK_GAMES, block_of, game_of, games_of};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::features::FeatureQuery;
use crate::store::read::features::FeatureMatches;
use crate::store::read::occurrence::hit::Lines;

/// The first and the last game of a range, which can contain numbers without a game.
pub(super) type GameRange = (GameId, GameId);

/// The games that can match a search, block by block, in order.
pub(super) struct Candidates<'c> {
    database: &'c Database,
    question: &'c FeatureQuery,
    lines: Lines,
    /// The remaining ranges of the last block read.
    ranges: VecDeque<GameRange>,
    /// The first game of the next block; `None` after the last.
    next: Option<GameId>,
    last: GameId,
}

impl<'c> Candidates<'c> {
    pub(super) fn new(database: &'c Database, question: &'c FeatureQuery, lines: Lines) -> Result<Self> {
        let last = database.last_game()?;
        let (next, last) = (last.map(|_| GameId(1)), last.unwrap_or_default());
        Ok(Self { database, question, lines, ranges: VecDeque::new(), next, last })
    }

    /// The next ranges, with at most `most` games; empty at the end.
    pub(super) fn take(&mut self, most: u32) -> Result<Vec<GameRange>> {
        let (mut taken, mut left) = (Vec::new(), most);
        while left > 0 {
            let Some(&(first, last)) = self.ranges.front() else {
                match self.next_block()? {
                    true => continue,
                    false => break,
                }
            };
            if last.0 - first.0 < left {
                taken.push((first, last));
                left -= last.0 - first.0 + 1;
                self.ranges.pop_front();
            } else {
                taken.push((first, GameId(first.0 + left - 1)));
                self.ranges[0] = (GameId(first.0 + left), last);
                left = 0;
            }
        }
        Ok(taken)
    }

    /// Reads the ranges of the next block that has games. Returns whether there is one.
    fn next_block(&mut self) -> Result<bool> {
        let Some(next) = self.next else { return Ok(false) };
        let Some(first) = self.database.game_from(next)? else { return Ok(false) };
        let (block, number) = block_of(first);
        let end = game_of(block, u16::MAX);
        self.next = end.0.checked_add(1).map(GameId).filter(|&next| next <= self.last);
        let mut games = self.of_block(block).map_err(|source| failed(self.database, source))?;
        games.limit(number..=block_of(self.last.min(end)).1);
        let range =
            |run: std::ops::RangeInclusive<u16>| (game_of(block, *run.start()), game_of(block, *run.end()));
        self.ranges.extend(games.runs().into_iter().map(range));
        Ok(true)
    }

    fn of_block(&self, block: u32) -> rusqlite::Result<BlockGames> {
        let FeatureMatches { mut matching, unknown } =
            FeatureMatches::read(self.database.connection(), block, self.question)?;
        matching.add(&unknown);
        if self.lines == Lines::All {
            // The sets cover main lines only.
            let sql = "SELECT DISTINCT game_id FROM variation WHERE game_id BETWEEN ?1 AND ?2";
            let mut statement = self.database.connection().prepare_cached(sql)?;
            let mut rows = statement.query(games_of(block))?;
            while let Some(row) = rows.next()? {
                matching.insert(block_of(GameId(row.get(0)?)).1);
            }
        }
        Ok(matching)
    }
}

impl Database {
    /// The number of games that match, if the sets alone can answer: the features of all games are known, and
    /// the query is exact. Otherwise `None`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(super) fn count_exact(&self, question: &FeatureQuery) -> Result<Option<u64>> {
        let count = || -> rusqlite::Result<Option<u64>> {
            if !question.is_exact() {
                return Ok(None);
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM game WHERE game_id BETWEEN ?1 AND ?2)";
            let mut is_there = self.connection().prepare_cached(sql)?;
            let last: Option<u32> =
                self.connection().query_row("SELECT max(game_id) FROM game", [], |row| row.get(0))?;
            let mut count = 0;
            for block in 0..=last.unwrap_or(0) / BLOCK_GAMES {
                let FeatureMatches { matching, unknown } =
                    FeatureMatches::read(self.connection(), block, question)?;
                for run in unknown.runs() {
                    let run = [game_of(block, *run.start()).0, game_of(block, *run.end()).0];
                    if is_there.query_row(run, |row| row.get(0))? {
                        return Ok(None);
                    }
                }
                count += u64::from(matching.len());
            }
            Ok(Some(count))
        };
        count().map_err(|source| failed(self, source))
    }
}

fn failed(database: &Database, source: rusqlite::Error) -> Error {
    Error::sqlite(database.path(), "look for games in the sets", source)
}
