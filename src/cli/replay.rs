//! Where a stored game starts.

use anyhow::Context as _;
use pgndex::board::Position;

/// The position a game starts from; without a FEN, the standard one.
///
/// # Errors
/// When the FEN is no legal position.
pub(super) fn start_position(fen: Option<&str>) -> anyhow::Result<Position> {
    match fen {
        None => Ok(Position::start()),
        Some(fen) => {
            let position = Position::from_fen(fen.as_bytes()).with_context(|| {
                format!("the stored start position {fen:?} is not legal; the database is damaged")
            })?;
            Ok(position.0)
        }
    }
}
