//! Makes rows in memory readable as a table in SQL, so that SQL can insert them quickly.
//!
//! `INSERT INTO tag SELECT … FROM batch_tag` runs one statement per batch instead of one per row. `batch_tag`
//! is an eponymous virtual table: it exists only for the connection and is not part of the schema.
//!
//! Why the unsafe code is sound: a [`RowTable`] has a batch only while [`RowTable::insert`] runs, and `insert`
//! borrows the batch. A cursor copies the pointer to the batch when a statement begins to read.
//! While `insert` runs, only the statement of `insert` can begin to read, and this statement is finished
//! before `insert` returns.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{Context, Filters, IndexInfo, Module, VTab, VTabConnection, VTabCursor};
use rusqlite::{Connection, Error, Result, ToSql, params_from_iter};

use crate::id::ImportId;

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The number; `None` if the value is not an integer.
    pub(crate) const fn as_integer(self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(number) } else { None }
    }

    /// The text; `None` if the value is not a text.
    pub(crate) const fn as_text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The value as a text; `None` if it is NULL or a blob.
    pub(crate) fn to_text(self) -> Option<String> {
        match self {
            Self::Null | Self::Blob(_) => None,
            Self::Integer(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.to_owned()),
        }
    }
}

impl ToSql for Cell<'_> {
    #[inline]
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The columns of a table in SQL, whose values are read from rows in memory.
pub(crate) trait Columns: 'static {
    /// The type of a row.
    type Row;

    /// The table into which SQL inserts the rows. The virtual table has this name with the prefix `batch_`.
    const TABLE: &'static str;

    /// `write table …`, for error messages.
    const ACTION: &'static str;

    /// The columns' names in order.
    const COLUMNS: &'static [&'static str];

    /// The column of `TABLE` for the id of the run; empty if the table has no such column.
    const RUN: &'static [&'static str];

    /// The value of a column in a row whose texts are in `text`; `None` if there is no such column or text.
    /// Must not panic.
    fn value<'a>(row: &'a Self::Row, text: &'a str, column: usize) -> Option<Cell<'a>>;
}

/// Rows with the columns of [`Columns`], in a batch that SQL can read as a table.
pub(crate) trait Rows: Columns {
    /// The type of the batch.
    type Batch: Sync + 'static;

    /// The rows of a batch.
    fn rows(batch: &Self::Batch) -> &[Self::Row];

    /// The texts of a batch.
    fn text(batch: &Self::Batch) -> &str;

    /// The number of rows in a batch.
    fn len(batch: &Self::Batch) -> usize {
        Self::rows(batch).len()
    }

    /// One value; `None` if there is no such row, column or text.
    #[inline]
    fn cell(batch: &Self::Batch, row: usize, column: usize) -> Option<Cell<'_>> {
        Self::value(Self::rows(batch).get(row)?, Self::text(batch), column)
    }
}

/// A virtual table registered with one connection, and the statement that inserts its rows.
pub(in crate::store) struct RowTable<B> {
    pub(in crate::store) table: &'static str,
    /// For error messages.
    pub(in crate::store) action: &'static str,
    sql: String,
    /// Whether the statement has the run's id as a parameter.
    names_run: bool,
    source: Arc<Source<B>>,
    /// Keeps this type from being `Sync`. Otherwise one thread in `insert` could remove the batch while another
    /// thread in `insert` still needs it.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// Where the virtual table gets its rows.
struct Source<B> {
    /// The batch being read; null if there is none.
    batch: AtomicPtr<B>,
    columns: &'static [&'static str],
    /// Returns the number of rows that a batch has for this table.
    len: fn(&B) -> usize,
    /// Returns the value at a row index and a column index.
    cell: for<'b> fn(&'b B, usize, usize) -> Option<Cell<'b>>,
}

/// The SQL that copies the rows of a batch into `table`. `run` has the column for the id of the run, if there
/// is one.
fn insertion(table: &str, columns: &[&str], run: &[&str]) -> String {
    let columns = columns.join(", ");
    let (column, value) = run.first().map(|run| (format!(", {run}"), ", ?1")).unwrap_or_default();
    // Without `OR ROLLBACK`, SQLite would keep a statement journal in a temporary file.
    format!("INSERT OR ROLLBACK INTO {table} ({columns}{column}) SELECT {columns}{value} FROM batch_{table}")
}

impl<B: Sync + 'static> RowTable<B> {
    /// Registers the table with `connection`. The table has rows only during [`insert`](Self::insert).
    pub(in crate::store) fn register<R: Rows<Batch = B>>(connection: &Connection) -> Result<Self> {
        let batch = AtomicPtr::new(ptr::null_mut());
        let source = Arc::new(Source { batch, columns: R::COLUMNS, len: R::len, cell: R::cell });
        let name = format!("batch_{}", R::TABLE);
        connection.create_module(name.as_str(), Table::MODULE, Some(Arc::clone(&source)))?;
        let sql = insertion(R::TABLE, R::COLUMNS, R::RUN);
        let (table, action, names_run) = (R::TABLE, R::ACTION, !R::RUN.is_empty());
        Ok(Self { table, action, sql, names_run, source, not_sync: PhantomData })
    }

    /// The number of rows that a batch has for this table.
    pub(in crate::store) fn len(&self, batch: &B) -> usize {
        (self.source.len)(batch)
    }

    /// Inserts the rows of a batch for the run `run`, and returns the number of inserted rows.
    pub(in crate::store) fn insert(
        &self,
        connection: &Connection,
        batch: &B,
        run: Option<ImportId>,
    ) -> Result<usize> {
        struct Clear<'s, B>(&'s AtomicPtr<B>);
        impl<B> Drop for Clear<'_, B> {
            fn drop(&mut self) {
                self.0.store(ptr::null_mut(), Ordering::Release);
            }
        }
        let mut statement = connection.prepare_cached(&self.sql)?;
        self.source.batch.store(ptr::from_ref(batch).cast_mut(), Ordering::Release);
        let _clear = Clear(&self.source.batch);
        // `execute` resets the statement, even after an error. This closes its cursors.
        statement.execute(params_from_iter(self.names_run.then_some(run.map(|run| run.0))))
    }
}

/// The table as SQLite sees it. SQLite's own struct comes first.
#[repr(C)]
struct Table<B> {
    base: sqlite3_vtab,
    source: Arc<Source<B>>,
}

impl<B: Sync + 'static> Table<B> {
    const MODULE: &'static Module<'static, Self> = &Module::eponymous_only_module();
}

// SAFETY: the struct is `repr(C)`, and its first field is the one that SQLite needs.
unsafe impl<B: Sync + 'static> VTab<'_> for Table<B> {
    type Aux = Arc<Source<B>>;
    type Cursor = Cursor<B>;

    fn connect(
        _: &mut VTabConnection,
        source: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let source = Arc::clone(source.ok_or(Error::InvalidQuery)?);
        let declaration = CString::new(format!("CREATE TABLE x ({})", source.columns.join(", ")))?;
        Ok((Cow::Owned(declaration), Self { base: sqlite3_vtab::default(), source }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        info.set_estimated_cost(1e6);
        info.set_estimated_rows(1_000_000);
        Ok(true)
    }

    fn open(&mut self) -> Result<Cursor<B>> {
        let (base, source) = (sqlite3_vtab_cursor::default(), Arc::clone(&self.source));
        Ok(Cursor { base, source, batch: ptr::null(), row: 0, len: 0 })
    }
}

/// The batch being read, and the index of the current row. SQLite's own struct comes first.
#[repr(C)]
struct Cursor<B> {
    base: sqlite3_vtab_cursor,
    source: Arc<Source<B>>,
    /// The batch when the statement began to read; null if there was none.
    batch: *const B,
    row: usize,
    len: usize,
}

impl<B> Cursor<B> {
    fn batch(&self) -> Option<&B> {
        // SAFETY: `RowTable::insert` borrows the batch until the statement that owns this cursor is reset.
        unsafe { self.batch.as_ref() }
    }
}

// SAFETY: the struct is `repr(C)`, and its first field is the one that SQLite needs.
unsafe impl<B: Sync + 'static> VTabCursor for Cursor<B> {
    fn filter(&mut self, _: c_int, _: Option<&str>, _: &Filters<'_>) -> Result<()> {
        self.batch = self.source.batch.load(Ordering::Acquire);
        self.row = 0;
        self.len = self.batch().map_or(0, self.source.len);
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.row += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.row >= self.len
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let cell = |batch| (self.source.cell)(batch, self.row, column.try_into().ok()?);
        match self.batch().and_then(cell) {
            Some(cell) => context.set_result(&cell),
            None => Err(Error::ModuleError("no such value in the batch".to_owned())),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row as i64)
    }
}
