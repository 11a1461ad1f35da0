//! Collects cells of a database's rows into columns.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rusqlite::types::Value;

/// Columns that are being filled.
pub(crate) struct Columns {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    /// The number of rows returned before.
    before: usize,
}

enum Builder {
    Integer(Int64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
    Blob(BinaryBuilder),
}

/// The type of a column, according to its first cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Integer,
    Real,
    Text,
    Blob,
}

impl ColumnType {
    /// The type of a column with these cells: text if numbers and texts are mixed, blob if there is any blob.
    /// A number does not fit in a column of blobs. If all cells are NULL, text.
    pub(crate) fn of<'c>(cells: impl Iterator<Item = &'c Value>) -> Self {
        let of = |cell: &Value| match cell {
            Value::Null => None,
            Value::Integer(_) => Some(Self::Integer),
            Value::Real(_) => Some(Self::Real),
            Value::Text(_) => Some(Self::Text),
            Value::Blob(_) => Some(Self::Blob),
        };
        let both = |one, other| match (one, other) {
            _ if one == other => one,
            (Self::Integer | Self::Real, Self::Integer | Self::Real) => Self::Real,
            (Self::Blob, _) | (_, Self::Blob) => Self::Blob,
            _ => Self::Text,
        };
        cells.filter_map(of).reduce(both).unwrap_or(Self::Text)
    }
}

/// A cell whose value does not fit its column.
#[derive(Debug, thiserror::Error)]
#[error(
    "row {row}, column {column:?}: is {found}, and the rows before have {expected}; write CAST({column} AS …) in the query"
)]
pub(crate) struct Misfit {
    row: usize,
    column: String,
    found: &'static str,
    expected: &'static str,
}

impl Columns {
    pub(crate) fn new<'n>(columns: impl IntoIterator<Item = (&'n str, ColumnType)>) -> Self {
        let (mut fields, mut builders) = (Vec::new(), Vec::new());
        for (name, kind) in columns {
            let (data, builder) = match kind {
                ColumnType::Integer => (DataType::Int64, Builder::Integer(Int64Builder::new())),
                ColumnType::Real => (DataType::Float64, Builder::Real(Float64Builder::new())),
                ColumnType::Text => (DataType::Utf8, Builder::Text(StringBuilder::new())),
                ColumnType::Blob => (DataType::Binary, Builder::Blob(BinaryBuilder::new())),
            };
            fields.push(Field::new(name, data, true));
            builders.push(builder);
        }
        Self { schema: Arc::new(Schema::new(fields)), builders, rows: 0, before: 0 }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = Value>) -> Result<(), Misfit> {
        let row = self.before + self.rows + 1;
        for (column, (builder, cell)) in self.builders.iter_mut().zip(cells).enumerate() {
            builder.push(cell).map_err(|(found, expected)| {
                let column = self.schema.field(column).name().clone();
                Misfit { row, column, found, expected }
            })?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns the rows, leaving the columns empty.
    pub(crate) fn take(&mut self) -> RecordBatch {
        self.before += std::mem::take(&mut self.rows);
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(self.schema(), columns).expect("columns as the schema says")
    }
}

impl Builder {
    fn push(&mut self, cell: Value) -> Result<(), (&'static str, &'static str)> {
        match (self, cell) {
            (Self::Integer(cells), Value::Null) => cells.append_null(),
            (Self::Real(cells), Value::Null) => cells.append_null(),
            (Self::Text(cells), Value::Null) => cells.append_null(),
            (Self::Blob(cells), Value::Null) => cells.append_null(),
            (Self::Integer(cells), Value::Integer(number)) => cells.append_value(number),
            (Self::Real(cells), Value::Real(number)) => cells.append_value(number),
            (Self::Real(cells), Value::Integer(number)) => cells.append_value(number as f64),
            (Self::Text(cells), Value::Text(text)) => cells.append_value(text),
            (Self::Text(cells), Value::Integer(number)) => cells.append_value(number.to_string()),
            (Self::Text(cells), Value::Real(number)) => cells.append_value(number.to_string()),
            (Self::Blob(cells), Value::Blob(bytes)) => cells.append_value(bytes),
            (Self::Blob(cells), Value::Text(text)) => cells.append_value(text),
            (builder, cell) => return Err((name(&cell), builder.name())),
        }
        Ok(())
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Integer(_) => "whole numbers",
            Self::Real(_) => "numbers",
            Self::Text(_) => "strings",
            Self::Blob(_) => "blobs",
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integer(cells) => Arc::new(cells.finish()),
            Self::Real(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
            Self::Blob(cells) => Arc::new(cells.finish()),
        }
    }
}

const fn name(cell: &Value) -> &'static str {
    match cell {
        Value::Null => "NULL",
        Value::Integer(_) => "a whole number",
        Value::Real(_) => "a number",
        Value::Text(_) => "a string",
        Value::Blob(_) => "a blob",
    }
}
