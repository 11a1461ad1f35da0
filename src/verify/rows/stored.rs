//! Rows as they stand in the database, whatever stands there.

use rusqlite::Row;
use rusqlite::types::ValueRef;

pub(crate) use crate::store::tell;
use crate::verify::finding::{Collector, Kind, RowId};

/// A value as it is told.
pub(crate) fn shown(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

/// The bytes of a text, or of a blob in its place; nothing for anything else.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => Ok(text),
        _ => Ok(b""),
    }
}

/// Reads the columns of a row; the first ones are its primary key. What is no whole number, or no text, where one belongs
/// is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) row: &'a Row<'a>,
    pub(crate) findings: &'a Collector,
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    /// How many columns the primary key has.
    pub(crate) key: usize,
}

impl Fields<'_> {
    /// A whole number; 0 if something else stands there.
    pub(crate) fn integer(&self, column: usize) -> rusqlite::Result<i64> {
        match self.row.get_ref(column)? {
            ValueRef::Integer(number) => Ok(number),
            other => {
                self.misfit(column, "a whole number", other)?;
                Ok(0)
            }
        }
    }

    /// A whole number or NULL.
    pub(crate) fn optional_integer(&self, column: usize) -> rusqlite::Result<Option<i64>> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => self.integer(column).map(Some),
        }
    }

    /// A text or NULL.
    pub(crate) fn optional_text(&self, column: usize) -> rusqlite::Result<Option<String>> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
            other => {
                self.misfit(column, "a text", other)?;
                Ok(None)
            }
        }
    }

    #[cold]
    fn misfit(&self, column: usize, expected: &str, value: ValueRef<'_>) -> rusqlite::Result<()> {
        let mut row = RowId::default();
        for (index, &name) in self.columns.iter().enumerate().take(self.key) {
            let id = match self.row.get_ref(index)? {
                ValueRef::Integer(number) => number.into(),
                ValueRef::Text(text) => {
                    crate::verify::finding::Id::Text(String::from_utf8_lossy(text).into_owned())
                }
                other => crate::verify::finding::Id::Text(tell(other)),
            };
            row.0.push((name, id));
        }
        self.findings.wrong(Kind::WrongValue, self.table, row, self.columns[column], expected, tell(value));
        Ok(())
    }
}

/// A row of `game_position` without its FEN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredPosition {
    pub(crate) game: i64,
    pub(crate) ply: i64,
    pub(crate) key: i64,
    pub(crate) halfmove_clock: i64,
    pub(crate) move_code: Option<i64>,
}

impl StoredPosition {
    const COLUMNS: [&str; 6] = ["game_id", "ply", "key", "halfmove_clock", "move_code", "fen"];
    /// The rows of a range of games.
    pub(crate) const SQL: &str = "SELECT game_id, ply, key, halfmove_clock, move_code, fen FROM game_position
         WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id, ply";
    /// The column of the FEN.
    pub(crate) const FEN: usize = 5;

    pub(crate) fn read(row: &Row<'_>, findings: &Collector) -> rusqlite::Result<Self> {
        let fields = Fields { row, findings, table: "game_position", columns: &Self::COLUMNS, key: 2 };
        Ok(Self {
            game: fields.integer(0)?,
            ply: fields.integer(1)?,
            key: fields.integer(2)?,
            halfmove_clock: fields.integer(3)?,
            move_code: fields.optional_integer(4)?,
        })
    }
}

/// A row of `game`.
#[derive(Clone, Debug)]
pub(crate) struct StoredGame {
    pub(crate) game: i64,
    pub(crate) source: i64,
    pub(crate) import: i64,
    pub(crate) byte_offset: i64,
    pub(crate) byte_length: i64,
    pub(crate) event: Option<i64>,
    pub(crate) site: Option<i64>,
    pub(crate) white: Option<i64>,
    pub(crate) black: Option<i64>,
    pub(crate) white_elo: Option<i64>,
    pub(crate) black_elo: Option<i64>,
    pub(crate) opening: Option<i64>,
    pub(crate) ply_count: i64,
    pub(crate) moves_hash: i64,
    pub(crate) prefix_hash: Option<i64>,
    /// The columns of text.
    texts: [Option<String>; 10],
}

impl StoredGame {
    const COLUMNS: [&str; 25] = [
        "game_id",
        "source_id",
        "import_id",
        "byte_offset",
        "byte_length",
        "event_id",
        "site_id",
        "white_id",
        "black_id",
        "white_elo",
        "black_elo",
        "opening_id",
        "ply_count",
        "moves_hash",
        "prefix_hash",
        "date",
        "round",
        "result",
        "white_title",
        "black_title",
        "eco",
        "time_control",
        "variant",
        "start_fen",
        "status",
    ];
    const FIRST_TEXT: usize = 15;

    /// The rows of a range of games.
    pub(crate) fn sql() -> String {
        let columns = Self::COLUMNS.join(", ");
        format!("SELECT {columns} FROM game WHERE game_id BETWEEN ?1 AND ?2 ORDER BY game_id")
    }

    pub(crate) fn read(row: &Row<'_>, findings: &Collector) -> rusqlite::Result<Self> {
        let fields = Fields { row, findings, table: "game", columns: &Self::COLUMNS, key: 1 };
        let mut texts = <[Option<String>; 10]>::default();
        for (index, text) in texts.iter_mut().enumerate() {
            *text = fields.optional_text(Self::FIRST_TEXT + index)?;
        }
        Ok(Self {
            game: fields.integer(0)?,
            source: fields.integer(1)?,
            import: fields.integer(2)?,
            byte_offset: fields.integer(3)?,
            byte_length: fields.integer(4)?,
            event: fields.optional_integer(5)?,
            site: fields.optional_integer(6)?,
            white: fields.optional_integer(7)?,
            black: fields.optional_integer(8)?,
            white_elo: fields.optional_integer(9)?,
            black_elo: fields.optional_integer(10)?,
            opening: fields.optional_integer(11)?,
            ply_count: fields.integer(12)?,
            moves_hash: fields.integer(13)?,
            prefix_hash: fields.optional_integer(14)?,
            texts,
        })
    }

    /// A column of text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let at = Self::COLUMNS[Self::FIRST_TEXT..].iter().position(|&column| column == name)?;
        self.texts[at].as_deref()
    }
}
