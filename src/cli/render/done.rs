//! The result of a command, as printed by `--json` and in the log.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use anyhow::Context as _;
use pgndex::index::SummaryObject;
use serde::Serialize;
use serde_json::Value;

use crate::cli::render::text::escaped_json;
use crate::cli::terminal::log::{self, Event, Level};

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

/// The schema that a test of the library writes.
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
    /// Whether nothing was removed, because it was a dry run.
    pub(crate) dry_run: bool,
    /// Games removed.
    pub(crate) games: u64,
    /// Half-moves of these.
    pub(crate) plies: u64,
    /// Rows of `source` removed: one for each time that a file was read.
    pub(crate) sources: u64,
    /// Games that had been skipped as duplicates of these, and were added again.
    pub(crate) returned: u64,
    /// Such games that could not be added again.
    pub(crate) lost: Vec<Lost>,
    /// Size of the database, in bytes.
    pub(crate) file_bytes: u64,
    /// Unused bytes in it.
    pub(crate) free_bytes: u64,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// Duplicates of removed games that could not be added again.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Lost {
    /// The file with these games.
    pub(crate) path: String,
    /// Number of games.
    pub(crate) games: u64,
    /// Why they could not be added.
    pub(crate) reason: String,
}

/// The result of merging the parts that additions made.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Optimized {
    /// Path of the database.
    pub(crate) database: String,
    /// Number of parts before.
    pub(crate) levels: u64,
    /// Size of the database before, in bytes.
    pub(crate) bytes_before: u64,
    /// Size of the database, in bytes.
    pub(crate) file_bytes: u64,
    /// Unused bytes in it.
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
    /// Rows removed because their game, source or name is missing.
    pub(crate) removed_rows: u64,
    /// Names removed because no game has them.
    pub(crate) removed_names: u64,
    /// Files forgotten because all their games are missing.
    pub(crate) forgotten_sources: u64,
    /// Files with games but without a row in `source`.
    pub(crate) unknown_sources: u64,
    /// Games whose `prefix_hash` was corrected.
    pub(crate) hashes: u64,
    /// Rows of `visited_position`; all of them were computed again.
    pub(crate) visited_positions: u64,
    /// Games with missing positions: the first 1,000.
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
    /// Whether it is sound.
    pub(crate) sound: bool,
    /// Number of findings.
    pub(crate) findings: u64,
    /// Number of findings of each kind.
    pub(crate) finding_kinds: BTreeMap<&'static str, u64>,
    /// The first findings.
    pub(crate) first_findings: Vec<Found>,
    /// Games of the database.
    pub(crate) games: u64,
    /// Positions of the database.
    pub(crate) positions: u64,
    /// Games replayed.
    pub(crate) replayed_games: u64,
    /// Half-moves of these.
    pub(crate) replayed_plies: u64,
    /// Games compared with their PGN.
    pub(crate) compared_games: u64,
    /// Positions whose games were counted again.
    pub(crate) visited_positions: u64,
    /// Duplicates compared.
    pub(crate) duplicates: u64,
    /// Unchanged PGN files.
    pub(crate) sources_same: u64,
    /// Changed or missing PGN files.
    pub(crate) sources_other: u64,
    /// The first of these.
    pub(crate) first_sources_other: Vec<OtherSource>,
    /// Wall time, in seconds.
    pub(crate) seconds: f64,
}

/// A finding.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    /// The kind of finding.
    pub(crate) kind: &'static str,
    /// The table.
    pub(crate) table: &'static str,
    /// The primary key of the row, by column.
    pub(crate) row: serde_json::Map<String, Value>,
    /// The column.
    pub(crate) column: Option<&'static str>,
    /// The expected value.
    pub(crate) expected: String,
    /// The value found.
    pub(crate) found: String,
}

/// A changed or missing PGN file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OtherSource {
    /// The file.
    pub(crate) path: String,
    /// Whether it is changed or missing.
    pub(crate) state: &'static str,
    /// The same as a sentence.
    pub(crate) message: String,
}

/// The result of checking Parquet files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VerifiedParquet {
    /// The directory.
    pub(crate) directory: String,
    /// Whether all files are sound.
    pub(crate) sound: bool,
    /// Number of findings.
    pub(crate) findings: u64,
    /// The first findings, a sentence each.
    pub(crate) first_findings: Vec<String>,
    /// Number of files.
    pub(crate) files: u64,
    /// Their size in bytes.
    pub(crate) bytes: u64,
    /// Games in them.
    pub(crate) games: u64,
    /// Positions in them.
    pub(crate) positions: u64,
    /// Games replayed.
    pub(crate) replayed_games: u64,
}

/// How a command reports what it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reporter {
    /// Whether it prints only problems.
    pub(crate) quiet: bool,
    /// Whether it writes an object to standard output.
    pub(crate) json: bool,
}

impl Reporter {
    /// Reports what was done: as an object on standard output, as the last line of the log, or else as text
    /// for people.
    ///
    /// # Errors
    /// If the object cannot be written. A closed pipe is no error: the exit status still shows the result.
    pub(crate) fn report(self, done: Done, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        if self.json {
            let object = serde_json::to_string(&done)?;
            match writeln!(io::stdout().lock(), "{}", escaped_json(&object)) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => {
                    written
                        .context("the run is done, but its summary cannot be written to standard output")?;
                }
            }
        }
        if self.quiet {
            return Ok(());
        }
        if log::is_json() {
            log::write(Level::Info, "done", "done", Event::Done(done));
        } else if !self.json {
            // The work is done; a summary that cannot be written is no failure.
            let _ = writeln!(io::stderr().lock(), "{}", text());
        }
        Ok(())
    }
}
