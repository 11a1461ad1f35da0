//! Reads rows in which cells can have any value.

use std::sync::LazyLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use crate::id::{GameId, Ply};
use crate::store::cell::Table;
pub(crate) use crate::store::format_value;
use crate::store::row::{OnInvalidCell, POSITION_COLUMNS, StoredId, StoredRow, read_cell};
pub(crate) use crate::store::row::{StoredDuplicate, StoredGame, StoredProblem};
use crate::verify::{Collector, FindingKind, RowId};

/// Calls `see` with each row of a query.
pub(crate) fn for_each_row(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    see: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        see(row)?;
    }
    Ok(())
}

/// The rows of a database, and the findings about them.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) findings: &'c Collector,
}

impl Reader<'_> {
    /// Reports each row of a query that selects the primary key of a table.
    pub(crate) fn report_rows(
        self,
        kind: FindingKind,
        table: Table,
        sql: &str,
        found: &str,
    ) -> rusqlite::Result<()> {
        for_each_row(self.connection, sql, [], &mut |row| {
            self.findings.about(kind, table.name, RowId::read(row, 0, table.key)?, found);
            Ok(())
        })
    }
}

/// Rows that were read, and the place from which to read more; `None` if there are no more.
pub(crate) type Batch<R, P> = (Vec<R>, Option<P>);

/// A value for a message.
pub(crate) fn shown(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

/// The bytes of a text or a blob; empty for other values.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => Ok(text),
        _ => Ok(b""),
    }
}

/// The columns of `R` for a query, separated by commas.
pub(crate) fn columns<R: StoredRow>() -> String {
    R::COLUMNS.join(", ")
}

/// Reads a row with the columns of `R`. A value of a wrong type is reported, and read as NULL if NULL is
/// allowed, otherwise as 0 or as an empty text.
pub(crate) fn read<R: StoredRow>(row: &Row<'_>, findings: &Collector) -> rusqlite::Result<R> {
    R::read(row, &mut |column, expected, value| {
        report_invalid_cell(findings, row, (R::TABLE, R::COLUMNS, R::KEY), column, expected, value)
    })
}

#[cold]
fn report_invalid_cell(
    findings: &Collector,
    row: &Row<'_>,
    (table, columns, key): (&'static str, &'static [&'static str], usize),
    column: usize,
    expected: &str,
    value: ValueRef<'_>,
) -> rusqlite::Result<()> {
    let id = RowId::read(row, 0, &columns[..key])?;
    findings.wrong(FindingKind::WrongValue, table, id, columns[column], expected, format_value(value));
    Ok(())
}

/// SQL that selects the rows of `game` in a range of games.
pub(crate) static GAMES: LazyLock<String> = LazyLock::new(|| {
    let columns = columns::<StoredGame>();
    format!("SELECT {columns} FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id")
});

/// SQL that selects the rows of `game_position` in a range of games.
pub(crate) static POSITIONS: LazyLock<String> = LazyLock::new(|| {
    let columns = POSITION_COLUMNS.join(", ");
    format!("SELECT {columns} FROM game_position WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id, ply")
});

/// A row of `game_position` without its FEN, which is not copied because there are so many rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredPosition {
    pub(crate) game: StoredId<GameId>,
    pub(crate) ply: StoredId<Ply>,
    pub(crate) key: i64,
    pub(crate) halfmove_clock: i64,
    pub(crate) move_code: Option<i64>,
}

impl StoredPosition {
    /// The index of the FEN's column, which is the last one.
    pub(crate) const FEN: usize = POSITION_COLUMNS.len() - 1;

    /// Reads a row of [`POSITIONS`].
    pub(crate) fn read(row: &Row<'_>, findings: &Collector) -> rusqlite::Result<Self> {
        let misfit: &mut OnInvalidCell<'_> = &mut |column, expected, value| {
            let table = ("game_position", POSITION_COLUMNS, 2);
            report_invalid_cell(findings, row, table, column, expected, value)
        };
        Ok(Self {
            game: read_cell(row, 0, misfit)?,
            ply: read_cell(row, 1, misfit)?,
            key: read_cell(row, 2, misfit)?,
            halfmove_clock: read_cell(row, 3, misfit)?,
            move_code: read_cell(row, 4, misfit)?,
        })
    }
}
