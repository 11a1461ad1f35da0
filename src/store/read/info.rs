//! Describes the contents of a database: runs, sources, problems. Does not read large tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::named_params;
use serde::{Serialize, Serializer};

use crate::id::{GameId, ImportId, SourceId};
use crate::store::cell::{Cells, DUPLICATE, IMPORT, PROBLEM, SOURCE, Table};
use crate::store::{Database, Error, GameProblem, ImportTotals, Named, Result};

/// The number of games from a file, and the size of the file's text. A file that grew was read several times;
/// the games of all readings are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceContent {
    /// The path, as given.
    pub path: PathBuf,
    /// The number of games from this file that are in the database.
    pub games: u64,
    /// The size of the text in bytes: the greatest size that a reading found; `None` if no reading could read
    /// the text.
    pub bytes: Option<u64>,
}

/// A run of `index`, and what it added.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportInfo {
    /// Number of the run: the id of its row in `import`.
    #[serde(rename = "import_id")]
    pub import: ImportId,
    /// Start of the run in UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    pub started_at: String,
    /// End of the run in UTC; `null` if the run is not finished.
    pub finished_at: Option<String>,
    /// Version of the program.
    pub program_version: String,
    /// Options of the run: a JSON object.
    #[serde(serialize_with = "as_json")]
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    pub options: String,
    /// Totals of what the run added.
    #[serde(flatten)]
    pub totals: ImportTotals,
}

/// One reading of an input file, and what it added. A file that grew is listed once per reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceInfo {
    /// Number of the reading: the id of its row in `source`.
    #[serde(rename = "source_id")]
    pub source: SourceId,
    /// Path of the file, as given to `index`.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub path: PathBuf,
    /// Size of the file's PGN text in bytes, decompressed, as far as it could be read; `null` if nothing
    /// could be read.
    pub bytes: Option<u64>,
    /// BLAKE3 digest of the PGN text that `bytes` counts, in hexadecimal; `null` if the file was not read to its
    /// end.
    pub digest: Option<String>,
    /// Number of games from this reading that are in the database.
    pub games: u64,
    /// Number of half-moves of the games from this reading that are in the database.
    pub plies: u64,
    /// Number of problems found.
    pub problems: u64,
    /// Number of games skipped as duplicates.
    pub duplicates: u64,
    /// Time in UTC when indexing of the file was completed; `null` if it was not completed, for example
    /// because the file is damaged.
    pub indexed_at: Option<String>,
}

/// The number of duplicates of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DuplicateCount {
    /// Kind of duplicate: `same`, `moves`, `prefix` or `cut`.
    pub kind: String,
    /// Number of duplicates of this kind.
    pub count: u64,
}

/// The number of problems of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProblemCount {
    /// `warning`: corrected or ignored; `error`: a part of a game or file was lost, or a file has no game.
    pub severity: String,
    /// Kind of problem, such as `illegal-move`.
    pub kind: String,
    /// Number of problems of this kind.
    pub count: u64,
}

/// The names of the kinds of problems.
pub const PROBLEM_KINDS: &[&str] = &[
    "unreadable-source",
    "damaged-archive",
    "illegal-move",
    "ambiguous-move",
    "unreadable-move",
    "unclosed-comment",
    "unclosed-variation",
    "invalid-fen",
    "unsupported-variant",
    "long-tags",
    "long-annotations",
    "long-game",
    "variation-move",
    "stray-opening",
    "stray-closing",
    "unknown-token",
    "missing-space",
    "missing-result",
    "result-mismatch",
    "unclosed-tag",
    "invalid-tag",
    "duplicate-tag",
    "invalid-text",
    "many-pieces",
    "outside-text",
    "no-game",
];

/// Selects the problems to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProblemPage<'a> {
    /// Only problems whose id is greater than this.
    pub after: u64,
    /// The maximum number of problems.
    pub limit: u32,
    /// Only problems of this kind, such as `illegal-move`.
    pub kind: Option<&'a str>,
    /// Only problems of this severity: `warning` or `error`.
    pub severity: Option<&'a str>,
}

/// A problem, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundProblem {
    /// Number of the problem: the id of its row in `problem`.
    pub problem_id: u64,
    /// Path of the file, as given to `index`; `null` if unknown.
    pub source: Option<String>,
    /// Number of the game in the database; `null` if the game is not stored, or if the problem is outside any
    /// game.
    pub game_id: Option<GameId>,
    /// Number of the game in the file, from 1; `null` if the problem is outside any game.
    pub game_number: Option<u64>,
    /// The problem.
    #[serde(flatten)]
    pub problem: GameProblem,
}

/// Serializes a run's options as JSON; invalid JSON as a string.
fn as_json<S: Serializer>(options: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match serde_json::from_str::<serde_json::Value>(options) {
        Ok(options) => options.serialize(serializer),
        Err(_) => options.serialize(serializer),
    }
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Database {
    /// The size of the file, in bytes.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn file_bytes(&self) -> Result<u64> {
        let metadata = fs::metadata(self.path());
        metadata
            .map(|metadata| metadata.len())
            .map_err(|source| Error::io(self.path(), "read the size of the database", source))
    }

    /// The runs, oldest first.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn import_infos(&self) -> Result<Vec<ImportInfo>> {
        let sql = "SELECT import_id, started_at, finished_at, program_version, options, games, plies, positions, distinct_positions,
                       problems, duplicates, seconds FROM import ORDER BY import_id";
        self.all("read table import", IMPORT, sql, [], import)
    }

    /// The number of distinct positions of all games. `imports` are all runs of the database. `None` if games
    /// were removed or there is not exactly one run, because each run counts its own distinct positions.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn distinct_positions(&self, imports: &[ImportInfo]) -> Result<Option<u64>> {
        let [import] = imports else { return Ok(None) };
        // Removing games does not change `distinct_positions` in the rows of `import`.
        let removed = "SELECT count(*) AS count FROM setting WHERE name = 'removed_games' AND value > 0";
        Ok((self.number(removed)? == 0).then_some(import.totals.distinct_positions))
    }

    /// The number of players, events, sites or openings.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_names(&self, named: Named) -> Result<u64> {
        self.number(&format!("SELECT count(*) AS count FROM {}", named.table().name))
    }

    /// The kinds of problems found, the most frequent kind first.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn problem_counts(&self) -> Result<Vec<ProblemCount>> {
        let sql = "SELECT kind, severity, count(*) AS count FROM problem
                   GROUP BY kind, severity ORDER BY count DESC, kind, severity";
        self.all("read table problem", PROBLEM, sql, [], |cells| {
            let (kind, severity) = (cells.get("kind")?, cells.get("severity")?);
            Ok(ProblemCount { kind, severity, count: cells.get("count")? })
        })
    }

    /// The kinds of duplicates found, the most frequent kind first.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn duplicate_counts(&self) -> Result<Vec<DuplicateCount>> {
        let sql = "SELECT kind, count(*) AS count FROM duplicate GROUP BY kind ORDER BY count DESC, kind";
        self.all("read table duplicate", DUPLICATE, sql, [], |cells| {
            Ok(DuplicateCount { kind: cells.get("kind")?, count: cells.get("count")? })
        })
    }

    /// The input files, in input order. A file that was read several times has several entries.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn source_infos(&self) -> Result<Vec<SourceInfo>> {
        let sql = "SELECT source_id, path, bytes, digest, games, plies, problems, duplicates, indexed_at
                   FROM source ORDER BY source_id";
        self.all("read table source", SOURCE, sql, [], |cells| {
            Ok(SourceInfo {
                source: cells.get("source_id")?,
                path: cells.get("path")?,
                bytes: cells.get("bytes")?,
                digest: cells.get("digest")?,
                games: cells.get("games")?,
                plies: cells.get("plies")?,
                problems: cells.get("problems")?,
                duplicates: cells.get("duplicates")?,
                indexed_at: cells.get("indexed_at")?,
            })
        })
    }

    fn number(&self, sql: &str) -> Result<u64> {
        // The number is about the whole database, so an error cannot name a row.
        let whole = Table::new("the database", &[]);
        let number = whole.first(self.connection(), sql, [], |cells| cells.get(0));
        Ok(number.map_err(self.failed("read the contents of the database"))?.unwrap_or_default())
    }

    /// The files in the order in which they were first read, each with its number of games and the size of its
    /// text.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn source_contents(&self) -> Result<Vec<SourceContent>> {
        let sql = "SELECT path, sum(games) AS games, max(bytes) AS bytes FROM source
             GROUP BY path ORDER BY min(source_id)";
        self.all("read table source", SOURCE, sql, [], |cells| {
            Ok(SourceContent { path: cells.get(0)?, games: cells.get(1)?, bytes: cells.get(2)? })
        })
    }

    /// The problems that `page` selects, in the order of their ids.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn problem_page(&self, page: &ProblemPage<'_>) -> Result<Vec<FoundProblem>> {
        let ProblemPage { after, limit, kind, severity } = *page;
        self.all(
            "read table problem",
            PROBLEM,
            "SELECT problem_id, source.path AS path, game_id, game_number, line, column_number, problem.byte_offset AS byte_offset, ply,
                 token, kind, severity, message
             FROM problem LEFT JOIN source USING (source_id)
             WHERE problem_id > :after AND (:kind IS NULL OR kind = :kind) AND (:severity IS NULL OR severity = :severity)
             ORDER BY problem_id LIMIT :limit",
            named_params! { ":after": after.cast_signed(), ":limit": limit, ":kind": kind, ":severity": severity },
            |cells| {
                let path: Option<PathBuf> = cells.get("path")?;
                Ok(FoundProblem {
                    problem_id: cells.get("problem_id")?,
                    source: path.map(|path| path.to_string_lossy().into_owned()),
                    game_id: cells.get("game_id")?,
                    game_number: cells.get("game_number")?,
                    problem: GameProblem::read(cells)?,
                })
            },
        )
    }
}

fn import(cells: Cells<'_>) -> rusqlite::Result<ImportInfo> {
    let elapsed = cells.get::<Option<f64>>("seconds")?.map(Duration::try_from_secs_f64);
    Ok(ImportInfo {
        import: cells.get("import_id")?,
        started_at: cells.get("started_at")?,
        finished_at: cells.get("finished_at")?,
        program_version: cells.get("program_version")?,
        options: cells.get("options")?,
        totals: ImportTotals {
            games: cells.get("games")?,
            plies: cells.get("plies")?,
            positions: cells.get("positions")?,
            distinct_positions: cells.get("distinct_positions")?,
            problems: cells.get("problems")?,
            duplicates: cells.get("duplicates")?,
            elapsed: elapsed.and_then(Result::ok).unwrap_or_default(),
        },
    })
}
