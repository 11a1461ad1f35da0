//! Generates pseudo-legal moves.

use super::attack::cell;
use super::tables::{ALL_MOVES, PAWN_ATTACKS_FROM, kind_index};
use super::{Color, MoveCode, Piece, PieceKind, Position, Special, Square, SquareSet};

const PROMOTIONS: [PieceKind; 4] = [PieceKind::Knight, PieceKind::Bishop, PieceKind::Rook, PieceKind::Queen];

impl Position {
    /// Clears `moves` and stores in it the pseudo-legal moves of the side to move, ordered by origin, then by
    /// target. Castling comes last; unlike the other moves, it is included only if it is legal.
    pub fn pseudo_legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        let own = self.pieces_of(self.side());
        for from in own {
            let Some(piece) = self.piece_at(from) else { continue };
            for to in self.targets(from, piece).and(SquareSet(!own.0)) {
                if piece.kind() == PieceKind::Pawn && is_last_rank(to) {
                    moves.extend(PROMOTIONS.map(|kind| self.pawn_move(from, to, piece, Some(kind))));
                } else {
                    moves.push(self.move_to(from, to, piece));
                }
            }
        }
        moves.extend(self.castling_move(true));
        moves.extend(self.castling_move(false));
    }

    /// Clears `moves` and stores in it the legal moves of the side to move, in the order of
    /// [`pseudo_legal_moves`](Self::pseudo_legal_moves).
    pub fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        self.pseudo_legal_moves(moves);
        moves.retain(|&code| {
            code.captured().map(Piece::kind) != Some(PieceKind::King) && self.is_king_safe_after(code)
        });
    }

    /// Whether the generator would produce this move in this position: the same code, except for the bits for
    /// check and mate.
    pub(super) fn is_pseudo_legal(&self, code: MoveCode) -> bool {
        let (from, to, captured) = (code.from(), code.to(), self.piece_at(code.to()));
        let Some(piece) = code.piece().filter(|piece| piece.color() == self.side()) else { return false };
        match code.special() {
            Special::CastleShort => self.castling_move(true) == Some(code.model()),
            Special::CastleLong => self.castling_move(false) == Some(code.model()),
            _ if self.piece_at(from) != Some(piece) => false,
            _ if piece.kind() == PieceKind::Pawn => self.is_pawn_move(code, piece),
            Special::Reversible | Special::Capture => {
                let reach = ALL_MOVES[kind_index(piece.kind())][usize::from(from.ordinal())];
                self.piece_move(from, to, piece) == code.model()
                    && captured.is_none_or(|captured| captured.color() != self.side())
                    && reach.contains(to)
                    && (matches!(piece.kind(), PieceKind::Knight | PieceKind::King)
                        || super::attack::is_open(&self.cells, from, to))
            }
            _ => false,
        }
    }

    /// Like [`is_pseudo_legal`](Self::is_pseudo_legal), for a move of `pawn`, which belongs to the side to
    /// move and is on the origin square of `code`.
    fn is_pawn_move(&self, code: MoveCode, pawn: Piece) -> bool {
        let (from, to) = (code.from(), code.to());
        let promotion = code.promotion();
        self.pawn_targets(from, pawn.color()).contains(to)
            && is_last_rank(to) == promotion.is_some()
            && promotion.is_none_or(|piece| piece.color() == pawn.color())
            && self.pawn_move(from, to, pawn, promotion.map(Piece::kind)) == code.model()
    }

    /// Whether the side to move has a legal move.
    #[must_use]
    pub fn has_legal_move(&self) -> bool {
        let own = self.pieces_of(self.side());
        let can_move = |from: Square| {
            let Some(piece) = self.piece_at(from) else { return false };
            let mut targets = self.targets(from, piece).and(SquareSet(!own.0));
            targets.any(|to| self.is_king_safe_after(self.move_to(from, to, piece)))
        };
        own.into_iter().any(can_move)
            || self.castling_move(true).is_some()
            || self.castling_move(false).is_some()
    }

    /// The code of the move that led to this position, with the bits for check and mate set if it gave mate.
    #[must_use]
    pub fn mark_mate(&self, code: MoveCode) -> MoveCode {
        if self.is_check() && !self.has_legal_move() { code.with_mate() } else { code }
    }

    pub(super) fn pieces_of(&self, color: Color) -> SquareSet {
        PieceKind::ALL.iter().fold(SquareSet::EMPTY, |set, &kind| set.or(self.squares_of(kind, color)))
    }

    fn piece_move(&self, from: Square, to: Square, piece: Piece) -> MoveCode {
        let captured = self.piece_at(to);
        let special = if captured.is_some() { Special::Capture } else { Special::Reversible };
        MoveCode::new(special, from, to, piece, captured)
    }

    /// The code of a piece's move to one of its targets. If the move is a promotion, the code does not
    /// contain the promotion piece.
    pub(super) fn move_to(&self, from: Square, to: Square, piece: Piece) -> MoveCode {
        match piece.kind() {
            PieceKind::Pawn => self.pawn_move(from, to, piece, None),
            _ => self.piece_move(from, to, piece),
        }
    }

    /// The squares that a piece on `from` can reach without being blocked by other pieces. For pieces other
    /// than pawns, these include squares with pieces of the same side.
    pub(super) fn targets(&self, from: Square, piece: Piece) -> SquareSet {
        let reach = ALL_MOVES[kind_index(piece.kind())][usize::from(from.ordinal())];
        match piece.kind() {
            PieceKind::Pawn => self.pawn_targets(from, piece.color()),
            PieceKind::Knight | PieceKind::King => reach,
            _ => reach.filter(|&to| super::attack::is_open(&self.cells, from, to)).collect(),
        }
    }

    /// The squares that a pawn of this colour on `from` can reach by a step, a double step or a capture.
    fn pawn_targets(&self, from: Square, color: Color) -> SquareSet {
        let (step, start_rank) = if color == Color::White { (16, 1) } else { (-16, 6) };
        let free = |square: Square| cell(&self.cells, square) == 0;
        let single = from.offset(step).filter(|&to| free(to));
        let double = single.filter(|_| from.rank() == start_rank);
        let double = double.and_then(|passed| passed.offset(step)).filter(|&to| free(to));
        // A pawn on `from` attacks the squares from which an enemy pawn would attack `from`.
        let attacked = PAWN_ATTACKS_FROM[color.other() as usize][usize::from(from.ordinal())];
        let enemies = attacked.filter(|&to| match self.piece_at(to) {
            Some(piece) => piece.color() != color,
            None => self.en_passant() == Some(to),
        });
        single.into_iter().chain(double).chain(enemies).collect()
    }

    /// The code of a pawn's move to one of its targets.
    fn pawn_move(&self, from: Square, to: Square, pawn: Piece, promotion: Option<PieceKind>) -> MoveCode {
        let captured = self.piece_at(to);
        let special = match promotion {
            Some(kind) => Special::Promotion(Piece::new(kind, pawn.color())),
            None if from.rank().abs_diff(to.rank()) == 2 => Special::DoubleStep,
            None if captured.is_none() && from.file() != to.file() => {
                let victim = Piece::new(PieceKind::Pawn, pawn.color().other());
                return MoveCode::new(Special::EnPassant, from, to, pawn, Some(victim));
            }
            None => Special::Pawn,
        };
        MoveCode::new(special, from, to, pawn, captured)
    }
}

const fn is_last_rank(square: Square) -> bool {
    matches!(square.rank(), 0 | 7)
}

#[cfg(test)]
mod tests {
    use super::super::tables::{BLACK_PAWN_FROM, WHITE_PAWN_FROM};
    use super::*;

    /// A board with only this piece, on which the generator finds the moves that the tables must contain.
    fn lone(piece: Piece, square: Square) -> Position {
        let mut position = Position::start();
        position.cells = [0; 128];
        position.sets = [SquareSet::EMPTY; 16];
        position.cells[usize::from(square.index())] = piece.code();
        position.sets[usize::from(piece.code())] = SquareSet::from_square(square);
        position.set_side_without_castling(piece.color());
        position
    }

    fn reached(piece: Piece, from: Square) -> SquareSet {
        let mut moves = Vec::new();
        lone(piece, from).pseudo_legal_moves(&mut moves);
        moves.iter().map(|code| code.to()).collect()
    }

    #[test]
    fn all_moves_agrees_with_the_generator_on_an_empty_board() {
        for kind in [PieceKind::Knight, PieceKind::King, PieceKind::Bishop, PieceKind::Rook, PieceKind::Queen]
        {
            for square in SquareSet(u64::MAX) {
                let table = ALL_MOVES[kind_index(kind)][usize::from(square.ordinal())];
                for color in [Color::White, Color::Black] {
                    assert_eq!(reached(Piece::new(kind, color), square), table, "{kind:?} {square}");
                }
            }
        }
    }

    #[test]
    fn pawn_tables_are_reversed_steps_of_the_generator() {
        for (color, table) in [(Color::White, &WHITE_PAWN_FROM), (Color::Black, &BLACK_PAWN_FROM)] {
            let pawn = Piece::new(PieceKind::Pawn, color);
            let mut expected = [SquareSet::EMPTY; 64];
            for from in SquareSet(!(SquareSet::rank(0).0 | SquareSet::rank(7).0)) {
                // An enemy on each attacked square lets the generator produce captures in addition to steps.
                let mut board = lone(pawn, from);
                for to in PAWN_ATTACKS_FROM[color.other() as usize][usize::from(from.ordinal())] {
                    let victim = Piece::new(PieceKind::Knight, color.other());
                    board.cells[usize::from(to.index())] = victim.code();
                    board.sets[usize::from(victim.code())] = board.sets[usize::from(victim.code())].with(to);
                }
                let mut moves = Vec::new();
                board.pseudo_legal_moves(&mut moves);
                for code in moves {
                    let to = usize::from(code.to().ordinal());
                    expected[to] = expected[to].with(from);
                }
            }
            assert_eq!(*table, expected);
        }
    }

    #[test]
    fn the_generator_lists_known_moves_in_order() {
        let (position, _) = Position::from_fen(b"4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1").unwrap();
        let mut moves = Vec::new();
        position.pseudo_legal_moves(&mut moves);
        let codes: Vec<u32> = moves.iter().map(|code| code.bits()).collect();
        #[rustfmt::skip]
        assert_eq!(codes, [
            0x0304_0360, 0x0304_0560, 0x0304_1360, 0x0304_1460, 0x0304_1560,
            0x0306_1440, 0x0306_2540, 0x0306_2740,
            0x0322_0140, 0x0322_0340, 0x0322_1040, 0x0322_1440,
            0x0322_3040, 0x0322_3440, 0x0322_4140, 0x0322_4340,
        ]);
        assert_eq!(position.resolve(b"Ne2").unwrap().bits(), 0x0306_1440);
    }
}
