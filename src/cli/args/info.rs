//! Arguments of `pgndex info`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show what a database holds
#[derive(Args, Debug)]
#[command(after_long_help = "\
Games are counted by result, year, rating and opening. Openings are counted by name; if no game has one, by the PGN's ECO code. A game \
counts twice among the ratings, once for each player. JSON lists every source and every run.

Examples:
  pgndex info games.db --sizes
  pgndex info games.db --format json | jq .games")]
pub(crate) struct InfoArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Output format.
    ///
    /// json is one object.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: InfoFormat,
    /// List every source and run, not only the latest 20
    #[arg(long)]
    pub(crate) all: bool,
    /// Measure each table and index; this reads the whole file
    #[arg(long)]
    pub(crate) sizes: bool,
}

/// Formats for what a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    Table,
    Json,
}
