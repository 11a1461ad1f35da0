//! Tables of constants: the squares from which pieces can come, and the lines between squares.
//!
//! The tables are computed at compile time. Tests compare the public tables with the move generator.

use super::{Color, PieceKind, Square, SquareSet};

const KNIGHT_STEPS: [i8; 8] = [-33, -31, -18, -14, 14, 18, 31, 33];
const KING_STEPS: [i8; 8] = [-17, -16, -15, -1, 1, 15, 16, 17];
const BISHOP_STEPS: [i8; 4] = [-17, -15, 15, 17];
const ROOK_STEPS: [i8; 4] = [-16, -1, 1, 16];

/// For each kind of piece (by [`kind_index`]) and square (by ordinal), the squares to which the piece could
/// go on an empty board. It could come from the same squares. Pawns have tables of their own; their row here
/// is empty.
pub static ALL_MOVES: [[SquareSet; 64]; 7] = {
    let mut table = [[SquareSet::EMPTY; 64]; 7];
    let mut ordinal = 0;
    while ordinal < 64 {
        let square = Square::from_ordinal(ordinal as u8);
        let bishop = reach(square, &BISHOP_STEPS, true);
        let rook = reach(square, &ROOK_STEPS, true);
        table[kind_index(PieceKind::Knight)][ordinal] = reach(square, &KNIGHT_STEPS, false);
        table[kind_index(PieceKind::King)][ordinal] = reach(square, &KING_STEPS, false);
        table[kind_index(PieceKind::Bishop)][ordinal] = bishop;
        table[kind_index(PieceKind::Rook)][ordinal] = rook;
        table[kind_index(PieceKind::Queen)][ordinal] = bishop.or(rook);
        ordinal += 1;
    }
    table
};

/// The row of a kind in [`ALL_MOVES`]: 1 pawn, 2 knight, 3 king, 4 bishop, 5 rook, 6 queen.
#[must_use]
pub const fn kind_index(kind: PieceKind) -> usize {
    kind as usize >> 1
}

/// For each square (by ordinal), the squares from which a white pawn could come, by step, double step or
/// capture.
pub static WHITE_PAWN_FROM: [SquareSet; 64] = pawn_from(Color::White);

/// For each square (by ordinal), the squares from which a black pawn could come, by step, double step or
/// capture.
pub static BLACK_PAWN_FROM: [SquareSet; 64] = pawn_from(Color::Black);

/// For each colour and square (by ordinal), the squares from which a pawn of that colour attacks this square.
pub(super) static PAWN_ATTACKS_FROM: [[SquareSet; 64]; 2] = {
    let mut table = [[SquareSet::EMPTY; 64]; 2];
    let mut ordinal = 0;
    while ordinal < 64 {
        let square = Square::from_ordinal(ordinal as u8);
        table[0][ordinal] = reach(square, &[-15, -17], false);
        table[1][ordinal] = reach(square, &[15, 17], false);
        ordinal += 1;
    }
    table
};

/// The line from one square to another: its kind and its step.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// [`Line::ORTHOGONAL`] or [`Line::DIAGONAL`]; 0 if the squares are not on one line.
    pub(super) kind: u8,
    /// The difference of 0x88 indexes between neighbouring squares of the line.
    pub(super) step: i8,
}

impl Line {
    pub(super) const ORTHOGONAL: u8 = PieceKind::Rook as u8;
    pub(super) const DIAGONAL: u8 = PieceKind::Bishop as u8;

    /// The line from one square to another.
    #[inline]
    pub(super) fn between(from: Square, to: Square) -> Self {
        LINES[usize::from((to.index() + 0x77).wrapping_sub(from.index()))]
    }
}

/// The lines between squares, indexed by the difference of their 0x88 indexes: `to - from + 0x77`.
static LINES: [Line; 256] = {
    let mut table = [Line { kind: 0, step: 0 }; 256];
    let mut distance = 1;
    while distance < 8 {
        let mut direction = 0;
        while direction < 4 {
            let rook = ROOK_STEPS[direction];
            let bishop = BISHOP_STEPS[direction];
            table[(0x77 + rook as i32 * distance) as usize] = Line { kind: Line::ORTHOGONAL, step: rook };
            table[(0x77 + bishop as i32 * distance) as usize] = Line { kind: Line::DIAGONAL, step: bishop };
            direction += 1;
        }
        distance += 1;
    }
    table
};

/// The squares reached from `from` by the given steps. Each step is taken once or, if the piece `slides`,
/// repeatedly up to the edge of the board.
const fn reach(from: Square, steps: &[i8], slides: bool) -> SquareSet {
    let mut set = SquareSet::EMPTY;
    let mut index = 0;
    while index < steps.len() {
        let mut square = from;
        while let Some(next) = square.offset(steps[index]) {
            set = set.with(next);
            square = next;
            if !slides {
                break;
            }
        }
        index += 1;
    }
    set
}

const fn pawn_from(color: Color) -> [SquareSet; 64] {
    let (back, start_rank, double_rank) =
        if matches!(color, Color::White) { (-16, 1, 3) } else { (16, 6, 4) };
    let mut table = [SquareSet::EMPTY; 64];
    let mut ordinal = 0;
    while ordinal < 64 {
        let to = Square::from_ordinal(ordinal as u8);
        let mut set = reach(to, &[back, back - 1, back + 1], false);
        if to.rank() == double_rank {
            set = set.with(Square::at(to.file(), start_rank));
        }
        // There are no pawns on the first or the eighth rank.
        table[ordinal] = set.and(SquareSet(!(SquareSet::rank(0).0 | SquareSet::rank(7).0)));
        ordinal += 1;
    }
    table
}
