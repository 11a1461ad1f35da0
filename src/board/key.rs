//! Position keys: Polyglot Zobrist hashes.

/// The Polyglot Zobrist key of a position's canonical FEN.
///
/// Keys are ordered as SQLite orders them: as signed 64-bit integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PositionKey(pub u64);

impl PositionKey {
    /// The key as the signed integer that stands in the database.
    #[must_use]
    pub const fn as_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// The key of the signed integer that stands in the database.
    #[must_use]
    pub const fn from_i64(value: i64) -> Self {
        Self(value.cast_unsigned())
    }
}
