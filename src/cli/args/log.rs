//! The log of commands that may take long.

use clap::{Args, ValueEnum};

/// Heading of the options for messages.
const MESSAGES: &str = "Messages";

/// What a command reports while it works.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// Show no progress and no summary.
    ///
    /// Errors are still shown, and so are the result of `verify` and what `repair` could not restore.
    #[arg(help_heading = MESSAGES, long, short)]
    pub(crate) quiet: bool,
    /// Format of notes, errors and progress on standard error.
    ///
    /// json is one object per line.
    #[arg(help_heading = MESSAGES, hide_short_help = true, long, value_name = "FORMAT", value_enum)]
    #[arg(default_value = "text")]
    pub(super) log_format: LogFormat,
}

/// What a command reports while it works, and when it is done.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object at the end, instead of the summary
    #[arg(help_heading = MESSAGES, long)]
    pub(crate) json: bool,
}

/// Formats of the log on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}
