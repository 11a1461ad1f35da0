//! Packs the result, the ratings and the date of a game into one number, so that games can be counted without
//! reading their rows again.

use super::ranking::{day_number, year_of};
use super::{GameRow, ResultCounts};
use crate::board::GameResult;

/// Result, ratings and date of one game.
///
/// Bits 1..0 are the result, 18..2 White's rating plus one and 35..19 Black's (0: unknown), 58..36 the date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedGame(u64);

impl CountedGame {
    const WHITE_ELO: u32 = 2;
    const BLACK_ELO: u32 = 19;
    const DATE: u32 = 36;

    /// The value for a game that does not exist: result, ratings and date are unknown.
    pub(crate) const NONE: Self = Self(GameResult::Unknown as u64);

    /// A game with this result, these ratings of White and Black, and the [`day_number`] of its date.
    pub(crate) fn new(result: GameResult, elos: [Option<u16>; 2], day: u32) -> Self {
        let [white, black] = elos.map(|elo| elo.map_or(0, |elo| u64::from(elo) + 1));
        Self(
            result as u64
                | white << Self::WHITE_ELO
                | black << Self::BLACK_ELO
                | u64::from(day) << Self::DATE,
        )
    }

    /// The result, ratings and date of a game; `text` contains the texts of its row.
    pub(crate) fn of(row: &GameRow, text: &str) -> Self {
        let day = row.date.map_or(0, |date| day_number(date.of(text)));
        Self::new(row.result, [row.white_elo, row.black_elo], day)
    }

    pub(crate) const fn result(self) -> GameResult {
        match self.0 & 3 {
            0 => GameResult::White,
            1 => GameResult::Black,
            2 => GameResult::Draw,
            _ => GameResult::Unknown,
        }
    }

    /// White's and Black's rating, if known.
    #[inline]
    pub(crate) fn elos(self) -> [Option<u16>; 2] {
        let elo = |at: u32| ((self.0 >> at) as u32 & 0x1_ffff).checked_sub(1).map(|elo| elo as u16);
        [elo(Self::WHITE_ELO), elo(Self::BLACK_ELO)]
    }

    /// The [`day_number`] of the date.
    pub(crate) const fn day(self) -> u32 {
        (self.0 >> Self::DATE) as u32
    }

    /// Adds the game to counts.
    pub(crate) fn add_to(self, counts: &mut ResultCounts) {
        counts.count(self.result(), self.elos(), year_of(self.day()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_ratings_and_dates_are_decoded_again() {
        for result in [GameResult::White, GameResult::Black, GameResult::Draw, GameResult::Unknown] {
            for elos in [[None, None], [Some(0), None], [Some(u16::MAX), Some(2500)], [Some(u16::MAX); 2]] {
                for day in [0, day_number("1992.??.??"), day_number("9999.12.31")] {
                    let game = CountedGame::new(result, elos, day);
                    assert_eq!((game.result(), game.elos(), game.day()), (result, elos, day));
                }
            }
        }
        assert_eq!(CountedGame::of(&GameRow::default(), ""), CountedGame::NONE);
        assert_eq!(
            CountedGame::new(GameResult::Unknown, [None; 2], day_number("????.??.??")),
            CountedGame::NONE
        );
        let days = ["????.??.??", "1851.??.??", "1851.06.??", "1851.06.21", "1851.07.01", "1992.??.??"];
        assert!(days.map(day_number).is_sorted_by(|a, b| a < b));
    }
}
