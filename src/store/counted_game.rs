//! Packs the result, the ratings and the date of a game into one number, so that games can be counted without
//! reading their rows again.

use crate::board::GameResult;
use crate::store::GameOutcome;
use crate::store::row::{GameRow, ResultCounts, day_number, elo_sum, year_of};

/// Result, ratings and date of one game.
///
/// Bits 1..0 are the result, 17..2 White's rating and 33..18 Black's (0: unknown), 56..34 the date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedGame(u64);

impl CountedGame {
    const WHITE_ELO: u32 = 2;
    const BLACK_ELO: u32 = 18;
    const DATE: u32 = 34;

    /// The value for a game that does not exist: the result, the ratings and the date are unknown.
    pub(crate) const NONE: Self = Self(GameResult::Unknown as u64);

    /// A game with this result and these ratings of White and Black, played on a date `YYYY.MM.DD`.
    pub(crate) fn new(result: GameResult, elos: [Option<u16>; 2], date: Option<&str>) -> Self {
        Self::from_parts(result, elos, date.map_or(0, day_number))
    }

    /// A game with this result, these ratings of White and Black, and the [`day_number`] of its date.
    pub(crate) fn from_parts(result: GameResult, elos: [Option<u16>; 2], day: u32) -> Self {
        let [white, black] = elos.map(|elo| u64::from(elo.unwrap_or(0)));
        Self(
            result as u64
                | white << Self::WHITE_ELO
                | black << Self::BLACK_ELO
                | u64::from(day) << Self::DATE,
        )
    }

    /// The result, ratings and date of a game; `text` contains the texts of its row.
    pub(crate) fn of(row: &GameRow, text: &str) -> Self {
        Self::new(row.result, [row.white_elo, row.black_elo], row.date.map(|date| date.of(text)))
    }

    /// The result, ratings and date of a stored game.
    pub(crate) fn of_outcome(GameOutcome { result, elos, date }: &GameOutcome) -> Self {
        Self::new(*result, *elos, date.as_deref())
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
    pub(crate) fn elos(self) -> [Option<u16>; 2] {
        [Self::WHITE_ELO, Self::BLACK_ELO].map(|at| Some((self.0 >> at) as u16).filter(|&elo| elo != 0))
    }

    /// The sum of both ratings, if both are known.
    pub(crate) fn elo_sum(self) -> Option<u32> {
        elo_sum(self.elos())
    }

    /// A number that increases with the date; unknown parts count as 0.
    pub(crate) const fn day(self) -> u32 {
        (self.0 >> Self::DATE) as u32
    }

    /// The year, if known.
    pub(crate) fn year(self) -> Option<u16> {
        year_of(self.day())
    }

    /// The month, if known; it can be known although the year is not.
    #[cfg(feature = "parquet")]
    pub(crate) fn month(self) -> Option<u8> {
        crate::store::row::month_of(self.day())
    }

    /// Adds the game to counts.
    pub(crate) fn add_to(self, counts: &mut ResultCounts) {
        counts.count(self.result(), self.elos(), self.year());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::row::Text;

    #[test]
    fn results_ratings_and_dates_are_decoded_again() {
        let counted_game = |result, white_elo, black_elo, date: &str| {
            let text = Text { start: 0, len: date.len() as u32 };
            let row = GameRow { result, white_elo, black_elo, date: Some(text), ..GameRow::default() };
            CountedGame::of(&row, date)
        };
        for result in [GameResult::White, GameResult::Black, GameResult::Draw, GameResult::Unknown] {
            let found = counted_game(result, Some(u16::MAX), Some(u16::MAX), "9999.12.31");
            assert_eq!(found.result(), result);
            assert_eq!(found.elo_sum(), Some(2 * u32::from(u16::MAX)));
            assert_eq!(found.elos(), [Some(u16::MAX); 2]);
            assert_eq!(found.year(), Some(9999));
        }
        let half_known = counted_game(GameResult::Draw, Some(2500), None, "199?.??.??");
        assert_eq!((half_known.elos(), half_known.elo_sum()), ([Some(2500), None], None));
        assert_eq!(counted_game(GameResult::Draw, None, None, "199?.??.??").year(), None);
        assert_eq!(
            CountedGame::of(&GameRow::default(), ""),
            counted_game(GameResult::Unknown, None, None, "????.??.??")
        );
        let days = ["????.??.??", "1851.??.??", "1851.06.??", "1851.06.21", "1851.07.01", "1992.??.??"];
        assert!(
            days.map(|date| counted_game(GameResult::White, None, None, date).day())
                .is_sorted_by(|a, b| a < b)
        );
    }
}
