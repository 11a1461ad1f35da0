//! Collects rows of cells into columns.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use super::schema::{ColumnType, Table};
use crate::board::{FenText, MAX_CANONICAL_FEN, Position};
use crate::store::row::virtual_table::Cell;

/// The columns of a table while rows are added to them.
#[derive(Debug)]
pub(super) struct Columns {
    values: Vec<Values>,
    pub(super) rows: usize,
    /// The approximate size of all values in bytes.
    pub(super) bytes: usize,
}

/// The values of a column.
#[derive(Debug)]
pub(super) enum Values {
    Int64(Int64Builder),
    Int32(Int32Builder),
    Text(StringBuilder),
}

impl Values {
    pub(super) fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Int64 => Self::Int64(Int64Builder::new()),
            ColumnType::Int32 => Self::Int32(Int32Builder::new()),
            ColumnType::Text => Self::Text(StringBuilder::new()),
        }
    }

    /// Adds a value. A number that does not fit the column becomes NULL, as does a text in a column of numbers.
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Int64(values), Cell::Integer(number)) => values.append_value(number),
            (Self::Int64(values), _) => values.append_null(),
            (Self::Int32(values), Cell::Integer(number)) => values.append_option(i32::try_from(number).ok()),
            (Self::Int32(values), _) => values.append_null(),
            (Self::Text(values), Cell::Text(text)) => values.append_value(text),
            (Self::Text(values), Cell::Integer(number)) => values.append_value(number.to_string()),
            (Self::Text(values), Cell::Null | Cell::Blob(_)) => values.append_null(),
        }
    }

    /// Returns the values, leaving the column empty.
    pub(super) fn take(&mut self) -> ArrayRef {
        match self {
            Self::Int64(values) => Arc::new(values.finish()),
            Self::Int32(values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
        }
    }
}

impl Columns {
    pub(super) fn new(kinds: impl IntoIterator<Item = ColumnType>) -> Self {
        Self { values: kinds.into_iter().map(Values::new).collect(), rows: 0, bytes: 0 }
    }

    pub(super) fn of_table(table: &Table) -> Self {
        Self::new(table.columns.iter().map(|column| column.kind))
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) {
        for (values, cell) in self.values.iter_mut().zip(cells) {
            values.push(cell);
            self.bytes += size_of::<i64>();
            if let Cell::Text(text) = cell {
                self.bytes += text.len();
            }
        }
        self.rows += 1;
    }

    /// Returns the columns, leaving them empty.
    pub(super) fn take(&mut self) -> Vec<ArrayRef> {
        (self.rows, self.bytes) = (0, 0);
        self.values.iter_mut().map(Values::take).collect()
    }
}

/// A column of FENs.
#[derive(Debug, Default)]
pub(super) struct Fens {
    ends: Vec<i32>,
    text: Vec<u8>,
}

impl Fens {
    /// Adds the canonical FEN of a position or, if `is_full` is true, its full FEN, which ends with the two
    /// counters.
    #[inline]
    pub(super) fn push(&mut self, position: &Position, placement: &FenText, is_full: bool) {
        let mut space = [0; MAX_CANONICAL_FEN];
        let length = placement.write_at_end(position, &mut space);
        self.text.extend_from_slice(&space[MAX_CANONICAL_FEN - length..]);
        if is_full {
            let (clock, number) = (position.halfmove_clock(), position.fullmove_number());
            self.text.extend_from_slice(format!(" {clock} {number}").as_bytes());
        }
        self.ends.push(i32::try_from(self.text.len()).unwrap_or(i32::MAX));
    }

    /// Returns the column, leaving it empty.
    pub(super) fn take(&mut self) -> ArrayRef {
        let Self { ends, text } = std::mem::take(self);
        let offsets = std::iter::once(0).chain(ends).collect::<ScalarBuffer<i32>>();
        Arc::new(StringArray::new(OffsetBuffer::new(offsets), Buffer::from_vec(text), None))
    }
}
