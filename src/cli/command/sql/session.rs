//! Statements and commands, run one after the other.

use std::io::{self, Write as _};
use std::time::Instant;

use anyhow::bail;
use pgndex::store::{Database, Error, Query, WriterLock};
use rusqlite::types::ValueRef;

use super::explain::explain;
use super::script::Piece;
use crate::cli::args::SqlFormat;
use crate::cli::render::number::counted;
use crate::cli::render::output::{RowWriter, Value, stdout};
use crate::cli::terminal::signal::Interrupts;

/// An open database and how its rows are to be shown.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) database: Database,
    /// Held as long as the database is open for writing; given up after it is closed.
    lock: Option<WriterLock>,
    pub(crate) format: SqlFormat,
    pub(crate) timer: bool,
    interrupts: Interrupts,
    /// The file that the statements come from.
    source: Option<String>,
    /// Whether a result has been printed that the next one must be told from.
    printed: bool,
}

/// How it goes on after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next piece; `ran` tells whether there was anything to run but comments.
    Continue { ran: bool },
    /// Not at all.
    Leave,
}

impl Session {
    pub(crate) const fn new(
        database: Database,
        lock: Option<WriterLock>,
        format: SqlFormat,
        interrupts: Interrupts,
    ) -> Self {
        Self { database, lock, format, timer: false, interrupts, source: None, printed: false }
    }

    /// Names the file that the statements come from, for messages.
    pub(crate) fn name_source(&mut self, name: Option<String>) {
        self.source = name;
    }

    /// What the statements come from, for messages.
    pub(crate) fn source(&self) -> &str {
        self.source.as_deref().unwrap_or("the query")
    }

    /// Runs a piece of a script.
    ///
    /// # Errors
    /// Of the first statement that fails, with the place in the script.
    pub(crate) fn run(&mut self, piece: &Piece) -> anyhow::Result<Flow> {
        match piece {
            Piece::Sql { text, line } => {
                let ran = self.statements(text, *line)?;
                Ok(Flow::Continue { ran })
            }
            Piece::Command { text, line } => self.command(text).map_err(|error| match &self.source {
                Some(source) => anyhow::anyhow!("{source}, line {line}: {error}"),
                None => error,
            }),
        }
    }

    /// Begins the answer to a command.
    pub(crate) fn separate(&mut self) -> io::Result<()> {
        separate(&mut self.printed, self.format)
    }

    fn statements(&mut self, text: &str, line: u64) -> anyhow::Result<bool> {
        let mut ran = false;
        let database = &self.database;
        let explained = |error: Error| explain(error, database, text, self.source.as_deref(), line);
        let mut statements = database.statements(text);
        while let Some(mut query) = statements.next_statement().map_err(explained)? {
            ran = true;
            if !query.columns().is_empty() {
                separate(&mut self.printed, self.format)?;
            }
            let began = Instant::now();
            let result = self.interrupts.during(|| self.statement(&mut query));
            if let Err(error) = result {
                return Err(match error.downcast::<Error>() {
                    Ok(error) => explained(error),
                    Err(error) => error,
                });
            }
            if self.timer {
                remark(&format!("{:.3} s", began.elapsed().as_secs_f64()));
            }
        }
        Ok(ran)
    }

    fn statement(&self, query: &mut Query<'_>) -> anyhow::Result<()> {
        let columns: Vec<_> = query.columns().into_iter().map(str::to_owned).collect();
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let changed = (!query.is_read_only()).then(|| self.database.total_changes());
        let mut found = query.rows([])?;
        // The first row, before anything is printed: most errors show here.
        let mut row = found.next_row()?;
        let mut rows = RowWriter::stdout(self.format, &columns)?.lines_if_too_wide();
        while let Some(values) = row {
            let values = (0..columns.len()).map(|column| values.get_ref(column).map(value));
            rows.row(&values.collect::<rusqlite::Result<Vec<_>>>()?)?;
            row = match found.next_row() {
                Ok(row) => row,
                Err(error) => {
                    // What was found so far is worth seeing.
                    rows.finish(|_| None)?;
                    return Err(error.into());
                }
            };
        }
        rows.finish(|rows| (!columns.is_empty()).then(|| counted(rows, "row")))?;
        if let Some(before) = changed {
            remark(&format!("{} changed", counted(self.database.total_changes() - before, "row")));
        }
        Ok(())
    }

    /// Begins a new input at the prompt, which tells its results from those before.
    pub(crate) const fn begin_input(&mut self) {
        self.printed = false;
    }

    /// Whether changes are allowed.
    pub(crate) const fn is_writing(&self) -> bool {
        self.lock.is_some()
    }

    /// Ends the session.
    ///
    /// # Errors
    /// If changes were left uncommitted.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        if self.is_writing() && self.database.is_in_transaction() {
            bail!("there was a BEGIN but no COMMIT; the changes since BEGIN were not kept");
        }
        Ok(())
    }
}

/// Puts a blank line between two results, for people.
fn separate(printed: &mut bool, format: SqlFormat) -> io::Result<()> {
    if std::mem::replace(printed, true) && format.is_for_people() {
        let mut out = stdout();
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes a line about a statement to standard error.
fn remark(text: &str) {
    // There is nowhere left to say that standard error cannot be written.
    let _ = writeln!(io::stderr().lock(), "{text}");
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
