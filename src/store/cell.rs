//! Checked reading of cells: another program could have written a value that the column should not have.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Params, Row, RowIndex, Statement, ToSql};

use crate::board::MoveCode;
use crate::id::{GameId, ImportId, NameId, Ply, SourceId};
use crate::path_bytes::path_of_bytes;

/// Maximum length, in characters, of a text quoted in a message.
const QUOTED: usize = 80;

/// A table or view, and the columns that identify its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) key: &'static [&'static str],
}

impl Table {
    pub(crate) const fn new(name: &'static str, key: &'static [&'static str]) -> Self {
        Self { name, key }
    }
}

pub(crate) const IMPORT: Table = Table::new("import", &["import_id"]);
pub(crate) const SOURCE: Table = Table::new("source", &["source_id"]);
pub(crate) const PLAYER: Table = Table::new("player", &["player_id"]);
pub(crate) const PLAYER_ALIAS: Table = Table::new("player_alias", &["alias"]);
pub(crate) const EVENT: Table = Table::new("event", &["event_id"]);
pub(crate) const SITE: Table = Table::new("site", &["site_id"]);
pub(crate) const GAME: Table = Table::new("game", &["game_id"]);
/// The view of games with the names of their players, events and sites.
pub(crate) const GAMES: Table = Table::new("games", &["game_id"]);
pub(crate) const TAG: Table = Table::new("tag", &["game_id", "name"]);
pub(crate) const MOVE_EVAL: Table = Table::new("move_eval", &["game_id", "ply"]);
pub(crate) const COMMENT: Table = Table::new("comment", &["game_id", "line", "ply", "number"]);
pub(crate) const NAG: Table = Table::new("nag", &["game_id", "line", "ply", "nag"]);
pub(crate) const COMMAND: Table = Table::new("command", &["game_id", "line", "ply", "number"]);
pub(crate) const VARIATION: Table = Table::new("variation", &["game_id", "line"]);
pub(crate) const VARIATION_MOVE: Table = Table::new("variation_move", &["game_id", "line", "ply"]);
pub(crate) const GAME_POSITION: Table = Table::new("game_position", &["game_id", "ply"]);
pub(crate) const POSITION_GAME: Table = Table::new("position_game", &["key", "game_id", "ply"]);
pub(crate) const OCCURRENCE: Table = Table::new("occurrence", &["level", "key", "game_id", "ply"]);
pub(crate) const OCCURRENCE_LEVEL: Table = Table::new("occurrence_level", &["level"]);
pub(crate) const LEVEL_POSITION: Table = Table::new("level_position", &["level", "key"]);
pub(crate) const LEVEL_CONTINUATION: Table = Table::new("level_continuation", &["level", "key", "move_code"]);
pub(crate) const VISIT_SET: Table = Table::new("visit_set", &["level", "block", "key"]);
pub(crate) const GAME_COLUMN: Table = Table::new("game_column", &["name", "block"]);
pub(crate) const GAME_SET: Table = Table::new("game_set", &["block", "kind", "value"]);
pub(crate) const OPENING: Table = Table::new("opening", &["opening_id"]);
pub(crate) const SETTING: Table = Table::new("setting", &["name"]);
pub(crate) const PROBLEM: Table = Table::new("problem", &["problem_id"]);
pub(crate) const REMOVED_GAME: Table = Table::new("removed_game", &["source_id", "byte_offset"]);
pub(crate) const DELETED_GAME: Table = Table::new("deleted_game", &["game_id"]);
pub(crate) const GAME_MOVES: Table = Table::new("game_moves", &["game_id"]);
pub(crate) const DUPLICATE: Table = Table::new("duplicate", &["source_id", "byte_offset"]);

/// A cell with a value that its column cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCell {
    /// The table or view.
    pub table: &'static str,
    /// The columns that identify the row, with their values, such as `game_id 7, ply 12`. Contains only the
    /// columns that the query returned.
    pub row: String,
    /// The column.
    pub column: String,
    /// The value found.
    pub found: String,
    /// The values allowed.
    pub expected: &'static str,
}

impl fmt::Display for WrongCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, row, column, found, expected } = self;
        let blank = if row.is_empty() { "" } else { " " };
        write!(f, "{table}{blank}{row}: {column} is {found}, expected {expected}")
    }
}

impl std::error::Error for WrongCell {}

impl WrongCell {
    /// The wrong cell that caused `error`; `None` if the error has another cause.
    pub(crate) fn from_error(error: &rusqlite::Error) -> Option<&Self> {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, cause) => cause.downcast_ref(),
            _ => None,
        }
    }
}

pub(crate) fn read_rows<T>(
    query: &mut Statement<'_>,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut rows = query.query(params)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

/// A type that can be read from a cell.
pub(crate) trait Stored<'r>: Sized {
    /// Describes the allowed values.
    const EXPECTED: &'static str;

    fn read(value: ValueRef<'r>) -> Option<Self>;
}

/// The current row of a query, and the table or view that it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'r> {
    row: &'r Row<'r>,
    table: Table,
}

impl<'r> Cells<'r> {
    pub(crate) const fn new(row: &'r Row<'r>, table: Table) -> Self {
        Self { row, table }
    }

    /// The value of a column.
    ///
    /// # Errors
    /// A [`WrongCell`] as an error of SQLite; another error if the query has no such column.
    pub(crate) fn get<T: Stored<'r>>(self, column: impl RowIndex) -> rusqlite::Result<T> {
        self.read(column, T::EXPECTED, T::read)
    }

    /// The value of a column, converted with `read`.
    ///
    /// # Errors
    /// A [`WrongCell`] as an error of SQLite, if `read` returns `None`; another error if the query has no
    /// such column.
    pub(crate) fn read<T>(
        self,
        column: impl RowIndex,
        expected: &'static str,
        read: impl FnOnce(ValueRef<'r>) -> Option<T>,
    ) -> rusqlite::Result<T> {
        let index = column.idx(self.row.as_ref())?;
        let value = self.row.get_ref(index)?;
        read(value).ok_or_else(|| self.wrong(index, value, expected))
    }

    #[cold]
    fn wrong(self, index: usize, value: ValueRef<'_>, expected: &'static str) -> rusqlite::Error {
        let id = |&column: &&str| {
            let value = self.row.get_ref(column).ok()?;
            Some(format!("{column} {}", format_value(value)))
        };
        let row: Vec<_> = self.table.key.iter().filter_map(id).collect();
        let column = self.row.as_ref().column_name(index).unwrap_or("a column").to_owned();
        let (table, row, found) = (self.table.name, row.join(", "), format_value(value));
        let cell = WrongCell { table, row, column, found, expected };
        rusqlite::Error::FromSqlConversionFailure(0, Type::Null, Box::new(cell))
    }
}

/// Formats a value for a message.
pub(crate) fn format_value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(text) => {
            let is_text = std::str::from_utf8(text).is_ok();
            let quoted: String = String::from_utf8_lossy(text).chars().take(QUOTED + 1).collect();
            let quoted = match quoted.char_indices().nth(QUOTED) {
                Some((end, _)) => format!("'{}…'", &quoted[..end]),
                None => format!("'{quoted}'"),
            };
            if is_text { quoted } else { format!("{quoted}, which is not UTF-8") }
        }
        ValueRef::Blob(bytes) => format!("a blob of length {}", bytes.len()),
    }
}

/// Implements `Stored` for integer types.
macro_rules! stored_numbers {
    ($($type:ty: $expected:literal),*) => {$(
        impl Stored<'_> for $type {
            const EXPECTED: &'static str = $expected;

            fn read(value: ValueRef<'_>) -> Option<Self> {
                value.as_i64().ok()?.try_into().ok()
            }
        }
    )*};
}

stored_numbers! {
    i32: "a whole number from -2147483648 to 2147483647",
    u16: "a whole number from 0 to 65535",
    u32: "a whole number from 0 to 4294967295",
    u64: "a whole number from 0",
    i64: "a whole number"
}

/// Implements `Stored` for types that a column contains as a `u32`.
macro_rules! stored_as_u32 {
    ($($type:ty: $from:expr),*) => {$(
        impl Stored<'_> for $type {
            const EXPECTED: &'static str = u32::EXPECTED;

            fn read(value: ValueRef<'_>) -> Option<Self> {
                u32::read(value).map($from)
            }
        }
    )*};
}

stored_as_u32! {
    GameId: GameId,
    ImportId: ImportId,
    MoveCode: MoveCode::from_stored,
    NameId: NameId,
    Ply: Ply,
    SourceId: SourceId
}

impl Stored<'_> for f64 {
    const EXPECTED: &'static str = "a number";

    fn read(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Real(number) => Some(number),
            ValueRef::Integer(number) => Some(number as Self),
            _ => None,
        }
    }
}

impl<'r> Stored<'r> for &'r str {
    const EXPECTED: &'static str = "a string";

    fn read(value: ValueRef<'r>) -> Option<Self> {
        value.as_str().ok()
    }
}

impl<'r> Stored<'r> for String {
    const EXPECTED: &'static str = <&str>::EXPECTED;

    fn read(value: ValueRef<'r>) -> Option<Self> {
        <&str>::read(value).map(str::to_owned)
    }
}

/// A text for a list, cut after its first 1000 characters: a name can have many MiB, and a list has many
/// rows.
pub(crate) struct TruncatedText(pub(crate) String);

impl Stored<'_> for TruncatedText {
    const EXPECTED: &'static str = <&str>::EXPECTED;

    fn read(value: ValueRef<'_>) -> Option<Self> {
        const MOST: usize = 1000;
        let text = <&str>::read(value)?;
        Some(Self(match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }))
    }
}

impl From<TruncatedText> for String {
    fn from(TruncatedText(text): TruncatedText) -> Self {
        text
    }
}

impl<'r> Stored<'r> for &'r [u8] {
    const EXPECTED: &'static str = "a blob";

    fn read(value: ValueRef<'r>) -> Option<Self> {
        value.as_blob().ok()
    }
}

/// A path: a text, or a blob of its bytes if it is not UTF-8.
impl Stored<'_> for PathBuf {
    const EXPECTED: &'static str = "a path";

    fn read(value: ValueRef<'_>) -> Option<Self> {
        value.as_bytes().ok().map(path_of_bytes)
    }
}

impl<'r, T: Stored<'r>> Stored<'r> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn read(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Null => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

/// A path as a value of SQLite: text if it is UTF-8, else a blob of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPath<P>(pub(crate) P);

impl<P: AsRef<Path>> ToSql for StoredPath<P> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let path = self.0.as_ref();
        let bytes = path.as_os_str().as_encoded_bytes();
        Ok(ToSqlOutput::Borrowed(match path.to_str() {
            Some(text) => ValueRef::Text(text.as_bytes()),
            None => ValueRef::Blob(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn read<T: for<'r> Stored<'r>>(cell: &str) -> Result<T, String> {
        let connection = Connection::open_in_memory().unwrap();
        let sql = format!("SELECT 7 AS game_id, 'x' AS ply, {cell} AS cell");
        let read = connection.query_row(&sql, [], |row| Cells::new(row, GAME_POSITION).get("cell"));
        read.map_err(|error| WrongCell::from_error(&error).expect("a wrong cell").to_string())
    }

    #[test]
    fn values_of_the_right_kind_are_read() {
        assert_eq!(read::<u16>("65535"), Ok(u16::MAX));
        assert_eq!(read::<Option<u32>>("NULL"), Ok(None));
        assert_eq!(read::<u64>("9223372036854775807"), Ok(i64::MAX as u64));
        assert_eq!(read::<f64>("1.5"), Ok(1.5));
        assert_eq!(read::<f64>("2"), Ok(2.0));
        assert_eq!(read::<Option<String>>("'é'"), Ok(Some("é".to_owned())));
    }

    #[test]
    fn other_values_are_reported_with_table_row_and_column() {
        let messages = [
            read::<u16>("65536").unwrap_err(),
            read::<u64>("-1").unwrap_err(),
            read::<Option<u32>>("'a'").unwrap_err(),
            read::<String>("NULL").unwrap_err(),
            read::<String>("x'00ff'").unwrap_err(),
            read::<String>("CAST(x'61ff' AS TEXT)").unwrap_err(),
        ];
        let long = read::<i64>("printf('%.*c', 90, 'x')").unwrap_err();
        assert!(long.contains(&format!("'{}…'", "x".repeat(80))), "{long}");
        insta::assert_snapshot!(messages.join("\n"), @"
        game_position game_id 7, ply 'x': cell is 65536, expected a whole number from 0 to 65535
        game_position game_id 7, ply 'x': cell is -1, expected a whole number from 0
        game_position game_id 7, ply 'x': cell is 'a', expected a whole number from 0 to 4294967295
        game_position game_id 7, ply 'x': cell is NULL, expected a string
        game_position game_id 7, ply 'x': cell is a blob of length 2, expected a string
        game_position game_id 7, ply 'x': cell is 'a�', which is not UTF-8, expected a string
        ");
    }
}

#[cfg(all(test, unix))]
mod path_tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;
    use rusqlite::Connection;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn every_path_is_decoded_again(bytes in prop_oneof![
            proptest::collection::vec(1..=255_u8, 0..40),
            "\\PC{0,20}".prop_map(String::into_bytes),
        ]) {
            let database = Connection::open_in_memory().unwrap();
            database.execute_batch("CREATE TABLE source (path TEXT NOT NULL)").unwrap();
            let path = path_of_bytes(&bytes);
            database.execute("INSERT INTO source VALUES (?1)", [StoredPath(&path)]).unwrap();
            let read = |row: &rusqlite::Row<'_>| {
                Ok((Cells::new(row, SOURCE).get("path")?, row.get::<_, String>("kind")?))
            };
            let (back, kind): (PathBuf, _) =
                database.query_row("SELECT path, typeof(path) AS kind FROM source", [], read).unwrap();
            prop_assert_eq!(back, path);
            prop_assert_eq!(kind, if std::str::from_utf8(&bytes).is_ok() { "text" } else { "blob" });
        }
    }
}
