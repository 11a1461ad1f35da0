//! Explains the error of a statement: where it is, and what was probably meant. Warns about statements that are
//! slow, or return wrong rows without an error.

use pgndex::store::{ALL_GAMES, Catalog, Database, Error, Relation, RelationKind};
use regex_lite::Regex;
use rusqlite::OptionalExtension as _;

use crate::cli::render::brief;

/// The error of a statement, with a hint and the location of the error in `sql`. `sql` begins at line `first_line`
/// of `source`.
pub(crate) fn explain(
    error: Error,
    database: &Database,
    sql: &str,
    source: Option<&str>,
    first_line: u64,
) -> anyhow::Error {
    let (message, place) = match error {
        Error::Query { message, place, .. } => (message, place),
        Error::NotReadOnly => ("this would change the database; give --write to allow it".to_owned(), None),
        error => return error.into(),
    };
    let place = place.map(|mut place| {
        place.line += first_line - 1;
        place
    });
    let line = place.as_ref().map_or(first_line, |place| place.line);
    let mut text = source.map_or_else(String::new, |source| format!("{source}:{line}: "));
    text += &brief(&message);
    if let Some(place) = place {
        text += &format!("\n{place}");
    }
    // Without a readable schema, there are no hints about names and foreign keys.
    let hint = database.catalog().ok().and_then(|catalog| {
        let of_keys =
            || message.starts_with(FOREIGN_KEY).then(|| foreign_key_hint(database, sql, &catalog).ok());
        of_keys().flatten().or_else(|| catalog.hint(&message))
    });
    let is_removing = Regex::new(r"(?i)\bdelete\s+from\s+games?\b").is_ok_and(|text| text.is_match(sql));
    let hint = hint.or_else(|| is_removing.then(|| REMOVE.to_owned()));
    let hint = hint.or_else(|| hint_of_prompt(&message).map(str::to_owned));
    if let Some(hint) = hint {
        text += &format!("\n  {hint}");
    }
    anyhow::Error::msg(text)
}

/// Warnings about parts of a statement that are slow or return wrong rows without an error. Each warning
/// suggests an alternative.
pub(crate) fn warnings(database: &Database, sql: &str) -> Vec<&'static str> {
    let has = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(sql));
    let mut warnings = Vec::new();
    if has(r"(?i)\bdate\s*(=|<|>|like\b|glob\b|between\b)[=>]?\s*'\d{4}-\d")
        || has(r"(?i)'\d{4}-\d\d[^']*'\s*(=|<|>)=?\s*(\w+\.)?date\b")
    {
        warnings.push("the column date has the form 2021.06.19; to compare with 2021-06-19, use the column iso_date of the view games");
    }
    if has(r"(?i)\bpositions\b") && has(r"(?i)\border\s+by\s+(\w+\.)?occurrences\b") {
        warnings.push(
            "this statement is slow: it counts positions one by one. To read stored counts of frequent positions: \
             SELECT * FROM visited_position ORDER BY games DESC",
        );
    } else if has(r"(?i)\bkey\s*(=|in\b)") && scans_positions(database, sql).unwrap_or(false) {
        warnings.push(
            "this statement is slow: it reads all positions. To find positions by key, use position_game: \
             SELECT m.* FROM position_game JOIN moves AS m USING (game_id, ply) WHERE position_game.key = ...",
        );
    }
    warnings
}

/// Whether SQLite scans all rows of `game_position` for a statement. Examines the statement's program, which
/// contains the root pages of tables: a query plan contains only the tables' aliases.
fn scans_positions(database: &Database, sql: &str) -> rusqlite::Result<bool> {
    let connection = database.connection();
    let first_page = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'game_position'";
    let first_page: Option<i64> = connection.query_row(first_page, [], |row| row.get(0)).optional()?;
    let mut statement = connection.prepare(&format!("EXPLAIN {sql}"))?;
    let mut steps = statement.raw_query();
    let mut cursors = Vec::new();
    while let Some(step) = steps.next()? {
        let (opcode, cursor): (String, i64) = (step.get("opcode")?, step.get("p1")?);
        match opcode.as_str() {
            "OpenRead" if step.get("p2").ok() == first_page => cursors.push(cursor),
            "Rewind" | "Last" if cursors.contains(&cursor) => return Ok(true),
            "VFilter"
                if step.get::<_, String>("p4").is_ok_and(|plan| plan.as_bytes() == ALL_GAMES.to_bytes()) =>
            {
                return Ok(true);
            }
            _ => {}
        }
    }
    Ok(false)
}

/// The hint for a statement that deletes games.
const REMOVE: &str = "to remove games with all rows that refer to them, use `pgndex remove`";

/// The beginning of SQLite's message if a row would refer to a missing row.
const FOREIGN_KEY: &str = "FOREIGN KEY constraint failed";

/// Explains a violated foreign key. For each table that is named in `sql`, lists the changed columns that
/// refer to other tables. If there are none, lists the columns of other tables that refer to this table. Then
/// says how to find the rows that would refer to missing rows.
fn foreign_key_hint(database: &Database, sql: &str, catalog: &Catalog) -> rusqlite::Result<String> {
    const REFERRED: &str = "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1) ORDER BY 1";
    const REFERRING: &str =
        "SELECT s.name || '.' || k.\"from\" FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
        WHERE s.type = 'table' AND k.\"table\" = ?1 COLLATE NOCASE ORDER BY 1";
    let words: Vec<_> = sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let is_named = |relation: &&Relation| {
        let is_table = relation.kind == RelationKind::Table;
        is_table && words.iter().any(|word| word.eq_ignore_ascii_case(&relation.name))
    };
    let has = |word: &str| words.iter().any(|other| other.eq_ignore_ascii_case(word));
    let is_deleting = has("DELETE");
    let mut hint = String::new();
    if is_deleting && has("game") {
        hint.extend([REMOVE, "\n  "]);
    }
    for table in catalog.relations.iter().filter(is_named) {
        let mut statement = database.connection().prepare(REFERRED)?;
        let pairs = statement.query_map([&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let pairs = pairs.collect::<rusqlite::Result<Vec<(String, String)>>>()?;
        let mut changed =
            pairs.iter().filter(|(column, _)| !is_deleting && (has("INSERT") || has(column))).peekable();
        if changed.peek().is_some() {
            let rows = changed.map(|(column, parent)| format!("{column} (in {parent})"));
            let rows = rows.collect::<Vec<_>>().join(", ");
            hint += &format!("rows of {} must refer to existing rows: {rows}\n  ", table.name);
            continue;
        }
        let mut statement = database.connection().prepare(REFERRING)?;
        let columns = statement.query_map([&table.name], |row| row.get(0))?;
        let columns = columns.collect::<rusqlite::Result<Vec<String>>>()?;
        if !columns.is_empty() {
            hint += &format!("rows of {} are referenced by {}\n  ", table.name, columns.join(", "));
        }
    }
    Ok(hint
        + "to see the rows that would refer to a missing row: BEGIN; PRAGMA defer_foreign_keys = ON; <your \
           statement>; PRAGMA foreign_key_check; ROLLBACK")
}

/// A hint for an error message of SQLite, such as what to write instead of a statement that only other
/// database systems have.
fn hint_of_prompt(message: &str) -> Option<&'static str> {
    let is_near = |word: &str| message.to_uppercase().starts_with(&format!("NEAR \"{word}\""));
    Some(match message {
        _ if ["SHOW", "DESCRIBE", "DESC", "USE"].into_iter().any(is_near) => {
            ".tables lists the tables, and .schema TABLE shows one"
        }
        _ if message.starts_with("no such table: ") => ".tables lists the tables",
        _ if message.starts_with("incomplete input") || message.starts_with("unrecognized token: \"'") => {
            "the statement ends too early, or a bracket or quote is not closed"
        }
        _ if message.starts_with("no such function: ") => {
            "to list the functions: SELECT DISTINCT name FROM pragma_function_list"
        }
        _ if message.ends_with(" because it is a view") => {
            "change the tables that it reads; .schema shows them"
        }
        _ if message.starts_with("not authorized") => "extensions cannot be loaded here",
        _ if message.starts_with("unable to open database: ") => "ATTACH needs an existing database",
        _ => return None,
    })
}
