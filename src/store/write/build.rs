//! Builds a new database. It replaces its target only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::positioned_io::read_start;
use crate::store::database::{Database, SetUp, open_file, setting};
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::layout::{Layout, read_quickly};
use crate::store::lock::{SQLITE_SUFFIXES, WriterLock, directory_of};
use crate::store::pages::PageNumber;
use crate::store::schema;
use crate::store::write::side_database::{SideDatabase, Temporary, configure, root_page, with_suffix};

/// The length of an SQLite file's header, in bytes.
const HEADER: u64 = 100;

/// Options of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Whether to replace an existing database. An empty file is always replaced.
    pub overwrite: bool,
    /// The size of SQLite's page cache, in bytes. The bulk load only appends rows, so a larger cache is not
    /// faster.
    pub cache_bytes: u64,
    /// The layout of the new database.
    pub layout: Layout,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self { overwrite: false, cache_bytes: 64 << 20, layout: Layout::Open }
    }
}

/// A database that is being built in a temporary file beside its target. [`finish`](Self::finish) renames the
/// file to the target. If the build is dropped without a call to `finish`, the file is removed.
///
/// Until [`finish`](Self::finish), the file is not synced, and it has no journal. After a crash, the file is
/// useless, and the next writer of the same target removes it.
#[derive(Debug)]
pub struct Build {
    // The order of the fields matters, because they are dropped in this order: the file must be closed and
    // removed before the lock is released and others can write to the target.
    connection: Option<Connection>,
    temporary: Temporary,
    options: BuildOptions,
    lock: WriterLock,
    /// Registers the SQL functions on a connection, because a user can have created indexes that use them.
    set_up: Option<SetUp>,
    /// If the build is a copy of its target: a connection that prevents others from writing to the target.
    held: Option<Connection>,
}

impl Build {
    /// Begins to build `target`: acquires the lock, checks everything that can be checked in advance, and
    /// creates the empty schema in the temporary file.
    ///
    /// # Errors
    /// [`ErrorKind::TargetExists`], [`ErrorKind::ForeignTarget`], [`ErrorKind::NotAFile`], [`ErrorKind::LongName`],
    /// [`ErrorKind::Directory`], [`ErrorKind::Busy`], or errors of SQLite and the system.
    pub fn create(target: &Path, options: BuildOptions) -> Result<Self> {
        let lock = WriterLock::acquire(target)?;
        check_target(lock.target(), options.overwrite)?;
        Self::new_file(options, lock)?.begun()
    }

    /// Creates the temporary file, without any tables.
    fn new_file(options: BuildOptions, lock: WriterLock) -> Result<Self> {
        let temporary = Temporary(lock.temporary(""));
        let create = OpenOptions::new().write(true).create_new(true).open(&temporary.0);
        create.map_err(|source| Error::directory(directory_of(lock.target()), source))?;
        Ok(Self { connection: None, temporary, options, lock, set_up: None, held: None })
    }

    /// Begins to build a copy of the lock's target, with a temporary file without any tables. Until
    /// [`finish`](Self::finish), others can read the target, but not write to it, because their changes would be
    /// lost.
    pub(super) fn of_target(database: &Database, lock: WriterLock, options: BuildOptions) -> Result<Self> {
        let held = open_file(lock.target(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        held.execute_batch("BEGIN IMMEDIATE")
            .map_err(|source| Error::sqlite(lock.target(), "lock the database for writing", source))?;
        let (set_up, held) = (Some(database.set_up()), Some(held));
        Ok(Self { set_up, held, ..Self::new_file(options, lock)? })
    }

    /// Opens the temporary file, and creates or updates its schema.
    pub(super) fn begun(mut self) -> Result<Self> {
        self.reopen()?;
        if let Some(connection) = &mut self.connection {
            schema::migrate(connection, &self.temporary.0)?;
            let layout = self.options.layout;
            let applied = layout.apply(connection).and_then(|()| read_quickly(connection).map(drop));
            applied.map_err(|source| Error::sqlite(&self.temporary.0, "create the tables", source))?;
        }
        Ok(self)
    }

    /// The minimum number of games of a visited position.
    ///
    /// # Errors
    /// Errors of SQLite, or a missing setting.
    pub fn continuation_threshold(&self) -> Result<u32> {
        setting(self.connection(), self.path(), "continuation_threshold")
    }

    /// The connection to the temporary file. It does not enforce foreign keys.
    ///
    /// # Panics
    /// If the connection is closed. It is closed while pages are written to the file without SQLite.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("not closed")
    }

    /// The temporary file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary.0
    }

    /// The path of the future database, with links resolved.
    #[must_use]
    pub fn target(&self) -> &Path {
        self.lock.target()
    }

    /// The root page of a table or index.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn root_page(&self, table: &str) -> Result<PageNumber> {
        root_page(self.connection(), self.path(), table)
    }

    /// The layout of the database, from the [options](BuildOptions::layout).
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.options.layout
    }

    /// The size of the page cache in bytes, as given in the [options](BuildOptions::cache_bytes).
    #[must_use]
    pub const fn cache_bytes(&self) -> u64 {
        self.options.cache_bytes
    }

    /// Creates another temporary database beside the target.
    ///
    /// # Errors
    /// [`ErrorKind::Directory`], or errors of SQLite.
    pub fn side_database(&self, name: &str) -> Result<SideDatabase> {
        SideDatabase::create(&self.lock, name, self.options.cache_bytes)
    }

    /// Syncs the file, renames it to the target, and syncs the directory. If others are reading the target in
    /// WAL mode, copies the pages of the file into the target instead.
    ///
    /// # Errors
    /// [`ErrorKind::Unfinished`] if a transaction is open; [`ErrorKind::Busy`] if another program is writing
    /// to the old database; [`Error::DiskFull`] and other errors of the disk. After an error, the target is
    /// unchanged, unless only the directory could not be synced.
    pub fn finish(mut self) -> Result<()> {
        if !self.connection().is_autocommit() {
            return Err(ErrorKind::Unfinished.at(self.path()));
        }
        self.close()?;
        sync(self.path())?;
        // The connection that locks the target is not closed earlier, because others could then write data
        // that would be lost.
        drop(self.held.take());
        rename_to_target(self.path(), self.target(), self.options.overwrite)
    }

    /// Closes the connection to the temporary file, so that pages can be written to it without SQLite.
    pub(crate) fn close(&mut self) -> Result<()> {
        match self.connection.take() {
            Some(connection) => connection
                .close()
                .map_err(|(_, source)| Error::sqlite(self.path(), "close the database", source)),
            None => Ok(()),
        }
    }

    pub(crate) fn reopen(&mut self) -> Result<()> {
        let connection = open_file(self.path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        configure(&connection, self.options.cache_bytes)
            .and_then(|()| self.set_up.map_or(Ok(()), |set_up| set_up(&connection)))
            .and_then(|()| read_quickly(&connection).map(drop))
            .map_err(|source| Error::sqlite(self.path(), "configure the database", source))?;
        self.connection = Some(connection);
        Ok(())
    }
}

/// Syncs a finished file to disk.
pub(super) fn sync(path: &Path) -> Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.and_then(|file| file.sync_all())
        .map_err(|source| Error::io(path, "write the database to disk", source))
}

/// Replaces the target with a finished, synced database, so that the new state survives a power failure.
pub(super) fn rename_to_target(path: &Path, target: &Path, overwrite: bool) -> Result<()> {
    if check_target(target, overwrite)? {
        return copy_into(path, target);
    }
    if let Ok(old) = fs::metadata(target) {
        fs::set_permissions(path, old.permissions())
            .map_err(|source| Error::io(path, "copy the old database's permissions", source))?;
    }
    fs::rename(path, target)
        .map_err(|source| Error::io(target, "put the finished database into place", source))?;
    let directory = directory_of(target);
    sync_directory(directory).map_err(|source| Error::io(directory, "write the directory to disk", source))
}

/// Writes the pages of a finished database into a target that others are reading in WAL mode. The target
/// cannot be replaced, because the readers keep its write-ahead log open. They read the old pages until all
/// new pages are written.
fn copy_into(path: &Path, target: &Path) -> Result<()> {
    let failed = |source| Error::sqlite(target, "write the finished database into the existing one", source);
    let source = open_file(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut connection = open_file(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    let copied = Backup::new(&source, &mut connection).and_then(|backup| backup.step(-1)).map_err(failed)?;
    if copied != StepResult::Done {
        return Err(ErrorKind::Busy(None).at(target));
    }
    // If others still read the old pages, the log stays. The next writer then writes the log back.
    let _ = connection.query_row("PRAGMA main.wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

/// Fails if the target must not be replaced. Otherwise returns whether others are reading it in WAL mode. If so,
/// its pages must be overwritten, because a rename cannot replace it.
pub(super) fn check_target(target: &Path, overwrite: bool) -> Result<bool> {
    let exists = target.exists();
    if !overwrite && fs::metadata(target).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Err(ErrorKind::TargetExists.at(target));
    }
    if exists && !is_replaceable(target)? {
        return Err(ErrorKind::ForeignTarget.at(target));
    }
    // If a journal stayed beside the target, SQLite would apply the journal to the new database, and corrupt
    // it.
    if SQLITE_SUFFIXES.iter().any(|suffix| with_suffix(target, suffix).exists()) {
        return settle(target, exists);
    }
    Ok(false)
}

/// Whether a file is empty or a pgndex database. This prevents a mistyped name from overwriting a PGN file or
/// a device.
fn is_replaceable(target: &Path) -> Result<bool> {
    if !target.is_file() {
        return Ok(false);
    }
    let header =
        read_start(target, HEADER).map_err(|source| Error::io(target, "read the file to replace", source))?;
    Ok(header.is_empty() || schema::is_our_header(&header))
}

/// Removes SQLite's side files. If the database exists, SQLite first applies these files to the database. If
/// it does not exist, the files are useless. If other connections are reading the database in WAL mode, keeps
/// the files and returns `true`.
fn settle(target: &Path, exists: bool) -> Result<bool> {
    if exists {
        let connection = open_file(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Waits until no other program is writing, and rolls back the journal of a crashed writer.
        let settled = connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK");
        match settled.map_err(|source| Error::sqlite(target, "open the old database", source)) {
            Ok(()) | Err(Error::NotADatabase { .. } | Error::File { kind: ErrorKind::Corrupt, .. }) => {}
            Err(error) => return Err(error),
        }
        let _ = connection.close(); // Closing the last connection removes the write-ahead log.
        if with_suffix(target, "-wal").exists() {
            return Ok(true);
        }
    }
    for suffix in SQLITE_SUFFIXES {
        let path = with_suffix(target, suffix);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::io(&path, "remove the journal of the old database", source)),
        }
    }
    Ok(false)
}

/// Syncs a directory, so that renames in it survive a power failure. On Windows a directory cannot be opened
/// as a file, but NTFS logs renames in its own journal.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
