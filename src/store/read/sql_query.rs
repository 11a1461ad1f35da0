//! SQL statements of users, and the names that these statements can use.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, ErrorCode, Params, Rows, Statement, ffi};

use crate::sorted::sort;
#[cfg(feature = "bundled")]
use crate::store::SqlLocation;
use crate::store::schema::{schema_of, version_of};
use crate::store::sql::words;
use crate::store::{Database, Error, Result, SchemaVersion, read_rows};

/// A prepared statement of a user.
#[derive(Debug)]
pub struct Query<'db> {
    database: &'db Database,
    statement: Statement<'db>,
}

/// The rows of a [`Query`], one at a time.
pub struct QueryRows<'q> {
    database: &'q Database,
    is_attaching: bool,
    rows: Rows<'q>,
}

/// Whether a statement attaches another database.
fn is_attaching(statement: &Statement<'_>) -> bool {
    let sql = statement.expanded_sql().unwrap_or_default();
    words(&sql).first().is_some_and(|word| word.eq_ignore_ascii_case("ATTACH"))
}

/// The statements of an SQL text, one after the other.
///
/// Each statement is prepared when it is requested. Run it before you request the next one, which can depend
/// on its changes.
pub struct Statements<'db, 'sql> {
    database: &'db Database,
    sql: &'sql str,
    batch: Batch<'db, 'sql>,
}

impl Database {
    /// Prepares one read-only SQL statement.
    ///
    /// # Errors
    /// [`Error::Query`] if `sql` is not valid SQL, [`Error::EmptyQuery`], [`Error::MultipleStatements`],
    /// [`Error::NotReadOnly`].
    pub fn query<'db>(&'db self, sql: &str) -> Result<Query<'db>> {
        let mut statements = self.statements(sql);
        let query = statements.next_statement()?.ok_or(Error::EmptyQuery)?;
        // A second statement is an error even if it is invalid.
        if !matches!(statements.batch.next(), Ok(None)) {
            return Err(Error::MultipleStatements);
        }
        if query.is_read_only() { Ok(query) } else { Err(Error::NotReadOnly) }
    }

    /// The statements of an SQL text.
    #[must_use]
    pub fn statements<'db, 'sql>(&'db self, sql: &'sql str) -> Statements<'db, 'sql> {
        Statements { database: self, sql, batch: Batch::new(self.connection(), sql) }
    }

    /// The number of rows that statements have inserted, updated or deleted since the database was opened.
    #[must_use]
    pub fn total_changes(&self) -> u64 {
        self.connection().total_changes()
    }

    /// Whether a statement started a transaction that is still open.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        !self.connection().is_autocommit()
    }
}

impl<'db> Statements<'db, '_> {
    /// Prepares the next statement; `None` at the end of the text.
    ///
    /// # Errors
    /// [`Error::Query`] if the statement is not valid SQL, [`Error::NotReadOnly`] if it is not read-only but
    /// the database is open for reading only.
    pub fn next_statement(&mut self) -> Result<Option<Query<'db>>> {
        let database = self.database;
        database.read_views_quickly()?;
        let failed = |source| Error::query(database, self.sql, source);
        let Some(statement) = self.batch.next().map_err(failed)? else { return Ok(None) };
        let query = Query { database, statement };
        let is_allowed =
            query.is_read_only() || !database.connection().is_readonly("main").map_err(failed)?;
        if is_allowed { Ok(Some(query)) } else { Err(Error::NotReadOnly) }
    }
}

impl Query<'_> {
    /// The names of the columns; empty if the statement returns no rows.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        self.statement.column_names()
    }

    /// Whether the statement leaves the contents of all databases unchanged.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.statement.readonly() || reads_journal_mode(&self.statement)
    }

    /// The names of the parameters in order, with their prefix: `:name`, `@name`, `$name`, `?2`; `?` for a
    /// parameter without a name.
    #[must_use]
    pub fn parameters(&self) -> Vec<&str> {
        let name = |index| self.statement.parameter_name(index).unwrap_or("?");
        (1..=self.statement.parameter_count()).map(name).collect()
    }

    /// Starts the query. Parameters are bound, never inserted into the SQL text.
    ///
    /// # Errors
    /// [`Error::Query`] if the values do not fit the statement's parameters.
    pub fn rows(&mut self, params: impl Params) -> Result<QueryRows<'_>> {
        let database = self.database;
        let is_attaching = is_attaching(&self.statement);
        let failed = |source| Error::run(database, is_attaching, source);
        let rows = self.statement.query(params).map_err(failed)?;
        Ok(QueryRows { database, is_attaching, rows })
    }
}

impl QueryRows<'_> {
    /// The next row, if any; read its values with `get_ref`.
    ///
    /// # Errors
    /// [`Error::Query`], [`Error::Interrupted`], or errors of SQLite about the file.
    pub fn next_row(&mut self) -> Result<Option<&rusqlite::Row<'_>>> {
        self.rows.next().map_err(|source| Error::run(self.database, self.is_attaching, source))
    }
}

impl Error {
    /// Converts an error that SQLite reported when a statement ran.
    fn run(database: &Database, is_attaching: bool, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(code) if is_attaching && is_of_file(code) => {
                let message = format!("cannot attach that file: {source}");
                Self::Query { message, place: None, source }
            }
            _ => Self::query(database, "", source),
        }
    }

    /// Converts an error of SQLite. `sql` is the text with all statements; it is needed only if the error
    /// occurred when a statement was prepared.
    fn query(database: &Database, sql: &str, source: rusqlite::Error) -> Self {
        #[cfg(not(feature = "bundled"))]
        let _ = sql;
        match source {
            // Without `bundled`, this code runs in an extension, which SQLite of any version can load. Older
            // versions do not report the place of an error.
            #[cfg(feature = "bundled")]
            rusqlite::Error::SqlInputError { error, msg, sql: rest, offset } => {
                let start = sql.len().saturating_sub(rest.len());
                let place = SqlLocation::at(sql, start + usize::try_from(offset).unwrap_or(0));
                let source = rusqlite::Error::SqliteFailure(error, Some(msg.clone()));
                Self::Query { message: msg, place: Some(Box::new(place)), source }
            }
            rusqlite::Error::SqliteFailure(ffi::Error { code: ErrorCode::OperationInterrupted, .. }, _) => {
                Self::Interrupted
            }
            // SQLite does not report which database file has the error.
            rusqlite::Error::SqliteFailure(error, _) if is_of_file(error.code) && has_attached(database) => {
                let message = format!("{source}, in this database or an attached one");
                Self::Query { message, place: None, source }
            }
            rusqlite::Error::SqliteFailure(error, _) if is_of_file(error.code) => {
                Self::sqlite(database.path(), "run the statement", source)
            }
            rusqlite::Error::InvalidParameterCount(given, needed) => {
                let rest = match given {
                    0 => "; write the values into the query".to_owned(),
                    given => format!(", but {given} are given"),
                };
                let message = format!("the query needs {needed} value(s) for its parameters{rest}");
                Self::Query { message, place: None, source }
            }
            source => Self::Query { message: source.to_string(), place: None, source },
        }
    }
}

/// Whether the statement is `PRAGMA journal_mode` without a new value. SQLite does not report this statement
/// as read-only, although it is.
fn reads_journal_mode(statement: &Statement<'_>) -> bool {
    let sql = statement.expanded_sql().unwrap_or_default().to_ascii_lowercase();
    let words = words(&sql);
    let words = words.strip_suffix(&[";"]).unwrap_or(&words);
    matches!(words, ["pragma", "journal_mode" | "main.journal_mode"])
}

/// Whether an error concerns a file and not the statement.
const fn is_of_file(code: ErrorCode) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, SystemIoFailure};
    matches!(
        code,
        DatabaseBusy | DatabaseCorrupt | DatabaseLocked | DiskFull | NotADatabase | SystemIoFailure
    )
}

/// Whether another database is attached.
fn has_attached(database: &Database) -> bool {
    let others = "SELECT count(*) FROM pragma_database_list WHERE name NOT IN ('main', 'temp')";
    database.connection().query_row(others, [], |row| row.get(0)).is_ok_and(|others: i64| others > 0)
}

/// Tables, views and functions of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Tables and views, except SQLite's own, in alphabetical order.
    pub relations: Vec<Relation>,
    /// Names of the SQL functions, in alphabetical order.
    pub functions: Vec<String>,
}

/// A table or a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// Table or view.
    pub kind: RelationKind,
    /// Names of its columns, in order.
    pub columns: Vec<String>,
}

/// Whether a relation is a table or a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A table.
    Table,
    /// A view.
    View,
}

impl RelationKind {
    /// The word for this kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
        }
    }
}

impl Catalog {
    /// A hint for a message of SQLite that reports a missing table, column or function, such as a similar
    /// name; `None` if there is no hint.
    #[must_use]
    pub fn hint(&self, message: &str) -> Option<String> {
        if let Some(name) = message.strip_prefix("no such table: ") {
            let names = self.relations.iter().map(|relation| relation.name.as_str());
            return did_you_mean(&all_nearest(name, names));
        }
        if let Some(name) = message.strip_prefix("no such function: ") {
            return did_you_mean(&all_nearest(name, self.functions.iter().map(String::as_str)));
        }
        let column = missing_column(message)?;
        if column.eq_ignore_ascii_case("rowid") {
            return Some("this table or view has no rowid".to_owned());
        }
        if column.eq_ignore_ascii_case("san") {
            return Some("for the move in SAN, use move_san(fen, move_code)".to_owned());
        }
        let owners: Vec<_> = self
            .relations
            .iter()
            .filter(|relation| relation.columns.iter().any(|name| name.eq_ignore_ascii_case(column)))
            .map(|relation| relation.name.as_str())
            .collect();
        let columns = self.relations.iter().flat_map(|relation| &relation.columns);
        let ending = format!("_{}", column.to_lowercase());
        let mut longer: Vec<_> =
            columns.clone().map(String::as_str).filter(|name| name.ends_with(&ending)).collect();
        sort(&mut longer);
        longer.dedup();
        longer.truncate(5);
        let found = [("tables with this column", owners), ("similar columns", longer)];
        let found = found.iter().filter(|(_, names)| !names.is_empty());
        let found: Vec<_> = found.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
        if !found.is_empty() {
            return Some(found.join("; "));
        }
        let near = did_you_mean(&all_nearest(column, columns.map(String::as_str)));
        let is_word = message.ends_with(&format!(": {column}")) && !column.contains('"');
        near.or_else(|| {
            is_word.then(|| format!("if you meant a string, put it in single quotes: '{column}'"))
        })
    }
}

/// The column that a message reports as missing.
fn missing_column(message: &str) -> Option<&str> {
    let column = message.strip_prefix("no such column: ");
    let column = column.or_else(|| message.split_once(" has no column named ").map(|(_, column)| column))?;
    Some(column.rsplit('.').next().unwrap_or(column))
}

fn did_you_mean(names: &[&str]) -> Option<String> {
    let names: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// The name most similar to the mistyped `name`; `None` if every name differs from `name` in more than a
/// third of its letters (changed, added, removed or swapped). One different letter is always allowed.
#[must_use]
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    all_nearest(name, names).first().copied()
}

/// Like [`nearest`], but returns up to three names that are equally similar, in alphabetical order.
fn all_nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let most = (length / 3).max(1);
    // Names of a very different length cannot match, and long names take long to compare.
    let alike = names.filter(|other| other.chars().count().abs_diff(length) <= most);
    let distance = |other: &str| strsim::damerau_levenshtein(&name, &other.to_lowercase());
    let mut near: Vec<_> = alike.map(|other| (distance(other), other)).collect();
    sort(&mut near);
    near.dedup();
    let least = near.first().map_or(0, |nearest| nearest.0);
    let near = near.into_iter().filter(|other| other.0 == least && least <= most);
    near.map(|(_, other)| other).take(3).collect()
}

const ACTION: &str = "read the schema";

impl Database {
    /// The names of tables, views, their columns, and functions.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn catalog(&self) -> Result<Catalog> {
        let functions =
            "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z_]*' ORDER BY name";
        let read = || {
            let relations = relations(self.connection())?;
            Ok(Catalog { relations, functions: texts(self.connection(), functions)? })
        };
        read().map_err(self.failed(ACTION))
    }

    /// The version of the database's schema.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn schema_version(&self) -> Result<SchemaVersion> {
        version_of(self.connection()).map_err(self.failed(ACTION))
    }

    /// The names of tables, views, indexes and triggers that users added.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn added_by_others(&self) -> Result<Vec<String>> {
        let names =
            "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        let ours = schema_of(SchemaVersion::LATEST, self.layout()).and_then(|schema| texts(&schema, names));
        let ours = ours.map_err(self.failed(ACTION))?;
        let mut found = texts(self.connection(), names).map_err(self.failed(ACTION))?;
        found.retain(|name| !ours.contains(name));
        Ok(found)
    }
}

/// The first column of a query.
fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    read_rows(&mut connection.prepare(sql)?, [], |row| row.get(0))
}

/// Tables and views, except SQLite's own, in alphabetical order.
fn relations(connection: &Connection) -> rusqlite::Result<Vec<Relation>> {
    let mut relations: Vec<Relation> = Vec::new();
    let mut columns = connection.prepare(
        "SELECT t.name, t.type, c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name, t.schema) AS c
         WHERE t.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND t.type IN ('table', 'view')
         ORDER BY t.name, t.schema, c.cid",
    )?;
    let mut rows = columns.query([])?;
    while let Some(row) = rows.next()? {
        let (name, column): (String, String) = (row.get(0)?, row.get(2)?);
        if let Some(relation) = relations.last_mut().filter(|relation| relation.name == name) {
            // In a compact database, most views have a temporary copy with the same columns.
            if !relation.columns.contains(&column) {
                relation.columns.push(column);
            }
            continue;
        }
        let kind = if row.get_ref(1)?.as_str()? == "view" { RelationKind::View } else { RelationKind::Table };
        relations.push(Relation { name, kind, columns: vec![column] });
    }
    Ok(relations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_word_makes_a_statement_attach() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let is_attaching = |sql| is_attaching(&connection.prepare(sql).unwrap());
        assert!(is_attaching("/* a */ -- b\n attach 'c' AS d"));
        assert!(!["DETACH a", "COMMIT -- ATTACH", "SELECT 'ATTACH'"].into_iter().any(is_attaching));
    }

    fn relation(name: &str, columns: &[&str]) -> Relation {
        Relation {
            name: name.to_owned(),
            kind: RelationKind::Table,
            columns: columns.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn hints_suggest_similar_names() {
        let catalog = Catalog {
            relations: vec![
                relation("game", &["game_id", "eco"]),
                relation("games", &["game_id", "white", "white_elo", "black_elo"]),
            ],
            functions: vec!["count".to_owned(), "sum".to_owned()],
        };
        for (message, expected) in [
            ("no such table: gmae", Some("did you mean \"game\"?")),
            ("no such table: Gamess", Some("did you mean \"games\"?")),
            ("no such table: gamez", Some("did you mean \"game\" or \"games\"?")),
            ("no such table: openings", None),
            ("no such column: whiet", Some("did you mean \"white\"?")),
            ("no such column: g.WHITE", Some("tables with this column: games")),
            ("no such column: game_id", Some("tables with this column: game, games")),
            ("no such column: m.san", Some("for the move in SAN, use move_san(fen, move_code)")),
            ("no such column: g.nonsense", None),
            ("no such column: elo", Some("similar columns: black_elo, white_elo")),
            ("no such column: rowid", Some("this table or view has no rowid")),
            ("no such column: B90", Some("if you meant a string, put it in single quotes: 'B90'")),
            ("table game has no column named whyte", Some("did you mean \"white\"?")),
            ("no such function: conut", Some("did you mean \"count\"?")),
            ("no such function: median", None),
            ("malformed JSON", None),
        ] {
            assert_eq!(catalog.hint(message).as_deref(), expected, "{message}");
        }
    }
}
