//! The state that all threads of a check share, and how they divide its work.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::ThreadPool;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode};

use crate::board::Position;
use crate::id::{GameId, Level, OpeningId, SourceId};
use crate::parallel;
use crate::store::row::StoredId;
use crate::store::{self, Database, WrongCell};
use crate::verify::FindingKind::Unreadable;
use crate::verify::rows::{Problems, Reader, for_each_row};
use crate::verify::source::Sources;
use crate::verify::{Collector, Error, Progress, Result, RowId, VerifyOptions};

/// State shared by all threads of a check.
pub(crate) struct Check<'a> {
    pub(super) path: &'a Path,
    pub(crate) options: &'a VerifyOptions,
    pub(crate) progress: &'a Progress,
    pub(crate) findings: Collector,
    pub(crate) sources: Sources,
    pub(crate) duplicates: Duplicates,
    pub(crate) problems: Problems,
    /// For each key, the ids and FENs of the openings with this key.
    pub(crate) openings: HashMap<i64, Vec<(StoredId<OpeningId>, String)>>,
    pub(crate) threshold: Option<i64>,
    /// Which ids can be missing. If a file has grown, its last game is possibly read again and gets a new id.
    /// Names that only the old version of the game used can then be missing too.
    pub(crate) gone: MissingIds,
    pub(super) games: u64,
    pub(super) last_game: StoredId<GameId>,
    /// The ids of the games to replay, if only a sample is replayed and ids are missing. Otherwise `None`:
    /// all games are replayed, or the index of a game follows from its id.
    pub(super) sampled: Option<HashSet<i64>>,
    /// Blocks that have sets of games.
    pub(super) blocks: Vec<u32>,
    pub(crate) levels: Vec<Level>,
    /// Whether a thread failed, so that the others can stop.
    failed: AtomicBool,
}

/// Which rows can have been removed, so that ids are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingIds {
    Nothing,
    /// Games that were read again, and names that only these games used.
    Games,
    /// Games, sources and names, because the user removed games.
    All,
}

/// The rows of `duplicate`, divided into pieces.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    pub(crate) count: u64,
    /// The first key of each piece.
    pub(crate) starts: Vec<[Value; 2]>,
    /// For each source with rows, the number of rows of the table before the source's first row.
    pub(crate) before: HashMap<StoredId<SourceId>, u64>,
}

impl Duplicates {
    /// The number of rows per piece.
    pub(crate) const PIECE: u64 = 4096;

    /// Finds where the pieces begin.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut duplicates = Self::default();
        let sql = "SELECT source_id, byte_offset FROM duplicate ORDER BY source_id, byte_offset";
        for_each_row(connection, sql, [], &mut |row| {
            if duplicates.count.is_multiple_of(Self::PIECE) {
                duplicates.starts.push([row.get(0)?, row.get(1)?]);
            }
            if let Ok(source) = row.get(0) {
                duplicates.before.entry(source).or_insert(duplicates.count);
            }
            duplicates.count += 1;
            Ok(())
        })?;
        Ok(duplicates)
    }
}

impl<'a> Check<'a> {
    pub(super) fn new(path: &'a Path, options: &'a VerifyOptions, progress: &'a Progress) -> Self {
        Self {
            path,
            options,
            progress,
            findings: Collector::new(options.limit),
            sources: Sources::default(),
            duplicates: Duplicates::default(),
            problems: Problems::default(),
            openings: HashMap::new(),
            threshold: None,
            gone: MissingIds::Nothing,
            games: 0,
            last_game: StoredId::default(),
            sampled: None,
            blocks: Vec::new(),
            levels: Vec::new(),
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

    /// The id of the opening that the table `opening` lists for this position.
    pub(crate) fn opening_of(&self, position: &Position) -> Option<StoredId<OpeningId>> {
        let named = self.openings.get(&position.key().as_i64())?;
        let fen = position.canonical_fen();
        named.iter().find(|(_, named)| *named == fen).map(|&(opening, _)| opening)
    }

    /// Ranges of games that together cover all possible ids: the first and the last game of each.
    pub(super) fn game_ranges(&self) -> Vec<[StoredId<GameId>; 2]> {
        const MOST: i64 = 1 << 16;
        let last = self.last_game.number().clamp(1, i64::from(u32::MAX));
        let width = (last / MOST).max(256);
        let mut starts: Vec<i64> = (0..=last / width).map(|index| index * width + 1).collect();
        starts[0] = i64::MIN;
        ranges(&starts).into_iter().map(|range| range.map(StoredId::from)).collect()
    }

    /// Ranges of keys that together cover all keys: the first and the last key of each.
    pub(super) fn key_ranges(&self) -> Vec<[i64; 2]> {
        let bits = if self.games > 1 << 16 { 10 } else { 6 };
        let start = |part: i64| i64::MIN.wrapping_add(part << (64 - bits));
        ranges(&(0..1 << bits).map(start).collect::<Vec<_>>())
    }

    /// Processes `items` on all threads. Each thread has its own connection.
    pub(super) fn spread<T: Sync>(
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
            self.progress.watch(database.connection());
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count || self.failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if self.progress.is_stopped() {
                    return Err(Error::Stopped);
                }
                // In a transaction, SQLite does not lock the file for each of the many small queries. Most
                // transactions are short, so they hardly delay a program that writes.
                let transaction = database.connection().unchecked_transaction();
                let _transaction = transaction
                    .map_err(|source| store::Error::sqlite(self.path, "read the database", source))?;
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

    pub(crate) fn reader<'r>(&'r self, connection: &'r Connection) -> Reader<'r> {
        Reader { connection, findings: &self.findings }
    }

    /// The value of `result`. If `result` is an error because the database is damaged, reports that the data
    /// from `row` on cannot be read, and returns `None`. Other errors end the check.
    pub(super) fn guard<T>(
        &self,
        table: &'static str,
        row: RowId,
        result: rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.report(table, row, error).map(|()| None),
        }
    }

    /// Like [`guard`](Self::guard), for a table as a whole.
    pub(super) fn guard_table<T>(
        &self,
        table: &'static str,
        result: rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.guard(table, RowId::default(), result)
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
            Sql::SqlInputError { .. }
            | Sql::InvalidColumnType(..)
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
                let found = format!("a row and the rows after it cannot be read: {cell}");
                self.findings.about(Unreadable, cell.table, RowId::default(), found);
            }
            None => {
                let found = match (table, row.0.is_empty()) {
                    ("file", _) => format!("the integrity check stopped: {error}"),
                    (_, true) => format!("cannot be read: {error}"),
                    (_, false) => format!("this row and the rows after it cannot be read: {error}"),
                };
                self.findings.about(Unreadable, table, row, found);
            }
        }
        Ok(())
    }
}

/// The ranges that begin at `starts`: each ends just before the next start, the last one at the greatest
/// number.
fn ranges(starts: &[i64]) -> Vec<[i64; 2]> {
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([i64::MAX]);
    starts.iter().copied().zip(ends).map(|(start, end)| [start, end]).collect()
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
            let numbers = |range: [StoredId<GameId>; 2]| range.map(|game| game.number());
            for ranges in [check.game_ranges().into_iter().map(numbers).collect(), check.key_ranges()] {
                assert_eq!((ranges[0][0], ranges[ranges.len() - 1][1]), (i64::MIN, i64::MAX));
                assert!(ranges.windows(2).all(|pair| pair[0][1] + 1 == pair[1][0]));
                assert!(ranges.iter().all(|[first, last]| first <= last));
            }
        }
    }
}
