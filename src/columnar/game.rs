//! Data of games that is kept in memory while files are written. It determines the directories of rows, and
//! the values of some columns of `position_game` and `continuation`.

use std::fmt;

use crate::id::GameId;
use crate::store::row::{CountedGame, month_of, year_of};

/// The id of a game across all shards: the shard is its upper half.
pub(super) fn game_id(shard: u32, game: GameId) -> i64 {
    i64::from(shard) << 32 | i64::from(game.0)
}

/// The part of the date by which games are partitioned into directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionBy {
    /// No partitions: suitable for a small number of games from many years.
    Nothing,
    /// By year.
    Year,
    /// By year and month, like Lichess's monthly dumps.
    #[default]
    Month,
}

impl PartitionBy {
    /// The name in the manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Year => "year",
            Self::Month => "month",
        }
    }

    /// The directory of a game. If the year is unknown, the month does not count.
    pub(super) fn of(self, game: CountedGame) -> DatePartition {
        let year = year_of(game.day()).unwrap_or(0);
        let month = month_of(game.day()).filter(|_| year > 0).unwrap_or(0);
        match self {
            Self::Nothing => DatePartition(None),
            Self::Year => DatePartition(Some((year, None))),
            Self::Month => DatePartition(Some((year, Some(month)))),
        }
    }
}

/// The year and the month that determine the directory of a game; 0 if unknown. Partitions by year have no
/// month. Without partitions, the value is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DatePartition(Option<(u16, Option<u8>)>);

impl fmt::Display for DatePartition {
    /// Writes the directories, each followed by `/`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((year, month)) = self.0 else { return Ok(()) };
        write!(f, "year={year}/")?;
        month.map_or(Ok(()), |month| write!(f, "month={month}/"))
    }
}

/// All games, indexed by id. Not every id has a game.
#[derive(Debug, Default)]
pub(super) struct Games(Vec<CountedGame>);

impl Games {
    pub(super) fn insert(&mut self, id: GameId, game: CountedGame) {
        let index = id.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, CountedGame::NONE);
        }
        self.0[index] = game;
    }

    /// The data of a game. For a missing game, the result, the ratings and the date are unknown.
    pub(super) fn of(&self, id: GameId) -> CountedGame {
        self.0.get(id.0 as usize).copied().unwrap_or(CountedGame::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::GameResult;
    use crate::store::row::day_number;

    #[test]
    fn games_are_partitioned_by_their_dates() {
        for (date, directory) in [
            ("????.??.??", "year=0/month=0/"),
            ("1992.??.??", "year=1992/month=0/"),
            ("????.11.05", "year=0/month=0/"),
            ("9999.12.31", "year=9999/month=12/"),
        ] {
            let game = CountedGame::new(GameResult::Draw, [None; 2], day_number(date));
            let mut games = Games::default();
            games.insert(GameId(7), game);
            assert_eq!(PartitionBy::Month.of(games.of(GameId(7))).to_string(), directory);
            assert_eq!([games.of(GameId(3)), games.of(GameId(99))], [CountedGame::NONE; 2]);
        }
        assert_eq!(PartitionBy::Month.of(CountedGame::NONE).to_string(), "year=0/month=0/");
    }
}
