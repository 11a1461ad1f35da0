//! Estimates of the output of a run.

/// The expected output of a run, estimated from samples. Streams are not included, because their size is
/// unknown. Errors of 25 percent are normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of games in all sources.
    pub games: u64,
    /// Number of plies in all sources.
    pub plies: u64,
    /// Size of the PGN text of all sources, decompressed, in bytes.
    pub text_bytes: u64,
    /// Size of the database, in bytes.
    pub database_bytes: u64,
    /// Size of the temporary files beside the database, in bytes.
    pub beside_bytes: u64,
    /// Size of the files in the directory of temporary files, in bytes. They contain data beyond the memory limit.
    pub spill_bytes: u64,
}
