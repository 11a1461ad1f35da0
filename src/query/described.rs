//! A position with its legal moves, so that a board on a screen can show it without knowing the rules of
//! chess.

use serde::Serialize;

use crate::board::{MoveCode, Position};
use crate::opening::Opening;
use crate::query::find::side;
use crate::query::position::PositionQuery;
use crate::sorted::sort_by;
use crate::store::{self, Database};

/// A position, the line that led to it, and its legal moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DescribedPosition {
    /// FEN of the position, all six fields.
    pub fen: String,
    /// Canonical FEN, used to look the position up: the first four fields, with an en passant square only if
    /// such a capture is legal.
    pub canonical_fen: String,
    /// Polyglot key in 16 hexadecimal digits.
    pub key: String,
    /// Polyglot key as a signed 64-bit integer, as in the database. JavaScript rounds it: use `key` there.
    pub integer: i64,
    /// Side to move: `w` or `b`.
    pub turn: &'static str,
    /// Number of the next move.
    pub move_number: u32,
    /// Whether the side to move is in check.
    pub is_check: bool,
    /// Whether the side to move is mated.
    pub is_mate: bool,
    /// Whether the side to move has no legal move and is not in check.
    pub is_stalemate: bool,
    /// Opening of the position, or of the last named position on the way to it; `null` if there is none.
    pub opening: Option<Opening>,
    /// The legal moves, sorted by their SAN.
    pub moves: Vec<DescribedMove>,
    /// FEN of the first position of the line, all six fields.
    pub start_fen: String,
    /// The moves from the first position of the line to this position.
    pub line: Vec<DescribedMove>,
    /// Assumptions made because the position was given incompletely or in an unusual form: one sentence each.
    pub assumptions: Vec<String>,
    /// Differences between this position and the given FEN: one sentence each.
    pub changes: Vec<String>,
}

/// A move, and the position after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribedMove {
    /// The move in UCI notation.
    pub uci: String,
    /// The move in SAN.
    pub san: String,
    /// FEN of the position after the move, all six fields.
    pub fen: String,
}

impl DescribedPosition {
    /// Describes a position; openings have the names that the database gives them.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn new(database: &Database, query: &PositionQuery) -> store::Result<Self> {
        let position = &query.position;
        let mut codes = Vec::new();
        position.legal_moves(&mut codes);
        let mut moves = Vec::from_iter(codes.into_iter().filter_map(|code| described(position, code)));
        sort_by(&mut moves, |one, other| one.san.cmp(&other.san));
        let mut before = query.start.clone();
        let mut line = Vec::with_capacity(query.line.len());
        for played in &query.line {
            line.extend(described(&before, played.code));
            before = played.position.clone();
        }
        Ok(Self {
            fen: position.fen(),
            canonical_fen: position.canonical_fen(),
            key: position.key().to_string(),
            integer: position.key().as_i64(),
            turn: side(position.side()),
            move_number: position.fullmove_number(),
            is_check: position.is_check(),
            is_mate: moves.is_empty() && position.is_check(),
            is_stalemate: moves.is_empty() && !position.is_check(),
            opening: opening(database, query)?,
            moves,
            start_fen: query.start.fen(),
            line,
            assumptions: query.assumptions(),
            changes: query.changes.iter().map(ToString::to_string).collect(),
        })
    }
}

fn opening(database: &Database, query: &PositionQuery) -> store::Result<Option<Opening>> {
    let on_line = query.line.iter().rev().map(|played| &played.position);
    for position in std::iter::once(&query.position).chain(on_line) {
        if let Some(opening) = database.opening_of(position.key(), &position.canonical_fen())? {
            return Ok(Some(opening));
        }
    }
    Ok(None)
}

/// A move of a position, with the position after it; `None` if the move is illegal.
fn described(position: &Position, code: MoveCode) -> Option<DescribedMove> {
    let mut after = position.clone();
    let made = after.make(code).ok()?;
    Some(DescribedMove { uci: position.uci(made).to_string(), san: position.san(made), fen: after.fen() })
}
