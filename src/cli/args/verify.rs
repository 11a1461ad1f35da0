//! Arguments of `pgndex verify`.

use crate::cli::args::log::ReportArgs;
use crate::cli::args::maintenance::ThreadsArgs;
use crate::cli::args::parquet::directory;
use crate::cli::args::within;
use clap::Args;
use std::path::PathBuf;

/// Check whether a database is sound; changes and repairs nothing
#[derive(Args, Debug)]
#[command(after_long_help = "\
Pages, links between tables, counts and totals are checked in full. Three samples of equal size are checked more closely. Games are \
replayed and compared with their PGN files, the counts for `explore` are computed again, and duplicates are compared with the games \
that they repeat. A PGN file that has changed or is missing gets a note and is not damage.

For Parquet files, every byte is checked against the manifest, position_game is compared with game_position, and games are replayed.

Exit status: 0 if the database is sound, 1 if it is not or could not be checked.

Examples:
  pgndex verify games.db --all --limit 100    every game
  pgndex verify games.db --json | jq .sound
  pgndex verify --parquet tables/             Parquet files that index or export wrote")]
pub(crate) struct VerifyArgs {
    /// Database
    #[arg(value_name = "DB", required_unless_present = "parquet")]
    pub(crate) database: Option<PathBuf>,
    /// Check the Parquet files of this directory instead
    #[arg(long, value_name = "DIR", value_parser = directory(), conflicts_with = "no_sources")]
    pub(crate) parquet: Option<PathBuf>,
    /// Number of games, positions and duplicates to check closely.
    ///
    /// Games are replayed, positions counted again, and duplicates compared.
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
