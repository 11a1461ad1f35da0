//! Estimates of the output of a run.

/// The expected output of a run, estimated from samples. Errors of 25 percent are normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Games in all sources.
    pub games: u64,
    /// Plies in all sources.
    pub plies: u64,
    /// PGN text in all sources, decompressed, in bytes.
    pub text_bytes: u64,
    /// Size of the database, in bytes.
    pub database_bytes: u64,
    /// Temporary files beside the database, in bytes.
    pub beside_bytes: u64,
    /// Temporary files in their own directory, in bytes: data beyond the memory limit.
    pub spill_bytes: u64,
}
