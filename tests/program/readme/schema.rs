//! The page on the schema has the tables, views, columns and indexes of a new database, and the tables that only
//! compact databases have. The descriptions come from the comments in `migrations/` and from `tests/data/columns.tsv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pgndex::store::Database;
use rusqlite::{Connection, Result};

use crate::generated_file::compare_with_file;
use crate::pages::{directory_with_samples, project, run};

/// The text above the tables.
const HEAD: &str = "\
# The schema

Each table, view, column and index of a database. A test makes this page from a new database and the comments in
[migrations](../../migrations/). Begin with [SQL](../sql.md), which has examples and shows which view to query.

A type with `?` can be NULL. **Bold** columns are the primary key.
";

/// The text above the diagram.
const DIAGRAM: &str = "\
## Links between tables

An arrow leads from a row to the rows that refer to it, by the column beside the arrow. Tables without arrows have no links: `occurrence`
repeats `game_position` in the order of keys, `deleted_game` lists removed games that `occurrence` still contains, `game_column` and
`game_set` repeat columns and features of `game`, and `player_alias` refers to players by name.
";

/// Comments by table and column.
#[derive(Default)]
struct Meanings {
    tables: BTreeMap<String, String>,
    columns: BTreeMap<(String, String), String>,
    /// Tables and columns without a description.
    missing: Vec<String>,
}

/// A table or view whose columns are being read.
struct Statement {
    name: String,
    is_view: bool,
    /// The column that the next comment belongs to.
    last: Option<String>,
    /// The comment above the next column.
    above: String,
}

/// Reads migrations line by line and collects their comments. The layout is always the same: a statement begins at the
/// margin, and each of its columns is indented by four blanks.
#[derive(Default)]
struct Reader {
    meanings: Meanings,
    /// The comment above the next statement.
    above: String,
    statement: Option<Statement>,
    /// The column that the previous line added.
    added: Option<Statement>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let (code, comment) = line.split_once("--").unwrap_or((line, ""));
        let (indent, code, comment) = (line.len() - line.trim_start().len(), code.trim(), comment.trim());
        if self.statement.is_some() {
            self.inside(indent, code, comment);
            return;
        }
        let added = self.added.take().filter(|_| code.is_empty() && indent > 0);
        if let Some(added) = added {
            add_to_column(&mut self.meanings, &added, comment);
            self.added = Some(added);
        } else if code.is_empty() {
            let is_paragraph = line.starts_with("--") && comment.is_empty();
            match comment {
                "" if is_paragraph => self.above += "\n\n",
                "" => self.above.clear(),
                comment => join(&mut self.above, comment),
            }
        } else {
            self.begin(code, comment);
        }
    }

    /// Handles the first line of a statement.
    fn begin(&mut self, code: &str, comment: &str) {
        let words: Vec<&str> = code.split_whitespace().collect();
        match words[..] {
            ["CREATE", what @ ("TABLE" | "VIEW"), name, ..] => {
                self.meanings.columns.retain(|(table, _), _| table != name);
                self.meanings.tables.insert(name.to_owned(), std::mem::take(&mut self.above));
                let is_view = what == "VIEW";
                let name = name.to_owned();
                self.statement = Some(Statement { name, is_view, last: None, above: String::new() });
            }
            ["ALTER", "TABLE", table, "ADD", "COLUMN", column, ..] => {
                // A comment next to the column is more specific than one above, which may be about several columns.
                let above = std::mem::take(&mut self.above);
                let (name, last) = (table.to_owned(), Some(column.to_owned()));
                let added = Statement { name, is_view: false, last, above: String::new() };
                add_to_column(&mut self.meanings, &added, if comment.is_empty() { &above } else { comment });
                self.added = Some(added);
            }
            ["DROP", ..] => {}
            _ => self.above.clear(),
        }
    }

    fn inside(&mut self, indent: usize, code: &str, comment: &str) {
        const COLUMN: usize = 4;
        let statement = self.statement.as_mut().expect("a statement");
        if code.is_empty() && indent > COLUMN {
            if statement.last.is_some() {
                add_to_column(&mut self.meanings, statement, comment);
            }
        } else if code.is_empty() {
            join(&mut statement.above, comment);
        } else if indent == COLUMN && statement.is_view && matches!(code, "CASE" | "(") {
            // The column's name is at the end of the expression.
            statement.last = None;
        } else if indent == COLUMN {
            let word =
                if statement.is_view { code.trim_end_matches(',').rsplit([' ', '.']).next() } else { None };
            let column = word.or_else(|| code.split_whitespace().next()).unwrap_or_default();
            statement.last = Some(column.to_owned());
            let above = std::mem::take(&mut statement.above);
            add_to_column(&mut self.meanings, statement, &above);
            add_to_column(&mut self.meanings, statement, comment);
        } else {
            statement.last = None;
        }
        if code.ends_with(';') {
            self.statement = None;
        }
    }
}

/// Appends to the comment of the current column.
fn add_to_column(meanings: &mut Meanings, statement: &Statement, description: &str) {
    let Some(column) = statement.last.clone().filter(|_| !description.is_empty()) else { return };
    join(meanings.columns.entry((statement.name.clone(), column)).or_default(), description);
}

/// Appends a line of a comment. A line that begins with a quoted value starts on a new line.
fn join(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        *text += if line.starts_with('\'') { "<br>" } else { " " };
    }
    // Removes blanks that are used for alignment.
    *text += &line.split_whitespace().collect::<Vec<_>>().join(" ");
}

/// A column of a table or view.
struct Column {
    name: String,
    /// The type, with `?` if it can be NULL.
    kind: String,
    is_key: bool,
    /// The table that it refers to.
    parent: Option<String>,
}

/// Tables or views by name, each with its columns.
type Catalog = BTreeMap<String, Vec<Column>>;

fn catalog(database: &Connection, kind: &str) -> Result<Catalog> {
    const NAMES: &str = "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT GLOB 'sqlite_*'";
    const COLUMNS: &str = r#"
        SELECT name, type || iif("notnull" OR pk, '', '?'), pk > 0, parent
        FROM pragma_table_info(?1)
        LEFT JOIN (SELECT "from" AS name, "table" AS parent FROM pragma_foreign_key_list(?1)) USING (name)
        ORDER BY cid"#;
    let names: Vec<String> = rows(database, NAMES, kind, |row| row.get(0))?;
    let columns = |name: String| {
        let columns = rows(database, COLUMNS, &name, |row| {
            Ok(Column { name: row.get(0)?, kind: row.get(1)?, is_key: row.get(2)?, parent: row.get(3)? })
        })?;
        Ok((name, columns))
    };
    names.into_iter().map(columns).collect()
}

fn rows<T>(
    database: &Connection,
    sql: &str,
    parameter: &str,
    read: impl FnMut(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    database.prepare(sql)?.query_map([parameter], read)?.collect()
}

/// The diagram of foreign keys.
fn diagram(tables: &Catalog) -> String {
    let mut text = String::from("\n```mermaid\nerDiagram\n");
    for (name, columns) in tables {
        let named = columns.iter().filter_map(|column| Some((column, column.parent.as_ref()?)));
        for (column, parent) in named.clone() {
            writeln!(text, "    {parent} ||--o{{ {name} : {}", column.name).expect("a string");
        }
        let mut parents = tables.values().flatten().filter_map(|column| column.parent.as_ref());
        if named.count() == 0 && !parents.any(|parent| parent == name) {
            writeln!(text, "    {name}").expect("a string");
        }
    }
    text + "```\n"
}

/// The sections of tables or of views.
fn sections(
    database: &Connection,
    catalog: &Catalog,
    is_view: bool,
    meanings: &mut Meanings,
) -> Result<String> {
    // The columns and expressions after `ON`.
    const INDEXES: &str = "
        SELECT name, substr(sql, instr(sql, ' (') + 2, length(sql) - instr(sql, ' (') - 2)
        FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL ORDER BY name";
    let mut text = String::new();
    for (name, columns) in catalog {
        let description = meanings.tables.get(name).cloned().unwrap_or_default();
        if description.is_empty() {
            meanings.missing.push(name.clone());
        }
        let head = if is_view {
            "| column | meaning |\n|---|---|"
        } else {
            "| column | type | meaning |\n|---|---|---|"
        };
        writeln!(text, "\n### {name}\n\n{}\n\n{head}", escaped(&description)).expect("a string");
        // Consecutive columns with the same type and meaning share a row.
        let mut lines: Vec<(String, String)> = Vec::new();
        for Column { name: column, kind, is_key, parent } in columns {
            let meaning = meanings.columns.remove(&(name.clone(), column.clone()));
            if meaning.is_none() {
                meanings.missing.push(format!("{name}.{column}"));
            }
            let meaning = meaning.unwrap_or_default();
            let link = parent.as_ref().map(|parent| format!(" → [{parent}](#{parent})")).unwrap_or_default();
            let mark = if *is_key { "**" } else { "" };
            let kind = if is_view { String::new() } else { format!(" {kind} |") };
            let column = format!("{mark}`{column}`{mark}");
            let rest = format!("{kind} {}{link}", escaped(&meaning));
            match lines.last_mut().filter(|last| last.1 == rest) {
                Some((columns, _)) => *columns += &format!(", {column}"),
                None => lines.push((column, rest)),
            }
        }
        for (columns, rest) in lines {
            writeln!(text, "| {columns} |{rest} |").expect("a string");
        }
        let indexes = rows(database, INDEXES, name, |row| {
            Ok(format!("`{}` on `{}`", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        if !indexes.is_empty() {
            writeln!(text, "\nIndexes: {}.", indexes.join(", ")).expect("a string");
        }
    }
    Ok(text)
}

/// A comment, escaped for Markdown.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}

/// Adds descriptions from `columns.tsv` for tables and columns without a comment. A row for a column is about one
/// table, or about all tables.
fn add_listed(meanings: &mut Meanings, catalogs: [&Catalog; 2]) {
    let path = project().join("tests/data/columns.tsv");
    let text = std::fs::read_to_string(path).expect("the list");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [table, column, meaning] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("columns.tsv: not three columns: {line}")
        };
        let mut added = 0;
        if column.is_empty() {
            let description = meanings.tables.entry(table.to_owned()).or_default();
            if description.is_empty() {
                *description = meaning.to_owned();
                added += 1;
            }
        }
        for (name, columns) in catalogs.into_iter().flatten() {
            let has_it = (table == "*" || table == name) && columns.iter().any(|other| other.name == column);
            let key = (name.clone(), column.to_owned());
            if has_it && !meanings.columns.contains_key(&key) {
                meanings.columns.insert(key, meaning.to_owned());
                added += 1;
            }
        }
        assert!(added > 0, "columns.tsv: not needed: {line}");
    }
}

#[test]
fn the_page_of_the_schema_is_up_to_date() -> Result<()> {
    let mut paths: Vec<_> = std::fs::read_dir(project().join("migrations"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let (mut reader, mut compact) = (Reader::default(), Reader::default());
    for path in paths {
        // This file is not a migration: it replaces `game_position` by a view with the same columns.
        let reader = if path.ends_with("compact.sql") { &mut compact } else { &mut reader };
        std::fs::read_to_string(path).expect("a step").lines().for_each(|line| reader.line(line));
        reader.above.clear();
    }
    let directory = directory_with_samples();
    run("pgndex index --quiet sample.db examples/famous-games.pgn", directory.path());
    let database = Database::open(&directory.path().join("sample.db")).expect("a database");
    let database = database.connection();
    let (mut tables, views) = (catalog(database, "table")?, catalog(database, "view")?);
    let mut meanings = reader.meanings;
    run("pgndex index --quiet --layout compact compact.db examples/famous-games.pgn", directory.path());
    let other = Database::open(&directory.path().join("compact.db")).expect("a database");
    for (name, columns) in catalog(other.connection(), "table")? {
        if let Some(description) = compact.meanings.tables.remove(&name) {
            meanings.tables.insert(name.clone(), description);
            tables.insert(name, columns);
        }
    }
    add_listed(&mut meanings, [&tables, &views]);
    let views = sections(database, &views, true, &mut meanings)?;
    let page = format!(
        "{HEAD}\n## Views\n{views}\n## Tables\n{}\n{DIAGRAM}{}",
        sections(database, &tables, false, &mut meanings)?,
        diagram(&tables)
    );
    assert!(
        meanings.missing.is_empty(),
        "no meaning, neither in migrations nor in tests/data/columns.tsv: {:?}",
        meanings.missing
    );
    compare_with_file(&page, "docs/reference/schema.md");
    Ok(())
}
