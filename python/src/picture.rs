//! Boards as pictures.

use pgndex::board::Color;
use pgndex::picture::BoardPicture;
use pgndex::query::PositionQuery;
use pyo3::prelude::*;

use crate::error::QuestionError;

/// A position, given by a FEN, by moves as in PGN or by moves in UCI notation. If nothing is given, it is the start
/// position.
#[derive(Debug, Default)]
pub(crate) struct PositionArguments {
    pub(crate) fen: Option<String>,
    pub(crate) moves: Option<String>,
    pub(crate) play: Option<String>,
}

impl PositionArguments {
    pub(crate) fn read(&self) -> PyResult<PositionQuery> {
        let query = match self {
            Self { fen: Some(fen), moves: None, play: None } => PositionQuery::from_fen(fen),
            Self { fen: None, moves: Some(moves), play: None } => PositionQuery::from_moves(moves),
            Self { fen: None, moves: None, play: Some(play) } => PositionQuery::from_uci(play),
            Self { fen: None, moves: None, play: None } => Ok(PositionQuery::start()),
            _ => return Err(QuestionError::new_err("give the position in only one way: fen, moves or play")),
        };
        query.map_err(|error| QuestionError::new_err(crate::error::message(&error)))
    }

    pub(crate) const fn is_none(&self) -> bool {
        matches!(self, Self { fen: None, moves: None, play: None })
    }
}

/// The full FEN, the key and the picture of a position.
#[pyfunction]
#[pyo3(signature = (fen=None, moves=None, play=None, flip=false))]
pub(crate) fn board(
    fen: Option<String>,
    moves: Option<String>,
    play: Option<String>,
    flip: bool,
) -> PyResult<(String, i64, String)> {
    let query = PositionArguments { fen, moves, play }.read()?;
    let picture = BoardPicture {
        position: &query.position,
        orientation: if flip { Color::Black } else { Color::White },
        last_move: query.last_move(),
        arrows: &[],
    };
    Ok((query.position.fen(), query.position.key().as_i64(), picture.to_svg()))
}
