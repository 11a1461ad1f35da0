//! Statements and commands, run one after the other.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

use anyhow::{anyhow, bail};
use pgndex::store::{Database, Error, Query, WriterLock};
use rusqlite::params_from_iter;
use rusqlite::types::{Value as SqlValue, ValueRef};

use super::explain::{explain, warnings};
use super::script::Piece;
use crate::cli::args::{SqlArgs, SqlFormat, parameter_name};
use crate::cli::note;
use crate::cli::render::number::counted;
use crate::cli::render::output::{RowWriter, Value, stdout, terminal_width};
use crate::cli::render::output_file::OutputFile;
use crate::cli::terminal::signal::Interrupts;

/// An open database and how its rows are to be shown.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) database: Database,
    /// Values of parameters, by their names without a sign.
    pub(crate) parameters: BTreeMap<String, SqlValue>,
    /// Whether rows begin with the names of the columns.
    pub(crate) has_headers: bool,
    /// The file that answers go to instead of standard output.
    pub(super) output: Option<OutputFile>,
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
    pub(crate) fn new(
        args: &SqlArgs,
        database: Database,
        lock: Option<WriterLock>,
        interrupts: Interrupts,
    ) -> Self {
        Self {
            database,
            parameters: args.parameters.iter().cloned().collect(),
            has_headers: true,
            output: None,
            lock,
            format: args.format,
            timer: false,
            interrupts,
            source: None,
            printed: false,
        }
    }

    /// Where answers go.
    ///
    /// # Errors
    /// If a file's handle cannot be doubled.
    pub(super) fn out(&self) -> anyhow::Result<Box<dyn Write>> {
        Ok(match &self.output {
            Some(output) => Box::new(BufWriter::new(output.file().try_clone()?)),
            None => stdout(),
        })
    }

    /// Begins to write rows with these columns.
    ///
    /// # Errors
    /// Of writing.
    pub(super) fn rows(&self, columns: &[&str]) -> anyhow::Result<RowWriter<Box<dyn Write>>> {
        let terminal = if self.output.is_none() { terminal_width() } else { None };
        let rows = RowWriter::new(self.out()?, self.format, columns, terminal)?.lines_if_too_wide();
        Ok(if self.has_headers { rows } else { rows.without_headers() })
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
                Some(source) => anyhow::anyhow!("{source}:{line}: {error}"),
                None => error,
            }),
        }
    }

    /// Begins the answer to a command.
    pub(crate) fn separate(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.printed, true) { self.separator() } else { Ok(()) }
    }

    /// Puts a blank line between two results, for people.
    fn separator(&self) -> anyhow::Result<()> {
        if self.format.is_for_people() {
            let mut out = self.out()?;
            writeln!(out)?;
            out.flush()?;
        }
        Ok(())
    }

    fn statements(&mut self, text: &str, line: u64) -> anyhow::Result<bool> {
        let mut ran = false;
        let mut printed = self.printed;
        let database = &self.database;
        for warning in warnings(database, text) {
            note(warning);
        }
        let explained = |error: Error| explain(error, database, text, self.source.as_deref(), line);
        let mut statements = database.statements(text);
        while let Some(mut query) = statements.next_statement().map_err(explained)? {
            ran = true;
            let has_rows = !query.columns().is_empty();
            let is_next = has_rows && std::mem::replace(&mut printed, true);
            let began = Instant::now();
            let result = self.interrupts.during(|| self.statement(&mut query, is_next));
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
        self.printed = printed;
        Ok(ran)
    }

    /// Runs a statement; `is_next` tells whether its rows are to be told from others before.
    fn statement(&self, query: &mut Query<'_>, is_next: bool) -> anyhow::Result<()> {
        let columns: Vec<_> = query.columns().into_iter().map(str::to_owned).collect();
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let changed = (!query.is_read_only()).then(|| self.database.total_changes());
        let parameters = self.values_of(&query.parameters())?;
        let mut found = query.rows(params_from_iter(parameters))?;
        // The first row, before anything is printed: most errors show here.
        let mut row = found.next_row()?;
        if is_next {
            self.separator()?;
        }
        let mut rows = self.rows(&columns)?;
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

    /// The values of a statement's parameters.
    fn values_of(&self, parameters: &[&str]) -> anyhow::Result<Vec<SqlValue>> {
        let value = |parameter: &&str| {
            let Some(name) = parameter_name(parameter) else {
                bail!("a parameter without a name: write :name instead of ?, and give --param name=VALUE")
            };
            self.parameters.get(name).cloned().ok_or_else(|| {
                anyhow!("no value for {parameter}; give --param {name}=VALUE, or .parameter set {name} VALUE")
            })
        };
        parameters.iter().map(value).collect()
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
    /// If changes were left uncommitted; if the file that answers went to cannot be put into its place.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.end_output()?;
        if self.is_writing() && self.database.is_in_transaction() {
            bail!("there was a BEGIN but no COMMIT; the changes since BEGIN were not kept");
        }
        Ok(())
    }
}

/// Writes a line about a statement to standard error.
fn remark(text: &str) {
    // There is nowhere left to say that standard error cannot be written.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

pub(super) fn value(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Value::Blob(bytes),
    }
}
