//! What a run is expected to write.

/// What a run is expected to write. Told from samples: a quarter more or less is nothing unusual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Games in all sources.
    pub games: u64,
    /// Plies in all sources.
    pub plies: u64,
    /// PGN text in all sources, unpacked, in bytes.
    pub text_bytes: u64,
    /// Size of the database, in bytes.
    pub database_bytes: u64,
    /// Temporary files beside the database, in bytes.
    pub beside_bytes: u64,
    /// Temporary files in the directory for them, in bytes: what does not fit the memory allowed.
    pub spill_bytes: u64,
}
