//! Columns of `game` that filters ask for, each in one piece for a block of games: a filter is then a look at one byte or two of each
//! game, not at its row.
//!
//! A piece has the different values of the block's games once, and of each game number which of them it is. So a condition is tried on a
//! few values, whatever they are, and the games follow.

mod builder;
mod condition;

use std::collections::HashMap;
use std::fmt;

pub(crate) use builder::{ColumnBuilder, StoredColumns, places};
pub(crate) use condition::{Alternative, Condition, Test};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::row::virtual_table::Cell;

/// The columns of `game` that are kept in this way.
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

/// Every game has one: where it is NULL, there is no game.
pub(crate) const RESULT: &str = "result";
pub(crate) const WHITE_ELO: &str = "white_elo";
pub(crate) const BLACK_ELO: &str = "black_elo";
pub(crate) const DATE: &str = "date";

/// What a cell of such a column can hold, in the order in which SQLite sorts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ColumnValue {
    #[default]
    Null,
    Integer(i64),
    Text(Box<str>),
}

impl From<Cell<'_>> for ColumnValue {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Integer(number) => Self::Integer(number),
            Cell::Text(text) => Self::Text(text.into()),
            Cell::Null => Self::Null,
        }
    }
}

impl Serialize for ColumnValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// By hand: a value would be read into another form first and then tried as each of the three.
impl<'de> Deserialize<'de> for ColumnValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl Visitor<'_> for AnyValue {
            type Value = ColumnValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, an integer or a text")
            }

            fn visit_unit<E>(self) -> Result<ColumnValue, E> {
                Ok(ColumnValue::Null)
            }

            fn visit_i64<E>(self, number: i64) -> Result<ColumnValue, E> {
                Ok(ColumnValue::Integer(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ColumnValue, E> {
                i64::try_from(number).map(ColumnValue::Integer).map_err(E::custom)
            }

            fn visit_str<E>(self, text: &str) -> Result<ColumnValue, E> {
                Ok(ColumnValue::Text(text.into()))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

/// A column of the games of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnBlock {
    /// The different values, in any order.
    pub(crate) values: Vec<ColumnValue>,
    /// Of each number, which of them it has. Numbers behind the last have NULL.
    pub(crate) games: Vec<u32>,
}

impl ColumnBlock {
    /// The column as it is stored: `cells` and `games`; `None` if no number has a value.
    pub(crate) fn encode(&self) -> Option<(String, Vec<u8>)> {
        let mut used = vec![false; self.values.len()];
        self.games.iter().for_each(|&index| used[index as usize] = true);
        let mut order: Vec<u32> =
            (0..self.values.len() as u32).filter(|&index| used[index as usize]).collect();
        if order.is_empty() {
            return None;
        }
        order.sort_unstable_by(|&a, &b| self.values[a as usize].cmp(&self.values[b as usize]));
        let sorted: Vec<&ColumnValue> = order.iter().map(|&index| &self.values[index as usize]).collect();
        let cells = serde_json::to_string(&sorted).expect("texts and numbers are JSON");
        if sorted == [&ColumnValue::Null] {
            return Some((cells, Vec::new()));
        }
        let mut rank = vec![0; self.values.len()];
        (0..).zip(&order).for_each(|(place, &index): (u32, _)| rank[index as usize] = place);
        let ranks = self.games.iter().map(|&index| rank[index as usize]);
        let games = match order.len() {
            ..=256 => ranks.map(|rank| rank as u8).collect(),
            _ => ranks.flat_map(|rank| (rank as u16).to_le_bytes()).collect(),
        };
        Some((cells, games))
    }

    /// What was stored; `None` if it cannot have been.
    pub(crate) fn decode(cells: &str, games: &[u8]) -> Option<Self> {
        let values: Vec<ColumnValue> = serde_json::from_str(cells).ok()?;
        let games: Vec<u32> = match values.len() {
            ..=256 => games.iter().map(|&index| index.into()).collect(),
            _ => games.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]).into()).collect(),
        };
        let fits = |&index: &u32| (index as usize) < values.len();
        (games.len() <= 1 << 16 && games.iter().all(fits)).then_some(Self { values, games })
    }

    /// What a number has.
    pub(crate) fn value(&self, number: u16) -> &ColumnValue {
        const NULL: &ColumnValue = &ColumnValue::Null;
        self.games.get(usize::from(number)).map_or(NULL, |&index| &self.values[index as usize])
    }
}
