//! Checks the rows of each game: one scan of `game` together with `game_position`.

use std::collections::HashMap;
use std::hash::Hash;

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows};

use crate::id::{GameId, ImportId, NameId, OpeningId, Ply, SourceId};
use crate::index::pairing_hash;
use crate::store::row::StoredId;
use crate::verify::FindingKind::{DanglingLink, MissingRow, WrongCount, WrongValue};
use crate::verify::rows::{
    Checksum, GAMES, OccurrenceCounter, POSITIONS, Replay, StoredGame, StoredPosition, VisitedPositions,
    bytes, read, shown,
};
use crate::verify::source::Texts;
use crate::verify::{Check, RowId};

/// Counts of a source or an import.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) games: u64,
    pub(crate) plies: u64,
    pub(crate) positions: u64,
    /// The offset of the last game in its source, in bytes.
    pub(crate) last_game: Option<i64>,
}

impl Counted {
    fn add(&mut self, other: Self) {
        self.games += other.games;
        self.plies = self.plies.saturating_add(other.plies);
        self.positions += other.positions;
        self.last_game = self.last_game.max(other.last_game);
    }
}

/// Counts and sums of a scan.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) positions: Checksum,
    pub(crate) sources: HashMap<StoredId<SourceId>, Counted>,
    pub(crate) imports: HashMap<StoredId<ImportId>, Counted>,
    pub(crate) games: u64,
    pub(crate) replayed_games: u64,
    pub(crate) replayed_plies: u64,
    pub(crate) reread_games: u64,
}

impl Sums {
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.positions.absorb(&other.positions);
        add_all(&mut self.sources, &other.sources);
        add_all(&mut self.imports, &other.imports);
        self.games += other.games;
        self.replayed_games += other.replayed_games;
        self.replayed_plies += other.replayed_plies;
        self.reread_games += other.reread_games;
    }
}

fn add_all<I: Copy + Eq + Hash>(counts: &mut HashMap<I, Counted>, others: &HashMap<I, Counted>) {
    others.iter().for_each(|(&id, &counted)| counts.entry(id).or_default().add(counted));
}

/// Scans ranges of games. Each thread has its own scan.
pub(crate) struct GameScan<'c> {
    check: &'c Check<'c>,
    replay: Replay<'c>,
    texts: Texts<'c>,
    occurrences: OccurrenceCounter<'c>,
    /// Whether this scan only counts occurrences.
    again: bool,
    pub(crate) sums: Sums,
}

/// Data of the current game's rows.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rows: u64,
    next_ply: StoredId<Ply>,
    last: Option<StoredPosition>,
    opening: Option<StoredId<OpeningId>>,
}

impl<'c> GameScan<'c> {
    /// A scan that makes all checks, and also counts the occurrences of some positions.
    pub(crate) fn new(check: &'c Check<'c>, visited: &'c VisitedPositions) -> Self {
        Self {
            check,
            replay: Replay::new(&check.findings),
            texts: Texts::new(check),
            occurrences: OccurrenceCounter::new(visited, &check.levels),
            again: false,
            sums: Sums::default(),
        }
    }

    /// A scan that only counts the occurrences of some positions.
    pub(crate) fn again(check: &'c Check<'c>, visited: &'c VisitedPositions) -> Self {
        Self { again: true, ..Self::new(check, visited) }
    }

    pub(crate) fn scan(
        &mut self,
        connection: &Connection,
        range: [StoredId<GameId>; 2],
    ) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(&POSITIONS)?;
        let mut positions = statement.query(range)?;
        let mut statement = connection.prepare_cached(&GAMES)?;
        let mut games = statement.query(range)?;
        positions.advance()?;
        while let Some(row) = games.next()? {
            let game: StoredGame = read(row, &self.check.findings)?;
            self.surplus(&mut positions, Some(game.game))?;
            self.game(connection, &game, &mut positions)?;
            if self.check.progress.is_stopped() {
                break;
            }
        }
        self.surplus(&mut positions, None)?;
        self.occurrences.flush();
        Ok(())
    }

    /// Skips rows of missing games up to the rows of the game `before`, or all remaining rows if `before` is
    /// `None`. Reports the first skipped row of each game.
    fn surplus(
        &mut self,
        positions: &mut Rows<'_>,
        before: Option<StoredId<GameId>>,
    ) -> rusqlite::Result<()> {
        let mut reported = None;
        while let Some(row) = positions.get() {
            let stored = StoredPosition::read(row, &self.check.findings)?;
            if before.is_some_and(|game| stored.game >= game) || self.check.progress.is_stopped() {
                break;
            }
            if !self.again {
                self.sums.positions.add(stored.key, stored.game, stored.ply);
                if reported.replace(stored.game) != Some(stored.game) {
                    let row = RowId::position(stored.game, stored.ply);
                    let expected = "a row of game";
                    let wrong = DanglingLink;
                    self.check.findings.wrong(wrong, "game_position", row, "game_id", expected, stored.game);
                }
            }
            positions.advance()?;
        }
        Ok(())
    }

    fn game(
        &mut self,
        connection: &Connection,
        game: &StoredGame,
        positions: &mut Rows<'_>,
    ) -> rusqlite::Result<()> {
        let replayed = !self.again && self.check.is_sampled(game.game);
        if replayed {
            self.replay.begin(game.game, game.start_fen.as_deref());
        }
        self.occurrences.begin_game(game);
        let mut seen = Seen::default();
        while let Some(row) = positions.get() {
            let stored = StoredPosition::read(row, &self.check.findings)?;
            if stored.game != game.game {
                break;
            }
            self.position(row, &stored, replayed, &mut seen)?;
            positions.advance()?;
        }
        self.occurrences.end_game(game);
        self.check.progress.add_rows(seen.rows);
        if self.again {
            return Ok(());
        }
        self.count(game, &seen);
        self.end_of_rows(game, &seen);
        if replayed {
            self.end_of_replay(connection, game, &seen)?;
        }
        Ok(())
    }

    fn position(
        &mut self,
        row: &Row<'_>,
        stored: &StoredPosition,
        replayed: bool,
        seen: &mut Seen,
    ) -> rusqlite::Result<()> {
        let fen = bytes(row, StoredPosition::FEN)?;
        self.occurrences.observe(stored, fen);
        seen.rows += 1;
        if self.again {
            return Ok(());
        }
        self.sums.positions.add(stored.key, stored.game, stored.ply);
        if stored.ply != seen.next_ply {
            self.missing(stored.game, seen.next_ply, stored.ply.previous());
            self.replay.lose_position();
        }
        let follows_nothing = seen.last.is_some_and(|last| last.move_code.is_none());
        if follows_nothing && !(replayed && self.replay.position().is_some()) {
            let id = RowId::position(stored.game, stored.ply.previous());
            let expected = "a move, as more positions follow";
            self.check.findings.wrong(WrongValue, "game_position", id, "move_code", expected, "NULL");
        }
        if replayed {
            self.replay.step(stored, fen);
            if let Some(position) = self.replay.position() {
                seen.opening = self.check.opening_of(position).or(seen.opening);
            }
        }
        seen.last = Some(*stored);
        seen.next_ply = stored.ply.next();
        Ok(())
    }

    fn missing(&self, game: StoredId<GameId>, first: StoredId<Ply>, last: StoredId<Ply>) {
        let (row, found) = match last.number().saturating_sub(first.number()) {
            ..=0 => (RowId::position(game, first), "the row is missing".to_owned()),
            _ => (RowId::game(game), format!("the rows for plies {first} to {last} are missing")),
        };
        self.check.findings.about(MissingRow, "game_position", row, found);
    }

    fn count(&mut self, game: &StoredGame, seen: &Seen) {
        // If the last position is missing, the number of plies is taken from the game's row.
        let last = seen.last.filter(|last| last.move_code.is_none()).map(|last| last.ply.number());
        let plies = u64::try_from(last.unwrap_or(game.ply_count)).unwrap_or(0);
        let counted = Counted { games: 1, plies, positions: seen.rows, last_game: Some(game.byte_offset) };
        self.sums.games += 1;
        self.sums.sources.entry(game.source).or_default().add(counted);
        self.sums.imports.entry(game.import).or_default().add(counted);
    }

    /// Compares the columns of `game` that describe the game's positions with the rows of these positions.
    fn end_of_rows(&self, game: &StoredGame, seen: &Seen) {
        let findings = &self.check.findings;
        let id = || RowId::game(game.game);
        let status = &*game.status;
        let last_ply = StoredId::from(game.ply_count);
        let Some(last) = seen.last else {
            if status != "skipped" {
                self.missing(game.game, StoredId::from(0), last_ply);
            } else if game.ply_count != 0 {
                findings.wrong(WrongCount, "game", id(), "ply_count", 0, game.ply_count);
            }
            return;
        };
        if !matches!(status, "ok" | "truncated") {
            let expected = "'ok' or 'truncated', as the game has positions";
            findings.wrong(WrongValue, "game", id(), "status", expected, format!("'{status}'"));
        }
        match last.move_code {
            None if last.ply != last_ply => {
                findings.wrong(WrongCount, "game", id(), "ply_count", last.ply, game.ply_count);
            }
            Some(_) if last.ply < last_ply => self.missing(game.game, last.ply.next(), last_ply),
            Some(code) => {
                let id = RowId::position(game.game, last.ply);
                let expected = "NULL, as no position follows";
                findings.wrong(WrongValue, "game_position", id, "move_code", expected, code);
            }
            None => {}
        }
    }

    fn end_of_replay(
        &mut self,
        connection: &Connection,
        game: &StoredGame,
        seen: &Seen,
    ) -> rusqlite::Result<()> {
        let findings = &self.check.findings;
        let id = || RowId::game(game.game);
        if seen.last.is_some_and(|last| last.move_code.is_some()) {
            // The position after the last move is missing.
            self.replay.lose_position();
        }
        let is_skipped = seen.rows == 0;
        let hash = if is_skipped { Some(0) } else { self.replay.moves_hash() };
        if let Some(hash) = hash.filter(|&hash| hash != game.moves_hash) {
            findings.wrong(WrongValue, "game", id(), "moves_hash", hash, game.moves_hash);
        }
        if is_skipped || self.replay.position().is_some() {
            self.prefix(connection, game)?;
        }
        if self.replay.position().is_some() && seen.opening != game.opening {
            let (expected, found) = (shown(seen.opening), shown(game.opening));
            findings.wrong(WrongValue, "game", id(), "opening_id", expected, found);
        }
        let plies = seen.rows.saturating_sub(1);
        self.sums.replayed_games += 1;
        self.sums.replayed_plies += plies;
        self.check.progress.add(0, 1, plies);
        if self.check.options.sources && self.texts.compare(connection, game, self.replay.codes())? {
            self.sums.reread_games += 1;
        }
        Ok(())
    }

    /// Checks the hash of players, date and first moves. All moves must have been replayed.
    fn prefix(&self, connection: &Connection, game: &StoredGame) -> rusqlite::Result<()> {
        let expected = match (game.white, game.black) {
            (Some(white), Some(black)) => {
                let (white, black) = (player(connection, white)?, player(connection, black)?);
                // A missing player is reported elsewhere.
                let Some((white, black)) = white.zip(black) else { return Ok(()) };
                self.replay.prefix_hash(pairing_hash(&white, &black, game.date.as_deref()))
            }
            _ => None,
        };
        if expected != game.prefix_hash {
            let (row, found) = (RowId::game(game.game), shown(game.prefix_hash));
            self.check.findings.wrong(WrongValue, "game", row, "prefix_hash", shown(expected), found);
        }
        Ok(())
    }
}

/// A player's name.
fn player(connection: &Connection, id: StoredId<NameId>) -> rusqlite::Result<Option<String>> {
    const SQL: &str = "SELECT name FROM player WHERE player_id = ?1";
    connection.prepare_cached(SQL)?.query_row([id], |row| row.get(0)).optional()
}
