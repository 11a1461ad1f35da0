//! A copy of a database that others go on writing to.

use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use crate::store::database::{Database, open_file};
use crate::store::error::{Error, Result};
use crate::store::lock::{WriterLock, directory_of};
use crate::store::space::{Need, free_bytes};
use crate::store::write::build::{check_target, put_into_place, sync};
use crate::store::write::temporary::Temporary;

/// Pages that are copied before writers get a turn: 4 MiB of pages of 4 KiB.
const PAGES: i32 = 1024;
/// So often a copy begins anew because somebody wrote; then writers have to wait until it is there.
const RESTARTS: u32 = 2;
/// How long the copy waits for a writer that has the file for itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// How far a copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupProgress {
    /// Bytes that are copied.
    pub bytes: u64,
    /// Bytes of the database.
    pub total_bytes: u64,
}

impl Database {
    /// Writes a copy of this database to `target`, as it is at one moment. Gives back its size in bytes.
    ///
    /// Others can read and write meanwhile: between two pieces of the copy the file is let go. When somebody has written, the copy
    /// begins anew, twice at most; then writers wait. It is made under another name beside `target`, synced, and put into place in one
    /// step. `tell` is told how far it is, and can end it.
    ///
    /// # Errors
    /// [`Error::TargetExists`], if it is not to be replaced; [`Error::ForeignTarget`]; [`Error::Space`] if there is too little for it;
    /// [`Error::Interrupted`] if `tell` ends it; [`Error::Busy`]; what SQLite and the system say. There is then nothing of the copy.
    pub fn backup(
        &self,
        target: &Path,
        overwrite: bool,
        mut tell: impl FnMut(BackupProgress) -> ControlFlow<()>,
    ) -> Result<u64> {
        let lock = WriterLock::acquire(target)?;
        check_target(lock.target(), overwrite)?;
        let needed = self.check_space(lock.target())?;
        let temporary = Temporary(lock.temporary(""));
        let path = &temporary.0;
        let create = OpenOptions::new().write(true).create_new(true).open(path);
        create.map_err(|source| Error::directory(directory_of(path), source))?;
        self.copy_to(path, &mut tell)
            .and_then(|()| sync(path))
            .map_err(|error| error.needing(Some(Need::About(needed))))?;
        let length = fs::metadata(path).map_err(|source| Error::io(path, "read the size of", source))?.len();
        put_into_place(path, lock.target(), overwrite)?;
        Ok(length)
    }

    /// Fails if there is less space for a copy than it needs, and else tells how much that is.
    fn check_space(&self, target: &Path) -> Result<u64> {
        let needed = fs::metadata(self.path()).map_or(0, |metadata| metadata.len());
        let directory = directory_of(target);
        match free_bytes(directory) {
            Some(free) if free < needed => {
                Err(Error::Space { directory: directory.to_owned(), needed, free })
            }
            _ => Ok(needed),
        }
    }

    fn copy_to(&self, path: &Path, tell: &mut impl FnMut(BackupProgress) -> ControlFlow<()>) -> Result<()> {
        let source = self.connection();
        let failed = |error| Error::sqlite(path, "copy the database", error);
        let of_source = |error| Error::sqlite(self.path(), "read the database", error);
        let page_bytes: u32 =
            source.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(of_source)?;
        let mut copy = open_file(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // It is useless until it is all there.
        copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(failed)?;
        let (mut restarts, mut done, mut held) = (0, 0, None);
        let mut waiting: Option<Instant> = None;
        let backup = Backup::new(source, &mut copy).map_err(failed)?;
        loop {
            let step = backup.step(PAGES).map_err(failed)?;
            match step {
                StepResult::Done => break,
                StepResult::More => waiting = None,
                _ => {
                    if waiting.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                        return Err(Error::Busy { path: self.path().to_owned(), holder: None });
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            let progress = backup.progress();
            let count =
                |pages: i32| u64::try_from(pages).unwrap_or_default().saturating_mul(page_bytes.into());
            let (left, total_bytes) = (count(progress.remaining), count(progress.pagecount));
            let bytes = total_bytes.saturating_sub(left);
            // A copy that goes on grows with each piece: one that began anew can have as much as before, too.
            if step == StepResult::More && bytes <= done {
                restarts += 1;
            }
            done = bytes;
            if restarts >= RESTARTS && held.is_none() {
                // A transaction keeps what this connection sees as it is.
                held = Some(source.unchecked_transaction().map_err(of_source)?);
                source.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(of_source)?;
            }
            if tell(BackupProgress { bytes, total_bytes }).is_break() {
                return Err(Error::Interrupted);
            }
        }
        drop(backup);
        drop(held);
        // A database that is being added to has a write-ahead log, and says so in its header.
        copy.execute_batch("PRAGMA journal_mode = DELETE").map_err(failed)?;
        copy.close().map_err(|(_, error)| failed(error))
    }
}
