//! SQL functions on positions, moves, evaluations and games.

use rusqlite::types::Value;

use super::arguments::{Arguments, Problem, lossy, no_position};
use crate::board::{
    Material, MaterialSignature, MoveCode, Pattern, Phase, Piece, Position, PositionKey, Setup, Square,
    fields,
};
use crate::pgn::winning_chances;
use crate::query::write_pgn;
use crate::store::row::GameId;
use crate::store::{game_annotations, game_record};

type Body = fn(&Arguments<'_, '_>) -> Result<Value, Problem>;

/// Functions that depend only on their arguments: name, number of arguments, body. Most results of the
/// functions on moves are also columns of the view `moves`.
pub(super) const FUNCTIONS: [(&str, i32, Body); 20] = [
    ("fen_key", 1, |call| Ok(call.position(0)?.key().as_i64().into())),
    ("fen_normal", 1, |call| Ok(call.position(0)?.canonical_fen().into())),
    ("fen_board", 1, board),
    ("fen_piece", 2, |call| {
        let (setup, square) = (placement(call.text(0)?)?, call.square(1)?);
        Ok(setup.piece_at(square).map(letter).into())
    }),
    ("fen_material", 1, |call| Ok(material(call)?.to_string().into())),
    ("fen_has_material", 2, |call| {
        let signature = call.compiled(1, MaterialSignature::parse)?;
        Ok(signature.includes(material(call)?).into())
    }),
    ("fen_balance", 1, |call| Ok(material(call)?.balance().into())),
    ("fen_phase", 1, |call| Ok(Phase::from_setup(&placement(call.text(0)?)?).as_str().to_owned().into())),
    ("fen_matches", 2, |call| {
        let pattern = call.compiled(1, Pattern::parse)?;
        let fen = call.text(0)?.trim_ascii_start();
        placement(fen)?;
        Ok(pattern.matches(fen).into())
    }),
    ("fen_after", 2, after),
    ("key_hex", 1, |call| Ok(PositionKey::from_i64(call.integer(0)?).to_string().into())),
    ("move_uci", 1, |call| Ok(call.code(0)?.uci(None).to_string().into())),
    ("move_uci", 2, |call| legal(call).map(|(position, code)| position.uci(code).to_string().into())),
    ("move_san", 2, |call| legal(call).map(|(position, code)| position.san(code).into())),
    ("move_from", 1, |call| square(call, MoveCode::from)),
    ("move_to", 1, |call| square(call, MoveCode::to)),
    ("move_piece", 1, |call| Ok(call.code(0)?.piece().map(letter).into())),
    ("move_captured", 1, |call| Ok(call.code(0)?.captured().map(letter).into())),
    ("move_special", 1, |call| Ok(call.code(0)?.special().bits().into())),
    ("move_promotion", 1, |call| {
        Ok(call.code(0)?.promotion().map(|piece| letter(piece).to_ascii_lowercase()).into())
    }),
];

fn board(arguments: &Arguments<'_, '_>) -> Result<Value, Problem> {
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
    Ok(text.into())
}

fn after(arguments: &Arguments<'_, '_>) -> Result<Value, Problem> {
    let (fen, mut position, san) = (arguments.text(0)?, arguments.position(0)?, arguments.text(1)?);
    position.play_san(san).map_err(|source| {
        Problem::Text(format!("{:?} cannot be played in {:?}: {source}", lossy(san), lossy(fen)))
    })?;
    let has_counters = fields(fen).nth(4).is_some();
    Ok(if has_counters { position.fen() } else { position.canonical_fen() }.into())
}

fn placement(fen: &[u8]) -> Result<Setup, Problem> {
    Setup::parse_placement(fen).map_err(|source| no_position(fen, source))
}

fn material(arguments: &Arguments<'_, '_>) -> Result<Material, Problem> {
    let fen = arguments.text(0)?;
    Material::from_fen(fen).map_err(|source| no_position(fen, source))
}

fn letter(piece: Piece) -> String {
    char::from(piece.letter()).to_string()
}

/// The name of the square that `square` returns for the move; NULL for a null move.
fn square(arguments: &Arguments<'_, '_>, square: fn(MoveCode) -> Square) -> Result<Value, Problem> {
    let code = arguments.code(0)?;
    Ok((!code.is_null()).then(|| square(code).to_string()).into())
}

/// Parses the arguments as a position and a move code. Fails if the move is not legal in the position.
fn legal(arguments: &Arguments<'_, '_>) -> Result<(Position, MoveCode), Problem> {
    let (position, code) = (arguments.position(0)?, arguments.code(1)?);
    if let Err(source) = position.clone().make(code) {
        let (uci, fen) = (code.uci(None), lossy(arguments.text(0)?));
        return Err(Problem::Text(format!("the move {uci} cannot be played in {fen:?}: {source}")));
    }
    Ok((position, code))
}

/// `winning_chances(cp)`, `winning_chances(cp, mate)`
pub(super) fn chances(arguments: &Arguments<'_, '_>) -> Result<Value, Problem> {
    let cp = arguments.number(0)?;
    let mate = if arguments.count() > 1 { arguments.number(1)? } else { None };
    let chances = match mate {
        // Mate in 0 moves does not show which side is mated.
        Some(0.0) => None,
        // A mate counts as an infinite evaluation.
        Some(mate) => Some(winning_chances(f64::INFINITY.copysign(mate))),
        None => cp.map(winning_chances),
    };
    Ok(chances.into())
}

/// `game_pgn(game_id)`
pub(super) fn game_pgn(arguments: &Arguments<'_, '_>) -> Result<Value, Problem> {
    let number = arguments.integer(0)?;
    let missing = || Problem::Text(format!("there is no game {number}"));
    let game = u32::try_from(number).map(GameId).map_err(|_| missing())?;
    let connection = arguments.connection()?;
    let record = game_record(&connection, game)?.ok_or_else(missing)?;
    let mut text = String::new();
    write_pgn(&mut text, &record, &game_annotations(&connection, game)?).map_err(Problem::from_error)?;
    Ok(text.into())
}
