//! The distance between positions: pieces on different squares, and pieces that only one position has.

use super::material::Material;
use super::structure::{PawnStructure, pieces};
use crate::board::{Color, Piece, PieceKind, Position, Square};

/// The distance added for each piece that only one of the two positions has, in addition to the piece's
/// `weight`.
const SURPLUS: u32 = 3;

/// A position from which distances to other positions are computed.
///
/// The distance is the sum of
///
/// - for each piece of either position, if the other position does not have the same piece on the same
///   square: 2 for a pawn, 1 for any other piece;
/// - for each kind and colour: 3 times the difference between the numbers of these pieces in the two
///   positions;
/// - 1 if the sides to move differ;
/// - 100 if the two positions do not have their pawns on the same squares, or their material differs.
///
/// Castling rights, en-passant squares and counters are ignored.
///
/// ```
/// use pgndex::board::{Position, PositionDistance};
///
/// let start = PositionDistance::to(&Position::start());
/// let moved = |placement: &str| start.distance(format!("{placement} w KQkq -").as_bytes());
/// assert_eq!(moved("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R"), 2);
/// assert_eq!(moved("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"), 104);
/// assert_eq!(moved("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR"), 104);
/// ```
#[derive(Clone, Debug)]
pub struct PositionDistance {
    /// The piece letter on each square in the order of a FEN, from a8 to h1; 0 for an empty square.
    squares: [u8; 64],
    structure: PawnStructure,
    material: Material,
    side: Color,
    /// In the lower 16 bits, the total weight of the position's pieces; in the upper 16 bits, the number of
    /// its pawns.
    all: u32,
}

/// The distance added for a piece if the other position does not have the same piece on the same square.
const fn weight(kind: PieceKind) -> u32 {
    if matches!(kind, PieceKind::Pawn) { 2 } else { 1 }
}

/// The bits in which pawns are counted.
const PAWNS: u32 = 0xffff_0000;

/// For each piece letter, the weight of the piece and, in the upper 16 bits, 1 for a pawn.
static COUNTS: [u32; 256] = {
    let mut counts = [0; 256];
    let mut code = 2;
    while let Some(piece) = Piece::from_code(code) {
        let pawns = if matches!(piece.kind(), PieceKind::Pawn) { 1 << 16 } else { 0 };
        counts[piece.letter() as usize] = weight(piece.kind()) + pawns;
        code += 1;
    }
    counts
};

/// Each kind of piece in both colours.
fn all_pieces() -> impl Iterator<Item = Piece> {
    (2..14).filter_map(Piece::from_code)
}

/// The index of a square in the order of a FEN: 0 for a8 to 63 for h1.
fn place(square: Square) -> usize {
    usize::from(square.ordinal() ^ 0o70)
}

impl PositionDistance {
    /// The distance added if the material or the squares of pawns differ. It exceeds any distance between
    /// positions with the same pawns and material, if no side has more than 16 pieces.
    pub(crate) const OTHER: u32 = 100;

    /// Prepares to compute distances from this position.
    #[must_use]
    pub fn to(position: &Position) -> Self {
        let fen = position.canonical_fen();
        let (mut squares, mut all) = ([0; 64], 0);
        for (square, letter) in pieces(fen.as_bytes()) {
            squares[place(square)] = letter;
            all += COUNTS[usize::from(letter)];
        }
        let structure = PawnStructure::from_placement(fen.as_bytes());
        let material = Material::from_placement(fen.as_bytes());
        Self { squares, structure, material, side: position.side(), all }
    }

    /// The distance to a legal position, given as a FEN. Allocates nothing and checks nothing.
    #[must_use]
    pub fn distance(&self, fen: &[u8]) -> u32 {
        let (mut all, mut same, mut material) = (0, 0, Material::default());
        let (mut square, mut rest) = (0, fen.iter());
        for &letter in &mut rest {
            match letter {
                b' ' => break,
                b'1'..=b'8' => square += usize::from(letter - b'0'),
                b'/' => {}
                _ => {
                    let Some(own) = self.squares.get(square) else { break };
                    let count = COUNTS[usize::from(letter)];
                    all += count;
                    same += if *own == letter { count } else { 0 };
                    material = material.and(letter);
                    square += 1;
                }
            }
        }
        let surplus = self.surplus(material);
        let is_other = surplus > 0 || same & PAWNS != all & PAWNS || same & PAWNS != self.all & PAWNS;
        let is_other_side = rest.next().is_some_and(|&letter| letter != self.side.letter());
        (all & !PAWNS) + (self.all & !PAWNS) - 2 * (same & !PAWNS)
            + SURPLUS * surplus
            + u32::from(is_other_side)
            + if is_other { Self::OTHER } else { 0 }
    }

    /// The number of pieces that only one of the two positions has.
    fn surplus(&self, other: Material) -> u32 {
        if other == self.material {
            return 0;
        }
        all_pieces().map(|piece| self.material.count(piece).abs_diff(other.count(piece))).sum()
    }

    /// The squares of the position's pawns.
    #[must_use]
    pub const fn structure(&self) -> PawnStructure {
        self.structure
    }

    /// The position's material.
    #[must_use]
    pub const fn material(&self) -> Material {
        self.material
    }

    /// The position's pieces and their squares, each with its weight. The weight is added to the distance if
    /// the other position does not have the same piece on the same square.
    pub fn pieces(&self) -> impl Iterator<Item = (Piece, Square, u32)> {
        (0..64).map(Square::from_ordinal).filter_map(|square| {
            let piece = Piece::from_letter(self.squares[place(square)])?;
            Some((piece, square, weight(piece.kind())))
        })
    }

    /// Lower bounds of the distance to positions with the given material, without [`OTHER`](Self::OTHER).
    /// Returns two numbers. The first number is a lower bound for all these positions.
    ///
    /// A better bound for one of these positions is the second number plus twice the weight of each misplaced
    /// piece. A [piece](Self::pieces) of `self` is misplaced if the position does not have it on the same
    /// square. Its weight is added twice, because the position usually has that piece on another square. The
    /// second number already corrects this for pieces that the position does not have at all.
    pub(crate) fn bounds(&self, material: Material) -> [u32; 2] {
        let (mut apart, mut beside) = (0, 0);
        for piece in all_pieces() {
            let (weight, own, other) =
                (weight(piece.kind()), self.material.count(piece), material.count(piece));
            apart += (weight + SURPLUS) * own.abs_diff(other);
            // `weight` is less than `SURPLUS`, so the subtraction never goes below 0.
            beside += SURPLUS * own.abs_diff(other) + weight * other - weight * own;
        }
        [apart, beside]
    }
}
