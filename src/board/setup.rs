//! Parses the fields of a FEN.

use super::attack::cell;
use super::{Color, Piece, PieceKind, Square, SquareSet};

/// Castling rights: bit 0 for White's O-O, bit 1 for White's O-O-O, bit 2 for Black's O-O, bit 3 for Black's
/// O-O-O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Castling(pub u8);

impl Castling {
    /// The right to castle short (if `short`) or long, as a single bit.
    #[must_use]
    pub const fn right(color: Color, short: bool) -> Self {
        Self(1 << Self::index(color, short))
    }

    /// The index of this castling right: the number of its bit, 0 to 3.
    #[must_use]
    pub const fn index(color: Color, short: bool) -> usize {
        2 * color as usize + !short as usize
    }

    /// Whether all of these rights are set.
    #[must_use]
    pub const fn has(self, rights: Self) -> bool {
        self.0 & rights.0 == rights.0
    }
}

/// The contents of a FEN, not yet known to be a legal position.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(super) cells: [u8; 128],
    pub(super) side: Color,
    pub(super) castling: Castling,
    pub(super) rooks: [Square; 4],
    pub(super) en_passant: Option<Square>,
    pub(super) halfmove_clock: u32,
    pub(super) fullmove_number: u32,
}

/// Why a FEN is not a playable position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The text is empty.
    #[error("the FEN is empty")]
    Empty,
    /// The placement does not have eight ranks.
    #[error("the number of ranks in the placement is {0}, not 8")]
    Ranks(usize),
    /// A rank does not have eight squares.
    #[error("rank {0} does not have exactly 8 squares")]
    RankLength(u8),
    /// A character that is neither a piece nor a number of empty squares.
    #[error("'{0}' in the placement is not a piece or a number of empty squares")]
    Placement(char),
    /// The side to move is neither `w` nor `b`.
    #[error("the side to move is '{0}', not 'w' or 'b'")]
    Side(String),
    /// An invalid castling field.
    #[error("the castling field '{0}' cannot be read")]
    Castling(String),
    /// An invalid en-passant field.
    #[error("the en-passant field '{0}' is neither a square nor '-'")]
    EnPassant(String),
    /// A counter that is not a number, or is too large.
    #[error("the {0} '{1}' is not a number from 0 to 4294967295")]
    Counter(&'static str, String),
    /// More than six fields.
    #[error("there is text after the sixth field: '{0}'")]
    Trailing(String),
    /// A side has no king, or more than one.
    #[error("{} must have exactly one king, but has {count}", .color.name())]
    Kings {
        /// The side.
        color: Color,
        /// The number of kings.
        count: u32,
    },
    /// A side has too many pieces: more than 32, or, for [`Material::from_fen`](super::Material::from_fen),
    /// more than 16.
    #[error("{} has too many pieces: {count}", .color.name())]
    TooManyPieces {
        /// The side.
        color: Color,
        /// The number of pieces.
        count: u32,
    },
    /// A pawn on the first or eighth rank.
    #[error("there is a pawn on {0}")]
    PawnOnLastRank(Square),
    /// The side that has just moved is in check.
    #[error("{} is in check, but it is {}'s move", .0.name(), .0.other().name())]
    OpponentInCheck(Color),
}

/// A correction that makes a FEN canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenChange {
    /// No side to move was given: White is assumed.
    SideAssumed,
    /// The castling field was rewritten in canonical form; no right was dropped.
    Castling,
    /// Castling rights were dropped, because the king or the rook is not on its home rank.
    CastlingDropped,
    /// The castling field is missing: no castling rights are assumed.
    CastlingAssumed,
    /// The en-passant square was dropped: no en-passant capture is legal.
    EnPassantDropped,
    /// A counter was missing: 0 is assumed for the half-move clock, 1 for the full-move number.
    CountersAssumed,
}

impl std::fmt::Display for FenChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::SideAssumed => "side to move not given: assuming White",
            Self::Castling => "castling rights rewritten in FEN's usual letters and order",
            Self::CastlingDropped => {
                "castling rights dropped: each right needs a king and a rook on the home rank"
            }
            Self::CastlingAssumed => "castling rights not given: assuming no castling",
            Self::EnPassantDropped => "en-passant square dropped: no en-passant capture is legal",
            Self::CountersAssumed => "counters not given: assuming 0 and 1",
        })
    }
}

impl Setup {
    /// Parses a FEN of one to six fields. The castling field can be in the form of FEN, X-FEN or
    /// Shredder-FEN, with its letters in any order.
    ///
    /// A right is dropped unless the king and the rook that the letter means are on their home rank. `K`,
    /// `Q`, `k` and `q` mean the outermost rook on that side of the king.
    ///
    /// # Errors
    /// If the text is empty, if a field cannot be parsed, or if there are more than six fields.
    pub fn parse(text: &[u8]) -> Result<(Self, Vec<FenChange>), SetupError> {
        let mut fields = fields(text);
        let mut changes = Vec::new();
        let mut setup = Self::parse_placement(fields.next().ok_or(SetupError::Empty)?)?;
        match fields.next() {
            Some(b"w" | b"W") => {}
            Some(b"b" | b"B") => setup.side = Color::Black,
            Some(other) => return Err(SetupError::Side(lossy(other))),
            None => changes.push(FenChange::SideAssumed),
        }
        match fields.next() {
            Some(field) => setup.read_castling(field)?,
            None => changes.push(FenChange::CastlingAssumed),
        }
        setup.en_passant = match fields.next() {
            None | Some(b"-") => None,
            Some(field) => Some(Square::parse(field).ok_or_else(|| SetupError::EnPassant(lossy(field)))?),
        };
        let (halfmoves, fullmoves) = (fields.next(), fields.next());
        if fullmoves.is_none() {
            changes.push(FenChange::CountersAssumed);
        }
        setup.halfmove_clock = parse_counter("half-move clock", halfmoves)?.unwrap_or(0);
        setup.fullmove_number = parse_counter("full-move number", fullmoves)?.unwrap_or(1).max(1);
        match fields.next() {
            Some(field) => Err(SetupError::Trailing(lossy(field))),
            None => Ok((setup, changes)),
        }
    }

    /// Parses only the placement and ignores the other fields: White is to move, without castling rights.
    ///
    /// # Errors
    /// If the placement is missing or cannot be parsed.
    pub fn parse_placement(text: &[u8]) -> Result<Self, SetupError> {
        let field = fields(text).next().ok_or(SetupError::Empty)?;
        let ranks = field.split(|&byte| byte == b'/').count();
        if ranks != 8 {
            return Err(SetupError::Ranks(ranks));
        }
        let mut cells = [0; 128];
        for (rank, text) in (0..8u8).rev().zip(field.split(|&byte| byte == b'/')) {
            let mut file = 0;
            for &letter in text {
                match letter {
                    b'1'..=b'8' => file += letter - b'0',
                    _ => {
                        let piece =
                            Piece::from_letter(letter).ok_or_else(|| SetupError::Placement(letter.into()))?;
                        if file < 8 {
                            cells[usize::from(Square::at(file, rank).index())] = piece.code();
                        }
                        file += 1;
                    }
                }
                if file > 8 {
                    return Err(SetupError::RankLength(rank + 1));
                }
            }
            if file != 8 {
                return Err(SetupError::RankLength(rank + 1));
            }
        }
        Ok(Self {
            cells,
            side: Color::White,
            castling: Castling::default(),
            rooks: [Square::masked(0); 4],
            en_passant: None,
            halfmove_clock: 0,
            fullmove_number: 1,
        })
    }

    /// The same pieces with this side to move, without castling rights or an en-passant square.
    pub(super) fn with_side(self, side: Color) -> Self {
        Self { side, castling: Castling::default(), en_passant: None, ..self }
    }

    /// Adds the castling rights of a castling field. Drops a right unless the king and the rook that the
    /// letter means are on their home rank.
    pub(super) fn read_castling(&mut self, field: &[u8]) -> Result<(), SetupError> {
        if field == b"-" {
            return Ok(());
        }
        for &letter in field {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let lower = letter.to_ascii_lowercase();
            if !matches!(lower, b'k' | b'q' | b'a'..=b'h') {
                return Err(SetupError::Castling(lossy(field)));
            }
            let home = SquareSet::rank(if color == Color::White { 0 } else { 7 });
            let Some(king) = self.set_of(Piece::new(PieceKind::King, color)).and(home).first() else {
                continue;
            };
            let rooks = self.set_of(Piece::new(PieceKind::Rook, color)).and(home);
            let (rook, short) = match lower {
                b'k' => (rooks.last(), true),
                b'q' => (rooks.first(), false),
                file => (rooks.and(SquareSet::file(file - b'a')).first(), file - b'a' > king.file()),
            };
            if let Some(rook) = rook.filter(|rook| (rook.file() > king.file()) == short) {
                self.castling.0 |= Castling::right(color, short).0;
                self.rooks[Castling::index(color, short)] = rook;
            }
        }
        Ok(())
    }

    fn set_of(&self, piece: Piece) -> SquareSet {
        self.pieces().filter(|&(_, found)| found == piece).map(|(square, _)| square).collect()
    }

    /// The pieces and their squares.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> {
        SquareSet(u64::MAX)
            .filter_map(|square| Piece::from_code(cell(&self.cells, square)).map(|piece| (square, piece)))
    }

    /// The piece on a square.
    #[must_use]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        Piece::from_code(cell(&self.cells, square))
    }

    /// The square of a side's only king.
    pub(super) fn king(&self, color: Color) -> Result<Square, SetupError> {
        let kings = self.set_of(Piece::new(PieceKind::King, color));
        match kings.first() {
            Some(square) if kings.len() == 1 => Ok(square),
            _ => Err(SetupError::Kings { color, count: kings.len() }),
        }
    }

    /// The side with more than sixteen pieces, and the number of its pieces; `None` if there is no such side.
    /// If both sides have more than sixteen, returns the side with more pieces; if the numbers are equal,
    /// Black. No game leads to such a position, but a game can start from it if each side has at most 32
    /// pieces.
    #[must_use]
    pub fn crowded(&self) -> Option<(Color, u32)> {
        let count = |color| (color, self.pieces().filter(|(_, piece)| piece.color() == color).count() as u32);
        let most = [Color::White, Color::Black].map(count).into_iter().max_by_key(|&(_, count)| count);
        most.filter(|&(_, count)| count > 16)
    }

    pub(super) fn check_pieces(&self) -> Result<(), SetupError> {
        /// The maximum number of pieces of a side: its king, and 31 others, which five bits can count.
        const MOST: u32 = 32;
        if let Some((color, count)) = self.crowded().filter(|&(_, count)| count > MOST) {
            return Err(SetupError::TooManyPieces { color, count });
        }
        let astray = |&(square, piece): &(Square, Piece)| {
            piece.kind() == PieceKind::Pawn && matches!(square.rank(), 0 | 7)
        };
        match self.pieces().find(astray) {
            Some((square, _)) => Err(SetupError::PawnOnLastRank(square)),
            None => Ok(()),
        }
    }
}

/// The fields of a FEN.
pub(crate) fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn lossy(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

fn parse_counter(name: &'static str, field: Option<&[u8]>) -> Result<Option<u32>, SetupError> {
    let Some(field) = field.filter(|&field| field != b"-") else { return Ok(None) };
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| SetupError::Counter(name, lossy(field)))
}
