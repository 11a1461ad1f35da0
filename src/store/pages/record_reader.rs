//! Reads rows from SQLite's pages. [`record`](super::record) writes them.

use std::cmp::Ordering;

use crate::board::PositionKey;
use crate::store::row::{GameId, Level, Occurrence, OccurrenceRow, Ply};

/// The row of `occurrence` in a leaf cell; `None` if the cell has another format.
#[inline]
pub(super) fn occurrence_of(cell: &[u8]) -> Option<OccurrenceRow> {
    // A cell consists of the record's length (below 128, so one byte), the record's header, and the columns.
    let &[length, 5, level_type, key_type, game_type, ply_type, ref columns @ ..] = cell else { return None };
    if usize::from(length) != cell.len() - 1 {
        return None;
    }
    let (level, columns) = read_integer(columns, level_type)?;
    let (key, columns) = read_integer(columns, key_type)?;
    let (game, columns) = read_integer(columns, game_type)?;
    let (ply, _) = read_integer(columns, ply_type)?;
    let [level, game, ply] = [level, game, ply].map(|number| u32::try_from(number).ok());
    let occurrence = Occurrence::new(PositionKey::from_i64(key), GameId(game?), Ply(ply?));
    Some(OccurrenceRow { level: Level(level?), occurrence })
}

/// The level and the key of the row of `occurrence` in a leaf cell; `None` if the cell has another format, or
/// if the key takes fewer than eight bytes, which is rare.
#[inline]
fn level_and_key(cell: &[u8]) -> Option<(i64, PositionKey)> {
    let &[_, 5, level_type, 6, _, _, ref columns @ ..] = cell else { return None };
    let (level, columns) = read_integer(columns, level_type)?;
    Some((level, PositionKey(u64::from_be_bytes(*columns.first_chunk()?))))
}

/// Whether the row of `occurrence` in a leaf cell comes before `row`; `None` if the cell has another format.
#[inline]
pub(super) fn is_before(cell: &[u8], row: OccurrenceRow) -> Option<bool> {
    match level_and_key(cell) {
        Some((level, _)) if level != i64::from(row.level.0) => Some(level < i64::from(row.level.0)),
        Some((_, key)) if key != row.occurrence.key() => Some(key.as_i64() < row.occurrence.key().as_i64()),
        _ => Some(occurrence_of(cell)? < row),
    }
}

/// Compares two rows of an index in SQLite's order; texts are compared as bytes. `None` if a column up to the
/// first difference is a floating-point number, cannot be read, or is missing in one of the rows.
pub(super) fn compare(cell: &[u8], other: &[u8]) -> Option<Ordering> {
    let (mut columns, mut others) = (Columns::of(cell)?, Columns::of(other)?);
    loop {
        match (columns.next(), others.next()) {
            (None, None) => return Some(Ordering::Equal),
            (Some(value), Some(other)) => match value?.cmp(&other?) {
                Ordering::Equal => {}
                order => return Some(order),
            },
            _ => return None,
        }
    }
}

/// The first column of the row in a leaf cell; `None` if there is no such column or it is not an integer.
pub(super) fn first_number(cell: &[u8]) -> Option<i64> {
    Columns::of(cell)?.integer()
}

/// The value of a column. Values are ordered as SQLite sorts them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value<'c> {
    Null,
    Integer(i64),
    Text(&'c [u8]),
    Blob(&'c [u8]),
}

/// The columns of a record that have not been read yet.
struct Columns<'c> {
    types: &'c [u8],
    values: &'c [u8],
}

impl<'c> Columns<'c> {
    fn of(cell: &'c [u8]) -> Option<Self> {
        let (length, record) = read_varint(cell)?;
        let record = record.get(..length)?;
        let (header, types) = read_varint(record)?;
        let values = record.get(header..)?;
        Some(Self { types: types.get(..header.checked_sub(record.len() - types.len())?)?, values })
    }

    /// The next column; `None` if there is no next column or it is not an integer.
    fn integer(&mut self) -> Option<i64> {
        if let Value::Integer(number) = self.next()?? { Some(number) } else { None }
    }

    fn read(&mut self) -> Option<Value<'c>> {
        let serial_type;
        (serial_type, self.types) = read_varint(self.types)?;
        let length = match serial_type {
            0 => return Some(Value::Null),
            7 | 10 | 11 => return None,
            12.. => (serial_type - 12) / 2,
            _ => {
                let value;
                (value, self.values) = read_integer(self.values, serial_type as u8)?;
                return Some(Value::Integer(value));
            }
        };
        let value;
        (value, self.values) = self.values.split_at_checked(length)?;
        Some(if serial_type % 2 == 1 { Value::Text(value) } else { Value::Blob(value) })
    }
}

impl<'c> Iterator for Columns<'c> {
    /// The value of a column; `None` if its type is not supported here, or the record is damaged.
    type Item = Option<Value<'c>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.types.is_empty()).then(|| self.read())
    }
}

/// Reads a varint at the start of `bytes`. Returns its value and the remaining bytes; `None` if the varint is
/// incomplete or longer than three bytes.
#[inline]
pub(super) fn read_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(3).position(|&byte| byte < 0x80)? + 1;
    let (varint, rest) = bytes.split_at(end);
    Some((varint.iter().fold(0, |value, &byte| value << 7 | usize::from(byte & 0x7f)), rest))
}

/// Reads an integer of the type `serial_type` at the start of `columns`. Returns the integer and the
/// remaining bytes; `None` if `serial_type` is not the type of an integer, or bytes are missing.
#[inline]
fn read_integer(columns: &[u8], serial_type: u8) -> Option<(i64, &[u8])> {
    let length = match serial_type {
        1..=4 => usize::from(serial_type),
        5 => 6,
        6 => 8,
        8 | 9 => return Some((i64::from(serial_type - 8), columns)),
        _ => return None,
    };
    let (bytes, rest) = columns.split_at_checked(length)?;
    let sign = if bytes[0] < 0x80 { 0 } else { -1 };
    Some((bytes.iter().fold(sign, |value, &byte| value << 8 | i64::from(byte)), rest))
}
