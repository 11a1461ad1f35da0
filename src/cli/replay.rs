//! A stored game, played through again.

use anyhow::{Context as _, bail};
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
    let mut position = start_position(record.start_fen.as_deref())?;
    let mut steps = Vec::with_capacity(record.positions.len());
    for stored in &record.positions {
        let damaged = |what: &str| {
            let (game, ply) = (record.summary.game.0, stored.ply.0);
            format!(
                "game {game}: at ply {ply} the stored {what} does not fit; the database is damaged, build it again"
            )
        };
        if stored.key != position.key() {
            bail!(damaged("position"));
        }
        let mut step = Step {
            ply: stored.ply,
            number: position.fullmove_number(),
            side: position.side(),
            fen: position.fen(),
            key: stored.key,
            played: None,
        };
        if let Some(code) = stored.move_code {
            let before = position.clone();
            position.make(code).with_context(|| damaged("move"))?;
            step.played = Some(Played { code, san: before.san(code), uci: before.uci(code).to_string() });
        }
        steps.push(step);
    }
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
