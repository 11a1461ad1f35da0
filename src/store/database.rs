//! An open database.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags, Row, ffi};

use crate::store::cell::{Cells, SETTING, Stored};
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::layout::{Layout, read_quickly, read_views_quickly};
use crate::store::lock::directory_of;
use crate::store::pages::PageFile;
use crate::store::schema::{self, FileKind};
use crate::store::space::refusal;

/// The maximum time that a statement waits for another connection to release its lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Registers pgndex's SQL functions on a new connection. The code that opens a database passes this function,
/// because the SQL functions are defined in a module that depends on this module. Without the SQL functions,
/// SQLite could not add rows to a table with an index that calls one of them.
pub(crate) type SetUp = fn(&Connection) -> rusqlite::Result<()>;

/// Decides whether the running query should stop. Any thread can call it at any time.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    /// Stops queries when `is_over` returns true.
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_over))
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&(self.0)()).finish()
    }
}

/// The number of steps of SQLite's virtual machine after which SQLite checks again whether to stop. They take
/// about ten microseconds.
const STEPS: i32 = 1000;

/// An open database with a schema of any released version.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    set_up: SetUp,
    layout: Layout,
    connection: Connection,
    /// Whether dropping this value must remove the write-ahead log.
    is_adding: Cell<bool>,
    /// Decides whether queries should stop.
    stop: RefCell<Option<Stop>>,
    /// Files that are closed after the connection.
    kept_open: RefCell<Vec<Arc<PageFile>>>,
    /// Whether [`read_views_quickly`](Self::read_views_quickly) was called.
    views_are_quick: Cell<bool>,
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.is_adding.get() {
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            let _ = self.end_adding(); // The work failed; the caller reports its error.
        }
    }
}

impl Database {
    /// Opens an existing database for reading only. If a crashed writer left a journal or log, first opens
    /// the database for writing, so that SQLite can recover it.
    pub(crate) fn open_read_only_with(path: &Path, set_up: SetUp) -> Result<Self> {
        let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut kind = schema::inspect(&connection, path);
        if kind.as_ref().is_err_and(needs_recovery) {
            let writer = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            schema::inspect(&writer, path).map_err(Error::during_recovery)?;
            drop(writer);
            connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            kind = schema::inspect(&connection, path);
        }
        match kind.map_err(Error::during_recovery)? {
            FileKind::Ours(_) => Self::new(path, connection, set_up),
            FileKind::Blank if fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) => {
                Err(Error::NotADatabase { path: path.to_owned() })
            }
            FileKind::Blank => Err(ErrorKind::OtherProgram.at(path)),
        }
    }

    /// Opens an existing database for reading and writing, and brings its schema up to date.
    pub(crate) fn open_with(path: &Path, set_up: SetUp) -> Result<Self> {
        let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::migrate(&mut connection, path)?;
        Self::new(path, connection, set_up)
    }

    fn new(path: &Path, connection: Connection, set_up: SetUp) -> Result<Self> {
        set_up(&connection).map_err(|source| Error::sqlite(path, "register the SQL functions", source))?;
        let layout = keep_temporary_files_in(directory_of(path), &connection)?;
        Ok(Self {
            path: path.to_owned(),
            set_up,
            layout,
            connection,
            is_adding: Cell::new(false),
            stop: RefCell::default(),
            kept_open: RefCell::default(),
            views_are_quick: Cell::new(false),
        })
    }

    /// Makes the views of a compact database fast, for users' statements.
    pub(crate) fn read_views_quickly(&self) -> Result<()> {
        if !self.views_are_quick.replace(true) {
            read_views_quickly(&self.connection)
                .map_err(|source| Error::sqlite(&self.path, "read the views", source))?;
        }
        Ok(())
    }

    /// The value of a setting.
    ///
    /// # Errors
    /// If SQLite fails, or if the setting is missing or has the wrong type.
    pub(crate) fn setting<T: for<'r> Stored<'r>>(&self, name: &str) -> Result<T> {
        setting(&self.connection, &self.path, name)
    }

    /// The minimum number of games of a level that must reach a position to make it a visited position.
    ///
    /// # Errors
    /// If SQLite fails, or if the setting is missing or has the wrong type.
    pub fn continuation_threshold(&self) -> Result<u32> {
        self.setting("continuation_threshold")
    }

    /// How the database stores the positions of games.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The digest of the list of openings by which the games were classified.
    ///
    /// # Errors
    /// If SQLite fails, or if the setting is missing or has the wrong type.
    pub fn openings_digest(&self) -> Result<String> {
        self.setting("openings")
    }

    /// Unused bytes of the file that can be reused, including bytes that a crashed run left after the last
    /// page.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn free_bytes(&self) -> Result<u64> {
        let sql = "SELECT freelist_count * page_size, page_count * page_size
                   FROM pragma_freelist_count, pragma_page_count, pragma_page_size";
        let bytes = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
        };
        let (free, pages) = self
            .connection
            .query_row(sql, [], bytes)
            .map_err(|source| Error::sqlite(&self.path, "look for free pages", source))?;
        let length = fs::metadata(&self.path).map_or(pages, |metadata| metadata.len());
        Ok(free + length.saturating_sub(pages))
    }

    /// Prepares for a large transaction during which other connections can read: switches to a write-ahead
    /// log, and sets the size of the page cache. Call [`end_adding`](Self::end_adding) to remove the log; if
    /// it is not called, dropping this `Database` removes the log.
    ///
    /// # Errors
    /// [`ErrorKind::NoSharing`] if the file system does not support a write-ahead log; [`ErrorKind::Busy`] if another
    /// connection is using the database without a write-ahead log; errors of SQLite.
    pub fn begin_adding(&self, cache_bytes: u64) -> Result<()> {
        let failed = |source| Error::sqlite(&self.path, "begin a write-ahead log", source);
        let mode: String = self
            .connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(failed)?;
        if mode != "wal" {
            return Err(ErrorKind::NoSharing.at(&self.path));
        }
        self.is_adding.set(true);
        // A committed transaction must be durable even if a reader prevents the log from being written back.
        // One more sync is cheap.
        self.connection
            .pragma_update(None, "synchronous", "FULL")
            .and_then(|()| set_cache(&self.connection, cache_bytes.max(2 << 20)))
            // The program writes only rows whose references are valid, so SQLite need not check them.
            .and_then(|()| self.connection.pragma_update(None, "foreign_keys", "OFF"))
            .map_err(failed)
    }

    /// Writes the write-ahead log back into the database file as far as readers allow, and syncs the file to
    /// disk. Removes the log if no other connection uses the database. Committed data is durable in any case.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn end_adding(&self) -> Result<()> {
        self.is_adding.set(false);
        let failed = |source| Error::sqlite(&self.path, "write the write-ahead log back", source);
        // Without `main`, SQLite would also write back the temporary database, which fails if that database
        // was changed.
        let checkpoint = "PRAGMA main.wal_checkpoint(TRUNCATE)";
        let is_read: bool = self.connection.query_row(checkpoint, [], |row| row.get(0)).map_err(failed)?;
        // If another connection is reading, the log stays, and the next writer removes it.
        if !is_read {
            let _ = self.connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()));
            let _ = self.trim(); // A failure is harmless: SQLite ignores bytes after the last page.
        }
        Ok(())
    }

    /// Switches a database to a write-ahead log, so that readers and writers do not block each other. Does
    /// nothing if the file is read-only or in use.
    pub fn share(path: &Path) {
        set_journal(path, "PRAGMA journal_mode = WAL");
    }

    /// Removes the write-ahead log of a database if the file is writable and not in use. Otherwise the next
    /// writer removes the log.
    pub fn end_sharing(path: &Path) {
        set_journal(path, "PRAGMA journal_mode = DELETE");
    }

    /// If this program wrote pages to the file without SQLite while this connection was open, removes the
    /// bytes after the last page. Does nothing if there is a write-ahead log. Fails if another connection
    /// keeps reading.
    fn trim(&self) -> Result<()> {
        let kept_open = self.kept_open.borrow();
        let Some(file) = kept_open.last() else { return Ok(()) };
        let failed = |source| Error::sqlite(&self.path, "shorten the file", source);
        let mode: String =
            self.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(failed)?;
        if mode != "delete" {
            return Ok(());
        }
        self.connection.execute_batch("BEGIN EXCLUSIVE").map_err(failed)?;
        let count = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0));
        let cut = count.map_err(failed).and_then(|count| Ok(file.truncate(count)?));
        self.connection.execute_batch("ROLLBACK").map_err(failed)?;
        cut
    }

    /// Keeps a file open until the connection is closed. On POSIX systems, closing the file earlier would also
    /// release SQLite's locks on the database.
    pub(super) fn keep_open(&self, file: Arc<PageFile>) {
        self.kept_open.borrow_mut().push(file);
    }

    /// The function that registers the SQL functions on another connection to this database.
    pub(crate) const fn set_up(&self) -> SetUp {
        self.set_up
    }

    /// The path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for operations that this type has no method for.
    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// A number that changes when another connection writes. Only numbers from the same connection can be
    /// compared.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn data_version(&self) -> Result<i64> {
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)));
        version.map_err(|source| Error::sqlite(&self.path, "look for changes", source))
    }

    /// Sets the sizes of two caches for later queries: the number of prepared statements, and the size of the
    /// page cache in bytes.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn keep_ready(&self, statements: usize, page_bytes: u64) -> Result<()> {
        self.connection.set_prepared_statement_cache_capacity(statements);
        set_cache(&self.connection, page_bytes)
            .map_err(|source| Error::sqlite(&self.path, "set the page cache", source))
    }

    /// Makes queries fail with [`Error::Interrupted`] once `stop` decides that they should stop.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn stop_when(&self, stop: &Stop) -> Result<()> {
        let is_over = Arc::clone(&stop.0);
        *self.stop.borrow_mut() = Some(stop.clone());
        self.connection
            .progress_handler(STEPS, Some(move || is_over()))
            .map_err(|source| Error::sqlite(&self.path, "make queries interruptible", source))
    }

    /// The check that decides whether queries should stop, if one is set.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop.borrow().clone()
    }

    /// Fails with [`Error::Interrupted`] if queries should stop. Long work that runs between queries must
    /// call this function regularly.
    pub(crate) fn check_stop(&self) -> Result<()> {
        let is_over = self.stop.borrow().as_ref().is_some_and(|stop| (stop.0)());
        if is_over { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// A handle with which another thread can stop a running query.
    #[must_use]
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }
}

/// Sets the size of a connection's page cache, in bytes.
pub(super) fn set_cache(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    // A negative cache size is in KiB.
    connection.pragma_update(None, "cache_size", -i32::try_from(bytes / 1024).unwrap_or(i32::MAX))
}

pub(super) fn setting<T: for<'r> Stored<'r>>(connection: &Connection, path: &Path, name: &str) -> Result<T> {
    let sql = "SELECT name, value FROM setting WHERE name = ?1";
    connection
        .query_row(sql, [name], |row| Cells::new(row, SETTING).get("value"))
        .map_err(|source| Error::sqlite(path, "read table setting", source))
}

/// Whether reading failed because a crashed writer's journal or log must be recovered first.
fn needs_recovery(error: &Error) -> bool {
    let Some(rusqlite::Error::SqliteFailure(error, _)) = error.of_sqlite() else { return false };
    [ffi::SQLITE_READONLY_ROLLBACK, ffi::SQLITE_READONLY_RECOVERY, ffi::SQLITE_READONLY_CANTINIT]
        .contains(&error.extended_code)
}

/// Checks the type and the size of the file `path`, and opens it, even if its name looks like a URI.
fn open(path: &Path, mode: OpenFlags) -> Result<Connection> {
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound if path.is_symlink() => {
            ErrorKind::NotAFile("a link to a missing file").at(path)
        }
        std::io::ErrorKind::NotFound => ErrorKind::Missing.at(path),
        _ => Error::io(path, "open the database", source),
    })?;
    // SQLite treats a file that is shorter than any database as empty.
    const LEAST: u64 = 512;
    if !metadata.is_file() || (1..LEAST).contains(&metadata.len()) {
        return Err(Error::NotADatabase { path: path.to_owned() });
    }
    open_file(path, mode)
}

/// Makes SQLite create its temporary files, such as those of large sorts, in a directory, for all connections
/// of this process. If SQLite cannot write there, or the path is not UTF-8, SQLite's choice of a directory
/// does not change. Setting the directory drops all temporary tables of this connection, so those of a
/// compact database are created again. Returns the database's layout.
pub(crate) fn keep_temporary_files_in(directory: &Path, connection: &Connection) -> Result<Layout> {
    if let Some(directory) = directory.to_str() {
        let _ = connection.pragma_update(None, "temp_store_directory", directory);
    }
    let path = Path::new(connection.path().unwrap_or_default());
    read_quickly(connection).map_err(|source| Error::sqlite(path, "read the schema", source))
}

/// Sets the journal mode of a database, if that is possible within 100 ms.
fn set_journal(path: &Path, pragma: &str) {
    let set = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
        connection.busy_timeout(Duration::from_millis(100))?;
        connection.query_row(pragma, [], |_| Ok(()))
    });
    drop(set); // A failure is harmless: the journal mode stays as it is.
}

/// Opens the file `path` without checks.
pub(crate) fn open_file(path: &Path, mode: OpenFlags) -> Result<Connection> {
    connect(path, mode).map_err(|source| match refusal(path) {
        // SQLite does not report the reason.
        Some(refusal) if source.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            Error::io(path, "open the database", refusal)
        }
        _ => Error::sqlite(path, "open the database", source),
    })
}

fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // The directory prefix keeps SQLite from reading `file:x` as a URI, or `:memory:` as an in-memory
    // database.
    let plain = if path.is_relative() { Path::new(".").join(path) } else { path.to_owned() };
    let connection = Connection::open_with_flags(&plain, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(wait))?;
    Ok(connection)
}

/// The number of threads that wait for another connection to release its lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Waits a little, so that another connection can release its lock. Does not wait, and returns false, if the
/// statement has already waited for [`BUSY_TIMEOUT`]. `attempts` is the number of previous calls for the same
/// lock.
fn wait(attempts: i32) -> bool {
    thread_local! {
        static BEGAN: Cell<Instant> = Cell::new(Instant::now());
    }
    if attempts == 0 {
        BEGAN.set(Instant::now());
    }
    if BEGAN.get().elapsed() >= BUSY_TIMEOUT {
        return false;
    }
    WAITING.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(attempts.clamp(1, 25) as u64));
    WAITING.fetch_sub(1, Ordering::Relaxed);
    true
}

/// Whether a statement of this process is waiting for another connection to release its lock.
#[must_use]
pub fn is_waiting() -> bool {
    WAITING.load(Ordering::Relaxed) > 0
}
