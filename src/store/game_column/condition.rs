//! Conditions on the values of columns: the same that [`Selection`](crate::store::Selection) says in SQL.

use super::{ColumnBlock, ColumnValue};
use crate::store::block_set::BLOCK_GAMES;

/// What a value is to be. NULL never fits.
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

/// A bit for each number of a block.
pub(crate) type BlockBits = Vec<u64>;

/// No number.
pub(crate) fn no_bits() -> BlockBits {
    vec![0; BLOCK_GAMES as usize / 64]
}

impl Condition {
    /// The numbers of a block that fit; `column` gives the columns asked for.
    pub(crate) fn bits<E>(
        &self,
        mut column: impl FnMut(&'static str) -> Result<std::rc::Rc<ColumnBlock>, E>,
    ) -> Result<BlockBits, E> {
        let mut any = no_bits();
        for alternative in &self.0 {
            let mut all: Option<BlockBits> = None;
            for (name, test) in alternative {
                let found = fitting(&*column(name)?, test);
                match &mut all {
                    Some(all) => all.iter_mut().zip(&found).for_each(|(word, found)| *word &= found),
                    none => *none = Some(found),
                }
            }
            any.iter_mut().zip(all.unwrap_or_default()).for_each(|(word, found)| *word |= found);
        }
        Ok(any)
    }
}

/// The numbers whose value fits.
fn fitting(column: &ColumnBlock, test: &Test) -> BlockBits {
    let fits: Vec<u64> = column.values.iter().map(|value| test.fits(value).into()).collect();
    let mut bits = no_bits();
    if fits.contains(&1) {
        for (word, games) in bits.iter_mut().zip(column.games.chunks(64)) {
            for (bit, &index) in games.iter().enumerate() {
                *word |= fits[index as usize] << bit;
            }
        }
    }
    bits
}
