//! Runs SQL queries.

use std::path::PathBuf;

use pgndex::store::Database;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rusqlite::ToSql;
use rusqlite::types::Value;

use crate::cells::{ColumnType, Columns};
use crate::rows::{Failure, Producer, Rows};

/// The number of rows from which the types of columns are inferred.
const LOOKED_AT: usize = 4096;
/// The number of rows per batch.
const BATCH_ROWS: usize = 16_384;

/// Values for the parameters of a query.
#[derive(Debug, Default)]
pub(crate) enum Parameters {
    #[default]
    None,
    InOrder(Vec<Value>),
    Named(Vec<(String, Value)>),
}

/// Parses a sequence of values, or a dict of values by name.
pub(crate) fn parameters(given: Option<Bound<'_, PyAny>>) -> PyResult<Parameters> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Parameters::None) };
    if let Ok(named) = given.cast::<PyDict>() {
        let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((format!(":{}", name.extract::<String>()?), self::value(&value)?))
        };
        return named.iter().map(pair).collect::<PyResult<_>>().map(Parameters::Named);
    }
    let values = given.try_iter()?.map(|cell| value(&cell?));
    values.collect::<PyResult<_>>().map(Parameters::InOrder)
}

fn value(cell: &Bound<'_, PyAny>) -> PyResult<Value> {
    if cell.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(bytes) = cell.cast::<PyBytes>() {
        return Ok(Value::Blob(bytes.as_bytes().to_vec()));
    }
    let text = cell.extract().map(Value::Text);
    let value =
        text.or_else(|_| cell.extract().map(Value::Integer)).or_else(|_| cell.extract().map(Value::Real));
    value.map_err(|_| PyTypeError::new_err(format!("SQLite has no such value: {cell:?}")))
}

/// Runs one read-only statement.
pub(crate) fn rows(py: Python<'_>, path: PathBuf, sql: String, parameters: Parameters) -> PyResult<Rows> {
    Rows::produce(py, move |producer| {
        let database = super::open(&path, producer.is_stopped())?;
        run(&database, &sql, &parameters, producer)
    })
}

fn run(
    database: &Database,
    sql: &str,
    parameters: &Parameters,
    producer: &mut Producer,
) -> Result<(), Failure> {
    let mut query = database.query(sql)?;
    let names: Vec<String> = query.columns().into_iter().map(str::to_owned).collect();
    let mut rows = match parameters {
        Parameters::None => query.rows([])?,
        Parameters::InOrder(values) => query.rows(rusqlite::params_from_iter(values))?,
        Parameters::Named(values) => {
            let values: Vec<(&str, &dyn ToSql)> =
                values.iter().map(|(name, value)| (name.as_str(), value as &dyn ToSql)).collect();
            query.rows(&*values)?
        }
    };
    let mut first: Vec<Vec<Value>> = Vec::new();
    let mut columns: Option<Columns> = None;
    loop {
        let cells = rows.next_row()?.map(|row| (0..names.len()).map(|column| row.get(column)).collect());
        let cells: Option<Vec<Value>> =
            cells.transpose().map_err(|error| Failure::Other(error.to_string()))?;
        if columns.is_none() && (cells.is_none() || first.len() == LOOKED_AT) {
            let kind = |column: usize| ColumnType::of(first.iter().map(|row| &row[column]));
            let kinds = names.iter().enumerate().map(|(column, name)| (name.as_str(), kind(column)));
            let made = columns.insert(Columns::new(kinds));
            producer.begin(made.schema())?;
            first.drain(..).try_for_each(|row| made.push(row))?;
        }
        match (cells, &mut columns) {
            (None, Some(columns)) => {
                return if columns.rows() > 0 { producer.send(columns.take()) } else { Ok(()) };
            }
            (Some(cells), Some(columns)) => {
                columns.push(cells)?;
                if columns.rows() == BATCH_ROWS {
                    producer.send(columns.take())?;
                }
            }
            (Some(cells), None) => first.push(cells),
            (None, None) => return Ok(()),
        }
    }
}
