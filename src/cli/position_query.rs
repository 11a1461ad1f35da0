//! The position that the arguments ask for.

use anyhow::bail;
use pgndex::query::{PositionError, PositionQuery};

use crate::cli::args::PositionArgs;
use crate::cli::usage::WrongValue;

/// Reads `--fen`, `--moves` or `--play`.
///
/// # Errors
/// When the FEN is no legal position; when a move cannot be played: which, why, and in what position.
pub(super) fn read_position(args: &PositionArgs) -> anyhow::Result<PositionQuery> {
    let of_option = |option| move |error| WrongValue(OfOption { option, error }.into());
    Ok(match args {
        PositionArgs { fen: Some(fen), .. } => read_fen(fen)?,
        PositionArgs { moves: Some(moves), .. } => {
            PositionQuery::from_moves(moves).map_err(of_option("--moves"))?
        }
        PositionArgs { play: Some(play), .. } => {
            PositionQuery::from_uci(play).map_err(of_option("--play"))?
        }
        _ => bail!("no position; give --fen, --moves or --play"),
    })
}

/// Reads a FEN.
///
/// # Errors
/// When it is no legal position.
pub(super) fn read_fen(fen: &str) -> Result<PositionQuery, WrongValue> {
    PositionQuery::from_fen(fen).map_err(|error| WrongValue(error.into()))
}

/// What is wrong with the moves that an option gives.
#[derive(Debug, thiserror::Error)]
#[error("{option}: {error}")]
struct OfOption {
    option: &'static str,
    #[source]
    error: PositionError,
}
