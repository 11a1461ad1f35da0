//! Arguments of `pgndex player`, `pgndex players` and `pgndex repertoire`.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};
use pgndex::board::Color;
use pgndex::query::PlayerOrder;
use pgndex::store::NameFilter;

use crate::cli::args::{FilterArgs, RowFormat, one_of, within};

/// Show a player's record, openings, lines, endings and opponents
#[derive(Args, Debug)]
#[command(after_long_help = "\
Wins, losses and scores are from the player's point of view, with White and with Black. The performance rating follows FIDE's table, and uses games with a \
result against rated opponents. All players whose name matches are counted; '=NAME' selects only the player with this exact name. A game \
counts once in each kind of ending that it reached.

Examples:
  pgndex player games.db carlsen --since 2020 --speed blitz
  pgndex player games.db \"=Carlsen, Magnus\" --opponent caruana --format md
  pgndex player games.db carlsen --format html --output carlsen.html")]
pub(crate) struct PlayerArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The player's name, as for --player of other commands
    #[arg(value_name = "NAME", id = "name")]
    pub(crate) name: NameFilter,
    /// Length of each list; 0 for all.
    ///
    /// The lists are openings, opponents and wins.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// Length of the lines in half-moves, at most 40; 0 for none
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = within(0..=40_u32))]
    pub(crate) depth: u32,
    /// Show moves played in at least this percentage of the games.
    ///
    /// The percentage is relative to all games of the player with the same side. A move must also occur in at least two games.
    #[arg(hide_short_help = true, long, value_name = "PERCENT", default_value_t = 5, value_parser = within(0..=100_u32))]
    pub(crate) least_share: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Output format.
    ///
    /// json is one object, md is Markdown. html is one file with charts and boards. It needs no network and
    /// can be printed on A4.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: PlayerFormat,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    /// Print the elapsed time to standard error
    #[arg(long, hide_short_help = true)]
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

/// List the players, and merge names of the same player
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("change").multiple(false))]
#[command(after_long_help = "\
Merged names are one player in all look-ups and counts. The games keep the names of the PGN. \
To merge or split, give enough of each name to match only one name in the database. With =NAME, --merge also accepts \
a name that no game has yet.

Examples:
  pgndex players games.db korchnoi
  pgndex players games.db --merge \"Korchnoi, Viktor\" \"Kortschnoj, Viktor\" \"Korchnoi,V\"
  pgndex players games.db --suggest > aliases.csv     check this list before --aliases aliases.csv")]
pub(crate) struct PlayersArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Only players whose name matches, by the same rules as --player in other commands
    #[arg(value_name = "NAME", conflicts_with = "change")]
    pub(crate) name: Option<NameFilter>,
    /// Merge these names into one player, listed under the first
    #[arg(long, value_names = ["NAME", "ALIAS"], num_args = 2.., group = "change", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) merge: Vec<String>,
    /// Merge names as listed in a CSV file.
    ///
    /// Its columns are name, alias and, if known, fide_id.
    #[arg(long, value_name = "FILE", group = "change")]
    pub(crate) aliases: Option<PathBuf>,
    /// Undo a merge: separate all of this player's names again.
    ///
    /// If NAME is an alias, only NAME is separated.
    #[arg(long, value_name = "NAME", group = "change", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) split: Option<String>,
    /// Write all merged names as CSV, in the form that --aliases reads
    #[arg(long, group = "change")]
    pub(crate) export_aliases: bool,
    /// Write names that probably belong to the same player, as CSV.
    ///
    /// Check the list before you give it to --aliases.
    #[arg(long, group = "change")]
    pub(crate) suggest: bool,
    /// Order of players.
    ///
    /// By number of games (most first), or by name.
    #[arg(long, value_name = "ORDER", value_parser = player_order(), default_value = "games", conflicts_with = "change")]
    pub(crate) sort: PlayerOrder,
    /// Number of players to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 15, value_parser = within(0..=u32::MAX))]
    #[arg(conflicts_with = "change")]
    pub(crate) limit: u32,
    /// Number of players to skip first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    #[arg(conflicts_with = "change")]
    pub(crate) offset: u32,
    /// Output format.
    ///
    /// json is one object per line.
    #[arg(long, short, value_enum, default_value = "table", conflicts_with = "change")]
    pub(crate) format: RowFormat,
}

fn player_order() -> impl TypedValueParser<Value = PlayerOrder> {
    one_of([("games", PlayerOrder::Games), ("name", PlayerOrder::Name)])
}

/// Compare a repertoire with the games: line scores, and opponents' unanswered moves
#[derive(Args, Debug)]
#[command(after_long_help = "\
The repertoire's lines are the games of its PGN file with all variations. Transpositions are recognised: a move that \
leads back to a position of the repertoire is not a departure. At each position a game counts once, with its \
last move there. Points are those of the repertoire's side. Moves after the end of a line are not checked.

Examples:
  pgndex repertoire games.db mine.pgn --white \"Carlsen, Magnus\"
  pgndex repertoire games.db mine.pgn --elo-min 2500 --since 2020 --least-games 10
  pgndex repertoire games.db mine.pgn --side black --format json | jq '.[0].unanswered[:5]'")]
pub(crate) struct RepertoireArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// The repertoire: a PGN file, compressed or not; - for standard input
    #[arg(value_name = "PGN")]
    pub(crate) repertoire: PathBuf,
    /// The side that the repertoire is for.
    ///
    /// [default: the tag Orientation, as in Lichess studies, or else the side with fewer alternative moves]
    #[arg(long, value_name = "SIDE", value_parser = side())]
    pub(crate) side: Option<Color>,
    /// Show missing moves played in at least this many games.
    ///
    /// Missing moves are moves of either side that are not in the repertoire.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = within(0..=u32::MAX))]
    pub(crate) least_games: u32,
    /// Show missing moves with at least this percentage.
    ///
    /// The percentage is of the games that reached the position before the move. --least-games applies too.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = within(0..=100_u32))]
    pub(crate) least_share: u32,
    /// Number of lines or moves in each list; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = within(0..=u32::MAX))]
    pub(crate) limit: u32,
    /// Number of listed games that followed the repertoire.
    ///
    /// The latest come first.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within(0..=10_000_u32))]
    pub(crate) games: u32,
    /// List games that followed the repertoire for at least this many half-moves
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 8, value_parser = within(0..=u32::MAX))]
    pub(crate) least_plies: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Output format.
    ///
    /// json is one array; csv contains only the repertoire's lines.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: RowFormat,
    /// Print the elapsed time to standard error
    #[arg(long, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// The parser for a side.
pub(crate) fn side() -> impl TypedValueParser<Value = Color> {
    one_of([("white", Color::White), ("black", Color::Black)])
}
