//! Arguments of `pgndex game`.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::cli::args::{BOARDS, BoardArgs, PictureArgs, within};

/// Show games: as score sheets, as JSON with a FEN for each ply, or as PGN
#[derive(Args, Debug)]
#[command(after_long_help = "\
The line below a board shows the balance of material in pawns: + if White is ahead, - if Black is ahead; `equal` means no difference. --svg \
draws one position of one game: the position at --ply, or else the last position.

For jq and JavaScript, which round large integers, use `key_hex` from the JSON instead of `key`. If moves are missing, the PGN has the tag \
\"Truncated\".

Examples:
  pgndex game games.db 42 --ply 24,end     with the board after ply 24 and after the last
  pgndex game games.db 42 50-60 --format pgn > chosen.pgn
  pgndex game games.db 42 --ply 24 --svg 42.svg")]
pub(crate) struct GameArgs {
    /// Database
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
    /// Game numbers: 42, or the range 1-5.
    ///
    /// `find` and the view `games` show them.
    #[arg(value_name = "GAME_ID", required = true, value_parser = game_range)]
    pub(crate) games: Vec<RangeInclusive<u32>>,
    /// Output format.
    ///
    /// json is one object per line.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: GameFormat,
    /// Leave out comments, glyphs, variations, clocks and evaluations
    #[arg(long)]
    pub(crate) plain: bool,
    /// Show the first move to a position that no game of an earlier date reached
    #[arg(long)]
    pub(crate) novelty: bool,
    /// Draw the board after these plies; 0 is the start, `end` the last position
    #[arg(help_heading = BOARDS, long, value_name = "PLY", value_delimiter = ',', value_parser = board_ply)]
    pub(crate) ply: Vec<BoardPly>,
    /// Draw the board after every N plies and at the end
    #[arg(help_heading = BOARDS, long, value_name = "N", value_parser = within(1..=u32::MAX))]
    pub(crate) board_every: Option<u32>,
    #[command(flatten)]
    pub(crate) board: BoardArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// Parses the id of a game, or a range of ids.
fn game_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        (Ok(first), Ok(last)) => Err(format!("the range is reversed; write {last}-{first}")),
        _ if Path::new(text).exists() => {
            Err(format!("the database comes first, as in 'pgndex game {text} 42'"))
        }
        _ if text.contains(',') => Err(format!("separate numbers with spaces: {}", text.replace(',', " "))),
        _ => Err("not a game number; give a number, such as 42, or a range, such as 1-5".to_owned()),
    }
}

/// The point in a game at which a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoardPly {
    /// After this many plies.
    After(u32),
    /// After the last ply.
    End,
}

fn board_ply(text: &str) -> Result<BoardPly, &'static str> {
    match text {
        "end" => Ok(BoardPly::End),
        _ => text.parse().map(BoardPly::After).map_err(|_| "not a ply; give a number or `end`"),
    }
}

/// Formats for games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GameFormat {
    Table,
    #[value(alias = "jsonl")]
    Json,
    Pgn,
}
