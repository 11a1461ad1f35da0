//! Runs statements and commands one after the other.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum as _;
use pgndex::store::{Database, Error, Query, WriterLock, nearest};
use rusqlite::params_from_iter;
use rusqlite::types::{Value as SqlValue, ValueRef};

use super::explain::{explain, warnings};
use super::script::{Piece, Script};
use crate::cli::args::{SqlArgs, SqlFormat, parameter_name, parameter_value};
use crate::cli::error::wrong_value;
use crate::cli::render::{
    Existing, OutputFile, RowWriter, Value, counted, printable, stdout, terminal_width,
};
use crate::cli::terminal::{Interrupts, note};

/// An open database with settings for output.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) database: Database,
    /// The values of parameters. The names lack the prefix, such as `:`.
    pub(crate) parameters: BTreeMap<String, SqlValue>,
    /// The parameters of the command line that no statement has used so far.
    unused: Vec<String>,
    /// Whether the names of the columns are written before the rows.
    pub(crate) has_headers: bool,
    /// The file for answers; `None` for standard output.
    pub(super) output: Option<OutputFile>,
    /// Held while the database is open for writing. The lock must be released after the database is closed.
    /// Fields are dropped in the order of declaration, so this field must be declared after `database`.
    lock: Option<WriterLock>,
    pub(crate) format: SqlFormat,
    pub(crate) timer: bool,
    interrupts: Interrupts,
    /// The name of the file with the statements, or of standard input. `None` for statements from the command
    /// line or the prompt.
    pub(super) source: Option<String>,
    /// Whether a result has been printed, so that the next one must be separated from it.
    pub(super) printed: bool,
}

/// How to continue after a [`Piece`] of a script, or after the whole script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Continue; `ran` is false if there was nothing to run.
    Continue { ran: bool },
    /// Quit.
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
            unused: args.parameters.iter().map(|(name, _)| name.clone()).collect(),
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

    /// The output for answers.
    ///
    /// # Errors
    /// If a file's handle cannot be duplicated.
    pub(super) fn out(&self) -> anyhow::Result<Box<dyn Write>> {
        Ok(match &self.output {
            Some(output) => Box::new(BufWriter::new(output.file().try_clone()?)),
            None => stdout(),
        })
    }

    /// Starts writing rows with these columns.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn rows(&self, columns: &[&str]) -> anyhow::Result<RowWriter<'static>> {
        let terminal = if self.output.is_none() { terminal_width() } else { None };
        let rows = RowWriter::new(self.out()?, self.format, columns, terminal)?.lines_if_too_wide();
        Ok(if self.has_headers { rows } else { rows.without_headers() })
    }

    /// Completes the file of answers.
    pub(super) fn end_output(&mut self) -> anyhow::Result<()> {
        self.output.take().map(OutputFile::finish).transpose()?;
        Ok(())
    }

    /// Separates the answer to a command from an earlier result.
    pub(crate) fn separate(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.printed, true) { self.separator() } else { Ok(()) }
    }

    /// Writes a blank line between two results, if the format is for people.
    fn separator(&self) -> anyhow::Result<()> {
        if self.format.is_for_people() {
            let mut out = self.out()?;
            writeln!(out)?;
            out.flush()?;
        }
        Ok(())
    }

    pub(super) fn statements(&mut self, text: &str, line: u64) -> anyhow::Result<bool> {
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
            result.map_err(|error| error.downcast().map_or_else(|error| error, explained))?;
            if self.timer {
                remark(&format!("{:.3} s", began.elapsed().as_secs_f64()));
            }
        }
        self.printed = printed;
        Ok(ran)
    }

    /// Runs a statement, and prints its rows and how much it changed: rows, the schema or both. If `is_next` is
    /// true, separates the rows from those of an earlier statement.
    fn statement(&self, query: &mut Query<'_>, is_next: bool) -> anyhow::Result<()> {
        let columns: Vec<_> = query.columns().into_iter().map(str::to_owned).collect();
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let changes = || (self.database.total_changes(), self.schema_changes());
        let changed = (!query.is_read_only()).then(changes);
        let parameters = self.values_of(&query.parameters())?;
        let mut found = query.rows(params_from_iter(parameters))?;
        // The first row is read before anything is printed: most errors occur here.
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
                    // The rows found so far are printed.
                    rows.finish(None)?;
                    return Err(error.into());
                }
            };
        }
        let count = counted(rows.count(), "row");
        rows.finish(Some(count).filter(|_| !columns.is_empty()))?;
        if let Some((rows_before, schema_before)) = changed {
            let (rows, schema) = changes();
            match (rows - rows_before, schema != schema_before) {
                (0, true) => remark("schema changed"),
                (rows, true) => remark(&format!("schema and {} changed", counted(rows, "row"))),
                (rows, false) => remark(&format!("{} changed", counted(rows, "row"))),
            }
        }
        Ok(())
    }

    /// SQLite's counter of schema changes; `None` if it cannot be read.
    fn schema_changes(&self) -> Option<i64> {
        self.database.connection().pragma_query_value(None, "schema_version", |row| row.get(0)).ok()
    }

    /// The values of a statement's parameters.
    fn values_of(&self, parameters: &[&str]) -> anyhow::Result<Vec<SqlValue>> {
        let value = |parameter: &&str| {
            let Some(name) = parameter_name(parameter) else {
                bail!("a parameter without a name: write :name instead of ?, and give --param name=VALUE")
            };
            self.parameters.get(name).cloned().ok_or_else(|| {
                anyhow!("no value for {parameter}; give --param {name}=VALUE, or use the command `.parameter set {name} VALUE`")
            })
        };
        parameters.iter().map(value).collect()
    }

    /// Removes the parameters in a text from the unused ones.
    pub(super) fn mark_used(&mut self, text: &str) {
        let is_whole = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        self.unused.retain(|name| {
            !text.match_indices(name.as_str()).any(|(at, _)| {
                text[..at].ends_with([':', '@', '$', '?']) && is_whole(&text[at + name.len()..])
            })
        });
    }

    /// Fails if a parameter of the command line is unused.
    pub(super) fn check_unused(&self) -> anyhow::Result<()> {
        let Some(name) = self.unused.first() else { return Ok(()) };
        let sign = if name.starts_with(|first: char| first.is_ascii_digit()) { '?' } else { ':' };
        let place = self.source.as_ref().map_or_else(String::new, |source| format!(" of {source}"));
        Err(wrong_value(format!(
            "--param {name}: no statement{place} has the parameter {sign}{name}; leave the option out, or check the name"
        )))
    }

    /// Whether changes are allowed.
    pub(crate) const fn is_writing(&self) -> bool {
        self.lock.is_some()
    }

    /// Ends the session.
    ///
    /// # Errors
    /// If changes are uncommitted, or the file of answers cannot be completed.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.end_output()?;
        if self.is_writing() && self.database.is_in_transaction() {
            bail!("there was a BEGIN but no COMMIT; the changes since BEGIN were not kept");
        }
        Ok(())
    }
}

/// Writes a remark on a statement to standard error.
fn remark(text: &str) {
    // If standard error cannot be written, this cannot be reported anywhere.
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

/// The commands, each with its argument and its description.
pub(crate) const COMMANDS: [(&str, &str, &str); 9] = [
    (".tables", "", "the tables and views with their columns"),
    (".schema", "[TABLE]", "the SQL that created the tables, with comments"),
    (".mode", "FORMAT", "how rows are printed: table, box, csv, json, md or line"),
    (".headers", "on|off", "whether table and csv begin with the names of the columns"),
    (".parameter", "[WHAT]", "list; set NAME VALUE gives :NAME a value; unset NAME; clear"),
    (".output", "[FILE]", "write further answers to a new file; without FILE, to the screen again"),
    (".timer", "on|off", "whether the time a statement took is shown"),
    (".help", "", "this text"),
    (".quit", "", "leave the prompt; so does Ctrl-D"),
];

impl Session {
    /// Runs a script to its end, to `.quit`, or to the first error.
    ///
    /// # Errors
    /// If the script cannot be read. Also the error of a command or statement, with its place in the script.
    pub(super) fn run(&mut self, script: &mut dyn BufRead) -> anyhow::Result<Flow> {
        let mut script = Script::new(script);
        let mut has_run = false;
        while let Some(piece) =
            script.next_piece().with_context(|| unreadable(self.source.as_deref().unwrap_or("the query")))?
        {
            match self.run_piece(&piece)? {
                Flow::Leave => return Ok(Flow::Leave),
                Flow::Continue { ran } => has_run |= ran,
            }
        }
        Ok(Flow::Continue { ran: has_run })
    }

    fn run_piece(&mut self, piece: &Piece) -> anyhow::Result<Flow> {
        match piece {
            Piece::Sql { text, line } => {
                self.mark_used(text);
                let ran = self.statements(text, *line)?;
                Ok(Flow::Continue { ran })
            }
            Piece::Command { text, line } => self.command(text).map_err(|error| match &self.source {
                Some(source) => anyhow!("{source}:{line}: {error}"),
                None => error,
            }),
        }
    }

    /// Runs a command.
    fn command(&mut self, text: &str) -> anyhow::Result<Flow> {
        let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = argument.trim();
        match (name, argument) {
            (".tables", "") => self.tables()?,
            (".schema", table) => self.schema(table)?,
            (".mode", format) => {
                self.format = SqlFormat::from_str(format, true).map_err(|_| {
                    anyhow!("no such format: {format:?}; .mode takes {}", formats().join(", "))
                })?;
            }
            (".headers", "on") => self.has_headers = true,
            (".headers", "off") => self.has_headers = false,
            (".headers", _) => bail!(".headers takes on or off"),
            (".parameter", what) => self.parameter(what)?,
            (".output", file) => self.set_output(file)?,
            (".timer", "on") => self.timer = true,
            (".timer", "off") => self.timer = false,
            (".timer", _) => bail!(".timer takes on or off"),
            (".help", "") => self.help()?,
            (".quit" | ".exit", "") => return Ok(Flow::Leave),
            _ => return Err(unknown(name)),
        }
        Ok(Flow::Continue { ran: true })
    }

    fn tables(&mut self) -> anyhow::Result<()> {
        self.separate()?;
        let mut rows = self.rows(&["name", "kind", "columns"])?;
        for relation in self.database.catalog()?.relations {
            let columns = relation.columns.join(", ");
            rows.row(&[relation.name.into(), relation.kind.as_str().into(), columns.into()])?;
        }
        rows.finish(None)
    }

    fn schema(&mut self, table: &str) -> anyhow::Result<()> {
        let table = table.trim_matches(['"', '\'']);
        let mut statement = self.database.connection().prepare(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 = '' OR tbl_name = ?1 COLLATE NOCASE)",
        )?;
        let found =
            statement.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
        if found.is_empty() {
            let catalog = self.database.catalog()?;
            let near = nearest(table, catalog.relations.iter().map(|relation| relation.name.as_str()));
            let hint = near.map_or_else(
                || ".tables lists the tables".to_owned(),
                |near| format!("did you mean \"{near}\"?"),
            );
            bail!("no such table: {table}; {hint}");
        }
        drop(statement);
        self.separate()?;
        let mut out = self.out()?;
        for sql in found {
            let sql = sql.lines().map(printable).collect::<Vec<_>>().join("\n");
            // On the same line as a comment, the semicolon would be a part of the comment.
            let is_comment = sql.lines().last().is_some_and(|line| line.contains("--"));
            writeln!(out, "{sql}{};\n", if is_comment { "\n" } else { "" })?;
        }
        Ok(out.flush()?)
    }

    /// Shows or changes the values of parameters.
    fn parameter(&mut self, what: &str) -> anyhow::Result<()> {
        let (verb, rest) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
        let (name, value) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        match (verb, parameter_name(name), value.trim()) {
            ("" | "list", None, "") => return self.list_parameters(),
            ("clear", None, "") => self.parameters.clear(),
            ("set", Some(name), value) if !value.is_empty() => {
                self.parameters.insert(name.to_owned(), parameter_value(value));
            }
            ("unset", Some(name), "") => {
                if self.parameters.remove(name).is_none() {
                    bail!("no parameter {name}; .parameter list shows all parameters");
                }
            }
            _ => bail!(".parameter takes: list; set NAME VALUE; unset NAME; clear"),
        }
        Ok(())
    }

    fn list_parameters(&mut self) -> anyhow::Result<()> {
        self.separate()?;
        let mut rows = self.rows(&["name", "value"])?;
        for (name, parameter) in &self.parameters {
            rows.row(&[name.as_str().into(), value(parameter.into())])?;
        }
        let count = counted(rows.count(), "parameter");
        rows.finish(Some(count))
    }

    /// Redirects answers to a file, or back to standard output.
    fn set_output(&mut self, file: &str) -> anyhow::Result<()> {
        self.end_output()?;
        let file = file.trim_matches(['"', '\'']);
        if !matches!(file, "" | "-" | "stdout") {
            let database = Some(self.database.path());
            let output =
                OutputFile::create(Path::new(file), Existing::NeverReplaced, database, "name a file")?;
            self.output = Some(output);
        }
        Ok(())
    }

    fn help(&self) -> anyhow::Result<()> {
        let mut out = self.out()?;
        for (name, argument, text) in COMMANDS {
            writeln!(out, "{:18}  {text}", format!("{name} {argument}"))?;
        }
        writeln!(
            out,
            "A statement ends with ';' and can be several lines long. Ctrl-C stops it. Tab completes names."
        )?;
        Ok(out.flush()?)
    }
}

/// A message that the statements in `name` cannot be read.
pub(super) fn unreadable(name: &str) -> String {
    format!("{name}: cannot read the statements")
}

/// The names of the formats.
pub(crate) fn formats() -> Vec<String> {
    let names = SqlFormat::value_variants().iter().filter_map(SqlFormat::to_possible_value);
    names.map(|name| name.get_name().to_owned()).collect()
}

fn unknown(name: &str) -> anyhow::Error {
    match nearest(name, COMMANDS.iter().map(|(name, ..)| *name)) {
        Some(near) if near == name => anyhow!("{name} takes no argument"),
        Some(near) => anyhow!("no such command: {name}; did you mean \"{near}\"?"),
        None => anyhow!("no such command: {name}; .help lists the commands"),
    }
}
