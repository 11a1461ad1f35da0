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

/// What a database holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DatabaseContents {
    /// Its path.
    pub path: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Version of its schema.
    pub schema_version: SchemaVersion,
    /// Games.
    pub games: u64,
    /// Moves in them.
    pub plies: u64,
    /// Positions in them.
    pub positions: u64,
    /// Different positions; `None` if the database was made by several runs.
    pub distinct_positions: Option<u64>,
    /// Names of players.
    pub players: u64,
    /// Names of events.
    pub events: u64,
    /// Names of sites.
    pub sites: u64,
    /// Games of which only the moves before an illegal or unreadable one are there.
    pub truncated: u64,
    /// Games of which no moves are there.
    pub skipped: u64,
    /// The first of the longest games.
    pub longest: Option<LongestGame>,
    /// Games by result.
    pub results: GamesByResult,
    /// Games by year.
    pub years: SortedMap<u16, u64>,
    /// Games without a year.
    pub undated: u64,
    /// Players of games by rating, in steps of [`GameStatistics::RATING_STEP`].
    pub ratings: SortedMap<u16, u64>,
    /// Players of games without a rating.
    pub unrated: u64,
    /// The ten most frequent openings.
    pub openings: Vec<OpeningCount>,
    /// What was found wrong, most frequent first.
    pub problems: Vec<ProblemCount>,
    /// How many problems the runs found.
    #[serde(skip)]
    pub problem_count: u64,
    /// Games that repeat others, by kind, most frequent first.
    pub duplicates: Vec<DuplicateCount>,
    /// The input files, in input order.
    pub sources: Vec<SourceInfo>,
    /// The runs, oldest first.
    pub imports: Vec<ImportInfo>,
    /// Sizes of tables and indexes, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<TreeSize>>,
}

/// A game and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LongestGame {
    /// The game.
    pub game_id: GameId,
    /// Its plies.
    pub plies: u32,
}

/// Games by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GamesByResult {
    /// Games won by White.
    #[serde(rename = "1-0")]
    pub white_wins: u64,
    /// Games drawn.
    #[serde(rename = "1/2-1/2")]
    pub draws: u64,
    /// Games won by Black.
    #[serde(rename = "0-1")]
    pub black_wins: u64,
    /// Games without a result.
    #[serde(rename = "*")]
    pub unfinished: u64,
}

impl DatabaseContents {
    /// Reads the data; with the sizes of tables only if requested, because this takes a while.
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
