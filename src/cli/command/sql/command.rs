//! Commands that begin with a dot.

use std::io::Write as _;
use std::path::Path;

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;
use pgndex::store::nearest;

use super::script::Piece;
use super::session::{Flow, Session, value};
use crate::cli::args::{SqlFormat, parameter_name, parameter_value};
use crate::cli::render::number::counted;
use crate::cli::render::output::Value;
use crate::cli::render::output_file::{Existing, OutputFile};
use crate::cli::render::text::printable;

/// The commands, each with its argument and its description.
pub(crate) const COMMANDS: [(&str, &str, &str); 9] = [
    (".tables", "", "the tables and views with their columns"),
    (".schema", "[TABLE]", "the SQL that made the tables, with comments"),
    (".mode", "FORMAT", "how rows are printed: table, box, csv, json, md or line"),
    (".headers", "on|off", "whether table and csv begin with the names of the columns"),
    (".parameter", "[WHAT]", "list; set NAME VALUE gives :NAME a value; unset NAME; clear"),
    (".output", "[FILE]", "write further answers to a new file; without FILE, to the screen again"),
    (".timer", "on|off", "whether the time a statement took is shown"),
    (".help", "", "this text"),
    (".quit", "", "leave the prompt; so does Ctrl-D"),
];

impl Session {
    /// Runs a piece of a script.
    ///
    /// # Errors
    /// The error of the command, or of the first statement that fails, with its place in the script.
    pub(crate) fn run(&mut self, piece: &Piece) -> anyhow::Result<Flow> {
        match piece {
            Piece::Sql { text, line } => {
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
            rows.row(&[relation.name.into(), relation.kind.as_str().into(), Value::from(columns)])?;
        }
        rows.finish(|_| None)
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
            // After a comment, the semicolon would be part of it.
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
        rows.finish(|rows| Some(counted(rows, "parameter")))
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
            "A statement ends with ';' and may be several lines long. Ctrl-C stops it. Tab completes names."
        )?;
        Ok(out.flush()?)
    }
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
