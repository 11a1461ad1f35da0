//! Arguments of `pgndex remove`.

use crate::cli::args::filter::{FilterArgs, WHICH};
use crate::cli::args::log::ReportArgs;
use crate::cli::args::maintenance::WorkArgs;
use clap::Args;
use std::path::PathBuf;

/// Remove games from a database; all counts stay exact
#[derive(Args, Debug)]
#[command(after_long_help = "\
The removal is one transaction: after a crash, either all of it is done or nothing. Numbers of removed games are not used again. The file \
keeps its size or grows at first. Games that are added later use its free pages.

If a removed game has a duplicate that was skipped, the duplicate is added, provided that its file still begins with the same text. \
With --games, added games that match the filters are removed too, in a second transaction. With --sql they stay.

A file that was removed with --source can be indexed again. Games that were removed with --games or --sql are not added again when their \
file grows. The same game in another file is added when that file is indexed.

Examples:
  pgndex remove games.db --source old.pgn                     all games of a file
  pgndex remove games.db --games --speed bullet --dry-run     show what would be removed
  pgndex remove games.db --sql \"SELECT game_id FROM game WHERE ply_count < 10\"")]
pub(crate) struct RemoveArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Remove the games that the filters choose.
    ///
    /// Without this option, --source is the only filter allowed, and the records of its files are removed too.
    #[arg(help_heading = WHICH, long, requires = "FilterArgs")]
    pub(crate) games: bool,
    /// Remove the games with the numbers in the first column of this query
    #[arg(help_heading = WHICH, long, value_name = "QUERY", conflicts_with_all = ["FilterArgs", "games"])]
    pub(crate) sql: Option<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Rewrite the file afterwards without its free pages.
    ///
    /// This temporarily needs as much space again. Without filters the command does nothing else.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) shrink: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
