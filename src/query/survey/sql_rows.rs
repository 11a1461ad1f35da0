//! The rows of a user's query, as data.

use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::Value;

use crate::store::{self, Database};

/// The greatest integer up to which all programs read integers exactly: 2^53.
const EXACT: u64 = 1 << 53;

/// The limits of an answer.
#[derive(Clone, Copy, Debug)]
pub struct SqlLimits {
    /// The maximum number of rows.
    pub rows: usize,
    /// The approximate maximum size of the rows, in bytes: each value counts 8, and each text its length in
    /// addition.
    pub bytes: usize,
}

/// The rows that a query returned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SqlRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each an array with a value for each column: `null`, a number or a string. Integers beyond
    /// 2^53 and infinities are strings, because JSON or some programs cannot represent them. A blob is a
    /// string with its bytes in hexadecimal: `x'00ff'`.
    pub rows: Vec<Vec<Value>>,
    /// Whether the query has more rows than were returned.
    pub truncated: bool,
}

impl SqlRows {
    /// Runs one read-only statement.
    ///
    /// # Errors
    /// Those of [`Database::query`]; errors of SQLite.
    pub fn query(database: &Database, sql: &str, limits: SqlLimits) -> store::Result<Self> {
        let failed = |source| store::Error::sqlite(database.path(), "read a row", source);
        let mut query = database.query(sql)?;
        let columns = Vec::from_iter(query.columns().into_iter().map(str::to_owned));
        let mut answer = Self { columns, rows: Vec::new(), truncated: false };
        let mut bytes = 0;
        let mut rows = query.rows([])?;
        while let Some(row) = rows.next_row()? {
            if answer.rows.len() == limits.rows || bytes > limits.bytes {
                answer.truncated = true;
                break;
            }
            let mut cells = Vec::with_capacity(answer.columns.len());
            for column in 0..answer.columns.len() {
                let cell = value(row.get_ref(column).map_err(failed)?);
                bytes += 8 + cell.as_str().map_or(0, str::len);
                cells.push(cell);
            }
            answer.rows.push(cells);
        }
        Ok(answer)
    }
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) if number.unsigned_abs() > EXACT => number.to_string().into(),
        ValueRef::Integer(number) => number.into(),
        // JSON has no infinity.
        ValueRef::Real(number) => {
            serde_json::Number::from_f64(number).map_or_else(|| format!("{number:?}").into(), Value::Number)
        }
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}'").into()
        }
    }
}
