//! The arguments.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pgndex::board::GameResult;
use pgndex::query::PositionQuery;
use pgndex::store::{DatePrefix, EcoRange, FilterError, GameFilter, NameFilter};

use crate::cli::position_query::read_position;
use crate::cli::render::size::{ByteSize, Memory};
use crate::cli::usage::WrongValue;

const EXAMPLES: &str = "\
Examples:
  pgndex index games.db *.pgn *.pgn.zst           index PGN files into a new database
  pgndex find games.db --moves \"1. e4 c5 2. Nf3\"  games with this position
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\"
  pgndex game games.db 42                         score sheet of game 42
  pgndex game games.db 42 --format pgn > 42.pgn
  pgndex sql games.db \"SELECT white, black, date FROM games WHERE eco = 'B90'\"

Answers go to standard output, all else to standard error.
Exit status: 0 done (also if nothing was found), 1 failed, 2 wrong usage, 3 done but something of some games or files was \
lost, 4 another program is writing the database.";

/// Index PGN dumps into one SQLite file and look up any position or move of any game
#[derive(Debug, Parser)]
#[command(name = "pgndex", version, after_help = EXAMPLES, arg_required_else_help = true)]
#[command(max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Reads a whole number of a range.
fn within<N: FromStr<Err = ParseIntError> + PartialOrd + Display>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone
where
    RangeInclusive<N>: Clone,
{
    move |text| {
        let too_large = || format!("too large; the most is {}", range.end());
        match text.parse::<N>() {
            Ok(number) if number > *range.end() => Err(too_large()),
            Ok(number) if number < *range.start() => {
                Err(format!("too small; the least is {}", range.start()))
            }
            Ok(number) => Ok(number),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(too_large()),
            Err(_) => Err("not a whole number".to_owned()),
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Index(IndexArgs),
    Info(InfoArgs),
    Find(Box<FindArgs>),
    Explore(Box<ExploreArgs>),
    Game(GameArgs),
    Export(Box<ExportArgs>),
    Sql(SqlArgs),
    Verify(VerifyArgs),
    Key(KeyArgs),
}

/// Index PGN files, packed or not, into a database
#[derive(Args, Debug)]
#[command(
    override_usage = "pgndex index [OPTIONS] <DB> <PGN>...\n       pgndex index [OPTIONS] --dry-run <PGN>..."
)]
#[command(after_help = "\
Examples:
  pgndex index games.db openings.pgn endings.pgn   two files
  pgndex index games.db twic/                      all PGN files of a directory and those below it
  pgndex index games.db lichess_db_*.pgn.zst       archives, as they are
  pgndex index games.db @files.txt                 the files listed there, one path a line
  curl -s URL | pgndex index games.db -            from standard input
  pgndex index --overwrite games.db twic/          the same, replacing what is there
  pgndex index --dry-run --rejects bad.pgn twic/   without a database: are the games sound?

Archives are told by their first bytes: zstd, gzip, bzip2, and zip, of which all .pgn files are read. UTF-16 is read too. \
Byte offsets are those of the unpacked UTF-8 text. Nothing is unpacked to disk, but a text of tens of MiB without a game boundary.

A game or a file that cannot be read is counted and reported, and the run goes on; a damaged archive gives the games \
before the damage. What was found wrong stands in the table `problem`; if a game lost something by it, or a file has text but \
no game, the exit status is 3.")]
pub(crate) struct IndexArgs {
    /// Database to make, or to add to
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// PGN files and archives of them; directories, patterns such as 'twic*.zip', lists of paths as @FILE, or - for standard
    /// input
    #[arg(value_name = "PGN", required_unless_present = "dry_run")]
    pub(super) inputs: Vec<PathBuf>,
    /// Replace the database if it exists
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Fail, and leave the database as it was, if anything at all is wrong with the input
    #[arg(help_heading = WRONG, long)]
    pub(super) strict: bool,
    /// Only read and replay the games, and write no database
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write all problems to a file while they are found: JSON, one object a line
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(super) problems: Option<PathBuf>,
    /// Write the text of all games with an error to a file, as it stands in the input
    #[arg(help_heading = WRONG, long, value_name = "FILE")]
    pub(super) rejects: Option<PathBuf>,
    /// What becomes of a game with an error: its moves before the error are kept, it is left out, or the run fails there and
    /// writes no database
    #[arg(help_heading = WRONG, long, value_name = "WHAT", value_enum, default_value = "keep")]
    pub(super) on_problem: OnProblemArg,
    /// Fail, and write no database, if there are more errors than this
    #[arg(help_heading = WRONG, long, value_name = "N", value_parser = within(0..=u64::MAX))]
    pub(super) max_problems: Option<u64>,
    /// What becomes of a game that repeats an earlier one
    #[arg(long, value_name = "RULE", value_enum, default_value = "skip")]
    pub(super) duplicates: DuplicatesArg,
    /// How many games must have reached a position for its continuations to be kept ready for `explore` [default: 64, or as
    /// the database was made]
    #[arg(long, value_name = "GAMES", value_parser = within(1..=u32::MAX))]
    pub(super) continuation_threshold: Option<u32>,
    /// Threads that parse and sort, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(super) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G; what is more goes to temporary files [default: a quarter of the machine's, at
    /// most 4G]
    #[arg(long, value_name = "SIZE")]
    pub(super) memory: Option<Memory>,
    /// Directory for temporary files, about 20 bytes for each position [default: the database's]
    #[arg(long, value_name = "DIR")]
    pub(super) temp_dir: Option<PathBuf>,
    /// Names of openings: a TSV file with the columns eco, name and pgn, an .eco file of Scid, a PGN file with ECO and
    /// Opening tags, or a directory of such files [default: a list of the main openings]
    #[arg(long, value_name = "FILE")]
    pub(super) openings: Option<PathBuf>,
    /// What `--openings` was called before
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "openings")]
    pub(super) eco: Option<PathBuf>,
    /// Size of the pieces that input is cut into for the threads
    #[arg(long, value_name = "SIZE", hide = true)]
    pub(super) chunk_size: Option<ByteSize>,
    /// How the two big tables are written; the rows are the same
    #[arg(long, value_name = "WRITER", hide = true, value_enum, default_value = "direct")]
    pub(super) writer: WriterArg,
    /// Show no progress and no summary; errors are still shown
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// End with one JSON object on standard output instead of the summary
    #[arg(long)]
    pub(super) json: bool,
    /// How to write notes, errors and progress to standard error; json is one object a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(super) log_format: LogFormat,
}

/// Heading of the options on what is wrong with the input.
const WRONG: &str = "What is wrong with the input";

/// What becomes of a game with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnProblemArg {
    Keep,
    Skip,
    Stop,
}

/// Forms of what goes to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    Text,
    Json,
}

/// What becomes of games that repeat an earlier one.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DuplicatesArg {
    /// They are kept, and not looked for
    Keep,
    /// They are skipped, and linked to the one that is kept, if moves, players, date and result are the same
    Skip,
    /// They are also skipped if they have the same moves, at least 20 plies, whoever played
    Moves,
}

/// Ways to write the two big tables.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum WriterArg {
    /// Pages are built in the worker threads.
    Direct,
    /// SQLite inserts the rows.
    Sql,
}

/// Show what a database holds
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex info games.db
  pgndex info games.db --sizes
  pgndex info games.db --format json | jq .games

Games are counted by result, year, rating and opening: by its name, or by the PGN's ECO code if no names are known. A \
game counts twice among the ratings, once for each player. JSON has all of it, and every source and run.")]
pub(crate) struct InfoArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// How to print it; json is one object
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: InfoFormat,
    /// List every source and run, not only the latest 20
    #[arg(long)]
    pub(super) all: bool,
    /// Measure each table and index; this reads the whole file
    #[arg(long)]
    pub(super) sizes: bool,
}

/// Find the games that reached a position
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex find games.db --moves \"1. e4 c5 2. Nf3 d6\"
  pgndex find games.db --play e2e4,c7c5 --limit 0 --format csv > sicilian.csv
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --format json
  pgndex find games.db --moves \"1. d4 f5\" --elo-min 2600 --since 2010 --sort rating
  pgndex find games.db --moves \"1. e4 e5 2. f4\" --white spassky --format pgn > spassky.pgn
  pgndex find games.db --pattern \"*R*k*/*/*/*/*/*/*/* b\"
  pgndex find games.db --material KRPvKR --elo-min 2600

Positions are the same if placement, side to move, castling rights and en passant are: neither the moves that led \
there nor the counters matter. There is one line for each time the position arose. \
For --pattern and --material every position of every game is looked at, and there is one line for each game, with the \
first position that fits. Sorted by rating or date, games without a \
result come last.")]
pub(crate) struct FindArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    #[command(flatten)]
    pub(super) target: FindTargetArgs,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Order: of the database, by the players' mean rating (best first), or by date (latest first)
    #[arg(long, value_name = "ORDER", value_enum, default_value = "game")]
    pub(super) sort: SortArg,
    /// How many lines to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 15, value_parser = within(0..=u32::MAX))]
    pub(super) limit: u32,
    /// How many lines to skip first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(super) offset: u32,
    /// How to print them; json is one object a line, pgn the games themselves
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: FindFormat,
    /// End with a line on standard error that tells the time taken
    #[arg(long)]
    pub(super) timing: bool,
}

/// What is looked for: a position, told in one of three ways, or a description of positions.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct FindTargetArgs {
    /// The position as a FEN; what is left out counts as no castling and no en passant, and the counters are ignored
    #[arg(long, value_name = "FEN", alias = "position")]
    fen: Option<String>,
    /// The moves that lead to it from the start position, as in PGN: "1. e4 c5 2. Nf3"
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(long, value_name = "MOVES")]
    play: Option<String>,
    /// A FEN's placement in which '?' stands for anything on a square, '!' for a piece, 'A' and 'a' for a white and a black
    /// one, [QR] for one of these, '*' for any number of squares; then, if it matters, the side to move
    #[arg(long, value_name = "PLACEMENT")]
    pub(super) pattern: Option<String>,
    /// The pieces that are left, White's first, as in KRPvKR
    #[arg(long, value_name = "PIECES")]
    pub(super) material: Option<String>,
}

impl FindTargetArgs {
    /// The position, unless positions are described.
    pub(super) fn position(&self) -> PositionArgs {
        PositionArgs { fen: self.fen.clone(), moves: self.moves.clone(), play: self.play.clone() }
    }
}

/// Orders of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    Game,
    Rating,
    Date,
}

/// Heading of the options that choose games.
const WHICH: &str = "Which games";

/// Which games count: those for which all of this holds.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// White's name, or the beginning of a word of it; letter case, accents and blanks around commas do not matter; '=NAME'
    /// for exactly this name
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(super) white: Option<NameFilter>,
    /// Black's name
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(super) black: Option<NameFilter>,
    /// The name of either
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(super) player: Option<NameFilter>,
    /// Both players are rated this or higher
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(super) elo_min: Option<u16>,
    /// Both players are rated this or lower
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(super) elo_max: Option<u16>,
    /// Played in this year, month or day (2021, 2021.06, 2021-06-30) or later; what is unknown of a game's month and day does
    /// not exclude it
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(super) since: Option<DatePrefix>,
    /// Played then or earlier
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(super) until: Option<DatePrefix>,
    /// Result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none
    #[arg(help_heading = WHICH, long, value_name = "RESULT", value_parser = result)]
    pub(super) result: Option<GameResult>,
    /// The event's name, as with players
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(super) event: Option<NameFilter>,
    /// The ECO code that the PGN's tag ECO gives (column eco): B90, B9 for B90 to B99, or a range such as B90-C19
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco)]
    pub(super) eco: Option<EcoRange>,
    /// The ECO code of the opening that the game's positions tell (column opening_eco), whatever its tags say
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco)]
    pub(super) opening_eco: Option<EcoRange>,
}

/// Reads ECO codes. A file with names of openings was once given in their place.
fn eco(text: &str) -> Result<EcoRange, String> {
    text.parse().map_err(|error: FilterError| match Path::new(text).exists() {
        true => format!("{error}; a file with names of openings is given by --openings"),
        false => error.to_string(),
    })
}

fn result(text: &str) -> Result<GameResult, &'static str> {
    match text {
        "draw" => Ok(GameResult::Draw),
        _ => GameResult::parse(text.as_bytes()).ok_or("not a result; write 1-0, 0-1, 1/2-1/2, draw or *"),
    }
}

impl FilterArgs {
    /// The filter that the arguments make.
    ///
    /// # Errors
    /// If no game can fit it.
    pub(super) fn filter(&self) -> Result<GameFilter, WrongValue> {
        let args = self.clone();
        let filter = GameFilter {
            white: args.white,
            black: args.black,
            player: args.player,
            elo_min: args.elo_min,
            elo_max: args.elo_max,
            since: args.since,
            until: args.until,
            result: args.result,
            event: args.event,
            eco: args.eco,
            opening_eco: args.opening_eco,
        };
        filter.check().map_err(|error| WrongValue(error.into()))?;
        Ok(filter)
    }
}

/// Show what was played from a position, and with what results
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex explore games.db --moves \"1. e4 c5\"
  pgndex explore games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --board
  pgndex explore games.db --play e2e4,c7c5 --format json | jq '.moves[:3]'
  pgndex explore games.db --moves \"1. e4 c5\" --white carlsen --since 2015

Games count whatever moves led to the position, each once: if a game returned to it, by the last move made there. Games \
without a result are not counted. Bars show White's wins, draws and Black's wins, with --ascii as # = and full stops. \
A position without a name has that of the last one on the way to it. JSON is one object of the form that Lichess's opening explorer answers with.

The counts of all games stand in the database. Those of some games are made when they are asked for: every game that reached \
the position, or every game of the players, event, opening or time if these are fewer, is looked at. That takes a few seconds \
for each million of games; Ctrl-C ends it.")]
pub(crate) struct ExploreArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    #[command(flatten)]
    pub(super) position: PositionArgs,
    /// How many moves to show, the most frequent first; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0, value_parser = within(0..=u32::MAX))]
    pub(super) limit: u32,
    /// How many of the highest rated games to list, at most 15 [default: 5; in json 15]
    #[arg(long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(super) top: Option<u8>,
    /// How many of the latest games to list, at most 15 [default: 5; in json 15]
    #[arg(long, value_name = "N", value_parser = within(0..=15_u8))]
    pub(super) recent: Option<u8>,
    /// Names of openings, in a file or directory as for `index --openings` [default: those the database was made with]
    #[arg(long, value_name = "FILE")]
    pub(super) openings: Option<PathBuf>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// How to print it; json is one object, csv has the moves only
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: RowFormat,
    /// Draw the position
    #[arg(long)]
    pub(super) board: bool,
    #[command(flatten)]
    pub(super) style: BoardArgs,
    /// End with a line on standard error that tells the time taken
    #[arg(long)]
    pub(super) timing: bool,
}

/// A position, told in one of three ways.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct PositionArgs {
    /// The position as a FEN; what is left out counts as no castling and no en passant, and the counters are ignored
    #[arg(long, value_name = "FEN")]
    pub(super) fen: Option<String>,
    /// The moves that lead to it from the start position, as in PGN: "1. e4 c5 2. Nf3"
    #[arg(long, value_name = "MOVES")]
    pub(super) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(long, value_name = "MOVES")]
    pub(super) play: Option<String>,
}

/// Show games: as score sheets, as JSON with a FEN for each ply, or as PGN
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex game games.db 42
  pgndex game games.db 42 --ply 24,end            with the board after ply 24 and after the last
  pgndex game games.db 42 --board-every 10
  pgndex game games.db 42 50-60 --format pgn > chosen.pgn
  pgndex game games.db 42 --format json | jq -r '.plies[].fen'

Below a board stands the balance of material, counted in pawns, + for White.

In JSON, `key` is the position's key as the database has it, a signed 64-bit integer; jq and JavaScript round such \
numbers, so `key_hex` has it as text. Castling in UCI is the king's move (e1g1), in games of Chess960 the king taking \
its rook. PGN of a game that is not all in the database has the tag \"Truncated\".")]
pub(crate) struct GameArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// Numbers of games, as `find` and the view `games` show them: 42, or 1-5
    #[arg(value_name = "GAME_ID", required = true)]
    pub(super) games: Vec<GameRange>,
    /// How to print it; pgn is PGN's export format without comments, json is one object a line
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: GameFormat,
    /// Draw the board after these plies; 0 is the start, `end` the last position
    #[arg(long, value_name = "PLY", value_delimiter = ',')]
    pub(super) ply: Vec<BoardPly>,
    /// Draw the board after every N plies and at the end
    #[arg(long, value_name = "N", value_parser = within(1..=u32::MAX))]
    pub(super) board_every: Option<u32>,
    #[command(flatten)]
    pub(super) board: BoardArgs,
}

/// Games with numbers from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GameRange {
    /// The first game.
    pub(super) first: u32,
    /// The last game, not before the first.
    pub(super) last: u32,
}

impl FromStr for GameRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err("not a game's number; give one, such as 42, or a range, such as 1-5"),
        }
    }
}

/// Where in a game a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoardPly {
    /// After this many plies.
    After(u32),
    /// After the last.
    End,
}

impl FromStr for BoardPly {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "end" => Ok(Self::End),
            _ => text.parse().map(Self::After).map_err(|_| "not a ply; give a number or `end`"),
        }
    }
}

/// How boards are drawn.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Draw boards with letters instead of figures, as is done where the locale is not UTF-8
    #[arg(long)]
    pub(super) ascii: bool,
    /// Draw boards with Black at the bottom
    #[arg(long)]
    pub(super) flip: bool,
    /// Draw boards in colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(super) color: ColorChoice,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Write chosen games as PGN or CSV, or their positions as FEN or EPD
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex export games.db --pgn --player carlsen --since 2019 --output carlsen.pgn
  pgndex export games.db --pgn --moves \"1. e4 c5 2. Nf3 d6\" --result 1-0 > najdorf-won.pgn
  pgndex export games.db --fen --ply 16 | sort | uniq -c | sort -rn | head
  pgndex export games.db --epd --last --elo-min 2700
  pgndex export games.db --csv --sql \"SELECT game_id FROM game ORDER BY ply_count DESC LIMIT 100\"

Without conditions, all games are written. Here --fen names what is written, and --position the position that games must \
have reached. PGN is in export format, without comments and variations; the tag Truncated tells if moves are missing. CSV has a row for each game, with its moves. EPD tells full-move number, half-move clock, \
game and ply, and the move played. A file is put into place when it is whole; if no game fits, none is written, and one that is there \
stays as it was. The exit status is then 0, and a note says so.")]
pub(crate) struct ExportArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    #[command(flatten)]
    pub(super) format: ExportFormatArgs,
    /// Of each game, only the position after this many half-moves
    #[arg(long, value_name = "N", conflicts_with_all = ["pgn", "csv", "last"], value_parser = within(0..=u32::MAX))]
    pub(super) ply: Option<u32>,
    /// Of each game, only the last position
    #[arg(long, conflicts_with_all = ["pgn", "csv"])]
    pub(super) last: bool,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) position: ExportPositionArgs,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// The games whose numbers stand in the first column of this read-only query, in its order
    #[arg(help_heading = WHICH, long, value_name = "QUERY")]
    #[arg(conflicts_with_all = ["ExportPositionArgs", "FilterArgs"])]
    pub(super) sql: Option<String>,
}

/// What is written.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportFormatArgs {
    /// Write the games as PGN
    #[arg(long)]
    pub(super) pgn: bool,
    /// Write their positions as FEN, one a line
    #[arg(long)]
    pub(super) fen: bool,
    /// Write their positions as EPD, one a line, with the moves played
    #[arg(long)]
    pub(super) epd: bool,
    /// Write the games as CSV, one a line
    #[arg(long)]
    pub(super) csv: bool,
}

/// A position that games must have reached.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ExportPositionArgs {
    /// They reached the position with this FEN
    #[arg(help_heading = WHICH, long, value_name = "FEN")]
    pub(super) position: Option<String>,
    /// They reached the position after these moves: "1. e4 c5 2. Nf3"
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(super) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(super) play: Option<String>,
}

impl ExportPositionArgs {
    /// The position, if there is one.
    ///
    /// # Errors
    /// Those of [`read_position`].
    pub(super) fn query(&self) -> anyhow::Result<Option<PositionQuery>> {
        if let (None, None, None) = (&self.position, &self.moves, &self.play) {
            return Ok(None);
        }
        let args =
            PositionArgs { fen: self.position.clone(), moves: self.moves.clone(), play: self.play.clone() };
        read_position(&args).map(Some)
    }
}

/// Run SQL, or show a prompt for it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex sql games.db                                  a prompt, with history and completion
  pgndex sql games.db \"SELECT * FROM moves WHERE game_id = 42\"
  pgndex sql games.db .schema                          the tables and views, explained
  pgndex sql games.db --format csv \"SELECT * FROM games\" > games.csv
  pgndex sql games.db --file report.sql --format md    several statements, one after the other
  pgndex sql games.db --write \"DELETE FROM tag WHERE name = 'Annotator'\"

Start with the views `games`, `moves` and `positions`. Rows are printed as they are found. NULL is printed as nothing (in \
json as null), a BLOB in hexadecimal. `jq -s` makes an array of JSON's lines. Keys are 64-bit \
numbers, which jq and JavaScript round: ask for key_hex(key) there.

Between statements, lines that begin with a dot are commands: .tables, .schema [TABLE], .mode FORMAT, .timer on|off, \
.help, .quit. At the first error a run ends. With --write each statement is committed by itself, unless they stand between \
BEGIN and COMMIT.")]
pub(crate) struct SqlArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// The statements; if none are given, standard input is read, or a prompt shown if that is a terminal. '-' is
    /// standard input
    #[arg(value_name = "QUERY", allow_hyphen_values = true, value_parser = query_text)]
    pub(super) query: Option<String>,
    /// Read the statements from a file
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "query")]
    pub(super) file: Option<PathBuf>,
    /// How to print the rows; json, also called jsonl, is one object a line
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: SqlFormat,
    /// Allow changes; nobody else can write the database meanwhile
    #[arg(long)]
    pub(super) write: bool,
    /// Keep the prompt's history in this file [default: it is forgotten at the end]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "file"])]
    pub(super) history: Option<PathBuf>,
}

/// A query may begin with a comment, which looks like an option; a mistyped option must not be taken for a comment.
fn query_text(text: &str) -> Result<String, &'static str> {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_option { Err("there is no such option") } else { Ok(text.to_owned()) }
}

/// Check that a database is sound; nothing is changed or repaired
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex verify games.db                      the whole structure, and 1,000 games on the board
  pgndex verify games.db --all --limit 100    every game
  pgndex verify games.db --json | jq .sound

Pages, links between tables, counts and totals are checked in full. Of a sample of games each position and move is made \
again on the board, hashes and the opening too, and their PGN is read again where the files are still there; of as many much \
visited positions the continuations are counted again, and as many duplicates are compared with the games that they \
repeat. A file that is no longer there or has changed is noted and no damage.

Exit status: 0 the database is sound, 1 it is not, or it could not be checked.")]
pub(crate) struct VerifyArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// How many games to replay, positions to count again and duplicates to compare, spread evenly
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = within(0..=u32::MAX))]
    pub(super) sample: u32,
    /// Replay all games, count all positions again and compare all duplicates
    #[arg(long, conflicts_with = "sample")]
    pub(super) all: bool,
    /// How many findings to show; all are counted
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = within(1..=u32::MAX))]
    pub(super) limit: u32,
    /// Do not read the PGN files
    #[arg(long)]
    pub(super) no_sources: bool,
    /// Threads, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = within(1..=256_u16))]
    pub(super) threads: Option<u16>,
    /// Show no progress
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// End with one JSON object instead of text
    #[arg(long)]
    pub(super) json: bool,
}

/// Show the key and the canonical FEN of a position
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex key \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\"
  pgndex sql games.db \"SELECT * FROM positions WHERE key = -9062197578030825066\"

The key is the Polyglot Zobrist hash of the canonical FEN; the database has it as a signed 64-bit integer.")]
pub(crate) struct KeyArgs {
    /// The position; the quotes can be left out
    #[arg(value_name = "FEN", required = true, num_args = 1..)]
    pub(super) fen: Vec<String>,
    /// How to print it; json is one object
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: RowFormat,
}

/// Formats for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Csv,
}

/// Formats for found games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindFormat {
    Table,
    Json,
    Csv,
    Pgn,
}

/// Formats for the rows of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    Table,
    Box,
    Csv,
    #[value(alias = "jsonl")]
    Json,
    Md,
    Line,
}

impl SqlFormat {
    /// Whether it is read by people rather than programs.
    pub(super) const fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Box | Self::Md | Self::Line)
    }
}

impl From<RowFormat> for SqlFormat {
    fn from(format: RowFormat) -> Self {
        match format {
            RowFormat::Table => Self::Table,
            RowFormat::Json => Self::Json,
            RowFormat::Csv => Self::Csv,
        }
    }
}

/// Formats for what a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    Table,
    Json,
}

/// Formats for games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GameFormat {
    Table,
    Json,
    Pgn,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
