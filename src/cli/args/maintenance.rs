//! Arguments of `pgndex optimize` and `pgndex repair`, and those that all commands share which write much of a database.

use std::path::PathBuf;

use clap::Args;
use pgndex::index::IndexOptions;

use crate::cli::args::Memory;
use crate::cli::args::log::ReportArgs;
use crate::cli::args::within;

/// Heading of the options for resources.
const RESOURCES: &str = "Resources";

/// The number of threads.
#[derive(Args, Clone, Debug)]
pub(crate) struct ThreadsArgs {
    /// Threads, at most 256 [default: one per processor]
    #[arg(help_heading = RESOURCES, long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(crate) threads: Option<u16>,
}

/// The resources that a command may use.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    threads: ThreadsArgs,
    /// Memory to use, such as 512M or 4G.
    ///
    /// Data that does not fit goes to temporary files. [default: a quarter of the machine's, at most 4G]
    #[arg(help_heading = RESOURCES, long, value_name = "SIZE")]
    memory: Option<Memory>,
    /// Directory for temporary files [default: the database's].
    ///
    /// They take about 20 bytes per position when games are indexed.
    #[arg(help_heading = RESOURCES, long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
}

impl WorkArgs {
    /// The options with these resources, and defaults for everything else.
    pub(crate) fn options(&self) -> IndexOptions {
        let default = IndexOptions::default();
        IndexOptions {
            threads: self.threads.threads.map_or(default.threads, usize::from),
            memory: self.memory.map_or(default.memory, |Memory(size)| size.0),
            temp_dir: self.temp_dir.clone(),
            ..default
        }
    }
}

/// Notes and examples of `pgndex optimize`.
pub(super) const OPTIMIZE: &str = "\
Each run stores its games as a separate part, so that adding games to a large database is not slower. pgndex also merges these parts from \
time to time. Answers are the same before and after; look-ups are a little quicker afterwards.

The work is one transaction: after a crash, either all of it is done or nothing. If more than a tenth of the file is then free, the file \
is rewritten without its free pages. This temporarily needs as much space again.

Examples:
  pgndex optimize games.db                 for example after a month of nightly additions
  pgndex optimize games.db --temp-dir /tmp";

/// Notes and examples of `pgndex repair`.
pub(super) const REPAIR: &str = "\
The command recomputes all data that is derived from the games and positions: which games have a position, the counts for `explore`, \
totals. It removes rows that refer to missing games, sources or names, and names that no game has. A file without games can be indexed \
again. Games, their moves and their annotations stay unchanged.

The command works on a copy, which replaces the database at the end. This temporarily needs as much space again. After a crash the \
database is unchanged. A file that the disk damaged cannot be repaired: index its games again.

Examples:
  pgndex verify games.db                   list what is wrong
  pgndex repair games.db";

/// Arguments of a command that works on a whole database.
#[derive(Args, Debug)]
pub(crate) struct MaintenanceArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
