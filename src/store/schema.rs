//! The schema: migrations, and how the program recognises its databases.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::store::error::{Error, ErrorKind, Result};
use crate::store::layout::Layout;
use crate::store::schema_version::SchemaVersion;

/// `PRAGMA application_id` of pgndex databases: `PGNd`.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"PGNd");

/// The `application_id` of databases from unreleased versions: `PGNx`.
const UNRELEASED_ID: i32 = i32::from_be_bytes(*b"PGNx");

/// Page size of new databases, in bytes.
pub const PAGE_SIZE: u32 = 8192;

/// Whether a file that begins with these bytes is a pgndex database of any version, released or unreleased
/// (["The Database Header"](https://www.sqlite.org/fileformat2.html#the_database_header)).
pub(crate) fn is_our_header(header: &[u8]) -> bool {
    header.starts_with(b"SQLite format 3\0")
        && [APPLICATION_ID, UNRELEASED_ID].iter().any(|id| header.get(68..72) == Some(&id.to_be_bytes()))
}

/// All migrations, oldest first. A released migration is never changed.
const MIGRATIONS: [&str; SchemaVersion::LATEST.0 as usize] =
    [include_str!("../../migrations/0001_schema.sql")];

/// The kinds of database files that this program can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Nothing has been written yet.
    Blank,
    /// A pgndex database.
    Ours(SchemaVersion),
}

/// Determines the kind of a database without changing it.
///
/// # Errors
/// [`Error::NotADatabase`], [`ErrorKind::OtherProgram`], [`ErrorKind::TooNew`], [`ErrorKind::Unreleased`]; errors of
/// SQLite.
pub(crate) fn inspect(connection: &Connection, path: &Path) -> Result<FileKind> {
    inspect_for(connection, path, SchemaVersion::LATEST)
}

/// Like [`inspect`], for a program whose latest schema version is `supported`.
fn inspect_for(connection: &Connection, path: &Path, supported: SchemaVersion) -> Result<FileKind> {
    let number = |pragma: &str| -> Result<i32> {
        connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .map_err(|source| Error::sqlite(path, "read the database header", source))
    };
    let application = number("application_id")?;
    let found = SchemaVersion(number("user_version")?);
    if application == UNRELEASED_ID {
        return Err(ErrorKind::Unreleased.at(path));
    }
    if application == APPLICATION_ID {
        if found > supported {
            return Err(ErrorKind::TooNew { found, supported }.at(path));
        }
        // This program writes `application_id` and `user_version` in one transaction, so a database with only
        // the first of them was written by another program.
        if found < SchemaVersion::OLDEST {
            return Err(ErrorKind::OtherProgram.at(path));
        }
        // Unreleased versions wrote the same two numbers, but in their databases `visited_position` was a
        // table.
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'visited_position'";
        return match connection.query_row(sql, [], |row| row.get(0)) {
            Ok(0) => Ok(FileKind::Ours(found)),
            Ok(_) => Err(ErrorKind::Unreleased.at(path)),
            Err(source) => Err(Error::sqlite(path, "read the schema", source)),
        };
    }
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|source| Error::sqlite(path, "read the schema", source))?;
    if application == 0 && found == SchemaVersion(0) && objects == 0 {
        Ok(FileKind::Blank)
    } else {
        Err(ErrorKind::OtherProgram.at(path))
    }
}

/// Applies all pending migrations in one transaction. A blank database becomes a pgndex database.
///
/// # Errors
/// [`Error::NotADatabase`], [`ErrorKind::OtherProgram`], [`ErrorKind::TooNew`] or [`ErrorKind::Unreleased`]
/// if this is not a pgndex database of a supported version; errors of SQLite. In each case, the database is
/// unchanged.
pub fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    migrate_with(connection, path, &MIGRATIONS)
}

/// Like [`migrate`], with other migrations.
fn migrate_with(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let latest = SchemaVersion(i32::try_from(migrations.len()).unwrap_or(i32::MAX));
    let done = match inspect_for(connection, path, latest)? {
        FileKind::Ours(version) if version == latest => return Ok(()),
        FileKind::Ours(version) => usize::try_from(version.0).unwrap_or_default(),
        FileKind::Blank => 0,
    };
    apply(connection, &migrations[done..], latest)
        .map_err(|source| Error::sqlite(path, "migrate the schema; the database is unchanged", source))
}

/// Applies migrations and sets the version of the schema, in one transaction.
fn apply(connection: &mut Connection, migrations: &[&str], version: SchemaVersion) -> rusqlite::Result<()> {
    provide_exp(connection)?;
    // Otherwise `ALTER TABLE` would fail if a user's view or trigger refers to a table that no longer exists.
    connection.pragma_update(None, "legacy_alter_table", true)?;
    let applied = (|| {
        let transaction = connection.transaction()?;
        migrations.iter().try_for_each(|migration| transaction.execute_batch(migration))?;
        transaction.pragma_update(None, "user_version", version.0)?;
        transaction.commit()
    })();
    connection.pragma_update(None, "legacy_alter_table", false)?;
    applied
}

/// An in-memory database with the schema of a version, in a layout.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn schema_of(version: SchemaVersion, layout: Layout) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    apply(&mut connection, &MIGRATIONS[..usize::try_from(version.0).unwrap_or_default()], version)?;
    layout.apply(&connection)?;
    Ok(connection)
}

/// Registers the function `exp` if SQLite does not have it. Views use this function: without it, SQLite
/// cannot list their columns or alter tables.
pub(crate) fn provide_exp(connection: &Connection) -> rusqlite::Result<()> {
    // This check runs each time a database is opened. Listing all functions would take far longer than this
    // query.
    if connection.prepare("SELECT exp(0)").is_ok() {
        return Ok(());
    }
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection
        .create_scalar_function("exp", 1, flags, |context| Ok(context.get::<Option<f64>>(0)?.map(f64::exp)))
}

/// The schema version of an open pgndex database.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn version_of(connection: &Connection) -> rusqlite::Result<SchemaVersion> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map(SchemaVersion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_of_all_released_versions_are_recognised() {
        let connection = Connection::open_in_memory().expect("a database");
        connection.pragma_update(None, "application_id", APPLICATION_ID).expect("a pragma");
        let inspect = |found: i32, supported: i32| {
            connection.pragma_update(None, "user_version", found).expect("a pragma");
            inspect_for(&connection, Path::new("x.db"), SchemaVersion(supported))
        };
        for supported in 1..5 {
            for found in 1..=supported {
                assert_eq!(inspect(found, supported).ok(), Some(FileKind::Ours(SchemaVersion(found))));
            }
            assert!(matches!(
                inspect(supported + 1, supported),
                Err(Error::File { kind: ErrorKind::TooNew { .. }, .. })
            ));
            assert!(matches!(
                inspect(i32::MAX, supported),
                Err(Error::File { kind: ErrorKind::TooNew { .. }, .. })
            ));
            assert!(matches!(inspect(0, supported), Err(Error::File { kind: ErrorKind::OtherProgram, .. })));
            assert!(matches!(inspect(-1, supported), Err(Error::File { kind: ErrorKind::OtherProgram, .. })));
        }
    }

    /// The migrations of a later release that adds the migration `second`.
    fn next_version(second: &'static str) -> [&'static str; 2] {
        [MIGRATIONS[0], second]
    }

    #[test]
    fn a_later_migration_keeps_rows_and_views_of_users() {
        let path = Path::new("x.db");
        let mut connection = schema_of(SchemaVersion(1), Layout::Open).expect("version 1");
        connection
            .execute_batch(
                "INSERT INTO player VALUES (1, 'Anderssen, Adolf');
                 CREATE VIEW mine AS SELECT name FROM player;
                 CREATE VIEW broken AS SELECT * FROM dropped_long_ago",
            )
            .expect("rows and views");
        let migrations =
            next_version("ALTER TABLE player ADD COLUMN born INTEGER; ALTER TABLE tag RENAME TO tag_pair");
        for _ in 0..2 {
            migrate_with(&mut connection, path, &migrations).expect("migrated");
            assert_eq!(version_of(&connection), Ok(SchemaVersion(2)));
        }
        let row = connection.query_row("SELECT name, born FROM mine JOIN player USING (name)", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?))
        });
        assert_eq!(row, Ok(("Anderssen, Adolf".to_owned(), None)));
        assert!(
            matches!(inspect(&connection, path), Err(Error::File { kind: ErrorKind::TooNew { .. }, .. })),
            "this program knows version 1 only"
        );
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let path = Path::new("x.db");
        let mut connection = schema_of(SchemaVersion(1), Layout::Open).expect("version 1");
        let migrations =
            next_version("ALTER TABLE player ADD COLUMN born INTEGER; INSERT INTO nowhere VALUES (1)");
        let failed = migrate_with(&mut connection, path, &migrations);
        assert!(failed.is_err(), "{failed:?}");
        assert_eq!(version_of(&connection), Ok(SchemaVersion(1)));
        assert!(connection.prepare("SELECT born FROM player").is_err());
        assert_eq!(inspect(&connection, path).ok(), Some(FileKind::Ours(SchemaVersion(1))));
    }

    #[test]
    fn unreleased_versions_are_refused() {
        let mut connection = Connection::open_in_memory().expect("a database");
        connection.pragma_update(None, "application_id", UNRELEASED_ID).expect("a pragma");
        for version in [1, 8] {
            connection.pragma_update(None, "user_version", version).expect("a pragma");
            let refused = migrate(&mut connection, Path::new("x.db")).expect_err("refused");
            assert!(refused.to_string().ends_with("index its games again"), "{refused}");
        }
        let before_levels = format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1; CREATE TABLE visited_position (key)"
        );
        connection.execute_batch(&before_levels).expect("a table");
        let refused = inspect(&connection, Path::new("x.db")).expect_err("refused");
        assert!(refused.to_string().ends_with("index its games again"), "{refused}");
    }
}
