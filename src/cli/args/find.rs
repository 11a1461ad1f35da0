//! Arguments of `pgndex find`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pgndex::store::HitOrder;

use crate::cli::args::{FilterArgs, POSITION, PositionArgs, SequenceArgs, order, within};

/// Find the games that reached a position, or any games
#[derive(Args, Debug)]
#[command(after_long_help = "\
Two positions are the same if placement, side to move, castling rights and en passant are the same. The moves that led there and the \
counters do not matter. A game has one row for each time it \
reached the position. Without a position, each game that passes the filters has one row.

All conditions of a description must hold in the same position. With a description, a game has one row, with its first matching position. \
With --for, this is the first of the consecutive positions. With --then, it is the position that matches the last description.

With --variations, the column `line` gives the number of the variation, in the order of the game's text; 0 is the main line. --sort rating and \
--sort date put unfinished games (result *) after all others.

Examples:
  pgndex find games.db --moves \"1. d4 f5\" --elo-min 2600 --since 2010 --sort rating
  pgndex find games.db --ending opposite-bishops --for 20 --player carlsen
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --format pgn > found.pgn")]
pub(crate) struct FindArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) target: FindTargetArgs,
    /// Also search the variations of games
    #[arg(help_heading = POSITION, long, requires = "target")]
    pub(crate) variations: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Order of the rows.
    ///
    /// By game number, by mean rating of the players (highest first), or by date (latest first).
    #[arg(long, value_name = "ORDER", value_parser = order(), default_value = "game")]
    pub(crate) sort: HitOrder,
    /// Number of rows to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 15, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// Number of rows to skip first
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) offset: u32,
    /// Output format.
    ///
    /// json is one object per line, pgn the games themselves.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: FindFormat,
    /// Print the time taken on standard error
    #[arg(long, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// What to find: a position, given in one of three ways, described positions, or all games.
#[derive(Args, Debug)]
#[group(id = "target", multiple = true, args = ["fen", "moves", "play", "like", "pattern", "material", "structure", "ending", "played"])]
pub(crate) struct FindTargetArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// The positions most similar to this FEN, one per game.
    ///
    /// Positions with the same pawns and material come first, then the others; in both groups, the most similar come first.
    #[arg(help_heading = POSITION, long, value_name = "FEN", conflicts_with_all = ["fen", "moves", "play", "variations", "sort"])]
    pub(crate) like: Option<String>,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
}

/// Formats for found games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Csv,
    Pgn,
}
