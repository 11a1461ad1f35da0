//! Arguments of `pgndex watch`.

use clap::Args;
use std::path::PathBuf;

use crate::cli::args::index::DatabaseSettingsArgs;
use crate::cli::args::log::LogArgs;
use crate::cli::args::maintenance::WorkArgs;
use crate::cli::args::within;

/// Watch a directory and add the games of new files
#[derive(Args, Debug)]
#[command(after_long_help = "\
The command scans for the files that `pgndex index games.db incoming/` would read, and adds all files that are ready in one transaction. \
It ignores files whose names begin with a dot or end in .part, .tmp, .partial or .crdownload. Nothing is added twice after a restart. A \
file that cannot be read is reported once, and again when it has changed.

Ctrl-C or SIGTERM ends the command with status 0. Games that are being added at that moment are added at the next start. systemd is \
notified with READY=1, STATUS, STOPPING=1 and WATCHDOG=1 (Type=notify).

Examples:
  pgndex watch games.db incoming/
  pgndex watch games.db incoming/ --once --settle 60")]
pub(crate) struct WatchArgs {
    /// Database to create or to add to
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Directory to watch, with its subdirectories
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Seconds that a file must stay unchanged before it is read.
    ///
    /// Its size and its modification time are compared.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(0..=86_400_u64))]
    pub(crate) settle: u64,
    /// Seconds between two scans of the directory
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(1..=86_400_u64))]
    pub(crate) interval: u64,
    /// Add the files that are ready, and exit.
    ///
    /// The command waits once for files that have just changed, for up to a minute. The exit status is that of `index`.
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) made_with: DatabaseSettingsArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
