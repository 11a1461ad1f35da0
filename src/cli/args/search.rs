//! Arguments of `pgndex find` and `pgndex explore`.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use pgndex::board::Color;
use pgndex::store::{FilterError, GameFilter, HitOrder};

use crate::cli::args::{
    BOARDS, BoardArgs, FilterArgs, POSITION, PictureArgs, PositionArgs, SequenceArgs, filter_option, order,
    side, within,
};
use crate::cli::error::{WrongValue, wrong_value};

/// Find the games that reached a position, or that pass filters
#[derive(Args, Debug)]
#[command(after_long_help = "\
Positions are the same if placement, side to move, castling rights and en passant are the same. A game has \
one row for each time it reached the position. If you give no position, each game that passes \
the filters has one row. Games stored without positions (unsupported variant or invalid FEN) are not listed.

All conditions of a description must hold in the same position. With a description, a game has one row, with its first \
matching position. With --for, this is the first of the consecutive positions; with --then, the position \
that matches the last description.

With --variations, the column `line` has the number of the variation in the game's text; 0 is the main line. \
--sort rating and --sort date put unfinished games (result *) last.

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
    /// rating is the players' mean rating, highest first; date begins with the latest.
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
    /// Print the elapsed time to standard error
    #[arg(long, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// What to find: a given position, the positions similar to a given one, described positions, or all games.
#[derive(Args, Debug)]
#[group(id = "target", multiple = true, args = ["fen", "moves", "play", "like", "pattern", "material", "structure", "ending", "move"])]
pub(crate) struct FindTargetArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// The positions most similar to this FEN, one per game.
    ///
    /// Positions with the same pawns and material come first, then all others; each group begins with the
    /// most similar.
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

/// Show what was played from a position, and with what results
#[derive(Args, Debug)]
#[command(after_long_help = "\
Each game counts once. If it reached the position several times, only the last move played there counts. \
Games without a result are not counted. Bars show the shares of White's wins, draws and Black's wins (with \
--ascii: '#', '=' and '.').

If a position has no opening name, the last named position before it gives the name. For a position given \
by moves, the output also shows how many games reached it by another move order.

Examples:
  pgndex explore games.db --moves \"1. e4 c5\" --player carlsen --side black
  pgndex explore games.db --moves \"1. e4 c5\" --until 1999 --versus \"--since 2000\"
  pgndex explore games.db --depth 6 --format dot | dot -Tsvg > tree.svg")]
pub(crate) struct ExploreArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Also count moves in variations, in a separate column.
    ///
    /// The column shows how many games have the move in a variation, including games without a result.
    #[arg(long)]
    pub(crate) variations: bool,
    /// Number of moves to show, the most frequent first; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// Number of highest-rated games to list, at most 15 [default: 5; in json 15]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(crate) top: Option<u8>,
    /// Number of the latest games to list, at most 15 [default: 5; in json 15]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(crate) recent: Option<u8>,
    /// File or directory with names of openings, as for `index --openings` [default: the database's]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) openings: Option<PathBuf>,
    /// Show results from this side's view.
    ///
    /// With --player: only games in which the player had this side.
    #[arg(long, value_name = "SIDE", value_parser = side())]
    pub(crate) side: Option<Color>,
    /// Compare with the games that pass these filters.
    ///
    /// The command's own filters do not apply to these games; --side does. Write one quoted argument, such as
    /// "--since 2020"; "" means all games.
    #[arg(long, value_name = "FILTERS", allow_hyphen_values = true, conflicts_with_all = ["variations", "svg"])]
    pub(crate) versus: Option<String>,
    /// Add a table by year: the number of games, and the most frequent moves
    #[arg(long, conflicts_with_all = ["versus", "depth"])]
    pub(crate) history: bool,
    /// Show a tree of moves down to this depth in half-moves, at most 40.
    ///
    /// A position reached by several lines is expanded once; elsewhere the tree refers to it.
    #[arg(long, value_name = "N", value_parser = within(1..=40_u32), conflicts_with_all = ["versus", "variations", "limit", "top", "recent", "svg"])]
    pub(crate) depth: Option<u32>,
    /// With --depth: show only moves played in at least this percentage of the games with the tree's first position
    #[arg(hide_short_help = true, long, value_name = "PERCENT", default_value_t = 5, value_parser = within(0..=100_u32), requires = "depth")]
    pub(crate) least_share: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Output format.
    ///
    /// json is one object, as in Lichess's opening explorer. csv has the moves, or with --history the years.
    /// dot is a tree for Graphviz.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: ExploreFormat,
    /// Draw the position
    #[arg(help_heading = BOARDS, long)]
    pub(crate) board: bool,
    #[command(flatten)]
    pub(crate) style: BoardArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Print the elapsed time to standard error
    #[arg(long, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// Output formats of `pgndex explore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExploreFormat {
    Table,
    Json,
    Csv,
    Dot,
}

/// The filters in the value of `--versus`.
#[derive(Parser, Debug)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct VersusArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

impl ExploreArgs {
    /// The filter for the games to count. It includes the condition of `--side`.
    ///
    /// # Errors
    /// If a lower bound is greater than its upper bound, or options about players contradict each other.
    pub(crate) fn filter(&self) -> anyhow::Result<GameFilter> {
        with_side(self.filter.filter()?, self.side)
    }

    /// The filter for the games to compare with; `None` without `--versus`.
    ///
    /// # Errors
    /// If the value of `--versus` cannot be parsed as filters; also the errors of [`Self::filter`].
    pub(crate) fn versus(&self) -> anyhow::Result<Option<GameFilter>> {
        let Some(text) = &self.versus else { return Ok(None) };
        let words = shell_words::split(text)
            .map_err(|_| wrong_value(format!("--versus: a quotation mark is missing in {text}")))?;
        let read = VersusArgs::try_parse_from(words).map_err(|error| {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
            wrong_value(format!(
                "--versus: {first}; give filters as in --versus \"--since 2020 --elo-min 2500\""
            ))
        })?;
        with_side(read.filter.filter()?, self.side).map(Some)
    }

    /// The option that sets a field of the filter, or the words for the field, as [`filter_option`] returns
    /// them. With `--side`, the fields `white` and `black` can come from `--player` and `--opponent`.
    pub(crate) fn option(&self, field: &str) -> String {
        let of_side = match self.side {
            Some(Color::White) => ["white", "black"],
            Some(Color::Black) => ["black", "white"],
            None => return filter_option(field),
        };
        let is_given = !self.filter.player.is_empty();
        match of_side.iter().position(|side| *side == field) {
            Some(0) if is_given => filter_option("player"),
            Some(1) if is_given && (self.filter.opponent.is_some() || self.filter.player.len() > 1) => {
                filter_option("opponent")
            }
            _ => filter_option(field),
        }
    }
}

/// Restricts a filter to games in which the player of its field `player` had this side. Without a side or
/// without a player, the filter is unchanged.
fn with_side(filter: GameFilter, side: Option<Color>) -> anyhow::Result<GameFilter> {
    let Some(side) = side else { return Ok(filter) };
    filter.with_side(side).map_err(|error| match error {
        FilterError::SideNamed { field } => wrong_value(format!(
            "with --side, --player or --opponent already names the player of this side; leave out --{field}"
        )),
        error => WrongValue(error.into()).into(),
    })
}
