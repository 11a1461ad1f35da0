//! Makes rows in memory readable as a table in SQL, so that SQL can insert them quickly.
//!
//! `INSERT INTO tag SELECT … FROM batch_tag` runs one statement per batch instead of one per row. `batch_tag`
//! is an eponymous virtual table: it exists only for the connection and is not part of the schema. This
//! module uses SQLite's own interface, because the result setter of `rusqlite::vtab` makes another copy of
//! each text.
//!
//! Why the unsafe code is sound: a [`RowTable`] has a batch only while [`RowTable::insert`] runs, which
//! borrows the batch for that time. A cursor copies the pointer to the batch when a statement begins to read.
//! While `insert` runs, only the statement of `insert` can begin to read, and this statement is finished
//! before `insert` returns.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, ffi, params_from_iter};

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
    type Batch: Sync;

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

/// The batch being read, if any.
struct Slot<B>(Mutex<Option<NonNull<B>>>);

// SAFETY: the pointer is dereferenced only for shared access to a `Sync` batch that `RowTable::insert` keeps
// borrowed.
unsafe impl<B: Sync> Send for Slot<B> {}
// SAFETY: the pointer is behind a mutex, and it is used only for shared access to a `Sync` batch.
unsafe impl<B: Sync> Sync for Slot<B> {}

impl<B> Slot<B> {
    fn set(&self, batch: Option<NonNull<B>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = batch;
    }

    fn get(&self) -> Option<NonNull<B>> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A virtual table registered with one connection, and the statement that inserts its rows.
pub(in crate::store) struct RowTable<B> {
    pub(in crate::store) table: &'static str,
    /// For error messages.
    pub(in crate::store) action: &'static str,
    /// Returns the number of rows that a batch has for this table.
    pub(in crate::store) len: fn(&B) -> usize,
    sql: String,
    /// Whether the statement has the run's id as a parameter.
    names_run: bool,
    slot: Arc<Slot<B>>,
    /// Keeps this type from being `Sync`. Otherwise one thread in `insert` could clear the slot while another
    /// thread in `insert` still needs it.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The SQL that copies the rows of a batch into `table`. `run` has the column for the id of the run, if there
/// is one.
fn insertion(table: &str, columns: &[&str], run: &[&str]) -> String {
    let columns = columns.join(", ");
    let (column, value) = run.first().map(|run| (format!(", {run}"), ", ?1")).unwrap_or_default();
    // Without `OR ROLLBACK`, SQLite would keep a statement journal in a temporary file.
    format!("INSERT OR ROLLBACK INTO {table} ({columns}{column}) SELECT {columns}{value} FROM batch_{table}")
}

impl<B> RowTable<B> {
    /// Registers the table with `connection`. The table has rows only during [`insert`](Self::insert).
    pub(in crate::store) fn register<R: Rows<Batch = B>>(connection: &Connection) -> rusqlite::Result<Self> {
        let name = CString::new(format!("batch_{}", R::TABLE))?;
        let slot = Arc::new(Slot(Mutex::new(None)));
        let aux = Arc::into_raw(Arc::clone(&slot)).cast_mut().cast::<c_void>();
        // SAFETY: the handle is open while `connection` is borrowed; SQLite copies the name; the module is
        // static; `aux` is an owned reference that `drop_aux` releases. SQLite calls `drop_aux` even if the
        // registration fails.
        let code = unsafe {
            ffi::sqlite3_create_module_v2(
                connection.handle(),
                name.as_ptr(),
                Module::<R>::STATIC,
                aux,
                Some(drop_aux::<R>),
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        }
        let sql = insertion(R::TABLE, R::COLUMNS, R::RUN);
        let (table, action, names_run) = (R::TABLE, R::ACTION, !R::RUN.is_empty());
        Ok(Self { table, action, len: R::len, sql, names_run, slot, not_sync: PhantomData })
    }

    /// Inserts the rows of a batch for the run `run`, and returns the number of inserted rows.
    pub(in crate::store) fn insert(
        &self,
        connection: &Connection,
        batch: &B,
        run: Option<ImportId>,
    ) -> rusqlite::Result<usize> {
        struct Clear<'s, B>(&'s Slot<B>);
        impl<B> Drop for Clear<'_, B> {
            fn drop(&mut self) {
                self.0.set(None);
            }
        }
        let mut statement = connection.prepare_cached(&self.sql)?;
        self.slot.set(Some(NonNull::from(batch)));
        let _clear = Clear(&self.slot);
        // `execute` resets the statement, even after an error. This closes its cursors and drops their
        // pointers to texts.
        statement.execute(params_from_iter(self.names_run.then_some(run.map(|run| run.0))))
    }
}

/// The table as SQLite sees it. SQLite's own struct comes first.
#[repr(C)]
struct Table<R: Rows> {
    base: ffi::sqlite3_vtab,
    slot: Arc<Slot<R::Batch>>,
}

/// The batch being read, and the index of the current row. SQLite's own struct comes first.
#[repr(C)]
struct Cursor<R: Rows> {
    base: ffi::sqlite3_vtab_cursor,
    batch: Option<NonNull<R::Batch>>,
    row: usize,
    len: usize,
}

struct Module<R>(PhantomData<R>);

impl<R: Rows> Module<R> {
    /// An eponymous-only table: `xCreate` is null. See <https://sqlite.org/vtab.html>.
    const STATIC: &'static ffi::sqlite3_module = &ffi::sqlite3_module {
        iVersion: 1,
        xCreate: None,
        xConnect: Some(connect::<R>),
        xBestIndex: Some(best_index),
        xDisconnect: Some(disconnect::<R>),
        xDestroy: None,
        xOpen: Some(open::<R>),
        xClose: Some(close::<R>),
        xFilter: Some(filter::<R>),
        xNext: Some(next::<R>),
        xEof: Some(eof::<R>),
        xColumn: Some(column::<R>),
        xRowid: Some(rowid::<R>),
        xUpdate: None,
        xBegin: None,
        xSync: None,
        xCommit: None,
        xRollback: None,
        xFindFunction: None,
        xRename: None,
        xSavepoint: None,
        xRelease: None,
        xRollbackTo: None,
        xShadowName: None,
        // Without the feature `bundled`, this struct has the fields of an older SQLite.
        #[cfg(feature = "bundled")]
        xIntegrity: None,
    };
}

unsafe extern "C" fn drop_aux<R: Rows>(aux: *mut c_void) {
    // SAFETY: `aux` is the reference that `register` passed to SQLite, and SQLite calls this once.
    drop(unsafe { Arc::from_raw(aux.cast_const().cast::<Slot<R::Batch>>()) });
}

unsafe extern "C" fn connect<R: Rows>(
    db: *mut ffi::sqlite3,
    aux: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
    table: *mut *mut ffi::sqlite3_vtab,
    _error: *mut *mut c_char,
) -> c_int {
    let Ok(declaration) = CString::new(format!("CREATE TABLE x ({})", R::COLUMNS.join(", "))) else {
        return ffi::SQLITE_ERROR;
    };
    // SAFETY: SQLite passes its own open handle, and only reads the declaration.
    let code = unsafe { ffi::sqlite3_declare_vtab(db, declaration.as_ptr()) };
    if code != ffi::SQLITE_OK {
        return code;
    }
    let slot = aux.cast_const().cast::<Slot<R::Batch>>();
    // SAFETY: `aux` is the live reference from `register`; its count is increased for this table.
    let slot = unsafe {
        Arc::increment_strong_count(slot);
        Arc::from_raw(slot)
    };
    let new = Box::new(Table::<R> { base: ffi::sqlite3_vtab::default(), slot });
    // SAFETY: SQLite expects the pointer in `table`; `base` is the first field of a `repr(C)` struct.
    unsafe { *table = Box::into_raw(new).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn disconnect<R: Rows>(table: *mut ffi::sqlite3_vtab) -> c_int {
    // SAFETY: the pointer comes from `connect` and is passed back only once.
    drop(unsafe { Box::from_raw(table.cast::<Table<R>>()) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn best_index(_table: *mut ffi::sqlite3_vtab, info: *mut ffi::sqlite3_index_info) -> c_int {
    // SAFETY: SQLite passes a valid struct for this call to write.
    let info = unsafe { &mut *info };
    info.estimatedCost = 1e6;
    info.estimatedRows = 1_000_000;
    ffi::SQLITE_OK
}

unsafe extern "C" fn open<R: Rows>(
    _table: *mut ffi::sqlite3_vtab,
    cursor: *mut *mut ffi::sqlite3_vtab_cursor,
) -> c_int {
    let new =
        Box::new(Cursor::<R> { base: ffi::sqlite3_vtab_cursor::default(), batch: None, row: 0, len: 0 });
    // SAFETY: SQLite expects the pointer in `cursor`; `base` is the first field of a `repr(C)` struct.
    unsafe { *cursor = Box::into_raw(new).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close<R: Rows>(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: the pointer comes from `open` and is passed back only once.
    drop(unsafe { Box::from_raw(cursor.cast::<Cursor<R>>()) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn filter<R: Rows>(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    _index: c_int,
    _index_name: *const c_char,
    _argc: c_int,
    _argv: *mut *mut ffi::sqlite3_value,
) -> c_int {
    // SAFETY: the cursor comes from `open`, and SQLite has set its table, which comes from `connect`.
    let (cursor, table) = unsafe {
        let cursor = &mut *cursor.cast::<Cursor<R>>();
        let table = &*cursor.base.pVtab.cast::<Table<R>>();
        (cursor, table)
    };
    cursor.batch = table.slot.get();
    cursor.row = 0;
    // SAFETY: `RowTable::insert`, which is still running, borrows the batch in the slot.
    cursor.len = cursor.batch.map_or(0, |batch| R::len(unsafe { batch.as_ref() }));
    ffi::SQLITE_OK
}

unsafe extern "C" fn next<R: Rows>(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: the cursor comes from `open`.
    unsafe { (*cursor.cast::<Cursor<R>>()).row += 1 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn eof<R: Rows>(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: the cursor comes from `open`.
    let cursor = unsafe { &*cursor.cast::<Cursor<R>>() };
    c_int::from(cursor.row >= cursor.len)
}

unsafe extern "C" fn column<R: Rows>(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    column: c_int,
) -> c_int {
    // SAFETY: the cursor comes from `open`.
    let cursor = unsafe { &*cursor.cast::<Cursor<R>>() };
    // SAFETY: `RowTable::insert` borrows the batch until the statement that owns this cursor is reset.
    let batch = cursor.batch.as_ref().map(|batch| unsafe { batch.as_ref() });
    let cell = batch.and_then(|batch| R::cell(batch, cursor.row, column.try_into().ok()?));
    // SAFETY: SQLite passes a `context` that is valid during this call. Texts and blobs live as long as the
    // batch, so they can be passed as static.
    unsafe {
        match cell {
            Some(Cell::Integer(value)) => ffi::sqlite3_result_int64(context, value),
            Some(Cell::Text(text)) => ffi::sqlite3_result_text64(
                context,
                text.as_ptr().cast(),
                text.len() as u64,
                ffi::SQLITE_STATIC(),
                ffi::SQLITE_UTF8 as u8,
            ),
            Some(Cell::Blob(bytes)) => ffi::sqlite3_result_blob64(
                context,
                bytes.as_ptr().cast(),
                bytes.len() as u64,
                ffi::SQLITE_STATIC(),
            ),
            Some(Cell::Null) => {} // A result is NULL until it is set.
            None => ffi::sqlite3_result_error(context, c"no such value in the batch".as_ptr(), -1),
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn rowid<R: Rows>(cursor: *mut ffi::sqlite3_vtab_cursor, rowid: *mut i64) -> c_int {
    // SAFETY: the cursor comes from `open`; SQLite expects the number in `rowid`.
    unsafe { *rowid = (*cursor.cast::<Cursor<R>>()).row as i64 };
    ffi::SQLITE_OK
}
