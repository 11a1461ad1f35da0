//! Arguments of `pgndex sql`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rusqlite::types::Value;

/// Run SQL, or open an SQL prompt
#[derive(Args, Debug)]
#[command(after_long_help = "\
Start with the views `games`, `moves` and `positions`. NULL is printed as nothing (null in json), and a BLOB \
as hexadecimal digits. For jq and JavaScript, which round large integers, use key_hex(key) instead of key.

Between statements, lines that begin with a dot are commands: .tables, .schema [TABLE], .mode FORMAT, \
.headers on|off, .parameter, .output [FILE], .timer on|off, .help, .quit. The run ends at the first error. \
With --write, each statement is committed immediately, except between BEGIN and COMMIT.

Examples:
  pgndex sql games.db .schema                          the tables and views, explained
  pgndex sql games.db --format csv \"SELECT * FROM games\" > games.csv
  pgndex sql games.db --param name=Carlsen \"SELECT * FROM games WHERE white LIKE :name || '%'\"")]
pub(crate) struct SqlArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// SQL statements; if none are given, a prompt opens.
    ///
    /// With '-', or if no statements are given and standard input is not a terminal, statements are read from standard input.
    #[arg(value_name = "QUERY", allow_hyphen_values = true, value_parser = query_text)]
    pub(crate) query: Option<String>,
    /// Read the statements from a file
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) file: Option<PathBuf>,
    /// Output format: table, box, csv, json, md or line.
    ///
    /// json (or jsonl) is one object per line.
    #[arg(short, long, value_enum, default_value = "table")]
    pub(crate) format: SqlFormat,
    /// A value for the parameter :NAME of the statements.
    ///
    /// Repeat the option for each parameter. Values that look like numbers are numbers. To pass one as text, add quotes
    /// inside the shell's quotes: "name='42'".
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub(crate) parameters: Vec<(String, Value)>,
    /// Allow changes, and block writes by other programs until the command ends
    #[arg(long)]
    pub(crate) write: bool,
    /// Keep the prompt's history in this file [default: not kept]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "file"])]
    pub(crate) history: Option<PathBuf>,
}

/// Parses `NAME=VALUE`.
fn parameter(text: &str) -> Result<(String, Value), &'static str> {
    let (name, value) = text.split_once('=').ok_or("give it as NAME=VALUE")?;
    let name = parameter_name(name).ok_or("a name consists of letters, digits and _")?;
    Ok((name.to_owned(), parameter_value(value)))
}

/// The name of a parameter without a leading `:`, `@`, `$` or `?`; `None` if the name is not valid.
pub(crate) fn parameter_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix([':', '@', '$', '?']).unwrap_or(text);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then_some(name)
}

/// Parses the value of a parameter. If the text is in quotes, the value is the text between the quotes. If it
/// looks like a number, the value is that number. Otherwise, the value is the whole text.
pub(crate) fn parameter_value(text: &str) -> Value {
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(text) = quoted('\'').or_else(|| quoted('"')) {
        return Value::Text(text.to_owned());
    }
    let real = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real);
    let number = text.parse().ok().map(Value::Integer).or_else(real);
    number.unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// Checks the text of a query. Fails if the text is a mistyped option, which SQLite would ignore as a
/// comment. A query that begins with a comment is accepted: unlike an option, it contains a space or a line
/// end.
pub(crate) fn query_text(text: &str) -> Result<String, &'static str> {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_option { Err("there is no such option") } else { Ok(text.to_owned()) }
}

/// Output formats of `pgndex sql`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    Table,
    Box,
    Csv,
    #[value(alias = "jsonl")]
    Json,
    Md,
    Line,
}

impl SqlFormat {
    /// Whether the format is for people rather than for programs.
    pub(crate) const fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Box | Self::Md | Self::Line)
    }
}
