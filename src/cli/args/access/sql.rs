//! Arguments of `pgndex sql`.

use crate::cli::args::RowFormat;
use clap::Args;
use clap::ValueEnum;
use std::path::PathBuf;

/// Run SQL, or show a prompt for it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex sql games.db                                  a prompt, with history and completion
  pgndex sql games.db \"SELECT * FROM moves WHERE game_id = 42\"
  pgndex sql games.db .schema                          the tables and views, explained
  pgndex sql games.db --format csv \"SELECT * FROM games\" > games.csv
  pgndex sql games.db --file report.sql --format md    several statements, one after the other
  pgndex sql games.db --write \"DELETE FROM tag WHERE name = 'Annotator'\"

Start with the views `games`, `moves` and `positions`. Rows are printed as they are found. NULL is printed as nothing \
(null in json), and a BLOB as hexadecimal digits. `jq -s` makes an array of JSON's lines. Keys are 64-bit \
numbers, which jq and JavaScript round: ask for key_hex(key) there.

Between statements, lines that begin with a dot are commands: .tables, .schema [TABLE], .mode FORMAT, .timer on|off, \
.help, .quit. The run ends at the first error. With --write each statement is committed at once, except between BEGIN \
and COMMIT.")]
pub(crate) struct SqlArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The statements. Without them a prompt opens on a terminal; otherwise, or with '-', they are read from standard input
    #[arg(value_name = "QUERY", allow_hyphen_values = true, value_parser = query_text)]
    pub(crate) query: Option<String>,
    /// Read the statements from a file
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) file: Option<PathBuf>,
    /// How to print the rows; json, also called jsonl, is one object a line
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: SqlFormat,
    /// Allow changes; nobody else can write the database meanwhile
    #[arg(long)]
    pub(crate) write: bool,
    /// Keep the prompt's history in this file [default: not kept]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "file"])]
    pub(crate) history: Option<PathBuf>,
}

/// A query may begin with a comment, which looks like an option; a mistyped option must not be taken for a comment.
pub(crate) fn query_text(text: &str) -> Result<String, &'static str> {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_option { Err("there is no such option") } else { Ok(text.to_owned()) }
}

/// Formats for the rows of SQL.
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
    /// Whether it is read by people rather than programs.
    pub(crate) const fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Box | Self::Md | Self::Line)
    }
}

impl From<RowFormat> for SqlFormat {
    fn from(format: RowFormat) -> Self {
        match format {
            RowFormat::Table => Self::Table,
            RowFormat::Json => Self::Json,
            RowFormat::Csv => Self::Csv,
        }
    }
}
