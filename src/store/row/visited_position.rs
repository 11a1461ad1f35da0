//! Rows of `visited_position` and `continuation`.

use super::description::columns;
use super::text::Text;
use crate::board::{MoveCode, PositionKey};

/// What came of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Games that White won.
    pub white_wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games that Black won.
    pub black_wins: u32,
    /// Both players' ratings added up, of the games in which both are known.
    pub elo_sum: u64,
    /// How many these are.
    pub elo_games: u32,
    /// The earliest year of a game whose year is known.
    pub first_year: Option<u16>,
    /// The latest.
    pub last_year: Option<u16>,
}

impl ResultCounts {
    /// No games.
    pub const NONE: Self = Self {
        white_wins: 0,
        draws: 0,
        black_wins: 0,
        elo_sum: 0,
        elo_games: 0,
        first_year: None,
        last_year: None,
    };

    /// Counts the games that others count too.
    pub(crate) fn add(&mut self, other: &Self) {
        self.white_wins += other.white_wins;
        self.draws += other.draws;
        self.black_wins += other.black_wins;
        self.elo_sum += other.elo_sum;
        self.elo_games += other.elo_games;
        self.first_year = [self.first_year, other.first_year].into_iter().flatten().min();
        self.last_year = self.last_year.max(other.last_year);
    }

    /// How many games there are.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.white_wins as u64 + self.draws as u64 + self.black_wins as u64
    }

    /// The players' mean rating, rounded; `None` if there is no game in which both are known.
    #[must_use]
    pub const fn mean_elo(&self) -> Option<u64> {
        // Two players a game; half the divisor more rounds.
        let games = self.elo_games as u64;
        (self.elo_sum + games).checked_div(2 * games)
    }
}

/// One row of `visited_position`. The lists are JSON arrays.
#[derive(Clone, Copy, Debug)]
pub struct VisitedPositionRow {
    /// The position's key.
    pub key: PositionKey,
    /// Its canonical FEN.
    pub fen: Text,
    /// What came of the games that reached it.
    pub counts: ResultCounts,
    /// How many games without a result reached it besides.
    pub unfinished: u32,
    /// The best-rated games' ids, best first.
    pub top_games: Text,
    /// The latest games' ids, latest first.
    pub recent_games: Text,
}

columns! {
    VisitedPositionRow: VisitedPositionRow in "visited_position",
    |batch: VisitedPositionBatch| &batch.positions, &batch.text;
    |row| {
        "key" => row.key,
        "fen" => row.fen,
        "games" => row.counts.games(),
        "white_wins" => row.counts.white_wins,
        "draws" => row.counts.draws,
        "black_wins" => row.counts.black_wins,
        "unfinished" => row.unfinished,
        "elo_sum" => row.counts.elo_sum,
        "elo_games" => row.counts.elo_games,
        "top_games" => row.top_games,
        "recent_games" => row.recent_games,
    }
}

/// One row of `continuation`.
#[derive(Clone, Copy, Debug)]
pub struct ContinuationRow {
    /// The position's key.
    pub key: PositionKey,
    /// The move.
    pub move_code: MoveCode,
    /// What came of the games in which it was played.
    pub counts: ResultCounts,
}

columns! {
    ContinuationRow: ContinuationRow in "continuation",
    |batch: VisitedPositionBatch| &batch.continuations, &batch.text;
    |row| {
        "key" => row.key,
        "move_code" => row.move_code,
        "games" => row.counts.games(),
        "white_wins" => row.counts.white_wins,
        "draws" => row.counts.draws,
        "black_wins" => row.counts.black_wins,
        "elo_sum" => row.counts.elo_sum,
        "elo_games" => row.counts.elo_games,
        "first_year" => row.counts.first_year,
        "last_year" => row.counts.last_year,
    }
}

/// Rows of `visited_position` and `continuation`, in key order.
#[derive(Debug, Default)]
pub struct VisitedPositionBatch {
    /// Rows of `visited_position`.
    pub positions: Vec<VisitedPositionRow>,
    /// Rows of `continuation`.
    pub continuations: Vec<ContinuationRow>,
    /// All texts, one after the other.
    pub text: String,
}

impl VisitedPositionBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.continuations.clear();
        self.text.clear();
    }
}
