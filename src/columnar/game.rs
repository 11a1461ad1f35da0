//! Data of games that is kept in memory while files are written. It determines the directories of rows, and
//! the values of some columns of `position_game` and `continuation`.

use std::fmt;

use crate::id::GameId;
use crate::store::CountedGame;

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
        let year = game.year().unwrap_or(0);
        let month = game.month().filter(|_| year > 0).unwrap_or(0);
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

    #[test]
    fn the_date_determines_the_directory() {
        for (date, directory) in [
            (None, "year=0/month=0/"),
            (Some("1992.??.??"), "year=1992/month=0/"),
            (Some("????.11.05"), "year=0/month=0/"),
            (Some("9999.12.31"), "year=9999/month=12/"),
        ] {
            let game = CountedGame::new(GameResult::White, [Some(u16::MAX), Some(2500)], date);
            assert_eq!(PartitionBy::Month.of(game).to_string(), directory);
        }
    }

    #[test]
    fn missing_games_have_unknown_data() {
        assert_eq!(CountedGame::new(GameResult::Unknown, [None; 2], None), CountedGame::NONE);
        let mut games = Games::default();
        games.insert(GameId(7), CountedGame::new(GameResult::Draw, [None; 2], Some("2020.02.03")));
        assert_eq!(games.of(GameId(7)).year(), Some(2020));
        assert_eq!(games.of(GameId(3)).result(), GameResult::Unknown);
        assert_eq!(games.of(GameId(99)).year(), None);
    }
}
