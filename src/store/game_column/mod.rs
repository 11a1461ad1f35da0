//! Columns of `game` that filters use, each stored as one piece per block of games: a filter reads one or two
//! bytes per game, not the game's row.
//!
//! A game number is the number of a game within its block, from 0. A piece contains the distinct values of
//! the block, and for each game number the index of the game's value. So a condition is evaluated only once
//! per distinct value.

mod builder;
mod stored;

use std::ops::RangeInclusive;

pub(crate) use builder::{ColumnBuilder, StoredColumns, places};
pub(crate) use stored::StoredColumn;

use crate::store::block_games::BlockGames;
use crate::store::row::virtual_table::Cell;

/// The columns of `game` that are stored block by block.
pub(crate) const COLUMNS: [&str; 17] = [
    RESULT,
    WHITE_ELO,
    BLACK_ELO,
    DATE,
    "white_id",
    "black_id",
    "event_id",
    "site_id",
    "opening_id",
    "eco",
    "ply_count",
    "time_control",
    "speed",
    "termination",
    "eval_count",
    "source_id",
    "variant",
];

pub(crate) const WHITE_ID: &str = "white_id";
pub(crate) const BLACK_ID: &str = "black_id";
/// Every game has a value in this column: NULL means that there is no game with this number.
pub(crate) const RESULT: &str = "result";
pub(crate) const WHITE_ELO: &str = "white_elo";
pub(crate) const BLACK_ELO: &str = "black_elo";
pub(crate) const DATE: &str = "date";

/// The allowed values of a column. NULL matches only [`Test::Missing`] and [`Test::NoneOf`].
/// [`Selection`](crate::store::Selection) writes the same tests in SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// One of these numbers (in ascending order).
    OneOf(Vec<i64>),
    /// A number other than these (in ascending order), or NULL.
    NoneOf(Vec<i64>),
    /// One of these texts.
    OneOfTexts(Vec<String>),
    AtLeast(i64),
    AtMost(i64),
    /// A text from the first one (inclusive) to the second one (exclusive).
    Between(String, String),
    /// This text, ignoring the case of the letters A to Z.
    AnyCase(String),
    /// NULL.
    Missing,
    /// A date with a known year, from this date on. `?` sorts after all digits, so an unknown part counts as
    /// late enough, whatever follows it.
    Since(String),
    /// A date with a known year. With zeros for its unknown digits, it must sort before this text.
    Until(String),
}

impl Test {
    /// One of these numbers, in any order.
    pub(crate) fn one_of(numbers: impl IntoIterator<Item = i64>) -> Self {
        let mut numbers: Vec<i64> = numbers.into_iter().collect();
        numbers.sort_unstable();
        Self::OneOf(numbers)
    }

    pub(crate) fn fits(&self, value: Cell<'_>) -> bool {
        match (self, value) {
            (Self::OneOf(numbers), Cell::Integer(number)) => numbers.binary_search(&number).is_ok(),
            (Self::NoneOf(numbers), Cell::Integer(number)) => numbers.binary_search(&number).is_err(),
            (Self::NoneOf(_), Cell::Null) => true,
            (Self::AtLeast(least), Cell::Integer(number)) => number >= *least,
            (Self::AtMost(most), Cell::Integer(number)) => number <= *most,
            (Self::OneOfTexts(texts), Cell::Text(text)) => texts.iter().any(|other| other == text),
            (Self::Between(first, end), Cell::Text(text)) => &**first <= text && text < &**end,
            (Self::Missing, Cell::Null) => true,
            (Self::AnyCase(wanted), Cell::Text(text)) => wanted.eq_ignore_ascii_case(text),
            (Self::Since(first), Cell::Text(date)) => is_year_known(date) && date >= &**first,
            (Self::Until(end), Cell::Text(date)) => {
                let earliest = date.bytes().map(|byte| if byte == b'?' { b'0' } else { byte });
                is_year_known(date) && earliest.lt(end.bytes())
            }
            _ => false,
        }
    }
}

fn is_year_known(date: &str) -> bool {
    !date.bytes().take(4).any(|byte| byte == b'?')
}

/// Tests of columns, all of which must hold.
pub(crate) type Alternative = Vec<(&'static str, Test)>;

/// A condition on a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All tests of at least one alternative hold.
    Tests(Vec<Alternative>),
    /// The sum of two columns is in one of these ranges.
    SumIn([&'static str; 2], Vec<RangeInclusive<i64>>),
}

/// The games of a block for which both columns have numbers whose sum is in one of these ranges.
pub(crate) fn sum_in(one: &StoredColumn, other: &StoredColumn, ranges: &[RangeInclusive<i64>]) -> BlockGames {
    let numbers = |column: &StoredColumn| -> Vec<_> { column.values().map(Cell::as_integer).collect() };
    let (ones, others) = (numbers(one), numbers(other));
    let mut games = BlockGames::default();
    for ((game, &one), &other) in (0..=u16::MAX).zip(one.ranks()).zip(other.ranks()) {
        if let (Some(one), Some(other)) = (ones[usize::from(one)], others[usize::from(other)])
            && ranges.iter().any(|range| range.contains(&(one + other)))
        {
            games.insert(game);
        }
    }
    games
}
