//! Rows on their way into a database.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use crate::store::cell::GAME_SET;
use crate::store::database::open_file;
use crate::store::error::{Error, Result};
use crate::store::lock::WriterLock;
use crate::store::pages::{PageFile, Tree};
use crate::store::schema;
use crate::store::write::passed::copy_sets;
use crate::store::write::temporary::{Temporary, configure, root_page};

/// A temporary database with the same schema, for rows that another one takes over later.
#[derive(Debug)]
pub struct SideDatabase {
    connection: Connection,
    temporary: Temporary,
    /// The names of the indexes of `game`, and the statements that make them.
    game_indexes: Vec<(String, String)>,
}

/// An index of a side database's rows.
#[derive(Debug)]
pub struct SideIndex {
    /// Its name.
    pub name: String,
    /// The statement that makes it.
    pub sql: String,
    /// The file it stands in.
    pub file: Arc<PageFile>,
    /// Its pages.
    pub tree: Tree,
}

impl SideDatabase {
    /// Makes an empty one beside the lock's target.
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
        let game_indexes = game_indexes(&connection)
            .map_err(|source| Error::sqlite(&temporary.0, "read the schema", source))?;
        Ok(Self { connection, temporary, game_indexes })
    }

    /// Makes the indexes of `game`, once all its rows are there. Gives back those whose rows stand on their pages as a whole.
    ///
    /// # Errors
    /// What SQLite and the operating system say.
    pub fn index_games(&self) -> Result<Vec<SideIndex>> {
        let path = self.path();
        let failed = |source| Error::sqlite(path, "create an index", source);
        for (_, sql) in &self.game_indexes {
            self.connection.execute_batch(sql).map_err(failed)?;
        }
        let file = Arc::new(PageFile::open_longer(path)?);
        let mut indexes = Vec::new();
        for (name, sql) in &self.game_indexes {
            let root = root_page(&self.connection, name).map_err(failed)?;
            if let Ok(tree) = Tree::read(&file, root) {
                let (name, sql, file) = (name.clone(), sql.clone(), Arc::clone(&file));
                indexes.push(SideIndex { name, sql, file, tree });
            }
        }
        Ok(indexes)
    }

    /// The connection to it.
    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary.0
    }

    /// Closes it and attaches it to the database at `path` as `side`. It is to be detached before its file is dropped.
    pub(crate) fn attach(self, main: &Connection, path: &Path) -> Result<Temporary> {
        let failed = |source| Error::sqlite(path, "copy the small tables", source);
        let Self { connection, temporary, .. } = self;
        connection.close().map_err(|(_, source)| failed(source))?;
        // As bytes: a path need not be UTF-8.
        main.execute("ATTACH ?1 AS side", [temporary.0.as_os_str().as_encoded_bytes()]).map_err(failed)?;
        Ok(temporary)
    }
}

fn game_indexes(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, sql FROM sqlite_schema
               WHERE type = 'index' AND tbl_name = 'game' AND sql IS NOT NULL ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Removes the columns of games that the attached side database has whole.
pub(crate) fn make_room(main: &Connection) -> rusqlite::Result<()> {
    main.execute_batch(
        "DELETE FROM main.game_column WHERE (name, block) IN (SELECT name, block FROM side.game_column)",
    )
}
/// Whether there are sets that those of new games are to be joined with.
const SETS_THERE: &str = "SELECT EXISTS (SELECT 1 FROM main.game_set)";

/// Copies all rows of the attached side database but those of `problem` and `occurrence_level`. Tables and columns that the other database has beside
/// them stay as they are.
pub(crate) fn copy_rows(main: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM side.sqlite_schema
               WHERE type = 'table' AND name NOT IN ('problem', 'occurrence_level') AND name NOT LIKE 'sqlite%' ORDER BY rowid";
    let tables: Vec<String> =
        main.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables {
        let empty = format!("SELECT NOT EXISTS (SELECT 1 FROM side.{table})");
        if main.query_row(&empty, [], |row| row.get(0))? {
            continue;
        }
        if table == GAME_SET.name && main.query_row(SETS_THERE, [], |row| row.get(0))? {
            copy_sets(main)?;
            continue;
        }
        let own = columns(main, &table, "side")?;
        // All columns of equal tables: SQLite copies the rows as they are.
        if own == columns(main, &table, "main")? {
            copy(main, &table, "*", &table)?;
        } else {
            copy(main, &format!("{table} ({own})"), &own, &table)?;
        }
    }
    Ok(())
}

/// Copies the problems of the attached side database, which are numbered anew, on from those that are there.
pub(crate) fn copy_problems(main: &Connection) -> rusqlite::Result<()> {
    let own = columns(main, "problem", "side")?;
    copy(main, &format!("problem ({own})"), &own, "problem")
}

/// The names of a table's columns, but for the numbers of problems.
fn columns(main: &Connection, table: &str, schema: &str) -> rusqlite::Result<String> {
    let sql = "SELECT group_concat(name, ', ' ORDER BY cid) FROM pragma_table_info(?1, ?2)
               WHERE name <> 'problem_id'";
    main.query_row(sql, [table, schema], |row| row.get(0))
}

fn copy(main: &Connection, target: &str, columns: &str, table: &str) -> rusqlite::Result<()> {
    // Without `OR ROLLBACK` SQLite would keep a journal, in a temporary file somewhere, to undo the statement alone.
    main.execute_batch(&format!("INSERT OR ROLLBACK INTO main.{target} SELECT {columns} FROM side.{table}"))
}
