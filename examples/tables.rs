//! Prints the tables of the board as JSON: `cargo run --example tables`.
//!
//! `TO_x88` maps square names to 0x88 indexes. `ALL_MOVES` lists, for each piece letter and square, the squares from which the piece
//! can come on an empty board; `WHITE_PAWN_FROM` and `BLACK_PAWN_FROM` do this for pawns.

use pgndex::board::{
    ALL_MOVES, BLACK_PAWN_FROM, PieceKind, Square, SquareSet, TO_X88, WHITE_PAWN_FROM, kind_index,
};
use serde_json::{Map, Value, json};

fn main() {
    println!("{:#}", tables());
}

/// All tables as one object.
pub(crate) fn tables() -> Value {
    let pieces = [PieceKind::Knight, PieceKind::King, PieceKind::Bishop, PieceKind::Rook, PieceKind::Queen];
    let all_moves: Map<String, Value> = pieces
        .into_iter()
        .map(|kind| (char::from(kind.letter()).to_string(), origins(&ALL_MOVES[kind_index(kind)])))
        .collect();
    let to_x88: Map<String, Value> =
        squares().zip(TO_X88).map(|(square, index)| (square.to_string(), index.into())).collect();
    json!({
        "TO_x88": to_x88,
        "ALL_MOVES": all_moves,
        "WHITE_PAWN_FROM": origins(&WHITE_PAWN_FROM),
        "BLACK_PAWN_FROM": origins(&BLACK_PAWN_FROM),
    })
}

/// The squares in the order of the tables.
fn squares() -> impl Iterator<Item = Square> {
    SquareSet(u64::MAX)
}

/// For the name of each square, the names of the squares from which a piece can come.
fn origins(table: &[SquareSet; 64]) -> Value {
    let names = |set: SquareSet| -> Value { set.map(|square| square.to_string()).collect() };
    squares().zip(table).map(|(square, &set)| (square.to_string(), names(set))).collect()
}
