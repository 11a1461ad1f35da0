//! Suggests names that are similar to a name in a filter, if the database does not contain the name in the
//! filter.

use serde::Serialize;

use crate::store::{self, Database, GameFilter, NameFilter, Named, Selection, UnknownName, fold};

/// The number of suggested names.
const SUGGESTED: usize = 3;
/// The maximum number of names to compare, about a microsecond each.
const COMPARED: usize = 1_000_000;

/// A name in a filter that does not occur in the database, with similar names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimilarNames {
    /// Field of the filter: `white`, `black`, `player`, `opponent`, `event`, `site` or `opening`.
    pub field: &'static str,
    /// What the name refers to.
    pub named: Named,
    /// The name in the filter, with a leading `=` if games must have exactly this name.
    #[serde(skip)]
    pub wanted: String,
    /// Up to three similar names, the most similar first. Among equally similar names, names that begin like
    /// the name in the filter come first.
    pub near: Vec<String>,
    /// For an event that is the name of a site, or the reverse: the field in which games have the name.
    /// Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<OtherField>,
}

/// A field in which games have the name of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherField {
    /// The field: `event` or `site`.
    pub field: &'static str,
    /// Number of games that match the name in this field.
    pub games: u64,
}

/// The names of a selection that do not occur, each with similar names.
///
/// # Errors
/// Errors of SQLite.
pub fn similar_names(database: &Database, selection: &Selection) -> store::Result<Vec<SimilarNames>> {
    let unknown = selection.unknown_names().iter();
    unknown
        .map(|name| {
            let sign = if matches!(name.filter, NameFilter::Exactly(_)) { "=" } else { "" };
            let wanted = format!("{sign}{}", name.filter.text());
            let (near, elsewhere) = (near(database, name)?, other_field(database, name)?);
            Ok(SimilarNames { field: name.field, named: name.named, wanted, near, elsewhere })
        })
        .collect()
}

/// Looks up the name of an event as that of a site, or the reverse: people search for tournaments by their
/// places.
fn other_field(database: &Database, unknown: &UnknownName) -> store::Result<Option<OtherField>> {
    let name = Some(unknown.filter.clone());
    let (field, filter) = match unknown.named {
        Named::Event => ("site", GameFilter { site: name, ..GameFilter::default() }),
        Named::Site => ("event", GameFilter { event: name, ..GameFilter::default() }),
        Named::Player | Named::Opening => return Ok(None),
    };
    let selection = database.select(&filter)?;
    let is_known = selection.unknown_names().is_empty();
    let games = if is_known { database.count_games_of(&selection)? } else { 0 };
    Ok((games > 0).then_some(OtherField { field, games }))
}

/// The names most similar to an unknown one. The nearest come first; among equally near ones, those that
/// match at an earlier word, then those that were added to the database first.
pub(crate) fn near(database: &Database, unknown: &UnknownName) -> store::Result<Vec<String>> {
    let wanted = Wanted::new(unknown.filter.text(), unknown.named);
    let mut nearest: Vec<((usize, usize), String)> = Vec::new();
    let mut left = COMPARED;
    database.visit_names(unknown.named, |name| {
        // Several positions of an opening have the same name.
        let is_new = |name: &str| nearest.iter().all(|(_, other)| other != name);
        if let Some((distance, place)) = wanted.distance(name).filter(|_| is_new(name)) {
            let like = (distance, place);
            let at = nearest.partition_point(|(other, _)| *other <= like);
            if at < SUGGESTED {
                nearest.insert(at, (like, name.to_owned()));
                nearest.truncate(SUGGESTED);
            }
        }
        left -= 1;
        left > 0
    })?;
    Ok(nearest.into_iter().map(|(_, name)| name).collect())
}

/// The words of an unknown name.
struct Wanted {
    /// The words as typed and, for a player, also with the last word first, because surnames come first in
    /// most files.
    orders: Vec<Vec<String>>,
}

impl Wanted {
    fn new(name: &str, named: Named) -> Self {
        let typed: Vec<_> = words(&fold(name)).map(str::to_owned).collect();
        let mut orders = vec![typed.clone()];
        if named == Named::Player && typed.len() > 1 {
            let mut turned = typed;
            turned.rotate_right(1);
            orders.push(turned);
        }
        Self { orders }
    }

    /// Compares the wanted words with as many consecutive words of a name. Returns the number of letters to
    /// change in the most similar words, and the index of the first of them; `None` if no words are similar.
    fn distance(&self, name: &str) -> Option<(usize, usize)> {
        let name = fold(name);
        let words: Vec<_> = words(&name).collect();
        let distances = self.orders.iter().flat_map(|order| {
            // A name without letters is not similar to any other.
            let runs = words.windows(order.len().max(1)).enumerate();
            runs.filter_map(move |(place, run)| Some((distance(run, order)?, place)))
        });
        distances.min()
    }
}

/// The number of letters in which words differ from wanted words. An initial matches any word that begins with
/// it, and the last wanted word matches as a prefix. `None` if more than a third of the wanted letters differ,
/// if a word is much shorter or longer, or if there are only initials.
fn distance(words: &[&str], wanted: &[String]) -> Option<usize> {
    let (mut wrong, mut letters) = (0, 0);
    for (index, (word, wanted)) in words.iter().zip(wanted).enumerate() {
        let (length, wanted_length) = (word.chars().count(), wanted.chars().count());
        let is_last = index + 1 == words.len();
        if length == 1 || wanted_length == 1 {
            wrong += usize::from(word.chars().next() != wanted.chars().next());
            continue;
        }
        letters += wanted_length;
        let most = (wanted_length / 2).max(1);
        let begins_like = |word: &str| {
            let beginning: String = word.chars().take(wanted_length).collect();
            strsim::osa_distance(&beginning, wanted)
        };
        wrong += match length.abs_diff(wanted_length) {
            difference if difference <= most => {
                let whole = strsim::osa_distance(word, wanted);
                if is_last { whole.min(begins_like(word)) } else { whole }
            }
            _ if is_last && length > wanted_length => begins_like(word),
            _ => return None,
        };
    }
    // Initials alone would be similar to too many names. A wanted word of two letters must match exactly, for
    // the same reason.
    (letters > 0 && wrong <= letters / 3).then_some(wrong)
}

/// The words of a folded name. The `s` of `Keene's` is not an initial.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let words = parts.flat_map(|part| part.strip_suffix("'s").unwrap_or(part).split('\''));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_few_different_letters_are_similar() {
        let distance = |wanted, name: &str| Some(Wanted::new(wanted, Named::Player).distance(name)?.0);
        for (wanted, name, expected) in [
            ("Carlson", "Carlsen, Magnus", Some(1)),
            ("Carlson, M", "Carlsen, Magnus", Some(1)),
            ("Magnus Carlsen", "Carlsen, Magnus", Some(0)),
            ("magnsu", "Carlsen, Magnus", Some(1)),
            ("Mueller", "Müller, Karsten", Some(1)),
            ("Kasparow", "Kasparov, Garry", Some(1)),
            ("Tal", "Taimanov, Mark E", Some(1)),
            ("Carlson", "Kasparov, Garry", None),
            ("Carlsen, Magnus", "Carlsen", None),
            ("Carlsen, Magnus", "Carlsen,M", Some(0)),
            ("Carlsen, H", "Carlsen,M", Some(1)),
            ("Carlsen, Magnus", "Karpov,M", None),
            ("?", "Carlsen", None),
            ("Carlsen", "Hasty, C", None),
            ("Li", "", None),
            ("zz", "Adams, Edwin Ziegler", None),
            ("O'Kely", "O'Kelly, Albéric", Some(1)),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}: {name}");
        }
        let distance = |wanted, name: &str| Some(Wanted::new(wanted, Named::Opening).distance(name)?.0);
        for (wanted, name, expected) in [
            ("Sicilain Defense", "Sicilian Defense: Keres Variation", Some(1)),
            ("Sicilain Defense", "King's Gambit Declined: Keene's Defense", None),
            ("Sicilain Defense", "Zukertort Defense: Sicilian Knight Variation", None),
            ("Kings Gambit", "King's Gambit Accepted", Some(1)),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}: {name}");
        }
    }
}
