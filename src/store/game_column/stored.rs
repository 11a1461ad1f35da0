//! A column of a block as read from the database.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};

use crate::store::block_games::BlockGames;
use crate::store::row::virtual_table::Cell;

/// A column of one block as read from the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredColumn {
    /// The texts among the values, concatenated, to avoid thousands of small allocations.
    texts: String,
    values: Vec<StoredValue>,
    /// For each game number up to the last one with an entry, the index of its value. All later numbers have
    /// NULL.
    ranks: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredValue {
    Null,
    Integer(i64),
    /// Start and end in `texts`.
    Text(u32, u32),
}

impl StoredColumn {
    /// Decodes a stored column; `None` if it is invalid.
    #[cfg(test)]
    fn decode(cells: &str, games: &[u8]) -> Option<Self> {
        let mut column = Self::default();
        column.read(cells, games).then_some(column)
    }

    /// Replaces this column with a stored one. Returns whether the stored column is valid.
    pub(crate) fn read(&mut self, cells: &str, games: &[u8]) -> bool {
        self.texts.clear();
        self.values.clear();
        self.ranks.clear();
        let mut json = serde_json::Deserializer::from_str(cells);
        if json.deserialize_seq(ValueList(self)).and_then(|()| json.end()).is_err() {
            return false;
        }
        match self.values.len() {
            ..=256 => self.ranks.extend(games.iter().copied().map(u16::from)),
            _ => {
                let pairs = games.chunks_exact(2);
                if !pairs.remainder().is_empty() {
                    return false;
                }
                self.ranks.extend(pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
            }
        }
        let greatest = self.ranks.iter().copied().max();
        greatest.is_none_or(|greatest| usize::from(greatest) < self.values.len())
            && self.ranks.len() <= 1 << 16
    }

    /// The distinct values, in the order of their ranks.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        self.values.iter().map(|value| match *value {
            StoredValue::Null => Cell::Null,
            StoredValue::Integer(number) => Cell::Integer(number),
            StoredValue::Text(begin, end) => Cell::Text(&self.texts[begin as usize..end as usize]),
        })
    }

    /// The rank of the value of a game number; `None` for numbers after the last entry.
    #[inline]
    pub(crate) fn rank(&self, number: u16) -> Option<u16> {
        self.ranks.get(usize::from(number)).copied()
    }

    /// The ranks of all entries, in the order of game numbers. All later numbers have NULL.
    pub(super) fn ranks(&self) -> &[u16] {
        &self.ranks
    }

    /// The games whose value matches.
    pub(crate) fn games(&self, fits: impl Fn(Cell<'_>) -> bool) -> BlockGames {
        // Game numbers after the last entry have NULL. So evaluate `fits` for NULL, and find the game numbers
        // for which it returns something else.
        let null_fits = fits(Cell::Null);
        let differs: Vec<bool> = self.values().map(|value| fits(value) != null_fits).collect();
        let differing = if differs.contains(&true) {
            BlockGames::of(&self.ranks, |&rank| differs[usize::from(rank)].into())
        } else {
            BlockGames::default()
        };
        if null_fits { differing.others() } else { differing }
    }

    fn push_text(&mut self, text: &str) {
        let begin = self.texts.len();
        self.texts.push_str(text);
        self.values.push(StoredValue::Text(begin as u32, self.texts.len() as u32));
    }
}

struct ValueList<'c>(&'c mut StoredColumn);

impl<'de> Visitor<'de> for ValueList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneValue(self.0))?.is_some() {}
        Ok(())
    }
}

/// Reads one value directly. A derived implementation would convert each value to another form first.
struct OneValue<'c>(&'c mut StoredColumn);

impl<'de> DeserializeSeed<'de> for OneValue<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for OneValue<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, an integer or a string")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.values.push(StoredValue::Null);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.values.push(StoredValue::Integer(number));
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(number).map_err(E::custom)?)
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push_text(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_columns_are_reported() {
        let decode =
            |cells, games: &[u8]| StoredColumn::decode(cells, games).map(|column| column.ranks.len());
        assert_eq!(decode(r#"[null,-7,9000000000,"a","\"é\""]"#, &[0, 4, 1]), Some(3));
        for (cells, games) in [
            ("", &[][..]),
            ("[1", &[]),
            ("[1] 2", &[]),
            ("{}", &[]),
            ("[1.5]", &[]),
            ("[[1]]", &[]),
            ("[18446744073709551615]", &[]),
            ("[]", &[0]),
            ("[1,2]", &[0, 2]),
            ("[1]", &[0; 65_537]),
        ] {
            assert_eq!(decode(cells, games), None, "{cells}");
        }
        let many = serde_json::to_string(&vec![0; 257]).unwrap();
        assert_eq!([&[0; 2][..], &[0; 3]].map(|games| decode(&many, games)), [Some(1), None]);
    }

    #[test]
    fn values_are_found_by_the_number_of_the_game() {
        let many: Vec<i64> = (-100..200).collect();
        let games: Vec<u8> = [299_u16, 0, 100].into_iter().flat_map(u16::to_le_bytes).collect();
        let column = StoredColumn::decode(&serde_json::to_string(&many).unwrap(), &games).unwrap();
        let value = |number| column.rank(number).and_then(|rank| column.values().nth(rank.into()));
        let expected = [199, -100, 0].map(|number| Some(Cell::Integer(number)));
        assert_eq!([value(0), value(1), value(2)], expected);
        assert_eq!(value(3), None);
        let negative = column.games(|value| matches!(value, Cell::Integer(..0)));
        assert_eq!(negative.runs(), [1..=1]);
        assert_eq!(column.games(|value| value == Cell::Null).runs(), [3..=u16::MAX]);
    }
}
