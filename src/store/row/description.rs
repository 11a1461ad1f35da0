//! The descriptions of tables: one list of columns per table.

use super::game::GameStatus;
use super::problem::{DuplicateKind, Severity};
use super::stored::{StoredId, StoredText};
use super::text::Text;
use crate::board::{GameResult, MoveCode, PositionKey};
use crate::id::{GameId, ImportId, NameId, OpeningId, Ply, SourceId};
use crate::store::row::virtual_table::{Cell, Rows};

/// Rows and the statement that inserts them.
pub(in crate::store) trait InsertRows: Rows {
    const TABLE: &'static str;
    /// `write table …`, for error messages.
    const ACTION: &'static str;
    /// `INSERT INTO … SELECT … FROM` the virtual table. Without `OR ROLLBACK`, SQLite would keep a statement
    /// journal in a temporary file.
    const INSERT: &'static str;
    /// Whether the statement has the run's number as a parameter.
    const NAMES_RUN: bool;

    /// The number of rows in a batch.
    fn count(batch: &Self::Batch) -> usize {
        Self::len(batch)
    }
}

/// A value that a column can contain. Texts are stored in the batch's text.
pub(crate) trait Value {
    /// The type of the same value as read from a database, where a cell may have any value.
    type Stored;

    /// The value for SQL; `None` if it is a text that `text` does not contain. This is called from C code, so
    /// it must not panic.
    fn cell<'a>(&self, text: &'a str) -> Option<Cell<'a>>;
}

impl Value for Text {
    type Stored = StoredText;

    #[inline]
    fn cell<'a>(&self, text: &'a str) -> Option<Cell<'a>> {
        let start = self.start as usize;
        text.get(start..start.checked_add(self.len as usize)?).map(Cell::Text)
    }
}

impl Value for &'static str {
    type Stored = StoredText;

    fn cell<'a>(&self, _: &'a str) -> Option<Cell<'a>> {
        Some(Cell::Text(self))
    }
}

impl<V: Value> Value for Option<V> {
    type Stored = Option<V::Stored>;

    #[inline]
    fn cell<'a>(&self, text: &'a str) -> Option<Cell<'a>> {
        self.as_ref().map_or(Some(Cell::Null), |value| value.cell(text))
    }
}

/// Implements `Value` for types that are numbers or words in SQL.
macro_rules! values {
    ($($type:ty: $cell:ident($value:ident => $shown:expr), $stored:ty;)*) => {
        $(impl Value for $type {
            type Stored = $stored;

            #[inline]
            fn cell<'a>(&self, _: &'a str) -> Option<Cell<'a>> {
                let $value = *self;
                Some(Cell::$cell($shown))
            }
        })*
    };
}

values! {
    u16: Integer(number => number.into()), i64;
    i32: Integer(number => number.into()), i64;
    u32: Integer(number => number.into()), i64;
    // SQL has only signed integers: hashes wrap, and all other values are small enough.
    u64: Integer(number => number.cast_signed()), i64;
    PositionKey: Integer(key => key.as_i64()), i64;
    MoveCode: Integer(code => code.bits().into()), i64;
    GameId: Integer(id => id.0.into()), StoredId<GameId>;
    Ply: Integer(ply => ply.0.into()), StoredId<Ply>;
    SourceId: Integer(id => id.0.into()), StoredId<SourceId>;
    NameId: Integer(id => id.0.into()), StoredId<NameId>;
    OpeningId: Integer(id => id.0.into()), StoredId<OpeningId>;
    ImportId: Integer(id => id.0.into()), StoredId<ImportId>;
    GameResult: Text(result => result.as_str()), StoredText;
    GameStatus: Text(status => status.as_str()), StoredText;
    DuplicateKind: Text(kind => kind.as_str()), StoredText;
    Severity: Text(severity => severity.as_str()), StoredText;
}

/// Declares the columns of a table. First come the expressions for the rows and the texts of a batch, then
/// the columns, each with its name in SQL and its value in a row. The value of one more column can be a
/// parameter of the statement (`with`).
macro_rules! columns {
    (
        $kind:ident: $row:ident in $table:literal,
        |$batch:ident: $batch_type:ty| $rows:expr, $text:expr;
        |$this:ident| { $first:literal => $first_value:expr $(, $column:literal => $value:expr)* $(,)? }
        $(with $extra:literal = $parameter:literal)?
    ) => {
        impl $crate::store::row::virtual_table::Rows for $kind {
            type Batch = $batch_type;
            const NAME: &'static std::ffi::CStr = super::description::c_str(concat!("batch_", $table, "\0"));
            const DECLARATION: &'static std::ffi::CStr =
                super::description::c_str(concat!("CREATE TABLE x (", $first $(, ", ", $column)*, ")\0"));
            const COLUMNS: &'static [&'static str] = &[$first $(, $column)*];

            fn len($batch: &$batch_type) -> usize {
                let rows: &[$row] = $rows;
                rows.len()
            }

            #[inline]
            fn cell(
                $batch: &$batch_type,
                row: usize,
                column: usize,
            ) -> Option<$crate::store::row::virtual_table::Cell<'_>> {
                use super::description::Value as _;
                let rows: &[$row] = $rows;
                let $this = rows.get(row)?;
                let text: &str = $text;
                let mut before = 0..;
                if before.next() == Some(column) {
                    return $first_value.cell(text);
                }
                $(
                    if before.next() == Some(column) {
                        return $value.cell(text);
                    }
                )*
                None
            }
        }

        impl super::description::InsertRows for $kind {
            const TABLE: &'static str = $table;
            const ACTION: &'static str = concat!("write table ", $table);
            const INSERT: &'static str = concat!(
                "INSERT OR ROLLBACK INTO ", $table, " (", $first $(, ", ", $column)* $(, ", ", $extra)?, ")
                 SELECT ", $first $(, ", ", $column)* $(, ", ", $parameter)?, " FROM batch_", $table
            );
            const NAMES_RUN: bool = false $(|| !$parameter.is_empty())?;
        }
    };
}
pub(super) use columns;

/// Declares the row of a table: a struct whose fields are columns, each preceded by its name in SQL.
///
/// `key` is the number of leading columns that are the primary key. `key` is given in two cases: for rows
/// that are also read back from a database (`stored`: the same columns in the same order, then the run's
/// number), and for rows of side tables of `game`, whose first column is the game.
macro_rules! table_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal of $batch:ident.$rows:ident, key $key:literal, stored as $stored:ident {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
        with $extra:literal $extra_field:ident: $extra_type:ty = $parameter:literal
    ) => {
        super::description::table_row! {
            $(#[$meta])*
            pub struct $row in $table of $batch.$rows {
                $($(#[$field_meta])* $column pub $field: $type,)*
            }
            with $extra = $parameter
        }
        super::stored::stored_row! {
            $stored in $table, key $key { $($column $field: $type,)* $extra $extra_field: $extra_type, }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal of $batch:ident.$rows:ident, key $key:literal {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
    ) => {
        super::description::table_row! {
            $(#[$meta])*
            pub struct $row in $table of $batch.$rows {
                $($(#[$field_meta])* $column pub $field: $type,)*
            }
        }
        impl super::header::SideRow for $row {
            const KEY: usize = $key;

            fn game(&mut self) -> &mut $crate::id::GameId {
                &mut self.game
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal of $batch:ident.$rows:ident {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
        $(with $extra:literal = $parameter:literal)?
    ) => {
        $(#[$meta])*
        pub struct $row {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        super::description::columns! {
            $row: $row in $table,
            |batch: $batch| &batch.$rows, &batch.text;
            |row| { $($column => row.$field),* }
            $(with $extra = $parameter)?
        }
    };
}
pub(super) use table_row;

pub(super) const fn c_str(text: &'static str) -> &'static std::ffi::CStr {
    match std::ffi::CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("one zero byte, at the end"),
    }
}
