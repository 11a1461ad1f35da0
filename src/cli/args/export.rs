//! Arguments of `pgndex export`.

use crate::cli::args::filter::FilterArgs;
use crate::cli::args::filter::WHICH;
use crate::cli::args::position::PositionArgs;
use crate::cli::args::read_position;
use crate::cli::args::within;
use clap::Args;
use pgndex::query::PositionQuery;
use std::path::PathBuf;

/// Write chosen games as PGN or CSV, or their positions as FEN or EPD
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pgndex export games.db --pgn --player carlsen --since 2019 --output carlsen.pgn
  pgndex export games.db --pgn --moves \"1. e4 c5 2. Nf3 d6\" --result 1-0 > najdorf-won.pgn
  pgndex export games.db --fen --ply 16 | sort | uniq -c | sort -rn | head
  pgndex export games.db --epd --last --elo-min 2700
  pgndex export games.db --csv --sql \"SELECT game_id FROM game ORDER BY ply_count DESC LIMIT 100\"

Without conditions all games are written. --fen is an output format here; to choose games by a position, use \
--position. PGN is in export format, with comments, glyphs, variations, clocks and evaluations unless --plain is given; a game with \
missing moves has the tag Truncated. CSV has a row for each game, with its moves. EPD has the \
full-move number, the half-move clock, game and ply, and the move played. The file appears when it is complete. If no \
game fits, no file is written, and one that is there stays as it was. The exit status is then 0, and a note says so.")]
pub(crate) struct ExportArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    #[command(flatten)]
    pub(crate) format: ExportFormatArgs,
    /// Write moves only: no comments, glyphs, variations, clocks and evaluations
    #[arg(long, requires = "pgn")]
    pub(crate) plain: bool,
    /// Of each game, only the position after this many half-moves
    #[arg(long, value_name = "N", conflicts_with_all = ["pgn", "csv", "last"], value_parser = within(0..=u32::MAX))]
    pub(crate) ply: Option<u32>,
    /// Of each game, only the last position
    #[arg(long, conflicts_with_all = ["pgn", "csv"])]
    pub(crate) last: bool,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) position: ExportPositionArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The games whose numbers are in the first column of this query, in its order
    #[arg(help_heading = WHICH, long, value_name = "QUERY")]
    #[arg(conflicts_with_all = ["ExportPositionArgs", "FilterArgs"])]
    pub(crate) sql: Option<String>,
}

/// What is written.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportFormatArgs {
    /// Write the games as PGN
    #[arg(long)]
    pub(crate) pgn: bool,
    /// Write their positions as FEN, one a line
    #[arg(long)]
    pub(crate) fen: bool,
    /// Write their positions as EPD, one a line, with the moves played
    #[arg(long)]
    pub(crate) epd: bool,
    /// Write the games as CSV, one a line
    #[arg(long)]
    pub(crate) csv: bool,
}

/// A position that games must have reached.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ExportPositionArgs {
    /// Games that reached the position with this FEN
    #[arg(help_heading = WHICH, long, value_name = "FEN")]
    pub(crate) position: Option<String>,
    /// Games that reached the position after these moves: "1. e4 c5 2. Nf3". They are read as `find` reads them
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(crate) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(help_heading = WHICH, long, value_name = "MOVES")]
    pub(crate) play: Option<String>,
}

impl ExportPositionArgs {
    /// The position, if there is one.
    ///
    /// # Errors
    /// Those of [`read_position`].
    pub(in crate::cli) fn query(&self) -> anyhow::Result<Option<PositionQuery>> {
        if let (None, None, None) = (&self.position, &self.moves, &self.play) {
            return Ok(None);
        }
        let args =
            PositionArgs { fen: self.position.clone(), moves: self.moves.clone(), play: self.play.clone() };
        read_position(&args).map(Some)
    }
}
