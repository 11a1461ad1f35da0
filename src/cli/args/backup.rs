//! Arguments of `pgndex backup`.

use clap::Args;
use std::path::PathBuf;

use crate::cli::args::log::LogArgs;

/// Copy a database, while others go on reading and writing it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex backup games.db /backup/games.db
  pgndex backup games.db /backup/games.db --overwrite && pgndex verify /backup/games.db

The copy is a snapshot. It is written under another name beside TO, synced to disk, and renamed in one step. If games are added \
meanwhile, copying starts again, at most twice; after that, writers wait. Ctrl-C leaves nothing behind.")]
pub(crate) struct BackupArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The copy: a file
    #[arg(value_name = "TO")]
    pub(crate) target: PathBuf,
    /// Replace the copy if it exists
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Show no progress and no summary; errors are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write one JSON object to standard output at the end, instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
