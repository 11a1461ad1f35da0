//! Rows of `game_set`. A row has the sets of many values, because most sets are short.
//!
//! For each value, in ascending order, a row contains the difference from the value before, the length of the
//! set in bytes, and the set. The first difference is computed from the value in the row's key.
//! Numbers are varints: seven bits per byte, lowest bits first; all bytes but the last have the top bit set.

use crate::store::block_set::{push_number, take_long_number};
use crate::store::features::feature::FeatureKind;

/// A row with at least this many bytes is complete. On average, half of a row's last page is unused, which
/// hardly matters for a row of this length.
const FULL: usize = 1 << 16;

/// Writes a row: its kind, its first value, and its sets.
type WriteRow<'w> = dyn FnMut(FeatureKind, i64, &[u8]) -> rusqlite::Result<()> + 'w;

/// Collects sets into rows.
#[derive(Debug, Default)]
pub(crate) struct SetRows {
    /// Kind and first value of the current row.
    begun: Option<(FeatureKind, i64)>,
    last: i64,
    bytes: Vec<u8>,
}

impl SetRows {
    /// Adds a set. Sets must be added in the order of kind and value. If the set begins a new row, passes the
    /// completed row to `write` first.
    pub(crate) fn push(
        &mut self,
        kind: FeatureKind,
        value: i64,
        set: &[u8],
        write: &mut WriteRow<'_>,
    ) -> rusqlite::Result<()> {
        if self.begun.is_none_or(|begun| begun.0 != kind) || self.bytes.len() >= FULL {
            self.finish(write)?;
            (self.begun, self.last) = (Some((kind, value)), value);
        }
        push_number(value.wrapping_sub(self.last).cast_unsigned(), &mut self.bytes);
        push_number(set.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(set);
        self.last = value;
        Ok(())
    }

    /// Passes the last row to `write`.
    pub(crate) fn finish(&mut self, write: &mut WriteRow<'_>) -> rusqlite::Result<()> {
        if let Some((kind, first)) = self.begun.take() {
            write(kind, first, &self.bytes)?;
        }
        self.bytes.clear();
        Ok(())
    }
}

/// Passes each value of a row and its set to `see`; returns `None` if the bytes are invalid or `see` returns
/// `None`.
pub(crate) fn each_set<'b>(
    first: i64,
    bytes: &'b [u8],
    mut see: impl FnMut(i64, &'b [u8]) -> Option<()>,
) -> Option<()> {
    let (mut value, mut rest) = (first, bytes);
    while !rest.is_empty() {
        let (more, behind) = take_long_number(rest)?;
        let (length, behind) = take_long_number(behind)?;
        let (set, behind) = behind.split_at_checked(usize::try_from(length).ok()?)?;
        value = value.checked_add_unsigned(more)?;
        see(value, set)?;
        rest = behind;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_decoded_from_their_rows() {
        let long = [7; FULL];
        let sets: [(FeatureKind, i64, &[u8]); 6] = [
            (FeatureKind::Capture, 3, &[1, 2]),
            (FeatureKind::Capture, 700, &long),
            (FeatureKind::Capture, 701, &[]),
            (FeatureKind::Material, 1, &[9]),
            (FeatureKind::Material, 0xff_ffff_ffff, &[8]),
            (FeatureKind::Pawns, 0, &[5]),
        ];
        let mut rows = Vec::new();
        let mut write = |kind, first, bytes: &[u8]| {
            rows.push((kind, first, bytes.to_vec()));
            Ok(())
        };
        let mut into = SetRows::default();
        for (kind, value, set) in sets {
            into.push(kind, value, set, &mut write).unwrap();
        }
        into.finish(&mut write).unwrap();
        assert_eq!(
            rows.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(),
            [
                (FeatureKind::Capture, 3),
                (FeatureKind::Capture, 701),
                (FeatureKind::Material, 1),
                (FeatureKind::Pawns, 0)
            ]
        );
        let mut found = Vec::new();
        for (kind, first, bytes) in &rows {
            let see = |value, set| {
                found.push((*kind, value, set));
                Some(())
            };
            assert_eq!(each_set(*first, bytes, see), Some(()));
        }
        assert_eq!(found, sets);
    }

    #[test]
    fn invalid_bytes_are_reported() {
        let read = |first, bytes: &[u8]| each_set(first, bytes, |_, _| Some(()));
        for bytes in [&[0][..], &[0x80], &[0, 2, 1], &[0xff; 12], &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert_eq!(read(0, bytes), None, "{bytes:?}");
        }
        assert_eq!(read(i64::MAX, &[1, 0]), None);
        assert_eq!(read(7, &[]), Some(()));
        assert_eq!(each_set(0, &[0, 0], |_, _| None), None);
    }
}
