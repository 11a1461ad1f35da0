//! Arguments of `pgndex key`.

use crate::cli::args::board::{BOARDS, PictureArgs};
use crate::cli::args::position::PositionArgs;
use crate::cli::args::value::RowFormat;
use clap::Args;

/// Show the key and the canonical FEN of a position
#[derive(Args, Debug)]
#[command(after_long_help = "\
The key is the Polyglot Zobrist hash of the canonical FEN. The database stores it as a signed 64-bit integer.

Examples:
  pgndex key \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\"
  pgndex key \"8/8/8/4k3/8/4K3/4P3/8 w - -\" --svg ending.svg
  pgndex sql games.db \"SELECT * FROM positions WHERE key = -9062197578030825066\"")]
pub(crate) struct KeyArgs {
    /// The position as a FEN; the quotes can be left out
    #[arg(value_name = "FEN", conflicts_with = "PositionArgs")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Output format.
    ///
    /// json is one object.
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: RowFormat,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw the picture with Black at the bottom
    #[arg(help_heading = BOARDS, long, requires = "svg")]
    pub(crate) flip: bool,
}
