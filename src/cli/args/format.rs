//! Formats of rows.

use clap::ValueEnum;

/// Formats for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Csv,
}
