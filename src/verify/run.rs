//! Divides a check into jobs, and runs them. Each thread does one job after another, with its own connection.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use rusqlite::Connection;

use crate::id::GameId;
use crate::parallel::{into_inner, lock};
use crate::store::read::occurrence::visit::levels;
use crate::store::row::StoredId;
use crate::store::{self, Cells, Database, OPENING};
use crate::verify::rows::{
    AT_ONCE, Checksum, DuplicateScan, GameScan, LevelKey, OccurrenceScan, ProblemCounts, Problems, Sums,
    VisitedPositions, annotations, find_missing, find_surplus, find_unlisted, for_each_row, problems, sets,
    visited_row,
};
use crate::verify::source::{Sources, packed};
use crate::verify::{
    Check, Duplicates, Error, MissingIds, Progress, Report, Result, RowId, Sample, VerifyOptions,
    constraints, file,
};

/// A part of the check that one thread does.
#[derive(Clone, Debug)]
enum Job {
    Integrity,
    Structure,
    Annotations,
    /// All readings of a file, as an index of `Sources::chains`.
    Source(usize),
    Games([StoredId<GameId>; 2]),
    Keys([i64; 2]),
    Duplicates(usize),
    /// The rows of `game_set` for a block of games.
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

/// The ids of the games in a sample; `count` is the number of all games.
fn sampled(connection: &Connection, sample: Sample, count: u64) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = connection.prepare("SELECT game_id FROM game ORDER BY game_id")?;
    let games = (0..).zip(statement.query_map([], |row| row.get(0))?);
    games.filter(|&(index, _)| sample.has(index, count)).map(|(_, game)| game).collect()
}

/// Checks a database. Writes nothing.
///
/// # Errors
/// If the database cannot be read at all, is not a pgndex database, or is written to during the check. If the
/// worker threads cannot be started, or the check is stopped. Damage to the database is not an error: the
/// report describes it.
pub fn verify(path: &Path, options: &VerifyOptions, progress: &Progress) -> Result<Report> {
    let started = Instant::now();
    let database = Database::open_read_only(path)?;
    progress.watch(database.connection());
    let connection = database.connection();
    let version = |connection: &Connection| -> Result<i64> {
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0));
        version.map_err(|source| store::Error::sqlite(path, "read the database", source).into())
    };
    let before = version(connection)?;
    let mut check = Check::new(path, options, progress);
    let report = check.run(connection)?;
    let openings = file::openings(&database, &check.findings);
    check.guard_table("opening", openings)?;
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

impl Check<'_> {
    fn run(&mut self, connection: &Connection) -> Result<Report> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(self.options.threads.max(1))
            .thread_name(|index| format!("verify-{index}"))
            .build()
            .map_err(Error::Threads)?;
        let prepared = self.prepare(connection);
        let Some(visited_rows) = self.guard_table("sqlite_schema", prepared)? else {
            // Not even the data that all jobs need can be read. SQLite's own check reports the reason.
            self.guard_table("file", file::integrity(self.reader(connection), self.path))?;
            return Ok(Report::default());
        };
        let duplicates = self.guard_table("duplicate", Duplicates::read(connection))?;
        self.duplicates = duplicates.unwrap_or_default();
        let mut index = 0;
        let next = |check: &Self, after, index: &mut u64| {
            let next = VisitedPositions::next(connection, after, check.options.sample, index, visited_rows);
            Ok::<_, Error>(check.guard_table("level_position", next)?.unwrap_or_default())
        };
        let mut visited = next(self, None, &mut index)?;
        let outcome = self.work(&pool, &visited)?;
        self.conclude(&pool, connection, &outcome)?;
        let mut visited_positions = 0;
        loop {
            visited_positions += visited.len() as u64;
            if !outcome.is_incomplete {
                let compared = visited.compare(self.reader(connection));
                self.guard_table("level_position", compared)?;
            }
            if visited.len() < AT_ONCE {
                break;
            }
            visited = next(self, visited.last(), &mut index)?;
            self.spread(&pool, &self.game_ranges(), |connection, range| {
                let scanned = GameScan::again(self, &visited).scan(connection, *range);
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

    /// Reads the data that all jobs need. Returns the number of rows of `level_position`.
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
        // The total is limited, because damaged rows of `import` can contain any values.
        let positions = count("SELECT CAST(min(total(positions), 1e18) AS INTEGER) FROM import")?;
        self.blocks = sets::feature_blocks(connection)?;
        self.levels = levels(connection)?;
        self.sources = Sources::read(connection)?;
        self.problems = Problems::read(connection)?;
        self.threshold = file::threshold(self.reader(connection))?;
        file::settings(self.reader(connection))?;
        for_each_row(connection, "SELECT key, opening_id, fen FROM opening", [], &mut |row| {
            let cells = Cells::new(row, OPENING);
            self.openings.entry(cells.get(0)?).or_default().push((cells.get(1)?, cells.get(2)?));
            Ok(())
        })?;
        let visited = count("SELECT count(*) FROM level_position")?;
        let visits =
            count("SELECT CAST(min(total(games + unfinished), 1e18) AS INTEGER) FROM level_position")?;
        let (passes, sampled) = match self.options.sample {
            Sample::All => (3, visited),
            Sample::Some(most) => (2, visited.min(most.into())),
        };
        // All positions are read twice, and with `Sample::All` once more for the sets of features. Each
        // further part of the visited positions needs another pass.
        let rows = (passes + sampled / AT_ONCE as u64).saturating_mul(positions);
        let visits = u128::from(visits) * u128::from(sampled) / u128::from(visited.max(1));
        self.progress.expect_rows(rows.saturating_add(visits as u64));
        Ok(visited)
    }

    /// Does all jobs. Together they read everything once.
    fn work(&self, pool: &ThreadPool, visited: &VisitedPositions) -> Result<Outcome> {
        let mut jobs = vec![Job::Integrity, Job::Structure, Job::Annotations];
        if self.options.sources {
            jobs.extend((0..self.sources.chains.len()).map(Job::Source));
        }
        jobs.extend(self.game_ranges().into_iter().map(Job::Games));
        jobs.extend(self.key_ranges().into_iter().map(Job::Keys));
        jobs.extend((0..self.duplicates.starts.len()).map(Job::Duplicates));
        if self.options.sample == Sample::All {
            jobs.extend(self.blocks.iter().copied().map(Job::Sets));
        }
        let outcome = Mutex::new(Outcome::default());
        self.spread(pool, &jobs, |connection, job| {
            let done = self.job(connection, job, visited, &outcome)?;
            lock(&outcome).is_incomplete |= !done;
            Ok(())
        })?;
        Ok(into_inner(outcome))
    }

    /// Does one job. Returns whether all its data could be read.
    fn job(
        &self,
        connection: &Connection,
        job: &Job,
        visited: &VisitedPositions,
        outcome: &Mutex<Outcome>,
    ) -> Result<bool> {
        let done = match job {
            Job::Integrity => {
                self.guard_table("file", file::integrity(self.reader(connection), self.path))?.is_some()
            }
            Job::Structure => self.structure(connection, outcome)?,
            Job::Annotations => {
                let checked = annotations::check(self.reader(connection));
                self.guard_table("move_eval", checked)?.is_some()
            }
            Job::Source(index) => self.source(connection, *index, outcome)?,
            Job::Games(range) => {
                let mut scan = GameScan::new(self, visited);
                let scanned = scan.scan(connection, *range);
                lock(outcome).sums.absorb(&scan.sums);
                self.guard("game_position", at(range), scanned)?.is_some()
            }
            Job::Keys(range) => {
                let mut scan = OccurrenceScan::new(self, visited);
                let scanned = scan.scan(connection, *range);
                let mut outcome = lock(outcome);
                outcome.occurrences.absorb(&scan.occurrences);
                outcome.distinct += scan.distinct;
                self.guard("position_game", RowId::new([("key", range[0])]), scanned)?.is_some()
            }
            Job::Sets(block) => {
                let checked = sets::compare_features(self.reader(connection), *block, self.progress);
                self.guard(sets::FEATURES, RowId::new([("block", i64::from(*block))]), checked)?.is_some()
            }
            Job::Duplicates(piece) => {
                let mut scan = DuplicateScan::new(self);
                let scanned = scan.scan(connection, *piece);
                lock(outcome).duplicates += scan.seen;
                self.guard_table("duplicate", scanned)?.is_some()
            }
        };
        Ok(done)
    }

    /// Checks a source file. If the file must be decoded, also compares the games with the text in the same
    /// pass. Returns whether the games could be read.
    fn source(&self, connection: &Connection, index: usize, outcome: &Mutex<Outcome>) -> Result<bool> {
        let chain = &self.sources.chains[index];
        let finder = &self.sources.finder;
        let Some(file) = chain.packed(finder) else {
            chain.check_file(finder, self.progress);
            return Ok(true);
        };
        let compared = packed::compare(self, connection, chain, file);
        let games = self.guard_table("game", compared)?;
        lock(outcome).sums.reread_games += games.unwrap_or(0);
        Ok(games.is_some())
    }

    fn structure(&self, connection: &Connection, outcome: &Mutex<Outcome>) -> Result<bool> {
        let reader = self.reader(connection);
        let schema = file::schema(reader)?;
        let links = self.guard_table("game", file::links(reader))?;
        let numbers = self.guard_table("game", file::numbers(reader, self.gone))?;
        self.guard_table("removed_game", file::removed_games(reader))?;
        self.guard_table("setting", file::removed_settings(reader, self.gone))?;
        let problems = self.guard_table("problem", problems::check(reader))?;
        self.guard_table("occurrence", find_unlisted(reader))?;
        self.guard_table("deleted_game", sets::find_deleted(reader))?;
        self.guard_table("player_alias", annotations::check_aliases(reader))?;
        for table in constraints::CONSTRAINED {
            self.guard_table(table.name, constraints::check(reader, &schema, table))?;
        }
        let done = links.is_some() && numbers.is_some() && problems.is_some();
        lock(outcome).problems = problems.unwrap_or_default();
        Ok(done)
    }

    /// Compares the counts of the jobs, searches for the rows that cause differences, and compares sets and
    /// totals. Does nothing if the jobs could not read everything.
    fn conclude(&self, pool: &ThreadPool, connection: &Connection, outcome: &Outcome) -> Result<()> {
        if outcome.is_incomplete {
            return Ok(());
        }
        let differ = outcome.sums.positions.differences(&outcome.occurrences);
        if differ.contains(&true) {
            self.spread(pool, &self.game_ranges(), |connection, range| {
                let found = find_missing(self.reader(connection), *range, &differ);
                self.guard("game_position", at(range), found).map(drop)
            })?;
            self.spread(pool, &self.key_ranges(), |connection, range| {
                let found = find_surplus(self.reader(connection), *range, &differ);
                self.guard("position_game", RowId::new([("key", range[0])]), found).map(drop)
            })?;
        }
        // After games were read again, names that only their earlier versions used can remain.
        if self.gone != MissingIds::Games {
            self.guard_table("player", file::unused_names(self.reader(connection)))?;
        }
        self.compare_sets(pool, connection)?;
        let Outcome { sums, distinct, problems, .. } = outcome;
        // Removing games does not change the stored number of distinct positions. If there are several
        // levels, `distinct` counts a position once for each level that has it.
        let is_comparable = self.gone == MissingIds::Nothing && self.levels.len() == 1;
        let distinct = is_comparable.then_some(*distinct);
        let totals = file::totals(self.reader(connection), sums, distinct, problems);
        self.guard_table("source", totals).map(drop)
    }

    /// Compares the rows of `game_column` with the rows of `game` that they copy. For a sample of the rows of
    /// `level_position`, also compares the visit sets with the games that reached the position.
    fn compare_sets(&self, pool: &ThreadPool, connection: &Connection) -> Result<()> {
        const KEYS: usize = 64;
        let blocks = self.guard_table("game_column", sets::blocks(connection))?.unwrap_or_default();
        self.spread(pool, &blocks, |connection, &block| {
            let compared = sets::compare_columns(self.reader(connection), block);
            self.guard("game_column", RowId::new([("block", block)]), compared).map(drop)
        })?;
        let keys = self.guard_table("level_position", sets::visited_keys(connection))?.unwrap_or_default();
        let is_sampled = |index: usize| self.options.sample.has(index as u64, keys.len() as u64);
        let sampled: Vec<LevelKey> =
            (0..keys.len()).filter(|&index| is_sampled(index)).map(|index| keys[index]).collect();
        let parts: Vec<&[LevelKey]> = sampled.chunks(KEYS).collect();
        self.spread(pool, &parts, |connection, keys| {
            keys.iter().try_for_each(|&key| {
                let compared = sets::compare_visits(self.reader(connection), key, &blocks);
                let visits = self.guard("visit_set", visited_row(key.0, key.1), compared)?;
                self.progress.add_rows(visits.unwrap_or_default());
                Ok(())
            })
        })
    }
}

/// Identifies the first game of a range.
fn at(range: &[StoredId<GameId>; 2]) -> RowId {
    RowId::game(range[0].max(StoredId::from(1)))
}
