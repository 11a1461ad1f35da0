//! The schema: its steps, and how a database is recognised.

use std::path::Path;
use std::sync::LazyLock;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Transaction};
use rusqlite_migration::{M, Migrations};

use crate::store::error::{Error, Result};
use crate::store::game_indexes::tell_sizes;
use crate::store::schema_version::SchemaVersion;
use crate::store::upgrade::{fill_game_columns, fill_sets};
use crate::store::write::fill::fill_frequent_keys;

/// `PRAGMA application_id` of our databases: `PGNx`.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"PGNx");

/// Page size of new databases, in bytes.
pub const PAGE_SIZE: u32 = 8192;

/// Whether a file that begins with these bytes is a database of ours
/// (["The Database Header"](https://www.sqlite.org/fileformat2.html#the_database_header)).
pub(crate) fn is_our_header(header: &[u8]) -> bool {
    header.starts_with(b"SQLite format 3\0") && header.get(68..72) == Some(&APPLICATION_ID.to_be_bytes())
}

/// All steps, oldest first, as many as [`SchemaVersion::LATEST`] says. A released step is never changed.
static MIGRATIONS: LazyLock<Migrations<'static>> = LazyLock::new(|| {
    let steps: [M<'static>; SchemaVersion::LATEST.0 as usize] = [
        M::up(include_str!("../../migrations/0001_schema.sql")),
        M::up_with_hook(include_str!("../../migrations/0002_annotations.sql"), |step: &Transaction<'_>| {
            Ok(fill_game_columns(step)?)
        }),
        M::up(include_str!("../../migrations/0003_upkeep.sql")),
        M::up_with_hook(include_str!("../../migrations/0004_sets.sql"), |step: &Transaction<'_>| {
            Ok(fill_sets(step)?)
        }),
        M::up(include_str!("../../migrations/0005_levels.sql")),
        M::up(include_str!("../../migrations/0006_columns_by_row.sql")),
        M::up_with_hook(include_str!("../../migrations/0007_additions.sql"), |step: &Transaction<'_>| {
            Ok(fill_frequent_keys(step)?)
        }),
        M::up_with_hook(include_str!("../../migrations/0008_game_indexes.sql"), |step: &Transaction<'_>| {
            Ok(tell_sizes(step)?)
        }),
    ];
    Migrations::new(steps.into())
});

/// Whose database it is, and how old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing has been written yet.
    Blank,
    /// One of ours.
    Ours(SchemaVersion),
}

/// Looks at a database without changing it.
///
/// # Errors
/// [`Error::NotADatabase`], [`Error::OtherProgram`], [`Error::TooNew`].
pub(crate) fn inspect(connection: &Connection, path: &Path) -> Result<Kind> {
    inspect_for(connection, path, SchemaVersion::LATEST)
}

/// The same for a program that writes a certain version.
fn inspect_for(connection: &Connection, path: &Path, supported: SchemaVersion) -> Result<Kind> {
    let number = |pragma: &str| -> Result<i32> {
        connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .map_err(|source| Error::sqlite(path, "read the database header", source))
    };
    let application = number("application_id")?;
    let found = SchemaVersion(number("user_version")?);
    if application == APPLICATION_ID {
        if found > supported {
            return Err(Error::TooNew { path: path.to_owned(), found, supported });
        }
        // Its first step gives a database both numbers at once.
        if found < SchemaVersion::OLDEST {
            return Err(Error::OtherProgram { path: path.to_owned() });
        }
        return Ok(Kind::Ours(found));
    }
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|source| Error::sqlite(path, "read the schema", source))?;
    if application == 0 && found == SchemaVersion(0) && objects == 0 {
        Ok(Kind::Blank)
    } else {
        Err(Error::OtherProgram { path: path.to_owned() })
    }
}

/// Applies all pending steps in one transaction; a blank database becomes one of ours.
///
/// # Errors
/// As for a database that cannot be opened ([`Error::NotADatabase`], [`Error::OtherProgram`], [`Error::TooNew`]: it is
/// left untouched), and [`Error::Migration`].
pub fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    if inspect(connection, path)? == Kind::Ours(SchemaVersion::LATEST) {
        return Ok(());
    }
    let failed = |source| Error::sqlite(path, "bring the schema up to date", source);
    provide_exp(connection).map_err(failed)?;
    // Views and triggers that somebody made name tables by their names, which stay; some may have named a table that is long gone.
    connection.pragma_update(None, "legacy_alter_table", true).map_err(failed)?;
    let migrated = MIGRATIONS.to_latest(connection).map_err(|source| match source {
        rusqlite_migration::Error::RusqliteError { err, .. } => {
            Error::sqlite(path, "bring the schema up to date", err)
        }
        source => Error::Migration { path: path.to_owned(), source },
    });
    connection.pragma_update(None, "legacy_alter_table", false).map_err(failed)?;
    migrated
}

/// The schema of a version, made in memory.
///
/// # Errors
/// [`Error::Migration`].
pub(crate) fn schema_of(version: SchemaVersion) -> Result<Connection> {
    const MEMORY: &str = ":memory:";
    let failed = |source| Error::Migration { path: MEMORY.into(), source };
    let mut connection = Connection::open_in_memory().map_err(|error| failed(error.into()))?;
    let steps = usize::try_from(version.0).unwrap_or_default();
    provide_exp(&connection).map_err(|error| failed(error.into()))?;
    MIGRATIONS.to_version(&mut connection, steps).map_err(failed)?;
    Ok(connection)
}

/// Gives a connection the function `exp`, which views need, if its SQLite has none: without it the columns of views are not told,
/// and tables cannot be altered.
pub(crate) fn provide_exp(connection: &Connection) -> rusqlite::Result<()> {
    // To list all functions takes far longer, and each opening of a database would do so.
    if connection.prepare("SELECT exp(0)").is_ok() {
        return Ok(());
    }
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection
        .create_scalar_function("exp", 1, flags, |context| Ok(context.get::<Option<f64>>(0)?.map(f64::exp)))
}

/// The version of an open database of ours.
///
/// # Errors
/// What SQLite says.
pub(crate) fn version_of(connection: &Connection) -> rusqlite::Result<SchemaVersion> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map(SchemaVersion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_any_version_from_the_oldest_to_that_of_the_program_is_known() {
        let connection = Connection::open_in_memory().expect("a database");
        connection.pragma_update(None, "application_id", APPLICATION_ID).expect("a pragma");
        let inspect = |found: i32, supported: i32| {
            connection.pragma_update(None, "user_version", found).expect("a pragma");
            inspect_for(&connection, Path::new("x.db"), SchemaVersion(supported))
        };
        for supported in 1..5 {
            for found in 1..=supported {
                assert_eq!(inspect(found, supported).ok(), Some(Kind::Ours(SchemaVersion(found))));
            }
            assert!(matches!(inspect(supported + 1, supported), Err(Error::TooNew { .. })));
            assert!(matches!(inspect(i32::MAX, supported), Err(Error::TooNew { .. })));
            assert!(matches!(inspect(0, supported), Err(Error::OtherProgram { .. })));
            assert!(matches!(inspect(-1, supported), Err(Error::OtherProgram { .. })));
        }
    }
}
