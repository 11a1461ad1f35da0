//! The names that SQL can use.

use rusqlite::Connection;

use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::schema::{schema_of, version_of};
use crate::store::schema_version::SchemaVersion;

/// What there is to read from, and the functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Tables and views by name, SQLite's own left out.
    pub relations: Vec<Relation>,
    /// Names of the SQL functions, in order.
    pub functions: Vec<String>,
}

/// A table or a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: RelationKind,
    /// Names of its columns, in their order.
    pub columns: Vec<String>,
}

/// Kinds of what can be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A table.
    Table,
    /// A view.
    View,
}

impl RelationKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
        }
    }
}

impl Database {
    /// The names of tables, views, their columns, and functions.
    ///
    /// # Errors
    /// Of reading the schema.
    pub fn catalog(&self) -> Result<Catalog> {
        self.read_catalog().map_err(|source| Error::sqlite(self.path(), "read the schema", source))
    }

    /// The version of its schema.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn schema_version(&self) -> Result<SchemaVersion> {
        version_of(self.connection()).map_err(|source| Error::sqlite(self.path(), "read the schema", source))
    }

    fn read_catalog(&self) -> rusqlite::Result<Catalog> {
        let relations = relations(self.connection())?;
        let mut functions = self.connection().prepare(
            "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z_]*' ORDER BY name",
        )?;
        let functions = functions.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Catalog { relations, functions })
    }
}

/// Tables and views by name, SQLite's own left out.
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
            relation.columns.push(column);
            continue;
        }
        let kind = if row.get_ref(1)?.as_str()? == "view" { RelationKind::View } else { RelationKind::Table };
        relations.push(Relation { name, kind, columns: vec![column] });
    }
    Ok(relations)
}

impl Database {
    /// The names of tables, views, indexes and triggers that somebody added.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn added_by_others(&self) -> Result<Vec<String>> {
        let names =
            "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        let read = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            connection.prepare(names)?.query_map([], |row| row.get(0))?.collect()
        };
        let failed = |source| Error::sqlite(self.path(), "read the schema", source);
        let ours = read(&schema_of(SchemaVersion::LATEST)?).map_err(failed)?;
        let mut found = read(self.connection()).map_err(failed)?;
        found.retain(|name| !ours.contains(name));
        Ok(found)
    }
}
