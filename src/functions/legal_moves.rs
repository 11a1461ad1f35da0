//! `fen_legal_moves(fen)`: the legal moves of a position as a table.
//!
//! The unsafe code is sound because [`Table`] and [`Moves`] begin with SQLite's base structures, as `repr(C)`
//! and the order of their fields guarantee.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use rusqlite::types::ValueRef;
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor,
};
use rusqlite::{Connection, Error, ffi};

use super::arguments;
use crate::board::{MoveCode, Position};

const NAME: &CStr = c"fen_legal_moves";
/// The index of the hidden column that receives the argument.
const FEN: c_int = 5;

pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    const MODULE: Module<'_, Table> = Module::eponymous_only_module();
    connection.create_module(NAME, &MODULE, None)
}

/// The virtual table. It stores no rows: each cursor computes its rows from the argument.
#[repr(C)]
struct Table {
    base: ffi::sqlite3_vtab,
}

/// A cursor over the moves of one position.
#[derive(Default)]
#[repr(C)]
struct Moves<'t> {
    base: ffi::sqlite3_vtab_cursor,
    fen: String,
    position: Option<Position>,
    moves: Vec<MoveCode>,
    row: usize,
    table: PhantomData<&'t Table>,
}

// SAFETY: see the documentation of this module.
unsafe impl<'t> VTab<'t> for Table {
    type Aux = ();
    type Cursor = Moves<'t>;

    fn connect(
        connection: &mut VTabConnection,
        _aux: Option<&()>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        connection.config(VTabConfig::Innocuous)?;
        let columns = c"CREATE TABLE x(uci TEXT, san TEXT, move_code INTEGER, fen_after TEXT, key_after INTEGER, fen HIDDEN)";
        Ok((Cow::Borrowed(columns), Self { base: ffi::sqlite3_vtab::default() }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let (mut is_given, mut usable) = (false, None);
        for (index, constraint) in info.constraints().enumerate() {
            if constraint.column() == FEN
                && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
            {
                is_given = true;
                usable = usable.or(constraint.is_usable().then_some(index));
            }
        }
        if !is_given {
            return Err(Error::ModuleError("fen_legal_moves: needs a position: fen_legal_moves(fen)".into()));
        }
        // If the constraint is not usable, SQLite considers a join order in which the argument is not known yet.
        let Some(index) = usable else { return Ok(false) };
        let mut usage = info.constraint_usage(index);
        usage.set_argv_index(1);
        usage.set_omit(true);
        info.set_estimated_cost(40.0);
        info.set_estimated_rows(40);
        Ok(true)
    }

    fn open(&'t mut self) -> rusqlite::Result<Moves<'t>> {
        Ok(Moves::default())
    }
}

impl Moves<'_> {
    /// The code of the current row's move, with the bits for check and mate, and the position after the move.
    /// `None` after the last row.
    fn play(&self) -> Option<(MoveCode, Position)> {
        let mut after = self.position.clone()?;
        let code = after.make(*self.moves.get(self.row)?).ok()?;
        Some((after.mark_mate(code), after))
    }
}

// SAFETY: see the documentation of this module.
unsafe impl VTabCursor for Moves<'_> {
    fn filter(
        &mut self,
        _number: c_int,
        _text: Option<&str>,
        arguments: &Filters<'_>,
    ) -> rusqlite::Result<()> {
        self.moves.clear();
        self.row = 0;
        self.position = None;
        let Some(value) = arguments.iter().next().filter(|value| *value != ValueRef::Null) else {
            return Ok(());
        };
        let problem = |problem: arguments::Problem| problem.of("fen_legal_moves");
        let fen = arguments::text(value, 0).map_err(problem)?;
        let position = arguments::position(fen).map_err(problem)?;
        position.legal_moves(&mut self.moves);
        self.fen = arguments::lossy(fen);
        self.position = Some(position);
        Ok(())
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.row >= self.moves.len()
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        if column == FEN {
            return context.set_result(&self.fen);
        }
        let (Some(position), Some((code, after))) = (&self.position, self.play()) else { return Ok(()) };
        match column {
            0 => context.set_result(&position.uci(code).to_string()),
            1 => context.set_result(&position.san(code)),
            2 => context.set_result(&code.bits()),
            3 => context.set_result(&after.canonical_fen()),
            _ => context.set_result(&after.key().as_i64()),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.row as i64 + 1)
    }
}
