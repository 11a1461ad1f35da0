//! Data of runs and of their sources.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::id::ImportId;

/// The data of a run when it begins.
#[derive(Clone, Copy, Debug)]
pub struct NewImport<'a> {
    /// The id of the run.
    pub id: ImportId,
    /// The program's version.
    pub program_version: &'a str,
    /// The options of the run: a JSON object.
    pub options: &'a str,
}

/// Totals of what a run added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportTotals {
    /// Number of games added.
    pub games: u64,
    /// Number of half-moves of the added games.
    pub plies: u64,
    /// Number of positions of the added games.
    pub positions: u64,
    // Positions with the same key count as one.
    /// Number of different positions in the added games.
    pub distinct_positions: u64,
    /// Number of problems found.
    pub problems: u64,
    /// Number of games skipped as duplicates.
    pub duplicates: u64,
    /// Wall time, in seconds.
    #[serde(rename = "seconds", serialize_with = "as_seconds")]
    #[cfg_attr(test, schemars(with = "f64"))]
    pub elapsed: Duration,
}

fn as_seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

/// A BLAKE3 digest of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceDigest(pub [u8; 32]);

impl SourceDigest {
    /// The digest in hexadecimal, as in the database.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The data of a source that a run has read, completely or in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceTotals {
    /// The size of the source's decompressed PGN text, in bytes; `None` if the source could not be read.
    pub bytes: Option<u64>,
    /// Digest of the text; `None` if the source was not read to its end.
    pub digest: Option<SourceDigest>,
    /// Whether the source is a damaged archive, so that `bytes` and `digest` cover only the part that could
    /// be decoded.
    pub is_damaged: bool,
    /// The number of games added from the source.
    pub games: u64,
    /// The number of half-moves in the added games.
    pub plies: u64,
    /// The number of rows of `problem` for the source.
    pub problems: u64,
    /// The number of games skipped as duplicates.
    pub duplicates: u64,
    /// The offset of the last game found, kept or not, in bytes; `None` if no game was found.
    pub last_game: Option<u64>,
}
