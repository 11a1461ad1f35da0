//! Conditions on the values of columns: the same that [`Selection`](crate::store::Selection) says in SQL.

use std::rc::Rc;

use super::{ColumnBlock, ColumnValue};
use crate::store::block_games::BlockGames;

/// What a value is to be. NULL fits only [`Test::Missing`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// One of these numbers, which are in order.
    OneOf(Vec<i64>),
    /// One of these texts.
    OneOfTexts(Vec<String>),
    AtLeast(i64),
    AtMost(i64),
    /// From the one text on, up to before the other.
    Between(String, String),
    /// This text, whatever the case of the letters A to Z.
    AnyCase(String),
    /// NULL.
    Missing,
    /// A date whose year is known, from this one on: what is unknown of it may be late enough.
    Since(String),
    /// A date whose year is known, up to before this text: what is unknown of it may be early enough.
    Until(String),
}

impl Test {
    /// One of these numbers, in any order.
    pub(crate) fn one_of(numbers: impl IntoIterator<Item = i64>) -> Self {
        let mut numbers: Vec<i64> = numbers.into_iter().collect();
        numbers.sort_unstable();
        Self::OneOf(numbers)
    }

    fn fits(&self, value: &ColumnValue) -> bool {
        match (self, value) {
            (Self::OneOf(numbers), ColumnValue::Integer(number)) => numbers.binary_search(number).is_ok(),
            (Self::AtLeast(least), ColumnValue::Integer(number)) => number >= least,
            (Self::AtMost(most), ColumnValue::Integer(number)) => number <= most,
            (Self::OneOfTexts(texts), ColumnValue::Text(text)) => texts.iter().any(|other| **other == **text),
            (Self::Between(first, end), ColumnValue::Text(text)) => **first <= **text && **text < **end,
            (Self::Missing, ColumnValue::Null) => true,
            (Self::AnyCase(wanted), ColumnValue::Text(text)) => wanted.eq_ignore_ascii_case(text),
            (Self::Since(first), ColumnValue::Text(date)) => is_year_known(date) && **date >= **first,
            (Self::Until(end), ColumnValue::Text(date)) => {
                is_year_known(date) && *date.replace('?', "0") < **end
            }
            _ => false,
        }
    }
}

fn is_year_known(date: &str) -> bool {
    !date.chars().take(4).any(|letter| letter == '?')
}

/// Tests of columns, all of which hold.
pub(crate) type Alternative = Vec<(&'static str, Test)>;

/// A condition on a game: all tests of one of the alternatives hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition(pub(crate) Vec<Alternative>);

impl Condition {
    /// The games of a block that fit; `column` gives the columns asked for.
    pub(crate) fn games<E>(
        &self,
        mut column: impl FnMut(&'static str) -> Result<Rc<ColumnBlock>, E>,
    ) -> Result<BlockGames, E> {
        let mut any = BlockGames::default();
        for alternative in &self.0 {
            let mut all = BlockGames::default();
            all.fill();
            for (name, test) in alternative {
                all.keep(&fitting(&*column(name)?, test));
            }
            any.add(&all);
        }
        Ok(any)
    }
}

/// The games whose value fits.
fn fitting(column: &ColumnBlock, test: &Test) -> BlockGames {
    // Numbers behind the last have NULL: those that differ from it are looked for.
    let null_fits = test.fits(&ColumnValue::Null);
    let differs: Vec<u64> =
        column.values.iter().map(|value| (test.fits(value) != null_fits).into()).collect();
    let differing = if differs.contains(&1) {
        BlockGames::of(&column.games, |&index| differs[index as usize])
    } else {
        BlockGames::default()
    };
    if null_fits { differing.others() } else { differing }
}
