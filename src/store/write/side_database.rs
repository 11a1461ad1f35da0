//! Side databases: temporary databases with rows that are later copied to another database. Also contains
//! helpers for other databases that are being built in temporary files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, Row};

use crate::store::cell::{GAME_SET, read_rows};
use crate::store::database::{open_file, set_cache};
use crate::store::error::{Error, Result};
use crate::store::lock::{SQLITE_SUFFIXES, WriterLock};
use crate::store::pages::{PageFile, PageNumber, Tree};
use crate::store::schema;
use crate::store::write::features::copy_sets;

/// A temporary database with the current schema. Its rows are later copied to another database.
#[derive(Debug)]
pub struct SideDatabase {
    connection: Connection,
    temporary: Temporary,
    indexes: Vec<DroppedIndex>,
}

/// An index that a side database does not have while rows are added to it.
#[derive(Debug)]
struct DroppedIndex {
    table: String,
    name: String,
    /// The statement that creates the index.
    sql: String,
}

/// An index of the table `game` of a side database.
#[derive(Debug)]
pub struct SideIndex {
    /// The name of the index.
    pub name: String,
    /// The statement that creates the index.
    pub sql: String,
    /// The file that contains the index.
    pub file: Arc<PageFile>,
    /// The tree of the index.
    pub tree: Tree,
}

impl SideDatabase {
    /// Creates an empty side database beside the target of `lock`. It has no indexes that were created with
    /// `CREATE INDEX`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn create(lock: &WriterLock, name: &str, cache_bytes: u64) -> Result<Self> {
        let temporary = Temporary(lock.temporary(&format!("-{name}")));
        let mut connection =
            open_file(&temporary.0, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        configure(&connection, cache_bytes)
            .map_err(|source| Error::sqlite(&temporary.0, "configure the database", source))?;
        schema::migrate(&mut connection, &temporary.0)?;
        let indexes = drop_indexes(&connection)
            .map_err(|source| Error::sqlite(&temporary.0, "change the schema", source))?;
        Ok(Self { connection, temporary, indexes })
    }

    /// Builds the indexes of `game`. Called once all rows of `game` are written. The result does not include an
    /// index if a row above its leaves continues on an overflow page: such a tree cannot be read here.
    ///
    /// # Errors
    /// Errors of SQLite and the operating system.
    pub fn index_games(&self) -> Result<Vec<SideIndex>> {
        let path = self.path();
        let indexes_of_game = || self.indexes.iter().filter(|index| index.table == "game");
        for DroppedIndex { sql, .. } in indexes_of_game() {
            self.connection
                .execute_batch(sql)
                .map_err(|source| Error::sqlite(path, "create an index", source))?;
        }
        let file = Arc::new(PageFile::open_longer(path)?);
        let mut indexes = Vec::new();
        for DroppedIndex { name, sql, .. } in indexes_of_game() {
            let root = root_page(&self.connection, path, name)?;
            if let Ok(tree) = Tree::read(&file, root) {
                let (name, sql, file) = (name.clone(), sql.clone(), Arc::clone(&file));
                indexes.push(SideIndex { name, sql, file, tree });
            }
        }
        Ok(indexes)
    }

    /// The statements that create all indexes again.
    pub(super) fn index_statements(&self) -> impl Iterator<Item = &str> {
        self.indexes.iter().map(|index| index.sql.as_str())
    }

    /// The connection to the database.
    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary.0
    }

    /// Closes the database. Its file is removed when the result is dropped.
    pub(crate) fn close(self) -> Result<Temporary> {
        let Self { connection, temporary, .. } = self;
        let closed = connection.close();
        closed.map_err(|(_, source)| Error::sqlite(&temporary.0, "close the database", source))?;
        Ok(temporary)
    }
}

/// Attaches a database file to a connection.
pub(crate) fn attach(main: &Connection, path: &Path, name: &str) -> rusqlite::Result<()> {
    // The path is passed as bytes, because it need not be valid UTF-8.
    main.execute(&format!("ATTACH ?1 AS {name}"), [path.as_os_str().as_encoded_bytes()]).map(drop)
}

/// Drops and returns all indexes that were created with `CREATE INDEX`.
fn drop_indexes(connection: &Connection) -> rusqlite::Result<Vec<DroppedIndex>> {
    let sql = "SELECT tbl_name, name, sql FROM sqlite_schema
               WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
    let read = |row: &Row<'_>| Ok(DroppedIndex { table: row.get(0)?, name: row.get(1)?, sql: row.get(2)? });
    let indexes = read_rows(&mut connection.prepare(sql)?, [], read)?;
    for index in &indexes {
        connection.execute_batch(&format!("DROP INDEX {}", index.name))?;
    }
    Ok(indexes)
}

/// Whether the database already has sets, which must be merged with the sets of new games.
const HAS_SETS: &str = "SELECT EXISTS (SELECT 1 FROM main.game_set)";

/// Copies all rows of an attached side database except those of `problem` and `occurrence_level`. Rows of
/// `game_column` replace rows with the same key. The main database can have additional tables and columns.
/// Additional tables are not changed; additional columns get their default values.
pub(crate) fn copy_rows(main: &Connection, side: &str) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT name FROM {side}.sqlite_schema
         WHERE type = 'table' AND name NOT IN ('problem', 'occurrence_level') AND name NOT LIKE 'sqlite%' ORDER BY rowid"
    );
    let tables: Vec<String> = read_rows(&mut main.prepare(&sql)?, [], |row| row.get(0))?;
    let replaced = format!("SELECT name, block FROM {side}.game_column");
    main.execute_batch(&format!("DELETE FROM main.game_column WHERE (name, block) IN ({replaced})"))?;
    for table in tables {
        let empty = format!("SELECT NOT EXISTS (SELECT 1 FROM {side}.{table})");
        if main.query_row(&empty, [], |row| row.get(0))? {
            continue;
        }
        if table == GAME_SET.name && main.query_row(HAS_SETS, [], |row| row.get(0))? {
            copy_sets(main)?;
            continue;
        }
        let own = columns(main, &table, side)?;
        // If the tables have the same columns, `*` lets SQLite copy the rows without decoding them.
        if own == columns(main, &table, "main")? {
            copy(main, &table, "*", &format!("{side}.{table}"))?;
        } else {
            copy(main, &format!("{table} ({own})"), &own, &format!("{side}.{table}"))?;
        }
    }
    Ok(())
}

/// Copies the problems of the attached side database. Their new ids follow the existing ids.
pub(crate) fn copy_problems(main: &Connection) -> rusqlite::Result<()> {
    let own = columns(main, "problem", "side")?;
    copy(main, &format!("problem ({own})"), &own, "side.problem")
}

/// The names of a table's columns except `problem_id`, separated by commas.
fn columns(main: &Connection, table: &str, schema: &str) -> rusqlite::Result<String> {
    let sql = "SELECT group_concat(name, ', ' ORDER BY cid) FROM pragma_table_info(?1, ?2)
               WHERE name <> 'problem_id'";
    main.query_row(sql, [table, schema], |row| row.get(0))
}

fn copy(main: &Connection, target: &str, columns: &str, from: &str) -> rusqlite::Result<()> {
    // Without `OR ROLLBACK`, SQLite would keep a statement journal in a temporary file.
    main.execute_batch(&format!("INSERT OR ROLLBACK INTO main.{target} SELECT {columns} FROM {from}"))
}

/// A file that is removed, together with SQLite's side files, when this value is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        for suffix in SQLITE_SUFFIXES {
            let _ = fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Configures a connection for writing to a file that is useless until it is complete.
pub(crate) fn configure(connection: &Connection, cache_bytes: u64) -> rusqlite::Result<()> {
    // The page size has an effect only if it is set before the first write.
    connection.pragma_update(None, "page_size", schema::PAGE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    set_cache(connection, cache_bytes.max(1 << 20))
}

/// A path with a suffix added to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The root page of a table or index of the database at `path`.
pub(crate) fn root_page(connection: &Connection, path: &Path, table: &str) -> Result<PageNumber> {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root = connection.query_row(sql, [table], |row| row.get(0)).map(PageNumber);
    root.map_err(|source| Error::sqlite(path, "read the schema", source))
}
