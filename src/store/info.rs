//! What a database holds, without counting its rows.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Row;

use super::bulk::{ImportId, ImportTotals};
use super::database::Database;
use super::error::{Error, Result};
use super::lookup::unsigned;
use super::path::StoredPath;
use super::row::SourceId;
use super::schema::SchemaVersion;

/// What a database holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Size of the file, in bytes.
    pub file_bytes: u64,
    /// Page size, in bytes.
    pub page_bytes: u32,
    /// Version of its schema.
    pub schema_version: SchemaVersion,
    /// Sums over all runs.
    pub totals: Totals,
    /// Names of players.
    pub players: u64,
    /// Names of events.
    pub events: u64,
    /// Names of sites.
    pub sites: u64,
    /// The runs, oldest first.
    pub imports: Vec<ImportInfo>,
    /// The input files, in input order.
    pub sources: Vec<SourceInfo>,
    /// What was found wrong, most frequent first.
    pub problems: Vec<ProblemCount>,
    /// Games that repeat others, by kind, most frequent first.
    pub duplicates: Vec<DuplicateCount>,
}

/// Sums over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Games.
    pub games: u64,
    /// Moves in them.
    pub plies: u64,
    /// Positions in them.
    pub positions: u64,
    /// Different positions in them, if one run added all: of several runs, each counted its own, and they may share some.
    pub distinct_positions: Option<u64>,
    /// Problems found.
    pub problems: u64,
    /// Time taken.
    pub elapsed: Duration,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportInfo {
    /// Its number.
    pub import: ImportId,
    /// When it began, UTC.
    pub started_at: String,
    /// When it ended, UTC; `None` if it did not.
    pub finished_at: Option<String>,
    /// The program's version.
    pub program_version: String,
    /// What it was asked to do: a JSON object.
    pub options: String,
    /// What it added.
    pub totals: ImportTotals,
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its number.
    pub source: SourceId,
    /// Its path as it was given.
    pub path: PathBuf,
    /// Size of its PGN text, decompressed; `None` if it was not read to its end.
    pub bytes: Option<u64>,
    /// BLAKE3 digest of these bytes, in hexadecimal.
    pub digest: Option<String>,
    /// Games added from it.
    pub games: u64,
    /// Moves in them.
    pub plies: u64,
    /// Problems found in it.
    pub problems: u64,
    /// Games of it that were skipped as duplicates.
    pub duplicates: u64,
    /// When all of it was indexed, UTC.
    pub indexed_at: Option<String>,
}

/// How many games repeat others in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateCount {
    /// `same`, `moves` or `prefix`.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// How often one kind of problem was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemCount {
    /// The kind, such as `illegal-move`.
    pub kind: String,
    /// `warning` or `error`.
    pub severity: String,
    /// How often.
    pub count: u64,
}

impl Database {
    /// What the database holds. The totals are those the runs noted down: nothing large is counted.
    ///
    /// # Errors
    /// What SQLite or the system says.
    pub fn info(&self) -> Result<Info> {
        let metadata = fs::metadata(self.path())
            .map_err(|source| Error::io(self.path(), "read the size of the database", source))?;
        let imports = self.all(
            "read table import",
            "SELECT import_id, started_at, finished_at, program_version, options, games, plies, positions, distinct_positions,
                    problems, duplicates, seconds FROM import ORDER BY import_id",
            [],
            import,
        )?;
        let mut totals = Totals::default();
        for ImportInfo { totals: part, .. } in &imports {
            totals.games += part.games;
            totals.plies += part.plies;
            totals.positions += part.positions;
            totals.problems += part.problems;
            totals.elapsed += part.elapsed;
        }
        if let [import] = imports.as_slice() {
            totals.distinct_positions = Some(import.totals.distinct_positions);
        }
        Ok(Info {
            file_bytes: metadata.len(),
            page_bytes: self.number("PRAGMA page_size")?.try_into().unwrap_or_default(),
            schema_version: SchemaVersion(self.number("PRAGMA user_version")?.try_into().unwrap_or_default()),
            totals,
            // Ids count up from 1.
            players: self.number("SELECT ifnull(max(player_id), 0) FROM player")?,
            events: self.number("SELECT ifnull(max(event_id), 0) FROM event")?,
            sites: self.number("SELECT ifnull(max(site_id), 0) FROM site")?,
            imports,
            sources: self.all(
                "read table source",
                "SELECT source_id, path, bytes, digest, games, plies, problems, duplicates, indexed_at
                 FROM source ORDER BY source_id",
                [],
                source,
            )?,
            problems: self.all(
                "read table problem",
                "SELECT kind, severity, count(*) AS count FROM problem
                 GROUP BY kind, severity ORDER BY count DESC, kind, severity",
                [],
                |row| {
                    let count = unsigned(row, "count")?;
                    Ok(ProblemCount { kind: row.get(0)?, severity: row.get(1)?, count })
                },
            )?,
            duplicates: self.all(
                "read table duplicate",
                "SELECT kind, count(*) AS count FROM duplicate GROUP BY kind ORDER BY count DESC, kind",
                [],
                |row| Ok(DuplicateCount { kind: row.get(0)?, count: unsigned(row, "count")? }),
            )?,
        })
    }

    fn number(&self, sql: &str) -> Result<u64> {
        let number = self.connection().query_row(sql, [], |row| row.get::<_, i64>(0));
        number
            .map(i64::cast_unsigned)
            .map_err(|source| Error::sqlite(self.path(), "read what the database holds", source))
    }
}

fn import(row: &Row<'_>) -> rusqlite::Result<ImportInfo> {
    let seconds: Option<f64> = row.get("seconds")?;
    Ok(ImportInfo {
        import: ImportId(row.get("import_id")?),
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        program_version: row.get("program_version")?,
        options: row.get("options")?,
        totals: ImportTotals {
            games: unsigned(row, "games")?,
            plies: unsigned(row, "plies")?,
            positions: unsigned(row, "positions")?,
            distinct_positions: unsigned(row, "distinct_positions")?,
            problems: unsigned(row, "problems")?,
            duplicates: unsigned(row, "duplicates")?,
            elapsed: seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or_default(),
        },
    })
}

fn source(row: &Row<'_>) -> rusqlite::Result<SourceInfo> {
    Ok(SourceInfo {
        source: SourceId(row.get("source_id")?),
        path: row.get::<_, StoredPath<_>>("path")?.0,
        bytes: row.get::<_, Option<i64>>("bytes")?.map(i64::cast_unsigned),
        digest: row.get("digest")?,
        games: unsigned(row, "games")?,
        plies: unsigned(row, "plies")?,
        problems: unsigned(row, "problems")?,
        duplicates: unsigned(row, "duplicates")?,
        indexed_at: row.get("indexed_at")?,
    })
}
