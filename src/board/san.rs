//! Reads and writes SAN.

use super::attack::is_open;
use super::tables::{ALL_MOVES, kind_index};
use super::{Color, MoveCode, Piece, PieceKind, Position, Special, Square, SquareSet};

/// Why a text is not a move in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SanError {
    /// The text does not have the form of a move.
    #[error("not readable as a move")]
    Unreadable,
    /// The text has the form of a move, but no legal move matches.
    #[error("illegal move")]
    Illegal,
    /// Several legal moves match.
    #[error("ambiguous move")]
    Ambiguous,
    /// A pawn reaches the last rank, and no promotion piece is given.
    #[error("the promotion piece is missing")]
    PromotionMissing,
}

/// A move in SAN, not yet looked up on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum San {
    Null,
    Castle {
        short: bool,
    },
    Move {
        /// `None` for long algebraic text with neither a piece letter nor a promotion. The piece on the only
        /// origin square then makes the move, whatever its kind.
        kind: Option<PieceKind>,
        origins: SquareSet,
        to: Square,
        promotion: Option<PieceKind>,
    },
}

const ANYWHERE: SquareSet = SquareSet(u64::MAX);

impl San {
    /// Parses SAN, lax forms of it, long algebraic notation and UCI. Signs after a move (`+ # ! ?`, `+-`,
    /// `=`) are ignored.
    pub(super) fn parse(token: &[u8]) -> Result<Self, SanError> {
        let token = trim_suffix(token);
        match token {
            [0xe2, 0x99, figurine @ 0x94..=0x9f, rest @ ..] => Self::parse_figurine(*figurine, rest),
            [b'a'..=b'h', b'1'..=b'8'] => Self::simple(None, token),
            [b'N' | b'B' | b'R' | b'Q' | b'K', b'a'..=b'h', b'1'..=b'8'] => {
                Self::simple(PieceKind::from_letter(token[0]), &token[1..])
            }
            [b'N' | b'B' | b'R' | b'Q' | b'K', b'x', b'a'..=b'h', b'1'..=b'8'] => {
                Self::simple(PieceKind::from_letter(token[0]), &token[2..])
            }
            [b'O' | b'0' | b'o' | b'-' | b'Z' | b'@', ..] => Self::parse_special(token),
            b"null" | b"Null" | b"NULL" => Ok(Self::Null),
            [0xce | 0xd0, ..] => Self::parse_wide_castling(token),
            _ => Self::parse_general(token),
        }
    }

    /// A move to `to`: by a piece of this kind or, if `kind` is `None`, by a pawn on the file of `to`.
    fn simple(kind: Option<PieceKind>, to: &[u8]) -> Result<Self, SanError> {
        let to = Square::parse(to).ok_or(SanError::Unreadable)?;
        let origins = if kind.is_none() { SquareSet::file(to.file()) } else { ANYWHERE };
        Ok(Self::Move { kind: kind.or(Some(PieceKind::Pawn)), origins, to, promotion: None })
    }

    fn parse_special(token: &[u8]) -> Result<Self, SanError> {
        match token {
            b"O-O" | b"0-0" | b"o-o" | b"OO" | b"00" | b"oo" => Ok(Self::Castle { short: true }),
            b"O-O-O" | b"0-0-0" | b"o-o-o" | b"OOO" | b"000" | b"ooo" => Ok(Self::Castle { short: false }),
            b"--" | b"Z0" | b"0000" | b"@@@@" => Ok(Self::Null),
            _ => Self::parse_wide_castling(token),
        }
    }

    /// Parses castling with Unicode dashes (U+2010 to U+2015), or with the Cyrillic or Greek letter O.
    #[cold]
    fn parse_wide_castling(token: &[u8]) -> Result<Self, SanError> {
        const LONGEST: usize = 16;
        if token.len() > LONGEST || token.is_ascii() {
            return Err(SanError::Unreadable);
        }
        let text = std::str::from_utf8(token).map_err(|_| SanError::Unreadable)?;
        let plain = |letter| match letter {
            '\u{2010}'..='\u{2015}' => '-',
            '\u{41e}' | '\u{39f}' => 'O',
            '\u{43e}' | '\u{3bf}' => 'o',
            letter => letter,
        };
        let word: String = text.chars().map(plain).collect();
        if word.is_ascii() { Self::parse_special(word.as_bytes()) } else { Err(SanError::Unreadable) }
    }

    /// Parses a move whose piece is a Unicode chess symbol, U+2654 to U+265F, in the order king, queen, rook,
    /// bishop, knight, pawn.
    fn parse_figurine(figurine: u8, rest: &[u8]) -> Result<Self, SanError> {
        let mut token = [0; 12];
        let len = rest.len() + 1;
        token[0] = b"KQRBNP"[usize::from(figurine - 0x94) % 6];
        token.get_mut(1..len).ok_or(SanError::Unreadable)?.copy_from_slice(rest);
        Self::parse_general(&token[..len])
    }

    fn parse_general(token: &[u8]) -> Result<Self, SanError> {
        let (letter, rest) = match token {
            [letter @ (b'P' | b'N' | b'B' | b'R' | b'Q' | b'K'), rest @ ..] => (Some(*letter), rest),
            _ => (None, token),
        };
        let (promotion, rest) = split_promotion(rest)?;
        let (origin, to) = rest.split_last_chunk::<2>().ok_or(SanError::Unreadable)?;
        let to = Square::parse(to).ok_or(SanError::Unreadable)?;
        let (origin, captures) = match origin {
            [origin @ .., b'x' | b':'] => (origin, true),
            [origin @ .., b'-'] => (origin, false),
            _ => (origin, false),
        };
        let whole = Square::parse(origin);
        let origins = match origin {
            [] => ANYWHERE,
            [file @ b'a'..=b'h'] => SquareSet::file(*file - b'a'),
            [rank @ b'1'..=b'8'] => SquareSet::rank(*rank - b'1'),
            _ => SquareSet::from_square(whole.ok_or(SanError::Unreadable)?),
        };
        let kind = match letter {
            Some(letter) => PieceKind::from_letter(letter),
            None if whole.is_some() && promotion.is_none() => None,
            None => Some(PieceKind::Pawn),
        };
        let origins = match (kind, origin) {
            (Some(PieceKind::Pawn), []) if captures => return Err(SanError::Unreadable),
            (Some(PieceKind::Pawn), []) => SquareSet::file(to.file()),
            _ => origins,
        };
        Ok(Self::Move { kind, origins, to, promotion })
    }
}

/// Removes `+ # ! ?`, evaluations (`=`, `+-`, `-/+`), `e.p.` and `ep` from the end, in any order.
fn trim_suffix(mut token: &[u8]) -> &[u8] {
    loop {
        token = match token {
            // A promotion without a piece is left unchanged, and so is the null move `--`.
            [b'a'..=b'h', .., b'1' | b'8', b'='] | b"--" => return token,
            [rest @ .., b'+' | b'#' | b'!' | b'?' | b'=' | b'-' | b'/'] => rest,
            [rest @ .., b'e', b'p'] | [rest @ .., b'e', b'.', b'p'] | [rest @ .., b'e', b'.', b'p', b'.'] => {
                rest
            }
            _ => return token,
        };
    }
}

/// Splits off the promotion at the end, if there is one: `=Q`, `Q`, `/Q` or `(Q)`, with an upper-case or
/// lower-case letter. Returns the promotion piece and the text before it.
fn split_promotion(token: &[u8]) -> Result<(Option<PieceKind>, &[u8]), SanError> {
    let (letter, rest) = match token {
        [.., b'1'..=b'8'] => return Ok((None, token)),
        [rest @ .., b'(', letter, b')'] => (*letter, rest),
        [rest @ .., b'=' | b'/', letter] | [rest @ .., letter] => (*letter, rest),
        [] => return Err(SanError::Unreadable),
    };
    let kind = PieceKind::from_letter(letter.to_ascii_uppercase()).ok_or(SanError::Unreadable)?;
    // A king or a pawn is accepted here as a promotion piece; `resolve` rejects it.
    Ok((Some(kind), rest))
}

impl Position {
    /// Whether a text has the form of a move. No position is needed, because the move need not be legal.
    #[must_use]
    pub fn is_san(token: &[u8]) -> bool {
        San::parse(token).is_ok()
    }

    /// Finds the legal move for a SAN text. Lax forms are accepted too: `0-0`, `e8Q`, `e2e4`, `Ng1-f3`,
    /// `Pe4`, `exd6e.p.`, more disambiguation than needed, wrong or missing `+` and `#`, UCI.
    ///
    /// The code's check bit is not set; [`make`](Self::make) sets it.
    ///
    /// # Errors
    /// If the text cannot be parsed, lacks a promotion piece, matches no legal move, or matches several.
    pub fn resolve(&self, token: &[u8]) -> Result<MoveCode, SanError> {
        let san = match San::parse(token) {
            Ok(san) => san,
            Err(error) => return self.resolve_marked(token, error),
        };
        match san {
            San::Null if self.is_check() => Err(SanError::Illegal),
            San::Null => Ok(MoveCode::NULL),
            San::Castle { short } => self.castling_move(short).ok_or(SanError::Illegal),
            // Only a pawn that reaches the last rank promotes. At the end of any other move, `N` can be an
            // annotator's mark.
            San::Move { kind, to, promotion: Some(PieceKind::Knight), .. }
                if kind != Some(PieceKind::Pawn) || matches!(to.rank(), 1..=6) =>
            {
                self.resolve_marked(token, SanError::Illegal)
            }
            San::Move { kind: Some(PieceKind::Pawn), origins, to, promotion } => {
                self.resolve_pawn(origins, to, promotion)
            }
            San::Move { promotion: Some(_), .. } => Err(SanError::Illegal),
            San::Move { kind: Some(kind), origins, to, .. } => self.resolve_piece(kind, origins, to),
            // Long algebraic text without a piece letter means a move of the piece on the origin.
            San::Move { kind: None, origins, to, .. } => {
                let mover = origins.first().and_then(|square| self.piece_at(square));
                match mover.ok_or(SanError::Illegal)?.kind() {
                    PieceKind::Pawn => self.resolve_pawn(origins, to, None),
                    kind => self.resolve_piece(kind, origins, to),
                }
            }
        }
    }

    /// Finds the move in a word that ends in annotators' marks: `Nbd7N`, `O-OTN`, `Qxf7+ch`, `Nf3dblch`.
    /// Returns `error` if the word does not consist of a move and such marks.
    #[cold]
    fn resolve_marked(&self, token: &[u8], error: SanError) -> Result<MoveCode, SanError> {
        const MARKS: [&[u8]; 12] =
            [b"TN", b"N", b"D", b"RR", b"e. p.", b"e. p", b"ch", b"chk", b"check", b"mate", b"dbl", b"dis"];
        const LONGEST: usize = 24;
        let mut plain = if token.len() > LONGEST { &[] } else { token };
        while let Some(rest) = MARKS.iter().find_map(|mark| plain.strip_suffix(*mark)) {
            plain = rest;
            if San::parse(plain).is_ok() {
                return self.resolve(plain);
            }
        }
        Err(error)
    }

    /// Finds the legal move for a text, as [`resolve`](Self::resolve) does, and plays it. Returns the move's
    /// code with the correct check bit.
    ///
    /// # Errors
    /// The errors of `resolve`; after an error, the position is unchanged.
    #[inline]
    pub fn play_san(&mut self, token: &[u8]) -> Result<MoveCode, SanError> {
        self.resolve(token).map(|code| self.play(code))
    }

    #[inline]
    fn resolve_piece(&self, kind: PieceKind, origins: SquareSet, to: Square) -> Result<MoveCode, SanError> {
        let piece = Piece::new(kind, self.side());
        let reach = ALL_MOVES[kind_index(kind)][usize::from(to.ordinal())];
        let candidates = self.squares_of(kind, self.side()).and(reach).and(origins);
        let captured = self.piece_at(to);
        if captured.is_some_and(|piece| piece.color() == self.side() || piece.kind() == PieceKind::King) {
            return self.resolve_king_castling(kind, origins, to);
        }
        let special = if captured.is_some() { Special::Capture } else { Special::Reversible };
        let leaps = matches!(kind, PieceKind::Knight | PieceKind::King);
        let mut found = None;
        for from in candidates {
            if !leaps && !is_open(&self.cells, from, to) {
                continue;
            }
            let code = MoveCode::new(special, from, to, piece, captured);
            if self.is_king_safe_after(code) && found.replace(code).is_some() {
                return Err(SanError::Ambiguous);
            }
        }
        match found {
            Some(code) => Ok(code),
            None => self.resolve_king_castling(kind, origins, to),
        }
    }

    /// Finds castling that is written as a king's move. The king moves by at least two squares to g1, c1, g8
    /// or c8 (`Kg1`) or, if the origin is given, onto its own rook (`e1h1`).
    #[cold]
    fn resolve_king_castling(
        &self,
        kind: PieceKind,
        origins: SquareSet,
        to: Square,
    ) -> Result<MoveCode, SanError> {
        let king = self.king(self.side());
        if kind != PieceKind::King || !origins.contains(king) || to.rank() != king.rank() {
            return Err(SanError::Illegal);
        }
        let short = to.file() > king.file();
        let code = self.castling_move(short).ok_or(SanError::Illegal)?;
        let goal = code.to() == to && to.file().abs_diff(king.file()) > 1;
        let takes_rook =
            origins == SquareSet::from_square(king) && self.castling_rook(self.side(), short) == Some(to);
        if goal || takes_rook { Ok(code) } else { Err(SanError::Illegal) }
    }

    fn resolve_pawn(
        &self,
        origins: SquareSet,
        to: Square,
        promotion: Option<PieceKind>,
    ) -> Result<MoveCode, SanError> {
        let side = self.side();
        let (back, last_rank, double_rank) = if side == Color::White { (-16, 7, 3) } else { (16, 0, 4) };
        let pawn = Piece::new(PieceKind::Pawn, side);
        let is_pawn = |square: &Square| self.piece_at(*square) == Some(pawn) && origins.contains(*square);
        let special = match promotion {
            _ if (to.rank() == last_rank) != promotion.is_some() => {
                return Err(if promotion.is_none() { SanError::PromotionMissing } else { SanError::Illegal });
            }
            Some(PieceKind::King | PieceKind::Pawn) => return Err(SanError::Illegal),
            Some(kind) => Special::Promotion(Piece::new(kind, side)),
            None => Special::Pawn,
        };
        let captured = self.piece_at(to);
        if captured.is_some_and(|piece| piece.color() == side || piece.kind() == PieceKind::King) {
            return Err(SanError::Illegal);
        }
        // A pawn cannot move straight to an en-passant square: it would have to come from the square of the
        // enemy pawn that can be captured.
        if captured.is_some() || self.en_passant() == Some(to) {
            let victim = captured.unwrap_or(Piece::new(PieceKind::Pawn, side.other()));
            let special = if captured.is_some() { special } else { Special::EnPassant };
            let origins = [back - 1, back + 1].into_iter().filter_map(|step| to.offset(step)).filter(is_pawn);
            let mut legal = origins
                .map(|from| MoveCode::new(special, from, to, pawn, Some(victim)))
                .filter(|&code| self.is_king_safe_after(code));
            return match (legal.next(), legal.next()) {
                (None, _) => Err(SanError::Illegal),
                (Some(code), None) => Ok(code),
                (Some(_), Some(_)) => Err(SanError::Ambiguous),
            };
        }
        let behind = to.offset(back).ok_or(SanError::Illegal)?;
        let code = if is_pawn(&behind) {
            MoveCode::new(special, behind, to, pawn, None)
        } else if to.rank() == double_rank && self.piece_at(behind).is_none() {
            let from = behind.offset(back).filter(is_pawn).ok_or(SanError::Illegal)?;
            MoveCode::new(Special::DoubleStep, from, to, pawn, None)
        } else {
            return Err(SanError::Illegal);
        };
        if self.is_king_safe_after(code) { Ok(code) } else { Err(SanError::Illegal) }
    }

    /// The SAN of a legal move of this position, with `+` for check or `#` for mate.
    ///
    /// A null move is written as `--`.
    #[must_use]
    pub fn san(&self, code: MoveCode) -> String {
        let mut text = String::with_capacity(8);
        match (code.special(), code.piece()) {
            (Special::CastleShort, _) => text.push_str("O-O"),
            (Special::CastleLong, _) => text.push_str("O-O-O"),
            (_, None) => text.push_str("--"),
            (_, Some(piece)) => {
                if piece.kind() != PieceKind::Pawn {
                    text.push(piece.kind().letter().into());
                    self.push_origin(&mut text, piece, code);
                } else if code.captured().is_some() {
                    text.push(code.from().name()[0].into());
                }
                if code.captured().is_some() {
                    text.push('x');
                }
                text.extend(code.to().name().map(char::from));
                if let Some(piece) = code.promotion() {
                    text.extend(['=', piece.kind().letter().into()]);
                }
            }
        }
        let mut after = self.clone();
        if after.play(code).is_check() {
            text.push(if after.has_legal_move() { '+' } else { '#' });
        }
        text
    }

    /// Appends the file or the rank of the origin, or both, if other pieces of this kind could legally move
    /// to the same square.
    fn push_origin(&self, text: &mut String, piece: Piece, code: MoveCode) {
        let (kind, from, to) = (piece.kind(), code.from(), code.to());
        let reach = ALL_MOVES[kind_index(kind)][usize::from(to.ordinal())];
        let is_rival = |&square: &Square| {
            square != from
                && (kind == PieceKind::Knight || is_open(&self.cells, square, to))
                && self.is_king_safe_after(MoveCode::new(code.special(), square, to, piece, code.captured()))
        };
        let rivals: SquareSet = self.squares_of(kind, self.side()).and(reach).filter(is_rival).collect();
        if rivals.is_empty() {
            return;
        }
        let [file, rank] = from.name().map(char::from);
        let same_file = !rivals.and(SquareSet::file(from.file())).is_empty();
        let same_rank = !rivals.and(SquareSet::rank(from.rank())).is_empty();
        if !same_file || same_rank {
            text.push(file);
        }
        if same_file {
            text.push(rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_after_a_move_are_not_part_of_it() {
        let mut position = Position::start();
        for word in ["e4!", "e5=", "Nf3+-", "Nc6-+", "Bc4+/-", "Bc5?!", "O-O-/+", "--"] {
            let code = position.resolve(word.as_bytes()).unwrap_or_else(|error| panic!("{word}: {error}"));
            position.make(code).unwrap();
        }
        assert_eq!(position.fullmove_number(), 5);
        for word in ["a8=", "-", "e4x", "="] {
            assert_eq!(position.resolve(word.as_bytes()), Err(SanError::Unreadable), "{word}");
        }
    }
}
