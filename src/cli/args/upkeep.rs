//! Arguments of `pgndex optimize` and `pgndex repair`, and those that all commands share which write much of a database.

use std::path::PathBuf;

use clap::Args;
use pgndex::index::IndexOptions;

use crate::cli::args::Memory;
use crate::cli::args::index::WriterArg;
use crate::cli::args::log::LogArgs;
use crate::cli::args::within;

/// What the work may take.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkArgs {
    /// Threads, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(crate) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G [default: a quarter of the machine's, at most 4G]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Memory>,
    /// Directory for temporary files [default: the database's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
}

impl WorkArgs {
    /// Options that say this, and nothing else.
    pub(crate) fn options(&self) -> IndexOptions {
        let default = IndexOptions::default();
        IndexOptions {
            threads: self.threads.map_or(default.threads, usize::from),
            memory: self.memory.map_or(default.memory, |Memory(size)| size.0),
            temp_dir: self.temp_dir.clone(),
            ..default
        }
    }
}

/// Merge what many additions left side by side, as if all games had come at once
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex optimize games.db     after a month of nightly additions, say

Games that are added are written beside those that are there, so that an addition takes no longer in a large database. The parts are \
merged now and then anyway, and answers are the same before and after: a look-up is a little quicker afterwards.

It is done in one transaction: after a crash the database is as before, or all is done. If more than a tenth of the file is free \
then, the file is written anew without its free pages. This takes as much space again while it lasts.")]
pub(crate) struct OptimizeArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
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
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Show no progress and no summary; errors and notes are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write one JSON object to standard output at the end, instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
