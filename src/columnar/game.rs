//! Data of games that is kept in memory while files are written. It determines the directories of rows, and
//! the values of some columns of `position_game` and `continuation`.

use std::fmt;

use crate::board::GameResult;
use crate::id::GameId;
use crate::store::row::{day_number, month_of, year_of};

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

    /// The directory of games with an unknown date.
    pub(super) fn unknown(self) -> DatePartition {
        self.of(Game::UNKNOWN)
    }

    /// The directory of a game.
    pub(super) fn of(self, game: Game) -> DatePartition {
        let (year, month) = game.year_and_month();
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

/// Result, ratings and date of a game.
///
/// Bits 1..0 are the result, 18..2 White's rating plus one (0: unknown), 35..19 Black's, 58..36 the date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Game(u64);

impl Game {
    const WHITE: u32 = 2;
    const BLACK: u32 = 19;
    const DATE: u32 = 36;
    /// A game whose result, ratings and date are unknown.
    const UNKNOWN: Self = Self(GameResult::Unknown as u64);

    pub(super) fn new(result: GameResult, elos: [Option<u16>; 2], date: Option<&str>) -> Self {
        let [white, black] = elos.map(|elo| elo.map_or(0, |elo| u64::from(elo) + 1));
        let day = u64::from(date.map_or(0, day_number));
        Self(result as u64 | white << Self::WHITE | black << Self::BLACK | day << Self::DATE)
    }

    pub(super) const fn result(self) -> GameResult {
        match self.0 & 3 {
            0 => GameResult::White,
            1 => GameResult::Black,
            2 => GameResult::Draw,
            _ => GameResult::Unknown,
        }
    }

    /// White's and Black's ratings.
    pub(super) fn elos(self) -> [Option<u16>; 2] {
        [Self::WHITE, Self::BLACK].map(|shift| {
            let elo = ((self.0 >> shift) & 0x1_ffff) as u32;
            elo.checked_sub(1).and_then(|elo| u16::try_from(elo).ok())
        })
    }

    const fn day(self) -> u32 {
        (self.0 >> Self::DATE) as u32 & 0x7f_ffff
    }

    pub(super) fn year(self) -> Option<u16> {
        year_of(self.day())
    }

    /// The year and the month, 0 if unknown. If the year is unknown, the month is 0 too.
    fn year_and_month(self) -> (u16, u8) {
        let year = self.year().unwrap_or(0);
        (year, month_of(self.day()).filter(|_| year > 0).unwrap_or(0))
    }
}

/// All games, indexed by id. Not every id has a game.
#[derive(Debug, Default)]
pub(super) struct Games(Vec<Game>);

impl Games {
    pub(super) fn insert(&mut self, id: GameId, game: Game) {
        let index = id.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, Game::UNKNOWN);
        }
        self.0[index] = game;
    }

    /// The data of a game. For a missing game, the result, the ratings and the date are unknown.
    pub(super) fn of(&self, id: GameId) -> Game {
        self.0.get(id.0 as usize).copied().unwrap_or(Game::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_data_is_restored() {
        for result in [GameResult::White, GameResult::Black, GameResult::Draw, GameResult::Unknown] {
            for elos in [[None, None], [Some(0), None], [Some(u16::MAX), Some(2500)]] {
                for (date, directory) in [
                    (None, "year=0/month=0/"),
                    (Some("1992.??.??"), "year=1992/month=0/"),
                    (Some("????.11.05"), "year=0/month=0/"),
                    (Some("9999.12.31"), "year=9999/month=12/"),
                ] {
                    let game = Game::new(result, elos, date);
                    assert_eq!((game.result(), game.elos()), (result, elos));
                    assert_eq!(PartitionBy::Month.of(game).to_string(), directory);
                }
            }
        }
        assert_eq!(Game::new(GameResult::Unknown, [None; 2], None), Game::UNKNOWN);
        let mut games = Games::default();
        games.insert(GameId(7), Game::new(GameResult::Draw, [None; 2], Some("2020.02.03")));
        assert_eq!(games.of(GameId(7)).year(), Some(2020));
        assert_eq!(games.of(GameId(3)).result(), GameResult::Unknown);
        assert_eq!(games.of(GameId(99)).year(), None);
    }
}
