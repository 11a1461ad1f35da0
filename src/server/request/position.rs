//! Parses the position of a request.

use crate::query::PositionQuery;
use crate::server::answer::Problem;
use crate::server::request::{Call, Param, ParamType};

/// The parameters that give a position.
pub(in crate::server) const POSITION: &[Param] = &[
    Param::new(
        "fen",
        ParamType::Text,
        "The position as a FEN; default the start position, and in searches of games no position",
    ),
    Param::new("play", ParamType::Text, "Moves played from that position, in UCI notation: e2e4,c7c5"),
    Param::new(
        "moves",
        ParamType::Text,
        "The moves that lead to the position, in any usual notation: 1. e4 c5 2. Nf3. Not with fen or play",
    ),
];

/// Parses the position; `None` if none is given.
pub(in crate::server) fn position(call: &Call) -> Result<Option<PositionQuery>, Problem> {
    let (fen, play, moves) = (call.text("fen"), call.text("play"), call.text("moves"));
    if moves.is_some() && fen.or(play).is_some() {
        return Err(Problem::parameter("moves", "already gives the position; leave out fen and play"));
    }
    if let Some(moves) = moves {
        return PositionQuery::from_moves(moves)
            .map(Some)
            .map_err(|error| Problem::position("moves", &error));
    }
    if fen.or(play).is_none() {
        return Ok(None);
    }
    let start = match fen {
        Some(fen) => PositionQuery::from_fen(fen).map_err(|error| Problem::position("fen", &error))?,
        None => PositionQuery::start(),
    };
    let played = start.then_uci(play.unwrap_or_default());
    played.map(Some).map_err(|error| Problem::position("play", &error))
}
