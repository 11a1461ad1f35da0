//! Why a statement failed, for people: where, and what may have been meant.

use pgndex::store::{Catalog, Database, Error};

use crate::cli::render::text::brief;

/// The error of a statement that begins in a line of a source.
pub(crate) fn explain(
    error: Error,
    database: &Database,
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
    if let Some(hint) = database.catalog().ok().and_then(|catalog| hint(&message, &catalog)) {
        text += &format!("\n  {hint}");
    }
    anyhow::Error::msg(text)
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
    let column = message.strip_prefix("no such column: ");
    let column = column.or_else(|| message.split_once(" has no column named ").map(|(_, column)| column))?;
    let column = column.rsplit('.').next().unwrap_or(column);
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
    use pgndex::store::{Relation, RelationKind};

    #[test]
    fn hints_name_what_is_near() {
        let relation = |name: &str, columns: &[&str]| Relation {
            name: name.to_owned(),
            kind: RelationKind::Table,
            columns: columns.iter().map(ToString::to_string).collect(),
        };
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
