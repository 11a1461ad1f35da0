//! Options that give a position, and options for boards and pictures.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ColorChoice};
use pgndex::query::{PositionError, PositionQuery};

use crate::cli::error::{WrongValue, wrong_value};
use crate::cli::render::brief;

/// Heading of the options that give a position.
pub(crate) const POSITION: &str = "Position";

/// A position, given by at most one of three options.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct PositionArgs {
    /// The position as a FEN.
    ///
    /// Missing fields mean White to move, no castling and no en passant. The counters are ignored. If you
    /// give no position, `explore` and `key` use the start position.
    #[arg(help_heading = POSITION, long, value_name = "FEN", alias = "position")]
    pub(crate) fen: Option<String>,
    /// Moves from the start position: "1. e4 c5 2. Nf3".
    ///
    /// Lower-case letters, chess symbols and piece letters of other languages work too.
    #[arg(help_heading = POSITION, long, value_name = "MOVES")]
    pub(crate) moves: Option<String>,
    /// Moves from the start position, in UCI notation: e2e4,c7c5
    #[arg(help_heading = POSITION, long, value_name = "MOVES")]
    pub(crate) play: Option<String>,
}

impl PositionArgs {
    /// The given position; `None` if no option gives a position.
    ///
    /// # Errors
    /// Those of [`read_position`].
    pub(in crate::cli) fn query(&self) -> anyhow::Result<Option<PositionQuery>> {
        match self {
            Self { fen: None, moves: None, play: None } => Ok(None),
            position => read_position(position).map(Some),
        }
    }
}

/// Reads the position from `--fen`, `--moves` or `--play`. If none of them is given, returns the start
/// position.
///
/// # Errors
/// If the FEN is not that of a legal position. If the moves cannot be read as one line, one of them cannot be
/// played, or there are none. If the FEN or the moves belong to an unsupported variant.
pub(crate) fn read_position(args: &PositionArgs) -> anyhow::Result<PositionQuery> {
    let of_option = |option| {
        move |error: PositionError| {
            let message = format!("{option}: {error}");
            anyhow::Error::from(WrongValue(anyhow::Error::new(error).context(message)))
        }
    };
    Ok(match args {
        PositionArgs { fen: Some(fen), .. } => read_fen(fen)?,
        PositionArgs { moves: Some(moves), .. } => {
            PositionQuery::from_moves(moves).map_err(|error| match error {
                PositionError::Move { ply: 1, .. } if begins_with_black(moves) => wrong_value(
                    "--moves: the text begins with a move of Black, but White moves first; give White's first move too, as in \"1. e4 e5\"",
                ),
                error => of_option("--moves")(error),
            })?
        }
        PositionArgs { play: Some(play), .. } => {
            PositionQuery::from_uci(play).map_err(of_option("--play"))?
        }
        _ => PositionQuery::start(),
    })
}

/// Whether a text of moves begins like `1... e5`, with dots that announce a move of Black.
fn begins_with_black(moves: &str) -> bool {
    let dots = moves.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
    dots.starts_with("..") || dots.starts_with('…')
}

/// Reads a FEN.
///
/// # Errors
/// If the text is not a FEN of a legal position, or belongs to an unsupported variant.
pub(crate) fn read_fen(fen: &str) -> Result<PositionQuery, WrongValue> {
    PositionQuery::from_fen(fen).map_err(|error| {
        WrongValue(match fen.trim() {
            address if address.starts_with("http") => {
                anyhow!("the address contains no FEN: {}; copy the FEN that the page shows", brief(address))
            }
            moves if PositionQuery::from_moves(moves).is_ok() => {
                anyhow!("these are moves, not a FEN; use --moves \"{moves}\"")
            }
            _ => error.into(),
        })
    })
}

/// Heading of the options for boards and pictures.
pub(crate) const BOARDS: &str = "Boards and pictures";

/// How boards are drawn.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Draw boards with letters instead of figurines.
    ///
    /// Letters are the default if colours are off or the locale is not UTF-8.
    #[arg(help_heading = BOARDS, long, hide_short_help = true)]
    pub(crate) ascii: bool,
    /// Draw boards with Black at the bottom
    #[arg(help_heading = BOARDS, long)]
    pub(crate) flip: bool,
    /// When to draw boards in colour.
    ///
    /// auto: on a terminal, unless NO_COLOR is set.
    #[arg(help_heading = BOARDS, hide_short_help = true, long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

/// A picture of a position.
#[derive(Args, Debug)]
pub(crate) struct PictureArgs {
    /// Write a picture of the board to this file, as SVG
    #[arg(help_heading = BOARDS, long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(help_heading = BOARDS, long, requires = "svg", hide_short_help = true)]
    pub(crate) overwrite: bool,
}
