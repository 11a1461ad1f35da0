//! Why a statement failed, for people: where, and what may have been meant.

use pgndex::store::{Catalog, Database, Error, Relation, RelationKind};

use crate::cli::render::text::brief;

/// The error of a statement in some SQL that begins in a line of a source.
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
    let mut text = source.map_or_else(String::new, |source| format!("{source}, line {line}: "));
    text += &brief(&message);
    if let Some(place) = place {
        text += &format!("\n{place}");
    }
    // A schema that cannot be read leaves no hint.
    let hint = database.catalog().ok().and_then(|catalog| {
        let of_keys =
            || message.starts_with(FOREIGN_KEY).then(|| foreign_key_hint(database, sql, &catalog).ok());
        of_keys().flatten().or_else(|| hint(&message, &catalog))
    });
    if let Some(hint) = hint {
        text += &format!("\n  {hint}");
    }
    anyhow::Error::msg(text)
}

/// How a message begins that a row lacks the one that it names.
const FOREIGN_KEY: &str = "FOREIGN KEY constraint failed";

/// Which rows name which, of the tables in some SQL, and how to see those that are left without the one that they name.
fn foreign_key_hint(database: &Database, sql: &str, catalog: &Catalog) -> rusqlite::Result<String> {
    const REFERRING: &str =
        "SELECT s.name || '.' || k.\"from\" FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
        WHERE s.type = 'table' AND k.\"table\" = ?1 COLLATE NOCASE ORDER BY 1";
    let words: Vec<_> = sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let is_named = |relation: &&Relation| {
        let is_table = relation.kind == RelationKind::Table;
        is_table && words.iter().any(|word| word.eq_ignore_ascii_case(&relation.name))
    };
    let mut hint = String::new();
    for table in catalog.relations.iter().filter(is_named) {
        let mut statement = database.connection().prepare(REFERRING)?;
        let columns = statement.query_map([&table.name], |row| row.get(0))?;
        let columns = columns.collect::<rusqlite::Result<Vec<String>>>()?;
        if !columns.is_empty() {
            hint += &format!("rows of {} are named by {}\n  ", table.name, columns.join(", "));
        }
    }
    Ok(hint
        + "to see the rows that would be left without the one that they name: BEGIN; PRAGMA defer_foreign_keys = ON; this \
           statement; PRAGMA foreign_key_check; ROLLBACK")
}

/// The column that a message misses.
fn missing_column(message: &str) -> Option<&str> {
    let column = message.strip_prefix("no such column: ");
    let column = column.or_else(|| message.split_once(" has no column named ").map(|(_, column)| column))?;
    Some(column.rsplit('.').next().unwrap_or(column))
}

/// What may have been meant by a name that there is not.
fn hint(message: &str, catalog: &Catalog) -> Option<String> {
    let names = || catalog.relations.iter().map(|relation| relation.name.as_str());
    if let Some(name) = message.strip_prefix("no such table: ") {
        let near = nearest(name, names());
        return Some(near.map_or_else(|| ".tables shows what there is".to_owned(), did_you_mean));
    }
    if let Some(name) = message.strip_prefix("no such function: ") {
        return nearest(name, catalog.functions.iter().map(String::as_str)).map(did_you_mean);
    }
    let column = missing_column(message)?;
    let owners: Vec<_> = catalog
        .relations
        .iter()
        .filter(|relation| relation.columns.iter().any(|name| name.eq_ignore_ascii_case(column)))
        .map(|relation| relation.name.as_str())
        .collect();
    if owners.is_empty() {
        let columns = catalog.relations.iter().flat_map(|relation| &relation.columns);
        nearest(column, columns.map(String::as_str)).map(did_you_mean)
    } else {
        Some(format!("there is such a column in: {}", owners.join(", ")))
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean {name}?")
}

/// The name that a mistyped one is most like, if any is near: up to a third of its letters wrong.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let distance = |other: &str| strsim::damerau_levenshtein(&name, &other.to_lowercase());
    let near = names.map(|other| (distance(other), other)).min()?;
    (near.0 <= (name.chars().count() / 3).max(1)).then_some(near.1)
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
    fn hints_name_what_is_near() {
        let catalog = Catalog {
            relations: vec![relation("game", &["game_id", "eco"]), relation("games", &["game_id", "white"])],
            functions: vec!["count".to_owned(), "sum".to_owned()],
        };
        for (message, expected) in [
            ("no such table: gmae", Some("did you mean game?")),
            ("no such table: Gamess", Some("did you mean games?")),
            ("no such table: openings", Some(".tables shows what there is")),
            ("no such column: whiet", Some("did you mean white?")),
            ("no such column: g.WHITE", Some("there is such a column in: games")),
            ("no such column: game_id", Some("there is such a column in: game, games")),
            ("no such column: nonsense", None),
            ("table game has no column named whyte", Some("did you mean white?")),
            ("no such function: conut", Some("did you mean count?")),
            ("no such function: median", None),
            ("malformed JSON", None),
        ] {
            assert_eq!(hint(message, &catalog).as_deref(), expected, "{message}");
        }
    }
}
