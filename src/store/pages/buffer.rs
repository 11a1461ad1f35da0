//! A buffer for pages to be written.

use std::ops::{Deref, DerefMut};

/// The alignment of addresses, lengths and offsets for direct writes. No common file system requires more.
pub(super) const ALIGNMENT: usize = 4096;

/// Zeroed bytes aligned to [`ALIGNMENT`].
#[derive(Debug)]
pub(super) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub(super) fn new(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, start, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}
