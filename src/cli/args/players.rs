//! Arguments of `pgndex player`, `pgndex players` and `pgndex repertoire`.

use crate::cli::args::RowFormat;
use crate::cli::args::filter::FilterArgs;
use crate::cli::args::within;
use clap::ArgGroup;
use clap::Args;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use pgndex::board::Color;
use pgndex::store::NameFilter;
use std::path::PathBuf;

/// Show a player's record, openings, lines, endings and opponents
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex player games.db \"Carlsen, Magnus\"
  pgndex player games.db carlsen --since 2020 --speed blitz
  pgndex player games.db carlsen --opponent caruana
  pgndex player games.db carlsen --format md > carlsen.md
  pgndex player games.db carlsen --format html --output carlsen.html

Points are the player's, whatever his side. The performance is that of FIDE's table, from games with a result against opponents whose \
ratings are known. All players whose name fits count: '=NAME' means one only. Lines are the moves played most with that side, \
from the start position on. A game counts once in each kind of ending that it reached, be it for one position: these are the games \
of find --ending. The page of --format html needs no network, and is made for A4 paper too.")]
pub(crate) struct PlayerArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The player's name, as --player of other commands takes it
    #[arg(value_name = "NAME", id = "name")]
    pub(crate) name: NameFilter,
    /// How many openings, opponents and wins to show of each list; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// How many half-moves long lines are shown, up to 40; 0 for none
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = within(0..=40_u32))]
    pub(crate) depth: u32,
    /// Which moves belong to the lines: those in so many of a hundred games with that side, but at least two
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = within(0..=100_u32))]
    pub(crate) least_share: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How to print it; json is one object, md is Markdown, html is a page with charts and boards, in one file
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: PlayerFormat,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    /// Print the time taken on standard error
    #[arg(long)]
    pub(crate) timing: bool,
}

/// Formats of a player's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlayerFormat {
    Table,
    Json,
    Md,
    Html,
}

/// List the players, and say which names are those of one player
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("change").multiple(false))]
#[command(after_help = "\
Examples:
  pgndex players games.db
  pgndex players games.db korchnoi
  pgndex players games.db --merge \"Korchnoi, Viktor\" \"Kortschnoj, Viktor\" \"Korchnoi,V\"
  pgndex players games.db --split \"Korchnoi, Viktor\"
  pgndex players games.db --suggest > aliases.csv
  pgndex players games.db --aliases aliases.csv

A player who has several names is one for all look-ups and counts: --white, --black, --player and --opponent find the games \
with any of them. The games keep what the PGN says. A name is given whole, or so that it fits only one; =NAME is a name that no \
game needs to have yet.")]
pub(crate) struct PlayersArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Only players with this name, as --player of other commands takes it
    #[arg(value_name = "NAME", conflicts_with = "change")]
    pub(crate) name: Option<NameFilter>,
    /// Make all these names those of one player, whose name is the first
    #[arg(long, value_names = ["NAME", "ALIAS"], num_args = 2.., group = "change", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) merge: Vec<String>,
    /// The same for all rows of a CSV file with the columns name, alias and, if known, fide_id
    #[arg(long, value_name = "FILE", group = "change")]
    pub(crate) aliases: Option<PathBuf>,
    /// Undo it: make each of this player's names one of its own again, or only this one if it is not the player's first
    #[arg(long, value_name = "NAME", group = "change", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) split: Option<String>,
    /// Write the names of all players who have several, as --aliases reads them
    #[arg(long, group = "change")]
    pub(crate) export_aliases: bool,
    /// Write the names that are probably those of one player, as --aliases reads them: look them through first
    #[arg(long, group = "change")]
    pub(crate) suggest: bool,
    /// Order of the players: by games (most first), or by name
    #[arg(long, value_name = "ORDER", value_enum, default_value = "games", conflicts_with = "change")]
    pub(crate) sort: PlayerSortArg,
    /// How many players to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 15, value_parser = within(0..=u32::MAX))]
    #[arg(conflicts_with = "change")]
    pub(crate) limit: u32,
    /// How many players to skip first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    #[arg(conflicts_with = "change")]
    pub(crate) offset: u32,
    /// How to print them; json is one object a line
    #[arg(long, short, value_enum, default_value = "table", conflicts_with = "change")]
    pub(crate) format: RowFormat,
}

/// Orders of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlayerSortArg {
    Games,
    Name,
}

/// Hold a repertoire against the games: what each line scored, what it does not answer
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex repertoire games.db mine.pgn
  pgndex repertoire games.db mine.pgn --white \"Carlsen, Magnus\"
  pgndex repertoire games.db mine.pgn --elo-min 2500 --since 2020 --least-games 10
  pgndex repertoire games.db mine.pgn --side black --format json | jq '.[0].unanswered[:5]'

A repertoire is a PGN file: its games with all their variations are the lines. It is for the side that its tags name ([Orientation \
\"black\"], as in studies of Lichess), or else for the one that has fewer moves to choose from. Positions count however they arise, each \
game once, with the move it made there last. Points are those of the side that the repertoire is for. A move that leads back to a position of \
the repertoire is no departure. Behind the end of a line, nothing is asked for.")]
pub(crate) struct RepertoireArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The repertoire: a PGN file, packed or not; - for standard input
    #[arg(value_name = "PGN")]
    pub(crate) repertoire: PathBuf,
    /// The side that the repertoire is for [default: from its tags or its moves]
    #[arg(long, value_name = "SIDE", value_enum)]
    pub(crate) side: Option<SideArg>,
    /// Show moves that are not in the repertoire if so many games made them ...
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = within(0..=u32::MAX))]
    pub(crate) least_games: u32,
    /// ... and so many of a hundred of those that reached the position
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = within(0..=100_u32))]
    pub(crate) least_share: u32,
    /// How many lines and moves to show of each list; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// How many games to list that followed it, the latest first
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within(0..=10_000_u32))]
    pub(crate) games: u32,
    /// List those that followed it for so many half-moves at least
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = within(0..=u32::MAX))]
    pub(crate) least_plies: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How to print it; json is one array, csv has the lines only
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: RowFormat,
    /// Print the time taken on standard error
    #[arg(long)]
    pub(crate) timing: bool,
}

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideArg {
    White,
    Black,
}

impl From<SideArg> for Color {
    fn from(side: SideArg) -> Self {
        match side {
            SideArg::White => Self::White,
            SideArg::Black => Self::Black,
        }
    }
}
