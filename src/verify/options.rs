//! Options of a check.

/// Options of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The number of threads that read and replay; 0 counts as 1. Each thread has its own connection.
    pub threads: usize,
    /// How many games to replay, rows of `level_position` to recount, and duplicates to compare. The sets of
    /// games by feature are checked only with [`Sample::All`].
    pub sample: Sample,
    /// The maximum number of findings to keep; all are counted.
    pub limit: usize,
    /// Whether to read the sources, if they still exist.
    pub sources: bool,
}

impl Default for VerifyOptions {
    /// One thread per core, samples of 1,000 items, 20 findings; sources are read.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            sample: Sample::Some(1000),
            limit: 20,
            sources: true,
        }
    }
}

/// How much of the slow checks to do. The same database always has the same sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All items.
    All,
    /// This many items, evenly spread.
    Some(u32),
}

impl Sample {
    /// Whether the sample contains the item with the index `index` (from 0); `count` is the number of all
    /// items.
    #[must_use]
    pub fn has(self, index: u64, count: u64) -> bool {
        let Self::Some(most) = self else { return true };
        let chosen = |index: u64| u128::from(index) * u128::from(most) / u128::from(count.max(1));
        u64::from(most) >= count || chosen(index + 1) > chosen(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_requested_size_and_is_evenly_spread() {
        for (most, count) in [(3, 10), (1, 7), (10, 10), (20, 10), (999, 1000), (0, 5)] {
            let chosen: Vec<u64> = (0..count).filter(|&index| Sample::Some(most).has(index, count)).collect();
            assert_eq!(chosen.len() as u64, u64::from(most).min(count), "{most} of {count}");
            let gap = count.checked_div(most.into()).unwrap_or(0) + 1;
            assert!(chosen.windows(2).all(|pair| pair[1] - pair[0] <= gap), "{chosen:?}");
            assert!((0..count).all(|index| Sample::All.has(index, count)));
        }
    }
}
