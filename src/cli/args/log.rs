//! The log of commands that may take long.

use clap::{Args, ValueEnum};

use crate::cli::args::Command;

/// Heading of the options for messages.
const MESSAGES: &str = "Messages";

/// What a command reports while it works.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// Show no progress and no summary.
    ///
    /// Errors are still shown, and so are the findings of `verify` and what `repair` could not restore.
    #[arg(help_heading = MESSAGES, long, short)]
    pub(crate) quiet: bool,
    /// Format of notes, errors and progress on standard error.
    ///
    /// json is one object per line.
    #[arg(help_heading = MESSAGES, hide_short_help = true, long, value_name = "FORMAT", value_enum)]
    #[arg(default_value = "text")]
    log_format: LogFormat,
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

impl Command {
    /// The format of the command's log.
    pub(crate) fn log_format(&self) -> LogFormat {
        let log = match self {
            Self::Index(args) => args.report.log,
            Self::Watch(args) => args.log,
            Self::Backup(args) => args.report.log,
            Self::Remove(args) => args.report.log,
            Self::Optimize(args) => args.report.log,
            Self::Verify(args) => args.report.log,
            Self::Repair(args) => args.report.log,
            _ => return LogFormat::Text,
        };
        log.log_format
    }
}
