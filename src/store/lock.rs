//! The lock that allows one writer at a time.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;

use crate::parallel;
use crate::path_bytes::ends_in_separator;
use crate::store::error::{Error, ErrorKind, LockOwner, Result};
use crate::store::file_id::FileId;

/// Part of the name of each file that pgndex creates beside a database.
const MARK: &str = ".pgndex-tmp";
const LOCK: &str = ".lock";

/// The maximum length of a database's name in bytes. Common file systems limit names to 255 bytes, and files
/// beside the database have longer names than the database.
const MOST_NAME: usize = 255 - (1 + MARK.len() + "-headers-journal".len());

/// Suffixes that SQLite adds to the name of a database, for its log and its journal.
pub(super) const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The right to write a database: a lock file beside it, which this process has locked through the operating
/// system. If the process dies, the system releases the lock.
#[derive(Debug)]
pub struct WriterLock {
    target: PathBuf,
    file: File,
}

impl WriterLock {
    /// Acquires the lock for `target`, which need not exist yet, and removes files that crashed writers left
    /// beside it.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if the lock is held already (this function never waits); [`ErrorKind::Directory`]
    /// if the directory is missing or not writable; [`ErrorKind::NotAFile`] if `target` is a directory, a
    /// device or a link to a missing file, ends with a separator, or has no file name; [`ErrorKind::LongName`]
    /// if its name is too long; [`ErrorKind::ReservedName`] if its name ends like those of SQLite's own files;
    /// [`Error::DiskFull`]; [`ErrorKind::Io`].
    pub fn acquire(target: &Path) -> Result<Self> {
        // If `target` is a link, the lock file and the temporary files are beside the file that the link
        // points to. A temporary file is later renamed to the database; this rename must not cross file
        // systems or replace the link.
        let is_open_end = ends_in_separator(target);
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        // If the path is still a link, the link points to a missing file, so it could not be resolved.
        let is_special = target.exists() && !target.is_file();
        let is_no_file = is_open_end || is_special || target.is_symlink();
        let Some(name) = target.file_name().filter(|_| !is_no_file) else {
            let reason = if target.is_symlink() {
                "a link to a missing file, so no database is created here"
            } else if target.is_dir() {
                "a directory, not a database"
            } else if is_special {
                "not a regular file"
            } else {
                "a database cannot be created here"
            };
            return Err(ErrorKind::NotAFile(reason).at(&target));
        };
        if name.len() > MOST_NAME {
            return Err(ErrorKind::LongName { most: MOST_NAME }.at(&target));
        }
        if SQLITE_SUFFIXES.iter().any(|suffix| name.as_encoded_bytes().ends_with(suffix.as_bytes())) {
            return Err(ErrorKind::ReservedName.at(&target));
        }
        let file = lock(&target, &beside(&target, LOCK))?;
        parallel::lock(&HELD).push(target.clone());
        let lock = Self { target, file };
        clear_remains(&lock.target)?;
        Ok(lock)
    }

    /// The path of the database, with links resolved.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// A path beside the target for a temporary file of this writer. If the writer crashes, the next writer
    /// removes the file.
    #[must_use]
    pub fn temporary(&self, suffix: &str) -> PathBuf {
        beside(&self.target, suffix)
    }
}

/// Removes the temporary files of a database's writers, and the temporary files that SQLite left in the
/// database's directory. This process must hold the lock of the database.
fn clear_remains(target: &Path) -> Result<()> {
    let prefix = side_name(target.file_name().unwrap_or_default(), "");
    let directory = directory_of(target);
    let failed = |source| Error::directory(directory, source);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if is_left_by_sqlite(&name) {
            // Another user's file cannot always be removed.
            let _ = fs::remove_file(entry.path());
            continue;
        }
        let Some(rest) = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes()) else {
            continue;
        };
        // If the target is `a`, the file `.a.pgndex-tmp-x.pgndex-tmp` is not removed: it belongs to the
        // database `a.pgndex-tmp-x`.
        let foreign = rest.windows(MARK.len()).any(|part| part == MARK.as_bytes());
        if foreign || rest == LOCK.as_bytes() {
            continue;
        }
        let path = entry.path();
        fs::remove_file(&path)
            .map_err(|source| Error::io(&path, "remove the files that a crashed run left", source))?;
    }
    Ok(())
}

/// The databases that this process has locked.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files and lock files of all writers of this process, which is about to exit.
/// Databases keep what these writers committed; uncommitted changes are lost, as after a crash. Never waits:
/// if another thread is changing the list of locked databases, nothing is removed.
pub fn remove_temporary_files() {
    let Ok(held) = HELD.try_lock() else { return };
    for target in held.iter() {
        let _ = clear_remains(target);
        let _ = fs::remove_file(beside(target, LOCK));
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        parallel::lock(&HELD).retain(|target| *target != self.target);
        // The lock file is removed before it is unlocked: a process that has already opened it notices that
        // it was removed, and creates a new one.
        if cfg!(unix) {
            let _ = fs::remove_file(beside(&self.target, LOCK));
        }
        let _ = self.file.unlock();
    }
}

/// Whether `path` is the path of `database`, or of a file that belongs to it: a file of its write-ahead log,
/// its journal, or a writer's lock file or temporary file.
#[must_use]
pub fn is_file_of(database: &Path, path: &Path) -> bool {
    let (database, path) = (resolved(database), resolved(path));
    let (Some(name), Some(other)) = (database.file_name(), path.file_name()) else { return false };
    let after = |begin: &OsStr| other.as_encoded_bytes().strip_prefix(begin.as_encoded_bytes());
    let is_suffix = |rest: &[u8]| SQLITE_SUFFIXES.iter().any(|suffix| rest == suffix.as_bytes());
    let is_named_so = after(name).is_some_and(|rest| rest.is_empty() || is_suffix(rest))
        || after(&side_name(name, "")).is_some();
    is_named_so && directory_of(&database) == directory_of(&path)
}

/// Resolves the links in a path. If the file is missing, resolves only the links in the path of its
/// directory. Returns the path unchanged if the directory is missing, too.
fn resolved(path: &Path) -> PathBuf {
    let beside = || {
        let directory = fs::canonicalize(directory_of(path)).ok()?;
        Some(directory.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// The directory that contains a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn side_name(name: &OsStr, suffix: &str) -> OsString {
    let mut side = OsString::from(".");
    side.push(name);
    side.push(MARK);
    side.push(suffix);
    side
}

/// Whether a file has the name of a temporary file of SQLite, as used by large sorts. SQLite unlinks such a
/// file right after creating it, so an existing file is normally from a process that was killed in between.
/// SQLite accesses such a file only through its open handle, so removing a file that was just created is
/// harmless.
fn is_left_by_sqlite(name: &OsStr) -> bool {
    let number = name.as_encoded_bytes().strip_prefix(b"etilqs_");
    number.is_some_and(|number| (1..=16).contains(&number.len()) && number.iter().all(u8::is_ascii_hexdigit))
}

fn beside(target: &Path, suffix: &str) -> PathBuf {
    directory_of(target).join(side_name(target.file_name().unwrap_or_default(), suffix))
}

fn lock(target: &Path, lock_path: &Path) -> Result<File> {
    let failed = |source| Error::directory(directory_of(target), source);
    loop {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock_path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let holder = file.read_to_string(&mut text).ok().and_then(|_| parse(&text));
                return Err(ErrorKind::Busy(holder).at(target));
            }
            Err(TryLockError::Error(source)) => {
                return Err(Error::io(lock_path, "lock the database", source));
            }
        }
        if is_still_at(&file, lock_path).map_err(failed)? {
            let holder =
                this_process().map_err(|source| Error::sqlite(lock_path, "read the current time", source))?;
            // Truncate first, so that the previous owner is not reported.
            let written = file.set_len(0).and_then(|()| file.rewind());
            let written = written.and_then(|()| writeln!(file, "{} {}", holder.process, holder.since));
            return match written {
                Ok(()) => Ok(file),
                Err(error) => {
                    let _ = fs::remove_file(lock_path); // Most likely the disk is full.
                    Err(failed(error))
                }
            };
        }
        // The previous owner removed the file after this process opened it and before this process locked it.
    }
}

/// This process, as written to a lock file.
fn this_process() -> rusqlite::Result<LockOwner> {
    let now = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";
    let since = Connection::open_in_memory()?.query_row(now, [], |row| row.get(0))?;
    Ok(LockOwner { process: std::process::id(), since })
}

/// Parses the text of a lock file; `None` if the text is incomplete, because the owner is still writing it,
/// or has another format.
fn parse(text: &str) -> Option<LockOwner> {
    let (process, since) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(LockOwner { process: process.parse().ok()?, since: since.to_owned() })
}

/// Whether an open lock file is still at its path. On systems other than Unix, always returns true: there,
/// dropping a [`WriterLock`] does not remove the lock file.
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    match FileId::from_path(path) {
        _ if cfg!(not(unix)) => Ok(true),
        Ok(there) => Ok(there == FileId::of(&file.metadata()?)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
