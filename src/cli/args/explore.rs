//! Arguments of `pgndex explore`.

use crate::cli::args::RowFormat;
use crate::cli::args::board::{BoardArgs, PictureArgs};
use crate::cli::args::filter::FilterArgs;
use crate::cli::args::position::PositionArgs;
use crate::cli::args::within;
use clap::Args;
use std::path::PathBuf;

/// Show what was played from a position, and with what results
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex explore games.db                             from the start position
  pgndex explore games.db --moves \"1. e4 c5\"
  pgndex explore games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --board
  pgndex explore games.db --play e2e4,c7c5 --format json | jq '.moves[:3]'
  pgndex explore games.db --moves \"1. e4 c5\" --white carlsen --since 2015
  pgndex explore games.db --moves \"1. e4 c5\" --variations
  pgndex explore games.db --moves \"1. e4 c5\" --svg sicilian.svg

Each game counts once, whatever moves led to the position. If it returned to the position, its last move from there counts. Games \
without a result are not counted. Bars show White's wins, draws and Black's wins; with --ascii as '#', '=' and '.'. \
If a position has no opening name, the last named position on the way to it gives it. JSON is one object, in the form \
of Lichess's opening explorer. --variations adds a column: the games, with a result or without, in which a variation makes the move. \
Results are those of played moves only. The picture of --svg has arrows for the moves played most, wide if many games went on so.

For often reached positions the counts of all games are in the database, and sets of games by which those that fit a filter \
are counted. The games of other positions are few, and are counted one by one. Ctrl-C ends it.")]
pub(crate) struct ExploreArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Count the moves of variations too, in a column of their own
    #[arg(long)]
    pub(crate) variations: bool,
    /// How many moves to show, the most frequent first; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// How many of the highest rated games to list, at most 15 [default: 5; in json 15]
    #[arg(long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(crate) top: Option<u8>,
    /// How many of the latest games to list, at most 15 [default: 5; in json 15]
    #[arg(long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(crate) recent: Option<u8>,
    /// Names of openings, in a file or directory as for `index --openings` [default: those the database was made with]
    #[arg(long, value_name = "FILE")]
    pub(crate) openings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How to print it; json is one object, csv has the moves only
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: RowFormat,
    /// Draw the position
    #[arg(long)]
    pub(crate) board: bool,
    #[command(flatten)]
    pub(crate) style: BoardArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// End with a line on standard error that tells the time taken
    #[arg(long)]
    pub(crate) timing: bool,
}
