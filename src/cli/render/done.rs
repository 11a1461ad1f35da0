//! The result of a command, as printed by `--json` and in the log.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use anyhow::Context as _;
use pgndex::index::SummaryObject;
use serde::Serialize;
use serde_json::Value;

use crate::cli::render::text::escaped_json;
use crate::cli::terminal::log::{self, Event, Level};

/// What a command did: an object of its own for each command.
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
    /// Size of the copy.
    pub(crate) bytes: u64,
    /// Wall time.
    pub(crate) seconds: f64,
}

/// Games that were taken out.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Removed {
    /// Path of the database.
    pub(crate) database: String,
    /// Whether nothing was done.
    pub(crate) dry_run: bool,
    /// Games that went.
    pub(crate) games: u64,
    /// Half-moves in them.
    pub(crate) plies: u64,
    /// Readings of files that went.
    pub(crate) sources: u64,
    /// Games that had been skipped as duplicates of these and came back.
    pub(crate) returned: u64,
    /// Those that could not.
    pub(crate) lost: Vec<Lost>,
    /// Size of the database.
    pub(crate) file_bytes: u64,
    /// How much of it holds nothing.
    pub(crate) free_bytes: u64,
    /// Wall time.
    pub(crate) seconds: f64,
}

/// Duplicates of games that went, which could not come back.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Lost {
    /// The file that they are in.
    pub(crate) path: String,
    /// How many there are.
    pub(crate) games: u64,
    /// Why they could not.
    pub(crate) reason: String,
}

/// Levels that were merged.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Optimized {
    /// Path of the database.
    pub(crate) database: String,
    /// How many levels there were.
    pub(crate) levels: u64,
    /// Size of the database before.
    pub(crate) bytes_before: u64,
    /// Size of the database.
    pub(crate) file_bytes: u64,
    /// How much of it holds nothing.
    pub(crate) free_bytes: u64,
    /// Wall time.
    pub(crate) seconds: f64,
}

/// Tables that were made to fit each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Repaired {
    /// Path of the database.
    pub(crate) database: String,
    /// Rows of games, sources and names that are not there.
    pub(crate) removed_rows: u64,
    /// Names that no game has.
    pub(crate) removed_names: u64,
    /// Files of which nothing is left.
    pub(crate) forgotten_sources: u64,
    /// Files whose row had gone, though there are games of them.
    pub(crate) unknown_sources: u64,
    /// Games whose `prefix_hash` was made anew.
    pub(crate) hashes: u64,
    /// Rows of `visited_position`, all of them made anew.
    pub(crate) visited_positions: u64,
    /// Games whose positions are not all there: the first 1,000.
    pub(crate) broken_games: Vec<u32>,
    /// Size of the database.
    pub(crate) file_bytes: u64,
    /// Wall time.
    pub(crate) seconds: f64,
}

/// A database that was checked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verified {
    /// Path of the database.
    pub(crate) database: String,
    /// Whether it is sound.
    pub(crate) sound: bool,
    /// How many things are wrong.
    pub(crate) findings: u64,
    /// How many of each kind.
    pub(crate) finding_kinds: BTreeMap<&'static str, u64>,
    /// The first ones.
    pub(crate) first_findings: Vec<Found>,
    /// Games of the database.
    pub(crate) games: u64,
    /// Positions of the database.
    pub(crate) positions: u64,
    /// Games made again on the board.
    pub(crate) replayed_games: u64,
    /// Half-moves of these.
    pub(crate) replayed_plies: u64,
    /// Games compared with their PGN.
    pub(crate) compared_games: u64,
    /// Positions whose counts were made again.
    pub(crate) visited_positions: u64,
    /// Duplicates compared.
    pub(crate) duplicates: u64,
    /// PGN files that are as they were indexed.
    pub(crate) sources_same: u64,
    /// PGN files that have changed or are gone.
    pub(crate) sources_other: u64,
    /// The first of these.
    pub(crate) first_sources_other: Vec<OtherSource>,
    /// Wall time.
    pub(crate) seconds: f64,
}

/// Something that is wrong.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    /// What kind of thing is wrong.
    pub(crate) kind: &'static str,
    /// The table.
    pub(crate) table: &'static str,
    /// The primary key of the row, by column.
    pub(crate) row: serde_json::Map<String, Value>,
    /// The column.
    pub(crate) column: Option<&'static str>,
    /// What should be there.
    pub(crate) expected: String,
    /// What is there.
    pub(crate) found: String,
}

/// A PGN file that is not as it was indexed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OtherSource {
    /// The file.
    pub(crate) path: String,
    /// Whether it has changed or is gone.
    pub(crate) state: &'static str,
    /// The same in words.
    pub(crate) message: String,
}

/// Parquet files that were checked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VerifiedParquet {
    /// The directory.
    pub(crate) directory: String,
    /// Whether they are sound.
    pub(crate) sound: bool,
    /// How many things are wrong.
    pub(crate) findings: u64,
    /// The first ones, a sentence each.
    pub(crate) first_findings: Vec<String>,
    /// How many files there are.
    pub(crate) files: u64,
    /// Bytes of these.
    pub(crate) bytes: u64,
    /// Games in them.
    pub(crate) games: u64,
    /// Positions in them.
    pub(crate) positions: u64,
    /// Games made again on the board.
    pub(crate) replayed_games: u64,
}

/// How a command reports what it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Telling {
    /// Whether it prints only problems.
    pub(crate) quiet: bool,
    /// Whether it writes an object to standard output.
    pub(crate) json: bool,
}

impl Telling {
    /// Reports what was done: as an object on standard output, as the last line of the log, or else as text
    /// for people.
    ///
    /// # Errors
    /// If the object cannot be written. A closed pipe is no error: the exit status still shows the result.
    pub(crate) fn tell(self, done: Done, text: impl FnOnce() -> String) -> anyhow::Result<()> {
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
