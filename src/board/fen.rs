//! Reads and writes FEN.

use super::piece::LETTERS;
use super::setup::fields;
use super::{
    Castling, Color, FenChange, MoveCode, PieceKind, Position, Setup, SetupError, Special, Square, SquareSet,
};

impl Position {
    /// Parses a FEN. Also returns the corrections that make it canonical.
    ///
    /// # Errors
    /// If [`Setup::parse`] fails, or if the position is not legal.
    pub fn from_fen(text: &[u8]) -> Result<(Self, Vec<FenChange>), SetupError> {
        let (setup, mut changes) = Setup::parse(text)?;
        let position = Self::new(&setup)?;
        let given = fields(text).nth(2);
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

    /// The FEN with all six fields. It shows an en-passant square only if an en-passant capture is legal.
    #[must_use]
    pub fn fen(&self) -> String {
        format!("{} {} {}", self.canonical_fen(), self.halfmove_clock(), self.fullmove_number())
    }
}

/// The size of a buffer for any canonical FEN, in bytes: 71 for the placement, 10 for ` w KQkq e3`, and some
/// more, because words of eight bytes are written as a whole.
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

    /// Updates the text after a move. `position` is the position after the move.
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

    /// Writes the canonical FEN of `position` to the end of `space`, and returns the length of the FEN in
    /// bytes. `position` must have this placement. Bytes before the FEN can be overwritten too.
    ///
    /// The text is written from right to left, because database pages are filled in that direction. The text
    /// of each rank is written as one word of eight bytes; the next rank overwrites the unused bytes of that
    /// word.
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

/// The layout of a rank's text, which depends only on the set of the rank's occupied files.
#[derive(Clone, Copy)]
struct Frame {
    /// The digits that count empty squares, each at its position in the text; zero bytes at the positions of
    /// letters.
    digits: u64,
    /// For each file, the shift in bits that moves the file's letter to its position in the text.
    shifts: [u8; 8],
    /// The length of the text in bytes.
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

/// The set of files (bit 0 is the a-file) whose bytes in `rank` are not zero. The top bit of each byte must
/// be zero.
const fn occupied_files(rank: u64) -> u8 {
    const TOP_BITS: u64 = 0x8080_8080_8080_8080;
    let occupied = ((rank + !TOP_BITS) & TOP_BITS) >> 7;
    // Moves bit 0 of every byte into the top byte.
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

/// The fields for side and castling, such as ` w KQkq`, for castling rights of standard chess. The index is
/// twice the castling rights plus the side to move.
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

/// The castling field in X-FEN; `-` without rights. For each right, it has a letter of `KQkq` if the rook is
/// the outermost one on its wing, otherwise the letter of the rook's file.
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
