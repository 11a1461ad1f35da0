//! Collects rows of cells into columns.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, ArrowPrimitiveType};

use super::schema::{ColumnType, Table};
use crate::store::row::virtual_table::Cell;

/// The columns of a table while they are filled.
#[derive(Debug)]
pub(super) struct Columns {
    builders: Vec<Builder>,
    rows: usize,
    /// The approximate size of all values in bytes.
    bytes: usize,
}

#[derive(Debug)]
enum Builder {
    Int64(Int64Builder),
    Int32(Int32Builder),
    Text(StringBuilder),
}

impl Columns {
    pub(super) fn new(table: &Table) -> Self {
        Self::of(table.columns.iter().map(|column| column.kind))
    }

    /// Columns of these kinds.
    pub(super) fn of(kinds: impl IntoIterator<Item = ColumnType>) -> Self {
        let builder = |kind| match kind {
            ColumnType::Int64 => Builder::Int64(Int64Builder::new()),
            ColumnType::Int32 => Builder::Int32(Int32Builder::new()),
            ColumnType::Text => Builder::Text(StringBuilder::new()),
        };
        Self { builders: kinds.into_iter().map(builder).collect(), rows: 0, bytes: 0 }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) {
        for (builder, cell) in self.builders.iter_mut().zip(cells) {
            match builder {
                Builder::Int64(builder) => push_number(builder, cell, Some),
                Builder::Int32(builder) => push_number(builder, cell, |number| i32::try_from(number).ok()),
                Builder::Text(builder) => match cell {
                    Cell::Null => builder.append_null(),
                    Cell::Text(text) => {
                        builder.append_value(text);
                        self.bytes += text.len();
                    }
                    Cell::Integer(number) => builder.append_value(number.to_string()),
                },
            }
            self.bytes += size_of::<i64>();
        }
        self.rows += 1;
    }

    /// Returns the columns, leaving them empty.
    pub(super) fn take(&mut self) -> Vec<ArrayRef> {
        (self.rows, self.bytes) = (0, 0);
        let finish = |builder: &mut Builder| -> ArrayRef {
            match builder {
                Builder::Int64(builder) => Arc::new(builder.finish()),
                Builder::Int32(builder) => Arc::new(builder.finish()),
                Builder::Text(builder) => Arc::new(builder.finish()),
            }
        };
        self.builders.iter_mut().map(finish).collect()
    }
}

/// Adds a number. A number that does not fit the column becomes NULL, as do texts.
fn push_number<T: ArrowPrimitiveType>(
    builder: &mut PrimitiveBuilder<T>,
    cell: Cell<'_>,
    narrow: impl Fn(i64) -> Option<T::Native>,
) {
    match cell {
        Cell::Integer(number) => builder.append_option(narrow(number)),
        Cell::Null | Cell::Text(_) => builder.append_null(),
    }
}
