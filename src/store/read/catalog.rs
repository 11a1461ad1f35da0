//! Names that SQL statements can use.

use rusqlite::Connection;

use crate::store::schema::{schema_of, version_of};
use crate::store::{Database, Result, SchemaVersion, read_rows};

/// Tables, views and functions of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Tables and views by name, except SQLite's own.
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
            return nearest(name, names).map(did_you_mean);
        }
        if let Some(name) = message.strip_prefix("no such function: ") {
            return nearest(name, self.functions.iter().map(String::as_str)).map(did_you_mean);
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
        if !owners.is_empty() {
            return Some(format!("tables with this column: {}", owners.join(", ")));
        }
        let columns = self.relations.iter().flat_map(|relation| &relation.columns);
        let near = nearest(column, columns.map(String::as_str)).map(did_you_mean);
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

fn did_you_mean(name: &str) -> String {
    format!("did you mean \"{name}\"?")
}

/// The name most similar to a mistyped one, if at most a third of the mistyped name's letters, or one letter,
/// must be changed, added, removed or swapped.
#[must_use]
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let most = (length / 3).max(1);
    // Names of a very different length cannot match, and long names take long to compare.
    let alike = names.filter(|other| other.chars().count().abs_diff(length) <= most);
    let distance = |other: &str| strsim::damerau_levenshtein(&name, &other.to_lowercase());
    let near = alike.map(|other| (distance(other), other)).min()?;
    (near.0 <= most).then_some(near.1)
}

const ACTION: &str = "read the schema";

impl Database {
    /// The names of tables, views, their columns, and functions.
    ///
    /// # Errors
    /// Errors of reading the schema.
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
        let ours = schema_of(SchemaVersion::LATEST).and_then(|schema| texts(&schema, names));
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

/// Tables and views by name, except SQLite's own.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            relations: vec![relation("game", &["game_id", "eco"]), relation("games", &["game_id", "white"])],
            functions: vec!["count".to_owned(), "sum".to_owned()],
        };
        for (message, expected) in [
            ("no such table: gmae", Some("did you mean \"game\"?")),
            ("no such table: Gamess", Some("did you mean \"games\"?")),
            ("no such table: openings", None),
            ("no such column: whiet", Some("did you mean \"white\"?")),
            ("no such column: g.WHITE", Some("tables with this column: games")),
            ("no such column: game_id", Some("tables with this column: game, games")),
            ("no such column: m.san", Some("for the move in SAN, use move_san(fen, move_code)")),
            ("no such column: g.nonsense", None),
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
