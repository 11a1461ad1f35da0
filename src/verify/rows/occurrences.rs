//! Checks `occurrence`: scans it once together with `level_position`, and searches for differences from
//! `game_position`.

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows, params};

use crate::id::{GameId, Ply};
use crate::store::row::StoredId;
use crate::verify::FindingKind::{MissingRow, SurplusRow, WrongCount, WrongValue};
use crate::verify::rows::{
    Checksum, Reader, VisitedPositions, for_each_row, report_shared, shown, visited_row,
};
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

/// A key, and the number of games of a level that reached a position with this key.
#[derive(Clone, Copy, Debug)]
struct Run {
    key: i64,
    games: i64,
    /// The game counted last.
    game: StoredId<GameId>,
}

impl<'c> OccurrenceScan<'c> {
    pub(crate) fn new(check: &'c Check<'c>, visited: &'c VisitedPositions) -> Self {
        Self { check, visited, occurrences: Checksum::default(), distinct: 0 }
    }

    pub(crate) fn scan(&mut self, connection: &Connection, range: [i64; 2]) -> rusqlite::Result<()> {
        let levels = &self.check.levels;
        for (index, level) in levels.iter().enumerate() {
            let next = levels.get(index + 1).map_or(i64::MAX, |next| next.0.into());
            self.scan_level(connection, (level.0.into(), next), range)?;
        }
        Ok(())
    }

    /// Scans the keys of one level; `next` is the first game of the next level.
    fn scan_level(
        &mut self,
        connection: &Connection,
        (level, next): (i64, i64),
        [first, last]: [i64; 2],
    ) -> rusqlite::Result<()> {
        const REPORT_INTERVAL: u64 = 1 << 14;
        let mut statement = connection.prepare_cached(
            "SELECT key, game_id, ply, game_id IN (SELECT game_id FROM deleted_game) FROM occurrence
             WHERE level = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY key, game_id, ply",
        )?;
        let mut rows = statement.query([level, first, last])?;
        let mut statement = connection.prepare_cached(
            "SELECT key, games + unfinished FROM level_position
             WHERE level = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY key",
        )?;
        let mut visited = statement.query([level, first, last])?;
        visited.advance()?;
        let (mut run, mut unreported) = (None::<Run>, 0);
        while let Some(row) = rows.next()? {
            unreported += 1;
            if unreported == REPORT_INTERVAL {
                self.check.progress.add_rows(std::mem::take(&mut unreported));
                if self.check.progress.is_stopped() {
                    return Ok(());
                }
            }
            if row.get(3)? {
                continue;
            }
            let occurrence = Occurrence::read(row)?;
            let Occurrence { key, game, ply } = occurrence;
            self.occurrences.add(key, game, ply);
            if !(level..next).contains(&game.number()) {
                let found = "the game does not belong to the level of this row";
                self.check.findings.about(WrongValue, "occurrence", occurrence.id(), found);
            }
            match &mut run {
                Some(run) if run.key == key => {
                    run.games += i64::from(run.game != game);
                    run.game = game;
                }
                _ => {
                    if let Some(ended) = run.replace(Run { key, games: 1, game }) {
                        self.end_key(connection, level, ended, &mut visited)?;
                    }
                }
            }
        }
        self.check.progress.add_rows(unreported);
        if let Some(ended) = run {
            self.end_key(connection, level, ended, &mut visited)?;
        }
        while let Some(row) = visited.get() {
            self.unvisited(level, row.get(0)?);
            visited.advance()?;
        }
        Ok(())
    }

    /// Compares the number of games counted for a key with the row of `level_position`. Also reports that row
    /// if it is missing or should not exist.
    fn end_key(
        &mut self,
        connection: &Connection,
        level: i64,
        run: Run,
        visited: &mut Rows<'_>,
    ) -> rusqlite::Result<()> {
        self.distinct += 1;
        let findings = &self.check.findings;
        let id = || visited_row(level, run.key);
        while let Some(row) = visited.get() {
            let (key, games): (i64, i64) = (row.get(0)?, row.get(1)?);
            if key > run.key {
                break;
            }
            visited.advance()?;
            if key < run.key {
                self.unvisited(level, key);
                continue;
            }
            if self.check.threshold.is_some_and(|threshold| run.games < threshold) {
                let found = format!("too few games reached the position: {}", run.games);
                findings.about(SurplusRow, "level_position", id(), found);
            } else if games != run.games && !self.visited.has(level, key) {
                if is_shared(connection, level, key)? {
                    report_shared(findings, level, key);
                } else {
                    let column = "games + unfinished";
                    findings.wrong(WrongCount, "level_position", id(), column, run.games, games);
                }
            }
            return Ok(());
        }
        let many = self.check.threshold.is_some_and(|threshold| run.games >= threshold);
        // If two positions shared the key, and the games of one of them were removed, the row stays missing.
        if many && !is_shared(connection, level, run.key)? && !has_deleted(connection, level, run.key)? {
            let found =
                format!("the row is missing; number of games that reached the position: {}", run.games);
            findings.about(MissingRow, "level_position", id(), found);
        }
        Ok(())
    }

    fn unvisited(&self, level: i64, key: i64) {
        let found = "no row of the level in occurrence has this key";
        self.check.findings.about(SurplusRow, "level_position", visited_row(level, key), found);
    }
}

/// Whether removed games of a level reached a position with this key.
fn has_deleted(connection: &Connection, level: i64, key: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM occurrence
               WHERE level = ?1 AND key = ?2 AND game_id IN (SELECT game_id FROM deleted_game)";
    connection.prepare_cached(sql)?.exists([level, key])
}

/// Whether at least two different positions of a level have this key.
fn is_shared(connection: &Connection, level: i64, key: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT count(DISTINCT p.fen) > 1 FROM occurrence AS o
               JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
               WHERE o.level = ?1 AND o.key = ?2";
    connection.prepare_cached(sql)?.query_row([level, key], |row| row.get(0))
}

/// Reports rows of `game_position` that are missing from `position_game`, among games of the groups for which
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

/// Reports rows of `position_game` that are missing from `game_position`, among games of the groups for which
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
