//! Explains to users why a text is not a legal move.

use super::san::San;
use super::{Color, MoveCode, Piece, PieceKind, Position, SanError, Square, SquareSet};

/// Why a text is not a legal move in a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveRefusal {
    /// The text does not have the form of a move.
    #[error("not readable as a move")]
    Unreadable,
    /// A pawn reaches the last rank, and no promotion piece is given.
    #[error("the promotion piece is missing; write it as in e8=Q")]
    PromotionMissing,
    /// The promotion is impossible: only a pawn that reaches the last rank promotes, and not to a king or a
    /// pawn.
    #[error("only a pawn that reaches the last rank promotes, and only to Q, R, B or N")]
    NoPromotion,
    /// The side to move has no piece of this kind, or none on the origin that the text names.
    #[error("{} has no {}{}", .piece.color().name(), .piece.kind().name(), on(*.origins))]
    NoPiece {
        /// The piece.
        piece: Piece,
        /// The squares on which it can be, according to the text.
        origins: SquareSet,
    },
    /// The piece on the origin that the text names belongs to the other side.
    #[error(
        "the {} on {from} is {}'s, but it is {}'s move",
        .piece.kind().name(), .piece.color().name(), .piece.color().other().name()
    )]
    OtherSide {
        /// The piece.
        piece: Piece,
        /// The square of the piece.
        from: Square,
    },
    /// The side to move has pieces of this kind (on the origin, if the text names one), but none of them can
    /// reach the target.
    #[error("{}", out_of_reach(*piece, *to))]
    OutOfReach {
        /// The piece.
        piece: Piece,
        /// The target.
        to: Square,
    },
    /// A piece of the side to move is on the target.
    #[error("{}'s own {} is on {to}", .by.color().name(), .by.kind().name())]
    Occupied {
        /// The occupying piece.
        by: Piece,
        /// The target.
        to: Square,
    },
    /// The side to move has no legal move.
    #[error("{} has no legal move in this position", .side.name())]
    NoLegalMove {
        /// The side.
        side: Color,
    },
    /// The side to move is in check, and the move does not end the check.
    #[error("{} is in check, and this move does not end the check", .side.name())]
    InCheck {
        /// The side.
        side: Color,
    },
    /// The piece is pinned to its king.
    #[error("the {} on {from} is pinned to its king", .piece.kind().name())]
    Pinned {
        /// The piece.
        piece: Piece,
        /// The square of the piece.
        from: Square,
    },
    /// The king would be in check on the target.
    #[error("{}'s king would be in check on {to}", .side.name())]
    IntoCheck {
        /// The side of the king.
        side: Color,
        /// The target.
        to: Square,
    },
    /// Several pieces of this kind can legally move to the target.
    #[error("{}", ambiguous(*piece, from, *to))]
    Ambiguous {
        /// The piece: its kind and side.
        piece: Piece,
        /// The squares of these pieces.
        from: Vec<Square>,
        /// The target.
        to: Square,
    },
    /// The castling right is missing: the king or the rook has moved, the rook was captured, or the FEN does
    /// not give the right.
    #[error("{} has no right to castle on that side", .side.name())]
    NoCastlingRight {
        /// The side.
        side: Color,
    },
    /// The side has the right to castle, but cannot castle now. A square on the way of the king or the rook
    /// is occupied, or the king is in check or would be in check on its way or its target.
    #[error(
        "{} cannot castle now: the way is blocked, or the king is in check or would pass through check",
        .side.name()
    )]
    CastlingHindered {
        /// The side.
        side: Color,
    },
}

/// The message of [`MoveRefusal::Ambiguous`].
fn ambiguous(piece: Piece, from: &[Square], to: Square) -> String {
    let letter = char::from(piece.kind().letter()).to_string();
    let letter = letter.trim_start_matches('P');
    let example = from.first().map(|from| format!("{letter}{from}{to}")).unwrap_or_default();
    let squares: Vec<_> = from.iter().map(Square::to_string).collect();
    let (squares, all) = match squares.as_slice() {
        [first, second] => (format!("{first} and {second}"), "both"),
        several => (several.join(", "), "all"),
    };
    let kind = piece.kind().name();
    format!(
        "ambiguous: the {kind}s on {squares} can {all} go to {to}; name the start square, as in {example}"
    )
}

/// The end of the message of [`MoveRefusal::NoPiece`]: a blank and the place of these squares; empty if they
/// are more than a square, a file or a rank.
fn on(squares: SquareSet) -> String {
    match squares.first() {
        Some(square) if squares.len() == 1 => format!(" on {square}"),
        Some(square) if squares == SquareSet::file(square.file()) => {
            format!(" on the {}-file", char::from(square.name()[0]))
        }
        Some(square) if squares == SquareSet::rank(square.rank()) => {
            format!(" on rank {}", char::from(square.name()[1]))
        }
        _ => String::new(),
    }
}

/// The message of [`MoveRefusal::OutOfReach`].
fn out_of_reach(piece: Piece, to: Square) -> String {
    match (piece.color().name(), piece.kind()) {
        (side, PieceKind::King) => format!("{side}'s king cannot reach {to}"),
        (side, kind) => format!("{side} has no {} that can reach {to}", kind.name()),
    }
}

impl Position {
    /// Finds the legal move that a text means, as [`resolve`](Self::resolve) does. If there is no such move,
    /// also finds the reason, which takes extra time.
    ///
    /// # Errors
    /// The reason why the text is not a legal move.
    pub fn resolve_or_explain(&self, token: &[u8]) -> Result<MoveCode, MoveRefusal> {
        self.resolve(token).map_err(|error| match (error, San::parse(token)) {
            (SanError::Unreadable, _) | (_, Err(_)) => MoveRefusal::Unreadable,
            _ if !self.has_legal_move() => MoveRefusal::NoLegalMove { side: self.side() },
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

    /// [`MoveRefusal::OtherSide`], if `origins` is a single square with a piece of the other side.
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
        // Long algebraic notation can omit the piece letter. The text then means a move of the piece on the
        // origin.
        let mover = origins.first().and_then(|square| self.piece_at(square));
        let piece = match (kind, mover) {
            (Some(kind), _) => Piece::new(kind, self.side()),
            (None, Some(mover)) if mover.color() == self.side() => mover,
            (None, _) => {
                let piece = Piece::new(PieceKind::Pawn, self.side());
                let no_pawn = MoveRefusal::NoPiece { piece, origins };
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
            return MoveRefusal::NoPiece { piece, origins };
        }
        if let Some(by) = self.piece_at(to).filter(|by| by.color() == self.side()) {
            return MoveRefusal::Occupied { by, to };
        }
        let able: Vec<_> = own.filter(|&from| self.targets(from, piece).contains(to)).collect();
        // The promotion piece does not matter for the king's safety.
        let safe = |&from: &Square| self.is_king_safe_after(self.move_to(from, to, piece));
        let legal: Vec<_> = able.iter().copied().filter(safe).collect();
        match (able.as_slice(), legal.len()) {
            ([], _) => MoveRefusal::OutOfReach { piece, to },
            (_, 1..) if promotes && promotion.is_none() => MoveRefusal::PromotionMissing,
            (_, 2..) => MoveRefusal::Ambiguous { piece, from: legal, to },
            _ if kind == PieceKind::King => MoveRefusal::IntoCheck { side: self.side(), to },
            _ if self.is_check() => MoveRefusal::InCheck { side: self.side() },
            (&[from, ..], _) => MoveRefusal::Pinned { piece, from },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_reported() {
        for (fen, word, reason) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - -", "Kh7", "Black has no legal move in this position"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Nd4", "White has no knight that can reach d4"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Ke3", "White's king cannot reach e3"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Qd4", "White has no queen"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "Nbf3", "White has no knight on the b-file"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "N3f3", "White has no knight on rank 3"),
            ("4k3/8/8/8/8/8/8/4K1N1 w - -", "e2e4", "White has no pawn on e2"),
            ("4k3/8/8/8/8/8/4P3/4K1N1 w - -", "e8", "White has no pawn that can reach e8"),
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
            ("4k3/8/8/8/8/8/8/4K3 w - -", "e8e7", "the king on e8 is Black's, but it is White's move"),
            ("4k3/4p3/8/8/8/8/8/K7 w - -", "e7e8", "the pawn on e7 is Black's, but it is White's move"),
            (
                "4k3/P7/8/8/8/8/8/4K3 w - -",
                "a8=K",
                "only a pawn that reaches the last rank promotes, and only to Q, R, B or N",
            ),
            ("4k3/8/8/8/8/8/P7/4K3 w - -", "a5", "White has no pawn that can reach a5"),
            ("4k3/8/8/8/8/p7/P7/4K3 w - -", "a4", "White has no pawn that can reach a4"),
            ("4k3/8/8/8/8/8/P7/4K3 w - -", "axb3", "White has no pawn that can reach b3"),
            ("4k3/8/8/8/8/8/8/4K2q w - -", "--", "White is in check, and this move does not end the check"),
            ("4k3/8/8/8/8/8/8/4K3 w - -", "hello", "not readable as a move"),
        ] {
            let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
            let refusal = position.resolve_or_explain(word.as_bytes()).unwrap_err();
            assert_eq!(refusal.to_string(), reason, "{fen} {word}");
        }
        assert!(Position::start().resolve_or_explain(b"e4").is_ok());
    }

    /// Tests many texts in positions with pins, checks, castling and promotion. There is a reason if and only
    /// if `resolve` fails, and the reason agrees with the error.
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
                                // The error says that a promotion piece is missing even if no pawn can move there.
                                _ if error == Some(SanError::PromotionMissing) => SanError::PromotionMissing,
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
