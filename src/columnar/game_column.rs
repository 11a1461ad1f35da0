//! Reads the values of tables from a batch of rows. In the table `game`, names replace the ids that the
//! database contains.

use super::schema::Table;
use crate::opening::OpeningBook;
use crate::store::row::virtual_table::{Cell, Columns as _, Rows as _};
use crate::store::row::{GameRow, HeaderBatch, ProblemRow, Text};

/// A function that reads one value of a table from a batch, given the index of the row and the index of the
/// column.
pub(super) type CellOf = for<'b> fn(&'b HeaderBatch, usize, usize) -> Option<Cell<'b>>;

/// The number of rows of a side table or of `problem` in a batch, and the function that reads their values.
pub(super) fn rows_of(table: &Table, batch: &HeaderBatch) -> (usize, CellOf) {
    match HeaderBatch::SIDE_TABLES.iter().find(|side| side.name == table.name) {
        Some(side) => ((side.len)(batch), side.cell),
        None => (batch.problems.len(), ProblemRow::cell),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GameColumn {
    Event,
    Site,
    White,
    Black,
    OpeningEco,
    Opening,
    /// The column of [`GameRow`] with this index.
    Row(usize),
}

impl GameColumn {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "event" => Self::Event,
            "site" => Self::Site,
            "white" => Self::White,
            "black" => Self::Black,
            "opening_eco" => Self::OpeningEco,
            "opening" => Self::Opening,
            _ => Self::Row(GameRow::COLUMNS.iter().position(|column| *column == name)?),
        })
    }

    /// The value of the column for the game with the index `row` in a batch.
    pub(super) fn cell<'b>(self, batch: &'b HeaderBatch, row: usize, openings: &'b OpeningBook) -> Cell<'b> {
        let names = &batch.names[row];
        let name = |name: Option<Text>| name.map_or(Cell::Null, |name| Cell::Text(name.of(&batch.text)));
        let opening = || batch.games[row].opening.and_then(|id| openings.by_id(id));
        match self {
            Self::Event => name(names.event),
            Self::Site => name(names.site),
            Self::White => name(names.white),
            Self::Black => name(names.black),
            Self::OpeningEco => opening().map_or(Cell::Null, |opening| Cell::Text(&opening.eco)),
            Self::Opening => opening().map_or(Cell::Null, |opening| Cell::Text(&opening.name)),
            Self::Row(column) => GameRow::cell(batch, row, column).unwrap_or(Cell::Null),
        }
    }
}
