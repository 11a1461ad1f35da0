//! Arguments of `pgndex watch`.

use clap::Args;
use std::path::PathBuf;

use crate::cli::args::index::MadeWithArgs;
use crate::cli::args::log::LogArgs;
use crate::cli::args::upkeep::WorkArgs;
use crate::cli::args::within;

/// Add the games of files that appear in a directory, as they come
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex watch games.db incoming/
  pgndex watch games.db incoming/ --once        add what is there, and end

It looks for the files that `pgndex index games.db incoming/` reads, and adds all that are ready in one transaction. A file is ready when \
its size and time of change have stayed the same for --settle seconds. Names that begin with a dot or end in .part, .tmp, .partial or \
.crdownload are passed over. The database knows what was added, so nothing is added twice after a restart. A file that cannot be read \
is reported once, and again when it has changed. --once waits once for files that have just changed, up to a minute; the exit status is that of `index`.

Ctrl-C or SIGTERM ends it with status 0; games that are just being added are left out then, and come with the next start. systemd is told \
with READY=1, STATUS, STOPPING=1 and WATCHDOG=1 (Type=notify).")]
pub(crate) struct WatchArgs {
    /// Database to make, or to add to
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Directory to watch, with those below it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Seconds for which a file has stayed the same when it is read
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(0..=86_400_u64))]
    pub(crate) settle: u64,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = within(1..=86_400_u64))]
    pub(crate) interval: u64,
    /// Add what is ready, and end
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) made_with: MadeWithArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Tell only what is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
