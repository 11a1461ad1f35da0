//! Checks `occurrence`: scans it once together with `visited_position`, and searches for differences from
//! `game_position`.

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows, params};

use crate::id::{GameId, Ply};
use crate::store::frequent_keys::may_be_delayed;
use crate::store::row::StoredId;
use crate::verify::FindingKind::{MissingRow, SurplusRow, WrongCount, WrongValue};
use crate::verify::rows::{Checksum, Reader, VisitedPositions, for_each_row, report_shared, shown};
use crate::verify::{Check, RowId};

/// Scans ranges of keys. Each thread has its own scan.
pub(crate) struct OccurrenceScan<'c> {
    check: &'c Check<'c>,
    /// Positions whose counts the scan of games checks, so that this scan need not check them.
    visited: &'c VisitedPositions,
    pub(crate) occurrences: Checksum,
    pub(crate) distinct: u64,
}

/// A row of `position_game`.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    key: i64,
    game: StoredId<GameId>,
    ply: StoredId<Ply>,
}

impl Occurrence {
    /// Reads key, game and ply from the first three columns of a query's row.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { key: row.get(0)?, game: row.get(1)?, ply: row.get(2)? })
    }

    fn id(self) -> RowId {
        RowId::new([("key", self.key)]).and("game_id", self.game).and("ply", self.ply)
    }
}

/// The counts for one key.
#[derive(Clone, Copy, Debug)]
struct Run {
    key: i64,
    games: i64,
    game: StoredId<GameId>,
    /// The level of the latest row, and the number of games so far that reached the key in this level.
    level: (i64, i64),
    /// The greatest number of games in one level.
    most_in_level: i64,
}

impl Run {
    fn new(key: i64, game: StoredId<GameId>, level: i64) -> Self {
        Self { key, games: 1, game, level: (level, 1), most_in_level: 1 }
    }

    fn observe(&mut self, game: StoredId<GameId>, level: i64) {
        let is_new = i64::from(self.game != game);
        let before = if self.level.0 == level { self.level.1 } else { 0 };
        self.games += is_new;
        self.level = (level, before + is_new);
        self.most_in_level = self.most_in_level.max(self.level.1);
        self.game = game;
    }

    /// Whether the key's position must have a row in `visited_position`. If rows can be
    /// [delayed](may_be_delayed), the games of a single level must reach the threshold.
    fn has_many(&self, threshold: i64) -> bool {
        let may_be_delayed = u32::try_from(threshold).is_ok_and(may_be_delayed);
        (if may_be_delayed { self.most_in_level } else { self.games }) >= threshold
    }
}

impl<'c> OccurrenceScan<'c> {
    pub(crate) fn new(check: &'c Check<'c>, visited: &'c VisitedPositions) -> Self {
        Self { check, visited, occurrences: Checksum::default(), distinct: 0 }
    }

    pub(crate) fn scan(&mut self, connection: &Connection, range: [i64; 2]) -> rusqlite::Result<()> {
        const REPORT_INTERVAL: u64 = 1 << 14;
        let mut statement = connection.prepare_cached(rows_of_keys(connection)?)?;
        let mut rows = statement.query(range)?;
        let mut statement = connection.prepare_cached(
            "SELECT key, games + unfinished FROM visited_position WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
        )?;
        let mut visited = statement.query(range)?;
        visited.advance()?;
        let (mut run, mut told) = (None::<Run>, 0);
        let (findings, listed_keys) = (&self.check.findings, &self.check.listed_keys);
        // The key, the level, and the number of consecutive rows with both.
        let mut in_level = (0, 0, 0);
        while let Some(row) = rows.next()? {
            let occurrence = Occurrence::read(row)?;
            let Occurrence { key, game, ply } = occurrence;
            self.occurrences.add(key, game, ply);
            if row.get::<_, Option<bool>>(3)? == Some(true) {
                let found = "the game does not belong to the level of this row";
                findings.about(WrongValue, "occurrence", occurrence.id(), found);
            }
            let level = row.get(4)?;
            if (in_level.0, in_level.1) == (key, level) {
                in_level.2 += 1;
            } else {
                listed_keys.check(in_level.1, in_level.0, in_level.2, findings);
                in_level = (key, level, 1);
            }
            match &mut run {
                Some(run) if run.key == key => run.observe(game, level),
                _ => {
                    if let Some(ended) = run.replace(Run::new(key, game, level)) {
                        self.end_key(connection, ended, &mut visited)?;
                    }
                }
            }
            told += 1;
            if told == REPORT_INTERVAL {
                self.check.progress.add_rows(std::mem::take(&mut told));
                if self.check.progress.is_stopped() {
                    return Ok(());
                }
            }
        }
        self.check.progress.add_rows(told);
        listed_keys.check(in_level.1, in_level.0, in_level.2, findings);
        if let Some(ended) = run {
            self.end_key(connection, ended, &mut visited)?;
        }
        while let Some(row) = visited.get() {
            self.unvisited(row.get(0)?);
            visited.advance()?;
        }
        Ok(())
    }

    /// Compares the number of games counted for a key with the key's row of `visited_position`.
    fn end_key(&mut self, connection: &Connection, run: Run, visited: &mut Rows<'_>) -> rusqlite::Result<()> {
        self.distinct += 1;
        while let Some(row) = visited.get() {
            let (key, games): (i64, i64) = (row.get(0)?, row.get(1)?);
            if key > run.key {
                break;
            }
            visited.advance()?;
            if key < run.key {
                self.unvisited(key);
                continue;
            }
            let few = self.check.threshold.is_some_and(|threshold| run.games < threshold);
            let id = RowId::new([("key", key)]);
            let findings = &self.check.findings;
            if few {
                let found = format!("too few games reached the position: {}", run.games);
                findings.about(SurplusRow, "visited_position", id, found);
            } else if games != run.games && !self.visited.has(key) {
                if is_shared(connection, key)? {
                    report_shared(findings, key);
                } else {
                    let column = "games + unfinished";
                    findings.wrong(WrongCount, "visited_position", id, column, run.games, games);
                }
            }
            return Ok(());
        }
        let many = self.check.threshold.is_some_and(|threshold| run.has_many(threshold));
        if many && !is_shared(connection, run.key)? {
            let found =
                format!("the row is missing; number of games that reached the position: {}", run.games);
            let id = RowId::new([("key", run.key)]);
            self.check.findings.about(MissingRow, "visited_position", id, found);
        }
        Ok(())
    }

    fn unvisited(&self, key: i64) {
        let id = RowId::new([("key", key)]);
        let found = "no row of position_game has this key";
        self.check.findings.about(SurplusRow, "visited_position", id, found);
    }
}

/// The query for the rows in a range of keys. Its fourth column says whether a row is in the level of other
/// games; its fifth column is the level.
fn rows_of_keys(connection: &Connection) -> rusqlite::Result<&'static str> {
    let sql = "SELECT count(*) = 1 FROM occurrence_level";
    let has_one_level = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(if has_one_level {
        // With one level, the rows need no sorting.
        "SELECT key, game_id, ply, game_id < level, level FROM occurrence
         WHERE level = (SELECT level FROM occurrence_level) AND key BETWEEN ?1 AND ?2 ORDER BY key, game_id, ply"
    } else {
        "SELECT o.key, o.game_id, o.ply, o.game_id < l.level OR o.game_id >= l.next, o.level
         FROM (SELECT level, lead(level) OVER (ORDER BY level) AS next FROM occurrence_level) AS l
         CROSS JOIN occurrence AS o ON o.level = l.level
         WHERE o.key BETWEEN ?1 AND ?2 ORDER BY o.key, o.game_id, o.ply"
    })
}

/// Whether two positions share a key.
fn is_shared(connection: &Connection, key: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT count(DISTINCT p.fen) > 1 FROM position_game AS o
               JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply WHERE o.key = ?1";
    connection.prepare_cached(sql)?.query_row([key], |row| row.get(0))
}

/// Reports rows of `game_position` that are missing in `position_game`, among games of the groups for which
/// `differ` is true.
pub(crate) fn find_missing(
    reader: Reader<'_>,
    range: [StoredId<GameId>; 2],
    differ: &[bool],
) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let sql = "SELECT EXISTS (SELECT 1 FROM position_game WHERE key = ?1 AND game_id = ?2 AND ply = ?3)";
    let mut other = connection.prepare_cached(sql)?;
    let sql = "SELECT game_id, ply, key FROM game_position WHERE game_id BETWEEN ?1 AND ?2";
    for_each_row(connection, sql, range, &mut |row| {
        // A value that is not a number has been reported.
        let Ok(key) = row.get::<_, i64>(2) else { return Ok(()) };
        let occurrence = Occurrence { key, game: row.get(0)?, ply: row.get(1)? };
        let Occurrence { game, ply, .. } = occurrence;
        if differ[Checksum::group(game)] && !other.query_row(params![key, game, ply], |row| row.get(0))? {
            let found = "the row is missing, but game_position has the position";
            findings.about(MissingRow, "position_game", occurrence.id(), found);
        }
        Ok(())
    })
}

/// Reports rows of `position_game` that are missing in `game_position`, among games of the groups for which
/// `differ` is true.
pub(crate) fn find_surplus(reader: Reader<'_>, range: [i64; 2], differ: &[bool]) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    let sql = "SELECT key FROM game_position WHERE game_id = ?1 AND ply = ?2";
    let mut other = connection.prepare_cached(sql)?;
    let sql = "SELECT key, game_id, ply FROM position_game WHERE key BETWEEN ?1 AND ?2";
    for_each_row(connection, sql, range, &mut |row| {
        let occurrence = Occurrence::read(row)?;
        let Occurrence { key, game, ply } = occurrence;
        if !differ[Checksum::group(game)] {
            return Ok(());
        }
        let found =
            match other.query_row(params![game, ply], |row| Ok(row.get::<_, i64>(0).ok())).optional()? {
                Some(Some(other)) if other == key => return Ok(()),
                Some(other) => format!("game_position has the key {} at this ply", shown(other)),
                None => "game_position has no such row".to_owned(),
            };
        findings.about(SurplusRow, "position_game", occurrence.id(), found);
        Ok(())
    })
}
