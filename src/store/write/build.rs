//! Builds a new database completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::store::database::{SetUp, open_file, setting};
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::lock::{WriterLock, directory_of};
use crate::store::pages::PageNumber;
use crate::store::schema;
use crate::store::write::side_database::{
    SIDE_FILES, SideDatabase, Temporary, attach, configure, copy_problems, copy_rows, root_page, with_suffix,
};

/// The length of an SQLite file's header, in bytes.
const HEADER: u64 = 100;

/// Options of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Whether an existing database may be replaced. An empty file may always be replaced.
    pub overwrite: bool,
    /// The size of SQLite's page cache, in bytes. The bulk load only appends, so a large cache has no
    /// advantage.
    pub cache_bytes: u64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self { overwrite: false, cache_bytes: 64 << 20 }
    }
}

/// A database while it is built: a temporary file beside its target. [`finish`](Self::finish) renames it to
/// the target. If the build is dropped before, the file is removed.
///
/// Until [`finish`](Self::finish), the file is not synced, and it has no journal. After a crash, the file is
/// useless, and the next build of the same target removes it.
#[derive(Debug)]
pub struct Build {
    // The order matters: the file is closed and removed before others may write the target.
    connection: Option<Connection>,
    temporary: Temporary,
    options: BuildOptions,
    lock: WriterLock,
    /// Registers the SQL functions on a connection, in case somebody has created indexes that use them.
    set_up: Option<SetUp>,
    /// Prevents others from writing to a target from which the build was copied.
    held: Option<Connection>,
}

impl Build {
    /// Begins to build `target`: checks everything that can be checked before the work, acquires the lock,
    /// and creates the empty schema in the temporary file.
    ///
    /// # Errors
    /// [`ErrorKind::TargetExists`], [`ErrorKind::ForeignTarget`], [`ErrorKind::NotAFile`], [`ErrorKind::LongName`],
    /// [`ErrorKind::Directory`], [`ErrorKind::Busy`], or errors of SQLite and the system.
    pub fn create(target: &Path, options: BuildOptions) -> Result<Self> {
        let lock = WriterLock::acquire(target)?;
        check_target(lock.target(), options.overwrite)?;
        let temporary = Temporary(lock.temporary(""));
        let create = OpenOptions::new().write(true).create_new(true).open(&temporary.0);
        create.map_err(|source| Error::directory(directory_of(lock.target()), source))?;
        Self { connection: None, temporary, options, lock, set_up: None, held: None }.begun()
    }

    /// Continues with a temporary file that is a copy of the lock's target. The connection `held` prevents
    /// others from writing to the target.
    pub(super) fn from_copy(
        temporary: Temporary,
        options: BuildOptions,
        lock: WriterLock,
        set_up: SetUp,
        held: Connection,
    ) -> Result<Self> {
        let (set_up, held) = (Some(set_up), Some(held));
        Self { connection: None, temporary, options, lock, set_up, held }.begun()
    }

    fn begun(mut self) -> Result<Self> {
        self.reopen()?;
        if let Some(connection) = &mut self.connection {
            schema::migrate(connection, &self.temporary.0)?;
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

    /// The connection to the temporary file. Foreign keys are not enforced on it.
    ///
    /// # Panics
    /// If the connection is closed, as it is while pages are written to the file without SQLite.
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

    /// A path beside the target for another temporary file of this build, such as a spilled partition. The
    /// caller removes it. If the build crashes, the next build removes it.
    #[must_use]
    pub fn spill_path(&self, suffix: &str) -> PathBuf {
        self.lock.temporary(&format!("-{suffix}"))
    }

    /// The root page of a table or index.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn root_page(&self, table: &str) -> Result<PageNumber> {
        root_page(self.connection(), table)
            .map_err(|source| Error::sqlite(self.path(), "read the schema", source))
    }

    /// Memory for writing, in bytes, from the [options](BuildOptions::cache_bytes).
    #[must_use]
    pub const fn cache_bytes(&self) -> u64 {
        self.options.cache_bytes
    }

    /// Creates another temporary database beside the target, for rows to be [copied](Self::take_rows) later.
    ///
    /// # Errors
    /// [`ErrorKind::Directory`], or errors of SQLite.
    pub fn side_database(&self, name: &str) -> Result<SideDatabase> {
        SideDatabase::create(&self.lock, name, self.options.cache_bytes)
    }

    /// Copies all rows of a side database except those of `occurrence_level` to tables that must be empty.
    /// The tables have equal schemas, so SQLite copies rows and indexes, except those of `problem`, without
    /// decoding them.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn take_rows(&self, side: SideDatabase) -> Result<()> {
        let failed = |source| Error::sqlite(self.path(), "copy the small tables", source);
        let main = self.connection();
        let side = side.close()?;
        attach(main, &side, "side").and_then(|()| main.execute_batch("BEGIN")).map_err(failed)?;
        copy_rows(main, "side").and_then(|()| copy_problems(main)).map_err(failed)?;
        main.execute_batch("COMMIT; DETACH side").map_err(failed)
    }

    /// Fills empty indexes from the rows of their tables.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn rebuild_indexes(&self, names: &[String]) -> Result<()> {
        let make = |name: &String| self.connection().execute_batch(&format!("REINDEX {name}"));
        names
            .iter()
            .try_for_each(make)
            .map_err(|source| Error::sqlite(self.path(), "create an index", source))
    }

    /// Syncs the file, renames it to the target, and syncs the directory. If others are reading the target in
    /// WAL mode, copies the pages into the target instead.
    ///
    /// # Errors
    /// [`ErrorKind::Unfinished`] if a transaction is open; [`ErrorKind::Busy`] if another program is writing the old
    /// database; [`Error::DiskFull`] and others if the disk reports them. The target is then unchanged,
    /// unless only the directory could not be synced.
    pub fn finish(mut self) -> Result<()> {
        if !self.connection().is_autocommit() {
            return Err(ErrorKind::Unfinished.at(self.path()));
        }
        self.close()?;
        sync(self.path())?;
        // The target is not released earlier, because others could then write data that would be lost.
        drop(self.held.take());
        rename_to_target(self.path(), self.target(), self.options.overwrite)
    }

    /// Closes the temporary file, with all pages written, so that others can write to it.
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

/// Replaces the target by a finished, synced database, durably.
pub(super) fn rename_to_target(path: &Path, target: &Path, overwrite: bool) -> Result<()> {
    if check_target(target, overwrite)? == Target::Read {
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

/// Writes the pages of a finished database into a database that others are reading in WAL mode. The readers
/// keep the write-ahead log open, so the file cannot be replaced. They read the old pages until all new pages
/// are written.
fn copy_into(path: &Path, target: &Path) -> Result<()> {
    let failed = |source| Error::sqlite(target, "write the finished database into the existing one", source);
    let source = open_file(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut connection = open_file(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    let copied = Backup::new(&source, &mut connection).and_then(|backup| backup.step(-1)).map_err(failed)?;
    if copied != StepResult::Done {
        return Err(ErrorKind::Busy(None).at(target));
    }
    // If others still read the old pages, the log stays, and the next writer writes it back.
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

/// The kinds of target of a finished database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing, or a file that can be replaced.
    Free,
    /// A database that others are reading in WAL mode.
    Read,
}

/// Checks whether the finished database may replace the target, and returns how it can be replaced.
pub(super) fn check_target(target: &Path, overwrite: bool) -> Result<Target> {
    let exists = target.exists();
    if !overwrite && fs::metadata(target).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Err(ErrorKind::TargetExists.at(target));
    }
    if exists && !is_replaceable(target)? {
        return Err(ErrorKind::ForeignTarget.at(target));
    }
    // SQLite would apply a journal beside the target to the new database and corrupt it.
    if SIDE_FILES.iter().any(|suffix| with_suffix(target, suffix).exists()) {
        return settle(target, exists);
    }
    Ok(Target::Free)
}

/// Whether a file is empty or a pgndex database: a mistyped name must not overwrite a PGN file or a device.
fn is_replaceable(target: &Path) -> Result<bool> {
    if !target.is_file() {
        return Ok(false);
    }
    let mut header = Vec::new();
    let read = File::open(target).and_then(|file| file.take(HEADER).read_to_end(&mut header));
    read.map_err(|source| Error::io(target, "read the file to replace", source))?;
    Ok(header.is_empty() || schema::is_our_header(&header))
}

/// Removes SQLite's side files. If the database exists, SQLite first applies them to it; without a database
/// they are useless. Keeps them and returns [`Target::Read`] if others are reading the database in WAL mode.
fn settle(target: &Path, exists: bool) -> Result<Target> {
    if exists {
        let connection = open_file(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Waits for a writer, and rolls back the journal of a crashed one.
        let settled = connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK");
        match settled.map_err(|source| Error::sqlite(target, "open the old database", source)) {
            Ok(()) | Err(Error::NotADatabase { .. } | Error::File { kind: ErrorKind::Corrupt, .. }) => {}
            Err(error) => return Err(error),
        }
        let _ = connection.close(); // Closing the last connection removes the write-ahead log.
        if with_suffix(target, "-wal").exists() {
            return Ok(Target::Read);
        }
    }
    for suffix in SIDE_FILES {
        let path = with_suffix(target, suffix);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::io(&path, "remove the journal of the old database", source)),
        }
    }
    Ok(Target::Free)
}

/// Makes renames in a directory survive a power failure. On Windows a directory cannot be opened as a file,
/// and NTFS logs such changes in its own journal.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
