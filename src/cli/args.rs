//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::size::ByteSize;

const EXAMPLES: &str = "\
Examples:
  pgndex index games.db *.pgn *.pgn.zst           index PGN files into a new database
  pgndex find games.db --moves \"1. e4 c5 2. Nf3\"  games with this position
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\"
  pgndex game games.db 42                         score sheet of game 42
  pgndex game games.db 42 --format pgn > 42.pgn
  pgndex sql games.db \"SELECT white, black, date FROM games WHERE eco = 'B90'\"

Answers go to standard output, all else to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but something of some games was lost.";

/// Index PGN dumps into one SQLite file and look up any position or move of any game
#[derive(Debug, Parser)]
#[command(name = "pgndex", version, after_help = EXAMPLES, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Index(IndexArgs),
    Info(InfoArgs),
    Find(FindArgs),
    Game(GameArgs),
    Sql(SqlArgs),
    Key(KeyArgs),
}

/// Index PGN files, packed or not, into a database
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex index games.db openings.pgn endings.pgn   two files
  pgndex index games.db twic/                      all PGN files of a directory and those below it
  pgndex index games.db lichess_db_*.pgn.zst       archives, as they are
  pgndex index games.db @files.txt                 the files listed there, one path a line
  curl -s URL | pgndex index games.db -            from standard input
  pgndex index --overwrite games.db twic/          the same, replacing what is there

Archives are told by their first bytes: zstd, gzip, bzip2, and zip, of which all .pgn files are read. UTF-16 is read too. \
Byte offsets are those of the unpacked UTF-8 text. Nothing is unpacked to disk, but a text of tens of MiB without a game boundary.

A game or a file that cannot be read is counted and reported, and the run goes on; a damaged archive gives the games \
before the damage. What was found wrong stands in the table `problem`; if a game lost something by it, the exit status is 3.")]
pub(crate) struct IndexArgs {
    /// Database to make
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// PGN files and archives of them; directories, patterns such as 'twic*.zip', lists of paths as @FILE, or - for standard
    /// input
    #[arg(value_name = "PGN", required = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// Replace the database if it exists
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Fail, and leave the database as it was, if anything at all is wrong with the input
    #[arg(long)]
    pub(super) strict: bool,
    /// Threads that parse and sort, at most 256 [default: one for each processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G; what is more goes to temporary files [default: a quarter of the machine's, at
    /// most 4G]
    #[arg(long, value_name = "SIZE")]
    pub(super) memory: Option<ByteSize>,
    /// Directory for temporary files, about 20 bytes for each position [default: the database's]
    #[arg(long, value_name = "DIR")]
    pub(super) temp_dir: Option<PathBuf>,
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
  pgndex info games.db --format json | jq .games")]
pub(crate) struct InfoArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// How to print it; json is one object
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: InfoFormat,
}

/// Find the games that reached a position
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex find games.db --moves \"1. e4 c5 2. Nf3 d6\"
  pgndex find games.db --play e2e4,c7c5 --limit 0 --format csv > sicilian.csv
  pgndex find games.db --fen \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --format json

Positions are the same if placement, side to move, castling rights and en passant are: neither the moves that led \
there nor the counters matter. Games come in the order of the database, one line for each time the position arose.")]
pub(crate) struct FindArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    #[command(flatten)]
    pub(super) position: PositionArgs,
    /// How many lines to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(super) limit: u32,
    /// How to print them; json is one object a line
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: RowFormat,
}

/// A position, told in one of three ways.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct PositionArgs {
    /// The position as a FEN; two fields are enough, and the counters are ignored
    #[arg(long, value_name = "FEN")]
    pub(super) fen: Option<String>,
    /// The moves that lead to it from the start position, as in PGN: "1. e4 c5 2. Nf3"
    #[arg(long, value_name = "MOVES")]
    pub(super) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(long, value_name = "MOVES")]
    pub(super) play: Option<String>,
}

/// Show one game: as a score sheet, as JSON with a FEN for each ply, or as PGN
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex game games.db 42
  pgndex game games.db 42 --format pgn >> chosen.pgn
  pgndex game games.db 42 --format json | jq -r '.plies[].fen'")]
pub(crate) struct GameArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// Number of the game, as `find` and the view `games` show it
    #[arg(value_name = "GAME_ID")]
    pub(super) game: u32,
    /// How to print it; pgn is PGN's export format without comments, json is one object
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: GameFormat,
}

/// Run one read-only SQL query
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex sql games.db \"SELECT * FROM moves WHERE game_id = 42\"
  pgndex sql games.db --format csv \"SELECT * FROM games\" > games.csv
  pgndex sql games.db --format json < query.sql
  pgndex sql games.db \"SELECT eco, count(*) FROM game GROUP BY eco ORDER BY 2 DESC LIMIT 10\"

There are the views `games`, `moves` and `positions` to read from; `SELECT name, sql FROM sqlite_schema` shows all \
there is. NULL is printed as nothing (in json as null), a BLOB in hexadecimal. Rows are printed as they are found.")]
pub(crate) struct SqlArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(super) database: PathBuf,
    /// The query; read from standard input if there is none or it is '-'
    #[arg(value_name = "QUERY")]
    pub(super) query: Option<String>,
    /// How to print the rows; json is one object a line
    #[arg(long, short, value_enum, default_value = "table")]
    pub(super) format: RowFormat,
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
    Json,
    Csv,
}

/// Formats for what a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    Table,
    Json,
}

/// Formats for one game.
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
