//! Arguments of `pgndex repair`.

use crate::cli::args::Memory;
use crate::cli::args::within;
use clap::Args;
use std::path::PathBuf;

/// Make the tables fit each other after somebody changed rows by other means
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex verify games.db     what does not fit
  pgndex repair games.db

What follows from games and their positions is made anew: which games have a position, the counts for `explore`, totals. Rows of \
games, sources and names that are not there are removed, and so are names that no game has. A file of which no game is left is \
forgotten and can be indexed anew. Games, their moves and what is said about them stay as they are.

It works on a copy, which takes the database's place at the end: as much space again is needed while it lasts, and after a crash the \
database is as it was. A file that the disk damaged cannot be repaired: index its games anew.")]
pub(crate) struct RepairArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Threads, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(crate) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G [default: a quarter of the machine's, at most 4G]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Memory>,
    /// Directory for temporary files other than the copy [default: the database's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    /// Show no progress and no summary; errors and notes are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write one JSON object to standard output at the end, instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
}
