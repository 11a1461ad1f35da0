//! Position keys, which are Polyglot Zobrist hashes, and sets and maps of such keys.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use super::Square;
use super::polyglot::POLYGLOT;

/// The Polyglot Zobrist key of a position's canonical FEN.
///
/// The en-passant file is part of the key only if an en-passant capture is legal. Only then does the
/// canonical FEN contain an en-passant square. SQLite stores the key as a signed 64-bit integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PositionKey(pub u64);

impl PositionKey {
    /// The key as the signed integer in the database.
    #[must_use]
    pub const fn as_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// The key for the signed integer in the database.
    #[must_use]
    pub const fn from_i64(value: i64) -> Self {
        Self(value.cast_unsigned())
    }
}

impl std::fmt::Display for PositionKey {
    /// Writes sixteen hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

const CASTLING: usize = 768;
const EN_PASSANT: usize = 772;
const SIDE: usize = 780;

/// For each piece code, the number that Polyglot uses for this kind and colour; `polyglot.rs` lists these numbers.
const POLYGLOT_PIECE: [usize; 16] = [0, 0, 1, 0, 3, 2, 11, 10, 5, 4, 7, 6, 9, 8, 0, 0];

/// The Polyglot constants, by piece code and by ordinal of the square.
static PIECE_KEYS: [[u64; 64]; 16] = {
    let mut table = [[0; 64]; 16];
    let mut code = 2;
    while code < 14 {
        let mut ordinal = 0;
        while ordinal < 64 {
            table[code][ordinal] = POLYGLOT[64 * POLYGLOT_PIECE[code] + ordinal];
            ordinal += 1;
        }
        code += 1;
    }
    table
};

static CASTLING_KEYS: [u64; 16] = {
    let mut table = [0; 16];
    let mut rights = 0;
    while rights < 16 {
        let mut right = 0;
        while right < 4 {
            if rights >> right & 1 != 0 {
                table[rights] ^= POLYGLOT[CASTLING + right];
            }
            right += 1;
        }
        rights += 1;
    }
    table
};

/// The published constants of the Polyglot keys as signed 64-bit integers, in the order of the Polyglot book
/// format.
pub(crate) fn polyglot_constants() -> impl Iterator<Item = i64> {
    POLYGLOT.iter().map(|constant| constant.cast_signed())
}

#[inline]
pub(super) fn piece_key(code: u8, square: Square) -> u64 {
    PIECE_KEYS[usize::from(code & 15)][usize::from(square.ordinal())]
}

#[inline]
pub(super) fn castling_key(rights: u8) -> u64 {
    CASTLING_KEYS[usize::from(rights & 15)]
}

#[inline]
pub(super) fn en_passant_key(square: Square) -> u64 {
    POLYGLOT[EN_PASSANT + usize::from(square.file())]
}

#[inline]
pub(super) fn side_key() -> u64 {
    POLYGLOT[SIDE]
}

/// A set of position keys.
pub type KeySet = HashSet<PositionKey, KeyState>;

/// A map from position keys to values.
pub type KeyMap<V> = HashMap<PositionKey, V, KeyState>;

/// Hashes keys for a set or a map. Keys are already hashes, but anyone can compute them. So a random number
/// is mixed in: without it, an attacker could choose positions that collide in the hash table.
#[derive(Clone, Copy, Debug)]
pub struct KeyState(u64);

impl Default for KeyState {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for KeyState {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

/// Each key gets a copy of the state as its hasher.
impl Hasher for KeyState {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        // The fractional part of the golden ratio, times 2^64. Its bits have no regular pattern.
        const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(key ^ self.0) * FACTOR;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_equal_bits_have_different_hashes() {
        for shift in [0, 20, 40, 56] {
            let state = KeyState::default();
            let hashes = (0..256_u64).map(|key| state.hash_one(PositionKey(key << shift)));
            let low: HashSet<u64> = hashes.map(|hash| hash % 65_536).collect();
            assert!(low.len() > 200, "{shift}: {}", low.len());
        }
    }
}
