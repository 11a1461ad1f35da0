//! Arguments of `pgndex find`.

use crate::cli::args::course::CourseArgs;
use crate::cli::args::filter::FilterArgs;
use crate::cli::args::filter::SortArg;
use crate::cli::args::position::PositionArgs;
use crate::cli::args::within;
use clap::Args;
use clap::ValueEnum;
use std::path::PathBuf;

/// Find the games that reached a position, or any games
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex find games.db --moves \"1. e4 c5 2. Nf3 d6\"
  pgndex find games.db --play e2e4,c7c5 --limit 0 --format csv > sicilian.csv
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --format json
  pgndex find games.db --moves \"1. d4 f5\" --elo-min 2600 --since 2010 --sort rating
  pgndex find games.db --moves \"1. e4 e5 2. f4\" --white spassky --format pgn > spassky.pgn
  pgndex find games.db --white carlsen --black caruana --sort date
  pgndex find games.db --pattern \"*R*k*/*/*/*/*/*/*/* b\"
  pgndex find games.db --material KRPvKR --elo-min 2600
  pgndex find games.db --ending opposite-bishops --for 20 --player carlsen
  pgndex find games.db --move \"Qxh7#\" --either
  pgndex find games.db --structure \"8/pp3ppp/2p1p3/3p4/3P4/2P1P3/PP3PPP/8\" --then --ending rook
  pgndex find games.db --like \"8/5pk1/R5p1/8/6P1/8/r4PK1/8 w - -\" --elo-min 2500
  pgndex find games.db --moves \"1. e4 e5 2. Ke2\" --variations

Two positions are the same if placement, side to move, castling rights and en passant are the same. The moves that led there and the \
counters do not matter. A game has one line for each time it reached the position. Without a position, each game that passes the \
filters has one line. Described positions are searched in every game. All conditions must hold in the same position. A game has one \
line, with its first matching position; with --for, the first of the run; with --then, that of the last description. --variations also \
searches the variations of games: a line then shows the variation's number in the game's text; 0 is the game itself. With --sort rating \
or date, games without a result come last.")]
pub(crate) struct FindArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) target: FindTargetArgs,
    /// Also search the variations of games
    #[arg(long, requires = "target")]
    pub(crate) variations: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Order: by game number, by mean rating of the players (highest first), or by date (latest first)
    #[arg(long, value_name = "ORDER", value_enum, default_value = "game")]
    pub(crate) sort: SortArg,
    /// How many lines to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 15, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// How many lines to skip first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) offset: u32,
    /// Output format; json is one object per line, pgn the games themselves
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: FindFormat,
    /// Print the time taken on standard error
    #[arg(long)]
    pub(crate) timing: bool,
}

/// What is looked for: a position, given in one of three ways, or positions that are described; all games if nothing.
#[derive(Args, Debug)]
#[group(id = "target", multiple = true, args = ["fen", "moves", "play", "like", "pattern", "material", "structure", "ending", "played"])]
pub(crate) struct FindTargetArgs {
    /// The position as a FEN. Missing fields mean White to move, no castling and no en passant. The counters are ignored
    #[arg(long, value_name = "FEN", alias = "position", conflicts_with_all = ["moves", "play"])]
    fen: Option<String>,
    /// The moves that lead to it from the start position, as in PGN: "1. e4 c5 2. Nf3". Lower-case letters, chess symbols
    /// and the piece letters of other languages work too
    #[arg(long, value_name = "MOVES", conflicts_with = "play")]
    moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(long, value_name = "MOVES")]
    play: Option<String>,
    /// The positions most similar to this FEN, most similar first, one per game. Positions with the same pawns and
    /// material come first
    #[arg(long, value_name = "FEN", conflicts_with_all = ["fen", "moves", "play", "variations", "sort"])]
    pub(crate) like: Option<String>,
    #[command(flatten)]
    pub(crate) course: CourseArgs,
}

impl FindTargetArgs {
    /// The position, unless positions are described.
    pub(crate) fn position(&self) -> PositionArgs {
        PositionArgs { fen: self.fen.clone(), moves: self.moves.clone(), play: self.play.clone() }
    }
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
