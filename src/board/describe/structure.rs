//! Pawn structures: the squares of both sides' pawns.

use crate::board::key::piece_key;
use crate::board::{Color, Piece, PieceKind, Setup, SetupError, Square, SquareSet};

/// The squares of White's and of Black's pawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PawnStructure {
    /// White's pawns.
    pub white: SquareSet,
    /// Black's pawns.
    pub black: SquareSet,
}

impl PawnStructure {
    /// The structure of a FEN; only the pawns of the placement matter, and kings can be missing.
    ///
    /// # Errors
    /// If the placement cannot be parsed.
    pub fn from_fen(fen: &[u8]) -> Result<Self, SetupError> {
        Setup::parse_placement(fen)?;
        Ok(Self::from_placement(fen.trim_ascii_start()))
    }

    /// The structure of a legal position, given as a FEN or as its placement alone. Allocates nothing and
    /// checks nothing.
    #[must_use]
    pub fn from_placement(fen: &[u8]) -> Self {
        let mut structure = Self { white: SquareSet::EMPTY, black: SquareSet::EMPTY };
        for (square, letter) in pieces(fen) {
            match letter {
                b'P' => structure.white = structure.white.with(square),
                b'p' => structure.black = structure.black.with(square),
                _ => {}
            }
        }
        structure
    }

    /// The XOR of the Polyglot constants of all pawns on their squares. Different structures can have the
    /// same key.
    #[must_use]
    pub fn key(self) -> u64 {
        let of = |color, squares: SquareSet| {
            squares.fold(0, |key, square| key ^ Self::key_of(Piece::new(PieceKind::Pawn, color), square))
        };
        of(Color::White, self.white) ^ of(Color::Black, self.black)
    }

    /// The value to XOR into the [key](Self::key) when a piece is put on a square or removed from it; 0 for
    /// pieces other than pawns.
    #[must_use]
    #[inline]
    pub fn key_of(piece: Piece, square: Square) -> u64 {
        if piece.code() <= PieceKind::Pawn as u8 + 1 { piece_key(piece.code(), square) } else { 0 }
    }

    /// The same structure for the other side: colours are swapped and ranks reversed.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { white: self.black.with_ranks_reversed(), black: self.white.with_ranks_reversed() }
    }

    /// The same structure with left and right swapped.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { white: self.white.with_files_reversed(), black: self.black.with_files_reversed() }
    }
}

/// The pieces of a placement, as squares and FEN letters. For an invalid text, the result is unspecified.
pub(crate) fn pieces(fen: &[u8]) -> impl Iterator<Item = (Square, u8)> {
    let (mut file, mut rank) = (0u8, 7u8);
    let placement = fen.iter().take_while(|byte| !byte.is_ascii_whitespace());
    placement.filter_map(move |&letter| match letter {
        b'/' => {
            (file, rank) = (0, rank.wrapping_sub(1));
            None
        }
        b'1'..=b'8' => {
            file = file.saturating_add(letter - b'0');
            None
        }
        _ => {
            let square = (file < 8 && rank < 8).then(|| Square::at(file, rank));
            file = file.saturating_add(1);
            square.map(|square| (square, letter))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pawns_are_found_on_their_squares() {
        let french =
            PawnStructure::from_placement(b"rnbqkbnr/ppp2ppp/4p3/3pP3/3P4/8/PPP2PPP/RNBQKBNR b KQkq -");
        assert_eq!(french, PawnStructure::from_fen(b"8/ppp2ppp/4p3/3pP3/3P4/8/PPP2PPP/8").unwrap());
        assert_eq!((french.white.len(), french.black.len()), (8, 8));
        assert!(french.white.contains(Square::parse(b"e5").unwrap()));
        assert!(PawnStructure::from_fen(b"8/8/8").is_err());
        let reversed = PawnStructure::from_placement(b"8/ppp2ppp/8/3p4/3Pp3/4P3/PPP2PPP/8 w - -");
        assert_eq!(french.reversed(), reversed);
        assert_eq!(french.reversed().reversed(), french);
        assert_eq!(
            french.mirrored(),
            PawnStructure::from_placement(b"8/ppp2ppp/3p4/3Pp3/4P3/8/PPP2PPP/8 w - -")
        );
        assert_ne!(french.mirrored(), french);
    }

    #[test]
    fn invalid_placements_do_not_panic() {
        for text in
            [&b"ppppppppppppppppppp"[..], b"////////////P", b"88888888888888888888888888888888888p", b""]
        {
            let _ = PawnStructure::from_placement(text);
        }
    }
}
