//! Arguments of `pgndex remove`.

use crate::cli::args::filter::{FilterArgs, WHICH};
use crate::cli::args::index::WriterArg;
use crate::cli::args::log::LogArgs;
use crate::cli::args::upkeep::WorkArgs;
use clap::Args;
use std::path::PathBuf;

/// Take games out of a database; all counts stay exact
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex remove games.db --source old.pgn                 all games of a file
  pgndex remove games.db --games --speed bullet --dry-run what would go
  pgndex remove games.db --games --until 1899
  pgndex remove games.db --sql \"SELECT game_id FROM game WHERE ply_count < 10\"
  pgndex remove games.db --shrink                         only make the file smaller

It is done in one transaction: after a crash the database is as before, or all is done. Numbers of games that went are not given to \
others. Free pages of the file are used when games are added; --shrink gives them back to the system. The file may grow at first.

Duplicates: a game that repeats another one was skipped. If the other one goes, it comes in, as long as its file still begins with the \
same text. With --games, what comes in and fits goes too, in a second transaction. With --sql it stays.

A file that was removed with --source can be indexed anew. Single games that were removed stay out when their file grows, but the same \
game in another file comes in when that is indexed.")]
pub(crate) struct RemoveArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The games that the following options choose. Without it, only --source can be given, and all that is noted of its files goes
    /// too
    #[arg(help_heading = WHICH, long, requires = "FilterArgs")]
    pub(crate) games: bool,
    /// The games whose numbers are in the first column of this query
    #[arg(help_heading = WHICH, long, value_name = "QUERY", conflicts_with_all = ["FilterArgs", "games"])]
    pub(crate) sql: Option<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the file anew afterwards, without its free pages. This takes as much space again while it lasts
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) shrink: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// How the two big tables are written; the rows are the same
    #[arg(long, value_name = "WRITER", hide = true, value_enum, default_value = "direct")]
    pub(crate) writer: WriterArg,
    /// Show no progress and no summary; errors are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write one JSON object to standard output at the end, instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
