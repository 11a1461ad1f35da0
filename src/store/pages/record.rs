//! Rows as SQLite stores them ([record format](https://www.sqlite.org/fileformat2.html#record_format)).
//!
//! A record consists of a header and the bytes of the columns. The header consists of its own length and the
//! serial type of each column, all as varints. Cells grow downwards in a page, so a record is written from
//! its last byte to its first, straight into the page. Each integer is written as eight big-endian bytes that
//! end where the integer ends. The column to the left then overwrites the excess bytes. So the code does not
//! have to compute the length of an integer first, and does not branch on it.

use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position, PositionKey};
use crate::store::row::virtual_table::Cell;
use crate::store::row::{EvalRow, GameId, OccurrenceRow, Ply};

/// A row that can be written as a record.
pub trait Record {
    /// The maximum number of bytes that [`write_at_end`](Self::write_at_end) overwrites. This is at least the
    /// length of the record.
    fn max_length(&self) -> usize;

    /// Writes the record to the end of `space`, and returns its length. Can also overwrite bytes before the
    /// record: in total up to [`max_length`](Self::max_length) bytes at the end of `space`.
    ///
    /// # Panics
    /// If `space` is shorter than [`max_length`](Self::max_length).
    fn write_at_end(&self, space: &mut [u8]) -> usize;
}

impl OccurrenceRow {
    /// The length of the longest leaf cell, in bytes: the length prefix (1), the header (5), the key (8), and
    /// the level, the game and the ply (6 each).
    pub const LONGEST_CELL: usize = 32;

    /// The maximum number of bytes that a row takes on a leaf: its cell and its cell pointer.
    pub const MOST_BYTES: u64 = Self::LONGEST_CELL as u64 + 2;

    /// The length of the longest record (without the length prefix of the cell), plus the excess bytes of the
    /// left-most integer (8).
    const MAX_LENGTH: usize = Self::LONGEST_CELL - 1 + 8;
}

/// A row of `occurrence`: `level`, `key`, `game_id`, `ply`.
impl Record for OccurrenceRow {
    #[inline]
    fn max_length(&self) -> usize {
        Self::MAX_LENGTH
    }

    #[inline]
    fn write_at_end(&self, space: &mut [u8]) -> usize {
        let space: &mut [u8; Self::MAX_LENGTH] = space.last_chunk_mut().expect("room for a record");
        let Self { level, occurrence } = self;
        let mut end = Self::MAX_LENGTH;
        let ply_type = write_unsigned(space, &mut end, occurrence.ply().0);
        let game_type = write_unsigned(space, &mut end, occurrence.game().0);
        let key_type = write_signed(space, &mut end, occurrence.key().as_i64());
        let level_type = write_unsigned(space, &mut end, level.0);
        end -= 5;
        write_before(space, end + 5, [5, level_type, key_type, game_type, ply_type]);
        Self::MAX_LENGTH - end
    }
}

/// A canonical FEN that can be written into a record.
pub trait Fen {
    /// The maximum number of bytes that [`write_at_end`](Self::write_at_end) overwrites. This is at least the
    /// length of the FEN.
    fn max_length(&self) -> usize;

    /// Writes the FEN to the end of `space`, and returns its length. Can also overwrite bytes before the FEN:
    /// in total up to [`max_length`](Self::max_length) bytes at the end of `space`.
    ///
    /// # Panics
    /// If `space` is shorter than [`max_length`](Self::max_length).
    fn write_at_end(&self, space: &mut [u8]) -> usize;
}

impl Fen for &[u8] {
    #[inline]
    fn max_length(&self) -> usize {
        self.len()
    }

    #[inline]
    fn write_at_end(&self, space: &mut [u8]) -> usize {
        let start = space.len() - self.len();
        space[start..].copy_from_slice(self);
        self.len()
    }
}

/// The FEN of a position, which is written straight into the page without an intermediate buffer.
#[derive(Clone, Copy, Debug)]
pub struct BoardFen<'p> {
    /// The position.
    pub position: &'p Position,
    /// The text of the position's piece placement.
    pub placement: &'p FenText,
}

impl Fen for BoardFen<'_> {
    #[inline]
    fn max_length(&self) -> usize {
        MAX_CANONICAL_FEN
    }

    #[inline]
    fn write_at_end(&self, space: &mut [u8]) -> usize {
        self.placement.write_at_end(self.position, space.last_chunk_mut().expect("room for a FEN"))
    }
}

/// A row of `game_position`: `game_id`, `ply`, `key`, `halfmove_clock`, `move_code`, `fen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionRecord<F> {
    /// The game.
    pub game: GameId,
    /// The ply.
    pub ply: Ply,
    /// The position's key.
    pub key: PositionKey,
    /// The number of half-moves since the last capture or pawn move.
    pub halfmove_clock: u32,
    /// The move played from this position; `None` in the last position of the game.
    pub move_code: Option<MoveCode>,
    /// The canonical FEN.
    pub fen: F,
}

/// The maximum number of bytes before the FEN: the header without the serial type of the FEN (6), the serial
/// type of the FEN (at most 9), the key (8), four other integers (at most 6 each), and the excess bytes of
/// the left-most integer (8). The sum is 55, rounded up here.
const MAX_LENGTH_WITHOUT_FEN: usize = 56;

impl<F: Fen> Record for PositionRecord<F> {
    #[inline]
    fn max_length(&self) -> usize {
        MAX_LENGTH_WITHOUT_FEN + self.fen.max_length()
    }

    #[inline]
    fn write_at_end(&self, space: &mut [u8]) -> usize {
        let fen_length = self.fen.write_at_end(space);
        let start_of_fen = space.len() - fen_length;
        let space: &mut [u8; MAX_LENGTH_WITHOUT_FEN] =
            space[..start_of_fen].last_chunk_mut().expect("room for a record");
        let mut end = MAX_LENGTH_WITHOUT_FEN;
        let move_type = match self.move_code {
            Some(code) => write_unsigned(space, &mut end, code.bits()),
            None => 0,
        };
        let clock_type = write_unsigned(space, &mut end, self.halfmove_clock);
        let key_type = write_signed(space, &mut end, self.key.as_i64());
        let ply_type = write_unsigned(space, &mut end, self.ply.0);
        let game_type = write_unsigned(space, &mut end, self.game.0);
        let types_end = end;
        write_varint(space, &mut end, 13 + 2 * fen_length as u64);
        let header_length = (6 + types_end - end) as u8;
        end -= 6;
        let types = [header_length, game_type, ply_type, key_type, clock_type, move_type];
        write_before(space, end + 6, types);
        MAX_LENGTH_WITHOUT_FEN - end + fen_length
    }
}

/// The maximum length of a record of `move_eval`: the header (8), seven integers (at most 6 each), and the
/// excess bytes of the left-most integer (8).
const EVAL_MAX_LENGTH: usize = 58;

impl Record for EvalRow {
    #[inline]
    fn max_length(&self) -> usize {
        EVAL_MAX_LENGTH
    }

    #[inline]
    fn write_at_end(&self, space: &mut [u8]) -> usize {
        let space: &mut [u8; EVAL_MAX_LENGTH] = space.last_chunk_mut().expect("room for a record");
        let mut end = EVAL_MAX_LENGTH;
        let columns: [Option<i64>; 7] = [
            Some(self.game.0.into()),
            Some(self.ply.0.into()),
            self.clock.map(i64::from),
            self.elapsed.map(i64::from),
            self.eval_cp.map(i64::from),
            self.eval_mate.map(i64::from),
            self.depth.map(i64::from),
        ];
        // SQLite reads columns after the last one of a record as NULL. Most rows have only a clock.
        let count = columns.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let mut types = [0; 8];
        types[0] = 1 + count as u8;
        for (value, serial_type) in columns[..count].iter().zip(&mut types[1..]).rev() {
            if let Some(value) = *value {
                *serial_type = write_signed(space, &mut end, value);
            }
        }
        let types = &types[..=count];
        end -= types.len();
        space[end..end + types.len()].copy_from_slice(types);
        EVAL_MAX_LENGTH - end
    }
}

/// The serial type of an integer, and the length of its value in bytes. The index is the number of bits of
/// the integer, or of its bitwise complement if it is negative.
const SERIAL_TYPES: [(u8, u8); 65] = {
    let mut table = [(6, 8); 65];
    let mut bits = 0;
    while bits < 48 {
        table[bits] = match bits {
            0..8 => (1, 1),
            8..16 => (2, 2),
            16..24 => (3, 3),
            24..32 => (4, 4),
            _ => (5, 6),
        };
        bits += 1;
    }
    table
};

/// [`SERIAL_TYPES`] for non-negative integers: 0 and 1 have serial types of their own.
const UNSIGNED_SERIAL_TYPES: [(u8, u8); 65] = {
    let mut table = SERIAL_TYPES;
    table[0] = (8, 0);
    table[1] = (9, 0);
    table
};

/// Writes `value` so that it ends at `end`, moves `end` to the value's first byte and returns its serial
/// type.
#[inline]
fn write_unsigned(space: &mut [u8], end: &mut usize, value: u32) -> u8 {
    let (serial_type, length) = UNSIGNED_SERIAL_TYPES[(32 - value.leading_zeros()) as usize];
    write_before(space, *end, u64::from(value).to_be_bytes());
    *end -= usize::from(length);
    serial_type
}

/// Writes `value` so that it ends at `end`, moves `end` to the value's first byte and returns its serial
/// type.
#[inline]
pub(super) fn write_signed(space: &mut [u8], end: &mut usize, value: i64) -> u8 {
    let table = if value == 0 || value == 1 { &UNSIGNED_SERIAL_TYPES } else { &SERIAL_TYPES };
    let magnitude = value ^ (value >> 63);
    let (serial_type, length) = table[(64 - magnitude.leading_zeros()) as usize];
    write_before(space, *end, value.to_be_bytes());
    *end -= usize::from(length);
    serial_type
}

/// Writes `value` as a varint that ends at `end`, and moves `end` to the varint's first byte. Can also
/// overwrite the byte before the varint.
#[inline]
pub(super) fn write_varint(space: &mut [u8], end: &mut usize, value: u64) {
    if value >= 1 << 14 {
        return write_long_varint(space, end, value);
    }
    // The serial type of a FEN takes two bytes if the FEN has at least 58 bytes. About half of all FENs are
    // shorter, so a branch would be mispredicted often.
    let two_bytes = usize::from(value >= 0x80);
    write_before(space, *end, [(value >> 7) as u8 | 0x80, (value & 0x7f) as u8]);
    *end -= 1 + two_bytes;
}

#[cold]
fn write_long_varint(space: &mut [u8], end: &mut usize, value: u64) {
    debug_assert!(value < 1 << 56, "nine-byte varints are built differently, and no length needs one");
    *end -= 1;
    space[*end] = (value & 0x7f) as u8;
    let mut rest = value >> 7;
    while rest != 0 {
        *end -= 1;
        space[*end] = (rest & 0x7f) as u8 | 0x80;
        rest >>= 7;
    }
}

/// Writes bytes so that they end at `end`. Their number is constant, so no function is called to copy them.
#[inline]
fn write_before<const N: usize>(space: &mut [u8], end: usize, bytes: [u8; N]) {
    *space[..end].last_chunk_mut().expect("room for the bytes") = bytes;
}

/// The maximum length of a varint, in bytes.
const VARINT: usize = 9;

/// Builds records value by value. One builder is reused for many rows.
#[derive(Debug, Default)]
pub(crate) struct RowRecord {
    types: Vec<u8>,
    values: Vec<u8>,
    bytes: Vec<u8>,
}

impl RowRecord {
    /// Encodes values as a record, without the length prefix of a cell.
    #[inline]
    pub(crate) fn of<'c>(&mut self, values: impl IntoIterator<Item = Cell<'c>>) -> &[u8] {
        self.types.clear();
        self.values.clear();
        for value in values {
            self.push(value);
        }
        self.bytes.clear();
        // The header's length includes the bytes that store this length.
        let length = self.types.len() + 1;
        let length = if length < 0x80 { length } else { length + 1 };
        push_varint(&mut self.bytes, length as u64);
        self.bytes.extend_from_slice(&self.types);
        self.bytes.extend_from_slice(&self.values);
        &self.bytes
    }

    #[inline]
    fn push(&mut self, value: Cell<'_>) {
        match value {
            Cell::Null => self.types.push(0),
            Cell::Integer(number) => {
                let mut space = [0; 8];
                let mut start = space.len();
                self.types.push(write_signed(&mut space, &mut start, number));
                self.values.extend_from_slice(&space[start..]);
            }
            Cell::Text(text) => {
                push_varint(&mut self.types, 13 + 2 * text.len() as u64);
                self.values.extend_from_slice(text.as_bytes());
            }
            Cell::Blob(bytes) => {
                push_varint(&mut self.types, 12 + 2 * bytes.len() as u64);
                self.values.extend_from_slice(bytes);
            }
        }
    }
}

#[inline]
pub(super) fn push_varint(bytes: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        bytes.push(value as u8);
        return;
    }
    let mut space = [0; VARINT];
    let mut start = VARINT;
    write_varint(&mut space, &mut start, value);
    bytes.extend_from_slice(&space[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::record_reader::{is_before, occurrence_of};
    use crate::store::row::{Level, Occurrence};

    /// The record's bytes, written into a buffer that already has other contents.
    fn bytes(record: &impl Record) -> Vec<u8> {
        let mut space = vec![0xAA; record.max_length() + 5];
        let length = record.write_at_end(&mut space);
        assert!(length <= record.max_length());
        assert_eq!(space[..5], [0xAA; 5], "bytes before the reserved space are unchanged");
        space.split_off(space.len() - length)
    }

    /// The record built column by column, as the format describes it.
    fn naive(columns: &[Option<i64>], text: Option<&[u8]>) -> Vec<u8> {
        let (mut types, mut body) = (Vec::new(), Vec::new());
        for column in columns {
            let (serial_type, length) = match *column {
                None => (0, 0),
                Some(0) => (8, 0),
                Some(1) => (9, 0),
                Some(-0x80..=0x7f) => (1, 1),
                Some(-0x8000..=0x7fff) => (2, 2),
                Some(-0x80_0000..=0x7f_ffff) => (3, 3),
                Some(-0x8000_0000..=0x7fff_ffff) => (4, 4),
                Some(-0x8000_0000_0000..=0x7fff_ffff_ffff) => (5, 6),
                Some(_) => (6, 8),
            };
            types.push(serial_type);
            body.extend_from_slice(&column.unwrap_or(0).to_be_bytes()[8 - length..]);
        }
        if let Some(text) = text {
            let serial_type = 13 + 2 * text.len();
            if serial_type >= 0x80 {
                types.push((serial_type >> 7) as u8 | 0x80);
            }
            types.push((serial_type & 0x7f) as u8);
            body.extend_from_slice(text);
        }
        [&[types.len() as u8 + 1][..], &types, &body].concat()
    }

    const EDGES: [u32; 17] = [
        0,
        1,
        2,
        127,
        128,
        255,
        256,
        32_767,
        32_768,
        65_535,
        65_536,
        0x7f_ffff,
        0x80_0000,
        0xff_ffff,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
    ];

    fn key_edges() -> Vec<i64> {
        let powers = (0..63).flat_map(|bit| [(1_i64 << bit) - 1, 1 << bit, -(1 << bit), -(1 << bit) - 1]);
        powers.chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]).collect()
    }

    #[test]
    fn occurrences() {
        let row = |level, key, game, ply| OccurrenceRow {
            level: Level(level),
            occurrence: Occurrence::new(PositionKey::from_i64(key), GameId(game), Ply(ply)),
        };
        for (at, key) in key_edges().into_iter().enumerate() {
            for game in EDGES {
                for ply in EDGES {
                    let level = EDGES[(at + game as usize % 5) % EDGES.len()];
                    let columns = [Some(level.into()), Some(key), Some(game.into()), Some(ply.into())];
                    let stored_row = row(level, key, game, ply);
                    let bytes = bytes(&stored_row);
                    assert_eq!(bytes, naive(&columns, None), "{level} {key} {game} {ply}");
                    let cell = [&[bytes.len() as u8], &bytes[..]].concat();
                    assert_eq!(occurrence_of(&cell), Some(stored_row));
                    assert_eq!(is_before(&cell, stored_row), Some(false));
                    for other in key_edges() {
                        for level in [1, level] {
                            let other = row(level, other, 7, game);
                            assert_eq!(is_before(&cell, other), Some(stored_row < other));
                        }
                    }
                    assert_eq!(occurrence_of(&cell[..cell.len() - 1]), None);
                }
            }
        }
    }

    #[test]
    fn positions() {
        let text = [b'x'; 300];
        for length in [0, 1, 50, 56, 57, 58, 59, 90, 127, 128, 300] {
            for key in key_edges() {
                for (at, &edge) in EDGES.iter().enumerate() {
                    let other = EDGES[(at + length) % EDGES.len()];
                    let row = PositionRecord {
                        game: GameId(edge),
                        ply: Ply(other),
                        key: PositionKey::from_i64(key),
                        halfmove_clock: edge,
                        move_code: (at != length).then_some(MoveCode::from_stored(other)),
                        fen: &text[..length],
                    };
                    let columns =
                        [Some(edge), Some(other), None, Some(edge), row.move_code.map(MoveCode::bits)];
                    let mut columns = columns.map(|column| column.map(i64::from));
                    columns[2] = Some(key);
                    assert_eq!(bytes(&row), naive(&columns, Some(row.fen)), "{row:?}");
                }
            }
        }
    }

    #[test]
    fn evals() {
        for (at, edge) in EDGES.into_iter().enumerate() {
            let other = EDGES[(at + 1) % EDGES.len()];
            for present in 0..32_u32 {
                let some = |bit: u32, value: u32| (present >> bit & 1 == 1).then_some(value);
                let row = EvalRow {
                    game: GameId(edge),
                    ply: Ply(other),
                    clock: some(0, edge),
                    elapsed: some(1, other),
                    eval_cp: some(2, edge).map(u32::cast_signed),
                    eval_mate: some(3, other).map(u32::cast_signed),
                    depth: some(4, edge),
                };
                let unsigned = |value: Option<u32>| value.map(i64::from);
                let mut columns = vec![
                    Some(edge.into()),
                    Some(other.into()),
                    unsigned(row.clock),
                    unsigned(row.elapsed),
                    row.eval_cp.map(i64::from),
                    row.eval_mate.map(i64::from),
                    unsigned(row.depth),
                ];
                // NULLs at the end are not stored.
                while columns.pop_if(|last| last.is_none()).is_some() {}
                assert_eq!(bytes(&row), naive(&columns, None), "{row:?}");
            }
        }
    }

    #[test]
    fn varints() {
        for (value, expected) in [
            (0, &[0][..]),
            (0x7f, &[0x7f]),
            (0x80, &[0x81, 0]),
            (0x3fff, &[0xff, 0x7f]),
            (0x4000, &[0x81, 0x80, 0]),
        ] {
            let mut space = [0xAA; 9];
            let mut end = 9;
            write_varint(&mut space, &mut end, value);
            assert_eq!(&space[end..], expected);
        }
    }
}
