//! The contents of a database.

use serde::Serialize;

use crate::id::GameId;
use crate::sorted::SortedMap;
use crate::store::{
    self, Database, DuplicateCount, GameStatistics, ImportInfo, Info, OpeningCount, ProblemCount,
    SchemaVersion, SourceInfo, TreeSize,
};

/// The number of listed openings.
const OPENINGS: u32 = 10;

/// The contents of a database.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DatabaseContents {
    /// Path of the database.
    pub path: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Version of the database's schema.
    pub schema_version: SchemaVersion,
    /// Number of games.
    pub games: u64,
    /// Number of half-moves in all games.
    pub plies: u64,
    /// Number of positions in all games: a game of n half-moves has n + 1.
    pub positions: u64,
    /// Number of different positions; `null` if several runs added games.
    pub distinct_positions: Option<u64>,
    /// Number of players' names.
    pub players: u64,
    /// Number of names of events.
    pub events: u64,
    /// Number of names of sites.
    pub sites: u64,
    /// Number of games that are stored only up to an illegal or unreadable move.
    pub truncated: u64,
    /// Number of games stored without moves.
    pub skipped: u64,
    /// The longest game, or the first of several longest games; `null` if there are no games.
    pub longest: Option<LongestGame>,
    /// Number of games by result.
    pub results: GamesByResult,
    /// Number of games by year.
    pub years: SortedMap<u16, u64>,
    /// Number of games without a year.
    pub undated: u64,
    /// Number of players by rating, in steps of 100: `2400` is 2400 to 2499. Each game counts for both of its
    /// players.
    pub ratings: SortedMap<u16, u64>,
    /// Number of players without a rating, counted in the same way.
    pub unrated: u64,
    /// The ten most frequent openings, most games first.
    pub openings: Vec<OpeningCount>,
    /// Number of problems found in the input, by kind, most frequent first.
    pub problems: Vec<ProblemCount>,
    /// Number of all problems that the runs found.
    #[serde(skip)]
    pub problem_count: u64,
    /// Number of games that repeat other games, by kind, most frequent first.
    pub duplicates: Vec<DuplicateCount>,
    /// The input files, in input order.
    pub sources: Vec<SourceInfo>,
    /// The runs of `index`, oldest first.
    pub imports: Vec<ImportInfo>,
    /// Sizes of all tables and indexes, the largest first. Missing unless requested with `--sizes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<TreeSize>>,
}

/// The longest game of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LongestGame {
    /// Number of the game.
    pub game_id: GameId,
    /// Number of its half-moves.
    pub plies: u32,
}

/// Number of games by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GamesByResult {
    /// Number of games won by White.
    #[serde(rename = "1-0")]
    pub white_wins: u64,
    /// Number of drawn games.
    #[serde(rename = "1/2-1/2")]
    pub draws: u64,
    /// Number of games won by Black.
    #[serde(rename = "0-1")]
    pub black_wins: u64,
    /// Number of games without a result.
    #[serde(rename = "*")]
    pub unfinished: u64,
}

impl DatabaseContents {
    /// Reads the data. The sizes of tables are read only if requested, because reading them takes a while.
    ///
    /// # Errors
    /// Errors of SQLite or the system.
    pub fn read(database: &Database, with_sizes: bool) -> store::Result<Self> {
        let Info {
            file_bytes,
            schema_version,
            totals,
            players,
            events,
            sites,
            imports,
            sources,
            problems,
            duplicates,
            ..
        } = database.info()?;
        let GameStatistics {
            games,
            white_wins,
            draws,
            black_wins,
            unfinished,
            truncated,
            skipped,
            longest,
            years,
            undated,
            ratings,
            unrated,
        } = database.game_statistics()?;
        Ok(Self {
            path: database.path().display().to_string(),
            bytes: file_bytes,
            schema_version,
            games,
            plies: totals.plies,
            positions: totals.positions,
            distinct_positions: totals.distinct_positions,
            players,
            events,
            sites,
            truncated,
            skipped,
            longest: longest.map(|(game_id, plies)| LongestGame { game_id, plies }),
            results: GamesByResult { white_wins, draws, black_wins, unfinished },
            years,
            undated,
            ratings,
            unrated,
            openings: database.frequent_openings(OPENINGS)?,
            problems,
            problem_count: totals.problems,
            duplicates,
            sources,
            imports,
            sizes: with_sizes.then(|| database.tree_sizes()).transpose()?,
        })
    }
}
