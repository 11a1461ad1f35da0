//! A stored game, played through again.

use anyhow::Context as _;
use pgndex::board::{Color, MoveCode, Position, PositionKey};
use pgndex::store::GameRecord;
use pgndex::store::row::Ply;

/// A position of a game and the move played from it.
#[derive(Debug)]
pub(super) struct Step {
    /// Its ply; 0 is the start position.
    pub(super) ply: Ply,
    /// The full-move number.
    pub(super) number: u32,
    /// Who is to move.
    pub(super) side: Color,
    /// All six fields of the FEN.
    pub(super) fen: String,
    /// The key.
    pub(super) key: PositionKey,
    /// The move; `None` in the last position.
    pub(super) played: Option<Played>,
}

/// A move in every notation.
#[derive(Debug)]
pub(super) struct Played {
    /// The code as it is stored.
    pub(super) code: MoveCode,
    /// SAN.
    pub(super) san: String,
    /// UCI.
    pub(super) uci: String,
}

/// Plays a game through, and checks that each stored move and position fits.
///
/// # Errors
/// When one does not: then the database is damaged.
pub(super) fn replay(record: &GameRecord) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::with_capacity(record.positions.len());
    pgndex::replay::replay(record, |position, stored| {
        steps.push(Step {
            ply: stored.ply,
            number: position.fullmove_number(),
            side: position.side(),
            fen: position.fen(),
            key: stored.key,
            played: stored.move_code.map(|code| Played {
                code,
                san: position.san(code),
                uci: position.uci(code).to_string(),
            }),
        });
    })?;
    Ok(steps)
}

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
