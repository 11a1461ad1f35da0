//! Phases of a game, as defined by Lichess.

use crate::board::{Color, Piece, PieceKind, Setup, SquareSet};

/// A phase of a game, determined from one position by Lichess's rules (the
/// [`Divider`](https://github.com/lichess-org/scalachess/blob/master/core/src/main/scala/Divider.scala) of
/// scalachess). On Lichess, a phase lasts until a later phase begins: a game does not return to an
/// earlier phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Neither middlegame nor endgame.
    Opening,
    /// Not an endgame, and at least one of these conditions holds:
    ///
    /// - Both sides together have at most ten queens, rooks, bishops and knights.
    /// - A side has fewer than four pieces, including king and pawns, on its back rank.
    /// - The pieces of both sides are mixed.
    Middlegame,
    /// Both sides together have at most six queens, rooks, bishops and knights.
    Endgame,
}

impl Phase {
    /// The phase of a position; only the placement is read.
    #[must_use]
    pub fn from_setup(setup: &Setup) -> Self {
        const ENDGAME: usize = 6;
        const MIDDLEGAME: usize = 10;
        const BACK_RANK: u32 = 4;
        const MIXED: u32 = 150;
        let is_officer = |piece: Piece| !matches!(piece.kind(), PieceKind::King | PieceKind::Pawn);
        let officers = setup.pieces().filter(|&(_, piece)| is_officer(piece)).count();
        if officers <= ENDGAME {
            return Self::Endgame;
        }
        let of = |color| -> SquareSet {
            setup.pieces().filter(|(_, piece)| piece.color() == color).map(|(square, _)| square).collect()
        };
        let (white, black) = (of(Color::White), of(Color::Black));
        let is_sparse =
            |pieces: SquareSet, back_rank| pieces.and(SquareSet::rank(back_rank)).len() < BACK_RANK;
        if officers <= MIDDLEGAME
            || is_sparse(white, 0)
            || is_sparse(black, 7)
            || mixedness(white, black) > MIXED
        {
            Self::Middlegame
        } else {
            Self::Opening
        }
    }

    /// The name of this phase.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middlegame => "middlegame",
            Self::Endgame => "endgame",
        }
    }
}

/// How much the pieces of both sides are mixed: the sum of the weights of all blocks of two by two squares,
/// including overlapping ones.
fn mixedness(white: SquareSet, black: SquareSet) -> u32 {
    /// a1, b1, a2 and b2.
    const BLOCK: u64 = 0x0303;
    let mut sum = 0;
    for rank in 0..7 {
        for file in 0..7 {
            let block = SquareSet(BLOCK << (8 * rank + file));
            sum += weight(rank + 1, white.and(block).len(), black.and(block).len());
        }
    }
    sum
}

/// The weight of a block whose lower rank is `rank`, 1 to 7, with these numbers of white and black pieces, as
/// in Lichess's `Divider`.
const fn weight(rank: u32, white: u32, black: u32) -> u32 {
    match (white, black) {
        (1, 0) => 9 - rank,
        (2, 0) if rank > 2 => rank,
        (3 | 4, 0) if rank > 1 => rank + 2,
        (0, 1) => 1 + rank,
        (0, 2) if rank < 6 => 8 - rank,
        (0, 3 | 4) if rank < 7 => 10 - rank,
        (1, 1) => 5 + rank.abs_diff(3),
        (2, 1) => 4 + rank,
        (3, 1) => 5 + rank,
        (1, 2) => 10 - rank,
        (1, 3) => 11 - rank,
        (2, 2) => 7,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_positions() {
        for (fen, phase) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", Phase::Opening),
            // Ten queens, rooks, bishops and knights, then six.
            ("rnbqk3/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qq -", Phase::Middlegame),
            ("r1bqk3/pppppppp/8/8/8/8/PPPPPPPP/R1BQK3 w Qq -", Phase::Endgame),
            // Three pieces on Black's back rank.
            ("4kr1r/ppppqppp/2nb1nb1/4p3/4P3/8/PPPPPPPP/RNBQKBNR w KQ -", Phase::Middlegame),
            ("8/8/8/4k3/8/4K3/4P3/8 w - -", Phase::Endgame),
        ] {
            assert_eq!(Phase::from_setup(&Setup::parse_placement(fen.as_bytes()).unwrap()), phase, "{fen}");
        }
    }
}
