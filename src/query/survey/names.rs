//! Completes names.

use serde::Serialize;

use crate::store::{self, Database, NameFilter, Named};

/// The maximum number of names to compare, some hundred nanoseconds each.
const COMPARED: usize = 500_000;

/// Names that begin with a text, or have a word that begins with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundNames {
    /// The names: first those that begin with the text, then those with another word that does.
    pub names: Vec<String>,
}

/// Searches for names, at most `limit`. Every name matches an empty text.
///
/// # Errors
/// Errors of SQLite.
pub fn find_names(database: &Database, named: Named, typed: &str, limit: usize) -> store::Result<FoundNames> {
    let mut names = Vec::new();
    let mut begin = typed.trim_start().to_owned();
    let mut letters = begin.chars();
    // People do not type the capital letter.
    if let Some(first) = letters.next() {
        begin = first.to_uppercase().chain(letters).collect();
    }
    for begin in [typed, begin.as_str()] {
        database.visit_names_from(named, begin, |name| {
            let goes_on = name.starts_with(begin) && names.len() < limit;
            if goes_on && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
            goes_on
        })?;
    }
    let Ok(filter) = typed.parse::<NameFilter>() else { return Ok(FoundNames { names }) };
    if names.len() < limit {
        let mut left = COMPARED;
        database.visit_names(named, |name| {
            if filter.matches(name) && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
            left -= 1;
            left > 0 && names.len() < limit
        })?;
    }
    Ok(FoundNames { names })
}
