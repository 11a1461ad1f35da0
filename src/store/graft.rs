//! Pages that are written beside SQLite and become part of a database in one of its transactions.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, params};

use super::btree::{PageFile, PageNumber, PageRun, Regrowth};
use super::build::with_suffix;
use super::database::Database;
use super::error::{Error, Result};

/// A write transaction on a database with a write-ahead log, in which new trees are built for tables: on pages of the file that
/// are free, and behind its end, where nobody reads.
///
/// SQLite knows nothing of it until [`finish`](Self::finish) tells it, through its table `sqlite_dbpage`: which root pages are
/// other ones, which pages are free, how many there are. Like all that the transaction does, this goes into the write-ahead
/// log, and counts from the commit on. Before, a crash leaves the database as it was, perhaps with useless bytes behind
/// its end.
///
/// That free pages may be written to at once rests on the log being empty when the transaction begins: then nobody reads an older
/// state of the database, in which these pages were in use.
///
/// Until [`finish`](Self::finish) nothing may be written through SQL, and the tables that are to grow may not be read.
#[derive(Debug)]
pub struct Graft<'d> {
    connection: &'d Connection,
    path: &'d Path,
    file: Arc<PageFile>,
    first_count: u32,
    /// Free pages that are not written to.
    spare: Vec<PageNumber>,
    state: State,
}

/// How far a graft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a transaction, but perhaps not with the file as it seems.
    Begun,
    /// What is behind the file's end is of this graft.
    Growing,
    Finished,
}

impl<'d> Graft<'d> {
    /// Neighbouring free pages that are worth a write.
    const WORTH: u32 = 8;

    /// Begins the transaction; `None` if it cannot be done this way, and all must be written through SQL: SQLite was built without
    /// `sqlite_dbpage`, the log is not empty, or the file has something that is not known here.
    ///
    /// # Errors
    /// [`Error::Busy`] if another program is writing; what SQLite and the operating system say.
    pub fn begin(database: &'d Database) -> Result<Option<Self>> {
        let (connection, path) = (database.connection(), database.path());
        let failed = |source| Error::sqlite(path, "begin to add", source);
        let modules = "SELECT count(*) FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
        if connection.query_row(modules, [], |row| row.get::<_, i64>(0)).map_err(failed)? == 0 {
            return Ok(None);
        }
        let first_page = "SELECT data FROM sqlite_dbpage WHERE pgno = 1";
        let header: Vec<u8> = connection.query_row(first_page, [], |row| row.get(0)).map_err(failed)?;
        // Before it is opened: closed by this process, a file loses the locks that SQLite holds on it.
        if !PageFile::suits(&header) {
            return Ok(None);
        }
        let file = Arc::new(PageFile::open_longer(path)?);
        database.keep_open(Arc::clone(&file));
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        connection.query_row(checkpoint, [], |_| Ok(())).map_err(failed)?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let mut graft = Self {
            connection,
            path,
            first_count: file.page_count(),
            file,
            spare: Vec::new(),
            state: State::Begun,
        };
        let log = with_suffix(path, "-wal");
        let log_length = std::fs::metadata(&log).map(|metadata| metadata.len());
        let page_count: u32 =
            connection.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(failed)?;
        if log_length.map_err(|source| Error::io(&log, "examine", source))? > 0
            || page_count != graft.first_count
        {
            return Ok(None);
        }
        graft.state = State::Growing;
        graft.file.cut(graft.first_count)?;
        Ok(graft.take_free_pages()?.then_some(graft))
    }

    /// The file, for pages of new trees.
    #[must_use]
    pub const fn file(&self) -> &Arc<PageFile> {
        &self.file
    }

    /// The root page of a table.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn root_page(&self, table: &str) -> Result<PageNumber> {
        root_page(self.connection, table)
            .map_err(|source| Error::sqlite(self.path, "read the schema", source))
    }

    /// Makes what was built part of the database, each tree in the place of the one with that root page. The transaction goes on,
    /// now through SQL.
    ///
    /// # Errors
    /// What SQLite and the operating system say; the transaction is then rolled back.
    pub fn finish(mut self, trees: Vec<(PageNumber, Regrowth)>) -> Result<()> {
        self.file.sync()?;
        let mut free = std::mem::take(&mut self.spare);
        free.extend(self.file.unused().into_iter().flat_map(PageRun::pages));
        let mut pages: Vec<(PageNumber, Vec<u8>)> = Vec::new();
        for (root, Regrowth { root: page, freed }) in trees {
            pages.push((root, page));
            free.extend(freed);
        }
        free.sort_unstable();
        let size = self.file.page_size().bytes();
        let page_count = self.file.page_count();
        if page_count > self.first_count {
            // SQLite learns the file's length from the last page that is written.
            let mut last = vec![0; size];
            self.file.read_page(PageNumber(page_count), &mut last)?;
            pages.push((PageNumber(page_count), last));
        }
        let first_trunk = add_trunks(&mut pages, &free, size);
        let mut header = vec![0; size];
        self.file.read_page(PageNumber(1), &mut header)?;
        for (at, number) in [(28, page_count), (32, first_trunk), (36, free.len() as u32)] {
            header[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        pages.push((PageNumber(1), header));
        self.write(&pages).map_err(|source| Error::sqlite(self.path, "write pages", source))?;
        self.state = State::Finished;
        Ok(())
    }

    fn write(&self, pages: &[(PageNumber, Vec<u8>)]) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)")?;
        for (number, page) in pages {
            insert.execute(params![number.0, page])?;
        }
        // At the end of a savepoint SQLite looks afresh how many pages there are.
        self.connection.execute_batch("SAVEPOINT grafted; RELEASE grafted")
    }

    /// Reads the list of free pages. Gives back whether it is as it should be.
    fn take_free_pages(&mut self) -> Result<bool> {
        let mut page = vec![0; self.file.page_size().bytes()];
        let mut leaves: Vec<PageNumber> = Vec::new();
        self.file.read_page(PageNumber(1), &mut page)?;
        let (mut trunk, count) = (word(&page, 32), word(&page, 36) as usize);
        while trunk != 0 {
            if trunk > self.first_count || self.spare.len() > count {
                return Ok(false);
            }
            self.file.read_page(PageNumber(trunk), &mut page)?;
            self.spare.push(PageNumber(trunk));
            let listed = word(&page, 4) as usize;
            if listed > page.len() / 4 - 2 {
                return Ok(false);
            }
            leaves.extend((2..2 + listed).map(|at| PageNumber(word(&page, 4 * at))));
            trunk = word(&page, 0);
        }
        leaves.sort_unstable();
        let in_file = leaves.iter().all(|leaf| (2..=self.first_count).contains(&leaf.0));
        if self.spare.len() + leaves.len() != count || !in_file {
            return Ok(false);
        }
        let (worth, others): (Vec<_>, Vec<_>) =
            leaves.chunk_by(|a, b| a.0 + 1 == b.0).partition(|run| run.len() >= Self::WORTH as usize);
        self.spare.extend(others.into_iter().flatten());
        // The first ones are taken first.
        self.file.reuse(worth.iter().rev().map(|run| PageRun { first: run[0], count: run.len() as u32 }));
        Ok(true)
    }
}

impl Drop for Graft<'_> {
    fn drop(&mut self) {
        if self.state == State::Growing {
            let _ = self.file.cut(self.first_count);
        }
        if self.state != State::Finished {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// The root page of a table.
pub(super) fn root_page(connection: &Connection, table: &str) -> rusqlite::Result<PageNumber> {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get(0)).map(PageNumber)
}

/// Adds the pages that list the free ones (["The Freelist"](https://www.sqlite.org/fileformat2.html#the_freelist)), which are
/// free ones themselves. Gives back the number of the first, 0 if there is none.
fn add_trunks(pages: &mut Vec<(PageNumber, Vec<u8>)>, free: &[PageNumber], size: usize) -> u32 {
    // SQLite leaves six entries of a trunk unused, because of a fault in old versions.
    let listed = size / 4 - 8;
    let mut next = 0;
    for group in free.chunks(listed + 1).rev() {
        let Some((trunk, leaves)) = group.split_first() else { continue };
        let words = [next, leaves.len() as u32].into_iter().chain(leaves.iter().map(|leaf| leaf.0));
        let mut page: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
        page.resize(size, 0);
        pages.push((*trunk, page));
        next = trunk.0;
    }
    next
}

fn word(page: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(*page[at..].first_chunk().expect("inside the page"))
}
