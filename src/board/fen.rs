//! Reads and writes FEN.

use super::attack::cell;
use super::piece::LETTERS;
use super::position::Castling;
use super::{Color, MoveCode, Piece, PieceKind, Position, Special, Square, SquareSet};

/// The contents of a FEN, not yet known to be a legal position.
#[derive(Clone, Debug)]
pub struct Setup {
    cells: [u8; 128],
    side: Color,
    castling: Castling,
    rooks: [Square; 4],
    en_passant: Option<Square>,
    halfmove_clock: u32,
    fullmove_number: u32,
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
    /// A letter that is not a piece.
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
    /// A counter that is not a number.
    #[error("the {0} '{1}' is not a number")]
    Counter(&'static str, String),
    /// More than six fields.
    #[error("there is text after the sixth field: '{0}'")]
    Trailing(String),
    /// A side has no king, or more than one.
    #[error("{} has {count} kings, not 1", .color.name())]
    Kings {
        /// The side.
        color: Color,
        /// The number of kings.
        count: u32,
    },
    /// A side has too many pieces: more than 32, or, for [`Material::from_fen`](super::Material::from_fen),
    /// more than 16.
    #[error("{} has {count} pieces, too many", .color.name())]
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
    #[error("the side that is not to move is in check")]
    OpponentInCheck,
}

/// A correction that makes a FEN canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenChange {
    /// No side to move was given: White is assumed.
    SideAssumed,
    /// The castling field was rewritten in canonical form; no right was dropped.
    Castling,
    /// Castling rights without king and rook on their squares were dropped.
    CastlingDropped,
    /// No castling rights were given: none are assumed.
    CastlingAssumed,
    /// The en-passant square was dropped: no en-passant capture is legal.
    EnPassantDropped,
    /// A counter was missing: 0 is assumed for the half-move clock, 1 for the full-move number.
    CountersAssumed,
}

impl std::fmt::Display for FenChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::SideAssumed => "no side to move was given: White is assumed",
            Self::Castling => "castling rights rewritten in FEN's usual letters and order",
            Self::CastlingDropped => {
                "castling rights dropped: the king or the rook is not on its original square"
            }
            Self::CastlingAssumed => "no castling rights were given: none are assumed",
            Self::EnPassantDropped => "en-passant square dropped: no en-passant capture is legal",
            Self::CountersAssumed => "counters were missing: 0 and 1 are assumed",
        })
    }
}

impl Setup {
    /// The start position of standard chess.
    #[must_use]
    pub fn start() -> Self {
        let (setup, _) = Self::parse(b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position can be read");
        setup
    }

    /// Parses a FEN of one to six fields; castling as FEN, X-FEN or Shredder-FEN, in any order.
    ///
    /// Rights without king and rook on their squares are dropped. `K` and `Q` mean the outermost rook on that
    /// side of the king.
    ///
    /// # Errors
    /// If a field cannot be parsed.
    pub fn parse(text: &[u8]) -> Result<(Self, Vec<FenChange>), SetupError> {
        let mut fields = text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
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

    /// Parses only the placement and ignores the rest: White is to move, without castling rights.
    ///
    /// # Errors
    /// If the placement is missing or cannot be parsed.
    pub fn parse_placement(text: &[u8]) -> Result<Self, SetupError> {
        let placement = text.split(u8::is_ascii_whitespace).find(|field| !field.is_empty());
        Ok(Self {
            cells: parse_placement(placement.ok_or(SetupError::Empty)?)?,
            side: Color::White,
            castling: Castling::default(),
            rooks: [Square::masked(0); 4],
            en_passant: None,
            halfmove_clock: 0,
            fullmove_number: 1,
        })
    }

    /// The same pieces with this side to move, without castling rights and en-passant square.
    pub(super) fn with_side(self, side: Color) -> Self {
        Self { side, castling: Castling::default(), en_passant: None, ..self }
    }

    /// The same set-up with another en-passant square.
    pub(super) fn with_en_passant(self, en_passant: Option<Square>) -> Self {
        Self { en_passant, ..self }
    }

    /// Adds the castling rights of a castling field; drops rights without king and rook on their squares.
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
            let rook = match lower {
                b'k' => rooks.last(),
                b'q' => rooks.first(),
                file => rooks.and(SquareSet::file(file - b'a')).first(),
            };
            let short = match lower {
                b'k' => true,
                b'q' => false,
                file => file - b'a' > king.file(),
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

    /// The side with more than sixteen pieces (if both have more, the side with the most), and the number of
    /// its pieces. No game leads to such a position, but it can be played.
    #[must_use]
    pub fn crowded(&self) -> Option<(Color, usize)> {
        let count = |color| (color, self.pieces().filter(|(_, piece)| piece.color() == color).count());
        let most = [Color::White, Color::Black].map(count).into_iter().max_by_key(|&(_, count)| count);
        most.filter(|&(_, count)| count > 16)
    }

    pub(super) fn check_pieces(&self) -> Result<(), SetupError> {
        /// The maximum number of pieces of a side: its king, and 31 others, which five bits can count.
        const MOST: usize = 32;
        if let Some((color, count)) = self.crowded().filter(|&(_, count)| count > MOST) {
            return Err(SetupError::TooManyPieces { color, count: count as u32 });
        }
        let astray = |&(square, piece): &(Square, Piece)| {
            piece.kind() == PieceKind::Pawn && matches!(square.rank(), 0 | 7)
        };
        match self.pieces().find(astray) {
            Some((square, _)) => Err(SetupError::PawnOnLastRank(square)),
            None => Ok(()),
        }
    }

    pub(super) const fn side(&self) -> Color {
        self.side
    }

    pub(super) const fn castling(&self) -> Castling {
        self.castling
    }

    pub(super) const fn castling_rooks(&self) -> [Square; 4] {
        self.rooks
    }

    pub(super) const fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    pub(super) const fn halfmove_clock(&self) -> u32 {
        self.halfmove_clock
    }

    pub(super) const fn fullmove_number(&self) -> u32 {
        self.fullmove_number
    }
}

fn lossy(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

fn parse_placement(field: &[u8]) -> Result<[u8; 128], SetupError> {
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
    Ok(cells)
}

fn parse_counter(name: &'static str, field: Option<&[u8]>) -> Result<Option<u32>, SetupError> {
    let Some(field) = field.filter(|&field| field != b"-") else { return Ok(None) };
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| SetupError::Counter(name, lossy(field)))
}

impl Position {
    /// Parses a FEN and returns the corrections that made it canonical.
    ///
    /// # Errors
    /// If a field cannot be parsed or the position is not legal.
    pub fn from_fen(text: &[u8]) -> Result<(Self, Vec<FenChange>), SetupError> {
        let (setup, mut changes) = Setup::parse(text)?;
        let position = Self::new(&setup)?;
        let given = text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).nth(2);
        let given = given.unwrap_or(b"-");
        if given != castling_field(&position).as_bytes() {
            let grants_none = |letter: &u8| {
                let mut alone = setup.clone().with_side(setup.side);
                alone.read_castling(std::slice::from_ref(letter)).is_ok()
                    && alone.castling == Castling::default()
            };
            let is_dropped = given.iter().any(grants_none);
            changes.push(if is_dropped { FenChange::CastlingDropped } else { FenChange::Castling });
        }
        if setup.en_passant.is_some() && position.en_passant().is_none() {
            changes.push(FenChange::EnPassantDropped);
        }
        Ok((position, changes))
    }

    /// The canonical FEN: placement, side, castling, en passant.
    #[must_use]
    pub fn canonical_fen(&self) -> String {
        let mut space = [0; MAX_CANONICAL_FEN];
        let len = FenText::new(self).write_at_end(self, &mut space);
        space[MAX_CANONICAL_FEN - len..].iter().copied().map(char::from).collect()
    }

    /// The FEN with all six fields; en passant only if a capture is legal.
    #[must_use]
    pub fn fen(&self) -> String {
        format!("{} {} {}", self.canonical_fen(), self.halfmove_clock(), self.fullmove_number())
    }
}

/// Enough space for any canonical FEN: 71 bytes of placement, then ` w KQkq e3`, with slack for whole-word
/// writes.
pub const MAX_CANONICAL_FEN: usize = 96;

/// The placement of a position as text, updated rank by rank.
#[derive(Clone, Debug)]
pub struct FenText {
    /// The FEN letters of each rank, the a-file in the lowest byte, 0 for an empty square.
    ///
    /// This is a copy of the board in 64-bit words, each written and read as a whole. Reading a word right
    /// after writing one of its bytes would stall the processor until all pending writes are done.
    rows: [u64; 8],
    /// The text of each rank, right-aligned in eight bytes.
    ranks: [[u8; 8]; 8],
    lens: [u8; 8],
}

impl FenText {
    /// The text of a position's placement.
    #[must_use]
    pub fn new(position: &Position) -> Self {
        let mut text = Self { rows: [0; 8], ranks: [[0; 8]; 8], lens: [0; 8] };
        (0..8).for_each(|rank| text.read_rank(position, rank));
        text
    }

    /// The FEN letters of each rank, the a-file in the lowest byte, 0 for an empty square.
    #[must_use]
    pub const fn placement(&self) -> [u64; 8] {
        self.rows
    }

    /// Updates the text after a move on `position`.
    #[inline]
    pub fn update(&mut self, position: &Position, code: MoveCode) {
        let (from, to) = (code.from(), code.to());
        match code.special() {
            Special::Reversible | Special::Pawn | Special::Capture | Special::DoubleStep => {
                let letter = u64::from(LETTERS[usize::from(code.piece_bits())]);
                let byte = |square: Square| 8 * u32::from(square.file());
                let row = &mut self.rows[usize::from(from.rank() & 7)];
                *row &= !(0xff << byte(from));
                let row = &mut self.rows[usize::from(to.rank() & 7)];
                *row = *row & !(0xff << byte(to)) | letter << byte(to);
                self.render(from.rank());
                if to.rank() != from.rank() {
                    self.render(to.rank());
                }
            }
            _ => {
                self.read_rank(position, from.rank());
                self.read_rank(position, to.rank());
            }
        }
    }

    /// Copies a rank from the board.
    #[cold]
    fn read_rank(&mut self, position: &Position, rank: u8) {
        let cells = &position.cells[16 * usize::from(rank & 7)..][..8];
        self.rows[usize::from(rank & 7)] = cells.iter().rev().fold(0, |row, &code| {
            row << 8 | if code == 0 { 0 } else { u64::from(LETTERS[usize::from(code & 15)]) }
        });
        self.render(rank);
    }

    #[inline]
    fn render(&mut self, rank: u8) {
        let rank = usize::from(rank & 7);
        let row = self.rows[rank];
        let frame = &FRAMES[usize::from(occupied_files(row))];
        let text = (0..8)
            .fold(frame.digits, |text, file| text | (row >> (8 * file) & 0xff) << (frame.shifts[file] & 63));
        // Moves the text to the end of the word. The shift is below 64, because the text has at least one
        // character.
        self.ranks[rank] = (text << ((8 * (8 - u32::from(frame.len))) & 63)).to_le_bytes();
        self.lens[rank] = frame.len;
    }

    /// Writes the canonical FEN of `position`, which must have this placement, to the end of `space`, and
    /// returns its length in bytes. Some bytes before the FEN may be overwritten too.
    ///
    /// The text is written from right to left, as database pages are filled. Each rank is written as one
    /// word; the next rank overwrites its unused bytes.
    #[inline]
    pub fn write_at_end(&self, position: &Position, space: &mut [u8; MAX_CANONICAL_FEN]) -> usize {
        let mut end = MAX_CANONICAL_FEN;
        match position.en_passant() {
            None => {
                space[end - 2..end].copy_from_slice(b" -");
                end -= 2;
            }
            Some(square) => {
                space[end - 3] = b' ';
                space[end - 2..end].copy_from_slice(&square.name());
                end -= 3;
            }
        }
        let state = if position.has_standard_castling() {
            STATES[usize::from(position.castling().0 & 15) * 2 + position.side() as usize]
        } else {
            state_text(position.side(), castling_field(position))
        };
        space[end - 8..end].copy_from_slice(&state.bytes);
        end -= usize::from(state.len);
        for rank in 0..8 {
            space[end - 8..end].copy_from_slice(&self.ranks[rank]);
            end -= usize::from(self.lens[rank] & 15);
            space[end - 1] = b'/';
            end -= 1;
        }
        // There is no slash before the eighth rank.
        MAX_CANONICAL_FEN - (end + 1)
    }
}

/// The layout of a rank's text, by the set of its occupied files.
#[derive(Clone, Copy)]
struct Frame {
    /// The digits for runs of empty squares at their positions in the text; zero bytes at the positions of
    /// letters.
    digits: u64,
    /// The shift that moves each file's letter to its position in the text.
    shifts: [u8; 8],
    /// Length of the text in bytes.
    len: u8,
}

static FRAMES: [Frame; 256] = {
    let mut table = [Frame { digits: 0, shifts: [0; 8], len: 0 }; 256];
    let mut occupied = 0;
    while occupied < 256 {
        let frame = &mut table[occupied];
        let (mut file, mut empty) = (0, 0);
        while file <= 8 {
            let piece = file < 8 && occupied >> file & 1 != 0;
            if (piece || file == 8) && empty > 0 {
                frame.digits |= (b'0' as u64 + empty) << (8 * frame.len);
                frame.len += 1;
                empty = 0;
            }
            if piece {
                frame.shifts[file] = 8 * frame.len;
                frame.len += 1;
            } else {
                empty += 1;
            }
            file += 1;
        }
        occupied += 1;
    }
    table
};

/// The set of files (bit 0 is the a-file) whose bytes in the word are not zero. No byte may have its top bit
/// set.
const fn occupied_files(rank: u64) -> u8 {
    const TOP_BITS: u64 = 0x8080_8080_8080_8080;
    let occupied = ((rank + !TOP_BITS) & TOP_BITS) >> 7;
    // Collects bit 0 of each byte in the top byte.
    (occupied.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// Up to eight bytes of text, right-aligned in an array.
#[derive(Clone, Copy)]
struct Short {
    bytes: [u8; 8],
    len: u8,
}

impl Short {
    const fn new() -> Self {
        Self { bytes: [0; 8], len: 0 }
    }

    const fn push_front(&mut self, byte: u8) {
        self.len += 1;
        self.bytes[8 - self.len as usize] = byte;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[8 - usize::from(self.len)..]
    }
}

/// The fields for side and castling, such as ` w KQkq`, by castling rights and side to move, if the rooks are
/// in the corners.
static STATES: [Short; 32] = {
    let mut table = [Short::new(); 32];
    let mut index = 0;
    while index < 32 {
        let mut field = Short::new();
        let mut right = 4;
        while right > 0 {
            right -= 1;
            if index >> (right + 1) & 1 != 0 {
                field.push_front(b"KQkq"[right]);
            }
        }
        if field.len == 0 {
            field.push_front(b'-');
        }
        table[index] = state_text(if index & 1 == 0 { Color::White } else { Color::Black }, field);
        index += 1;
    }
    table
};

const fn state_text(side: Color, castling: Short) -> Short {
    let mut text = castling;
    text.push_front(b' ');
    text.push_front(side.letter());
    text.push_front(b' ');
    text
}

/// The castling field in X-FEN: `KQkq` for the outermost rook, otherwise the letter of the rook's file.
fn castling_field(position: &Position) -> Short {
    let mut field = Short::new();
    for color in [Color::Black, Color::White] {
        for short in [false, true] {
            let Some(rook) = position.castling_rook(color, short) else { continue };
            let rooks = position.squares_of(PieceKind::Rook, color).and(SquareSet::rank(rook.rank()));
            let outermost = if short { rooks.last() } else { rooks.first() };
            let letter = match (outermost == Some(rook), short) {
                (true, true) => b'K',
                (true, false) => b'Q',
                (false, _) => b'A' + rook.file(),
            };
            field.push_front(if color == Color::White { letter } else { letter.to_ascii_lowercase() });
        }
    }
    if field.len == 0 {
        field.push_front(b'-');
    }
    field
}
