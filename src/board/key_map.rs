//! Sets and maps of position keys.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use super::PositionKey;

/// A set of position keys.
pub type KeySet = HashSet<PositionKey, KeyState>;

/// A map from position keys to values.
pub type KeyMap<V> = HashMap<PositionKey, V, KeyState>;

/// Hashes keys for a set or a map. Keys are already hashes, but anyone can compute them: a random number
/// prevents anyone from choosing positions that collide in the table.
#[derive(Clone, Copy, Debug)]
pub struct KeyState(u64);

impl Default for KeyState {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for KeyState {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0)
    }
}

/// The hasher of one key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        // The fractional part of the golden ratio, whose bits have no regular pattern.
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
