//! Commands that begin with a dot.

use std::io::Write as _;

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;

use super::explain::nearest;
use super::session::{Flow, Session};
use crate::cli::args::SqlFormat;
use crate::cli::render::output::{RowWriter, Value, stdout};
use crate::cli::render::text::printable;

/// A command, its argument, and what it does.
pub(crate) const COMMANDS: [(&str, &str, &str); 6] = [
    (".tables", "", "the tables and views with their columns"),
    (".schema", "[TABLE]", "the SQL that made them, with comments"),
    (".mode", "FORMAT", "how rows are printed: table, box, csv, json, md or line"),
    (".timer", "on|off", "whether the time a statement took is shown"),
    (".help", "", "this text"),
    (".quit", "", "leave; so does Ctrl-D"),
];

impl Session {
    /// Runs a command.
    ///
    /// # Errors
    /// When there is no such command or it cannot be done.
    pub(crate) fn command(&mut self, text: &str) -> anyhow::Result<Flow> {
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
            (".timer", "on") => self.timer = true,
            (".timer", "off") => self.timer = false,
            (".timer", _) => bail!(".timer takes on or off"),
            (".help", "") => help()?,
            (".quit" | ".exit", "") => return Ok(Flow::Leave),
            _ => return Err(unknown(name)),
        }
        Ok(Flow::Continue { ran: true })
    }

    fn tables(&mut self) -> anyhow::Result<()> {
        self.separate()?;
        let mut rows = RowWriter::stdout(self.format, &["name", "kind", "columns"])?.lines_if_too_wide();
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
                || ".tables shows what there is".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            bail!("no such table: {table}; {hint}");
        }
        drop(statement);
        self.separate()?;
        let mut out = stdout();
        for sql in found {
            let sql = sql.lines().map(printable).collect::<Vec<_>>().join("\n");
            // Behind a comment the semicolon would be part of it.
            let is_comment = sql.lines().last().is_some_and(|line| line.contains("--"));
            writeln!(out, "{sql}{};\n", if is_comment { "\n" } else { "" })?;
        }
        Ok(out.flush()?)
    }
}

/// The names of the formats.
pub(crate) fn formats() -> Vec<String> {
    let names = SqlFormat::value_variants().iter().filter_map(SqlFormat::to_possible_value);
    names.map(|name| name.get_name().to_owned()).collect()
}

fn help() -> anyhow::Result<()> {
    let mut out = stdout();
    for (name, argument, text) in COMMANDS {
        writeln!(out, "{:16}  {text}", format!("{name} {argument}"))?;
    }
    writeln!(
        out,
        "A statement ends with ';' and may be several lines long. Ctrl-C stops it. Tab completes names."
    )?;
    Ok(out.flush()?)
}

fn unknown(name: &str) -> anyhow::Error {
    match nearest(name, COMMANDS.iter().map(|(name, ..)| *name)) {
        Some(near) if near == name => anyhow!("{name} takes no argument"),
        Some(near) => anyhow!("no such command: {name}; did you mean {near}?"),
        None => anyhow!("no such command: {name}; .help lists them"),
    }
}
