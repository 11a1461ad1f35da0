//! Squares of the 0x88 board.

use std::fmt;

/// A square on the board, numbered `file + 16 * rank`: a1 = 0x00, h1 = 0x07, e2 = 0x14, d8 = 0x73, h8 = 0x77.
///
/// An index is on the board if and only if `index & 0x88 == 0`; this holds for every `Square`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square with this 0x88 index, if it is on the board.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index & 0x88 == 0 { Some(Self(index)) } else { None }
    }

    /// The square with the 0x88 index `index & 0x77`; for indexes known to be on the board.
    #[must_use]
    pub(crate) const fn masked(index: u8) -> Self {
        Self(index & 0x77)
    }

    /// The square on `file` (0 is the a-file) and `rank` (0 is the first rank). Only the lowest three bits of
    /// each number are used.
    #[must_use]
    pub const fn at(file: u8, rank: u8) -> Self {
        Self((file & 7) | (rank & 7) << 4)
    }

    /// The square with this ordinal: 0 to 63, in the order a1, b1, …, h8. Higher bits are ignored.
    #[must_use]
    pub const fn from_ordinal(ordinal: u8) -> Self {
        let ordinal = ordinal & 63;
        Self(ordinal + (ordinal & 0x38))
    }

    /// The 0x88 index.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The ordinal of the square: 0 to 63, in the order a1, b1, …, h8.
    #[must_use]
    pub const fn ordinal(self) -> u8 {
        (self.0 + (self.0 & 7)) >> 1
    }

    /// The file: 0 for the a-file to 7 for the h-file.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.0 & 7
    }

    /// The rank: 0 for the first rank to 7 for the eighth.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 >> 4
    }

    /// The square whose 0x88 index differs by `step`, if it is on the board: +16 is one rank up, +1 one file
    /// to the right.
    #[must_use]
    pub const fn offset(self, step: i8) -> Option<Self> {
        Self::new(self.0.wrapping_add_signed(step))
    }

    /// Parses the name of a square, `a1` to `h8`.
    #[must_use]
    pub const fn parse(text: &[u8]) -> Option<Self> {
        match text {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Some(Self::at(*file - b'a', *rank - b'1')),
            _ => None,
        }
    }

    /// The name of the square, such as `e4`.
    #[must_use]
    pub const fn name(self) -> [u8; 2] {
        [b'a' + self.file(), b'1' + self.rank()]
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [file, rank] = self.name();
        write!(f, "{}{}", char::from(file), char::from(rank))
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The 0x88 index of each square, in the order a1, b1 … h8.
pub const TO_X88: [u8; 64] = {
    let mut table = [0; 64];
    let mut ordinal = 0;
    while ordinal < 64 {
        table[ordinal as usize] = Square::from_ordinal(ordinal).index();
        ordinal += 1;
    }
    table
};

/// A set of squares: bit `n` is the square with ordinal `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SquareSet(pub u64);

impl SquareSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set of one square.
    #[must_use]
    pub const fn from_square(square: Square) -> Self {
        Self(1 << square.ordinal())
    }

    /// The squares of a file; 0 is the a-file.
    #[must_use]
    pub const fn file(file: u8) -> Self {
        Self(0x0101_0101_0101_0101 << (file & 7))
    }

    /// The squares of a rank; 0 is the first rank.
    #[must_use]
    pub const fn rank(rank: u8) -> Self {
        Self(0xff << (8 * (rank & 7)))
    }

    /// Whether the square is in the set.
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.ordinal() & 1 != 0
    }

    /// The set with this square added.
    #[must_use]
    pub const fn with(self, square: Square) -> Self {
        Self(self.0 | 1 << square.ordinal())
    }

    /// The squares that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The squares that are in at least one of the sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set after reversing the ranks: the first becomes the eighth, and so on.
    #[must_use]
    pub const fn with_ranks_reversed(self) -> Self {
        Self(self.0.swap_bytes())
    }

    /// The set after reversing the files: a becomes h, and so on.
    #[must_use]
    pub const fn with_files_reversed(self) -> Self {
        Self(self.0.reverse_bits().swap_bytes())
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of squares.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The first square in the order a1, b1, …, h8; `None` if the set is empty.
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::from_ordinal(self.0.trailing_zeros() as u8)) }
    }

    /// The last square in the order a1, b1, …, h8; `None` if the set is empty.
    #[must_use]
    pub const fn last(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::from_ordinal(63 - self.0.leading_zeros() as u8)) }
    }
}

impl Iterator for SquareSet {
    type Item = Square;

    /// Removes and returns the first square in the order a1, b1, …, h8.
    fn next(&mut self) -> Option<Square> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

impl FromIterator<Square> for SquareSet {
    fn from_iter<T: IntoIterator<Item = Square>>(squares: T) -> Self {
        squares.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_have_known_indexes() {
        for (name, index) in [("a1", 0x00), ("h1", 0x07), ("e2", 0x14), ("d8", 0x73), ("h8", 0x77)] {
            let square = Square::parse(name.as_bytes()).unwrap();
            assert_eq!(square.index(), index);
            assert_eq!(square.to_string(), name);
        }
        assert_eq!(Square::new(0x08), None);
        assert_eq!(Square::new(0x80), None);
        assert_eq!(Square::parse(b"i1"), None);
        assert_eq!(Square::parse(b"a9"), None);
    }

    #[test]
    fn to_x88_goes_from_a1_to_h8() {
        assert_eq!(
            (TO_X88[0], TO_X88[7], TO_X88[12], TO_X88[59], TO_X88[63]),
            (0x00, 0x07, 0x14, 0x73, 0x77)
        );
        for (ordinal, index) in TO_X88.into_iter().enumerate() {
            assert_eq!(usize::from(Square::new(index).unwrap().ordinal()), ordinal);
        }
    }

    #[test]
    fn offsets_leave_the_board_at_every_edge() {
        let square = |name: &[u8]| Square::parse(name).unwrap();
        assert_eq!(square(b"a1").offset(-1), None);
        assert_eq!(square(b"a1").offset(-16), None);
        assert_eq!(square(b"h8").offset(1), None);
        assert_eq!(square(b"h8").offset(16), None);
        assert_eq!(square(b"e4").offset(17), Some(square(b"f5")));
    }
}
