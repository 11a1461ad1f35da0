//! Copies a database while others write to it.

use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use crate::store::database::{Database, open_file};
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::lock::{WriterLock, directory_of};
use crate::store::space::{Need, file_size, free_bytes};
use crate::store::write::build::{check_target, rename_to_target, sync};
use crate::store::write::side_database::Temporary;

/// The number of pages to copy in one step. Between two steps, others can write. With pages of 8 KiB, a step
/// copies 8 MiB.
const PAGES: i32 = 1024;
/// If somebody has written to the database, the copy restarts. After this number of restarts, a read
/// transaction keeps the database unchanged until the copy is complete.
const RESTARTS: u32 = 2;
/// How long the copy waits for a program that has locked the file for writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The progress of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupProgress {
    /// The number of bytes copied so far.
    pub bytes: u64,
    /// The size of the database in bytes.
    pub total_bytes: u64,
}

impl Database {
    /// Writes a copy of this database, as of one moment, to `target`. Returns the size of the copy in bytes.
    ///
    /// Others can read and write meanwhile, because the file is unlocked between two steps. If somebody has
    /// written, the copy restarts. After two restarts, a read transaction keeps the database unchanged until
    /// the copy is complete. Then writers must wait, unless the database has a write-ahead log. The copy is
    /// written to a temporary file beside `target` and synced; then it replaces `target`. `on_progress`
    /// receives the progress, and can stop the copy.
    ///
    /// # Errors
    /// [`ErrorKind::TargetExists`] if the target exists and `overwrite` is false; [`ErrorKind::ForeignTarget`];
    /// [`ErrorKind::Space`] if there is too little space; [`Error::Interrupted`] if `on_progress` stops the
    /// copy; [`ErrorKind::Busy`]; errors of SQLite and the system. After an error, no incomplete copy remains.
    pub fn backup(
        &self,
        target: &Path,
        overwrite: bool,
        mut on_progress: impl FnMut(BackupProgress) -> ControlFlow<()>,
    ) -> Result<u64> {
        let lock = WriterLock::acquire(target)?;
        check_target(lock.target(), overwrite)?;
        let directory = directory_of(lock.target());
        let needed = file_size(self.path());
        if let Some(free) = free_bytes(directory).filter(|&free| free < needed) {
            return Err(ErrorKind::Space { needed, free }.at(directory));
        }
        let temporary = Temporary(lock.temporary(""));
        let path = &temporary.0;
        let create = OpenOptions::new().write(true).create_new(true).open(path);
        create.map_err(|source| Error::directory(directory, source))?;
        self.copy_to(path, &mut on_progress)
            .and_then(|()| sync(path))
            .map_err(|error| error.needing(Some(Need::About(needed))))?;
        let length =
            fs::metadata(path).map_err(|source| Error::io(path, "read the size of the copy", source))?.len();
        rename_to_target(path, lock.target(), overwrite)?;
        Ok(length)
    }

    fn copy_to(
        &self,
        path: &Path,
        on_progress: &mut impl FnMut(BackupProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        let source = self.connection();
        let failed = |error| Error::sqlite(path, "copy the database", error);
        let of_source = |error| Error::sqlite(self.path(), "read the database", error);
        let page_bytes: u32 =
            source.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(of_source)?;
        let mut copy = open_file(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // The copy is useless until it is complete, so it needs no journal and no syncs.
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
                        return Err(ErrorKind::Busy(None).at(self.path()));
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            let progress = backup.progress();
            let count =
                |pages: i32| u64::try_from(pages).unwrap_or_default().saturating_mul(page_bytes.into());
            let (left, total_bytes) = (count(progress.remaining), count(progress.pagecount));
            let bytes = total_bytes.saturating_sub(left);
            // Without a restart, the copy grows with each step. After a restart, it has no more bytes than
            // before.
            if step == StepResult::More && bytes <= done {
                restarts += 1;
            }
            done = bytes;
            if restarts >= RESTARTS && held.is_none() {
                // The transaction keeps the database unchanged for this connection.
                held = Some(source.unchecked_transaction().map_err(of_source)?);
                source.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(of_source)?;
            }
            if on_progress(BackupProgress { bytes, total_bytes }).is_break() {
                return Err(Error::Interrupted);
            }
        }
        drop(backup);
        drop(held);
        // While games are added to a database, its header says that it has a write-ahead log. The header of
        // the copy can say the same, so it is corrected.
        copy.execute_batch("PRAGMA journal_mode = DELETE").map_err(failed)?;
        copy.close().map_err(|(_, error)| failed(error))
    }
}
