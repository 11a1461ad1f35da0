//! Macros that describe tables, with one list of columns per table.

use rusqlite::Row;

use super::stored::{OnInvalidCell, StoredId, StoredText};
use crate::board::{GameResult, MoveCode, PositionKey};
use crate::id::{GameId, ImportId, NameId, OpeningId, Ply, SourceId};
use crate::store::row::virtual_table::Cell;

/// A range of a batch's text: byte offset and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Offset in bytes.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Text {
    /// Appends `piece` to `text`, the text of a batch, and returns its range there.
    ///
    /// # Panics
    /// If the batch's text, or `piece`, has 4 GiB or more.
    pub fn push(text: &mut String, piece: &str) -> Self {
        let start = u32::try_from(text.len()).expect("batch text under 4 GiB");
        text.push_str(piece);
        Self { start, len: u32::try_from(piece.len()).expect("text under 4 GiB") }
    }

    /// The part of `text` in this range.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..][..self.len as usize]
    }
}

/// A value that a column can contain. Texts are stored in the batch's text.
pub(crate) trait Value {
    /// The type of the same value when it is read from a database, where a cell can contain any value.
    type Stored;

    /// The value for SQL; `None` if `self` is a range that is not within `text`. This function is called from C
    /// code, so it must not panic.
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
        $(impl super::description::Value for $type {
            type Stored = $stored;

            #[inline]
            fn cell<'a>(&self, _: &'a str) -> Option<super::virtual_table::Cell<'a>> {
                let $value = *self;
                Some(super::virtual_table::Cell::$cell($shown))
            }
        })*
    };
}
pub(super) use values;

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
}

/// Declares the columns of a table, each with its name in SQL and its value in a row. `with` names one more
/// column, for the id of the run.
macro_rules! columns {
    (
        $kind:ident: $row:ident in $table:literal,
        |$this:ident| { $($column:literal => $value:expr),* $(,)? }
        $(with $run:literal)?
    ) => {
        impl super::virtual_table::Columns for $kind {
            type Row = $row;

            const TABLE: &'static str = $table;
            const ACTION: &'static str = concat!("write table ", $table);
            const COLUMNS: &'static [&'static str] = &[$($column),*];
            const RUN: &'static [&'static str] = &[$($run)?];

            #[inline]
            fn value<'a>(
                $this: &'a $row,
                text: &'a str,
                column: usize,
            ) -> Option<super::virtual_table::Cell<'a>> {
                use super::description::Value as _;
                let mut before = 0..;
                $(
                    if before.next() == Some(column) {
                        return $value.cell(text);
                    }
                )*
                None
            }
        }
    };
}
pub(super) use columns;

/// Declares the row of a table: a struct whose fields are columns, each preceded by its name in SQL.
///
/// `key` is the number of columns of the primary key. These columns come first. `key` is given in two cases:
///
/// - With `stored as`, the macro also declares a type for rows read from a database. It has the same columns
///   in the same order, then the id of the run.
/// - Without `stored as`, the table is a side table of `game`, and its first column is `game_id`.
macro_rules! table_row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal, key $key:literal, stored as $stored:ident {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
        with $run:literal $run_field:ident: $run_type:ty
    ) => {
        super::description::table_row! {
            $(#[$meta])*
            pub struct $row in $table {
                $($(#[$field_meta])* $column pub $field: $type,)*
            }
            with $run
        }
        super::description::stored_row! {
            $stored in $table, key $key { $($column $field: $type,)* $run $run_field: $run_type, }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal, key $key:literal {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
    ) => {
        super::description::table_row! {
            $(#[$meta])*
            pub struct $row in $table {
                $($(#[$field_meta])* $column pub $field: $type,)*
            }
        }
        impl super::description::SideRow for $row {
            const KEY: usize = $key;

            fn game(&mut self) -> &mut $crate::id::GameId {
                &mut self.game
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $row:ident in $table:literal {
            $($(#[$field_meta:meta])* $column:literal pub $field:ident: $type:ty,)*
        }
        $(with $run:literal)?
    ) => {
        $(#[$meta])*
        pub struct $row {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        super::description::columns! {
            $row: $row in $table,
            |row| { $($column => row.$field),* }
            $(with $run)?
        }
    };
}
pub(super) use table_row;

/// A row of a side table of `game`.
pub(crate) trait SideRow {
    /// The number of columns of the primary key. These are the first columns, beginning with `game_id`.
    const KEY: usize;

    /// The game that the row belongs to.
    fn game(&mut self) -> &mut GameId;
}

/// A row of a table as stored in a database.
pub(crate) trait StoredRow: Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];
    /// The number of columns of the primary key.
    const KEY: usize;

    /// Reads a row that has the columns in `COLUMNS`, in this order. Calls `misfit` for each invalid cell.
    fn read(row: &Row<'_>, misfit: &mut OnInvalidCell<'_>) -> rusqlite::Result<Self>;

    /// The value of the column with this index; `None` if there is no such column.
    fn cell(&self, column: usize) -> Option<Cell<'_>>;
}

/// Declares the type of a row read from a database. Each column is given with the type `T` of the value that is
/// written; the field has the type `<T as Value>::Stored`.
macro_rules! stored_row {
    ($stored:ident in $table:literal, key $key:literal { $($column:literal $field:ident: $type:ty,)* }) => {
        #[doc = concat!("A row of `", $table, "` as read from a database, where its cells can contain any value.")]
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $stored {
            $(pub(crate) $field: <$type as super::description::Value>::Stored,)*
        }

        impl super::description::StoredRow for $stored {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$($column),*];
            const KEY: usize = $key;

            fn read(
                row: &rusqlite::Row<'_>,
                misfit: &mut super::stored::OnInvalidCell<'_>,
            ) -> rusqlite::Result<Self> {
                let mut column = 0..;
                let mut next = || column.next().unwrap_or_default();
                Ok(Self { $($field: super::stored::read_cell(row, next(), misfit)?,)* })
            }

            fn cell(&self, column: usize) -> Option<super::virtual_table::Cell<'_>> {
                use super::stored::AsCell as _;
                let mut before = 0..;
                $(
                    if before.next() == Some(column) {
                        return Some(self.$field.as_cell());
                    }
                )*
                None
            }
        }
    };
}
pub(super) use stored_row;

/// Declares which field of a batch contains the rows of each table.
macro_rules! batch {
    ($batch:ident { $($kind:ident: $rows:ident,)* }) => {
        $(impl super::virtual_table::Rows for $kind {
            type Batch = $batch;

            #[inline]
            fn rows(batch: &$batch) -> &[Self::Row] {
                &batch.$rows
            }

            #[inline]
            fn text(batch: &$batch) -> &str {
                &batch.text
            }
        })*
    };
}
pub(super) use batch;
