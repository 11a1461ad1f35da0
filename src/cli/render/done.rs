//! The result of a command, as printed by `--json` and in the log.

use std::collections::BTreeMap;

use pgndex::index::SummaryObject;
use serde::Serialize;
use serde_json::Value;

/// The result of a command, an object of a different type for each command.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Done {
    Index(#[cfg_attr(test, schemars(schema_with = "summary_schema"))] Box<SummaryObject>),
    Backup(Copied),
    Remove(Removed),
    Optimize(Optimized),
    Repair(Repaired),
    Verify(Box<Verified>),
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "the schema of answers has it always"))]
    VerifyParquet(VerifiedParquet),
}

/// The schema of the summary, read from the file to which a test of the library writes it.
#[cfg(test)]
fn summary_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/summary.schema.json");
    let mut schema: schemars::Schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    schema.remove("$schema");
    schema
}

/// A copy of a database.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Copied {
    /// Path of the database.
    pub(crate) database: String,
    /// Path of the copy.
    pub(crate) copy: String,
    /// Size of the copy, in bytes.
    pub(crate) bytes: u64,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// The result of removing games.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Removed {
    /// Path of the database.
    pub(crate) database: String,
    /// Whether it was a dry run, which removes nothing.
    pub(crate) dry_run: bool,
    /// Number of games removed; in a dry run, of games that would be removed.
    pub(crate) games: u64,
    /// Number of half-moves of the games that `games` counts.
    pub(crate) plies: u64,
    /// Number of rows removed from `source`; in a dry run, of rows that would be removed. A file that was
    /// read several times has several rows.
    pub(crate) sources: u64,
    /// Number of games added because they had been skipped as duplicates of removed games; in a dry run, of
    /// games that would be added.
    pub(crate) returned: u64,
    /// Games that had been skipped as duplicates of removed games and could not be added now, by file.
    pub(crate) lost: Vec<Lost>,
    /// Size of the database, in bytes.
    pub(crate) file_bytes: u64,
    /// Number of unused bytes in the database.
    pub(crate) free_bytes: u64,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// Games of one file that had been skipped as duplicates of removed games and could not be added now.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Lost {
    /// Path of the file.
    pub(crate) path: String,
    /// Number of games.
    pub(crate) games: u64,
    /// Reason why the games could not be added, as a sentence.
    pub(crate) reason: String,
}

/// The result of merging the parts that separate runs added to a database.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Optimized {
    /// Path of the database.
    pub(crate) database: String,
    /// Number of parts before the merge.
    pub(crate) levels: u64,
    /// Number of games removed earlier whose positions were still stored. These positions have now been dropped.
    pub(crate) dropped_games: u64,
    /// The layout to which the database was converted, `open` or `compact`; `null` if it was not converted.
    pub(crate) converted_to: Option<&'static str>,
    /// Size of the database before the command, in bytes.
    pub(crate) bytes_before: u64,
    /// Size of the database after the command, in bytes.
    pub(crate) file_bytes: u64,
    /// Number of unused bytes in the database.
    pub(crate) free_bytes: u64,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// The result of a repair.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Repaired {
    /// Path of the database.
    pub(crate) database: String,
    /// Number of rows removed because their game or source is missing.
    pub(crate) removed_rows: u64,
    /// Number of references set to NULL because the name, opening or game is missing.
    pub(crate) cleared_references: u64,
    /// Number of games whose `ply_count` was corrected.
    pub(crate) ply_counts: u64,
    /// Number of names removed because no game has them.
    pub(crate) removed_names: u64,
    /// Number of rows of `source` removed because none of the file's games remain, so that the file can be
    /// indexed again.
    pub(crate) forgotten_sources: u64,
    /// Number of files with games but without a row in `source`. For each, a row with an unknown path was added.
    pub(crate) unknown_sources: u64,
    /// Number of games whose `prefix_hash` was corrected.
    pub(crate) hashes: u64,
    /// Number of rows of `level_position`, all of which were written again.
    pub(crate) visited_positions: u64,
    /// Numbers of the first games with missing or surplus positions, at most 1,000 games.
    pub(crate) broken_games: Vec<u32>,
    /// Size of the database, in bytes.
    pub(crate) file_bytes: u64,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// The result of checking a database.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verified {
    /// Path of the database.
    pub(crate) database: String,
    /// Whether the database is sound.
    pub(crate) sound: bool,
    /// Number of findings.
    pub(crate) findings: u64,
    /// Number of findings of each kind.
    pub(crate) finding_kinds: BTreeMap<&'static str, u64>,
    /// The first findings, as many as `--limit` allows.
    pub(crate) first_findings: Vec<Found>,
    /// Number of games in the database.
    pub(crate) games: u64,
    /// Number of positions in the database.
    pub(crate) positions: u64,
    /// Number of games replayed.
    pub(crate) replayed_games: u64,
    /// Number of half-moves of the replayed games.
    pub(crate) replayed_plies: u64,
    /// Number of games compared with their PGN.
    pub(crate) compared_games: u64,
    /// Number of positions whose games were recounted.
    pub(crate) visited_positions: u64,
    /// Number of duplicates compared.
    pub(crate) duplicates: u64,
    /// Number of rows of `source` whose PGN file is unchanged or has only grown. A file that was read several
    /// times has several rows.
    pub(crate) sources_same: u64,
    /// Number of rows of `source` whose games were not compared, because the PGN file has changed, is missing
    /// or cannot be read.
    pub(crate) sources_other: u64,
    /// The first rows of `source` whose games were not compared, as many as `--limit` allows.
    pub(crate) first_sources_other: Vec<OtherSource>,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// A fault in the database.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    /// Kind of finding.
    pub(crate) kind: &'static str,
    /// Table with the fault.
    pub(crate) table: &'static str,
    /// Primary key of the row: a value for each column of the key.
    pub(crate) row: serde_json::Map<String, Value>,
    /// Column with the fault; `null` if the fault concerns the whole row.
    pub(crate) column: Option<&'static str>,
    /// Expected value, as text.
    pub(crate) expected: String,
    /// Value found, as text.
    pub(crate) found: String,
}

/// A row of `source` whose games were not compared.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OtherSource {
    /// Path of the file.
    pub(crate) path: String,
    /// State of the file: `changed`, `missing` or `unreadable`.
    pub(crate) state: &'static str,
    /// The state as a sentence.
    pub(crate) message: String,
}

/// The result of checking Parquet files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VerifiedParquet {
    /// Directory of the files.
    pub(crate) directory: String,
    /// Whether all files are sound.
    pub(crate) sound: bool,
    /// Number of findings.
    pub(crate) findings: u64,
    /// The first findings, one sentence each.
    pub(crate) first_findings: Vec<String>,
    /// Number of files.
    pub(crate) files: u64,
    /// Total size of the files, in bytes.
    pub(crate) bytes: u64,
    /// Number of games in the files.
    pub(crate) games: u64,
    /// Number of positions in the files.
    pub(crate) positions: u64,
    /// Number of games replayed.
    pub(crate) replayed_games: u64,
}
