//! `game_position` of a compact database as a virtual table, which replays games from `game_moves`.
//!
//! It has the rows of the view `game_position`. If a statement looks up positions of the same game in ascending
//! order, each move is replayed only once. The first argument in `CREATE VIRTUAL TABLE` is the database schema
//! that contains `game_moves`; the default is `main`.
//!
//! A damaged game ends before the first move that cannot be played. It has no rows if its moves or its start
//! position cannot be read. So one damaged game does not stop a statement that reads all games, and `verify`
//! reports the missing rows. With the second argument `strict`, a damaged game is an error.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, c_int};

use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexFlags, IndexInfo, Module, VTab, VTabConfig,
    VTabConnection, VTabCursor, VTabKind,
};
use rusqlite::{Connection, Error, OptionalExtension as _, Result, Row};

use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position, PositionKey};
use crate::store::row::{GameId, Ply};

/// The name of the module in `CREATE VIRTUAL TABLE`.
pub(crate) const MODULE: &str = "pgndex_game_position";

/// The argument that makes a damaged game an error.
pub(crate) const STRICT: &str = "strict";

/// Registers the virtual table's module with a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    const TABLE: &Module<'_, Table> = &Module::read_only_module().without_rowid();
    connection.create_module(MODULE, TABLE, None)
}

const DECLARATION: &CStr = c"CREATE TABLE game_position (game_id INTEGER NOT NULL, ply INTEGER NOT NULL, key INTEGER NOT NULL,
     halfmove_clock INTEGER NOT NULL, move_code INTEGER, fen TEXT NOT NULL, PRIMARY KEY (game_id, ply)) WITHOUT ROWID";

/// The columns, in order.
mod column {
    use std::ffi::c_int;

    pub(super) const GAME: c_int = 0;
    pub(super) const PLY: c_int = 1;
    pub(super) const KEY: c_int = 2;
    pub(super) const CLOCK: c_int = 3;
    pub(super) const MOVE: c_int = 4;
    pub(super) const FEN: c_int = 5;
}

/// Bits of the number that [`Table::best_index`] passes to [`Cursor::filter`]. The lowest five bits say which bounds
/// are arguments, in this order: game, first game, last game, ply, last ply.
mod plan {
    use std::ffi::c_int;

    pub(super) const GAME: c_int = 1;
    pub(super) const FIRST_GAME: c_int = 2;
    pub(super) const LAST_GAME: c_int = 4;
    pub(super) const LAST_PLY: c_int = 16;
    /// The statement reads the column `fen`.
    pub(super) const FEN: c_int = 32;
}

/// In the output of `EXPLAIN QUERY PLAN`, this text marks a plan that reads all games.
pub const ALL_GAMES: &CStr = c"all games";

/// A statement that reads the first game with an id from `?1` to `?2`.
fn next_game(schema: &str) -> String {
    format!(
        "SELECT m.game_id, m.moves, g.start_fen FROM {schema}.game_moves AS m LEFT JOIN {schema}.game AS g USING (game_id)
         WHERE m.game_id BETWEEN ?1 AND ?2 ORDER BY m.game_id LIMIT 1"
    )
}

/// The virtual table. SQLite's own struct comes first.
#[repr(C)]
struct Table {
    base: sqlite3_vtab,
    /// The connection that the table belongs to. Dropping this value does not close the connection.
    connection: Connection,
    /// The statement that reads a game.
    next_game: String,
    start: Position,
    /// Whether a damaged game is an error.
    is_strict: bool,
}

// SAFETY: the struct is `repr(C)`, and its first field is the one that SQLite needs.
unsafe impl<'t> VTab<'t> for Table {
    type Aux = ();
    type Cursor = Cursor<'t>;

    fn connect(
        db: &mut VTabConnection,
        _: Option<&()>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let schema = arguments.first().and_then(|schema| std::str::from_utf8(schema).ok()).unwrap_or("main");
        // Lets the temporary views use this table even if the schema is not trusted. The table is read-only.
        db.config(VTabConfig::Innocuous)?;
        // SAFETY: SQLite drops this table before it closes the connection, so the handle stays open.
        let connection = unsafe { Connection::from_handle(db.handle())? };
        let (next_game, start) = (next_game(schema), Position::start());
        let is_strict = arguments.contains(&STRICT.as_bytes());
        let table = Self { base: sqlite3_vtab::default(), connection, next_game, start, is_strict };
        Ok((Cow::Borrowed(DECLARATION), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        use IndexConstraintOp as Op;
        let mut chosen: [Option<usize>; 5] = [None; 5];
        for (index, constraint) in info.constraints().enumerate().filter(|(_, found)| found.is_usable()) {
            // `>` and `<` are treated like `>=` and `<=`: SQLite checks the condition again for each row.
            let bound = match (constraint.column(), constraint.operator()) {
                (column::GAME, Op::SQLITE_INDEX_CONSTRAINT_EQ) => 0,
                (column::GAME, Op::SQLITE_INDEX_CONSTRAINT_GE | Op::SQLITE_INDEX_CONSTRAINT_GT) => 1,
                (column::GAME, Op::SQLITE_INDEX_CONSTRAINT_LE | Op::SQLITE_INDEX_CONSTRAINT_LT) => 2,
                (column::PLY, Op::SQLITE_INDEX_CONSTRAINT_EQ) => 3,
                (column::PLY, Op::SQLITE_INDEX_CONSTRAINT_LE | Op::SQLITE_INDEX_CONSTRAINT_LT) => 4,
                _ => continue,
            };
            chosen[bound].get_or_insert(index);
        }
        let [game, _, _, ply, _] = chosen.map(|index| index.is_some());
        if game {
            (chosen[1], chosen[2]) = (None, None);
        }
        if ply {
            chosen[4] = None;
        }
        let mut plan = if info.col_used() >> column::FEN & 1 == 1 { plan::FEN } else { 0 };
        for (argument, (bound, index)) in
            (1..).zip(chosen.into_iter().enumerate().filter_map(|(bound, index)| Some((bound, index?))))
        {
            plan |= 1 << bound;
            info.constraint_usage(index).set_argv_index(argument);
        }
        let reads_all = plan & (plan::GAME | plan::FIRST_GAME | plan::LAST_GAME) == 0;
        // A game has about 80 plies.
        let rows: i64 = match (game, ply) {
            (true, true) => 1,
            (true, false) => 80,
            (false, _) if reads_all => 100_000_000,
            (false, _) => 1_000_000,
        };
        if game && ply {
            info.set_idx_flags(IndexFlags::SQLITE_INDEX_SCAN_UNIQUE);
        }
        info.set_idx_num(plan);
        if reads_all {
            info.set_idx_cstr(ALL_GAMES);
        }
        info.set_estimated_rows(rows);
        info.set_estimated_cost(rows as f64 + 10.0);
        let order: Vec<_> =
            info.order_bys().map(|order| (order.column(), order.is_order_by_desc())).collect();
        let in_order = match order[..] {
            [(column::GAME, false)] | [(column::GAME, false), (column::PLY, false)] => true,
            [(column::PLY, false)] => game,
            _ => false,
        };
        info.set_order_by_consumed(in_order);
        Ok(true)
    }

    fn open(&'t mut self) -> Result<Cursor<'t>> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            table: self,
            last_game: 0,
            last_ply: 0,
            reads_fen: false,
            game: None,
            is_over: true,
        })
    }
}

impl CreateVTab<'_> for Table {
    const KIND: VTabKind = VTabKind::Default;
}

/// A position of a game, and the moves after it. SQLite's own struct comes first.
#[repr(C)]
struct Cursor<'t> {
    base: sqlite3_vtab_cursor,
    table: &'t Table,
    last_game: i64,
    last_ply: i64,
    /// Whether the statement reads the FENs of many positions.
    reads_fen: bool,
    game: Option<Replay>,
    is_over: bool,
}

/// A game being replayed.
pub(crate) struct Replay {
    id: i64,
    moves: Vec<u8>,
    ply: i64,
    position: Position,
    placement: Option<FenText>,
}

impl Replay {
    /// Starts to replay a game. The columns of `row` are the game's id, moves and start FEN.
    ///
    /// # Errors
    /// A description of what is wrong with the stored game.
    pub(crate) fn read(row: &Row<'_>, start: &Position) -> Result<Self, String> {
        let moves = match row.get_ref(1) {
            Ok(ValueRef::Blob(moves)) if moves.len() % 4 == 0 => moves.to_owned(),
            Ok(ValueRef::Blob(moves)) => {
                let length = moves.len();
                return Err(format!("the length of the moves, {length} bytes, is not a multiple of four"));
            }
            _ => return Err("the moves are not a blob".to_owned()),
        };
        let position = match row.get_ref(2) {
            Ok(ValueRef::Null) => start.clone(),
            Ok(ValueRef::Text(fen)) => match Position::from_fen(fen) {
                Ok((position, _)) => position,
                Err(error) => return Err(format!("the start position: {error}")),
            },
            _ => return Err("the start position is not a text".to_owned()),
        };
        let id = row.get(0).map_err(|error| error.to_string())?;
        Ok(Self { id, moves, ply: 0, position, placement: None })
    }

    pub(crate) const fn id(&self) -> GameId {
        GameId(self.id as u32)
    }

    /// The key of the current position.
    pub(crate) const fn key(&self) -> PositionKey {
        self.position.key()
    }

    /// The ply of the current position.
    pub(crate) const fn ply(&self) -> Ply {
        Ply(self.ply as u32)
    }

    /// Makes later calls of [`fen`](Self::fen) faster. Useful if `fen` is called for many positions.
    pub(crate) fn keep_placement(&mut self) {
        self.placement = Some(FenText::new(&self.position));
    }

    /// The canonical FEN of the current position.
    pub(crate) fn fen<'s>(&self, space: &'s mut [u8; MAX_CANONICAL_FEN]) -> &'s [u8] {
        let length = match &self.placement {
            Some(placement) => placement.write_at_end(&self.position, space),
            None => FenText::new(&self.position).write_at_end(&self.position, space),
        };
        &space[MAX_CANONICAL_FEN - length..]
    }

    /// The move played from the current position, and whether en passant is legal after it; `None` at the end
    /// of the game.
    pub(crate) fn next_move(&self) -> Option<(MoveCode, bool)> {
        let (codes, _) = self.moves.as_chunks();
        codes.get(usize::try_from(self.ply).ok()?).map(|code| MoveCode::from_row(*code))
    }

    /// Calls `see` with the state at each position, in order. A damaged game ends where the damage begins, as
    /// in the virtual table.
    pub(crate) fn each<E>(mut self, mut see: impl FnMut(&Self) -> Result<(), E>) -> Result<(), E> {
        loop {
            see(&self)?;
            if !matches!(self.advance(), Ok(true)) {
                return Ok(());
            }
        }
    }

    /// Plays the next move. Returns `false` if there is none.
    ///
    /// # Errors
    /// A description of what is wrong with the move.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, String> {
        let Some((code, en_passant_follows)) = self.next_move() else { return Ok(false) };
        if !self.position.replay_stored(code, en_passant_follows) {
            return Err(format!("ply {}: the move code {:#010x} cannot be played", self.ply, code.bits()));
        }
        if let Some(placement) = &mut self.placement {
            placement.update(&self.position, code);
        }
        self.ply += 1;
        Ok(true)
    }
}

/// The error about a game whose stored moves are wrong.
fn damaged(game: i64, problem: &str) -> Error {
    Error::ModuleError(format!("game_moves game_id {game}: {problem}; the database is damaged"))
}

impl Cursor<'_> {
    /// Goes to the first position of the first readable game with an id from `game` to the end of the range.
    fn next_game(&mut self, mut game: i64) -> Result<()> {
        let Self { table: Table { connection, next_game, start, is_strict, .. }, last_game, .. } = *self;
        let mut statement = connection.prepare_cached(next_game)?;
        self.game = loop {
            let read = |row: &Row<'_>| Ok((row.get(0)?, Replay::read(row, start)));
            match statement.query_row([game, last_game], read).optional()? {
                None => break None,
                Some((_, Ok(game))) => break Some(game),
                Some((id, Err(problem))) if *is_strict => return Err(damaged(id, &problem)),
                Some((id, Err(_))) if id < last_game => game = id + 1,
                Some(_) => break None,
            }
        };
        if let Some(game) = self.game.as_mut().filter(|_| self.reads_fen) {
            game.keep_placement();
        }
        self.is_over = self.game.is_none();
        Ok(())
    }

    /// Plays the next move of the game. Returns `false` if there is none or, unless the table is strict, if it
    /// cannot be played.
    fn advance(&mut self) -> Result<bool> {
        let game = self.game.as_mut().expect("a cursor at a row has a game");
        match game.advance() {
            Ok(has_move) => Ok(has_move),
            Err(problem) if self.table.is_strict => Err(damaged(game.id, &problem)),
            Err(_) => Ok(false),
        }
    }

    /// Goes to the first position of the next game of the range.
    fn end_game(&mut self) -> Result<()> {
        match self.current().id {
            id if id < self.last_game => self.next_game(id + 1),
            _ => {
                self.is_over = true;
                Ok(())
            }
        }
    }

    fn current(&self) -> &Replay {
        self.game.as_ref().expect("a cursor at a row has a game")
    }
}

/// The number that SQLite compares with a column of integers; `None` for NULL, a blob, or a text that is not
/// a number. Ids and plies are small, so a floating-point number represents them exactly.
fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Text(text) => {
            // Rust also parses words such as `nan`, which are texts to SQLite.
            let text =
                std::str::from_utf8(text).ok()?.trim_matches(|letter| matches!(letter, ' ' | '\t'..='\r'));
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
                .then(|| text.parse().ok())?
        }
        _ => None,
    }
}

// SAFETY: the struct is `repr(C)`, and its first field is the one that SQLite needs.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, plan: c_int, _: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        self.is_over = true;
        let mut bounds: [Option<i64>; 5] = [None; 5];
        let given = bounds.iter_mut().enumerate().filter(|(bound, _)| plan >> bound & 1 == 1);
        for ((index, bound), value) in given.zip(arguments.iter()) {
            let number = number(value);
            *bound = match 1 << index {
                _ if matches!(value, ValueRef::Null) => return Ok(()), // Comparing with NULL is never true.
                plan::FIRST_GAME => number.map(|number| number.ceil() as i64),
                plan::LAST_GAME | plan::LAST_PLY => number.map(|number| number.floor() as i64),
                _ => match number.filter(|number| number.fract() == 0.0) {
                    Some(number) => Some(number as i64),
                    None => return Ok(()),
                },
            };
        }
        let [game, first_game, last_game, ply, last_ply] = bounds;
        let first_game = game.or(first_game).unwrap_or(0);
        self.last_game = game.or(last_game).unwrap_or(i64::MAX);
        self.last_ply = ply.or(last_ply).unwrap_or(i64::MAX);
        self.reads_fen = plan & plan::FEN != 0 && ply.is_none();
        let continues = self
            .game
            .as_ref()
            .is_some_and(|current| game == Some(current.id) && ply.is_some_and(|ply| ply >= current.ply));
        if continues {
            self.is_over = false;
        } else {
            self.next_game(first_game)?;
        }
        let Some(ply) = ply else { return Ok(()) };
        while !self.is_over {
            if self.current().ply == ply {
                break;
            }
            if !self.advance()? {
                self.end_game()?;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        if self.current().ply < self.last_ply && self.advance()? {
            return Ok(());
        }
        self.end_game()
    }

    fn eof(&self) -> bool {
        self.is_over
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let game = self.current();
        let position = &game.position;
        match column {
            column::GAME => context.set_result(&game.id),
            column::PLY => context.set_result(&game.ply),
            column::KEY => context.set_result(&position.key().as_i64()),
            column::CLOCK => context.set_result(&position.halfmove_clock()),
            column::MOVE => match game.next_move() {
                Some((code, _)) => context.set_result(&code.bits()),
                None => context.set_result(&Null),
            },
            _ => {
                let mut space = [0; MAX_CANONICAL_FEN];
                // SAFETY: a FEN is ASCII. Checking it would take a twentieth of the time of a scan.
                let fen = unsafe { std::str::from_utf8_unchecked(game.fen(&mut space)) };
                context.set_result(&fen)
            }
        }
    }

    fn rowid(&self) -> Result<i64> {
        Err(Error::InvalidQuery) // The table has no row numbers.
    }
}
