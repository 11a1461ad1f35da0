//! Surveys of a database: its contents, statistics, openings, names and problems, and the rows of an SQL
//! query.

use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::Value;

use crate::id::GameId;
use crate::sorted::SortedMap;
use crate::store::{
    self, Database, DuplicateCount, FoundProblem, GameCharts, GameCounts, ImportInfo, ImportTotals, Layout,
    NameFilter, Named, OpeningCount, ProblemCount, ProblemPage, SchemaVersion, Selection, SourceInfo,
    TreeSize,
};

/// The maximum number of openings in [`DatabaseContents`].
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
    /// How the database stores the positions of games.
    pub layout: Layout,
    /// Number of games.
    pub games: u64,
    /// Number of half-moves in all games.
    pub plies: u64,
    /// Number of positions in all games: a game of n half-moves has n + 1.
    pub positions: u64,
    /// Number of different positions; `null` if games were removed, or if several runs added games.
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
    /// Number of players by rating, in steps of 100: `2400` means 2400 to 2499. A player counts once for each
    /// game in which the player has a rating.
    pub ratings: SortedMap<u16, u64>,
    /// Number of players without a rating. A player counts once for each game in which the player has no
    /// rating.
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
    /// One entry per reading of an input file, in input order.
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
    /// Reads the data. Reads the sizes of tables and indexes only if `with_sizes` is set, because this takes
    /// a while.
    ///
    /// # Errors
    /// Errors of SQLite or the system.
    pub fn read(database: &Database, with_sizes: bool) -> store::Result<Self> {
        let imports = database.import_infos()?;
        let total = |of: fn(&ImportTotals) -> u64| {
            imports.iter().map(|import| of(&import.totals)).fold(0, u64::saturating_add)
        };
        let games = database.game_statistics()?;
        let GameCounts { games: game_count, white, draws, black, unfinished } = games.counts;
        Ok(Self {
            path: database.path().display().to_string(),
            bytes: database.file_bytes()?,
            schema_version: database.schema_version()?,
            layout: database.layout(),
            games: game_count,
            plies: total(|totals| totals.plies),
            positions: total(|totals| totals.positions),
            distinct_positions: database.distinct_positions(&imports)?,
            players: database.count_names(Named::Player)?,
            events: database.count_names(Named::Event)?,
            sites: database.count_names(Named::Site)?,
            truncated: games.truncated,
            skipped: games.skipped,
            longest: games.longest.map(|(game_id, plies)| LongestGame { game_id, plies }),
            results: GamesByResult { white_wins: white, draws, black_wins: black, unfinished },
            years: games.years,
            undated: games.undated,
            ratings: games.ratings,
            unrated: games.unrated,
            openings: database.frequent_openings(OPENINGS)?,
            problems: database.problem_counts()?,
            problem_count: total(|totals| totals.problems),
            duplicates: database.duplicate_counts()?,
            sources: database.source_infos()?,
            imports,
            sizes: with_sizes.then(|| database.tree_sizes()).transpose()?,
        })
    }
}

/// Games by result, year, rating and length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// All games.
    #[serde(flatten)]
    pub all: GameCounts,
    /// Games by year, in ascending order.
    pub years: Vec<YearCount>,
    /// Games without a known year.
    pub undated: GameCounts,
    /// Width of each step of `ratings`, in rating points.
    pub rating_step: u16,
    /// Games by the mean rating of both players, in ascending order. Steps without games are omitted.
    pub ratings: Vec<RatingCount>,
    /// Games in which at least one player's rating is unknown.
    pub unrated: GameCounts,
    /// Width of each step of `lengths`, in half-moves.
    pub length_step: u32,
    /// Games by length, the shortest first. Steps without games are omitted.
    pub lengths: Vec<LengthCount>,
}

/// The games of one year, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct YearCount {
    /// The year.
    pub year: u16,
    /// The games of this year.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The games of one step of mean ratings, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingCount {
    /// Lowest mean rating of the step.
    pub rating: u16,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

/// The number of games in one range of lengths, by result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// Lowest number of half-moves of the step.
    pub plies: u32,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

impl Statistics {
    /// Counts the games of a selection.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, selection: &Selection) -> store::Result<Self> {
        let charts = database.game_charts(selection)?;
        let year = |(year, counted)| YearCount { year, counted };
        let rating = |(rating, counted)| RatingCount { rating, counted };
        let length = |(plies, counted)| LengthCount { plies, counted };
        Ok(Self {
            all: charts.all,
            years: charts.years.into_iter().map(year).collect(),
            undated: charts.undated,
            rating_step: GameCharts::RATING_STEP,
            ratings: charts.ratings.into_iter().map(rating).collect(),
            unrated: charts.unrated,
            length_step: GameCharts::LENGTH_STEP,
            lengths: charts.lengths.into_iter().map(length).collect(),
        })
    }
}

/// Games by opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningList {
    /// Number of all games, including games without a named opening.
    pub games: u64,
    /// Number of different openings, including those that are not listed.
    pub count: usize,
    /// The openings with the most games, most games first.
    pub openings: Vec<OpeningShare>,
    /// Games without a named opening.
    pub unnamed: GameCounts,
}

/// An opening, and its games by result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningShare {
    /// ECO code, such as `B90`.
    pub eco: String,
    /// Name, such as `Sicilian Defense: Najdorf Variation`.
    pub name: String,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

impl OpeningList {
    /// Reads the openings of a selection's games, and lists at most `limit` openings. The positions of a game
    /// determine its opening.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, selection: &Selection, limit: usize) -> store::Result<Self> {
        let mut list = Self { games: 0, count: 0, openings: Vec::new(), unnamed: GameCounts::default() };
        for played in database.played_openings(selection)? {
            let counted = played.counted;
            list.games += counted.games;
            match played.eco.zip(played.name) {
                Some((eco, name)) => {
                    list.count += 1;
                    list.openings.push(OpeningShare { eco, name, counted });
                }
                None => list.unnamed = counted,
            }
        }
        list.openings.truncate(limit);
        Ok(list)
    }
}

/// The maximum number of names to compare with a text. Each comparison takes a few hundred nanoseconds.
const COMPARED: usize = 500_000;

/// Names that begin with a text, or have a word that begins with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundNames {
    /// The names: first those that begin with the text as typed or with its first letter as a capital, then
    /// the others.
    pub names: Vec<String>,
}

/// Finds at most `limit` names that begin with the text `typed`, or have a word that does. Every name matches
/// an empty text.
///
/// # Errors
/// Errors of SQLite.
pub fn find_names(database: &Database, named: Named, typed: &str, limit: usize) -> store::Result<FoundNames> {
    let mut names = Vec::new();
    let mut begin = typed.trim_start().to_owned();
    let mut letters = begin.chars();
    // Most names begin with a capital letter, but people often type a small one.
    if let Some(first) = letters.next() {
        begin = first.to_uppercase().chain(letters).collect();
    }
    for begin in [typed, begin.as_str()] {
        database.walk_names_from(named, begin, &mut |_, name| {
            let continues = name.starts_with(begin) && names.len() < limit;
            if continues && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
            continues
        })?;
    }
    let Ok(filter) = typed.parse::<NameFilter>() else { return Ok(FoundNames { names }) };
    if names.len() < limit {
        let mut left = COMPARED;
        database.walk_names(named, None, &mut |_, name| {
            if filter.matches(name) && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
            left -= 1;
            left > 0 && names.len() < limit
        })?;
    }
    Ok(FoundNames { names })
}

/// A page of the list of problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundProblems {
    /// The problems, in the order in which they were found.
    pub problems: Vec<FoundProblem>,
    /// Value of the parameter `cursor` for the next page; `null` if this is the last page. The next page can
    /// be empty.
    pub next_cursor: Option<String>,
}

impl FoundProblems {
    /// Reads a page of problems.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, page: &ProblemPage<'_>) -> store::Result<Self> {
        let problems = database.problem_page(page)?;
        let is_full = problems.len() >= page.limit as usize;
        let next_cursor = problems.last().filter(|_| is_full).map(|last| last.problem_id.to_string());
        Ok(Self { problems, next_cursor })
    }
}

/// 2^53: programs that store numbers as doubles read all integers up to this one exactly.
const EXACT: u64 = 1 << 53;

/// The limits of an answer to an SQL query.
#[derive(Clone, Copy, Debug)]
pub struct SqlLimits {
    /// The maximum number of rows.
    pub rows: usize,
    /// The approximate maximum size of the rows, in bytes. The size of a value is 8 bytes, plus the length of
    /// the string if it is a string.
    pub bytes: usize,
}

/// The rows that a query returned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SqlRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each an array with a value for each column: `null`, a number or a string. Integers beyond
    /// 2^53 and infinities are strings, because JSON or some programs cannot represent them. A blob is a
    /// string with its bytes in hexadecimal: `x'00ff'`.
    pub rows: Vec<Vec<Value>>,
    /// Whether the query has more rows than were returned.
    pub truncated: bool,
}

impl SqlRows {
    /// Runs one read-only statement.
    ///
    /// # Errors
    /// Those of [`Database::query`]; errors of SQLite.
    pub fn query(database: &Database, sql: &str, limits: SqlLimits) -> store::Result<Self> {
        let failed = |source| store::Error::sqlite(database.path(), "read a row", source);
        let mut query = database.query(sql)?;
        let columns = Vec::from_iter(query.columns().into_iter().map(str::to_owned));
        let mut answer = Self { columns, rows: Vec::new(), truncated: false };
        let mut bytes = 0;
        let mut rows = query.rows([])?;
        while let Some(row) = rows.next_row()? {
            if answer.rows.len() == limits.rows || bytes > limits.bytes {
                answer.truncated = true;
                break;
            }
            let mut cells = Vec::with_capacity(answer.columns.len());
            for column in 0..answer.columns.len() {
                let cell = value(row.get_ref(column).map_err(failed)?);
                bytes += 8 + cell.as_str().map_or(0, str::len);
                cells.push(cell);
            }
            answer.rows.push(cells);
        }
        Ok(answer)
    }
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) if number.unsigned_abs() > EXACT => number.to_string().into(),
        ValueRef::Integer(number) => number.into(),
        // JSON has no infinity.
        ValueRef::Real(number) => {
            serde_json::Number::from_f64(number).map_or_else(|| format!("{number:?}").into(), Value::Number)
        }
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}'").into()
        }
    }
}
