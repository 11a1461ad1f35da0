//! Counts and ranks games for a position. New databases, additions and queries use the same rules. `rank_sql`
//! of `store/read/occurrence/hit.rs` defines the same order in SQL.

use crate::board::GameResult;
use crate::store::row::{GameId, RatingSum, ResultCounts};

/// The maximum number of best-rated games, and of latest games, that are listed for a visited position.
pub const LISTED_GAMES: u8 = 15;

/// The number of day numbers per year: 13 months (0 is unknown) of 32 days.
const YEAR: u32 = 13 * 32;

/// A number for a date `YYYY.MM.DD`: later dates have greater numbers. Unknown parts count as 0.
pub(crate) fn day_number(date: &str) -> u32 {
    let [year, month, day] = match *date.as_bytes() {
        // A fast path for nearly all dates: a filtered query reads thousands of different dates.
        [a, b, c, d, b'.', e, f, b'.', g, h] => {
            [number_of(&[a, b, c, d]), number_of(&[e, f]), number_of(&[g, h])]
        }
        _ => {
            let mut parts = date.split('.').map(|part| number_of(part.as_bytes()));
            [(); 3].map(|()| parts.next().unwrap_or(0))
        }
    };
    year.min(9999) * YEAR + month.min(12) * 32 + day.min(31)
}

/// The number that the digits represent; 0 if a digit is invalid or the number is too large.
fn number_of(digits: &[u8]) -> u32 {
    let append = |number: u32, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    digits.iter().try_fold(0, append).unwrap_or(0)
}

/// The year of a [`day_number`], if known.
pub(crate) fn year_of(day: u32) -> Option<u16> {
    u16::try_from(day / YEAR).ok().filter(|&year| year != 0)
}

/// The year of a date `YYYY.MM.DD`; `None` if it is unknown.
pub(crate) fn year_of_date(date: Option<&str>) -> Option<u16> {
    date?.get(..4)?.parse().ok().filter(|&year| year > 0)
}

/// The sum of White's and Black's rating, if both are known.
#[inline]
pub(crate) fn elo_sum([white, black]: [Option<u16>; 2]) -> Option<u32> {
    white.zip(black).map(|(white, black)| u32::from(white) + u32::from(black))
}

/// The month of a [`day_number`], if known.
pub(crate) fn month_of(day: u32) -> Option<u8> {
    u8::try_from(day % YEAR / 32).ok().filter(|&month| month != 0)
}

impl ResultCounts {
    /// Counts a game: its result, White's and Black's rating, and its year.
    #[inline]
    pub(crate) fn count(&mut self, result: GameResult, [white, black]: [Option<u16>; 2], year: Option<u16>) {
        // The results are counted without branches: a branch could not be predicted, and one query counts
        // millions of results.
        self.white_wins += u32::from(result == GameResult::White);
        self.draws += u32::from(result == GameResult::Draw);
        self.black_wins += u32::from(result == GameResult::Black);
        self.white_elo.count(white);
        self.black_elo.count(black);
        if let Some(year) = year {
            self.first_year = Some(self.first_year.map_or(year, |first| first.min(year)));
            self.last_year = self.last_year.max(Some(year));
        }
    }
}

/// The score of a side in games that have a result, against opponents with known ratings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatedScore {
    /// The opponents' ratings in the counted games.
    pub opponents: RatingSum,
    /// The score in half points.
    pub half_points: u32,
}

impl RatedScore {
    /// Counts a game with a result, unless the opponent's rating is unknown.
    pub(crate) fn count(&mut self, opponent: Option<u16>, half_points: u32) {
        self.opponents.count(opponent);
        if opponent.is_some() {
            self.half_points += half_points;
        }
    }

    /// Adds the games of another score.
    pub(crate) fn add(&mut self, other: &Self) {
        self.opponents.add(other.opponents);
        self.half_points += other.half_points;
    }
}

/// The games with the greatest ranks, in descending order, up to a maximum number.
#[derive(Clone, Debug)]
pub(crate) struct GameList {
    games: Vec<(u32, GameId)>,
    /// The maximum number of games.
    length: usize,
    /// Whether games of equal rank are in descending order of their ids.
    later_first: bool,
}

impl GameList {
    /// Best-rated games: the greatest sums of both ratings first; games with equal sums in ascending order of
    /// ids.
    pub(crate) const fn best_rated(length: u8) -> Self {
        Self { games: Vec::new(), length: length as usize, later_first: false }
    }

    /// Latest games: the greatest [`day_number`]s first; games with equal numbers in descending order of ids.
    pub(crate) const fn latest(length: u8) -> Self {
        Self { games: Vec::new(), length: length as usize, later_first: true }
    }

    /// Whether the list can contain games.
    pub(crate) const fn takes_any(&self) -> bool {
        self.length > 0
    }

    /// Inserts a game if it ranks high enough.
    #[inline]
    pub(crate) fn insert(&mut self, rank: u32, game: GameId) {
        let is_before = |&other: &(u32, GameId)| self.is_before(other, (rank, game));
        // Most games do not rank high enough: avoid searching a long list for them.
        if self.games.len() < self.length || !self.games.last().is_none_or(is_before) {
            self.put(rank, game);
        }
    }

    #[cold]
    fn put(&mut self, rank: u32, game: GameId) {
        let at = self.games.partition_point(|&other| self.is_before(other, (rank, game)));
        self.games.truncate(self.length - 1);
        self.games.insert(at, (rank, game));
    }

    #[inline]
    fn is_before(&self, (rank, game): (u32, GameId), (other_rank, other): (u32, GameId)) -> bool {
        rank > other_rank || (rank == other_rank && (game > other) == self.later_first)
    }

    /// The ids of the games in order.
    pub(crate) fn ids(&self) -> Vec<GameId> {
        self.games.iter().map(|&(_, game)| game).collect()
    }

    /// The ids of the games in order, as a JSON array.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&self.ids()).expect("numbers can be written as JSON")
    }
}

/// The lists of the best-rated and of the latest games.
#[derive(Clone, Debug)]
pub(crate) struct GameLists {
    pub(crate) top: GameList,
    pub(crate) recent: GameList,
}

impl GameLists {
    /// Inserts a game into the lists if it ranks high enough. `elos` are White's and Black's rating, and `day`
    /// is the [`day_number`] of the date.
    #[inline]
    pub(crate) fn insert(&mut self, game: GameId, elos: [Option<u16>; 2], day: u32) {
        if let Some(sum) = elo_sum(elos) {
            self.top.insert(sum, game);
        }
        self.recent.insert(day, game);
    }
}

impl Default for GameLists {
    /// The empty lists of a visited position.
    fn default() -> Self {
        Self { top: GameList::best_rated(LISTED_GAMES), recent: GameList::latest(LISTED_GAMES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the lists with the sorted list of all games.
    #[test]
    fn lists_have_the_first_games_in_their_order() {
        let games: Vec<(u32, GameId)> = (1..=60).map(|id| (id * 7 % 11, GameId(id))).collect();
        for length in [0, 1, 2, LISTED_GAMES, 60, 99] {
            let (mut best, mut latest) = (GameList::best_rated(length), GameList::latest(length));
            for &(rank, game) in &games {
                best.insert(rank, game);
                latest.insert(rank, game);
            }
            let mut sorted = games.clone();
            let first = |sorted: &[(u32, GameId)]| -> Vec<GameId> {
                sorted.iter().map(|&(_, game)| game).take(length.into()).collect()
            };
            sorted.sort_by_key(|&(rank, game)| (std::cmp::Reverse(rank), game));
            assert_eq!(best.ids(), first(&sorted), "{length}");
            sorted.sort_by_key(|&(rank, game)| std::cmp::Reverse((rank, game)));
            assert_eq!(latest.ids(), first(&sorted), "{length}");
        }
    }
}
