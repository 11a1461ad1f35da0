//! Hashes of keys.

use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};

/// A hash function for keys. It differs in each run, so that nobody can prepare an input in which many keys
/// have the same hash.
#[derive(Clone, Debug)]
pub(crate) struct KeyHash {
    state: RandomState,
    /// A mask of the bits used: all bits, except in tests of equal hashes.
    mask: u64,
}

impl KeyHash {
    pub(crate) const BITS: u32 = u64::BITS;

    /// A hash function with hashes of `bits` bits.
    pub(crate) fn new(bits: u32) -> Self {
        Self { state: RandomState::new(), mask: u64::MAX.checked_shr(Self::BITS - bits).unwrap_or(0) }
    }

    pub(crate) fn of(&self, key: &[u8]) -> u64 {
        let mut hasher = self.begin();
        hasher.write(key);
        self.end(&hasher)
    }

    /// A hasher for a key that is written in pieces.
    pub(crate) fn begin(&self) -> DefaultHasher {
        self.state.build_hasher()
    }

    /// The hash of the written bytes.
    pub(crate) fn end(&self, hasher: &DefaultHasher) -> u64 {
        self.narrow(hasher.finish())
    }

    /// The bits of a hash that are used.
    pub(crate) const fn narrow(&self, hash: u64) -> u64 {
        hash & self.mask
    }
}
