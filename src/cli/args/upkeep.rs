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
    /// Number of threads, at most 256 [default: one per processor]
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

/// Merge the parts that additions left, as if all games had been added at once
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex optimize games.db     after a month of nightly additions, say

New games are written beside the existing ones, so that adding to a large database takes no longer. pgndex also merges these parts from \
time to time. Answers are the same before and after; look-ups are a little quicker afterwards.

The work is one transaction: after a crash, either all of it is done or nothing. If more than a tenth of the file is then free, the \
file is rewritten without its free pages, which meanwhile needs as much space again.")]
pub(crate) struct OptimizeArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// How the two large tables are written; the rows are the same
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

/// Make the tables consistent again after another program changed rows
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex verify games.db     what does not fit
  pgndex repair games.db

Everything that follows from games and their positions is computed again: which games have a position, the counts for `explore`, \
totals. Rows that refer to missing games, sources or names are removed, and so are names that no game has. A file without any game left \
can be indexed again. Games, their moves and their annotations stay unchanged.

The command works on a copy, which replaces the database at the end. So it needs as much space again meanwhile, and after a crash the \
database is unchanged. A file that the disk damaged cannot be repaired: index its games again.")]
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
