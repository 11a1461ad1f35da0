//! Arguments of `pgndex backup`.

use clap::Args;
use std::path::PathBuf;

use crate::cli::args::log::ReportArgs;

/// Copy a database, while others continue to read and write it
#[derive(Args, Debug)]
#[command(after_long_help = "\
The copy is a snapshot. It is written under another name beside TO, synced to disk, and renamed in one step. If games are added \
meanwhile, copying starts again, at most twice; after that, writers wait. Ctrl-C leaves nothing behind.

Examples:
  pgndex backup games.db /backup/games.db
  pgndex backup games.db /backup/games.db --overwrite && pgndex verify /backup/games.db")]
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
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
