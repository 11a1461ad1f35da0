//! SQL functions on moves. The view `moves` has most of their results as columns.

use super::arguments::{Arguments, Problem, lossy};
use crate::board::{MoveCode, Piece, Position, Square};

/// `move_uci(code)`
pub(super) fn uci(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    Ok(arguments.code(0)?.uci(None).to_string())
}

/// `move_uci(fen, code)`
pub(super) fn uci_in(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    let (position, code) = legal(arguments)?;
    Ok(position.uci(code).to_string())
}

/// `move_san(fen, code)`
pub(super) fn san(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    let (position, code) = legal(arguments)?;
    Ok(position.san(code))
}

/// `move_from(code)`
pub(super) fn from(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    square(arguments, MoveCode::from)
}

/// `move_to(code)`
pub(super) fn to(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    square(arguments, MoveCode::to)
}

/// `move_piece(code)`
pub(super) fn piece(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    Ok(arguments.code(0)?.piece().map(letter))
}

/// `move_captured(code)`
pub(super) fn captured(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    Ok(arguments.code(0)?.captured().map(letter))
}

/// `move_special(code)`
pub(super) fn special(arguments: &Arguments<'_, '_>) -> Result<u8, Problem> {
    Ok(arguments.code(0)?.special().bits())
}

/// `move_promotion(code)`
pub(super) fn promotion(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    Ok(arguments.code(0)?.promotion().map(|piece| letter(piece).to_ascii_lowercase()))
}

fn letter(piece: Piece) -> String {
    char::from(piece.letter()).to_string()
}

/// A square of a move; a null move has none.
fn square(
    arguments: &Arguments<'_, '_>,
    square: impl Fn(MoveCode) -> Square,
) -> Result<Option<String>, Problem> {
    let code = arguments.code(0)?;
    Ok((!code.is_null()).then(|| square(code).to_string()))
}

/// A position and a legal move in it.
fn legal(arguments: &Arguments<'_, '_>) -> Result<(Position, MoveCode), Problem> {
    let (position, code) = (arguments.position(0)?, arguments.code(1)?);
    match position.clone().make(code) {
        Ok(_) => Ok((position, code)),
        Err(source) => {
            Err(Problem::Move { fen: lossy(arguments.text(0)?), uci: code.uci(None).to_string(), source })
        }
    }
}
