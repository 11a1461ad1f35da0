//! Writes pages without SQLite, and makes them part of a database in a transaction of SQLite.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use crate::store::database::{Database, open_file};
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::pages::{BtreeError, PageFile, PageNumber, PageRun, RebuiltTree};
use crate::store::write::side_database::{root_page, with_suffix};

/// A write transaction on a database with a write-ahead log. In it, new trees are built for tables. Their
/// pages are written where nobody reads: on free pages of the file, and after the end of the database.
///
/// SQLite does not use these pages until [`publish`](Self::publish) or [`finish`](Self::finish) is called. These
/// methods write the changed root pages, the list of free pages and the page count through SQLite's table
/// `sqlite_dbpage`. Like all changes of the transaction, these writes go to the write-ahead log and take effect
/// with the commit. If the program crashes before the commit, the database is unchanged. The file can then have
/// useless bytes after the end of the database. The next run overwrites them, and [`Database::end_adding`]
/// removes them. While there is a log, the file must not become shorter, because SQLite has already published
/// the file's length.
///
/// Free pages can be overwritten immediately, because the log is empty when the transaction begins. So nobody
/// reads an older state of the database, in which these pages were in use. No other program may write to the
/// file during the transaction, even after SQLite has rolled the transaction back because a statement failed.
/// So the transaction keeps a reader of the earlier state open, which prevents all others from writing the
/// log back.
///
/// Do not write through SQL before the first call to [`publish`](Self::publish). Do not read a table through
/// SQL if its tree is still to be replaced: SQLite would cache the root page, and use the cached page after
/// the tree has been replaced.
#[derive(Debug)]
pub struct PageTransaction<'d> {
    connection: &'d Connection,
    path: &'d Path,
    file: Arc<PageFile>,
    /// A reader that keeps the earlier state of the database open.
    _reader: Connection,
    first_count: u32,
    /// The page count that was published to SQLite last; `None` before the first call to
    /// [`publish`](Self::publish).
    published: Option<u32>,
    /// Free pages that new trees do not use.
    spare: Vec<PageNumber>,
    finished: bool,
}

/// An upper bound of the length of a row of `game_position`, in bytes. Such a row must fit on a page, because
/// rows that continue on overflow pages are not supported here.
const LONGEST_ROW: usize = 160;

impl<'d> PageTransaction<'d> {
    /// Free pages are used for new trees only if at least this number of them are adjacent.
    const WORTH: u32 = 8;

    /// Begins the transaction. Returns `None` if everything must be written through SQL instead, for one of
    /// these reasons: SQLite was built without `sqlite_dbpage`; the log is not empty; the database has
    /// triggers; `game_position`, `move_eval` or `occurrence` has additional indexes or columns; the file has
    /// an unsupported format, a wrong page count or pages that are too small; the list of free pages is
    /// invalid.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if another program is writing; errors of SQLite and the operating system.
    pub fn begin(database: &'d Database) -> Result<Option<Self>> {
        let (connection, path) = (database.connection(), database.path());
        let failed = |source| Error::sqlite(path, "begin the transaction", source);
        let checkpoint = "PRAGMA main.wal_checkpoint(TRUNCATE)";
        connection.query_row(checkpoint, [], |_| Ok(())).map_err(failed)?;
        // SQLite must not keep cached copies of root pages or free pages, because these pages will be
        // overwritten.
        connection.execute_batch("PRAGMA shrink_memory; BEGIN IMMEDIATE").map_err(failed)?;
        let begun = Self::try_begin(database);
        if !matches!(begun, Ok(Some(_))) {
            let _ = connection.execute_batch("ROLLBACK"); // An error in `begun` is the one to report.
        }
        begun
    }

    /// Creates the page transaction from the transaction that has begun; `None` for the reasons of
    /// [`begin`](Self::begin).
    fn try_begin(database: &'d Database) -> Result<Option<Self>> {
        let (connection, path) = (database.connection(), database.path());
        let failed = |source| Error::sqlite(path, "begin the transaction", source);
        // Pages are written without SQL, so triggers would not run, and additional indexes and columns would not be
        // filled. 6, 7 and 4 are the numbers of columns of `PositionRecord`, `EvalRow` and `OccurrenceRow`.
        let possible = "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage')
             AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger'
                             OR type = 'index' AND sql IS NOT NULL AND tbl_name IN ('game_position', 'move_eval', 'occurrence'))
             AND (SELECT count(*) FROM pragma_table_xinfo('game_position')) = 6
             AND (SELECT count(*) FROM pragma_table_xinfo('move_eval')) = 7
             AND (SELECT count(*) FROM pragma_table_xinfo('occurrence')) = 4";
        if !connection.query_row(possible, [], |row| row.get::<_, bool>(0)).map_err(failed)? {
            return Ok(None);
        }
        let log = std::fs::metadata(with_suffix(path, "-wal"));
        let header = first_page(connection).map_err(failed)?;
        // This is checked before the file is opened: if this process closed the file again, it would lose
        // SQLite's locks on it.
        if log.is_ok_and(|log| log.len() > 0) || !PageFile::is_supported(&header) {
            return Ok(None);
        }
        let file = Arc::new(PageFile::open_longer(path)?);
        database.keep_open(Arc::clone(&file));
        let page_count: u32 =
            connection.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(failed)?;
        if page_count != file.page_count() || file.page_size().max_payload() < LONGEST_ROW {
            return Ok(None);
        }
        let reader = open_file(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let read = "BEGIN; SELECT count(*) FROM sqlite_schema";
        reader.execute_batch(read).map_err(failed)?;
        let mut pages = Self {
            connection,
            path,
            file,
            _reader: reader,
            first_count: page_count,
            published: None,
            spare: Vec::new(),
            finished: false,
        };
        Ok(pages.take_free_pages()?.then_some(pages))
    }

    /// The file to which pages of new trees are written.
    #[must_use]
    pub const fn file(&self) -> &Arc<PageFile> {
        &self.file
    }

    /// The root page of a table or index.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn root_page(&self, table: &str) -> Result<PageNumber> {
        root_page(self.connection, self.path, table)
    }

    /// The root page of the index with this name and this statement; `None` if there is no such index.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn index_root(&self, name: &str, sql: &str) -> Result<Option<PageNumber>> {
        let found = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND name = ?1 AND sql = ?2";
        let root = self.connection.query_row(found, [name, sql], |row| row.get(0).map(PageNumber));
        root.optional().map_err(|source| Error::sqlite(self.path, "read the schema", source))
    }

    /// Makes the trees built so far part of the database. Each tree replaces the tree that has the given root
    /// page. From then on, rows can also be written through SQL. Reserves `max_pages` pages for trees that
    /// are built after this call.
    ///
    /// # Errors
    /// Errors of SQLite and the operating system; the transaction must then be rolled back.
    pub fn publish(&mut self, trees: Vec<(PageNumber, RebuiltTree)>, max_pages: u32) -> Result<()> {
        let last = self.file.reserve(max_pages)?;
        self.publish_trees(trees, vec![last])
    }

    /// Makes the remaining trees part of the database, as [`publish`](Self::publish) does. The transaction of
    /// SQLite stays open: all further changes use SQL.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn finish(mut self, trees: Vec<(PageNumber, RebuiltTree)>) -> Result<()> {
        self.file.sync()?;
        let unused = self.file.unused().into_iter().flat_map(PageRun::pages).collect();
        self.publish_trees(trees, unused)?;
        self.finished = true;
        Ok(())
    }

    /// Publishes trees to SQLite, and adds `unused` and all freed pages to the list of free pages.
    fn publish_trees(
        &mut self,
        trees: Vec<(PageNumber, RebuiltTree)>,
        unused: Vec<PageNumber>,
    ) -> Result<()> {
        let mut free = std::mem::take(&mut self.spare);
        free.extend(unused);
        let mut pages: Vec<(PageNumber, Vec<u8>)> = Vec::new();
        for (root, RebuiltTree { root: page, freed }) in trees {
            pages.push((root, page));
            free.extend(freed);
        }
        free.sort_unstable();
        if let Some(page) = self.wrong_page(&free) {
            return Err(BtreeError::Damaged { page }.into());
        }
        // If the transaction has already ended, SQLite would commit each page separately.
        if self.connection.is_autocommit() {
            return Err(ErrorKind::Unfinished.at(self.path));
        }
        let failed = |source| Error::sqlite(self.path, "write pages", source);
        let mut header = first_page(self.connection).map_err(failed)?;
        let size = self.file.page_size().bytes();
        let page_count = self.file.page_count();
        if page_count > self.published.unwrap_or(self.first_count) {
            // SQLite reports a file as damaged if the file is much shorter than its log says.
            self.file.extend_file()?;
            // SQLite learns the new page count when the last page is written.
            let mut last = vec![0; size];
            if free.binary_search(&PageNumber(page_count)).is_err() {
                self.file.read_page(PageNumber(page_count), &mut last)?;
            }
            pages.push((PageNumber(page_count), last));
            header[28..32].copy_from_slice(&page_count.to_be_bytes());
        }
        // At the first call, the existing list of free pages is discarded: this transaction has taken all
        // pages from it.
        let (next, listed) =
            if self.published.is_some() { (word(&header, 32), word(&header, 36)) } else { (0, 0) };
        let first_trunk = add_trunks(&mut pages, &free, next, size);
        for (at, number) in [(32, first_trunk), (36, listed + free.len() as u32)] {
            header[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        pages.push((PageNumber(1), header));
        self.write(&pages).map_err(failed)?;
        self.published = Some(page_count);
        Ok(())
    }

    /// Checks the sorted list `free`. Returns a page that cannot be a free page, or is in the list twice;
    /// `None` if the list is valid.
    fn wrong_page(&self, free: &[PageNumber]) -> Option<PageNumber> {
        let twice = free.windows(2).find(|pages| pages[0] == pages[1]).map(|pages| pages[0]);
        let last = self.file.page_count();
        let lock_page = self.file.page_size().lock_page();
        let is_wrong = |page: &&PageNumber| !(2..=last).contains(&page.0) || **page == lock_page;
        twice.or_else(|| free.iter().find(is_wrong).copied())
    }

    fn write(&self, pages: &[(PageNumber, Vec<u8>)]) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)")?;
        for (number, page) in pages {
            insert.execute(params![number.0, page])?;
        }
        // At the end of a savepoint SQLite rereads the page count.
        self.connection.execute_batch("SAVEPOINT grafted; RELEASE grafted")
    }

    /// Takes all pages from the list of free pages. The trunk pages of this list contain the numbers of the
    /// other free pages. Groups of at least [`WORTH`](Self::WORTH) adjacent pages among these others become
    /// available for new trees. All other pages become spare pages. Returns whether the list is valid.
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
        let mut all = [self.spare.as_slice(), &leaves].concat();
        all.sort_unstable();
        if all.len() != count || self.wrong_page(&all).is_some() {
            return Ok(false);
        }
        leaves.sort_unstable();
        let (worth, others): (Vec<_>, Vec<_>) =
            leaves.chunk_by(|a, b| a.0 + 1 == b.0).partition(|run| run.len() >= Self::WORTH as usize);
        self.spare.extend(others.into_iter().flatten());
        // The file reuses the last of these groups first. So the order is reversed, to reuse free pages at the
        // beginning of the file first.
        self.file.reuse(worth.iter().rev().map(|run| PageRun { first: run[0], count: run.len() as u32 }));
        Ok(true)
    }
}

impl Drop for PageTransaction<'_> {
    fn drop(&mut self) {
        if !self.finished {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// The contents of page 1 in the current transaction.
fn first_page(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.query_row("SELECT data FROM sqlite_dbpage WHERE pgno = 1", [], |row| row.get(0))
}

/// Adds the trunk pages (["The Freelist"](https://www.sqlite.org/fileformat2.html#the_freelist)) to `pages`.
/// They list the free pages, and are free pages themselves. `next` is the first existing trunk page. Returns
/// the number of the first new trunk page, or `next` if `free` is empty.
fn add_trunks(
    pages: &mut Vec<(PageNumber, Vec<u8>)>,
    free: &[PageNumber],
    mut next: u32,
    size: usize,
) -> u32 {
    // SQLite leaves six entries of each trunk page unused, because old versions had a bug.
    let listed = size / 4 - 8;
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
