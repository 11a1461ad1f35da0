//! The board: a legal position on which moves are played.

use super::attack::{Cells, Sets, cell, first_piece, is_attacked, is_open, of_kind, sliders};
use super::key::{castling_key, en_passant_key, piece_key, side_key};
use super::move_code::special_bits;
use super::tables::{ALL_MOVES, Line, PAWN_ATTACKS_FROM};
use super::{
    Castling, Color, MoveCode, Piece, PieceKind, PositionKey, Setup, SetupError, Special, Square, SquareSet,
};

/// A legal position on a 0x88 board, with all data needed to play on.
///
/// A position is validated when it is built from a [`Setup`], and stays legal. Each side has one king, and
/// the side that has just moved is not in check. Each move updates the Polyglot key. The en-passant square is
/// kept only if an en-passant capture is legal.
#[derive(Clone, Debug)]
pub struct Position {
    pub(super) cells: Cells,
    pub(super) sets: Sets,
    kings: [Square; 2],
    side: Color,
    castling: Castling,
    /// For each castling right (by [`Castling::index`]), the square of its rook.
    rooks: [Square; 4],
    /// For each square (by ordinal), a mask of the castling rights that remain when a piece leaves or reaches
    /// this square.
    kept_rights: [u8; 64],
    /// Whether all castling rights were those of standard chess when the position was set up: with the king
    /// on the e-file and the rook in the corner.
    standard_castling: bool,
    en_passant: Option<Square>,
    in_check: bool,
    halfmove_clock: u32,
    fullmove_number: u32,
    key: PositionKey,
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
            && self.in_check == other.in_check
            && self.halfmove_clock == other.halfmove_clock
            && self.fullmove_number == other.fullmove_number
            && self.key == other.key
    }
}

impl Eq for Position {}

/// Why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalMove {
    /// The code is not a move that the pieces on the board can make.
    #[error("the pieces on the board cannot make this move")]
    Unfitting,
    /// The move captures a king.
    #[error("a king cannot be captured")]
    CapturesKing,
    /// The mover's king would be in check.
    #[error("the move leaves the king in check")]
    LeavesKingInCheck,
}

impl Position {
    /// The start position of standard chess.
    #[must_use]
    pub fn start() -> Self {
        let fen = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        Self::from_fen(fen).expect("the start position is legal").0
    }

    /// Validates a set-up and builds the board.
    ///
    /// # Errors
    /// If a side does not have exactly one king, or has more than 32 pieces; if a pawn is on the first or
    /// last rank; if the side that has just moved is in check.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        let mut position = Self {
            cells: [0; 128],
            sets: [SquareSet::EMPTY; 16],
            kings: [setup.king(Color::White)?, setup.king(Color::Black)?],
            side: setup.side,
            castling: setup.castling,
            rooks: setup.rooks,
            kept_rights: [0xff; 64],
            standard_castling: true,
            en_passant: None,
            in_check: false,
            halfmove_clock: setup.halfmove_clock,
            fullmove_number: setup.fullmove_number,
            key: PositionKey::default(),
        };
        for (square, piece) in setup.pieces() {
            position.cells[usize::from(square.index())] = piece.code();
            let set = &mut position.sets[usize::from(piece.code())];
            *set = set.with(square);
        }
        setup.check_pieces()?;
        for color in [Color::White, Color::Black] {
            for short in [true, false] {
                let Some(rook) = position.castling_rook(color, short) else { continue };
                let king = position.king(color);
                for square in [king, rook] {
                    position.kept_rights[usize::from(square.ordinal())] &= !Castling::right(color, short).0;
                }
                let is_standard = king.file() == 4 && rook.file() == if short { 7 } else { 0 };
                position.standard_castling &= is_standard;
            }
        }
        if position.is_king_attacked(position.side.other()) {
            return Err(SetupError::OpponentInCheck(position.side.other()));
        }
        position.in_check = position.is_king_attacked(position.side);
        position.en_passant = setup.en_passant.filter(|&square| position.is_en_passant_legal(square));
        position.key = position.key_from_scratch();
        Ok(position)
    }

    /// Whether this is the same position, ignoring the counters: the canonical FENs are equal.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.cells == other.cells
            && self.side == other.side
            && self.castling == other.castling
            && (0..4)
                .all(|right| self.castling.0 >> right & 1 == 0 || self.rooks[right] == other.rooks[right])
            && self.en_passant == other.en_passant
    }

    /// The piece on a square.
    #[must_use]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        Piece::from_code(cell(&self.cells, square))
    }

    /// The squares with a piece of this kind and colour.
    #[must_use]
    pub fn squares_of(&self, kind: PieceKind, color: Color) -> SquareSet {
        of_kind(&self.sets, kind, color)
    }

    /// The square of a side's king.
    #[must_use]
    pub const fn king(&self, color: Color) -> Square {
        self.kings[color as usize]
    }

    /// The side to move.
    #[must_use]
    pub const fn side(&self) -> Color {
        self.side
    }

    /// The remaining castling rights.
    #[must_use]
    pub const fn castling(&self) -> Castling {
        self.castling
    }

    /// The square of the rook with which a side can castle short (if `short`) or long; `None` if the side
    /// does not have this right.
    #[must_use]
    pub fn castling_rook(&self, color: Color, short: bool) -> Option<Square> {
        self.castling.has(Castling::right(color, short)).then(|| self.rooks[Castling::index(color, short)])
    }

    /// Whether all castling rights were those of standard chess when the position was set up: with the king
    /// on the e-file and the rook in the corner. Also `true` if there were no rights.
    #[must_use]
    pub const fn has_standard_castling(&self) -> bool {
        self.standard_castling
    }

    /// The square behind a pawn that has just moved two squares, if capturing that pawn en passant is legal.
    #[must_use]
    pub const fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// The number of half-moves since the last capture or pawn move.
    #[must_use]
    pub const fn halfmove_clock(&self) -> u32 {
        self.halfmove_clock
    }

    /// The number of the full move; it increases after each move of Black.
    #[must_use]
    pub const fn fullmove_number(&self) -> u32 {
        self.fullmove_number
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub const fn is_check(&self) -> bool {
        self.in_check
    }

    /// The Polyglot key of the canonical FEN.
    #[must_use]
    pub const fn key(&self) -> PositionKey {
        self.key
    }

    /// The key computed from the whole board; always equal to [`key`](Self::key).
    #[must_use]
    pub fn key_from_scratch(&self) -> PositionKey {
        let mut key = castling_key(self.castling.0);
        for code in 2..14 {
            for square in self.sets[usize::from(code)] {
                key ^= piece_key(code, square);
            }
        }
        if let Some(square) = self.en_passant {
            key ^= en_passant_key(square);
        }
        if self.side == Color::White {
            key ^= side_key();
        }
        PositionKey(key)
    }

    /// Plays a move, and returns its code with the correct check bit. The mate bit of the returned code is 0.
    ///
    /// # Errors
    /// If the pieces on the board cannot make this move, or if the move captures a king or leaves the mover's
    /// king in check. The position is then unchanged.
    pub fn make(&mut self, code: MoveCode) -> Result<MoveCode, IllegalMove> {
        if code.is_null() {
            return if self.in_check { Err(IllegalMove::LeavesKingInCheck) } else { Ok(self.play(code)) };
        }
        if code.captured().map(Piece::kind) == Some(PieceKind::King) {
            return Err(IllegalMove::CapturesKing);
        }
        if !self.is_pseudo_legal(code) {
            return Err(IllegalMove::Unfitting);
        }
        if !self.is_king_safe_after(code) {
            return Err(IllegalMove::LeavesKingInCheck);
        }
        Ok(self.play(code))
    }

    /// Plays a move known to be legal, and returns its code with the correct check bit.
    #[inline]
    pub(super) fn play(&mut self, code: MoveCode) -> MoveCode {
        self.update(code);
        self.in_check = self.gave_check(code);
        code.model().with_check(self.in_check)
    }

    /// Plays a move known to be legal, whose check bit is known to be correct: for replaying moves that were
    /// played before.
    #[inline]
    pub(crate) fn replay(&mut self, code: MoveCode) {
        self.update(code);
        self.in_check = code.is_check();
    }

    /// Plays a move from a database, which can be damaged. `is_en_passant_possible` is whether an en-passant
    /// capture is legal after the move, as stored in the database. Returns `false`, and changes nothing, if
    /// the move does not [fit](Self::fits).
    #[inline]
    pub(crate) fn replay_stored(&mut self, code: MoveCode, is_en_passant_possible: bool) -> bool {
        if !self.fits(code) {
            return false;
        }
        self.replay(code);
        if self.en_passant.is_some() != is_en_passant_possible {
            let passed = Square::masked((code.from().index() + code.to().index()) / 2);
            self.key.0 ^= en_passant_key(passed);
            self.en_passant = is_en_passant_possible.then_some(passed);
        }
        true
    }

    /// Whether the code is valid, and the pieces that it moves and captures are on the squares that it names.
    /// For castling, the side to move must also have the right.
    fn fits(&self, code: MoveCode) -> bool {
        if code.is_null() {
            return code == MoveCode::NULL;
        }
        let Some(piece) = code.piece().filter(|_| MoveCode::from_bits(code.bits()).is_some()) else {
            return false;
        };
        if piece.color() != self.side || self.piece_at(code.from()) != Some(piece) {
            return false;
        }
        match code.special() {
            Special::CastleShort | Special::CastleLong => {
                let short = code.special() == Special::CastleShort;
                piece.kind() == PieceKind::King
                    && code.captured().is_none()
                    && self.castling_rook(piece.color(), short).is_some()
            }
            Special::EnPassant => {
                self.piece_at(code.to()).is_none()
                    && self.piece_at(en_passant_victim(code)) == code.captured()
            }
            _ => code.from() != code.to() && self.piece_at(code.to()) == code.captured(),
        }
    }

    /// Plays a move, but does not update `in_check`.
    #[inline]
    fn update(&mut self, code: MoveCode) {
        if let Some(square) = self.en_passant.take() {
            self.key.0 ^= en_passant_key(square);
        }
        self.halfmove_clock = if code.is_irreversible() { 0 } else { self.halfmove_clock.saturating_add(1) };
        if self.side == Color::Black {
            self.fullmove_number = self.fullmove_number.saturating_add(1);
        }
        match code.special_bits() {
            special_bits::REVERSIBLE | special_bits::PAWN | special_bits::CAPTURE => self.move_piece(code),
            special_bits::DOUBLE_STEP => {
                self.move_piece(code);
                self.side = self.side.other();
                self.key.0 ^= side_key();
                let passed = Square::masked((code.from().index() + code.to().index()) / 2);
                if self.is_en_passant_legal(passed) {
                    self.en_passant = Some(passed);
                    self.key.0 ^= en_passant_key(passed);
                }
                return;
            }
            _ => self.update_special(code),
        }
        self.side = self.side.other();
        self.key.0 ^= side_key();
    }

    fn update_special(&mut self, code: MoveCode) {
        match code.special() {
            Special::CastleShort | Special::CastleLong => self.castle(code),
            Special::EnPassant => {
                let (from, to, pawn) = (code.from().index(), code.to().index(), code.piece_bits());
                self.move_piece(MoveCode::from_parts(special_bits::PAWN, from, to, pawn, 0));
                self.toggle(code.captured_bits(), en_passant_victim(code));
                self.cells[usize::from(en_passant_victim(code).index())] = 0;
            }
            Special::Promotion(piece) => {
                self.move_piece(code);
                self.toggle(code.piece_bits(), code.to());
                self.toggle(piece.code(), code.to());
                self.cells[usize::from(code.to().index())] = piece.code();
            }
            _ => {}
        }
    }

    #[inline]
    fn move_piece(&mut self, code: MoveCode) {
        let (from, to, piece) = (code.from(), code.to(), code.piece_bits());
        if code.captured_bits() != 0 {
            self.toggle(code.captured_bits(), to);
        }
        let set = &mut self.sets[usize::from(piece)];
        set.0 ^= SquareSet::from_square(from).0 | SquareSet::from_square(to).0;
        self.key.0 ^= piece_key(piece, from) ^ piece_key(piece, to);
        self.cells[usize::from(from.index() & 0x7f)] = 0;
        self.cells[usize::from(to.index() & 0x7f)] = piece;
        if piece & !1 == PieceKind::King as u8 {
            self.kings[usize::from(piece & 1)] = to;
        }
        if self.castling.0 != 0 {
            self.strike_rights(from, to);
        }
    }

    /// Adds a square to a piece's set, or removes it from that set, and updates the key.
    #[inline]
    fn toggle(&mut self, piece: u8, square: Square) {
        self.sets[usize::from(piece & 15)].0 ^= SquareSet::from_square(square).0;
        self.key.0 ^= piece_key(piece, square);
    }

    /// Removes the castling rights that end when a piece leaves `from` and reaches `to`.
    #[inline]
    fn strike_rights(&mut self, from: Square, to: Square) {
        let kept =
            self.kept_rights[usize::from(from.ordinal())] & self.kept_rights[usize::from(to.ordinal())];
        let struck = self.castling.0 & !kept;
        if struck != 0 {
            self.key.0 ^= castling_key(struck);
            self.castling.0 &= kept;
        }
    }

    fn castle(&mut self, code: MoveCode) {
        let short = code.special() == Special::CastleShort;
        let rook = Piece::new(PieceKind::Rook, code.color()).code();
        let (king_from, king_to) = (code.from(), code.to());
        let rook_from = self.rooks[Castling::index(code.color(), short)];
        let rook_to = castled_rook(king_to, short);
        for (piece, from) in [(code.piece_bits(), king_from), (rook, rook_from)] {
            self.toggle(piece, from);
            self.cells[usize::from(from.index())] = 0;
        }
        for (piece, to) in [(code.piece_bits(), king_to), (rook, rook_to)] {
            self.toggle(piece, to);
            self.cells[usize::from(to.index())] = piece;
        }
        self.kings[code.color() as usize] = king_to;
        self.strike_rights(king_from, king_from);
    }

    /// Whether the move `code`, which has just been played, gave check to the side that is now to move.
    #[inline]
    fn gave_check(&self, code: MoveCode) -> bool {
        let (mover, king) = (self.side.other(), self.kings[self.side as usize]);
        match code.special_bits() {
            special_bits::NULL => false,
            special_bits::CASTLE_SHORT | special_bits::CASTLE_LONG => {
                let rook = castled_rook(code.to(), code.special_bits() == special_bits::CASTLE_SHORT);
                self.attacks(PieceKind::Rook as u8, rook, king, mover) || self.is_king_attacked(self.side)
            }
            special_bits::EN_PASSANT => self.is_king_attacked(self.side),
            _ => {
                let moved = cell(&self.cells, code.to());
                self.attacks(moved & !1, code.to(), king, mover)
                    || self.is_discovered(code.from(), king, mover)
            }
        }
    }

    /// Whether a piece of this kind (given as the code of the white piece) and colour on `from` attacks `to`.
    #[inline]
    fn attacks(&self, kind: u8, from: Square, to: Square, color: Color) -> bool {
        if kind == PieceKind::Pawn as u8 {
            return PAWN_ATTACKS_FROM[color as usize][usize::from(to.ordinal())].contains(from);
        }
        ALL_MOVES[usize::from(kind >> 1 & 7).min(6)][usize::from(to.ordinal())].contains(from)
            && (kind < PieceKind::Bishop as u8 || is_open(&self.cells, from, to))
    }

    /// Whether moving a piece away from `left` opened a line from a slider of `color` to `king`.
    #[inline]
    fn is_discovered(&self, left: Square, king: Square, color: Color) -> bool {
        let line = Line::between(king, left);
        if line.kind == 0 {
            return false;
        }
        let row = usize::from(line.kind >> 1);
        let hunters = ALL_MOVES[row][usize::from(king.ordinal())].and(sliders(&self.sets, line.kind, color));
        if hunters.is_empty() {
            return false;
        }
        first_piece(&self.cells, king, line.step).is_some_and(|(_, square)| hunters.contains(square))
    }

    /// Sets the side to move to `color` and removes all castling rights: for test boards that are not legal
    /// positions.
    #[cfg(test)]
    pub(super) fn set_side_without_castling(&mut self, color: Color) {
        self.side = color;
        self.castling = Castling(0);
    }

    fn is_king_attacked(&self, color: Color) -> bool {
        is_attacked(&self.cells, &self.sets, self.king(color), color.other(), SquareSet::EMPTY)
    }

    /// Whether the side to move can play this pseudo-legal move without leaving its king in check.
    #[inline]
    pub(super) fn is_king_safe_after(&self, code: MoveCode) -> bool {
        match code.special_bits() {
            // A null move never gets here, and castling is checked completely when it is generated.
            special_bits::NULL | special_bits::CASTLE_SHORT | special_bits::CASTLE_LONG => true,
            special_bits::EN_PASSANT => self.is_king_safe_slowly(code),
            _ if self.in_check || code.piece_bits() & !1 == PieceKind::King as u8 => {
                self.is_king_safe_slowly(code)
            }
            _ => !self.is_pinned_from(code.from(), code.to()),
        }
    }

    /// Whether the piece on `from` is pinned to its king, and `to` is not on the line of the pin.
    #[inline]
    fn is_pinned_from(&self, from: Square, to: Square) -> bool {
        let king = self.kings[self.side as usize];
        let line = Line::between(king, from);
        if line.kind == 0 || Line::between(king, to).step == line.step {
            return false;
        }
        let row = usize::from(line.kind >> 1);
        let enemy = self.side.other();
        let hunters = ALL_MOVES[row][usize::from(king.ordinal())].and(sliders(&self.sets, line.kind, enemy));
        !hunters.is_empty()
            && is_open(&self.cells, king, from)
            && first_piece(&self.cells, from, line.step).is_some_and(|(_, square)| hunters.contains(square))
    }

    fn is_king_safe_slowly(&self, code: MoveCode) -> bool {
        let mut cells = self.cells;
        let mut captured = SquareSet::from_square(code.to());
        cells[usize::from(code.from().index())] = 0;
        cells[usize::from(code.to().index())] = code.piece_bits();
        if code.special_bits() == special_bits::EN_PASSANT {
            let victim = en_passant_victim(code);
            cells[usize::from(victim.index())] = 0;
            captured = SquareSet::from_square(victim);
        }
        let moved_king = code.piece_bits() & !1 == PieceKind::King as u8;
        let king = if moved_king { code.to() } else { self.kings[self.side as usize] };
        !is_attacked(&cells, &self.sets, king, self.side.other(), captured)
    }

    /// Whether the side to move can legally capture en passant on this square.
    fn is_en_passant_legal(&self, to: Square) -> bool {
        let pawn = Piece::new(PieceKind::Pawn, self.side).code();
        let victim = Piece::new(PieceKind::Pawn, self.side.other()).code();
        let pawns = of_kind(&self.sets, PieceKind::Pawn, self.side);
        let takers = PAWN_ATTACKS_FROM[self.side as usize][usize::from(to.ordinal())].and(pawns);
        let expected_rank = if self.side == Color::White { 5 } else { 2 };
        if takers.is_empty() || to.rank() != expected_rank || cell(&self.cells, to) != 0 {
            return false;
        }
        let behind = Square::masked(to.index() ^ 0x10);
        let origin = if self.side == Color::White { to.index() + 16 } else { to.index() - 16 };
        cell(&self.cells, behind) == victim
            && cell(&self.cells, Square::masked(origin)) == 0
            && takers.into_iter().any(|from| {
                let code =
                    MoveCode::from_parts(special_bits::EN_PASSANT, from.index(), to.index(), pawn, victim);
                self.is_king_safe_slowly(code)
            })
    }

    /// The code of castling short (if `short`) or long; `None` if this castling is not legal for the side to
    /// move.
    pub(super) fn castling_move(&self, short: bool) -> Option<MoveCode> {
        let rook_from = self.castling_rook(self.side, short)?;
        if self.in_check {
            return None;
        }
        let king_from = self.king(self.side);
        let king_to = Square::at(if short { 6 } else { 2 }, king_from.rank());
        let rook_to = castled_rook(king_to, short);
        let mut cells = self.cells;
        cells[usize::from(king_from.index())] = 0;
        cells[usize::from(rook_from.index())] = 0;
        let files = |a: Square, b: Square| a.file().min(b.file())..=a.file().max(b.file());
        let square = |file| Square::at(file, king_from.rank());
        let free = |a, b| files(a, b).all(|file| cell(&cells, square(file)) == 0);
        if !free(king_from, king_to) || !free(rook_from, rook_to) {
            return None;
        }
        let safe = |file| !is_attacked(&cells, &self.sets, square(file), self.side.other(), SquareSet::EMPTY);
        // `cells` contains neither king nor rook: in Chess960, moving the rook away can open a line for a
        // slider behind it.
        if !files(king_from, king_to).all(safe) {
            return None;
        }
        let special = if short { Special::CastleShort } else { Special::CastleLong };
        Some(MoveCode::new(special, king_from, king_to, Piece::new(PieceKind::King, self.side), None))
    }

    /// The move in UCI notation. Castling is written as the king's move (`e1g1`) or, if the position was not
    /// set up with [standard castling](Self::has_standard_castling), as the king taking its own rook.
    #[must_use]
    pub fn uci(&self, code: MoveCode) -> super::Uci {
        if self.standard_castling { code.uci(None) } else { self.uci_chess960(code) }
    }

    /// The move in UCI notation with the option `UCI_Chess960`: castling is always written as the king taking
    /// its own rook.
    #[must_use]
    pub fn uci_chess960(&self, code: MoveCode) -> super::Uci {
        let castles = matches!(code.special(), Special::CastleShort | Special::CastleLong);
        let right = Castling::index(code.color(), code.special() == Special::CastleShort);
        code.uci(castles.then(|| self.rooks[right]))
    }
}

/// The square of the rook after castling.
const fn castled_rook(king_to: Square, short: bool) -> Square {
    Square::at(if short { 5 } else { 3 }, king_to.rank())
}

/// The square of the pawn that is captured en passant.
const fn en_passant_victim(code: MoveCode) -> Square {
    Square::at(code.to().file(), code.from().rank())
}
