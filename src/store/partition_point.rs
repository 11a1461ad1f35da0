//! Binary search in sorted data, where reading an element can fail.

use std::ops::Range;

/// The first number of a range for which `is_before` is false, or the end of the range. `is_before` must be
/// true for all smaller numbers of the range, and false for all greater ones.
#[inline]
pub(crate) fn partition_point<E>(
    range: Range<usize>,
    mut is_before: impl FnMut(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Like [`partition_point`], but faster if the result is near the start of the range.
#[inline]
pub(crate) fn near_partition_point<E>(
    range: Range<usize>,
    mut is_before: impl FnMut(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let Range { start: mut low, end: mut high } = range;
    let mut step = 1;
    while low < high {
        let probe = (low + step).min(high) - 1;
        if !is_before(probe)? {
            high = probe;
            break;
        }
        low = probe + 1;
        step *= 2;
    }
    partition_point(low..high, is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_wherever_they_are() {
        for end in 0..40 {
            for point in 3..=3 + end {
                let is_before = |index| Ok::<_, ()>(index < point);
                assert_eq!(partition_point(3..3 + end, is_before), Ok(point));
                assert_eq!(near_partition_point(3..3 + end, is_before), Ok(point));
            }
        }
        assert_eq!(near_partition_point(0..9, |_| Err("failed")), Err("failed"));
    }

    #[test]
    fn near_points_take_few_comparisons() {
        for point in 0..1000 {
            let mut looks = 0;
            let found = near_partition_point(0..1_000_000, |index| {
                looks += 1;
                Ok::<_, ()>(index < point)
            });
            assert_eq!(found, Ok(point));
            assert!(looks <= 2 * (point + 1).ilog2() + 2, "{point}: {looks}");
        }
    }
}
