//! Writes rows through SQL, in batches.

use std::cell::Cell;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Params, Row, ToSql, params};

use crate::board::MoveCode;
use crate::id::{GameId, ImportId, Ply, SourceId};
use crate::opening::{NamedPosition, OpeningBook};
use crate::store::cell::{Cells, GAME_POSITION, StoredPath};
use crate::store::database::Database;
use crate::store::error::{Error, ErrorKind, Result};
use crate::store::game_column::ColumnBuilder;
use crate::store::game_indexes::update_statistics;
use crate::store::row::virtual_table::RowTable;
use crate::store::row::{
    ContinuationRow, HeaderBatch, ImportTotals, NewImport, SourceDigest, SourceTotals, VisitedPositionBatch,
    VisitedPositionRow,
};
use crate::store::write::features::FeatureSetWriter;
use crate::store::write::hidden_index::{self, SchemaRow};
use crate::store::write::side_database::{SideDatabase, Temporary, attach, copy_problems, copy_rows};

/// A position of a game and the move played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedPosition {
    /// The canonical FEN.
    pub fen: String,
    /// The move; `None` at the end of the game.
    pub move_code: Option<MoveCode>,
}

/// Writes rows in batches, in one transaction that [`finish`](Self::finish) commits.
///
/// One statement writes all rows of a batch for one table: an `INSERT INTO … SELECT` from a virtual table on
/// the batch's memory. This is 2 to 3 times as fast as one statement for each row.
pub struct BulkLoader<'c> {
    connection: LoaderConnection<'c>,
    path: PathBuf,
    finished: bool,
    /// Whether a statement failed. A failed statement can have written a part of its rows, so the transaction
    /// must not be committed.
    broken: Cell<bool>,
    import: Option<ImportId>,
    headers: Vec<RowTable<HeaderBatch>>,
    visited: [RowTable<VisitedPositionBatch>; 2],
    features: FeatureSetWriter,
    /// The attached side databases, each with its name. They stay attached until the load ends.
    sides: Vec<(&'static str, Temporary)>,
    /// The rows of `sqlite_schema` for the indexes that are currently hidden.
    hidden: Vec<SchemaRow>,
    /// The columns of the current block of games, which are not written yet.
    pub(super) columns: ColumnBuilder,
}

/// A borrowed connection, or a side database that the loader owns.
enum LoaderConnection<'c> {
    Borrowed(&'c Connection),
    Own(Box<SideDatabase>),
    /// The side database was returned to the caller.
    Gone,
}

impl Deref for LoaderConnection<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Borrowed(connection) => connection,
            Self::Own(side) => side.connection(),
            Self::Gone => unreachable!("returned when the load ended"),
        }
    }
}

impl<'c> BulkLoader<'c> {
    /// Begins a load on the connection of a [`Build`](crate::store::Build) or a
    /// [`Database`]. Errors contain `path`.
    ///
    /// # Errors
    /// Errors of SQLite; [`ErrorKind::Busy`] if another program is writing.
    pub fn begin(connection: &'c Connection, path: &Path) -> Result<Self> {
        Self::new(LoaderConnection::Borrowed(connection), path)?.begun()
    }

    /// Begins a load into a side database.
    /// [`finish_side_database`](Self::finish_side_database) returns the side database.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn into_side_database(side: SideDatabase) -> Result<Self> {
        let path = side.path().to_owned();
        Self::new(LoaderConnection::Own(Box::new(side)), &path)?.begun()
    }

    fn begun(self) -> Result<Self> {
        self.run("begin the bulk load", |connection| connection.execute_batch("BEGIN IMMEDIATE"))?;
        Ok(self)
    }

    /// Continues the transaction of a [`PageTransaction`](crate::store::PageTransaction) after its first
    /// [`publish`](crate::store::PageTransaction::publish).
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn resume(database: &'c Database) -> Result<Self> {
        Self::new(LoaderConnection::Borrowed(database.connection()), database.path())
    }

    fn new(connection: LoaderConnection<'c>, path: &Path) -> Result<Self> {
        let failed = |source| Error::sqlite(path, "begin the bulk load", source);
        // Cached statements of an earlier loader would read the virtual tables of that loader.
        connection.flush_prepared_statement_cache();
        let headers = RowTable::register_all(&connection).map_err(failed)?;
        let visited = [
            RowTable::register::<VisitedPositionRow>(&connection).map_err(failed)?,
            RowTable::register::<ContinuationRow>(&connection).map_err(failed)?,
        ];
        Ok(Self {
            connection,
            path: path.to_owned(),
            finished: false,
            broken: Cell::new(false),
            import: None,
            headers,
            visited,
            features: FeatureSetWriter::default(),
            sides: Vec::new(),
            hidden: Vec::new(),
            columns: ColumnBuilder::default(),
        })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Adds the row of this run to `import`. Must be called before the first
    /// [`append_headers`](Self::append_headers).
    ///
    /// # Errors
    /// Errors of SQLite; also if the id already exists.
    pub fn add_import(&mut self, import: &NewImport<'_>) -> Result<()> {
        self.execute(
            "write table import",
            "INSERT INTO import (import_id, started_at, program_version, options)
             VALUES (?1, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?2, ?3)",
            params![import.id.0, import.program_version, import.options],
        )?;
        self.import = Some(import.id);
        Ok(())
    }

    /// Assigns the following games to an existing run.
    pub(crate) const fn set_import(&mut self, import: ImportId) {
        self.import = Some(import);
    }

    /// Completes the row of a run in `import`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn finish_import(&self, id: ImportId, totals: &ImportTotals) -> Result<()> {
        self.execute(
            "write table import",
            "UPDATE import SET finished_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now'),
             games = ?2, plies = ?3, positions = ?4, distinct_positions = ?5, problems = ?6, duplicates = ?7,
             seconds = ?8
             WHERE import_id = ?1",
            params![
                id.0,
                totals.games.cast_signed(),
                totals.plies.cast_signed(),
                totals.positions.cast_signed(),
                totals.distinct_positions.cast_signed(),
                totals.problems.cast_signed(),
                totals.duplicates.cast_signed(),
                totals.elapsed.as_secs_f64()
            ],
        )
    }

    /// Adds a row to `setting`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn add_setting(&mut self, name: &str, value: impl ToSql) -> Result<()> {
        self.execute("write table setting", "INSERT INTO setting VALUES (?1, ?2)", params![name, value])
    }

    /// Writes a list of openings, with the ids that rows of `game` refer to. Must be called only once.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn add_openings(&mut self, book: &OpeningBook) -> Result<()> {
        let sql = "INSERT INTO opening (opening_id, eco, name, key, fen) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run("write table opening", |connection| {
            let mut statement = connection.prepare(sql)?;
            book.iter().try_for_each(|(id, NamedPosition { opening, key, fen, .. })| {
                statement.execute(params![id.0, opening.eco, opening.name, key.as_i64(), fen]).map(drop)
            })
        })
    }

    /// Adds a row to `source` for a file that is read from the offset `first_byte` on.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn add_source(&mut self, id: SourceId, path: impl AsRef<Path>, first_byte: u64) -> Result<()> {
        self.execute(
            "write table source",
            "INSERT INTO source (source_id, path, first_byte, import_id) VALUES (?1, ?2, ?3, ?4)",
            params![id.0, StoredPath(path), first_byte.cast_signed(), self.import.map(|id| id.0)],
        )
    }

    /// Completes the row of a source.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn finish_source(&mut self, id: SourceId, totals: &SourceTotals) -> Result<()> {
        self.execute(
            "write table source",
            "UPDATE source SET indexed_at = CASE WHEN ?3 NOTNULL AND NOT ?9 THEN strftime('%Y-%m-%dT%H:%M:%SZ', 'now') END,
             bytes = ?2, digest = ?3, games = ?4, plies = ?5, problems = ?6, duplicates = ?7,
             last_game = ?8
             WHERE source_id = ?1",
            params![
                id.0,
                totals.bytes.map(u64::cast_signed),
                totals.digest.map(SourceDigest::to_hex),
                totals.games.cast_signed(),
                totals.plies.cast_signed(),
                totals.problems.cast_signed(),
                totals.duplicates.cast_signed(),
                totals.last_game.map(u64::cast_signed),
                totals.is_damaged
            ],
        )
    }

    /// Writes the rows of a batch to the small tables, and adds the games of the batch to `game_column` and
    /// `game_set`. These two tables are written block by block.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn append_headers(&mut self, batch: &HeaderBatch) -> Result<()> {
        self.append_headers_except(&[], batch)
    }

    /// Like [`append_headers`](Self::append_headers), but does not write the tables in `others`.
    pub(crate) fn append_headers_except(&mut self, others: &[&str], batch: &HeaderBatch) -> Result<()> {
        let mut tables = self.headers.iter().filter(|rows| !others.contains(&rows.table));
        tables.try_for_each(|rows| self.insert(rows, batch))?;
        self.push_columns(batch)?;
        let appended = self.features.append(&self.connection, batch);
        appended.map_err(|source| self.failed("write table game_set", source))
    }

    /// Writes rows of `level_position` and `level_continuation`.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn append_visited(&self, batch: &VisitedPositionBatch) -> Result<()> {
        self.visited.iter().try_for_each(|rows| self.insert(rows, batch))
    }

    /// Inserts the rows of a batch for one table.
    fn insert<B: Sync + 'static>(&self, rows: &RowTable<B>, batch: &B) -> Result<()> {
        let given = rows.len(batch);
        if given == 0 {
            return Ok(());
        }
        let written = rows.insert(&self.connection, batch, self.import);
        let written = written.map_err(|source| self.failed(rows.action, source))?;
        if written == given {
            return Ok(());
        }
        self.broken.set(true);
        Err(ErrorKind::RowsLost { table: rows.table, given, written }.at(&self.path))
    }

    /// Copies all rows of a side database except those of `problem` and `occurrence_level`.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub(crate) fn take_rows(&mut self, side: SideDatabase) -> Result<()> {
        self.attach("side", side.close()?)?;
        self.run("copy the small tables", |connection| copy_rows(connection, "side"))
    }

    /// Copies the rows of a closed side database that has only rows of large tables.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub(crate) fn take_large_rows(&mut self, rows: Temporary) -> Result<()> {
        self.attach("large", rows)?;
        self.run("write table game_position", |connection| copy_rows(connection, "large"))
    }

    fn attach(&mut self, name: &'static str, side: Temporary) -> Result<()> {
        self.run("attach a temporary database", |connection| attach(connection, &side.0, name))?;
        self.sides.push((name, side));
        Ok(())
    }

    /// Detaches the side databases. Called after the end of the transaction.
    fn detach(&self) {
        for (name, _) in &self.sides {
            let _ = self.connection.execute_batch(&format!("DETACH {name}"));
        }
    }

    /// Copies the problems of the side database whose other rows were [copied](Self::take_rows). Called after
    /// problems have been removed, so that the ids of the new problems follow those of the remaining
    /// problems.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn take_problems(&mut self) -> Result<()> {
        self.run("copy the problems", copy_problems)
    }

    /// Hides indexes from the schema, so that adding rows does not update them.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn hide_indexes(&mut self, names: &[&str]) -> Result<()> {
        self.hidden = self.run("hide indexes", |connection| hidden_index::remove(connection, names))?;
        Ok(())
    }

    /// Restores the indexes that were [hidden](Self::hide_indexes). Their pages can have changed meanwhile.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn restore_indexes(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.hidden);
        self.run("restore indexes", |connection| hidden_index::restore(connection, &rows))
    }

    /// Rebuilds an index from the rows of its table.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub fn rebuild_index(&mut self, name: &str) -> Result<()> {
        self.execute("rebuild an index", &format!("REINDEX {name}"), [])
    }

    /// Reads a row of `game_position`.
    ///
    /// # Errors
    /// Errors of SQLite; also if there is no such row.
    pub fn position_at(&self, game: GameId, ply: Ply) -> Result<PlayedPosition> {
        let sql = "SELECT game_id, ply, fen, move_code FROM game_position WHERE game_id = ?1 AND ply = ?2";
        let read = |row: &Row<'_>| {
            let cells = Cells::new(row, GAME_POSITION);
            let move_code = cells.get("move_code")?;
            Ok(PlayedPosition { fen: cells.get("fen")?, move_code })
        };
        self.run("read table game_position", |connection| {
            connection.prepare_cached(sql)?.query_row([game.0, ply.0], read)
        })
    }

    /// Builds all indexes of the side database. Called once all its rows are written.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`].
    pub(crate) fn make_indexes(&self) -> Result<()> {
        let LoaderConnection::Own(side) = &self.connection else { return Ok(()) };
        let mut statements = side.index_statements();
        self.run("create an index", |connection| statements.try_for_each(|sql| connection.execute_batch(sql)))
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// Errors of SQLite, such as [`Error::DiskFull`]; [`ErrorKind::Unfinished`] if an earlier call failed, or
    /// indexes are still [hidden](Self::hide_indexes).
    pub fn finish(mut self) -> Result<()> {
        self.commit()
    }

    /// [Finishes](Self::finish) the load and returns the side database that it filled.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    ///
    /// # Panics
    /// If the loader does not own a side database.
    pub(crate) fn finish_side_database(mut self) -> Result<SideDatabase> {
        self.commit()?;
        match std::mem::replace(&mut self.connection, LoaderConnection::Gone) {
            LoaderConnection::Own(side) => Ok(*side),
            LoaderConnection::Borrowed(_) | LoaderConnection::Gone => {
                unreachable!("a load into a side database")
            }
        }
    }

    /// Commits the transaction. Nothing can be written afterwards.
    fn commit(&mut self) -> Result<()> {
        if self.broken.get() || !self.hidden.is_empty() {
            return Err(ErrorKind::Unfinished.at(&self.path));
        }
        self.end_columns()?;
        let written = self.features.write(&self.connection);
        written.map_err(|source| self.failed("write table game_set", source))?;
        self.run("write table sqlite_stat1", update_statistics)?;
        self.run("commit the bulk load", |connection| connection.execute_batch("COMMIT"))?;
        self.finished = true;
        self.detach();
        Ok(())
    }

    pub(crate) fn execute(&self, action: &'static str, sql: &str, params: impl Params) -> Result<()> {
        self.changed(action, sql, params).map(|_| ())
    }

    /// Runs a statement and returns the number of changed rows.
    pub(crate) fn changed(&self, action: &'static str, sql: &str, params: impl Params) -> Result<usize> {
        self.run(action, |connection| connection.prepare_cached(sql)?.execute(params))
    }

    pub(super) fn run<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|source| self.failed(action, source))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(&self, action: &'static str, source: rusqlite::Error) -> Error {
        self.broken.set(true);
        Error::sqlite(&self.path, action, source)
    }
}

impl Drop for BulkLoader<'_> {
    fn drop(&mut self) {
        if !self.finished && matches!(self.connection, LoaderConnection::Borrowed(_)) {
            let _ = self.connection.execute_batch("ROLLBACK");
            // The rollback restores hidden indexes in the schema, so SQLite must reread the schema.
            let _ = self.connection.execute_batch("PRAGMA writable_schema = RESET");
            self.detach();
        }
    }
}
