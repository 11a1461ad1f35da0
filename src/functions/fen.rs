//! SQL functions on positions.

use super::arguments::{Arguments, Problem, lossy, no_position};
use crate::board::{Material, MaterialSignature, Pattern, Phase, PositionKey, Setup, Square};

/// `fen_key(fen)`
pub(super) fn key(arguments: &Arguments<'_, '_>) -> Result<i64, Problem> {
    Ok(arguments.position(0)?.key().as_i64())
}

/// `key_hex(key)`
pub(super) fn hex(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    Ok(PositionKey::from_i64(arguments.integer(0)?).to_string())
}

/// `fen_normal(fen)`
pub(super) fn normal(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    Ok(arguments.position(0)?.canonical_fen())
}

/// `fen_board(fen)`
pub(super) fn board(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    let setup = placement(arguments.text(0)?)?;
    let mut text = String::with_capacity(9 * 18);
    for rank in (0..8).rev() {
        text.push(char::from(b'1' + rank));
        for file in 0..8 {
            let piece = setup.piece_at(Square::at(file, rank));
            text.extend([' ', piece.map_or('.', |piece| piece.letter().into())]);
        }
        text.push('\n');
    }
    text.push_str("  a b c d e f g h");
    Ok(text)
}

/// `fen_piece(fen, square)`
pub(super) fn piece(arguments: &Arguments<'_, '_>) -> Result<Option<String>, Problem> {
    let (setup, square) = (placement(arguments.text(0)?)?, arguments.square(1)?);
    Ok(setup.piece_at(square).map(|piece| char::from(piece.letter()).to_string()))
}

/// `fen_material(fen)`
pub(super) fn material(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    Ok(count(arguments)?.to_string())
}

/// `fen_has_material(fen, signature)`
pub(super) fn has_material(arguments: &Arguments<'_, '_>) -> Result<bool, Problem> {
    let signature = arguments.compiled(1, MaterialSignature::parse)?;
    Ok(signature.includes(count(arguments)?))
}

/// `fen_balance(fen)`
pub(super) fn balance(arguments: &Arguments<'_, '_>) -> Result<i32, Problem> {
    Ok(count(arguments)?.balance())
}

/// `fen_phase(fen)`
pub(super) fn phase(arguments: &Arguments<'_, '_>) -> Result<&'static str, Problem> {
    Ok(Phase::from_setup(&placement(arguments.text(0)?)?).as_str())
}

/// `fen_matches(fen, pattern)`
pub(super) fn matches(arguments: &Arguments<'_, '_>) -> Result<bool, Problem> {
    let pattern = arguments.compiled(1, Pattern::parse)?;
    let fen = arguments.text(0)?.trim_ascii_start();
    placement(fen)?;
    Ok(pattern.matches(fen))
}

/// `fen_after(fen, move)`
pub(super) fn after(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    let (fen, mut position, san) = (arguments.text(0)?, arguments.position(0)?, arguments.text(1)?);
    position.play_san(san).map_err(|source| Problem::San { fen: lossy(fen), san: lossy(san), source })?;
    let has_counters = fen.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).nth(4).is_some();
    Ok(if has_counters { position.fen() } else { position.canonical_fen() })
}

fn placement(fen: &[u8]) -> Result<Setup, Problem> {
    Setup::parse_placement(fen).map_err(|source| no_position(fen, source))
}

fn count(arguments: &Arguments<'_, '_>) -> Result<Material, Problem> {
    let fen = arguments.text(0)?;
    Material::from_fen(fen).map_err(|source| no_position(fen, source))
}
