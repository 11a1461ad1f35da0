//! `pgndex sql`: one read-only query.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, bail};
use pgndex::store::Database;
use rusqlite::types::ValueRef;

use super::args::SqlArgs;
use super::number::counted;
use super::output::{RowWriter, Value};

/// Runs a query and prints its rows as they are found.
///
/// # Errors
/// When the query is no valid SQL, would change something, or fails.
pub(super) fn run(args: &SqlArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let sql = query_text(args)?;
    let mut query = database.query(&sql)?;
    let columns: Vec<_> = query.columns().into_iter().map(str::to_owned).collect();
    let columns: Vec<_> = columns.iter().map(String::as_str).collect();
    let mut found = query.rows([])?;
    // The first row, before anything is printed: most errors show here.
    let mut row = found.next_row()?;
    let mut rows = RowWriter::stdout(args.format, &columns)?;
    while let Some(values) = row {
        let values = (0..columns.len()).map(|column| values.get_ref(column).map(value));
        rows.row(&values.collect::<rusqlite::Result<Vec<_>>>()?)?;
        row = found.next_row()?;
    }
    rows.finish(|rows| (!columns.is_empty()).then(|| counted(rows, "row")))
}

fn query_text(args: &SqlArgs) -> anyhow::Result<String> {
    match args.query.as_deref() {
        Some(query) if query != "-" => Ok(query.to_owned()),
        None if io::stdin().is_terminal() => {
            bail!("no query; give one, such as pgndex sql games.db \"SELECT * FROM games LIMIT 10\"")
        }
        _ => io::read_to_string(io::stdin()).context("cannot read the query from standard input"),
    }
}

fn value(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Value::Blob(bytes),
    }
}
