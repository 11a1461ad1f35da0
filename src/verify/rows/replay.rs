//! Replays a game on the board and compares it with its rows.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position, PositionKey};
use crate::id::{GameId, Ply};
use crate::index::{mix_move, prefix_hash};
use crate::store::row::StoredId;
use crate::verify::FindingKind::WrongValue;
use crate::verify::rows::{POSITIONS, StoredGame, StoredPosition, bytes, shown};
use crate::verify::{Collector, RowId};

/// Replays a game row by row. Reports rows that do not match, and continues while the position is known.
#[derive(Debug)]
pub(crate) struct Replay<'c> {
    findings: &'c Collector,
    /// The standard start position.
    start: Position,
    game: StoredId<GameId>,
    position: Position,
    placement: FenText,
    /// The position of the last row compared, and the move stored in that row.
    previous: Option<(Position, Option<i64>)>,
    /// Whether the position is still known.
    on_course: bool,
    /// The number of consecutive FENs that did not match.
    misfits: u32,
    start_key: PositionKey,
    /// The moves, corrected where the positions show which move was played.
    codes: Vec<MoveCode>,
}

impl<'c> Replay<'c> {
    /// The replay ends after this many consecutive FENs that do not match, because the following FENs would
    /// not match either.
    const MAX_MISFITS: u32 = 2;

    pub(crate) fn new(findings: &'c Collector) -> Self {
        let start = Position::start();
        Self {
            findings,
            game: StoredId::default(),
            position: start.clone(),
            placement: FenText::new(&start),
            start_key: start.key(),
            start,
            previous: None,
            on_course: false,
            misfits: 0,
            codes: Vec::new(),
        }
    }

    /// Begins a game. `start_fen` is the value in the game's row.
    pub(crate) fn begin(&mut self, game: StoredId<GameId>, start_fen: Option<&str>) {
        self.game = game;
        self.previous = None;
        self.misfits = 0;
        self.on_course = true;
        self.codes.clear();
        self.position.clone_from(&self.start);
        if let Some(fen) = start_fen {
            match Position::from_fen(fen.as_bytes()) {
                Ok((position, _)) => self.position = position,
                Err(error) => {
                    let expected = format!("a legal position ({error})");
                    let row = RowId::game(game);
                    self.findings.wrong(WrongValue, "game", row, "start_fen", expected, fen);
                    self.on_course = false;
                }
            }
        }
        self.placement = FenText::new(&self.position);
        self.start_key = self.position.key();
    }

    /// Marks the position as unknown, because a row of the game is missing.
    pub(crate) fn lose_position(&mut self) {
        self.on_course = false;
    }

    /// The current position, if known.
    pub(crate) fn position(&self) -> Option<&Position> {
        self.on_course.then_some(&self.position)
    }

    /// The game's moves, if all of them could be played.
    pub(crate) fn codes(&self) -> Option<&[MoveCode]> {
        self.on_course.then_some(&self.codes[..])
    }

    /// The hash of the game's moves, if all of them could be played.
    pub(crate) fn moves_hash(&self) -> Option<i64> {
        let hash = |codes: &[MoveCode]| codes.iter().copied().fold(self.start_key.0, mix_move);
        self.codes().map(|codes| hash(codes).cast_signed())
    }

    /// The hash of the game's first moves and of `pairing`, which is the hash of its players and date; `None`
    /// if the game has too few moves, or not all of them could be played.
    pub(crate) fn prefix_hash(&self, pairing: u64) -> Option<i64> {
        prefix_hash(self.start_key.0, self.codes()?, pairing).map(u64::cast_signed)
    }

    /// Compares the next row with the board.
    pub(crate) fn step(&mut self, stored: &StoredPosition, fen: &[u8]) {
        if !self.on_course {
            return;
        }
        if let Some((before, code)) = self.previous.take() {
            self.make(before, code, stored, fen);
            if !self.on_course {
                return;
            }
        }
        self.compare(stored, fen);
        self.previous = Some((self.position.clone(), stored.move_code));
    }

    /// Plays the move that leads to the row `next`. If the stored move does not lead there, looks for a move
    /// that does.
    fn make(&mut self, before: Position, stored: Option<i64>, next: &StoredPosition, fen: &[u8]) {
        let code = stored.and_then(|code| MoveCode::from_bits(u32::try_from(code).ok()?));
        let made = code.and_then(|code| self.position.make(code).ok());
        if let Some(made) = made {
            self.placement.update(&self.position, made);
        }
        let fits = made.is_some() && self.fits(fen);
        let other = if fits { None } else { move_to(&before, fen) };
        if let Some((other, position)) = other {
            self.position = position;
            self.placement = FenText::new(&self.position);
            self.end_move(other, stored, next);
        } else if let Some(made) = made {
            self.end_move(made, stored, next);
        } else {
            let expected = format!("a legal move in {}", before.fen());
            self.wrong(next.ply.previous(), "move_code", expected, shown(stored));
            self.on_course = false;
        }
    }

    /// Compares the code of the move just played with the stored one.
    fn end_move(&mut self, made: MoveCode, stored: Option<i64>, next: &StoredPosition) {
        let made = self.position.mark_mate(made);
        self.codes.push(made);
        if stored != Some(made.bits().into()) {
            self.wrong(next.ply.previous(), "move_code", describe_move(made), shown(stored));
        }
    }

    fn fits(&self, fen: &[u8]) -> bool {
        let mut space = [0; MAX_CANONICAL_FEN];
        let length = self.placement.write_at_end(&self.position, &mut space);
        space[MAX_CANONICAL_FEN - length..] == *fen
    }

    fn compare(&mut self, stored: &StoredPosition, fen: &[u8]) {
        if self.fits(fen) {
            self.misfits = 0;
        } else {
            let found = String::from_utf8_lossy(fen).into_owned();
            self.wrong(stored.ply, "fen", self.position.canonical_fen(), found);
            self.misfits += 1;
            self.on_course = self.misfits < Self::MAX_MISFITS;
        }
        let key = self.position.key_from_scratch().as_i64();
        if stored.key != key {
            self.wrong(stored.ply, "key", key, stored.key);
        }
        let clock = i64::from(self.position.halfmove_clock());
        if stored.halfmove_clock != clock {
            self.wrong(stored.ply, "halfmove_clock", clock, stored.halfmove_clock);
        }
    }

    fn wrong(
        &self,
        ply: StoredId<Ply>,
        column: &'static str,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) {
        let row = RowId::position(self.game, ply);
        self.findings.wrong(WrongValue, "game_position", row, column, expected, found);
    }
}

/// The moves of a game, corrected where its positions show which move was played; `None` if some moves cannot
/// be determined.
pub(crate) fn replayed_codes(
    connection: &Connection,
    game: &StoredGame,
) -> rusqlite::Result<Option<Vec<MoveCode>>> {
    let discarded = Collector::new(0);
    let mut replay = Replay::new(&discarded);
    replay.begin(game.game, game.start_fen.as_deref());
    let mut statement = connection.prepare_cached(&POSITIONS)?;
    let mut rows = statement.query([game.game, game.game])?;
    let (mut next_ply, mut last_code) = (StoredId::from(0), None);
    while let Some(row) = rows.next()? {
        let stored = StoredPosition::read(row, &discarded)?;
        if stored.ply != next_ply {
            replay.lose_position();
        }
        replay.step(&stored, bytes(row, StoredPosition::FEN)?);
        (next_ply, last_code) = (stored.ply.next(), stored.move_code);
    }
    if last_code.is_some() {
        // The position after the last move is missing.
        replay.lose_position();
    }
    Ok(replay.codes().map(<[MoveCode]>::to_vec))
}

/// The first ply at which the moves in a game's rows differ from `codes`; `None` if all moves are equal.
pub(crate) fn first_difference(
    connection: &Connection,
    game: StoredId<GameId>,
    codes: &[MoveCode],
) -> rusqlite::Result<Option<usize>> {
    let sql = "SELECT move_code FROM game_position WHERE game_id = ?1 AND move_code IS NOT NULL ORDER BY ply";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([game])?;
    for (ply, code) in codes.iter().enumerate() {
        match rows.next()? {
            Some(row) if row.get_ref(0)? == ValueRef::Integer(code.bits().into()) => {}
            _ => return Ok(Some(ply)),
        }
    }
    Ok(rows.next()?.map(|_| codes.len()))
}

/// A move code, with the move it represents, for a message.
pub(crate) fn describe_move(code: MoveCode) -> String {
    format!("{} ({})", code.bits(), code.uci(None))
}

/// The move that leads to the position with this FEN, and that position.
fn move_to(before: &Position, fen: &[u8]) -> Option<(MoveCode, Position)> {
    let mut moves = Vec::new();
    before.legal_moves(&mut moves);
    moves.push(MoveCode::NULL);
    moves.into_iter().find_map(|code| {
        let mut after = before.clone();
        let made = after.make(code).ok()?;
        (after.canonical_fen().as_bytes() == fen).then_some((made, after))
    })
}
