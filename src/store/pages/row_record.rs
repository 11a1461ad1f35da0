//! Encodes rows with any columns as records.

use super::record::{write_signed, write_varint};
use crate::store::row::virtual_table::Cell;

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
    /// Encodes values as a record, without its length prefix.
    #[inline]
    pub(crate) fn of<'c>(&mut self, values: impl IntoIterator<Item = Cell<'c>>) -> &[u8] {
        self.types.clear();
        self.values.clear();
        for value in values {
            self.push(value);
        }
        self.bytes.clear();
        // The length of the header includes itself.
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
