//! Arguments of the commands that maintain a database, and arguments that several long-running commands
//! share.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use pgndex::index::IndexOptions;
use pgndex::store::Layout;

use crate::cli::args::{FilterArgs, ParquetDirectory, WHICH, described_one_of, memory, within};

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
    /// Data that does not fit goes to temporary files. [default: a quarter of the machine's memory, at most 4G]
    #[arg(help_heading = RESOURCES, long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
    /// Directory for temporary files [default: the database's directory].
    ///
    /// `index` needs up to about 20 bytes per position there.
    #[arg(help_heading = RESOURCES, long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
}

impl WorkArgs {
    /// Index options with these resources, and with defaults for everything else.
    pub(crate) fn options(&self) -> IndexOptions {
        let default = IndexOptions::default();
        IndexOptions {
            threads: self.threads.threads.map_or(default.threads, usize::from),
            memory: self.memory.unwrap_or(default.memory),
            temp_dir: self.temp_dir.clone(),
            ..default
        }
    }
}

/// The parser for a layout.
pub(super) fn layouts() -> impl TypedValueParser<Value = Layout> {
    described_one_of([
        ("open", "A row for each position, with its FEN", Layout::Open),
        ("compact", "Only moves are stored; positions are computed when they are read", Layout::Compact),
    ])
}

/// Notes and examples of `pgndex repair`.
pub(super) const REPAIR: &str = "\
The command recomputes all data derived from games and positions, such as the counts for `explore`. It \
removes names that no game has, and rows that refer to missing games or sources. References to missing names \
become NULL; otherwise games, moves and annotations stay unchanged. If all games of a PGN file are missing, \
but `remove` did not remove them, the file can be indexed again.

Rows that cannot be derived from other rows, such as annotations, openings, settings \
and problems, are neither checked nor changed. Run `pgndex verify` afterwards: it also checks these rows, and says what to do about wrong rows.

The command works on a copy, which needs as much space as the database and replaces it at the end. A file \
that the disk damaged cannot be repaired: index the PGN files again.

Examples:
  pgndex verify games.db                   list what is wrong
  pgndex repair games.db
  pgndex verify games.db                   check the result";

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

/// Merge the parts added by different `index` runs, for faster look-ups
#[derive(Args, Debug)]
#[command(after_long_help = "\
Each run of `index` adds its games as a separate part, and merges some parts. `optimize` merges all parts, and drops the positions of removed \
games. Answers stay the same; look-ups become a little quicker.

After a crash, the work is either completely done or not done at all. If more than a tenth of the file is free after the merge, \
the file is rewritten without its free pages. This temporarily needs free disk space: up to the file's size in \
its directory, and as much again in --temp-dir.

Examples:
  pgndex optimize games.db                    for example after a month of nightly additions
  pgndex optimize games.db --layout compact   a smaller file with the same answers")]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    pub(crate) work: MaintenanceArgs,
    /// Convert the database to this layout.
    ///
    /// Answers stay the same, and SQL queries work unchanged. A new file replaces the database at the end.
    #[arg(long, value_name = "LAYOUT", value_parser = layouts())]
    pub(crate) layout: Option<Layout>,
}

/// Remove games from a database and correct all counts
#[derive(Args, Debug)]
#[command(after_long_help = "\
The game numbers of removed games are not used again. The database file does not shrink, and may grow; games that are added \
later use its free pages. --shrink makes it smaller.

If `index` skipped duplicates of a removed game, `remove` adds one of them. The duplicate's PGN file must be unchanged, \
except for text added at the end. With --games, duplicates that are added in this way are removed too if they match the filters.

A PGN file whose games were removed with --source can be indexed again. Games removed with --games or --sql are not added again \
from their file or an identical copy. Indexing another file that contains such a game adds the game again.

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
    /// Without --games, --source removes all games of a PGN file, and the database forgets the file.
    #[arg(help_heading = WHICH, long, requires = "FilterArgs")]
    pub(crate) games: bool,
    /// Remove the games whose game_id is in the query's first column
    #[arg(help_heading = WHICH, long, value_name = "QUERY", conflicts_with_all = ["FilterArgs", "games"])]
    pub(crate) sql: Option<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// After removing, rewrite the database file without its free pages.
    ///
    /// This also deletes leftover positions of removed games. It temporarily needs free space: up to the file's
    /// size in its directory, and as much again in --temp-dir. With --shrink alone, no games are removed.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) shrink: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Copy a database while other programs read and write it
#[derive(Args, Debug)]
#[command(after_long_help = "\
The copy is a snapshot, and appears when it is complete. If games are added meanwhile, copying starts again, \
at most twice; after that, writers wait.

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

/// Check whether a database is sound, without changing it
#[derive(Args, Debug)]
#[command(after_long_help = "\
Pages, links between tables, row counts and totals are checked in full; games, positions and duplicates are \
sampled. Sampled games are replayed and compared with their PGN files, duplicates with the games that they \
repeat. The counts of `explore` for sampled positions are computed again. A PGN file that has changed or is \
missing causes only a note.

For Parquet files, every byte is checked against the manifest, position_game is compared with game_position, \
and games are replayed.

Exit status: 0 if the database is sound, 1 if it is not or could not be checked.

Examples:
  pgndex verify games.db --all --limit 100    every game
  pgndex verify games.db --json | jq .sound
  pgndex verify --parquet tables/             Parquet files that index or export wrote")]
pub(crate) struct VerifyArgs {
    /// Database
    #[arg(value_name = "DB", required_unless_present = "parquet")]
    pub(crate) database: Option<PathBuf>,
    /// Check the Parquet files in this directory instead
    #[arg(long, value_name = "DIR", value_parser = ParquetDirectory, conflicts_with = "no_sources")]
    pub(crate) parquet: Option<PathBuf>,
    /// Number of games, positions and duplicates to check closely
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = within(0..=u32::MAX))]
    pub(crate) sample: u32,
    /// Check all games, positions and duplicates closely
    #[arg(long, conflicts_with = "sample")]
    pub(crate) all: bool,
    /// Number of findings to print; all are counted
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = within(1..=u32::MAX))]
    pub(crate) limit: u32,
    /// Do not read the PGN files
    #[arg(long)]
    pub(crate) no_sources: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Heading of the options for messages.
const MESSAGES: &str = "Messages";

/// What a command reports while it works.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// Show no progress and no summary.
    ///
    /// Errors, important notes and the results of checks are still shown.
    #[arg(help_heading = MESSAGES, long, short)]
    pub(crate) quiet: bool,
    /// Format of notes, errors and progress on standard error.
    ///
    /// json is one object per line.
    #[arg(help_heading = MESSAGES, hide_short_help = true, long, value_name = "FORMAT", value_enum)]
    #[arg(default_value = "text")]
    pub(super) log_format: LogFormat,
}

/// What a command reports while it works, and when it is done.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print one JSON object at the end, instead of the summary
    #[arg(help_heading = MESSAGES, long)]
    pub(crate) json: bool,
}

/// Formats of the log on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}
