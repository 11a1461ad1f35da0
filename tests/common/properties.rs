//! How property tests choose their cases.

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};

/// A configuration with `cases` cases, the same in every run. To search for new cases, `PROPTEST_RNG_SEED` selects
/// others, and `PROPTEST_TIMES` multiplies their number.
pub(crate) fn cases(cases: u32) -> Config {
    const SEED: u64 = 1851;
    let given = Config::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    let times = std::env::var("PROPTEST_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    // Failed cases are stored next to the test's source file.
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions")) as _);
    Config { cases: cases.saturating_mul(times), rng_seed, failure_persistence, ..given }
}
