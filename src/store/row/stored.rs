//! Rows read from a database, in which cells can contain any value.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::virtual_table::Cell;
use crate::id::GameId;
use crate::store::cell::Stored;

/// An integer from a column of ids or plies. It need not be a valid id or ply. `I` is the type that the
/// column should contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StoredId<I> {
    number: i64,
    should_be: PhantomData<I>,
}

impl<I> StoredId<I> {
    /// The number in the cell.
    pub(crate) const fn number(self) -> i64 {
        self.number
    }

    /// The next number; the greatest number is returned unchanged.
    pub(crate) fn next(self) -> Self {
        self.number.saturating_add(1).into()
    }

    /// The previous number; the least number is returned unchanged.
    pub(crate) fn previous(self) -> Self {
        self.number.saturating_sub(1).into()
    }
}

impl<I> From<i64> for StoredId<I> {
    fn from(number: i64) -> Self {
        Self { number, should_be: PhantomData }
    }
}

impl<I> fmt::Display for StoredId<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl<I> rusqlite::ToSql for StoredId<I> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(self.number.into())
    }
}

impl<I> rusqlite::types::FromSql for StoredId<I> {
    fn column_result(value: ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        i64::column_result(value).map(Self::from)
    }
}

impl<I> Stored<'_> for StoredId<I> {
    const EXPECTED: &'static str = i64::EXPECTED;

    fn read(value: ValueRef<'_>) -> Option<Self> {
        i64::read(value).map(Self::from)
    }
}

impl StoredId<GameId> {
    /// The id; `None` if the number is negative or too large for an id.
    pub(crate) fn id(self) -> Option<GameId> {
        self.number.try_into().ok().map(GameId)
    }
}

/// A text from a cell. Invalid UTF-8 is replaced by U+FFFD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredText(String);

impl Deref for StoredText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Stored<'_> for StoredText {
    const EXPECTED: &'static str = String::EXPECTED;

    fn read(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Text(text) => Some(Self(String::from_utf8_lossy(text).into_owned())),
            _ => None,
        }
    }
}

/// A value that was read from a database and can be compared with a value to write.
pub(crate) trait AsCell {
    fn as_cell(&self) -> Cell<'_>;
}

impl AsCell for i64 {
    fn as_cell(&self) -> Cell<'_> {
        Cell::Integer(*self)
    }
}

impl<I> AsCell for StoredId<I> {
    fn as_cell(&self) -> Cell<'_> {
        Cell::Integer(self.number)
    }
}

impl AsCell for StoredText {
    fn as_cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl<T: AsCell> AsCell for Option<T> {
    fn as_cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, AsCell::as_cell)
    }
}

/// Called for each cell whose value is not valid in its column. The arguments are the index of the column, a
/// description of valid values, and the value found.
pub(crate) type OnInvalidCell<'m> = dyn FnMut(usize, &'static str, ValueRef<'_>) -> rusqlite::Result<()> + 'm;

/// Reads a cell. If its value is not valid, calls `misfit` and returns the default value.
pub(crate) fn read_cell<'r, T: Stored<'r> + Default>(
    row: &'r Row<'_>,
    column: usize,
    misfit: &mut OnInvalidCell<'_>,
) -> rusqlite::Result<T> {
    let value = row.get_ref(column)?;
    match T::read(value) {
        Some(read) => Ok(read),
        None => misfit(column, T::EXPECTED, value).map(|()| T::default()),
    }
}
