//! Exports stored games as rows of a table, and their positions as FEN, EPD or rows of a table: all positions
//! or a random sample.

mod game_fields;
mod positions;
mod sample;

use rusqlite::types::ValueRef;

use crate::id::GameId;
use crate::query::error::Error;
use crate::query::position::PositionQuery;
use crate::query::sequence::PositionSequence;
use crate::query::text::brief;
use crate::store::{self, Database, HitOrder, Lines, Scan, Search, Selection};

pub use game_fields::GameFields;
pub use positions::{PositionFields, PositionFormat, Positions, WantedPositions, write_positions};
pub use sample::{Draw, Sample};

/// Which games to export.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// The games of a selection, in an order.
    Selection(&'a Selection, HitOrder),
    /// The games of a selection that reached a position.
    Reached(&'a PositionQuery, &'a Selection, HitOrder),
    /// The games of a selection whose positions complete a sequence.
    Passed(&'a PositionSequence, &'a Selection, HitOrder),
    /// The games whose numbers are in the first column of a read-only query, in its order.
    Sql(&'a str),
}

/// Calls `visit` with the numbers of the chosen games until it returns `false`.
///
/// # Errors
/// Errors of SQLite, [`Error::NotAGame`], and errors of `visit`.
pub fn choose_games<E: From<Error>>(
    database: &Database,
    choice: Choice<'_>,
    mut visit: impl FnMut(GameId) -> Result<bool, E>,
) -> Result<(), E> {
    let mut visited = Ok(());
    choose(database, choice, &mut |game| match visit(game) {
        Ok(goes_on) => goes_on,
        Err(error) => {
            visited = Err(error);
            false
        }
    })?;
    visited
}

fn choose(database: &Database, choice: Choice<'_>, see: &mut dyn FnMut(GameId) -> bool) -> Result<(), Error> {
    let (lines, limit, offset) = (Lines::Main, None, 0);
    match choice {
        Choice::Selection(selection, order) => {
            database.visit_games(selection, order, see)?;
        }
        Choice::Reached(query, selection, order) => {
            let (key, fen) = (query.position.key(), query.position.canonical_fen());
            let search = Search { key, fen: &fen, lines, selection, order, limit, offset };
            let mut last = None;
            database.visit_hits(&search, |hit| {
                let game = hit.game.game;
                last.replace(game) == Some(game) || see(game)
            })?;
        }
        Choice::Passed(sequence, selection, order) => {
            let scan = Scan { lines, selection, order, limit, offset };
            database.scan(&scan, sequence, |hit| see(hit.game.game))?;
        }
        Choice::Sql(sql) => choose_by_sql(database, sql, see)?,
    }
    Ok(())
}

fn choose_by_sql(database: &Database, sql: &str, visit: &mut dyn FnMut(GameId) -> bool) -> Result<(), Error> {
    let failed = |source| store::Error::sqlite(database.path(), "read the game numbers", source);
    let mut query = database.query(sql)?;
    let mut rows = query.rows([])?;
    while let Some(row) = rows.next_row()? {
        let value = row.get_ref(0).map_err(failed)?;
        let number = value.as_i64().ok().and_then(|number| u32::try_from(number).ok());
        let game = number.ok_or_else(|| Error::NotAGame { found: describe(value) })?;
        if !visit(GameId(game)) {
            break;
        }
    }
    Ok(())
}

/// Describes a value that is not the number of a game, for an error.
fn describe(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(text) => format!("the text {:?}", brief(&String::from_utf8_lossy(text))),
        ValueRef::Blob(_) => "a BLOB".to_owned(),
    }
}
