//! Recounts `level_position` and `level_continuation` while the games are scanned.

use std::collections::HashMap;
use std::sync::Mutex;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::board::{KeyMap, PositionKey};
use crate::id::{GameId, Level, Ply};
use crate::parallel::lock;
use crate::store::row::{LISTED_GAMES, StoredId};
use crate::verify::FindingKind::{MissingRow, SurplusRow, WrongCount, WrongValue};
use crate::verify::rows::{Reader, StoredGame, StoredPosition, bytes, format_value, shown};
use crate::verify::{Collector, RowId, Sample};

/// The maximum number of best-rated games, and of latest games, listed for a position. This number is shared
/// with the code that writes the rows. The rules for counting and ranking are implemented again in this
/// module: with shared code, the check would not find mistakes in these rules.
const LISTED: usize = LISTED_GAMES as usize;

/// The maximum number of positions to count in one pass over the games. Their counts take about 200 MiB.
pub(crate) const AT_ONCE: usize = 1 << 18;

/// Counts of games: results, ratings, and the first and last year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    white_wins: i64,
    draws: i64,
    black_wins: i64,
    /// The sums of White's and of Black's known ratings. `elo_games` says how many ratings each sum contains.
    elo_sums: [i64; 2],
    elo_games: [i64; 2],
    first_year: Option<i64>,
    last_year: Option<i64>,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.white_wins = self.white_wins.saturating_add(other.white_wins);
        self.draws = self.draws.saturating_add(other.draws);
        self.black_wins = self.black_wins.saturating_add(other.black_wins);
        for (counts, others) in [(&mut self.elo_sums, other.elo_sums), (&mut self.elo_games, other.elo_games)]
        {
            counts.iter_mut().zip(others).for_each(|(count, other)| *count = count.saturating_add(other));
        }
        self.first_year = [self.first_year, other.first_year].into_iter().flatten().min();
        self.last_year = [self.last_year, other.last_year].into_iter().flatten().max();
    }

    const fn games(&self) -> i64 {
        self.white_wins + self.draws + self.black_wins
    }

    /// The number of columns at the beginning of [`columns`](Self::columns) that `level_position` also has.
    const COLUMNS_OF_POSITIONS: usize = 8;

    /// The columns of `level_continuation` and their values.
    fn columns(&self) -> [(&'static str, Option<i64>); 10] {
        let ([white_sum, black_sum], [white_games, black_games]) = (self.elo_sums, self.elo_games);
        [
            ("games", Some(self.games())),
            ("white_wins", Some(self.white_wins)),
            ("draws", Some(self.draws)),
            ("black_wins", Some(self.black_wins)),
            ("white_elo_sum", Some(white_sum)),
            ("white_elo_games", Some(white_games)),
            ("black_elo_sum", Some(black_sum)),
            ("black_elo_games", Some(black_games)),
            ("first_year", self.first_year),
            ("last_year", self.last_year),
        ]
    }
}

/// The outcome of a game.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    counts: Counts,
    is_finished: bool,
    elo_sum: Option<i64>,
    /// The date as a number that increases with time; unknown parts count as 0.
    day: i64,
}

impl Outcome {
    fn of(game: &StoredGame) -> Self {
        let result = &*game.result;
        let mut parts = game
            .date
            .as_deref()
            .unwrap_or_default()
            .split('.')
            .map(|part| part.parse::<u16>().map_or(0, i64::from));
        let mut next = || parts.next().unwrap_or(0_i64);
        let (year, month, day) = (next(), next(), next());
        let elos = [game.white_elo, game.black_elo];
        let elo_sum = game.white_elo.zip(game.black_elo).map(|(white, black)| white.saturating_add(black));
        let known_year = Some(year).filter(|&year| year != 0);
        let counts = Counts {
            white_wins: (result == "1-0").into(),
            draws: (result == "1/2-1/2").into(),
            black_wins: (result == "0-1").into(),
            elo_sums: elos.map(|elo| elo.unwrap_or(0)),
            elo_games: elos.map(|elo| elo.is_some().into()),
            first_year: known_year,
            last_year: known_year,
        };
        Self { counts, is_finished: counts.games() > 0, elo_sum, day: (year * 100 + month) * 100 + day }
    }
}

/// The sort key of a game in a list (ascending), and the game.
type Listed = ((i64, i64), StoredId<GameId>);

/// The counts of one position.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// The number of rows with this key and the stored FEN; `other_fen` counts rows with this key and another
    /// FEN.
    same_fen: u64,
    other_fen: u64,
    counts: Counts,
    unfinished: i64,
    moves: Vec<(i64, Counts)>,
    /// The best-rated games; `recent` has the latest games.
    top: Vec<Listed>,
    recent: Vec<Listed>,
}

impl Tally {
    fn count(&mut self, game: StoredId<GameId>, move_code: Option<i64>, outcome: &Outcome) {
        if !outcome.is_finished {
            self.unfinished += 1;
            return;
        }
        self.counts.add(&outcome.counts);
        if let Some(code) = move_code {
            self.count_move(code, &outcome.counts);
        }
        if let Some(elo_sum) = outcome.elo_sum {
            insert(&mut self.top, ((elo_sum.saturating_neg(), game.number()), game));
        }
        insert(&mut self.recent, ((-outcome.day, game.number().saturating_neg()), game));
    }

    fn count_move(&mut self, code: i64, counts: &Counts) {
        let at = self.moves.iter().position(|&(other, _)| other == code).unwrap_or_else(|| {
            self.moves.push((code, Counts::default()));
            self.moves.len() - 1
        });
        self.moves[at].1.add(counts);
    }

    fn absorb(&mut self, other: &Self) {
        self.same_fen += other.same_fen;
        self.other_fen += other.other_fen;
        self.counts.add(&other.counts);
        self.unfinished += other.unfinished;
        other.moves.iter().for_each(|(code, counts)| self.count_move(*code, counts));
        other.top.iter().for_each(|&listed| insert(&mut self.top, listed));
        other.recent.iter().for_each(|&listed| insert(&mut self.recent, listed));
    }
}

/// Inserts a game into a list, and keeps the list short.
fn insert(list: &mut Vec<Listed>, listed: Listed) {
    let at = list.partition_point(|other| *other < listed);
    if at < LISTED {
        list.truncate(LISTED - 1);
        list.insert(at, listed);
    }
}

/// The rows of `level_position` to recount in one pass over the games.
#[derive(Debug, Default)]
pub(crate) struct VisitedPositions {
    /// For each level, its keys, each with its slot: the index in `entries`.
    slots: HashMap<i64, KeyMap<u32>>,
    /// For each slot, the level and the key, the stored FEN and the counts.
    entries: Vec<(LevelKey, Box<[u8]>, Mutex<Tally>)>,
}

/// A level, and a key in this level.
pub(crate) type LevelKey = (i64, i64);

/// Identifies the row of `level_position` with this level and key.
pub(crate) fn visited_row(level: i64, key: i64) -> RowId {
    RowId::new([("level", level), ("key", key)])
}

impl VisitedPositions {
    /// The next positions of the sample after the row `after`, at most [`AT_ONCE`]. `index` is the number of
    /// rows read so far, and `count` the number of all rows.
    pub(crate) fn next(
        connection: &Connection,
        after: Option<LevelKey>,
        sample: Sample,
        index: &mut u64,
        count: u64,
    ) -> rusqlite::Result<Self> {
        let mut visited = Self::default();
        let sql = "SELECT level, key, fen FROM level_position WHERE (level, key) > (?1, ?2) OR ?1 IS NULL
                   ORDER BY level, key";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([after.map(|after| after.0), after.map(|after| after.1)])?;
        while visited.entries.len() < AT_ONCE
            && let Some(row) = rows.next()?
        {
            if sample.has(*index, count) {
                let (level, key) = (row.get(0)?, row.get(1)?);
                let slot = u32::try_from(visited.entries.len()).expect("one pass counts few positions");
                visited.slots.entry(level).or_default().insert(PositionKey::from_i64(key), slot);
                visited.entries.push(((level, key), bytes(row, 2)?.into(), Mutex::default()));
            }
            *index += 1;
        }
        Ok(visited)
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn last(&self) -> Option<LevelKey> {
        self.entries.last().map(|&(at, ..)| at)
    }

    pub(crate) fn has(&self, level: i64, key: i64) -> bool {
        self.slots.get(&level).is_some_and(|slots| slots.contains_key(&PositionKey::from_i64(key)))
    }

    /// Compares the rows of `level_position` and `level_continuation` with the counts.
    pub(crate) fn compare(&self, reader: Reader<'_>) -> rusqlite::Result<()> {
        for ((level, key), _, tally) in &self.entries {
            let tally = lock(tally);
            if tally.same_fen > 0 && tally.other_fen > 0 {
                report_shared(reader.findings, *level, *key);
            } else {
                compare_position(reader, (*level, *key), &tally)?;
                compare_moves(reader, (*level, *key), &tally)?;
            }
        }
        Ok(())
    }
}

/// Reports a row whose counts mix two positions.
pub(crate) fn report_shared(findings: &Collector, level: i64, key: i64) {
    let found = "games reached two positions with this key; the row counts them as one and should not exist";
    findings.about(SurplusRow, "level_position", visited_row(level, key), found);
}

fn compare_position(reader: Reader<'_>, (level, key): LevelKey, tally: &Tally) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    const TABLE: &str = "level_position";
    let mut numbers = tally.counts.columns()[..Counts::COLUMNS_OF_POSITIONS].to_vec();
    numbers.push(("unfinished", Some(tally.unfinished)));
    let id = visited_row(level, key);
    let sql = format!(
        "SELECT {}, top_games, recent_games, fen FROM level_position WHERE level = ?1 AND key = ?2",
        numbers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    );
    let row = connection.prepare_cached(&sql)?.query_row([level, key], |row| {
        compare_numbers(row, findings, TABLE, &id, &numbers)?;
        for (name, list) in [("top_games", &tally.top), ("recent_games", &tally.recent)] {
            let ids: Vec<String> = list.iter().map(|(_, game)| game.to_string()).collect();
            let expected = format!("[{}]", ids.join(","));
            let found: Value = row.get(name)?;
            if found != expected.clone().into() {
                let expected = format!("'{expected}'");
                findings.wrong(WrongValue, TABLE, id.clone(), name, expected, show(&found));
            }
        }
        if tally.other_fen > 0 {
            let (expected, found) = ("the FEN in game_position", row.get("fen")?);
            findings.wrong(WrongValue, TABLE, id.clone(), "fen", expected, show(&found));
        }
        Ok(())
    });
    row.optional().map(drop)
}

fn compare_moves(reader: Reader<'_>, (level, key): LevelKey, tally: &Tally) -> rusqlite::Result<()> {
    let Reader { connection, findings } = reader;
    const TABLE: &str = "level_continuation";
    let sql = format!(
        "SELECT {}, move_code FROM level_continuation WHERE level = ?1 AND key = ?2",
        Counts::default().columns().map(|(name, _)| name).join(", ")
    );
    let mut counted: HashMap<i64, Counts> = tally.moves.iter().copied().collect();
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([level, key])?;
    while let Some(row) = rows.next()? {
        let code: i64 = row.get("move_code")?;
        let id = visited_row(level, key).and("move_code", code);
        match counted.remove(&code) {
            Some(counts) => compare_numbers(row, findings, TABLE, &id, &counts.columns())?,
            None => findings.about(SurplusRow, TABLE, id, "no game played this move"),
        }
    }
    for (code, counts) in counted {
        let id = visited_row(level, key).and("move_code", code);
        let found = format!("the row is missing; number of games that played this move: {}", counts.games());
        findings.about(MissingRow, TABLE, id, found);
    }
    Ok(())
}

/// Compares the first values of a row with the expected values in `columns`.
fn compare_numbers(
    row: &Row<'_>,
    findings: &Collector,
    table: &'static str,
    id: &RowId,
    columns: &[(&'static str, Option<i64>)],
) -> rusqlite::Result<()> {
    for (column, &(name, expected)) in columns.iter().enumerate() {
        let found: Value = row.get(column)?;
        if found != expected.into() {
            findings.wrong(WrongCount, table, id.clone(), name, shown(expected), show(&found));
        }
    }
    Ok(())
}

fn show(value: &Value) -> String {
    format_value(value.into())
}

/// Counts the occurrences of the positions to recount, in the games of one thread.
#[derive(Debug)]
pub(crate) struct OccurrenceCounter<'v> {
    visited: &'v VisitedPositions,
    /// The levels in order.
    levels: &'v [Level],
    /// The keys in the level of the current game, each with its slot.
    slots: Option<&'v KeyMap<u32>>,
    /// For each occurrence in the current game: slot, ply, move, and whether the FEN is the stored one.
    hits: Vec<(u32, StoredId<Ply>, Option<i64>, bool)>,
    tallies: HashMap<u32, Tally>,
}

impl<'v> OccurrenceCounter<'v> {
    pub(crate) fn new(visited: &'v VisitedPositions, levels: &'v [Level]) -> Self {
        Self { visited, levels, slots: None, hits: Vec::new(), tallies: HashMap::new() }
    }

    pub(crate) fn begin_game(&mut self, game: &StoredGame) {
        let after = self.levels.partition_point(|level| i64::from(level.0) <= game.game.number());
        let level = after.checked_sub(1).map(|index| i64::from(self.levels[index].0));
        self.slots = level.and_then(|level| self.visited.slots.get(&level));
    }

    pub(crate) fn observe(&mut self, stored: &StoredPosition, fen: &[u8]) {
        if let Some(&slot) = self.slots.and_then(|slots| slots.get(&PositionKey::from_i64(stored.key))) {
            let same = *self.visited.entries[slot as usize].1 == *fen;
            self.hits.push((slot, stored.ply, stored.move_code, same));
        }
    }

    /// Counts the game once for each position that it reached, with the last move that it played from there.
    pub(crate) fn end_game(&mut self, game: &StoredGame) {
        if self.hits.is_empty() {
            return;
        }
        let outcome = Outcome::of(game);
        self.hits.sort_unstable_by_key(|&(slot, ply, ..)| (slot, ply));
        for occurrences in self.hits.chunk_by(|(slot, ..), (next, ..)| slot == next) {
            let Some(&(slot, ..)) = occurrences.last() else { continue };
            let move_code = occurrences.iter().rev().find_map(|&(_, _, move_code, _)| move_code);
            let tally = self.tallies.entry(slot).or_default();
            for &(.., same) in occurrences {
                *(if same { &mut tally.same_fen } else { &mut tally.other_fen }) += 1;
            }
            tally.count(game.game, move_code, &outcome);
        }
        self.hits.clear();
    }

    /// Adds this thread's counts to the shared counts.
    pub(crate) fn flush(&mut self) {
        for (slot, tally) in self.tallies.drain() {
            let entry = &self.visited.entries[slot as usize].2;
            lock(entry).absorb(&tally);
        }
    }
}
