//! Finds open lines and attacked squares.

use super::tables::{ALL_MOVES, Line, PAWN_ATTACKS_FROM, kind_index};
use super::{Color, Piece, PieceKind, Square, SquareSet};

/// The board's cells: piece codes by 0x88 index, 0 for an empty square.
pub(super) type Cells = [u8; 128];

/// For each piece code, the set of squares with this piece.
pub(super) type Sets = [SquareSet; 16];

#[inline]
pub(super) fn cell(cells: &Cells, square: Square) -> u8 {
    cells[usize::from(square.index() & 0x7f)]
}

/// Whether all squares strictly between `from` and `to` are empty. Both must be on one rank, file or
/// diagonal.
#[inline]
pub(super) fn is_open(cells: &Cells, from: Square, to: Square) -> bool {
    let step = Line::between(from, to).step;
    let mut index = from.index().wrapping_add_signed(step);
    while index != to.index() {
        if cells[usize::from(index & 0x7f)] != 0 {
            return false;
        }
        index = index.wrapping_add_signed(step);
    }
    true
}

/// The code and the square of the first piece that is reached from `from` in steps of `step`; `None` if there
/// is no such piece.
#[inline]
pub(super) fn first_piece(cells: &Cells, from: Square, step: i8) -> Option<(u8, Square)> {
    let mut square = from.offset(step)?;
    loop {
        let code = cell(cells, square);
        if code != 0 {
            return Some((code, square));
        }
        square = square.offset(step)?;
    }
}

#[inline]
pub(super) fn of_kind(sets: &Sets, kind: PieceKind, color: Color) -> SquareSet {
    sets[usize::from(Piece::new(kind, color).code())]
}

/// The pieces of a colour that move along lines of this kind: rooks and queens, or bishops and queens.
#[inline]
pub(super) fn sliders(sets: &Sets, line_kind: u8, color: Color) -> SquareSet {
    sets[usize::from(line_kind | color as u8) & 15].or(of_kind(sets, PieceKind::Queen, color))
}

/// Whether a piece of colour `by`, other than those on `ignored`, attacks `square`. Blocking pieces are read
/// from `cells`, attackers from `sets`, so that a move can be tried by changing only `cells` and ignoring the
/// captured piece.
pub(super) fn is_attacked(cells: &Cells, sets: &Sets, square: Square, by: Color, ignored: SquareSet) -> bool {
    let ordinal = usize::from(square.ordinal());
    let from = |kind| ALL_MOVES[kind_index(kind)][ordinal];
    let near = from(PieceKind::Knight)
        .and(of_kind(sets, PieceKind::Knight, by))
        .or(from(PieceKind::King).and(of_kind(sets, PieceKind::King, by)))
        .or(PAWN_ATTACKS_FROM[by as usize][ordinal].and(of_kind(sets, PieceKind::Pawn, by)));
    let kept = SquareSet(!ignored.0);
    if !near.and(kept).is_empty() {
        return true;
    }
    let far = from(PieceKind::Rook)
        .and(sliders(sets, Line::ORTHOGONAL, by))
        .or(from(PieceKind::Bishop).and(sliders(sets, Line::DIAGONAL, by)));
    far.and(kept).into_iter().any(|slider| is_open(cells, slider, square))
}
