//! Runs a check: jobs that threads take one after the other, each thread with its own connection.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use rusqlite::{Connection, ErrorCode};

use crate::board::Position;
use crate::id::{GameId, OpeningId};
use crate::parallel::{self, lock};
use crate::store::row::StoredId;
use crate::store::{self, Cells, Database, OPENING, WrongCell};
use crate::verify::error::{Error, Result};
use crate::verify::file::structure::{self, MissingIds};
use crate::verify::finding::{Collector, FindingKind, RowId};
use crate::verify::options::{Sample, VerifyOptions};
use crate::verify::progress::Progress;
use crate::verify::report::Report;
use crate::verify::rows::checksum::Checksum;
use crate::verify::rows::duplicates::{DuplicateScan, Duplicates};
use crate::verify::rows::frequent_keys::ListedKeys;
use crate::verify::rows::games::{GameScan, Sums};
use crate::verify::rows::occurrences::{OccurrenceScan, find_missing, find_surplus, find_unlisted};
use crate::verify::rows::problems::{self, ProblemCounts, Problems};
use crate::verify::rows::visited_positions::{AT_ONCE, VisitedPositions};
use crate::verify::rows::{aliases, annotations, features, sets};
use crate::verify::source::packed;
use crate::verify::source::text::Sources;

/// State shared by all threads of a check.
pub(crate) struct Check<'a> {
    path: &'a Path,
    pub(crate) options: &'a VerifyOptions,
    pub(crate) progress: &'a Progress,
    pub(crate) findings: Collector,
    pub(crate) sources: Sources,
    pub(crate) duplicates: Duplicates,
    pub(crate) problems: Problems,
    pub(crate) start: Position,
    /// For each key, the numbers and FENs of the openings with this key.
    pub(crate) openings: HashMap<i64, Vec<(StoredId<OpeningId>, String)>>,
    pub(crate) threshold: Option<i64>,
    /// Which numbers may be missing. After several runs, a game may have a new number, because it was read
    /// again when its file had grown. Names that only this game used may be removed, or may remain.
    pub(crate) gone: MissingIds,
    games: u64,
    last_game: StoredId<GameId>,
    /// The numbers of the games to replay, if numbers are missing, so that the index of a game does not
    /// follow from its number.
    sampled: Option<HashSet<i64>>,
    /// Blocks that have sets of games.
    blocks: Vec<u32>,
    pub(crate) listed_keys: ListedKeys,
    /// Whether a thread failed, so that the others can stop.
    failed: AtomicBool,
}

/// The numbers of the games of a sample of `count` games.
fn sampled(connection: &Connection, sample: Sample, count: u64) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = connection.prepare("SELECT game_id FROM game ORDER BY game_id")?;
    let games = (0..).zip(statement.query_map([], |row| row.get(0))?);
    games.filter(|&(index, _)| sample.has(index, count)).map(|(_, game)| game).collect()
}

/// A part of the check that one thread does.
#[derive(Clone, Debug)]
enum Job {
    Integrity,
    Structure,
    Annotations,
    /// The chain of readings of a file, by its index.
    Source(usize),
    Games(RangeInclusive<StoredId<GameId>>),
    Keys(RangeInclusive<i64>),
    Duplicates(usize),
    /// The sets of a block of games.
    Sets(u32),
}

/// The results of the jobs.
#[derive(Default)]
struct Outcome {
    sums: Sums,
    occurrences: Checksum,
    distinct: u64,
    duplicates: u64,
    problems: ProblemCounts,
    /// Whether something could not be read, so that sums and totals cannot be compared.
    is_incomplete: bool,
}

/// Checks a database. Writes nothing.
///
/// # Errors
/// If the database cannot be read at all, is not a pgndex database, is written to meanwhile, or the check is
/// stopped. Problems of the database are not errors: they are in the report.
pub fn verify(path: &Path, options: &VerifyOptions, progress: &Progress) -> Result<Report> {
    let started = Instant::now();
    let database = Database::open_read_only(path)?;
    progress.listen(database.interrupt_handle());
    let connection = database.connection();
    let version = |connection: &Connection| -> Result<i64> {
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0));
        version.map_err(|source| store::Error::sqlite(path, "read the database", source).into())
    };
    let before = version(connection)?;
    let mut check = Check::new(path, options, progress);
    let report = check.run(connection)?;
    let openings = structure::openings(&database, &check.findings);
    check.guard("opening", RowId::default(), openings)?;
    if progress.is_stopped() {
        return Err(Error::Stopped);
    }
    if version(connection)? != before {
        return Err(Error::Changed { path: path.to_owned() });
    }
    let (sources_same, sources_other, notes) = check.sources.outcome(options.limit);
    let findings = check.findings.into_findings();
    Ok(Report { findings, sources_same, sources_other, notes, elapsed: started.elapsed(), ..report })
}

impl<'a> Check<'a> {
    fn new(path: &'a Path, options: &'a VerifyOptions, progress: &'a Progress) -> Self {
        Self {
            path,
            options,
            progress,
            findings: Collector::new(options.limit),
            sources: Sources::default(),
            duplicates: Duplicates::default(),
            problems: Problems::default(),
            start: Position::start(),
            openings: HashMap::new(),
            threshold: None,
            gone: MissingIds::Nothing,
            games: 0,
            last_game: StoredId::default(),
            sampled: None,
            blocks: Vec::new(),
            listed_keys: ListedKeys::default(),
            failed: AtomicBool::new(false),
        }
    }

    /// Whether a game is in the sample to replay.
    pub(crate) fn is_sampled(&self, game: StoredId<GameId>) -> bool {
        if let Some(sampled) = &self.sampled {
            return sampled.contains(&game.number());
        }
        let index = game.number().checked_sub(1).and_then(|index| u64::try_from(index).ok());
        index.is_some_and(|index| self.options.sample.has(index, self.games))
    }

    fn run(&mut self, connection: &Connection) -> Result<Report> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(self.options.threads.max(1))
            .thread_name(|index| format!("verify-{index}"))
            .build()
            .map_err(Error::Threads)?;
        let prepared = self.prepare(connection);
        let Some(visited_rows) = self.guard("sqlite_schema", RowId::default(), prepared)? else {
            // Not even the list of jobs can be read. SQLite reports the reason.
            self.guard(
                "file",
                RowId::default(),
                structure::integrity(connection, self.path, &self.findings),
            )?;
            return Ok(Report::default());
        };
        let duplicates = self.guard("duplicate", RowId::default(), Duplicates::read(connection))?;
        self.duplicates = duplicates.unwrap_or_default();
        let mut index = 0;
        let next = |check: &Self, after, index: &mut u64| {
            let next = VisitedPositions::next(connection, after, check.options.sample, index, visited_rows);
            Ok::<_, Error>(check.guard("visited_position", RowId::default(), next)?.unwrap_or_default())
        };
        let mut visited = next(self, None, &mut index)?;
        let outcome = self.work(&pool, &visited)?;
        self.conclude(&pool, connection, &outcome)?;
        let mut visited_positions = 0;
        loop {
            visited_positions += visited.len() as u64;
            if !outcome.is_incomplete {
                let compared = visited.compare(connection, &self.findings);
                self.guard("visited_position", RowId::default(), compared)?;
            }
            if visited.len() < AT_ONCE {
                break;
            }
            visited = next(self, visited.last_key(), &mut index)?;
            self.spread(&pool, &self.game_ranges(), |connection, range| {
                let scanned = GameScan::again(self, &visited).scan(connection, range);
                self.guard("game_position", at(range), scanned).map(drop)
            })?;
        }
        Ok(Report {
            games: outcome.sums.games,
            positions: outcome.sums.positions.rows(),
            replayed_games: outcome.sums.replayed_games,
            replayed_plies: outcome.sums.replayed_plies,
            reread_games: outcome.sums.reread_games,
            visited_positions,
            duplicates: outcome.duplicates,
            ..Report::default()
        })
    }

    /// Reads the data that all jobs need. Returns the number of visited positions.
    fn prepare(&mut self, connection: &Connection) -> rusqlite::Result<u64> {
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let count = |sql: &str| number(sql).map(|count| u64::try_from(count).unwrap_or(0));
        self.games = count("SELECT count(*) FROM game")?;
        self.gone = if count("SELECT count(*) FROM setting WHERE name = 'removed_games'")? > 0 {
            MissingIds::All
        } else if count("SELECT count(*) FROM import")? > 1 {
            MissingIds::Games
        } else {
            MissingIds::Nothing
        };
        self.last_game = number("SELECT ifnull(max(game_id), 0) FROM game")?.into();
        if self.options.sample != Sample::All && self.last_game.number() != self.games.cast_signed() {
            self.sampled = Some(sampled(connection, self.options.sample, self.games)?);
        }
        // The numbers are limited, because damaged rows of `import` can contain any values.
        let positions = count("SELECT CAST(min(total(positions), 1e18) AS INTEGER) FROM import")?;
        self.progress.expect(2 * positions);
        self.blocks = features::blocks(connection)?;
        self.listed_keys = ListedKeys::read(connection, &self.findings)?;
        self.sources = Sources::read(connection)?;
        self.problems = Problems::read(connection)?;
        self.threshold = structure::threshold(connection, &self.findings)?;
        structure::words(connection, &self.findings)?;
        let mut statement = connection.prepare("SELECT key, opening_id, fen FROM opening")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let cells = Cells::new(row, OPENING);
            self.openings.entry(cells.get(0)?).or_default().push((cells.get(1)?, cells.get(2)?));
        }
        count("SELECT count(*) FROM visited_position")
    }

    /// Does all jobs, which together read everything once.
    fn work(&self, pool: &ThreadPool, visited: &VisitedPositions) -> Result<Outcome> {
        let mut jobs = vec![Job::Integrity, Job::Structure, Job::Annotations];
        if self.options.sources {
            jobs.extend((0..self.sources.chains().len()).map(Job::Source));
        }
        jobs.extend(self.game_ranges().into_iter().map(Job::Games));
        jobs.extend(self.key_ranges().into_iter().map(Job::Keys));
        jobs.extend(self.duplicates.pieces().map(Job::Duplicates));
        if self.options.sample == Sample::All {
            jobs.extend(self.blocks.iter().copied().map(Job::Sets));
        }
        let outcome = Mutex::new(Outcome::default());
        self.spread(pool, &jobs, |connection, job| {
            let done = self.job(connection, job, visited, &outcome)?;
            lock(&outcome).is_incomplete |= !done;
            Ok(())
        })?;
        Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does one job. Returns whether all its data could be read.
    fn job(
        &self,
        connection: &Connection,
        job: &Job,
        visited: &VisitedPositions,
        outcome: &Mutex<Outcome>,
    ) -> Result<bool> {
        let whole = RowId::default;
        let done = match job {
            Job::Integrity => self
                .guard("file", whole(), structure::integrity(connection, self.path, &self.findings))?
                .is_some(),
            Job::Structure => self.structure(connection, outcome)?,
            Job::Annotations => {
                let checked = annotations::check(connection, &self.findings);
                self.guard("move_eval", RowId::default(), checked)?.is_some()
            }
            Job::Source(index) => self.source(connection, *index, outcome)?,
            Job::Games(range) => {
                let mut scan = GameScan::new(self, visited);
                let scanned = scan.scan(connection, range);
                lock(outcome).sums.absorb(&scan.sums);
                self.guard("game_position", at(range), scanned)?.is_some()
            }
            Job::Keys(range) => {
                let mut scan = OccurrenceScan::new(self, visited);
                let scanned = scan.scan(connection, range);
                let mut outcome = lock(outcome);
                outcome.occurrences.absorb(&scan.occurrences);
                outcome.distinct += scan.distinct;
                self.guard("position_game", RowId::new([("key", *range.start())]), scanned)?.is_some()
            }
            Job::Sets(block) => {
                let checked = features::check(connection, *block, &self.findings);
                self.guard(features::TABLE, RowId::new([("block", i64::from(*block))]), checked)?.is_some()
            }
            Job::Duplicates(piece) => {
                let mut scan = DuplicateScan::new(self);
                let scanned = scan.scan(connection, *piece);
                lock(outcome).duplicates += scan.seen;
                self.guard("duplicate", whole(), scanned)?.is_some()
            }
        };
        Ok(done)
    }

    /// Checks a source file. If the file must be decoded, also compares its games with it, in the same pass.
    fn source(&self, connection: &Connection, index: usize, outcome: &Mutex<Outcome>) -> Result<bool> {
        let chain = &self.sources.chains()[index];
        let finder = self.sources.finder();
        let Some(file) = chain.packed(finder) else {
            chain.check_file(finder, self.progress);
            return Ok(true);
        };
        let compared = packed::compare(self, connection, chain, file);
        let games = self.guard("game", RowId::default(), compared)?;
        lock(outcome).sums.reread_games += games.unwrap_or(0);
        Ok(games.is_some())
    }

    fn structure(&self, connection: &Connection, outcome: &Mutex<Outcome>) -> Result<bool> {
        let findings = &self.findings;
        structure::schema(connection, findings)?;
        let links = self.guard("game", RowId::default(), structure::links(connection, findings))?;
        let numbers =
            self.guard("game", RowId::default(), structure::numbers(connection, findings, self.gone))?;
        self.guard("removed_game", RowId::default(), structure::removed_games(connection, findings))?;
        let problems = self.guard("problem", RowId::default(), problems::check(connection, findings))?;
        self.guard("occurrence", RowId::default(), find_unlisted(connection, findings))?;
        self.guard("player_alias", RowId::default(), aliases::check(connection, findings))?;
        self.guard(features::TABLE, RowId::default(), features::check_blocks(connection, findings))?;
        let done = links.is_some() && numbers.is_some() && problems.is_some();
        lock(outcome).problems = problems.unwrap_or_default();
        Ok(done)
    }

    /// Compares the counts of all jobs, and searches for the rows that cause differences.
    fn conclude(&self, pool: &ThreadPool, connection: &Connection, outcome: &Outcome) -> Result<()> {
        if outcome.is_incomplete {
            return Ok(());
        }
        let findings = &self.findings;
        let differ = outcome.sums.positions.differences(&outcome.occurrences);
        if differ.contains(&true) {
            self.spread(pool, &self.game_ranges(), |connection, range| {
                let found = find_missing(connection, range, &differ, findings);
                self.guard("game_position", at(range), found).map(drop)
            })?;
            self.spread(pool, &self.key_ranges(), |connection, range| {
                let found = find_surplus(connection, range, &differ, findings);
                self.guard("position_game", RowId::new([("key", *range.start())]), found).map(drop)
            })?;
        }
        // A game that was read again may have left names behind.
        if self.gone != MissingIds::Games {
            self.guard("player", RowId::default(), structure::unused_names(connection, findings))?;
        }
        self.compare_sets(pool, connection)?;
        let Outcome { sums, distinct, problems, .. } = outcome;
        let totals = structure::totals(connection, findings, sums, *distinct, problems);
        self.guard("source", RowId::default(), totals).map(drop)
    }

    /// Compares columns of games, and the sets of games of a sample of the visited positions, with the rows
    /// from which they are built.
    fn compare_sets(&self, pool: &ThreadPool, connection: &Connection) -> Result<()> {
        const KEYS: usize = 64;
        let table = || RowId::default();
        let findings = &self.findings;
        let blocks = self.guard("game_column", table(), sets::blocks(connection))?.unwrap_or_default();
        self.spread(pool, &blocks, |connection, &block| {
            let compared = sets::compare_columns(connection, block, findings);
            self.guard("game_column", RowId::new([("block", block)]), compared).map(drop)
        })?;
        let keys =
            self.guard("visited_position", table(), sets::visited_keys(connection))?.unwrap_or_default();
        let is_sampled = |index: usize| self.options.sample.has(index as u64, keys.len() as u64);
        let sampled: Vec<i64> =
            (0..keys.len()).filter(|&index| is_sampled(index)).map(|index| keys[index]).collect();
        let parts: Vec<&[i64]> = sampled.chunks(KEYS).collect();
        self.spread(pool, &parts, |connection, keys| {
            keys.iter().try_for_each(|&key| {
                let compared = sets::compare_visits(connection, key, &blocks, findings);
                self.guard("visit_set", RowId::new([("key", key)]), compared).map(drop)
            })
        })
    }

    /// Ranges of games that together cover all possible numbers.
    fn game_ranges(&self) -> Vec<RangeInclusive<StoredId<GameId>>> {
        const MOST: i64 = 1 << 16;
        let last = self.last_game.number().clamp(1, i64::from(u32::MAX));
        let width = (last / MOST).max(256);
        let mut starts: Vec<i64> = (0..=last / width).map(|index| index * width + 1).collect();
        starts[0] = i64::MIN;
        let typed = |range: RangeInclusive<i64>| (*range.start()).into()..=(*range.end()).into();
        ranges(&starts).into_iter().map(typed).collect()
    }

    /// Ranges of keys that together cover all keys.
    fn key_ranges(&self) -> Vec<RangeInclusive<i64>> {
        let bits = if self.games > 1 << 16 { 10 } else { 6 };
        ranges(
            &(0..1 << bits).map(|part: i64| i64::MIN.wrapping_add(part << (64 - bits))).collect::<Vec<_>>(),
        )
    }

    /// Processes `items` on all threads, each with its own connection.
    fn spread<T: Sync>(
        &self,
        pool: &ThreadPool,
        items: &[T],
        work: impl Fn(&Connection, &T) -> Result<()> + Sync,
    ) -> Result<()> {
        self.spread_numbers(pool, items.len(), &|connection, index| work(connection, &items[index]))
    }

    fn spread_numbers(
        &self,
        pool: &ThreadPool,
        count: usize,
        work: &(dyn Fn(&Connection, usize) -> Result<()> + Sync),
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let thread = || {
            let database = Database::open_read_only(self.path)?;
            self.progress.listen(database.interrupt_handle());
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return Ok(());
                }
                if self.failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if self.progress.is_stopped() {
                    return Err(Error::Stopped);
                }
                work(database.connection(), index)?;
            }
        };
        let results = parallel::broadcast(pool, || {
            let result = thread();
            self.failed.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        });
        results.into_iter().collect()
    }

    /// Reports that data cannot be read, if the cause is in the database.
    fn guard<T>(&self, table: &'static str, row: RowId, result: rusqlite::Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.report(table, row, error).map(|()| None),
        }
    }

    fn report(&self, table: &'static str, row: RowId, error: rusqlite::Error) -> Result<()> {
        use rusqlite::Error as Sql;
        let is_damage = match &error {
            Sql::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::OperationInterrupted => return Err(Error::Stopped),
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => true,
                ErrorCode::SystemIoFailure => failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ,
                // A table or column is missing.
                _ => failure.extended_code == rusqlite::ffi::SQLITE_ERROR,
            },
            Sql::SqlInputError { .. } => true,
            Sql::InvalidColumnType(..)
            | Sql::FromSqlConversionFailure(..)
            | Sql::IntegralValueOutOfRange(..)
            | Sql::Utf8Error(..) => true,
            _ => false,
        };
        if !is_damage {
            return Err(store::Error::sqlite(self.path, "read the database", error).into());
        }
        match WrongCell::from_error(&error) {
            Some(cell) => {
                let found = format!("cannot be read from here on: {cell}");
                self.findings.about(FindingKind::Unreadable, cell.table, RowId::default(), found);
            }
            None => {
                let found = format!("cannot be read from here on: {error}");
                self.findings.about(FindingKind::Unreadable, table, row, found);
            }
        }
        Ok(())
    }
}

/// The start of a range of games.
fn at(range: &RangeInclusive<StoredId<GameId>>) -> RowId {
    RowId::game((*range.start()).max(StoredId::from(1)))
}

/// The ranges from each start to the next.
fn ranges(starts: &[i64]) -> Vec<RangeInclusive<i64>> {
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([i64::MAX]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..=end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_every_number_once() {
        let (options, progress) = (VerifyOptions::default(), Progress::default());
        let mut check = Check::new(Path::new("x.db"), &options, &progress);
        for last_game in [0, 1, 256, 257, 40_000, 1 << 40, i64::MAX] {
            check.last_game = last_game.into();
            let numbers =
                |range: &RangeInclusive<StoredId<GameId>>| range.start().number()..=range.end().number();
            for ranges in [check.game_ranges().iter().map(numbers).collect(), check.key_ranges()] {
                assert_eq!((*ranges[0].start(), *ranges[ranges.len() - 1].end()), (i64::MIN, i64::MAX));
                assert!(ranges.windows(2).all(|pair| pair[0].end() + 1 == *pair[1].start()));
                assert!(ranges.iter().all(|range| !range.is_empty()));
            }
        }
    }
}
