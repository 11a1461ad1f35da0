//! The log of commands that may take long.

use clap::{Args, ValueEnum};

use crate::cli::args::Command;

/// How a command writes its log.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// Format of notes, errors and progress on standard error; json is one object per line
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    log_format: LogFormat,
}

/// Forms of what goes to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl Command {
    /// The form of the command's log.
    pub(crate) fn log_format(&self) -> LogFormat {
        let log = match self {
            Self::Index(args) => args.log,
            Self::Watch(args) => args.log,
            Self::Backup(args) => args.log,
            Self::Remove(args) => args.log,
            Self::Optimize(args) => args.log,
            Self::Verify(args) => args.log,
            Self::Repair(args) => args.log,
            _ => return LogFormat::Text,
        };
        log.log_format
    }
}
