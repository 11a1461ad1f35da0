//! Explains why a text is not a legal move, for the person who typed it.

use std::fmt;

use super::attack::is_open;
use super::san::San;
use super::tables::{ALL_MOVES, kind_index};
use super::{Color, MoveCode, Piece, PieceKind, Position, SanError, Special, Square, SquareSet};

/// Why a text is not a legal move in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveRefusal {
    /// The text does not have the form of a move.
    Unreadable,
    /// A pawn reaches the last rank, and no promotion piece is given.
    PromotionMissing,
    /// The promotion is impossible: only a pawn that reaches the last rank promotes, and not to a king or a
    /// pawn.
    NoPromotion,
    /// The side has no such piece, or none on the given origin.
    NoPiece {
        /// The piece.
        piece: Piece,
    },
    /// The piece on the given square belongs to the other side.
    OtherSide {
        /// The piece.
        piece: Piece,
        /// The square of the piece.
        from: Square,
    },
    /// No piece of this kind and side can reach the target, or none from the given origin.
    OutOfReach {
        /// The piece.
        piece: Piece,
        /// The target.
        to: Square,
    },
    /// The target is occupied by a piece of the same side.
    Occupied {
        /// The occupying piece.
        by: Piece,
        /// The target.
        to: Square,
    },
    /// The side is in check, and the move does not end it.
    InCheck {
        /// The side.
        side: Color,
    },
    /// The piece is pinned to its king.
    Pinned {
        /// The piece.
        piece: Piece,
        /// The square of the piece.
        from: Square,
    },
    /// The king would be in check on the target.
    IntoCheck {
        /// The side of the king.
        side: Color,
        /// The target.
        to: Square,
    },
    /// Several pieces of this kind can legally move to the target.
    Ambiguous {
        /// The piece: its kind and side.
        piece: Piece,
        /// The squares of these pieces.
        from: Vec<Square>,
        /// The target.
        to: Square,
    },
    /// The castling right is missing: the king or the rook has moved, or the FEN does not give the right.
    NoCastlingRight {
        /// The side.
        side: Color,
    },
    /// Castling may be possible later, but not now: a square in between is occupied, or the king is in check
    /// or would pass through check.
    CastlingHindered {
        /// The side.
        side: Color,
    },
}

impl fmt::Display for MoveRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("not readable as a move"),
            Self::PromotionMissing => f.write_str("the promotion piece is missing; write it as in e8=Q"),
            Self::NoPromotion => f.write_str("there is no such promotion"),
            Self::NoPiece { piece } => {
                write!(f, "{} has no matching {}", piece.color().name(), piece.kind().name())
            }
            Self::OtherSide { piece, from } => {
                write!(f, "the {} on {from} is {}'s", piece.kind().name(), piece.color().name())?;
                write!(f, ", and {} moves", piece.color().other().name())
            }
            Self::OutOfReach { piece, to } if piece.kind() == PieceKind::King => {
                write!(f, "{}'s king cannot reach {to}", piece.color().name())
            }
            Self::OutOfReach { piece, to } => {
                write!(f, "no {} of {} can reach {to}", piece.kind().name(), piece.color().name())
            }
            Self::Occupied { by, to } => {
                write!(f, "{}'s own {} is on {to}", by.color().name(), by.kind().name())
            }
            Self::InCheck { side: color } => {
                write!(f, "{} is in check, and this move does not end the check", color.name())
            }
            Self::Pinned { piece, from } => {
                write!(f, "the {} on {from} is pinned to its king", piece.kind().name())
            }
            Self::IntoCheck { side: color, to } => {
                write!(f, "{}'s king would be in check on {to}", color.name())
            }
            Self::Ambiguous { piece, from, to } => {
                let letter = char::from(piece.kind().letter()).to_string();
                let letter = letter.trim_start_matches('P');
                let example = from.first().map(|from| format!("{letter}{from}{to}")).unwrap_or_default();
                let squares: Vec<_> = from.iter().map(Square::to_string).collect();
                let (squares, all) = match squares.as_slice() {
                    [first, second] => (format!("{first} and {second}"), "both"),
                    several => (several.join(", "), "all"),
                };
                write!(
                    f,
                    "ambiguous: the {}s on {squares} can {all} go to {to}; name the start square, as in {example}",
                    piece.kind().name()
                )
            }
            Self::NoCastlingRight { side: color } => {
                write!(f, "{} has no right to castle on that side", color.name())
            }
            Self::CastlingHindered { side: color } => {
                write!(
                    f,
                    "{} cannot castle now: the way is blocked, or the king is in check or would pass through check",
                    color.name()
                )
            }
        }
    }
}

impl std::error::Error for MoveRefusal {}

impl Position {
    /// Finds the legal move that a text means, as [`resolve`](Self::resolve) does. If there is none, takes
    /// extra time to find the reason.
    ///
    /// # Errors
    /// The reason why the text is not a legal move.
    pub fn resolve_or_explain(&self, token: &[u8]) -> Result<MoveCode, MoveRefusal> {
        self.resolve(token).map_err(|error| match (error, San::parse(token)) {
            (SanError::Unreadable, _) | (_, Err(_)) => MoveRefusal::Unreadable,
            (SanError::PromotionMissing, Ok(San::Move { origins, .. })) => {
                self.of_other_side(origins).unwrap_or(MoveRefusal::PromotionMissing)
            }
            (SanError::PromotionMissing, _) => MoveRefusal::PromotionMissing,
            (_, Ok(San::Null)) => MoveRefusal::InCheck { side: self.side() },
            (_, Ok(San::Castle { short })) => match self.castling_rook(self.side(), short) {
                Some(_) => MoveRefusal::CastlingHindered { side: self.side() },
                None => MoveRefusal::NoCastlingRight { side: self.side() },
            },
            (_, Ok(San::Move { kind, origins, to, promotion })) => {
                self.explain_move(kind, origins, to, promotion)
            }
        })
    }

    /// The reason why a move is not legal, if its only origin has a piece of the other side.
    fn of_other_side(&self, origins: SquareSet) -> Option<MoveRefusal> {
        let from = origins.first().filter(|&from| origins == SquareSet::from_square(from))?;
        let piece = self.piece_at(from).filter(|piece| piece.color() != self.side())?;
        Some(MoveRefusal::OtherSide { piece, from })
    }

    fn explain_move(
        &self,
        kind: Option<PieceKind>,
        origins: SquareSet,
        to: Square,
        promotion: Option<PieceKind>,
    ) -> MoveRefusal {
        // Long algebraic text may name only the origin, not the piece.
        let mover = origins.first().and_then(|square| self.piece_at(square));
        let piece = match (kind, mover) {
            (Some(kind), _) => Piece::new(kind, self.side()),
            (None, Some(mover)) if mover.color() == self.side() => mover,
            (None, _) => {
                let no_pawn = MoveRefusal::NoPiece { piece: Piece::new(PieceKind::Pawn, self.side()) };
                return self.of_other_side(origins).unwrap_or(no_pawn);
            }
        };
        let kind = piece.kind();
        let last_rank = if self.side() == Color::White { 7 } else { 0 };
        let promotes = kind == PieceKind::Pawn && to.rank() == last_rank;
        if promotion
            .is_some_and(|promotion| !promotes || matches!(promotion, PieceKind::King | PieceKind::Pawn))
        {
            return MoveRefusal::NoPromotion;
        }
        let own = self.squares_of(kind, self.side()).and(origins);
        if own.is_empty() {
            return MoveRefusal::NoPiece { piece };
        }
        if let Some(by) = self.piece_at(to).filter(|by| by.color() == self.side()) {
            return MoveRefusal::Occupied { by, to };
        }
        let able: Vec<_> = own.filter(|&from| self.reaches(kind, from, to)).collect();
        let safe = |&from: &Square| self.is_king_safe_after(self.any_move(from, to, piece));
        let legal: Vec<_> = able.iter().copied().filter(safe).collect();
        match (able.as_slice(), legal.len()) {
            ([], _) => MoveRefusal::OutOfReach { piece, to },
            (_, 2..) => MoveRefusal::Ambiguous { piece, from: legal, to },
            _ if kind == PieceKind::King => MoveRefusal::IntoCheck { side: self.side(), to },
            _ if self.is_check() => MoveRefusal::InCheck { side: self.side() },
            (&[from, ..], _) => MoveRefusal::Pinned { piece, from },
        }
    }

    /// Whether a piece could move from a square to another, ignoring the safety of its king.
    fn reaches(&self, kind: PieceKind, from: Square, to: Square) -> bool {
        if kind != PieceKind::Pawn {
            let leaps = matches!(kind, PieceKind::Knight | PieceKind::King);
            let reach = ALL_MOVES[kind_index(kind)][usize::from(to.ordinal())];
            return reach.contains(from) && (leaps || is_open(&self.cells, from, to));
        }
        let (step, home) = if self.side() == Color::White { (16, 1) } else { (-16, 6) };
        let captures = [step - 1, step + 1].map(|step| from.offset(step)).contains(&Some(to));
        if captures {
            return self.piece_at(to).is_some() || self.en_passant() == Some(to);
        }
        let ahead = from.offset(step).filter(|&square| self.piece_at(square).is_none());
        let twice = ahead.filter(|_| from.rank() == home).and_then(|square| square.offset(step));
        self.piece_at(to).is_none() && [ahead, twice].contains(&Some(to))
    }

    /// The code of a move, for checking the king's safety after it. The promotion piece does not matter for
    /// this check and is left out.
    fn any_move(&self, from: Square, to: Square, piece: Piece) -> MoveCode {
        if piece.kind() == PieceKind::Pawn && self.en_passant() == Some(to) {
            let victim = Piece::new(PieceKind::Pawn, self.side().other());
            return MoveCode::new(Special::EnPassant, from, to, piece, Some(victim));
        }
        let captured = self.piece_at(to);
        let special = if captured.is_some() { Special::Capture } else { Special::Reversible };
        MoveCode::new(special, from, to, piece, captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_reported() {
        for (fen, word, reason) in [
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Nd4", "no knight of White can reach d4"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Ke3", "White's king cannot reach e3"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Qd4", "White has no matching queen"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Nbf3", "White has no matching knight"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "e2e4", "White has no matching pawn"),
            ("4k3/8/8/8/8/8/4P3/4K1N1 w - -", "Ne2", "White's own pawn is on e2"),
            ("4r1k1/8/8/8/8/8/4N3/4K3 w - -", "Nc3", "the knight on e2 is pinned to its king"),
            (
                "4r1k1/8/8/8/8/8/8/4K1N1 w - -",
                "Nh3",
                "White is in check, and this move does not end the check",
            ),
            ("3r2k1/8/8/8/8/8/8/4K3 w - -", "Kd2", "White's king would be in check on d2"),
            (
                "4k3/8/8/8/8/5N2/8/1N2K3 w - -",
                "Nd2",
                "ambiguous: the knights on b1 and f3 can both go to d2; name the start square, as in Nb1d2",
            ),
            ("r3k3/8/8/8/8/8/8/4K3 b - -", "O-O-O", "Black has no right to castle on that side"),
            (
                "r2qk3/8/8/8/8/8/8/4K3 b q -",
                "O-O-O",
                "Black cannot castle now: the way is blocked, or the king is in check or would pass through check",
            ),
            ("4k3/P7/8/8/8/8/8/4K3 w - -", "a8", "the promotion piece is missing; write it as in e8=Q"),
            ("4k3/8/8/8/8/8/8/4K3 w - -", "e8e7", "the king on e8 is Black's, and White moves"),
            ("4k3/4p3/8/8/8/8/8/K7 w - -", "e7e8", "the pawn on e7 is Black's, and White moves"),
            ("4k3/P7/8/8/8/8/8/4K3 w - -", "a8=K", "there is no such promotion"),
            ("4k3/8/8/8/8/8/P7/4K3 w - -", "a5", "no pawn of White can reach a5"),
            ("4k3/8/8/8/8/p7/P7/4K3 w - -", "a4", "no pawn of White can reach a4"),
            ("4k3/8/8/8/8/8/P7/4K3 w - -", "axb3", "no pawn of White can reach b3"),
            ("4k3/8/8/8/8/8/8/4K2q w - -", "--", "White is in check, and this move does not end the check"),
            ("4k3/8/8/8/8/8/8/4K3 w - -", "hello", "not readable as a move"),
        ] {
            let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
            let refusal = position.resolve_or_explain(word.as_bytes()).unwrap_err();
            assert_eq!(refusal.to_string(), reason, "{fen} {word}");
        }
        assert!(Position::start().resolve_or_explain(b"e4").is_ok());
    }

    /// Tests all short texts in positions with pins, checks, castling and promotion: there is a reason if and
    /// only if `resolve` fails, and the reason agrees with the error.
    #[test]
    fn reasons_agree_with_errors() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "r3k2r/pPp2ppp/8/3pP3/1b6/2N5/P1PQ1PPP/R3K2R w KQkq d6",
            "4r1k1/8/8/8/8/2n1n3/4R3/4K3 w - -",
            "2r3k1/1P1P4/8/8/8/8/8/4K2q w - -",
            "k7/8/8/3N1N2/8/3N1N2/8/K6b b - -",
        ] {
            let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
            for letter in ["", "N", "B", "R", "Q", "K", "P", "a", "e", "N3", "Nd", "e5", "d5"] {
                for to in (0..64).map(Square::from_ordinal) {
                    for suffix in ["", "=Q", "=K"] {
                        for sign in ["", "x"] {
                            let word = format!("{letter}{sign}{to}{suffix}");
                            let error = position.resolve(word.as_bytes()).err();
                            let refusal = position.resolve_or_explain(word.as_bytes()).err();
                            let sort = refusal.as_ref().map(|refusal| match refusal {
                                MoveRefusal::Unreadable => SanError::Unreadable,
                                MoveRefusal::PromotionMissing => SanError::PromotionMissing,
                                MoveRefusal::Ambiguous { .. } => SanError::Ambiguous,
                                MoveRefusal::OtherSide { .. } => error.unwrap_or(SanError::Illegal),
                                _ => SanError::Illegal,
                            });
                            assert_eq!(sort, error, "{fen} {word}: {refusal:?}");
                        }
                    }
                }
            }
        }
    }
}
